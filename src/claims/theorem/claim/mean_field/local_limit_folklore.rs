//! The local limit with one threshold of beta for all densities.

use crate::num::bessel::scaled_bessel_i;
use crate::num::fft::Complex64;
use crate::theorem::prelude::*;

/// This is false for SA: the expansion is in powers of `max |rho''| / (beta rho)`, which is large
/// at every beta for a density that comes near 0.
///
/// # Derivation
///
/// The expansion behind the law is one in `|rho''| / (beta rho)`, whose SA part divides by rho
/// (`local-limit` has the remainder). A positive density with three modes may come arbitrarily near
/// to 0, and then this is large at every tested beta.
pub static ENTRY: Claim = Claim {
    name: "local-limit-folklore",
    title: "From beta to 3 beta the distance to the local limit shrinks by a third, once beta is \
            60",
    then: "For every positive density with 3 modes and every beta >= 60, the largest distance of \
           beta v from (log rho)' (SA) or of beta v/lambda_0 from rho' (USA) is three times \
           smaller at 3 beta than at beta.",
    tested: "to one fifth",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Fixed(2),
        beta: Betas::Log(60.0, 100.0),
        ..Domain::EQUAL_MASSES
    },
    source: "an earlier version of local-limit",
    status: Status::Folklore,
    trials: (400, 2000),
    trial: |case, ctx| {
        let raw = ctx.normals(6);
        let waves: Vec<Complex64> =
            (0..3).map(|k| Complex64::new(raw[2 * k], raw[2 * k + 1])).collect();
        // The smallest value of the density is log-uniform in [0.01, 1].
        let shape = Circle {
            c: std::iter::once(Complex64::default()).chain(waves.iter().copied()).collect(),
        };
        let depth = -shape.values(256).into_iter().fold(0.0, f64::min);
        let size = (1.0 - ctx.log_uniform_in(0.01, 1.0)) / depth.max(f64::MIN_POSITIVE);
        order(
            case,
            &Circle {
                c: std::iter::once(Complex64::new(1.0, 0.0))
                    .chain(waves.iter().map(|w| w * size))
                    .collect(),
            },
        )
    },
    control: Control {
        what: "1 + 0.2 cos theta + 0.1 cos 3 theta, far from 0",
        trial: |_| {
            order(
                &Case::new(1, 2, 60.0, "sa"),
                &Circle { c: [1.0, 0.1, 0.0, 0.05].map(|c| Complex64::new(c, 0.0)).to_vec() },
            )
        },
    },
    ..Claim::INEQUALITY
};

fn order(case: &Case, rho: &Circle) -> Result<Finding> {
    let points = 256;
    let (values, slope) = (rho.values(points), rho.slope(points));
    let distance = |beta: f64| -> Result<f64> {
        let v = rho.velocity(&MeasureDynamics::new(case.dynamics, beta, 0.0)?, points);
        let usa = case.row_weights()? == RowWeights::Exponential;
        let scale = if usa { beta / scaled_bessel_i(0, beta)[0] / beta.exp() } else { beta };
        let target = |j: usize| if usa { slope[j] } else { slope[j] / values[j] };
        Ok((0..points).fold(0.0f64, |m, j| m.max((scale * v[j] - target(j)).abs())))
    };
    let (near, far) = (distance(case.beta)?, distance(3.0 * case.beta)?);
    Ok(Finding::at_most((3.0 * far / near - 1.0).abs(), 0.2))
}
