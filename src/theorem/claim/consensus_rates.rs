//! Spectra at consensus.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::error::Result;
use crate::num::dense::eigenvalues;
use crate::num::stats::nan_max;
use crate::num::sum::dot;
use crate::sphere::{
    Tokens,
    geometry::{exp, tangent_basis},
};
use crate::theorem::conformance::velocity;
use crate::theory::spectra::{consensus_causal, consensus_sa};

/// SA -1, USA `-e^beta`, causal `-(1 - 1/k)`.
pub static ENTRY: Claim = Claim {
    name: "consensus-rates",
    title: "Spectrum of the flow at consensus",
    statement: "The linearisation at consensus has eigenvalues -1 (SA) or -e^beta (USA, U1), (n-1)(d-1) times, and 0, d-1 times; causal SA: 0 and -(1 - 1/k), k = 2..n, \
                each d-1 times. A difference Jacobian agrees to 1e-6.",
    hypotheses: "V = I",
    applies: super::always,
    citation: "linearisation of arXiv:2312.10794, (2.3) and arXiv:2411.04990",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(4, 3, 2.0, "sa"), Case::new(4, 2, 1.0, "usa"), Case::new(5, 3, 2.0, "causal-sa"), Case::new(8, 4, 6.0, "sa")],
    quick: 3,
    trials: (2, 10),
    trial: |case, ctx| spectrum(case, ctx, case.beta),
    control: Control { what: "the USA spectrum of another beta", trial: |ctx| spectrum(&Case::new(4, 2, 1.0, "usa"), ctx, 1.5) },
};

fn spectrum(case: &Case, ctx: &mut Context, beta: f64) -> Result<Finding> {
    let point = ctx.tokens(&Case { n: 1, ..*case }, "uniform")?;
    let (n, t) = (case.n, case.d - 1);
    let basis = tangent_basis(point.row(0));
    let dynamics = case.build()?;
    let mut jacobian = vec![0.0; (n * t) * (n * t)];
    // Central differences with step 1e-4 on a cubic remainder: error 1e-8 times beta^2.
    let h = 1e-4 / (1.0 + case.beta).sqrt();
    let pushed = |j: usize, b: usize, s: f64| -> Result<Vec<f64>> {
        let mut rows: Vec<Vec<f64>> = vec![point.row(0).to_vec(); n];
        rows[j] = exp(point.row(0), &basis[b * case.d..(b + 1) * case.d].iter().map(|e| s * h * e).collect::<Vec<_>>());
        Ok(velocity(dynamics.as_ref(), &Tokens::new(case.d, rows.concat())?))
    };
    for j in 0..n {
        for b in 0..t {
            let (up, down) = (pushed(j, b, 1.0)?, pushed(j, b, -1.0)?);
            for i in 0..n {
                for a in 0..t {
                    let e = &basis[a * case.d..(a + 1) * case.d];
                    let row = i * case.d..(i + 1) * case.d;
                    jacobian[(i * t + a) * n * t + j * t + b] = (dot(&up[row.clone()], e) - dot(&down[row], e)) / (2.0 * h);
                }
            }
        }
    }
    let Some(found) = eigenvalues(&jacobian, n * t) else { return Ok(Finding::Unfinished("the eigenvalues did not converge".into())) };
    let mut expected = if case.dynamics == "causal-sa" { consensus_causal(n, case.d) } else { consensus_sa(n, case.d) };
    let scale = if case.dynamics == "usa" { beta.exp() } else { 1.0 };
    expected.iter_mut().for_each(|v| *v *= scale);
    expected.sort_by(f64::total_cmp);
    let worst = found.iter().zip(&expected).map(|(f, e)| nan_max((f.0 - e).abs(), f.1.abs())).fold(0.0, nan_max) / scale;
    Ok(Finding::at_most(worst, 1e-6))
}
