//! Modes (strict local maxima) of kernel density estimates, with a proof of their number
//! (arXiv:2412.09080).
//!
//! The derivative of the estimate is a polynomial on every bin, up to a proved error: moments of
//! the samples per bin (`derivative`) times Taylor coefficients of the kernel, enclosed in interval
//! arithmetic (`kernel`). Bins are bisected until the derivative has one sign or is monotone on
//! each piece (`crossings`); the count then follows from the order of signs. Away from all samples
//! the estimate is convex, so no other place can have a mode. A count is certified only if every
//! piece was decided.
//!
//! A proof assumes that additions, products, quotients and roots of f64 are correctly rounded. A
//! search in f64 selects what to try on which piece. Interval arithmetic decides every piece and
//! bounds remainders, tails and convexity (`bounds`), without a mathematical library. Sums of
//! samples and of products are f64 with an a priori bound of their rounding (Higham, Accuracy and
//! Stability of Numerical Algorithms, 2002, section 3.1).
//!
//! **Cost** relative to the same search without intervals: see `benches/README.md`.

mod angular;
mod bounds;
mod certificate;
mod crossings;
mod derivative;
mod interaction;
mod kernel;
mod sphere;
#[cfg(test)]
mod tests;

pub use certificate::{Estimate, KIND, certificate};
pub use sphere::{SphereModes, sphere};

use crate::attention::interaction::Interaction;
use crate::error::{Error, Result};
use crate::num::vector::max_abs;
use derivative::DensityDerivative;
use interaction::{AnyDerivative, AnyKernel};
use kernel::Kernel;

/// Modes of type P and undecided places of type U: numbers and intervals on the line and the
/// circle.
///
/// If the number of modes is not proved, [`count`](Self::count) and [`locations`](Self::locations)
/// return an error, and [`lower_bound`](Self::lower_bound) is a proved lower bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes<P = f64, U = (f64, f64)> {
    located: Vec<P>,
    /// Bounds of the errors of the locations.
    errors: Vec<f64>,
    undecided: Vec<U>,
    /// True if the estimate may be constant, which has no mode.
    is_constant: bool,
}

impl<P, U> Modes<P, U> {
    /// No mode: a constant estimate has no strict local maximum.
    fn none() -> Self {
        Self { located: Vec::new(), errors: Vec::new(), undecided: Vec::new(), is_constant: true }
    }

    /// The number of modes, if it is proved for the given f64 samples and beta.
    ///
    /// **Errors** [`Error::Numerical`] "not proved: at least k" otherwise.
    pub fn count(&self) -> Result<usize> {
        self.locations().map(<[P]>::len)
    }

    /// The locations of all modes, if their number is proved. They are in ascending order; on the
    /// circle in `[0, 2 pi)`; on S^2 unit vectors, ordered by the third coordinate.
    ///
    /// **Errors** as [`count`](Self::count).
    pub fn locations(&self) -> Result<&[P]> {
        if self.is_proved() {
            return Ok(&self.located);
        }
        let what = format!(
            "number of modes: not proved: at least {}, {} place(s) undecided (degenerate, or nearly so)",
            self.lower_bound(),
            self.undecided.len()
        );
        Err(Error::Numerical { what })
    }

    /// True if the number is proved.
    pub fn is_proved(&self) -> bool {
        self.undecided.is_empty()
    }

    /// A proved lower bound of the number of modes.
    pub fn lower_bound(&self) -> usize {
        self.located.len().max(usize::from(!self.is_proved() && !self.is_constant))
    }

    /// Approximate locations of modes: all of them if certified, otherwise some.
    pub fn approximate_locations(&self) -> &[P] {
        &self.located
    }

    /// Proved bounds of the errors of [`approximate_locations`](Self::approximate_locations), in
    /// their order: a distance on the line and the circle, a chord on S^2.
    pub fn location_errors(&self) -> &[f64] {
        &self.errors
    }

    /// Places where nothing was proved (degenerate, or nearly so): intervals; on S^2 centres and
    /// radii.
    pub fn undecided(&self) -> &[U] {
        &self.undecided
    }
}

