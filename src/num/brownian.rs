//! Brownian motion on grids of equal steps. Halving the step refines the same path.

use super::stream::Stream;

/// The coarsest intervals have length `2^5 m`; for steps h below 64, h and h/2 share one path.
const TOP_EXPONENT: i32 = 5;

/// Increments of a Brownian motion of `R^count` by midpoints (Levy's construction). The path with
/// step h is the path with step h/2, read at every second time.
///
/// A step is `m 2^e` with `1 <= m < 2`. Each interval of length `32 m` has its own random stream
/// for its increment. An interval is halved by a normal number at its midpoint, drawn from the
/// stream named by the seed, m, the level and the index of the interval, until intervals have the
/// length of the step.
///
/// **Cost** 2 `count` normal numbers per step, and memory for two vectors per level.
///
/// ```
/// use metastable::num::brownian::Brownian;
/// let (mut coarse, mut fine) = (Brownian::new(7, 0.1, 2), Brownian::new(7, 0.05, 2));
/// for k in 0..20 {
///     let whole = coarse.step(k).to_vec();
///     let parts: Vec<f64> = fine.step(2 * k).to_vec().iter().zip(fine.step(2 * k + 1)).map(|(a, b)| a + b).collect();
///     // Numbers are in units of the square root of the step.
///     assert!(whole.iter().zip(&parts).all(|(w, p)| (w * 2f64.sqrt() - p).abs() < 1e-14));
/// }
/// ```
pub struct Brownian {
    seed: u64,
    mantissa: String,
    /// From the coarsest interval down to the step.
    levels: Vec<DyadicLevel>,
    count: usize,
    last: Vec<f64>,
}

/// The interval of one level that contains the current step.
struct DyadicLevel {
    index: Option<u64>,
    /// Increment, divided by the square root of the length.
    increment: Vec<f64>,
    /// Deviation at the midpoint.
    middle: Vec<f64>,
}

impl Brownian {
    /// A motion with `count` components for this step (positive, finite).
    pub fn new(seed: u64, step: f64, count: usize) -> Self {
        let bits = step.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
        let level =
            || DyadicLevel { index: None, increment: vec![0.0; count], middle: vec![0.0; count] };
        let levels = (0..=(TOP_EXPONENT - exponent).max(0)).map(|_| level()).collect();
        Self {
            seed,
            mantissa: format!("{:x}", bits & ((1 << 52) - 1)),
            levels,
            count,
            last: vec![0.0; count],
        }
    }

    /// `(W((k+1) h) - W(k h)) / sqrt(h)`.
    pub fn step(&mut self, k: u64) -> &[f64] {
        let depth = self.levels.len() - 1;
        for l in 0..=depth {
            // A shift beyond 64 bits gives index 0.
            let index = k.checked_shr((depth - l) as u32).unwrap_or(0);
            if self.levels[l].index == Some(index) {
                continue;
            }
            let (above, here) = self.levels.split_at_mut(l);
            let level = &mut here[0];
            level.index = Some(index);
            match above.last() {
                None => stream(self.seed, &self.mantissa, "whole", 0, index)
                    .normals(&mut level.increment),
                Some(parent) => {
                    let sign = if index.is_multiple_of(2) { 1.0 } else { -1.0 };
                    let halves = parent
                        .increment
                        .iter()
                        .zip(&parent.middle)
                        .map(|(w, m)| (w + sign * m) * std::f64::consts::FRAC_1_SQRT_2);
                    level.increment.iter_mut().zip(halves).for_each(|(w, h)| *w = h);
                }
            }
            if l < depth {
                stream(self.seed, &self.mantissa, "middle", l, index).normals(&mut level.middle);
            }
        }
        &self.levels[depth].increment
    }

    /// `(W((k + share) h) - W(k h)) / sqrt(share h)` for a shorter last step, on the same path.
    pub fn partial_increment(&mut self, k: u64, share: f64) -> &[f64] {
        let mut last = std::mem::take(&mut self.last);
        last.resize(self.count, 0.0);
        stream(self.seed, &self.mantissa, "part", self.levels.len(), k).normals(&mut last);
        let (whole, rest) = (share.sqrt(), (1.0 - share).max(0.0).sqrt());
        last.iter_mut().zip(self.step(k)).for_each(|(p, w)| *p = whole * w + rest * *p);
        self.last = last;
        &self.last
    }
}

fn stream(seed: u64, mantissa: &str, what: &str, level: usize, index: u64) -> Stream {
    Stream::new(seed, &["brownian", mantissa, what, &level.to_string(), &index.to_string()])
}
