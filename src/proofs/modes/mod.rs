//! Modes (strict local maxima) of kernel density estimates with a proof that their number is right (arXiv:2412.09080).
//!
//! The derivative of the estimate is a polynomial on every cell, up to a proved error: moments of the samples per cell (`field`) times Taylor
//! coefficients of the kernel enclosed in interval arithmetic (`kernel`). Cells are bisected until the derivative has one sign or is monotone
//! on each piece (`pieces`); the count then follows from the order of signs. Away from all samples the estimate is convex, so nothing else
//! needs to be looked at. A count is certified only if every piece was decided.
//!
//! What a proof rests on: additions, products, quotients and roots of f64 are correctly rounded. A plain search says what to try on which piece; what is said of a piece
//! is decided by interval arithmetic, and so are the bounds of remainders, tails and convexity (`bounds`): no mathematical library is trusted. Sums of samples and of
//! products are f64 with a bound of their rounding counted a priori (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1).
//! **Price** measured against the same search without intervals, one thread, n = 10^2 to 10^5 and beta = 1 to 10^4: see `benches/README.md`.

mod bounds;
mod field;
mod kernel;
mod pieces;
mod sphere;
#[cfg(test)]
mod tests;

pub use sphere::{SphereModes, sphere};

use crate::error::{Error, Result};
use crate::num::vector::max_abs;
use field::Field;
use kernel::Kernel;

/// What was found: places of type P and stretches without a proof of type U; on the line and the circle numbers and intervals.
///
/// A number that is not proved cannot be read as a count: [`proved`](Self::proved) and [`locations`](Self::locations) refuse, [`at_least`](Self::at_least) says what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes<P = f64, U = (f64, f64)> {
    located: Vec<P>,
    undecided: Vec<U>,
}

impl<P, U> Modes<P, U> {
    /// A constant estimate has no strict local maximum.
    fn flat() -> Self {
        Self { located: Vec::new(), undecided: Vec::new() }
    }

    /// The number of modes, if it is proved for the given f64 samples and beta.
    ///
    /// **Errors** [`Error::Numerical`] "not proved: at least k" otherwise.
    pub fn proved(&self) -> Result<usize> {
        self.locations().map(<[P]>::len)
    }

    /// Where the modes are, all of them, if their number is proved: ascending; on the circle in `[0, 2 pi)`; on S^2 unit vectors by third coordinate.
    ///
    /// **Errors** as [`proved`](Self::proved).
    pub fn locations(&self) -> Result<&[P]> {
        if self.certified() {
            return Ok(&self.located);
        }
        let what = format!(
            "number of modes: not proved: at least {}, {} place(s) undecided (degenerate, or nearly so)",
            self.at_least(),
            self.undecided.len()
        );
        Err(Error::Numerical { what })
    }

    /// True if the number is proved.
    pub fn certified(&self) -> bool {
        self.undecided.is_empty()
    }

    /// So many modes there are in any case: proved also where the number is not.
    pub fn at_least(&self) -> usize {
        self.located.len().max(usize::from(!self.certified()))
    }

    /// A place near each of some modes; all of them if certified. Their number is no count otherwise.
    pub fn located(&self) -> &[P] {
        &self.located
    }

    /// Where nothing was proved, degenerate or nearly so: intervals, on S^2 centres and radii.
    pub fn undecided(&self) -> &[U] {
        &self.undecided
    }
}

