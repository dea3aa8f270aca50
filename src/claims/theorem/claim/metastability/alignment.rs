//! The fast phase of large beta: every token follows the value matrix alone.

use super::setting::{SYMMETRIC, symmetric, symmetric_attention};
use crate::num::roots::bracketed_root;
use crate::theorem::prelude::*;

const FLOW_ERROR: f64 = 1e-7;
const RATE_ERROR: f64 = 1e-10;
const LATEST: f64 = 3.0;
const CONTROL_BETA: f64 = 4000.0;
const CONTROL_TIME: f64 = 1.0;
const SECOND: f64 = 0.2;
const ARC: f64 = 0.2;
const ARC_BETA: f64 = 2.0;
const ARC_TIMES: (f64, f64) = (1.0, 10.0);
const LARGEST_N: usize = 14;

/// # Derivation
///
/// `v_i - P_{x_i} V x_i = P_{x_i} V sum_j A_ij (x_j - x_i)` is at most `|V|` times the mean
/// distance `r_j = |x_j - x_i|` under the weights `A_ij ~ m_j e^{-beta r_j^2/2}`, which include the
/// token's own weight. That mean is at most `q` iff `sum_{j != i} m_j e^{-beta r_j^2/2} (r_j - q)
/// <= m_i q`, and all terms on the left are largest at the same `r`. With all other tokens at this
/// distance the mean is `r / (1 + e^s/c)`, `s = beta r^2/2`, `c = (1 - m_i)/m_i`; it is largest
/// where `(2 s - 1) e^s = c`, and there it is `M = sqrt(2s/beta) (1 - 1/(2s))`. As `s` grows like
/// `log c`, `M` is of the order `sqrt(log(n)/beta)`.
///
/// Along the flow of `P_x V x` distances grow at most at the rate `L`, largest minus smallest
/// eigenvalue: the derivative in the unit direction `u` is `<u, Vu> - <x, Vx>`. So the distance `D`
/// of `x_i(t)` from `e^{tV} x_i / |e^{tV} x_i|`, which follows that flow, obeys `D' <= L D + |V|
/// M`, and `D(t) <= |V| M (e^{Lt} - 1)/L` (Gronwall). If all other tokens are at the distance
/// `sqrt(2s/beta)` in the direction of a top eigenvector, `D' = |V| M` at the start, up to the
/// factor `sqrt(1 - s/(2 beta))`: the bound is attained for large `beta` and small `t`.
///
/// `homogeneous-alignment-as-said`. With `S = diag(1, 1/5)` let all tokens be within `r <= 0.2` of
/// `e_1` or of `-e_1`. Scores within a cluster are at least `2 (cos^2 r - sin^2 r/5) >= 1.905`,
/// those between clusters at most the opposite. So the weight of the own cluster, with at least
/// 1/14 of the tokens, is `a >= 0.776`. A token of its cluster at the largest angle `r` turns
/// outwards by at most `sin r (-(4/5) a cos r + (6/5) (1 - a)) <= -sin r/3`. So `r` decreases, and
/// `(log tan(r/2))' <= -1/3`: two antipodal clusters attract an open set of starts. If all
/// `<x_i, e_1> > 0`, they remain positive: at `<x_i, e_1> = 0` its derivative is
/// `sum_j A_ij <x_j, e_1> > 0`. Such tokens cannot form two antipodal clusters.
pub static ENTRY: Claim = Claim {
    name: "alignment",
    title: "Fast phase, large `beta`: tokens follow `x' = P_x V x` towards the top eigenspace of \
            `V`",
    lets: "`Q = K = I`, let `V` be symmetric with `|V| = 1` its largest eigenvalue, and `L` the \
           largest minus the smallest eigenvalue. Let `M = sqrt(2s/beta) (1 - 1/(2s))`, where `(2s \
           - 1) e^s = (1 - m_i)/m_i`",
    then: "Under SA with any tokens and masses, `x_i(t)` is within `|V| M (e^{Lt} - 1)/L` of \
           `e^{tV} x_i / |e^{tV} x_i|`. This bound tends to 0 like `sqrt(log(n)/beta)`. From a \
           token whose others are together at the distance `sqrt(2s/beta)` towards the top \
           eigenvector, the distance grows at the rate `|V| M sqrt(1 - s/(2 beta))` at the start.",
    tested: "with {FLOW_ERROR} added for the error of the flow; in a third of the trials from the \
             start at which the bound is attained, whose rate is compared to `{RATE_ERROR} (1 + \
             sqrt beta)`, too",
    numbers: &[
        ("FLOW_ERROR", FLOW_ERROR),
        ("RATE_ERROR", RATE_ERROR),
        ("LATEST", LATEST),
        ("CONTROL_BETA", CONTROL_BETA),
        ("CONTROL_TIME", CONTROL_TIME),
    ],
    domain: Domain {
        d: Sizes::Range(2, 16),
        beta: Betas::Log(1.0, 1e4),
        dynamics: &["sa"],
        laws: &["uniform", "cap:radius=0.1", "cap:radius=1"],
        ..Domain::ATTENTION
    },
    narrower: "tokens instead of the paper's mean field; `t <= {LATEST}`",
    source: "arXiv:2509.25040 (alignment phase); the bound is derived",
    trials: (80, 600),
    trial: |case, ctx| compare_with_flow(case, ctx, 1.0),
    constant: "the bound",
    control: Control {
        what: "the flow of `-V` at `beta = {CONTROL_BETA}`, `t = {CONTROL_TIME}`, where `V` has \
               the eigenvalues 1, -1, -1",
        trial: |ctx| compare_with_flow(&Case::new(6, 3, CONTROL_BETA, "sa"), ctx, -1.0),
    },
    variants: &[&HOMOGENEOUS],
    ..Claim::INEQUALITY
};