/// Modes of `sum_i e^{-beta (t - x_i)^2 / 2}` on the line.
///
/// **Cost** `O(n log n)` for sorting, `20 n` multiplications, about 3 microseconds for every half
/// kernel width near a sample. **Accuracy** of locations: about `1e-14` kernel widths plus one
/// rounding. **Errors** no sample, a sample that is not finite, beta negative or not finite.
///
/// ```
/// // Two samples have one mode up to a distance of two kernel widths.
/// let modes = |gap: f64| metastable::proofs::modes::line(&[0.0, gap], 1.0).unwrap();
/// assert_eq!((modes(1.999).count().unwrap(), modes(2.001).count().unwrap()), (1, 2));
/// // At two widths the modes merge: no count is proved.
/// assert!(modes(2.0).count().is_err() && modes(2.0).lower_bound() == 1);
/// ```
pub fn line(samples: &[f64], beta: f64) -> Result<Modes> {
    crate::num::interval::check_fp_environment()?;
    check(samples, beta, 1e300)?;
    if beta == 0.0 {
        return Ok(Modes::none());
    }
    let mut sorted = samples.to_vec();
    sort(&mut sorted);
    let kernel = Kernel::gaussian(beta);
    let mut modes = Modes { is_constant: false, ..Modes::none() };
    // Parts that are out of range of each other are counted separately, each in its own
    // coordinates.
    let mut start = 0;
    while start < sorted.len() {
        let separated =
            |k: &usize| kernel.unit() * (sorted[*k] - sorted[k - 1]) > kernel.separation();
        let end = (start + 1..sorted.len()).find(separated).unwrap_or(sorted.len());
        let origin = sorted[start];
        let positions: Vec<f64> =
            sorted[start..end].iter().map(|x| kernel.unit() * (x - origin)).collect();
        let field = DensityDerivative::line(&kernel, positions, sorted.len());
        let found = crossings::find(&field);
        let position = |s: f64| origin + s / kernel.unit();
        for (s, error) in &found.roots {
            modes.located.push(position(*s));
            modes.errors.push(in_samples(*s, *error, kernel.unit(), position(*s)));
        }
        modes.undecided.extend(found.undecided.iter().map(|(a, b)| (position(*a), position(*b))));
        start = end;
    }
    Ok(modes)
}

/// Modes of `sum_i e^{beta cos(theta - theta_i)}` on the circle, angles in radians.
///
/// **Cost, errors** as [`line()`]; beta up to 1e28. **Accuracy** of locations as for [`line()`] up
/// to beta = 10.6, where all samples are summed, and from 30 on. In between, samples beyond ten
/// kernel widths are bounded and not summed, though `e^{beta (cos - 1)}` exceeds the Gaussian
/// there. Counts are proved with that bound. A location is then within
/// `n e^{-beta (1 - cos(9.5 / sqrt beta))} / |s|` with the slope s of the derivative at the mode
/// (6e-10 seen at beta = 10.8, n = 14).
///
/// ```
/// let angles: Vec<f64> = (0..7).map(|k| k as f64 * std::f64::consts::TAU / 7.0).collect();
/// let modes = metastable::proofs::modes::circle(&angles, 100.0).unwrap();
/// assert_eq!(modes.count().unwrap(), 7);
/// assert!((modes.locations().unwrap()[3] - angles[3]).abs() < 1e-14);
/// ```
pub fn circle(angles: &[f64], beta: f64) -> Result<Modes> {
    crate::num::interval::check_fp_environment()?;
    check(angles, beta, 1e28)?;
    check_angles(angles)?;
    if beta == 0.0 {
        return Ok(Modes::none());
    }
    let kernel = Kernel::von_mises(beta);
    let mut positions: Vec<f64> = angles.iter().map(|a| kernel.unit() * wrap(*a)).collect();
    sort(&mut positions);
    let turns = max_abs(angles) / std::f64::consts::TAU;
    let found = crossings::find(&DensityDerivative::circle(&kernel, positions, turns));
    Ok(on_circle(&found, kernel.unit(), false))
}

