//! Uniform tokens in high dimension are separated, so the metastability theorem applies to them.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::error::{Error, Result};
use crate::num::dense::symmetric_eigen;

/// 2410.06833, section 4, with the cap overlap corrected.
pub static ENTRY: Claim = Claim {
    name: "separated-start",
    title: "High dimension: uniform tokens lie near an orthonormal frame and are (beta, eps)-separated",
    statement: "n uniform tokens, eps = 4 log d / d: the nearest orthonormal frame (polar factor) is within sqrt(eps) of them, every token lies in the cap <x, q_i> >= 1 - eps of its own frame vector, and \
                gamma = 1 - alpha - 8 eps - log(2 n^2/eps)/beta > 0 with alpha the largest inner product between different caps 1 - 2 eps.",
    hypotheses: "4 sqrt(eps) + 12 eps + log(n^2 d / (2 log d)) / beta < 1",
    applies: |case| {
        let (n, d) = (case.n as f64, case.d as f64);
        let eps = 4.0 * d.ln() / d;
        4.0 * eps.sqrt() + 12.0 * eps + (n * n * d / (2.0 * d.ln())).ln() / case.beta < 1.0
    },
    citation: "Geshkovski, Koubbi, Polyanskiy, Rigollet, arXiv:2410.06833, section 4 (condition corrected)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 3000, 60.0, "sa"), Case::new(12, 6000, 40.0, "sa"), Case::new(24, 20_000, 40.0, "sa")],
    quick: 2,
    trials: (3, 20),
    trial: |case, ctx| separation(case, ctx),
    control: Control { what: "d = 30", trial: |ctx| separation(&Case::new(12, 30, 40.0, "sa"), ctx) },
};

fn separation(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.tokens(case, "uniform")?;
    let failed = || Error::Numerical { what: "the eigenvalues of a Gram matrix did not converge".into() };
    let (values, vectors) = symmetric_eigen(&x.gram(), n).ok_or_else(failed)?;
    // The polar factor of X is G^{-1/2} X.
    let root = |i: usize, j: usize| (0..n).map(|k| vectors[k * n + i] * vectors[k * n + j] / values[k].sqrt()).sum::<f64>();
    let eps = 4.0 * (d as f64).ln() / d as f64;
    let mut nearest = f64::INFINITY;
    for i in 0..n {
        let mut q = vec![0.0; d];
        (0..n).for_each(|j| q.iter_mut().zip(x.row(j)).for_each(|(q, v)| *q += root(i, j) * v));
        let inner = crate::num::sum::dot(&q, x.row(i));
        // |x - q|^2 = 2 - 2 <x, q> for unit vectors.
        nearest = nearest.min(eps - (2.0 - 2.0 * inner)).min(inner - (1.0 - eps));
    }
    // Caps of radius r about orthogonal centres: the nearest points are pi/2 - 2r apart.
    let radius = (1.0 - 2.0 * eps).max(-1.0).acos();
    let alpha = (std::f64::consts::FRAC_PI_2 - 2.0 * radius).max(0.0).cos();
    let gamma = 1.0 - alpha - 8.0 * eps - (2.0 * (n * n) as f64 / eps).ln() / case.beta;
    Ok(Finding::exact(nearest.min(gamma)))
}
