//! Spectra of regular polygons from the Fourier coefficients of the interaction.

use super::setting::{any_interaction, polygon};
use crate::attention::interaction::{Interaction, InteractionEnergy, RowSum};
use crate::landscape::interaction::InteractionSpectrum;
use crate::theorem::prelude::*;
use crate::theory::interaction::{fourier_coefficients, polygon_rates};

const LEAST_SHARE: f64 = 0.1;
const ROUNDINGS: f64 = 512.0;

/// # Derivation
///
/// With `W(cos t) = sum_k a_k cos(k t)` the force is `f(t) = phi(cos t) sin t = sum_k k a_k sin(k
/// t)`, so `f'(t) = sum_k k^2 a_k cos(k t)`. At the regular n-gon of equal masses a displacement
/// `cos(2 pi q j/n)` has the rate `(1/n) sum_j f'(2 pi j/n) (cos(2 pi q j/n) - 1)`. Sums of cosines
/// over the corners are `n` if their frequency is a multiple of `n`, and 0 otherwise: `(1/n) sum_j
/// cos(k t_j) cos(q t_j) = ([k = q] + [k = -q])/2` modulo `n`.
///
/// With normalised rows the velocity is divided by `Z = (1/n) sum_j phi(cos t_j)`; its derivative
/// multiplies the velocity at the polygon, which is 0. With `phi(cos t) = sum_k c_k cos(k t)`,
/// `Z = sum_{n | k} c_k`.
pub static ENTRY: Claim = Claim {
    name: "polygon-fourier",
    title: "The rates of a regular polygon are sums of Fourier coefficients of `W`",
    lets: "`W(cos t) = sum_k a_k cos(k t)` with `W' = phi`, `phi(cos t) = sum_k c_k cos(k t)`, and \
           `n` equal clusters be at a regular n-gon on the circle",
    then: "Small displacements `cos(2 pi q j/n)`, `j = 0`, ..., `n - 1`, grow under USA at the \
           rates `sum_k k^2 a_k` `([k = q] + [k = -q])/2 - sum_{n | k} k^2 a_k`, where equations \
           are modulo `n`; under SA at these rates divided by `sum_{n | k} c_k`, if this sum is \
           positive.",
    tested: "against the eigenvalues of the Hessian, and for the mean of `phi(cos t)` over the \
             corners, if it exceeds `max |phi|/{PARTS}`, to `{ROUNDINGS} eps (max |phi| + max \
             |phi'|)`",
    numbers: &[("PARTS", 1.0 / LEAST_SHARE), ("ROUNDINGS", ROUNDINGS)],
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Fixed(2),
        draws: "`phi`, the corners of a regular n-gon",
        ..Domain::FREE
    },
    narrower: "interactions without kinks",
    source: "derived",
    trials: (30, 200),
    trial: |case, ctx| {
        let phi = any_interaction(ctx)?;
        rates(case, ctx, phi, 0)
    },
    constant: "the coefficients `a_k`",
    control: Control {
        what: "`phi = e^{2s}` with `k a_k` in the place of `k^2 a_k`",
        trial: |ctx| {
            let phi = Interaction::parse("exp(2*s)", &[])?;
            rates(&Case::new(5, 2, 0.0, ""), ctx, phi, 1)
        },
    },
    ..Claim::IDENTITY
};

fn rates(case: &Case, ctx: &mut Context, phi: Interaction, order: i32) -> Result<Finding> {
    let n = case.n;
    let (size, slope) = phi.sizes();
    let fourier = fourier_coefficients(&phi)?;
    let factor = ctx.claimed_constant(1.0);
    let weight = |k: usize| factor * (k as f64).powi(2 - order) * fourier[k];
    let mut expected: Vec<f64> = (0..n)
        .map(|q| {
            let share = |k: usize| {
                let equal = |yes: bool| f64::from(u8::from(yes));
                0.5 * equal(k % n == q) + 0.5 * equal((k + q).is_multiple_of(n))
                    - equal(k.is_multiple_of(n))
            };
            (0..fourier.len()).map(|k| weight(k) * share(k)).sum()
        })
        .collect();
    expected.sort_by(f64::total_cmp);
    let energy = InteractionEnergy::new(phi.clone());
    let found = InteractionSpectrum::of_tokens(&energy, &polygon(n)?)?.values;
    let mut worst = max_difference(&found, &expected);
    // The row sum is the ratio of the rates under both kinds of rows; from the coefficients of phi.
    let series = phi.series()[0].coefficients();
    let aliased: f64 = series.iter().step_by(n).sum();
    if aliased > LEAST_SHARE * size {
        let (plain, divided) =
            (polygon_rates(&phi, RowSum::Plain, n)?, polygon_rates(&phi, RowSum::Normalised, n)?);
        for (a, b) in plain.iter().zip(&divided) {
            worst = nan_max(worst, (a - aliased * b).abs());
        }
    }
    Ok(Finding::identity(worst, ROUNDINGS * f64::EPSILON * (size + slope)))
}
