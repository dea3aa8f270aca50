//! How fast a regular polygon of clusters breaks.

use crate::theorem::prelude::*;
use crate::theory::spectra::polygon;

const SMALL: f64 = 1e-7;
const TOLERANCE: f64 = 1e-6;

/// # Derivation
///
/// For USA `theta_i' = -(1/n) sum_j h(theta_i - theta_j)`, `h = e^{beta cos} sin`. A small
/// displacement obeys `delta_i' = -(1/n) sum_j g(theta_i - theta_j) (delta_i - delta_j)` with `g =
/// h' = e^{beta cos} (cos - beta sin^2)`. At the regular n-gon this matrix is circulant, so
/// `delta_i = cos(2 pi p i/n)` is an eigenvector with the eigenvalue `Lambda_p = (1/n) sum_q g(2 pi
/// q/n) (cos(2 pi p q/n) - 1)`. SA divides the velocity by `Z`, which is the same at every token;
/// its derivative multiplies the velocity at the polygon, which is 0.
pub static ENTRY: Claim = Claim {
    name: "polygon-rates",
    title: "Regular polygons of clusters are unstable with the rates `Lambda_p`",
    lets: "`n` equal clusters be at a regular n-gon and `1 <= p <= n/2`; let `Lambda_p = (1/n) \
           sum_q g(2 pi q/n) (cos(2 pi p q/n) - 1)` with `g = e^{beta cos} (cos - beta sin^2)`",
    then: "A small displacement by multiples of `cos(2 pi p q/n)` along the circle, `q = 0`, ..., \
           `n - 1`, grows like `e^{Lambda_p t}` under USA (U1), and like `e^{Lambda_p t/Z}` with \
           `Z = (1/n) sum_q e^{beta cos(2 pi q/n)}` under SA.",
    tested: "with the displacement {SMALL} over the time `1/Lambda_max`, to {TOLERANCE} of \
             `Lambda_max`",
    numbers: &[("SMALL", SMALL), ("TOLERANCE", TOLERANCE)],
    domain: Domain {
        n: Sizes::Range(2, 16),
        d: Sizes::Fixed(2),
        beta: Betas::Log(0.1, 60.0),
        laws: &["polygon"],
        draws: "`p`",
        corners: &[(2, 2, 12.0), (5, 2, 6.0)],
        ..Domain::EQUAL_MASSES
    },
    source: "derived",
    trials: (30, 200),
    trial: |case, ctx| growth(case, ctx, 1.0),
    constant: "`Lambda_p`",
    control: Control {
        what: "rates larger by a thousandth",
        trial: |ctx| growth(&Case::new(5, 2, 6.0, "sa"), ctx, 1.001),
    },
    ..Claim::LAW
};

fn growth(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let n = case.n as f64;
    let p = 1 + ctx.index(case.n / 2);
    let rates = polygon(case.row_weights()?, case.n, case.beta)?;
    let fastest = rates.iter().copied().fold(0.0, nan_max);
    let mode = |q: usize| (TAU * (p * q % case.n) as f64 / n).cos();
    let amplitude = |x: &Tokens| -> f64 {
        // Projection of the displacement on the mode; the mean displacement is a rotation.
        let shift = |q: usize| {
            let (s, c) = (TAU * q as f64 / n).sin_cos();
            let r = x.row(q);
            (c * r[1] - s * r[0]).atan2(c * r[0] + s * r[1])
        };
        let norm: f64 = (0..case.n).map(|q| mode(q) * mode(q)).sum();
        (0..case.n).map(|q| mode(q) * shift(q)).sum::<f64>() / norm
    };
    let x = Tokens::from_angles(
        &(0..case.n).map(|q| TAU * q as f64 / n + SMALL * mode(q)).collect::<Vec<_>>(),
    )?;
    let t = 1.0 / fastest;
    let end = ctx.flow_to_with_tolerance(&case.build()?, &x, t, 1e-2)?;
    let measured = (amplitude(&end) / amplitude(&x)).ln() / t;
    Ok(Finding::law(measured, ctx.claimed_constant(factor * rates[p]), TOLERANCE * fastest, 0.0))
}
