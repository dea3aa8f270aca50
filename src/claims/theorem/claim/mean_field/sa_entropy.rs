//! SA and negentropy: an open conjecture, searched for counterexamples.

use crate::num::bessel::scaled_bessel_i;
use crate::theorem::prelude::*;

const MODES: usize = 10;
const RESOLVED: usize = 128;
const CONTROL_BETA: f64 = -3.0;
const CONTROL_SIZE: f64 = 0.5;

/// No proof is known. The upper bound d - 1 is part of `entropy-slopes`.
///
/// # Derivation
///
/// This is open. Known facts: SA produces the mean over `x` of `(d-1) E_x<x, y> - beta tr Cov_x(P_x
/// y)`, `E_x` under the weights `e^{beta <x, y>} d mu(y)`. The upper bound `d - 1` follows from
/// `<x, y> <= 1` and `Cov >= 0`. Near the uniform measure the rate is `sum_k r_k |mu_k|^2` with the
/// rates of `mode-growth`, which are positive; for large `beta` it tends to the Fisher information
/// over `beta`, which is positive too. In between, the covariance may exceed the first term at
/// single points, and we know no argument for the mean.
pub static ENTRY: Claim = Claim {
    name: "sa-entropy",
    title: "SA never decreases negentropy (conjecture)",
    then: "SA produces negentropy at a rate >= 0 for every density and every `beta > 0`.",
    tested: "by this rate divided by the production of USA over `I_0(beta)`, at most 1, to which \
             it tends near the uniform density",
    numbers: &[
        ("MODES", MODES as f64),
        ("RESOLVED", RESOLVED as f64),
        ("CONTROL_BETA", CONTROL_BETA),
        ("CONTROL_SIZE", CONTROL_SIZE),
    ],
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Fixed(2),
        beta: Betas::Log(0.1, 60.0),
        dynamics: &["sa"],
        laws: &[],
        draws: "a density",
        ..Domain::EQUAL_MASSES
    },
    narrower: "circle; densities whose logarithm has up to {MODES} modes, resolved by {RESOLVED}",
    source: "a conjecture of this library",
    status: Status::Open,
    trials: (40, 400),
    trial: |case, ctx| {
        let half = 1 + ctx.index(MODES);
        let size = ctx.log_uniform_in(0.05, 3.0) / (half as f64).sqrt();
        let waves: Vec<f64> = ctx.normals(2 * half).iter().map(|z| size * z).collect();
        let log = |theta: f64| -> f64 {
            let wave = |k: usize| {
                waves[2 * k] * ((k + 1) as f64 * theta).cos()
                    + waves[2 * k + 1] * ((k + 1) as f64 * theta).sin()
            };
            (0..half).map(wave).sum()
        };
        let values: Vec<f64> = (0..POINTS).map(|j| log(TAU * j as f64 / POINTS as f64)).collect();
        let top = vector::max(&values);
        production(case, &values.iter().map(|v| (v - top).exp()).collect::<Vec<_>>())
    },
    no_constant: "the conjecture is about a sign",
    control: Control {
        what: "`beta = {CONTROL_BETA}` and the density `1 + {CONTROL_SIZE} cos 2 theta`",
        trial: |_| {
            let values: Vec<f64> = (0..POINTS)
                .map(|j| 1.0 + CONTROL_SIZE * (2.0 * TAU * j as f64 / POINTS as f64).cos())
                .collect();
            production(&Case::new(1, 2, CONTROL_BETA, "sa"), &values)
        },
    },
    ..Claim::INEQUALITY
};

/// Grid points of a density on the circle.
const POINTS: usize = 512;

fn production(case: &Case, values: &[f64]) -> Result<Finding> {
    let rho = Circle::from_values_truncated(values, RESOLVED)?;
    if rho.tail() > 1e-11 {
        return Ok(Finding::HypothesesMissed);
    }
    let medium = |law: &str| MeasureDynamics::new(law, case.beta, 0.0);
    let rate = rho.negentropy_rate(&medium("sa")?)?;
    let size = case.beta.abs();
    let usa =
        rho.negentropy_rate(&medium("usa")?)?.abs() / (scaled_bessel_i(0, size)[0] * size.exp());
    let scale = usa.clamp(f64::MIN_POSITIVE, 1.0);
    // Both forms of the production: -integral rho div v, and integral log rho d_t rho.
    let error = (rate - rho.negentropy_rate_by_derivative(&medium("sa")?)?).abs()
        + 256.0 * f64::EPSILON * rho.negentropy().sqrt();
    Ok(Finding::nonnegative(rate, scale).with_evaluation_error(error / scale))
}