/// Modes of `sum_i phi(cos(theta - theta_i))` on the circle, angles in radians, for an interaction
/// phi without kinks. `e^{beta s}` is done faster and to more digits by [`circle`].
///
/// If the estimate is constant, or may be, nothing is proved and the lower bound is 0; a constant
/// phi has 0 modes. Where the derivatives of all kernels are below the error of the series, nothing
/// is proved, unless phi is proved to be convex there: `((1 + s)/2)^40` is too flat at -1.
///
/// **Cost** n K operations for a series of K terms, `20 K` interval operations for each of at most
/// `3.2 K` bins, and the proof of the series (0.1 s for 100 terms). **Accuracy** of locations:
/// about `1e-13 max |phi'|` over the slope of the derivative at the mode. **Errors** no sample, a
/// sample that is not finite, kinks, a series of more than 800 terms, one whose distance from phi
/// has no proof.
///
/// ```
/// use metastable::attention::interaction::Interaction;
/// use metastable::proofs::modes;
/// let angles = [0.0, 0.4, 2.0, 4.5];
/// // s + 1 has one mode whatever the samples; a narrow kernel has one at each.
/// for (text, count) in [("s + 1", 1), ("exp:beta=100", 4), ("1/(1.2 - s)", 3), ("s^2", 2)] {
///     let phi = Interaction::parse(text, &[])?;
///     assert_eq!(modes::interaction(&angles, &phi)?.count()?, count, "{text}");
/// }
/// // Opposite pairs at a right angle: cos^2 + sin^2 is constant.
/// let square = Interaction::parse("s^2", &[])?;
/// let right = modes::interaction(&[0.0, std::f64::consts::FRAC_PI_2], &square)?;
/// assert!(!right.is_proved() && right.lower_bound() == 0);
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn interaction(angles: &[f64], phi: &Interaction) -> Result<Modes> {
    crate::num::interval::check_fp_environment()?;
    check(angles, 1.0, 1.0)?;
    check_angles(angles)?;
    let kernel = AnyKernel::new(phi)?;
    if kernel.is_constant() {
        return Ok(Modes::none());
    }
    let mut positions: Vec<f64> = angles.iter().map(|a| kernel.unit() * wrap(*a)).collect();
    sort(&mut positions);
    let turns = max_abs(angles) / std::f64::consts::TAU;
    let found = crossings::find(&AnyDerivative::new(&kernel, angles, &positions, turns));
    Ok(on_circle(&found, kernel.unit(), !found.has_sign))
}

/// Modes on the circle from down-crossings in units, of which a radian has `unit`.
fn on_circle(found: &crossings::Crossings, unit: f64, is_constant: bool) -> Modes {
    let position = |s: f64| wrap(s / unit);
    let mut roots: Vec<(f64, f64)> = found
        .roots
        .iter()
        .map(|(s, error)| (position(*s), in_samples(*s, *error, unit, std::f64::consts::TAU)))
        .collect();
    roots.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (located, errors) = roots.into_iter().unzip();
    let undecided = found.undecided.iter().map(|(a, b)| (position(*a), position(*b))).collect();
    Modes { located, errors, undecided, is_constant }
}

/// The bound of the error of a location, from that of its position in units. The unit, the
/// quotient, the origin and whole turns add their rounding: the last two that of a number of this
/// size.
fn in_samples(position: f64, error: f64, unit: f64, size: f64) -> f64 {
    let rounding = 3.0 * f64::EPSILON * position.abs() / unit + 2.0 * f64::EPSILON * size.abs();
    (error / unit + rounding) * (1.0 + 1e-12)
}

fn check(samples: &[f64], beta: f64, max_beta: f64) -> Result<()> {
    if samples.is_empty() {
        return Err(Error::parameter("samples", "none", "at least one sample"));
    }
    if let Some(i) = samples.iter().position(|x| !x.is_finite()) {
        return Err(Error::Token {
            row: i + 1,
            problem: format!("found {}, expected a finite number", samples[i]),
        });
    }
    crate::error::in_range("beta", beta, 0.0, max_beta).map(|_| ())
}

/// **Errors** an angle whose digits do not tell its place on the circle.
fn check_angles(angles: &[f64]) -> Result<()> {
    match angles.iter().position(|a| a.abs() > 1e17) {
        None => Ok(()),
        Some(i) => Err(Error::Token {
            row: i + 1,
            problem: format!(
                "found {:e}, expected an angle of at most 1e17 radians: a larger one has no \
                 certain place on the circle",
                angles[i]
            ),
        }),
    }
}

/// Sorts in ascending order, in parallel if there are many values.
fn sort(values: &mut [f64]) {
    use rayon::slice::ParallelSliceMut;
    if values.len() > 10_000 && crate::num::threads::parallel_allowed() {
        values.par_sort_unstable_by(f64::total_cmp);
    } else {
        values.sort_unstable_by(f64::total_cmp);
    }
}

/// The angle reduced to `[0, 2 pi)`, with 2 pi as a sum of two f64.
fn wrap(angle: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    if (0.0..turn).contains(&angle) {
        return angle;
    }
    let k = (angle / turn).floor();
    let rest = (-k).mul_add(turn, angle) - k * 2.449_293_598_294_706_4e-16;
    let rest = if rest < 0.0 { rest + turn } else { rest };
    if rest >= turn { rest - turn } else { rest }
}