/// Modes of `sum_i e^{-beta (t - x_i)^2 / 2}` on the line.
///
/// **Cost** `O(n log n)` for sorting, `20 n` multiplications, about 3 microseconds for every half kernel width near a sample. **Accuracy** of
/// locations: about `1e-14` kernel widths plus one rounding. **Errors** no sample, a sample that is not finite, beta negative or not finite.
///
/// ```
/// // Two samples have one mode up to the distance of two kernel widths.
/// let modes = |gap: f64| metastable::proofs::modes::line(&[0.0, gap], 1.0).unwrap();
/// assert_eq!((modes(1.999).proved().unwrap(), modes(2.001).proved().unwrap()), (1, 2));
/// // At two widths they merge: no proof, and no count.
/// assert!(modes(2.0).proved().is_err() && modes(2.0).at_least() == 1);
/// ```
pub fn line(samples: &[f64], beta: f64) -> Result<Modes> {
    crate::num::interval::trusted()?;
    check(samples, beta, 1e300)?;
    if beta == 0.0 {
        return Ok(Modes::flat());
    }
    let mut sorted = samples.to_vec();
    sort(&mut sorted);
    let kernel = Kernel::gaussian(beta);
    let mut modes = Modes::flat();
    // Parts whose distance is beyond the kernel's range are counted on their own, each in its own coordinates.
    let mut start = 0;
    while start < sorted.len() {
        let apart = |k: &usize| kernel.unit() * (sorted[*k] - sorted[k - 1]) > kernel.separation();
        let end = (start + 1..sorted.len()).find(apart).unwrap_or(sorted.len());
        let origin = sorted[start];
        let positions: Vec<f64> = sorted[start..end].iter().map(|x| kernel.unit() * (x - origin)).collect();
        let field = Field::line(&kernel, positions, sorted.len());
        let found = pieces::count(&field);
        let place = |s: f64| origin + s / kernel.unit();
        modes.located.extend(found.roots.iter().map(|s| place(*s)));
        modes.undecided.extend(found.undecided.iter().map(|(a, b)| (place(*a), place(*b))));
        start = end;
    }
    Ok(modes)
}

/// Modes of `sum_i e^{beta cos(theta - theta_i)}` on the circle, angles in radians.
///
/// **Cost, errors** as [`line()`]; beta up to 1e28. **Accuracy** of locations as there up to beta = 10.6, where all samples are summed, and from 30 on. Between, samples beyond ten kernel
/// widths are bounded (counts are proved with that bound) and not summed, though `e^{beta (cos - 1)}` is no Gaussian there: with the slope s of the derivative at a mode it lies within
/// `n e^{-beta (1 - cos(9.5 / sqrt beta))} / |s|` (6e-10 seen at beta = 10.8, n = 14).
///
/// ```
/// let angles: Vec<f64> = (0..7).map(|k| k as f64 * std::f64::consts::TAU / 7.0).collect();
/// let modes = metastable::proofs::modes::circle(&angles, 100.0).unwrap();
/// assert_eq!(modes.proved().unwrap(), 7);
/// assert!((modes.locations().unwrap()[3] - angles[3]).abs() < 1e-14);
/// ```
pub fn circle(angles: &[f64], beta: f64) -> Result<Modes> {
    crate::num::interval::trusted()?;
    check(angles, beta, 1e28)?;
    if beta == 0.0 {
        return Ok(Modes::flat());
    }
    let kernel = Kernel::von_mises(beta);
    let mut positions: Vec<f64> = angles.iter().map(|a| kernel.unit() * wrap(*a)).collect();
    sort(&mut positions);
    let turns = max_abs(angles) / std::f64::consts::TAU;
    let field = Field::circle(&kernel, positions, turns);
    let found = pieces::count(&field);
    let place = |s: f64| wrap(s / kernel.unit());
    let mut located: Vec<f64> = found.roots.iter().map(|s| place(*s)).collect();
    located.sort_by(f64::total_cmp);
    Ok(Modes { located, undecided: found.undecided.iter().map(|(a, b)| (place(*a), place(*b))).collect() })
}

fn check(samples: &[f64], beta: f64, most: f64) -> Result<()> {
    if samples.is_empty() {
        return Err(Error::parameter("samples", "none", "at least one sample"));
    }
    if let Some(i) = samples.iter().position(|x| !x.is_finite()) {
        return Err(Error::Token { row: i + 1, problem: format!("found {}, expected a finite number", samples[i]) });
    }
    crate::error::in_range("beta", beta, 0.0, most).map(|_| ())
}

/// Ascending; in parallel where that pays.
fn sort(values: &mut [f64]) {
    use rayon::slice::ParallelSliceMut;
    if values.len() > 10_000 && crate::num::threads::parallel_allowed() {
        values.par_sort_unstable_by(f64::total_cmp);
    } else {
        values.sort_unstable_by(f64::total_cmp);
    }
}

/// The angle reduced to `[0, 2 pi)` with 2 pi in two parts.
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
