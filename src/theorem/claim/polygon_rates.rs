//! How fast polygons of clusters fall apart.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::error::Result;
use crate::sphere::Tokens;
use crate::theory::spectra::polygon_sa;

/// Linearisation at the regular m-gon, SA.
pub static ENTRY: Claim = Claim {
    name: "polygon-rates",
    title: "Regular polygons of clusters fall apart at the rates Lambda_p",
    statement: "n clusters at a regular n-gon, displaced by 1e-7 cos(2 pi p q / n) along the circle: the displacement grows like e^{Lambda_p t} for one unit of 1/Lambda_p, relative deviation of its logarithm at most 1e-5.",
    hypotheses: "d = 2, Lambda_p > 0",
    applies: |case| case.d == 2 && case.beta > 0.0,
    citation: "linearisation at the m-gon (discrete Fourier modes of the circulant Hessian)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(3, 2, 6.0, "sa"),
        Case::new(4, 2, 6.0, "sa"),
        Case::new(5, 2, 6.0, "sa"),
        Case::new(2, 2, 12.0, "sa"),
        Case::new(8, 2, 30.0, "sa"),
    ],
    quick: 4,
    trials: (2, 8),
    trial: |case, ctx| growth(case, ctx, 1.0),
    control: Control { what: "rates larger by a thousandth", trial: |ctx| growth(&Case::new(5, 2, 6.0, "sa"), ctx, 1.001) },
};

fn growth(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (n, tau) = (case.n as f64, std::f64::consts::TAU);
    let p = 1 + ctx.stream.index(case.n / 2);
    let rate = polygon_sa(case.n, case.beta)[p];
    if rate <= 0.0 {
        return Ok(Finding::Missed);
    }
    let mode = |q: usize| (tau * (p * q % case.n) as f64 / n).cos();
    let amplitude = |x: &Tokens| -> f64 {
        // Projection of the displacement on the mode; the mean displacement is a rotation.
        let shift: Vec<f64> = (0..case.n)
            .map(|q| {
                let vertex = tau * q as f64 / n;
                let (s, c) = vertex.sin_cos();
                let r = x.row(q);
                (c * r[1] - s * r[0]).atan2(c * r[0] + s * r[1])
            })
            .collect();
        let norm: f64 = (0..case.n).map(|q| mode(q) * mode(q)).sum();
        (0..case.n).map(|q| mode(q) * shift[q]).sum::<f64>() / norm
    };
    let x = Tokens::from_angles(&(0..case.n).map(|q| tau * q as f64 / n + 1e-7 * mode(q)).collect::<Vec<_>>())?;
    let end = flowed(case.build()?.as_ref(), &x, 1.0 / rate, ctx.rtol * 1e-2)?;
    Ok(Finding::at_most(((amplitude(&end) / amplitude(&x)).ln() - factor).abs(), 1e-5))
}
