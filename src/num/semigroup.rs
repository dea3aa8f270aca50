//! The exponential of one matrix at many times.

use super::dense::{exponential, identity, mul_into};
use super::vector::divide;

/// Terms of the Taylor sum after the first. The row sum of the argument is at most 1/8, so the
/// truncation error is below 3e-18.
const TAYLOR_TERMS: usize = 10;

/// Number of cached exponentials.
const CACHE_SLOTS: u64 = 4;

/// The matrix exponential `e^{tA}` for many t: the exponential at the nearest time of a grid, times
/// a short Taylor sum.
///
/// The grid is the multiples of a power of two `step` with `|A| step <= 1/4` (largest row sum).
/// Every value depends on t only, not on earlier calls.
///
/// **Accuracy** that of [`exponential`] plus a relative `(n + 10) u`.
/// **Cost** `20 n^2` operations and one product; in addition an exponential if the nearest time of
/// the grid is not cached.
pub struct Semigroup {
    n: usize,
    a: Vec<f64>,
    /// `A^k / k!` for `k = 1..=TAYLOR_TERMS`.
    powers: Vec<f64>,
    step: f64,
}

/// Cached exponentials, reused from call to call.
#[derive(Default)]
pub struct ExponentialCache {
    /// The matrix that the cache belongs to.
    a: Vec<f64>,
    /// Indices of grid times, and the exponentials there.
    slots: Vec<(f64, Vec<f64>)>,
    near: Vec<f64>,
}

impl Semigroup {
    /// For a row-major n x n matrix.
    pub fn new(a: Vec<f64>, n: usize) -> Self {
        let size = a
            .chunks_exact(n)
            .map(|row| row.iter().map(|v| v.abs()).sum::<f64>())
            .fold(0.0, f64::max);
        // For the zero matrix any step works; for a non-finite matrix the result is NaN anyway.
        let step = if size > 0.0 && size.is_finite() {
            (0.25 / size).log2().floor().clamp(-1000.0, 1000.0).exp2()
        } else {
            1.0
        };
        let mut powers = Vec::with_capacity(TAYLOR_TERMS * n * n);
        let (mut power, mut next) = (identity(n), vec![0.0; n * n]);
        for k in 1..=TAYLOR_TERMS {
            mul_into(&power, &a, n, &mut next);
            divide(&mut next, k as f64);
            std::mem::swap(&mut power, &mut next);
            powers.extend_from_slice(&power);
        }
        Self { n, a, powers, step }
    }

    /// Writes `e^{tA}`; NaN if `tA` is not finite.
    pub fn evaluate(&self, t: f64, cache: &mut ExponentialCache, out: &mut [f64]) {
        if cache.a != self.a {
            *cache = ExponentialCache {
                a: self.a.clone(),
                slots: vec![(f64::NAN, vec![f64::NAN; self.a.len()]); CACHE_SLOTS as usize],
                near: vec![0.0; self.a.len()],
            };
        }
        let nearest = (t / self.step).round();
        let (slot, rest) = (
            &mut cache.slots[(nearest.abs() as u64 % CACHE_SLOTS) as usize],
            t - nearest * self.step,
        );
        if slot.0.to_bits() != nearest.to_bits() {
            let scaled: Vec<f64> = self.a.iter().map(|v| nearest * self.step * v).collect();
            *slot = (nearest, exponential(&scaled, self.n));
        }
        let near = &mut cache.near[..];
        near.fill(0.0);
        for power in self.powers.chunks_exact(near.len()).rev() {
            near.iter_mut().zip(power).for_each(|(s, p)| *s = rest * (*s + p));
        }
        near.iter_mut().step_by(self.n + 1).for_each(|s| *s += 1.0);
        mul_into(&slot.1, near, self.n, out);
    }
}

#[cfg(test)]
mod tests {
    use super::{ExponentialCache, Semigroup, exponential};
    use crate::stats::nan_max;
    use crate::stream::Stream;

    #[test]
    fn exponentials_at_many_times_are_those_of_each() {
        let mut cache = ExponentialCache::default();
        for (n, size) in [(1, 1.0), (3, 0.3), (3, 5.0), (6, 40.0), (2, 0.0)] {
            let mut a = vec![0.0; n * n];
            Stream::new(n as u64, &["semigroup"]).normals(&mut a);
            a.iter_mut().for_each(|v| *v *= size);
            let semigroup = Semigroup::new(a.clone(), n);
            let norm = a
                .chunks_exact(n)
                .map(|row| row.iter().map(|v| v.abs()).sum::<f64>())
                .fold(0.0, nan_max);
            for t in [0.0, 1e-9, 0.1, 0.37, 1.0, 1.0 + 1e-9, -0.6, 0.37] {
                let mut out = vec![0.0; n * n];
                semigroup.evaluate(t, &mut cache, &mut out);
                let direct = exponential(&a.iter().map(|v| t * v).collect::<Vec<_>>(), n);
                // Both have the error (20 + 2^s) n u e^{|tA|}, with 2^s up to 4 |tA|.
                let tolerance = 4.0
                    * (20.0 + 4.0 * t.abs() * norm)
                    * n as f64
                    * f64::EPSILON
                    * (t.abs() * norm).exp();
                assert!(
                    out.iter().zip(&direct).all(|(p, q)| (p - q).abs() <= tolerance),
                    "{n} {size} {t}"
                );
                // The result does not depend on the cache.
                let mut again = vec![0.0; n * n];
                semigroup.evaluate(t, &mut ExponentialCache::default(), &mut again);
                assert_eq!(out, again);
            }
        }
        for t in [f64::INFINITY, f64::NAN] {
            let mut out = [0.0];
            Semigroup::new(vec![1.0], 1).evaluate(t, &mut cache, &mut out);
            assert!(out[0].is_nan());
        }
    }
}
