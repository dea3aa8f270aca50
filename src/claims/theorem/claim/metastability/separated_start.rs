//! Uniform tokens in high dimension are separated, so the metastability theorem applies to them.

use crate::num::dense::symmetric_eigen;
use crate::theorem::prelude::*;

const LEAST_D: usize = 1000;
const SHARE: f64 = 0.95;
const ROUNDING: f64 = 1e-14;
const CONTROL_N: usize = 200;
const CONTROL_D: usize = 3000;

/// # Derivation
///
/// The nearest orthonormal frame is the polar factor `Q = G^{-1/2} X`, so `|x_i - q_i|^2 = 2 - 2
/// (G^{1/2})_ii`. For `t >= l >= 0` the identity `1 + (t-1)/2 - sqrt(t) = (sqrt(t) - 1)^2/2 =
/// (t-1)^2 / (2 (sqrt(t) + 1)^2)` bounds the left-hand side by `(t-1)^2 / (2 (1 + sqrt(l))^2)`.
/// With `t = G` and `l` its least eigenvalue, `|x_i - q_i|^2 <= sum_{j != i} <x_i, x_j>^2 / (1 +
/// sqrt(l))^2`.
///
/// Given `x_i` the sum has `n - 1` independent squares whose moments, times `d`, are at most those
/// of a squared normal, so Laurent and Massart's bound of a chi-square holds: `d sum_j <x_i, x_j>^2
/// <= n - 1 + 2 sqrt((n-1) s) + 2 s` except with probability `e^{-s}`. With `s = log(20 n)` it
/// holds for all `i`, except with probability 1/20. That is at most `d eps = 4 log d` exactly under
/// the second condition.
///
/// As `l` is near 1, `|x_i - q_i|^2` is about a quarter of the sum, `(n-1)/(4d)`. So without a
/// condition on `n` the conclusion fails for `n` above about `16 log d`: at `n = 200`, `d = 3000`
/// the distance is 1.4 times `sqrt(eps)`, although the condition on `eps` and `beta` is met.
pub static ENTRY: Claim = Claim {
    name: "separated-start",
    title: "High dimension: a few uniform tokens lie near an orthonormal frame and are `(beta, \
            eps)`-separated",
    lets: "`n` uniform tokens be given, `d >= {LEAST_D}`, and `eps = 4 log d / d`, with two \
           conditions: `(1) 4 sqrt(eps) + 12 eps + log(n^2 d / (2 log d))/beta < 1`; `(2) n - 1 + \
           2 sqrt((n-1) s) + 2 s <= 4 log d` with `s = log(20 n)`. Let `(q_i)` be the nearest \
           orthonormal frame, their polar factor, and `alpha` the largest inner product between \
           different caps `<x, q_i> >= 1 - 2 eps`",
    then: "With probability at least {SHARE} the frame is within `sqrt(eps)` of the tokens, so \
           every token lies in the cap `<x, q_i> >= 1 - eps` of its own frame vector, and `gamma = \
           1 - alpha - 8 eps - log(2 n^2/eps)/beta > 0`. Always `|x_i - q_i|^2 <= sum_{j != i} \
           <x_i, x_j>^2 / (1 + sqrt(l))^2`, where `l` is the least eigenvalue of the Gram matrix.",
    tested: "with `{ROUNDING} n` added to the bound",
    numbers: &[
        ("LEAST_D", LEAST_D as f64),
        ("SHARE", SHARE),
        ("ROUNDING", ROUNDING),
        ("CONTROL_N", CONTROL_N as f64),
    ],
    domain: DOMAIN,
    source: "arXiv:2410.06833, section 4 (condition on eps corrected, condition on n derived)",
    status: Status::Corrected,
    kind: Kind::Share(SHARE),
    trials: (160, 600),
    trial: separation,
    constant: "the factor of the sum of squares",
    control: Control {
        what: "{CONTROL_N} tokens, more than the second condition admits",
        trial: |ctx| separation(&Case::new(CONTROL_N, CONTROL_D, 100.0, "sa"), ctx),
    },
    variants: &[&FOLKLORE],
    ..Claim::INEQUALITY
};

