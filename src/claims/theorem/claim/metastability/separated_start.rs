//! Uniform tokens in high dimension are separated, so the metastability theorem applies to them.

use crate::num::dense::symmetric_eigen;
use crate::theorem::prelude::*;

/// arXiv:2410.06833, section 4, with corrected overlap of caps and a condition on the number of
/// tokens.
///
/// # Derivation
///
/// The nearest orthonormal frame is the polar factor `Q = G^{-1/2} X`, so
/// `|x_i - q_i|^2 = 2 - 2 (G^{1/2})_ii`. From `sqrt(t) >= 1 + (t-1)/2 - (t-1)^2/2` for `t >= 0`
/// follows `|x_i - q_i|^2 <= sum_{j != i} <x_i, x_j>^2`. Given `x_i` these are n - 1 independent
/// squares whose moments, times d, are at most those of a squared normal, so Laurent and Massart's
/// bound of a chi-square holds: `d sum_j <x_i, x_j>^2 <= n - 1 + 2 sqrt((n-1) s) + 2 s` except with
/// probability `e^{-s}`; with `s = log(n/p)` it holds for all i, except with probability p. That is
/// at most `d eps = 4 log d` exactly under the second condition. The true value is about a quarter
/// of the bound, `(n-1)/(4d)`; without a condition on n the conclusion fails for n above about
/// `16 log d` (`separated-start-folklore`).
pub static ENTRY: Claim = Claim {
    name: "separated-start",
    title: "High dimension: a few uniform tokens lie near an orthonormal frame and are (beta, \
            eps)-separated",
    lets: "n uniform tokens be given and eps = 4 log d / d",
    then: "With probability at least 0.95, the nearest orthonormal frame (q_i), the polar factor, \
           is within sqrt(eps) of the tokens, every token lies in the cap <x, q_i> >= 1 - eps of \
           its own frame vector, and gamma = 1 - alpha - 8 eps - log(2 n^2/eps)/beta > 0, where \
           alpha is the largest inner product between different caps <x, q_i> >= 1 - 2 eps.",
    domain: DOMAIN,
    source: "Geshkovski, Koubbi, Polyanskiy, Rigollet, arXiv:2410.06833, section 4 (condition on \
               eps corrected, condition on n derived)",
    status: Status::Corrected,
    kind: Kind::Share(0.95),
    trials: (160, 600),
    trial: separation,
    control: Control {
        what: "d = 30",
        trial: |ctx| separation(&Case::new(12, 30, 40.0, "sa"), ctx),
    },
    ..Claim::INEQUALITY
};

const DOMAIN: Domain = Domain {
    n: Sizes::Range(2, 12),
    d: Sizes::Range(1000, 20_000),
    beta: Betas::Log(30.0, 1e5),
    dynamics: &["sa"],
    condition: Some(Condition {
        text: "4 sqrt(eps) + 12 eps + log(n^2 d / (2 log d))/beta < 1; n - 1 + 2 sqrt((n-1) s) + 2 \
               s <= 4 log d with s = log(20 n)",
        holds: |case| {
            let (n, s) = (case.n as f64, (20.0 * case.n as f64).ln());
            spread(case)
                && n - 1.0 + 2.0 * ((n - 1.0) * s).sqrt() + 2.0 * s <= 4.0 * (case.d as f64).ln()
        },
    }),
    ..Domain::EQUAL_MASSES
};

/// The condition on eps and beta; it implies `gamma > 0`.
pub fn spread(case: &Case) -> bool {
    let (n, d) = (case.n as f64, case.d as f64);
    let eps = 4.0 * d.ln() / d;
    4.0 * eps.sqrt() + 12.0 * eps + (n * n * d / (2.0 * d.ln())).ln() / case.beta < 1.0
}

/// True if a uniform start is separated with its own polar factor as the centres.
pub fn separation(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.tokens(case)?;
    let failed =
        || Error::Numerical { what: "the eigenvalues of a Gram matrix did not converge".into() };
    let (values, vectors) = symmetric_eigen(&x.gram(), n).ok_or_else(failed)?;
    // The polar factor of X is G^{-1/2} X, and <q_i, x_i> = (G^{1/2})_ii.
    let root = |i: usize, j: usize| {
        (0..n)
            .map(|k| vectors[k * n + i] * vectors[k * n + j] * values[k].max(0.0).sqrt())
            .sum::<f64>()
    };
    let eps = 4.0 * (d as f64).ln() / d as f64;
    // |x - q|^2 = 2 - 2 <x, q> <= eps implies <x, q> >= 1 - eps.
    let near = (0..n).all(|i| 2.0 - 2.0 * root(i, i) / dot(x.row(i), x.row(i)).sqrt() <= eps);
    // Caps of radius r about orthogonal centres: the nearest points are pi/2 - 2r apart.
    let radius = (1.0 - 2.0 * eps).max(-1.0).acos();
    let alpha = (std::f64::consts::FRAC_PI_2 - 2.0 * radius).max(0.0).cos();
    let gamma = 1.0 - alpha - 8.0 * eps - (2.0 * (n * n) as f64 / eps).ln() / case.beta;
    Ok(Finding::answer(near && gamma > 0.0))
}
