//! Locates the time at which the tokens of a system became one cluster, within the step at whose
//! end they are.

use super::lanes::{LaneState, PerLane};
use crate::attention::kernel::MAX_LANES;
use crate::num::aligned::AlignedVec;
use crate::sphere::geometry::{chord2, retract};

/// Locates merge times from the tokens before the step, by lane.
#[derive(Default)]
pub struct MergeTimeLocator {
    /// Sizes of the tokens recorded last.
    sizes: Vec<f64>,
    saved: [Vec<f64>; MAX_LANES],
    /// The tokens at one time per lane.
    x: AlignedVec<f64>,
    /// The cluster of every token, and the positions of the clusters at one of the times.
    labels: Vec<usize>,
    positions: Vec<f64>,
}

/// Precision of the located fraction of a step.
const PRECISION: f64 = 1e-12;

impl MergeTimeLocator {
    /// Records the sizes of tokens that are about to merge.
    pub fn record_sizes(&mut self, sizes: &[f64]) {
        self.sizes.clear();
        self.sizes.extend_from_slice(sizes);
    }

    /// Saves the recorded sizes for lane k.
    pub fn save(&mut self, k: usize) {
        std::mem::swap(&mut self.saved[k], &mut self.sizes);
    }

    /// The fraction of the step at which the last two clusters of lane k came within the chord;
    /// each earlier pair merges when it comes within the chord. Needs the dense output.
    ///
    /// **Accuracy** that of the dense output. A cluster is placed at the mean of its tokens, which
    /// is exact up to the square of the radius.
    pub fn locate(&mut self, state: &LaneState, k: usize, chord: f64) -> f64 {
        self.labels.clear();
        self.labels.extend(0..self.saved[k].len());
        let mut from = 0.0;
        for clusters in (2..=self.saved[k].len()).rev() {
            let Some((theta, (a, b))) = self.next_merge(state, (k, clusters), chord, from) else {
                return 1.0;
            };
            from = theta;
            let after = |label: usize| if label == b { a } else { label - usize::from(label > b) };
            self.labels.iter_mut().for_each(|label| *label = after(*label));
        }
        from
    }

    /// The first fraction >= `from` at which two clusters are within the chord, and these clusters
    /// (`a < b`).
    fn next_merge(
        &mut self,
        state: &LaneState,
        (k, clusters): (usize, usize),
        chord: f64,
        from: f64,
    ) -> Option<(f64, (usize, usize))> {
        let width = state.lanes();
        let (mut low, mut high, mut found) = (from, 1.0, None);
        loop {
            let mut theta: PerLane = [high; MAX_LANES];
            theta
                .iter_mut()
                .enumerate()
                .take(width)
                .for_each(|(j, t)| *t = low + (high - low) * (j + 1) as f64 / width as f64);
            // Rounding must not exceed the end.
            theta[width - 1] = high;
            self.x.resize(self.saved[k].len() * state.d * width);
            state.interpolate(k, theta, &mut self.x);
            let first = (0..width).find_map(|j| {
                self.nearest_pair((k, clusters), state.d, (j, width), chord).map(|pair| (j, pair))
            });
            let Some((j, pair)) = first else { return found };
            found = Some((theta[j], pair));
            (low, high) = (if j > 0 { theta[j - 1] } else { low }, theta[j]);
            if high - low <= PRECISION {
                return found;
            }
        }
    }

    /// The nearest two clusters at time j, if they are within the chord.
    fn nearest_pair(
        &mut self,
        (k, clusters): (usize, usize),
        d: usize,
        (j, width): (usize, usize),
        chord: f64,
    ) -> Option<(usize, usize)> {
        let Self { saved, x, labels, positions, .. } = self;
        positions.clear();
        positions.resize(clusters * d, 0.0);
        for (i, (label, size)) in labels.iter().zip(&saved[k]).enumerate() {
            let position = &mut positions[label * d..(label + 1) * d];
            position
                .iter_mut()
                .enumerate()
                .for_each(|(c, p)| *p += size * x[(i * d + c) * width + j]);
        }
        positions.chunks_exact_mut(d).for_each(|position| {
            retract(position);
        });
        let row = |a: usize| &positions[a * d..(a + 1) * d];
        let pairs = (0..clusters).flat_map(|b| (0..b).map(move |a| (a, b)));
        let nearest = pairs
            .map(|(a, b)| (chord2(row(a), row(b)), (a, b)))
            .min_by(|p, q| p.0.total_cmp(&q.0))?;
        (nearest.0 <= chord * chord).then_some(nearest.1)
    }
}
