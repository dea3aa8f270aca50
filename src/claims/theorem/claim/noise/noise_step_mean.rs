//! Noise: the mean of one step of the sampler.

use crate::attention::noise::Isotropic;
use crate::theorem::prelude::*;
use crate::theory::noise_step::{exact_mean, mean_cosine};

const LARGEST_STEP: f64 = 0.1;
const TOLERANCE: f64 = 1e-5;
const KAPPAS: (f64, f64) = (0.5, 10.0);

/// The corrected step has the second and fourth moments of the angle of Brownian motion.
///
/// # Derivation
///
/// A step turns `x` by an angle `s` times a chi variable of `D = d - 1` degrees, so `E <x', x> =
/// 1F1(D/2; 1/2; -s^2/2) = 1 - s^2 D/2 + s^4 D (D+2)/24 - s^6 D (D+2)(D+4)/720 + ...`. Brownian
/// motion has `e^{-D tau}`, `tau = h/kappa`. With `s^2 = 2 tau (1 - (D-1) tau/3)`: the first order
/// is `-D tau`; the second `D ((D-1)/3 + (D+2)/6) = D^2/2`; the third `-D (D+2) ((D-1)/9 +
/// (D+4)/90) = -D (D+2)(11 D - 6)/90`, and its difference from `-D^3/6` is `(2/45) D (D-1)(D-3)`.
/// It vanishes for `d = 2` (with all later ones) and `d = 4`.
pub static ENTRY: Claim = Claim {
    name: "noise-step-mean",
    title: "Noise: the one-step mean of the corrected geodesic step",
    lets: "`x'` be a step from `x` for the noise `dX = sqrt(2/kappa) P o dW`: along a geodesic by \
           the angle `s |P xi|`, `xi` normal, with `s^2 = (2h/kappa)(1 - (d-2) h/(3 kappa))`",
    then: "`E <x', x> = e^{-(d-1) h/kappa} + c (h/kappa)^3 + O(h^4)` with `c = \
           (2/45)(d-1)(d-2)(d-4)`. The step is of order 4 for `d = 4` and exact for `d = 2`.",
    tested: "by extrapolation of `c` from `(d+2) h/kappa = {LARGEST_STEP}`, {HALF_STEP} and \
             {QUARTER_STEP}, without sampling, to `{TOLERANCE} (1 + |c|)`",
    numbers: &[
        ("LARGEST_STEP", LARGEST_STEP),
        ("HALF_STEP", 0.5 * LARGEST_STEP),
        ("QUARTER_STEP", 0.25 * LARGEST_STEP),
        ("TOLERANCE", TOLERANCE),
        ("PARTS", 1.0 / KAPPAS.0),
        ("LARGEST_KAPPA", KAPPAS.1),
    ],
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Range(2, 12),
        draws: "`kappa` in [1/{PARTS}, {LARGEST_KAPPA}]",
        ..Domain::FREE
    },
    source: "derived",
    trials: (24, 200),
    trial: |case, ctx| constant(case.d, ctx, true),
    constant: "the constant `c`",
    control: Control {
        what: "the uncorrected `s^2 = 2h/kappa`",
        trial: |ctx| constant(5, ctx, false),
    },
    ..Claim::LAW
};

fn constant(d: usize, ctx: &mut Context, corrected: bool) -> Result<Finding> {
    let kappa = ctx.log_uniform_in(KAPPAS.0, KAPPAS.1);
    let noise = Isotropic::new(kappa)?;
    let cubic = |tau: f64| {
        let s2 = if corrected { noise.step_scale(d, kappa * tau).powi(2) } else { 2.0 * tau };
        (mean_cosine(d as f64 - 1.0, s2) - exact_mean(d, tau)) / tau.powi(3)
    };
    let (tau, size) = (LARGEST_STEP / (d as f64 + 2.0), d as f64);
    let claimed = 2.0 / 45.0 * (size - 1.0) * (size - 2.0) * (size - 4.0);
    // The remainder is of the order tau^3. Rounding of numbers of size 1, divided by
    // (tau/4)^3 >= 5e-9, is below 1e-6.
    let found = (8.0 * cubic(0.25 * tau) - 6.0 * cubic(0.5 * tau) + cubic(tau)) / 3.0;
    let allowed = TOLERANCE * (1.0 + claimed.abs());
    Ok(Finding::law(found, ctx.claimed_constant(claimed), allowed, 0.0))
}