/// With one dominant positive eigenvalue both one cluster and two antipodal ones are stable.
static HOMOGENEOUS: Claim = Claim {
    name: "homogeneous-alignment-as-said",
    title: "One dominant positive eigenvalue: two antipodal clusters attract an open set of starts",
    lets: "`Q^T K = V = diag(1, 1/{PARTS})` and `beta = {BETA}`, and let all tokens of the circle \
           be within {ARC} of `e_1` or of `-e_1`, at least 1/{LARGEST_N} of them at each",
    then: "Under SA the tokens stay in these two arcs, and their largest angle `r(t)` from the \
           line of `e_1` decreases: `tan(r(t)/2) <= e^{-t/3} tan(r(0)/2)`. So they do not align at \
           one point, while tokens with all `<x_i, e_1> > 0` do not end at two.",
    tested: "at a time in [{FIRST}, {LAST}]",
    numbers: &[
        ("PARTS", 1.0 / SECOND),
        ("BETA", ARC_BETA),
        ("ARC", ARC),
        ("LARGEST_N", LARGEST_N as f64),
        ("FIRST", ARC_TIMES.0),
        ("LAST", ARC_TIMES.1),
    ],
    domain: Domain {
        n: Sizes::Range(8, LARGEST_N),
        d: Sizes::Fixed(2),
        beta: Betas::List(&[ARC_BETA]),
        laws: &[],
        draws: "tokens in the two arcs",
        ..SYMMETRIC
    },
    narrower: "one `S` and `beta`",
    source: "derived; the setting: arXiv:2604.26085 (abstract, whose theorems on selection were \
             not seen)",
    trials: (6, 40),
    trial: |case, ctx| stay_antipodal(case.n, ctx, SECOND, (-ARC, ARC)),
    constant: "the rate 1/3",
    control: Control {
        what: "`Q^T K = V = I`, where all tokens turned by the same angle stay where they are",
        trial: |ctx| stay_antipodal(10, ctx, 1.0, (ARC, ARC)),
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
    let t = if own { LATEST / 100.0 * 100f64.powf(ctx.uniform_in(0.0, 1.0)) } else { CONTROL_TIME };
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
    let (mass, s) = (x.masses()[0], worst_s(x.masses()[0]));
    let at_start = if attained && 2.0 * s / case.beta < 1.9 * 1.9 {
        let speed = dot(&flow.velocity(&x)[..d], &basis[..d]);
        let known = max_mean_distance(case.beta, mass) * (1.0 - 0.5 * s / case.beta).sqrt();
        Finding::identity((speed / known - 1.0).abs(), RATE_ERROR * (1.0 + case.beta.sqrt()))
    } else {
        Finding::at_most(0.0, 1.0)
    };
    let end = ctx.flow_to(&flow, &x, t)?;
    let mut worst = 0.0f64;
    for i in 0..n {
        let mut wanted = vec![0.0; d];
        for (q, value) in basis.chunks_exact(d).zip(&values) {
            let share = dot(q, x.row(i)) * (sign * t * (value - 1.0)).exp();
            axpy(share, q, &mut wanted);
        }
        retract(&mut wanted);
        // |V| = 1, the largest eigenvalue.
        let allowed = max_mean_distance(case.beta, x.masses()[i]) * growth + FLOW_ERROR;
        worst = nan_max(worst, dist(end.row(i), &wanted) / allowed);
    }
    Ok(Finding::at_most(worst, ctx.claimed_constant(1.0)).and(at_start))
}

/// Tokens in two opposite arcs, turned by angles in a range, with `V = diag(1, second)`.
fn stay_antipodal(
    n: usize,
    ctx: &mut Context,
    second: f64,
    (least, most): (f64, f64),
) -> Result<Finding> {
    let sides: Vec<usize> = (0..n).map(|i| if i < 2 { i } else { ctx.index(2) }).collect();
    let angles: Vec<f64> =
        sides.iter().map(|side| PI * *side as f64 + ctx.uniform_in(least, most)).collect();
    let x = Tokens::from_angles(&angles)?;
    let dynamics = symmetric_attention(ARC_BETA, &[1.0, second], &[1.0, 0.0, 0.0, 1.0])?;
    let t = ctx.uniform_in(ARC_TIMES.0, ARC_TIMES.1);
    let end = ctx.flow_to(&dynamics, &x, t)?;
    // tan(r/2) of the largest angle r from the line of e_1.
    let half = |x: &Tokens| largest(x.rows().map(|r| r[1].abs() / (1.0 + r[0].abs())));
    let sides_are_kept = x.rows().zip(end.rows()).all(|(a, b)| a[0] * b[0] > 0.0);
    let rate = ctx.claimed_constant(1.0 / 3.0);
    let decreases = Finding::at_most(half(&end), (-rate * t).exp() * half(&x));
    Ok(Finding::answer(sides_are_kept).and(decreases))
}
