//! Which sources the queries of a group see, and their biases, for tiles of scores.

use super::job::HeadsJob;
use super::tiles::MOST;
use crate::num::simd::{Float, Lanes};
use crate::pattern::Bias;
use std::f64::consts::LOG2_E;

/// Sources whose scores with a group of queries are formed at a time: a tile of three vectors of queries stays in the first cache.
pub(super) const BLOCK: usize = 128;

/// The ranges that the queries of a group see.
pub(super) struct Seen<T, const V: usize> {
    starts: [T; V],
    ends: [T; V],
    /// From the first source that some query sees to the last, and what all see.
    pub some: (usize, usize),
    all: (usize, usize),
}

impl<T: Copy, const V: usize> Seen<T, V> {
    /// For the queries from `first` on; lanes beyond the last query see what that one sees.
    #[inline(always)]
    pub fn new<L: Lanes<V = T>>(l: L, job: &HeadsJob, first: usize, queries: usize, sources: usize) -> Self {
        let mut out = Self { starts: [l.zero(); V], ends: [l.zero(); V], some: (sources, 0), all: (0, sources) };
        let (mut starts, mut ends) = ([[0.0; 16]; V], [[0.0; 16]; V]);
        for lane in 0..V * L::WIDTH {
            let seen = job.pattern.seen((first + lane).min(queries - 1), sources);
            let (start, end) = (seen.start.min(sources), seen.end.min(sources));
            (starts[lane / L::WIDTH][lane % L::WIDTH], ends[lane / L::WIDTH][lane % L::WIDTH]) = (start as f64, end as f64);
            out.all = (out.all.0.max(start), out.all.1.min(end));
            if start < end {
                out.some = (out.some.0.min(start), out.some.1.max(end));
            }
        }
        for v in 0..V {
            (out.starts[v], out.ends[v]) = (l.load(&starts[v]), l.load(&ends[v]));
        }
        out
    }

    /// True when some query does not see all of these sources.
    pub fn cuts(&self, from: usize, to: usize) -> bool {
        from < self.all.0 || to > self.all.1
    }

    /// Minus infinity for pairs that do not see each other.
    #[inline(always)]
    pub fn mask<L: Lanes<V = T>>(&self, l: L, from: usize, tile: &mut [[T; V]]) {
        let hidden = l.constant(f64::NEG_INFINITY);
        for (k, row) in tile.iter_mut().enumerate() {
            // Between two sources, so that one comparison tells which side a start or an end is on.
            let j = l.constant((from + k) as f64 + 0.5);
            for v in 0..V {
                let begun = l.select(l.greater(j, self.starts[v]), row[v], hidden);
                row[v] = l.select(l.greater(self.ends[v], j), begun, hidden);
            }
        }
    }
}

/// How scores become exponents of 2.
#[derive(Clone, Copy)]
pub(super) struct Exponents {
    head: usize,
    form: Bias,
    /// `beta log2 e`.
    pub slope: f64,
}

impl Exponents {
    /// Those of a head.
    pub fn new(job: &HeadsJob, head: usize) -> Self {
        Self { head, form: job.pattern.form(head), slope: job.beta * LOG2_E }
    }

    /// True when tiles hold exponents; otherwise scores, of the sign that makes the largest the heaviest.
    pub fn biased(&self) -> bool {
        self.form != Bias::Absent
    }

    /// What a number of the tile is multiplied by to be an exponent of 2; not 0, so that minus infinity stays what it is.
    pub fn factor<F: Float>(&self) -> f64 {
        if self.biased() { 1.0 } else { self.slope.abs().max(F::SMALLEST.exp2()) }
    }

    /// Scores to exponents with their biases.
    #[inline(always)]
    pub fn add<L: Lanes, const V: usize>(
        &self,
        l: L,
        job: &HeadsJob,
        (first, queries): (usize, usize),
        from: usize,
        tile: &mut [[L::V; V]],
    ) {
        let slope = l.constant(self.slope);
        match self.form {
            Bias::Absent => {}
            Bias::Distance { slope: per_place } => {
                let (loss, mut places) = (l.constant(-per_place * LOG2_E), [l.zero(); V]);
                for v in 0..V {
                    let mut place = [0.0; 16];
                    place.iter_mut().enumerate().for_each(|(k, p)| *p = (first + v * L::WIDTH + k) as f64);
                    places[v] = l.load(&place);
                }
                for (k, row) in tile.iter_mut().enumerate() {
                    let j = l.constant((from + k) as f64);
                    for v in 0..V {
                        let distance = l.max(l.sub(places[v], j), l.sub(j, places[v]));
                        row[v] = l.fma(row[v], slope, l.mul(loss, distance));
                    }
                }
            }
            Bias::Any => {
                let mut all = [L::F::default(); 16 * MOST * BLOCK];
                let mut biases = [0.0; BLOCK];
                for lane in 0..V * L::WIDTH {
                    let i = (first + lane).min(queries - 1);
                    job.pattern.biases(self.head, i, from, &mut biases[..tile.len()]);
                    let column = all[lane..].iter_mut().step_by(V * L::WIDTH);
                    column.zip(&biases).for_each(|(out, b)| *out = L::F::of(b * LOG2_E));
                }
                for (row, biases) in tile.iter_mut().zip(L::view(&all).chunks_exact(V)) {
                    for v in 0..V {
                        row[v] = l.fma(row[v], slope, biases[v]);
                    }
                }
            }
        }
    }
}
