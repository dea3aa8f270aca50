//! Brownian motion on grids of equal steps: halving the step refines the same path.

use super::stream::Stream;

/// Top intervals are this many binary orders above 1: steps below 64 share their path with their halves.
const TOP: i32 = 5;

/// Increments of a Brownian motion of R^count by midpoints (Levy's construction): the path of step h is that of h/2, seen at every second time.
///
/// A step is `m 2^e` with `1 <= m < 2`. The increments over intervals of length `32 m` have streams of their own; each is halved at its midpoint by a normal
/// number whose stream is named by the seed, m, the level and the place, until intervals have the length of the step.
///
/// **Cost** 2 `count` normal numbers a step, and two vectors for each level from the step up to 32 m.
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
    /// From the top interval down to the step.
    levels: Vec<Level>,
    count: usize,
    last: Vec<f64>,
}

/// The interval at one level that holds the current step.
struct Level {
    index: Option<u64>,
    /// Its increment in units of the square root of its length.
    increment: Vec<f64>,
    /// What its midpoint adds.
    middle: Vec<f64>,
}

impl Brownian {
    /// A motion of `count` components for steps of this length (positive, finite).
    pub fn new(seed: u64, step: f64, count: usize) -> Self {
        let bits = step.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
        let level = || Level { index: None, increment: vec![0.0; count], middle: vec![0.0; count] };
        let levels = (0..=(TOP - exponent).max(0)).map(|_| level()).collect();
        Self { seed, mantissa: format!("{:x}", bits & ((1 << 52) - 1)), levels, count, last: vec![0.0; count] }
    }

    /// `(W((k+1) h) - W(k h)) / sqrt(h)`.
    pub fn step(&mut self, k: u64) -> &[f64] {
        let depth = self.levels.len() - 1;
        for l in 0..=depth {
            // Steps may be finer than 2^-64 of the top interval; those places are 0.
            let index = k.checked_shr((depth - l) as u32).unwrap_or(0);
            if self.levels[l].index == Some(index) {
                continue;
            }
            let (above, here) = self.levels.split_at_mut(l);
            let level = &mut here[0];
            level.index = Some(index);
            match above.last() {
                None => stream(self.seed, &self.mantissa, "whole", 0, index).normals(&mut level.increment),
                Some(parent) => {
                    let sign = if index.is_multiple_of(2) { 1.0 } else { -1.0 };
                    let halves = parent.increment.iter().zip(&parent.middle).map(|(w, m)| (w + sign * m) * std::f64::consts::FRAC_1_SQRT_2);
                    level.increment.iter_mut().zip(halves).for_each(|(w, h)| *w = h);
                }
            }
            if l < depth {
                stream(self.seed, &self.mantissa, "middle", l, index).normals(&mut level.middle);
            }
        }
        &self.levels[depth].increment
    }

    /// `(W((k + share) h) - W(k h)) / sqrt(share h)` for a last step that is shorter: a point of the same path.
    pub fn part(&mut self, k: u64, share: f64) -> &[f64] {
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
