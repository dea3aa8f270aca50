//! Growth of the modes of the uniform measure under the continuity equation.

use crate::continuity::zonal::Zonal;
use crate::theorem::prelude::*;
use crate::theory::growth::rates;

/// Linearisation at the uniform measure (Funk-Hecke).
///
/// # Derivation
///
/// The velocities are `v = (1/beta) grad W` (USA) and `(1/beta) grad log W` (SA) with
/// `W(x) = int e^{beta <x, y>} d mu(y)`. By Funk and Hecke convolution with `e^{beta s}` multiplies
/// a spherical harmonic of degree k by `lambda_k = Gamma(d/2) (2/beta)^{d/2-1} I_{k+d/2-1}(beta)`.
/// For `mu = 1 + a Y_k` thus `W = lambda_0 + a lambda_k Y_k`, and to first order in a the
/// continuity equation reads
/// `d_t (a Y_k) = -div v = -(a lambda_k/beta) Lap Y_k = a (k (k+d-2) lambda_k/beta) Y_k`, over
/// lambda_0 for SA. Terms of second order in a cancel in the difference of the runs with a and -a.
pub static ENTRY: Claim = Claim {
    name: "mode-growth",
    title: "Modes of the uniform measure grow at the rates r_k = k (k + d - 2) lambda_k / beta \
            (USA) and r_k / lambda_0 (SA)",
    then: "Solve the continuity equation from the densities 1 + a P_k, k <= 6, with a = 1e-3 and \
           a = -1e-3. The k-th coefficient of the difference grows like e^{r_k t} with r_k = k (k \
           + d - 2) lambda_k / beta for USA, divided by lambda_0 for SA, where lambda_k are the \
           Funk-Hecke coefficients of e^{beta s}.",
    tested: "at t = 1/(2 max r), to 1e-5 of the exponent, ten times the squared amplitude",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Range(2, 32),
        beta: Betas::Linear(0.0, 60.0),
        ..Domain::EQUAL_MASSES
    },
    narrower: "zonal harmonics",
    source: "derived (Funk-Hecke); arXiv:2410.23228 for the circle, up to the time scale",
    trials: (16, 120),
    trial: |case, ctx| deviation(case, ctx, 1.0),
    constant: "the rate r_k",
    control: Control {
        what: "rates increased by a thousandth",
        trial: |ctx| deviation(&Case::new(1, 2, 5.0, "usa"), ctx, 1.001),
    },
    ..Claim::IDENTITY
};

/// Deviation of the logarithm of the growth of a random mode from `factor` times the formula.
pub fn deviation(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (d, beta, k) = (case.d, case.beta, 1 + ctx.index(6));
    let rates = rates(case.row_weights()?, d, beta, 6, TimeScale::U1, 2)?;
    let medium = MeasureDynamics::new(case.dynamics, beta, 0.0)?;
    let t = 0.5 / rates.iter().fold(0.0f64, |m, r| m.max(*r));
    // The difference of the coefficients for a and -a, at the start and at the end.
    let (mut before, mut after) = (0.0, 0.0);
    for sign in [1.0, -1.0] {
        let density = Density::parse(&format!("cos:{k}={}", sign * 1e-3))?;
        let (start, end) = if d == 2 {
            let start = Circle::from_density(&density, 32)?;
            (start.c[k].re, start.evolve(&medium, t, 64, |_, _| true)?.reached()?.c[k].re)
        } else {
            let start = Zonal::from_density(&density, d, 20)?;
            (start.b[k], start.evolve(&medium, t, 40, |_, _| true)?.reached()?.b[k])
        };
        (before, after) = (before + sign * start, after + sign * end);
    }
    Ok(Finding::identity(
        ((after / before).ln() - ctx.claimed_constant(factor * rates[k]) * t).abs(),
        1e-5,
    ))
}
