//! The exponential of one matrix at many times.

use super::dense::{exponential, identity, mul_into};
use super::vector::divide;

/// Terms of the Taylor sum after the first: with a row sum of at most 1/8, less than 3e-18 is cut off.
const TERMS: usize = 10;

/// Exponentials kept at a time.
const SLOTS: u64 = 4;

/// `e^{tA}` for many t: that of the nearest time of a grid times a short Taylor sum.
///
/// The times of the grid are multiples of a power of two with `|A| step <= 1/4` in the largest row sum, so that every value depends on t alone, whichever were asked for before.
///
/// **Accuracy** of [`exponential`], and `(n + 10) u` of it. **Cost** `20 n^2` operations and one product; another exponential where the nearest time of the grid is none of the last ones.
pub struct Semigroup {
    n: usize,
    a: Vec<f64>,
    /// `A^k / k!` for `k = 1..=TERMS`.
    powers: Vec<f64>,
    step: f64,
}

/// What is kept from one time to the next.
#[derive(Default)]
pub struct Exponentials {
    /// Whose exponentials they are.
    a: Vec<f64>,
    /// Numbers of times of the grid, and the exponentials there.
    slots: Vec<(f64, Vec<f64>)>,
    near: Vec<f64>,
}

impl Semigroup {
    /// That of a row-major n x n matrix.
    pub fn new(a: Vec<f64>, n: usize) -> Self {
        let size = a.chunks_exact(n).map(|row| row.iter().map(|v| v.abs()).sum::<f64>()).fold(0.0, f64::max);
        // A matrix of zeros has any step, one beyond all bounds any as well: its exponentials are no numbers.
        let step = if size > 0.0 && size.is_finite() { (0.25 / size).log2().floor().clamp(-1000.0, 1000.0).exp2() } else { 1.0 };
        let mut powers = Vec::with_capacity(TERMS * n * n);
        let (mut power, mut next) = (identity(n), vec![0.0; n * n]);
        for k in 1..=TERMS {
            mul_into(&power, &a, n, &mut next);
            divide(&mut next, k as f64);
            std::mem::swap(&mut power, &mut next);
            powers.extend_from_slice(&power);
        }
        Self { n, a, powers, step }
    }

    /// Writes `e^{tA}`; not a number where `tA` is none.
    pub fn at(&self, t: f64, kept: &mut Exponentials, out: &mut [f64]) {
        if kept.a != self.a {
            *kept = Exponentials {
                a: self.a.clone(),
                slots: vec![(f64::NAN, vec![f64::NAN; self.a.len()]); SLOTS as usize],
                near: vec![0.0; self.a.len()],
            };
        }
        let nearest = (t / self.step).round();
        let (slot, rest) = (&mut kept.slots[(nearest.abs() as u64 % SLOTS) as usize], t - nearest * self.step);
        if slot.0.to_bits() != nearest.to_bits() {
            let scaled: Vec<f64> = self.a.iter().map(|v| nearest * self.step * v).collect();
            *slot = (nearest, exponential(&scaled, self.n));
        }
        let near = &mut kept.near[..];
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
    use super::{Exponentials, Semigroup, exponential};
    use crate::stream::Stream;

    #[test]
    fn exponentials_at_many_times_are_those_of_each() {
        let mut kept = Exponentials::default();
        for (n, size) in [(1, 1.0), (3, 0.3), (3, 5.0), (6, 40.0), (2, 0.0)] {
            let mut a = vec![0.0; n * n];
            Stream::new(n as u64, &["semigroup"]).normals(&mut a);
            a.iter_mut().for_each(|v| *v *= size);
            let semigroup = Semigroup::new(a.clone(), n);
            let norm = a.chunks_exact(n).map(|row| row.iter().map(|v| v.abs()).sum::<f64>()).fold(0.0, f64::max);
            for t in [0.0, 1e-9, 0.1, 0.37, 1.0, 1.0 + 1e-9, -0.6, 0.37] {
                let mut out = vec![0.0; n * n];
                semigroup.at(t, &mut kept, &mut out);
                let direct = exponential(&a.iter().map(|v| t * v).collect::<Vec<_>>(), n);
                // Both err by (20 + 2^s) n u e^{|tA|}, 2^s up to 4 |tA|.
                let tolerance = 4.0 * (20.0 + 4.0 * t.abs() * norm) * n as f64 * f64::EPSILON * (t.abs() * norm).exp();
                assert!(out.iter().zip(&direct).all(|(p, q)| (p - q).abs() <= tolerance), "{n} {size} {t}");
                // Whatever was kept.
                let mut again = vec![0.0; n * n];
                semigroup.at(t, &mut Exponentials::default(), &mut again);
                assert_eq!(out, again);
            }
        }
        for t in [f64::INFINITY, f64::NAN] {
            let mut out = [0.0];
            Semigroup::new(vec![1.0], 1).at(t, &mut kept, &mut out);
            assert!(out[0].is_nan());
        }
    }
}