static FOLKLORE: Claim = Claim {
    name: "separated-start-folklore",
    title: "High dimension: uniform tokens are `(beta, eps)`-separated, without a condition on `n`",
    lets: "`n` uniform tokens be given, and `eps = 4 log d / d`, with `4 sqrt(eps) + 12 eps + \
           log(n^2 d / (2 log d))/beta < 1`; let `(q_i)` and `alpha` be as in `separated-start`",
    then: "The frame is within `sqrt(eps)` of the tokens, every token lies in the cap `<x, q_i> >= \
           1 - eps` of its own frame vector, and `gamma = 1 - alpha - 8 eps - log(2 n^2/eps)/beta \
           > 0`.",
    numbers: &[("CONTROL_D", CONTROL_D as f64)],
    domain: Domain {
        n: Sizes::Range(2, 200),
        d: Sizes::Range(LEAST_D, 3000),
        condition: Some(Condition {
            text: "`4 sqrt(eps) + 12 eps + log(n^2 d / (2 log d))/beta < 1`",
            holds: spread,
        }),
        ..DOMAIN
    },
    source: "arXiv:2410.06833, section 4, read without its probability",
    status: Status::Folklore,
    kind: Kind::Every(0.05),
    trials: (24, 80),
    trial: separation,
    control: Control {
        what: "six tokens at `d = {CONTROL_D}`",
        trial: |ctx| separation(&Case::new(6, CONTROL_D, 60.0, "sa"), ctx),
    },
    ..Claim::EVERY
};

const DOMAIN: Domain = Domain {
    n: Sizes::Range(2, 12),
    d: Sizes::Range(LEAST_D, 20_000),
    beta: Betas::Log(30.0, 1e5),
    dynamics: &["sa"],
    condition: Some(Condition {
        text: "`4 sqrt(eps) + 12 eps + log(n^2 d / (2 log d))/beta < 1`; `n - 1 + 2 sqrt((n-1) s) \
               + 2 s <= 4 log d` with `s = log(20 n)`",
        holds: |case| {
            let (n, s) = (case.n as f64, (20.0 * case.n as f64).ln());
            spread(case)
                && n - 1.0 + 2.0 * ((n - 1.0) * s).sqrt() + 2.0 * s <= 4.0 * (case.d as f64).ln()
        },
    }),
    ..Domain::EQUAL_MASSES
};

/// The condition on eps and beta; it implies `gamma > 0`.
fn spread(case: &Case) -> bool {
    let (n, d) = (case.n as f64, case.d as f64);
    let eps = 4.0 * d.ln() / d;
    4.0 * eps.sqrt() + 12.0 * eps + (n * n * d / (2.0 * d.ln())).ln() / case.beta < 1.0
}

/// True if a uniform start is separated with its own polar factor as the centres.
fn separation(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.tokens(case)?;
    let failed =
        || Error::Numerical { what: "the eigenvalues of a Gram matrix did not converge".into() };
    let gram = x.gram();
    let (values, vectors) = symmetric_eigen(&gram, n).ok_or_else(failed)?;
    // The polar factor of X is G^{-1/2} X, and <q_i, x_i> = (G^{1/2})_ii.
    let root = |i: usize| {
        (0..n).map(|k| vectors[k * n + i].powi(2) * values[k].max(0.0).sqrt()).sum::<f64>()
    };
    let distance2 = |i: usize| 2.0 - 2.0 * root(i) / gram[i * n + i].sqrt();
    let eps = 4.0 * (d as f64).ln() / d as f64;
    // |x - q|^2 = 2 - 2 <x, q> <= eps implies <x, q> >= 1 - eps.
    let near = (0..n).all(|i| distance2(i) <= eps);
    let least = nan_max(values.iter().copied().fold(1.0, nan_min), 0.0);
    let factor = ctx.claimed_constant((1.0 + least.sqrt()).powi(-2));
    let squares =
        |i: usize| (0..n).filter(|j| *j != i).map(|j| gram[i * n + j].powi(2)).sum::<f64>();
    let bounded = (0..n).all(|i| distance2(i) <= factor * squares(i) + ROUNDING * n as f64);
    // Caps of radius r about orthogonal centres: the nearest points are pi/2 - 2r apart.
    let radius = (1.0 - 2.0 * eps).max(-1.0).acos();
    let alpha = (0.5 * PI - 2.0 * radius).max(0.0).cos();
    let gamma = 1.0 - alpha - 8.0 * eps - (2.0 * (n * n) as f64 / eps).ln() / case.beta;
    Ok(Finding::all([near, bounded, gamma > 0.0]))
}
