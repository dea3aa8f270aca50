//! The fast phase of large beta: every token follows the value matrix alone.

use crate::num::roots::bracketed_root;
use crate::theorem::prelude::*;

/// Alignment, with an error bound for every n and beta.
///
/// # Derivation
///
/// `v_i - P_{x_i} V x_i = P_{x_i} V sum_j A_ij (x_j - x_i)` is at most `|V|` times the mean
/// distance `r_j = |x_j - x_i|` under the weights `A_ij ~ m_j e^{-beta r_j^2/2}`, which include the
/// token's own weight. That mean is at most q iff
/// `sum_{j != i} m_j e^{-beta r_j^2/2} (r_j - q) <= m_i q`, and all terms on the left are largest
/// at the same r. With all other tokens at this distance the mean is `r / (1 + e^s/c)`,
/// `s = beta r^2/2`, `c = (1 - m_i)/m_i`; it is largest where `(2 s - 1) e^s = c`, and there it is
/// `M = sqrt(2s/beta) (1 - 1/(2s))`. As s grows like log c, M is of the order `sqrt(log(n)/beta)`.
///
/// Along the flow of `P_x V x` distances grow at most at the rate L, largest minus smallest
/// eigenvalue: the derivative in the unit direction u is `<u, Vu> - <x, Vx>`. So the distance D of
/// `x_i(t)` from `e^{tV} x_i / |e^{tV} x_i|`, which follows that flow, obeys `D' <= L D + |V| M`,
/// and `D(t) <= |V| M (e^{Lt} - 1)/L` (Gronwall).
pub static ENTRY: Claim = Claim {
    name: "alignment",
    title: "Fast phase, large beta: tokens follow x' = P_x V x towards the top eigenspace of V",
    lets: "Q = K = I and let V be symmetric with |V| = 1 its largest eigenvalue; let L be the \
           largest minus the smallest eigenvalue, and M = sqrt(2s/beta) (1 - 1/(2s)) with (2s - \
           1) e^s = (1 - m_i)/m_i",
    then: "Under SA with any tokens and masses, x_i(t) is within |V| M (e^{Lt} - 1)/L of e^{tV} \
           x_i / |e^{tV} x_i|. This bound tends to 0 like sqrt(log(n)/beta).",
    tested: "to 1e-7, the error of the flow",
    domain: Domain {
        d: Sizes::Range(2, 16),
        beta: Betas::Log(1.0, 1e4),
        dynamics: &["sa"],
        laws: &["uniform", "cap:radius=0.1", "cap:radius=1"],
        ..Domain::ATTENTION
    },
    narrower: "tokens instead of the paper's mean field; t <= 3",
    source: "arXiv:2509.25040 (alignment, abstract); the bound derived",
    trials: (80, 600),
    trial: |case, ctx| compare_with_flow(case, ctx, 1.0),
    control: Control {
        what: "the flow of -V at beta = 4000, t = 1, where V has the eigenvalues 1, -1, -1",
        trial: |ctx| compare_with_flow(&Case::new(6, 3, 4000.0, "sa"), ctx, -1.0),
    },
    ..Claim::INEQUALITY
};

/// The largest mean distance under the weights of a token with mass m.
fn max_mean_distance(beta: f64, m: f64) -> f64 {
    let level = (1.0 - m) / m;
    let s = bracketed_root(|s| (2.0 * s - 1.0) * s.exp() - level, 0.5, 40.0, 0.0).unwrap_or(40.0);
    (2.0 * s / beta).sqrt() * (1.0 - 0.5 / s)
}

fn compare_with_flow(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.tokens(case)?;
    let own = sign > 0.0;
    let t = if own { 0.03 * 100f64.powf(ctx.uniform_in(0.0, 1.0)) } else { 1.0 };
    let (basis, mut values) = (ctx.rotation(d), Vec::new());
    for k in 0..d {
        // Both ends of the spectrum are eigenvalues, so V is never nearly a multiple of the
        // identity.
        values.push(if k == 0 {
            1.0
        } else if own {
            ctx.uniform_in(-1.0, 1.0)
        } else {
            -1.0
        });
    }
    let mut v = vec![0.0; d * d];
    for (q, value) in basis.chunks_exact(d).zip(&values) {
        (0..d * d).for_each(|k| v[k] += value * q[k / d] * q[k % d]);
    }
    let spread = 1.0 - values.iter().copied().fold(1.0, f64::min);
    let growth = if spread > 1e-9 { (spread * t).exp_m1() / spread } else { t };
    let head = Head::new(d, None, None, Some((d, v)))?;
    let flow =
        dynamics::build("sa", false, &Spec { heads: vec![head], ..Spec::new(case.beta, n) })?;
    let end = ctx.flow_to(&flow, &x, t)?;
    let mut worst = 0.0f64;
    for i in 0..n {
        let mut wanted = vec![0.0; d];
        for (q, value) in basis.chunks_exact(d).zip(&values) {
            let share = dot(q, x.row(i)) * (sign * t * (value - 1.0)).exp();
            axpy(share, q, &mut wanted);
        }
        retract(&mut wanted);
        // |V| = 1, the largest eigenvalue. The error of the flow is 1e-7.
        worst = worst.max(
            dist(end.row(i), &wanted)
                / (max_mean_distance(case.beta, x.masses()[i]) * growth + 1e-7),
        );
    }
    Ok(Finding::at_most(worst, 1.0))
}
