//! The fast phase of large beta: every token follows the value matrix alone.

use super::setting::{SYMMETRIC, symmetric, symmetric_attention};
use crate::num::roots::bracketed_root;
use crate::theorem::prelude::*;

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
/// and `D(t) <= |V| M (e^{Lt} - 1)/L` (Gronwall). If all other tokens are at the distance
/// `sqrt(2s/beta)` in the direction of a top eigenvector, `D' = |V| M` at the start, up to the
/// factor `sqrt(1 - s/(2 beta))`: the bound is attained for large beta and small t.
///
/// `homogeneous-alignment-as-said`. With S = diag(1, 1/5) let fractions p and 1 - p of the tokens
/// be near e_1 and -e_1, at angles phi_i and psi_j from them. To first order the weights of a token
/// near e_1 are those of the two clusters, a = p e^beta/(p e^beta + (1-p) e^{-beta}) for its own
/// cluster and b = 1 - a for the other, and
/// `phi_i' = -(a - b) phi_i + (a mean(phi) - b mean(psi))/5`, and likewise for psi. The matrix is
/// diagonally dominant, so stable, if a - b > 1/5: which holds at beta = 2 if p and 1 - p are at
/// least 1/14 (a - b >= 0.61). Two antipodal clusters therefore attract an open set of starts,
/// whose inner products tend to +-1. If all `<x_i, e_1>` > 0, they remain positive: at
/// `<x_i, e_1>` = 0 its derivative is `sum_j A_ij <x_j, e_1>` > 0. Such tokens cannot form two
/// antipodal clusters (the control).
pub static ENTRY: Claim = Claim {
    name: "alignment",
    title: "Fast phase, large beta: tokens follow x' = P_x V x towards the top eigenspace of V",
    lets: "Q = K = I, let V be symmetric with |V| = 1 its largest eigenvalue, and L the largest \
           minus the smallest eigenvalue. Let M = sqrt(2s/beta) (1 - 1/(2s)), where (2s - 1) e^s = \
           (1 - m_i)/m_i",
    then: "Under SA with any tokens and masses, x_i(t) is within |V| M (e^{Lt} - 1)/L of e^{tV} \
           x_i / |e^{tV} x_i|. This bound tends to 0 like sqrt(log(n)/beta).",
    tested: "with 1e-7 added for the error of the flow; in a third of the trials from the start \
             at which the bound is attained",
    domain: Domain {
        d: Sizes::Range(2, 16),
        beta: Betas::Log(1.0, 1e4),
        dynamics: &["sa"],
        laws: &["uniform", "cap:radius=0.1", "cap:radius=1"],
        ..Domain::ATTENTION
    },
    narrower: "tokens instead of the paper's mean field; t <= 3",
    source: "arXiv:2509.25040 (alignment phase); the bound is derived",
    trials: (80, 600),
    trial: |case, ctx| compare_with_flow(case, ctx, 1.0),
    constant: "the bound",
    control: Control {
        what: "the flow of -V at beta = 4000, t = 1, where V has the eigenvalues 1, -1, -1",
        trial: |ctx| compare_with_flow(&Case::new(6, 3, 4000.0, "sa"), ctx, -1.0),
    },
    variants: &[&HOMOGENEOUS],
    ..Claim::INEQUALITY
};

static HOMOGENEOUS: Claim = Claim {
    name: "homogeneous-alignment-as-said",
    title: "The words of an abstract, without a hypothesis on the start: tokens align when one \
            positive eigenvalue dominates in modulus",
    lets: "Q^T K = V = diag(1, 1/5) and beta = 2, with tokens anywhere on the circle",
    then: "Under SA, all inner products are positive at t = 60.",
    domain: Domain {
        n: Sizes::Range(8, 14),
        d: Sizes::Fixed(2),
        beta: Betas::List(&[2.0]),
        ..SYMMETRIC
    },
    narrower: "one S and beta",
    source: "arXiv:2604.26085 (abstract)",
    status: Status::Folklore,
    correct: "This is an observation about the abstract; the theorem may have a hypothesis on the \
              start. The words hold for starts with all <x_i, xi> > 0. Starts on both sides may \
              end as two antipodal clusters, which are stable below a threshold.",
    trials: (6, 40),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        all_aligned(ctx, &x)
    },
    control: Control {
        what: "tokens with <x_i, e_1> > 0",
        trial: |ctx| {
            let case = Case::new(10, 2, 2.0, "sa");
            let mut x = ctx.tokens(&case)?.coordinates().to_vec();
            x.chunks_exact_mut(2).for_each(|row| row[0] = row[0].abs() + 1e-3);
            all_aligned(ctx, &Tokens::normalised(2, x)?)
        },
    },
    ..Claim::INEQUALITY
};

/// The s at which the mean distance of a token of mass m is largest.
fn worst_s(m: f64) -> f64 {
    let level = (1.0 - m) / m;
    bracketed_root(|s| (2.0 * s - 1.0) * s.exp() - level, 0.5, 40.0, 0.0).unwrap_or(40.0)
}

/// The largest mean distance under the weights of a token with mass m.
fn max_mean_distance(beta: f64, m: f64) -> f64 {
    let s = worst_s(m);
    (2.0 * s / beta).sqrt() * (1.0 - 0.5 / s)
}

fn compare_with_flow(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let mut x = ctx.tokens(case)?;
    let own = sign > 0.0;
    let attained = own && ctx.index(3) == 0;
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
    if attained {
        // Token 0 is an eigenvector; the others are together, towards the top eigenvector.
        let chord = (2.0 * worst_s(x.masses()[0]) / case.beta).sqrt().min(1.9);
        let (sine, cosine) = (2.0 * (0.5 * chord).asin()).sin_cos();
        let mut rows = basis[d..2 * d].to_vec();
        for _ in 1..n {
            rows.extend(
                basis[..d].iter().zip(&basis[d..2 * d]).map(|(q, p)| sine * q + cosine * p),
            );
        }
        x = Tokens::normalised(d, rows)?.with_masses(x.masses())?;
    }
    let spread = 1.0 - values.iter().copied().fold(1.0, nan_min);
    let growth = if spread > 1e-9 { (spread * t).exp_m1() / spread } else { t };
    let head = Head::new(d, None, None, Some((d, symmetric(&values, &basis))))?;
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
        let allowed = max_mean_distance(case.beta, x.masses()[i]) * growth + 1e-7;
        worst = nan_max(worst, dist(end.row(i), &wanted) / allowed);
    }
    Ok(Finding::at_most(worst, ctx.claimed_constant(1.0)))
}

fn all_aligned(ctx: &mut Context, x: &Tokens) -> Result<Finding> {
    let dynamics = symmetric_attention(2.0, &[1.0, 0.2], &[1.0, 0.0, 0.0, 1.0])?;
    let end =
        solve(&dynamics, x, 60.0, &Options { rtol: ctx.rtol(), ..Options::default() }, &mut [])?;
    if !end.outcome.end_state_is_known() {
        return Err(Error::Numerical { what: end.outcome.to_string() });
    }
    let all = &end.clusters;
    let least = pairs(all.n()).map(|(i, j)| all.inner(i, j)).fold(1.0, nan_min);
    Ok(Finding::nonnegative(least, 1.0))
}
