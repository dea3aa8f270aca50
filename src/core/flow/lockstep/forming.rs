//! When the tokens of a system became one, within the step at whose end they are.

use super::lanes::{PerLane, State};
use crate::attention::kernel::WIDEST;
use crate::num::aligned::Aligned;
use crate::sphere::geometry::{chord2, retract};

/// The tokens before that step, lane by lane.
#[derive(Default)]
pub struct Forming {
    /// Sizes of the tokens that were looked at last.
    sizes: Vec<f64>,
    kept: [Vec<f64>; WIDEST],
    /// The tokens at as many times as lanes.
    x: Aligned<f64>,
    /// The cluster of every token, and where clusters are at one of the times.
    labels: Vec<usize>,
    places: Vec<f64>,
}

/// Shares of a step are located to this.
const PRECISION: f64 = 1e-12;

impl Forming {
    /// Notes the sizes of tokens that are about to merge.
    pub fn before(&mut self, sizes: &[f64]) {
        self.sizes.clear();
        self.sizes.extend_from_slice(sizes);
    }

    /// Keeps them for lane k.
    pub fn keep(&mut self, k: usize) {
        std::mem::swap(&mut self.kept[k], &mut self.sizes);
    }

    /// The share of the step at which the last two clusters of lane k came within the chord, each pair before it merging where it came so near; needs what
    /// interpolation needs.
    ///
    /// **Accuracy** that of the dense output; a cluster stands where the mean of its tokens would be, which differs by the square of the radius.
    pub fn locate(&mut self, state: &State, k: usize, chord: f64) -> f64 {
        self.labels.clear();
        self.labels.extend(0..self.kept[k].len());
        let mut from = 0.0;
        for clusters in (2..=self.kept[k].len()).rev() {
            let Some((theta, (a, b))) = self.next(state, (k, clusters), chord, from) else { return 1.0 };
            from = theta;
            let after = |label: usize| if label == b { a } else { label - usize::from(label > b) };
            self.labels.iter_mut().for_each(|label| *label = after(*label));
        }
        from
    }

    /// The first share from one on at which two clusters are within the chord, and which (`a < b`).
    fn next(&mut self, state: &State, (k, clusters): (usize, usize), chord: f64, from: f64) -> Option<(f64, (usize, usize))> {
        let width = state.lanes();
        let (mut low, mut high, mut found) = (from, 1.0, None);
        loop {
            let mut theta: PerLane = [high; WIDEST];
            theta.iter_mut().enumerate().take(width).for_each(|(j, t)| *t = low + (high - low) * (j + 1) as f64 / width as f64);
            // Rounding must not step over the end.
            theta[width - 1] = high;
            self.x.resize(self.kept[k].len() * state.d * width);
            state.interpolate(k, theta, &mut self.x);
            let first = (0..width).find_map(|j| self.nearest((k, clusters), state.d, (j, width), chord).map(|pair| (j, pair)));
            let Some((j, pair)) = first else { return found };
            found = Some((theta[j], pair));
            (low, high) = (if j > 0 { theta[j - 1] } else { low }, theta[j]);
            if high - low <= PRECISION {
                return found;
            }
        }
    }

    /// The nearest two clusters at time j, when they are within the chord.
    fn nearest(&mut self, (k, clusters): (usize, usize), d: usize, (j, width): (usize, usize), chord: f64) -> Option<(usize, usize)> {
        let Self { kept, x, labels, places, .. } = self;
        places.clear();
        places.resize(clusters * d, 0.0);
        for (i, (label, size)) in labels.iter().zip(&kept[k]).enumerate() {
            let place = &mut places[label * d..(label + 1) * d];
            place.iter_mut().enumerate().for_each(|(c, p)| *p += size * x[(i * d + c) * width + j]);
        }
        places.chunks_exact_mut(d).for_each(|place| {
            retract(place);
        });
        let row = |a: usize| &places[a * d..(a + 1) * d];
        let pairs = (0..clusters).flat_map(|b| (0..b).map(move |a| (a, b)));
        let nearest = pairs.map(|(a, b)| (chord2(row(a), row(b)), (a, b))).min_by(|p, q| p.0.total_cmp(&q.0))?;
        (nearest.0 <= chord * chord).then_some(nearest.1)
    }
}
