//! Softmax means of differences from scores that are never formed: every row by differences to its leader, in lanes.

use crate::num::aligned::Aligned;
use crate::num::simd::{Lanes, Level, Task};
use crate::sphere::Tokens;
use std::f64::consts::LOG2_E;

/// Scores `e^{log_scale} <form z_i, z_j>` of tokens; with `causal` token i sees the tokens `j <= i` only.
pub(super) struct Scores<'a> {
    pub form: &'a [f64],
    pub log_scale: f64,
    pub causal: bool,
}

/// Buffers of a run.
#[derive(Default)]
pub(super) struct Room {
    /// The tokens by coordinates, each padded to whole vectors by repeating the first token.
    columns: Aligned<f64>,
    /// Masses of the tokens that the present row sees, 0 elsewhere.
    masses: Aligned<f64>,
    /// Differences of scores, then weights.
    gaps: Aligned<f64>,
    /// Gradient of the scores of the present row.
    h: Vec<f64>,
}

/// Columns are whole vectors at every level.
const WHOLE: usize = 16;

/// The most that counts of a logarithm of a scale: times `e^{1200}` every difference that is not 0 is beyond the range of exponentials.
const MOST: f64 = 1200.0;

impl Scores<'_> {
    /// Writes `sum_j A_ij (z_j - z_i)` for all tokens, A the softmax of the scores with the masses.
    ///
    /// **Accuracy** the weight of a token whose score is g below the leader's errs by `(d + 3) u g` relatively, g formed from differences of tokens; not a number where the form is none. **Cost** `n^2` exponentials and `6 n^2 d` operations.
    pub fn means(&self, z: &Tokens, level: Level, room: &mut Room, out: &mut [f64]) {
        if self.form.iter().any(|v| !v.is_finite()) {
            return out.fill(f64::NAN);
        }
        let (n, d) = (z.n(), z.d());
        let padded = n.next_multiple_of(WHOLE);
        room.columns.resize(d * padded);
        for (c, column) in room.columns.chunks_exact_mut(padded).enumerate() {
            column[..n].iter_mut().zip(z.rows()).for_each(|(v, row)| *v = row[c]);
            column[n..].fill(z.row(0)[c]);
        }
        room.masses.reset(padded);
        if !self.causal {
            room.masses[..n].copy_from_slice(z.masses());
        }
        room.gaps.reset(padded);
        room.h.resize(d, 0.0);
        level.run(Rows { scores: self, z, room, out });
    }
}

struct Rows<'a> {
    scores: &'a Scores<'a>,
    z: &'a Tokens,
    room: &'a mut Room,
    out: &'a mut [f64],
}

impl Task for Rows<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let Self { scores, z, room, out } = self;
        let (n, d) = (z.n(), z.d());
        // In two factors: their product may be beyond f64.
        let rate = (0.5 * scores.log_scale.min(MOST)).exp();
        for (i, out) in out.chunks_exact_mut(d).enumerate() {
            let seen = if scores.causal { i + 1 } else { n };
            room.masses[i] = z.masses()[i];
            for (h, row) in room.h.iter_mut().zip(scores.form.chunks_exact(d)) {
                *h = row.iter().zip(z.row(i)).map(|(a, x)| a * x).sum();
            }
            let mut leader = 0;
            // Rounding of the first comparison is undone by that of differences.
            for _ in 0..2 {
                let largest = gaps(l, &room.columns, &room.h, z.row(leader), &mut room.gaps);
                let gaps = &room.gaps[..seen];
                let top = if seen < n { gaps.iter().copied().fold(f64::NEG_INFINITY, f64::max) } else { largest };
                leader = gaps.iter().position(|g| *g >= top).unwrap_or(leader);
            }
            let top = room.gaps[leader];
            let total = weights(l, &room.masses, [top, rate], &mut room.gaps);
            mean(l, &room.columns, &room.gaps, total, z.row(i), out);
        }
    }
}

/// `<h, z_j - from>` for all tokens; the largest.
#[inline(always)]
fn gaps<L: Lanes<F = f64>>(l: L, columns: &[f64], h: &[f64], from: &[f64], gaps: &mut [f64]) -> f64 {
    let padded = gaps.len();
    let gaps = L::view_mut(gaps);
    for ((c, h), from) in h.iter().enumerate().zip(from) {
        let (h, from) = (l.splat(*h), l.splat(*from));
        for (gap, x) in gaps.iter_mut().zip(L::view(&columns[c * padded..(c + 1) * padded])) {
            let known = if c == 0 { l.zero() } else { *gap };
            *gap = l.fma(h, l.sub(*x, from), known);
        }
    }
    let top = gaps.iter().fold(l.splat(f64::NEG_INFINITY), |top, gap| l.max(top, *gap));
    l.largest(top)
}

/// Turns differences of scores, scaled by the square of the rate, into weights; their sum.
#[inline(always)]
fn weights<L: Lanes<F = f64>>(l: L, masses: &[f64], [top, rate]: [f64; 2], gaps: &mut [f64]) -> f64 {
    let (top, first, second) = (l.splat(top), l.splat(rate), l.splat(rate * LOG2_E));
    let mut total = l.zero();
    for (gap, mass) in L::view_mut(gaps).iter_mut().zip(L::view(masses)) {
        // Tokens that are not seen may be above the leader.
        let below = l.min(l.sub(*gap, top), l.zero());
        *gap = l.mul(*mass, l.exp2(l.mul(l.mul(below, first), second)));
        total = l.add(total, *gap);
    }
    l.sum(total)
}

/// The mean of `z_j - own` with these weights of this sum.
#[inline(always)]
fn mean<L: Lanes<F = f64>>(l: L, columns: &[f64], weights: &[f64], total: f64, own: &[f64], out: &mut [f64]) {
    let padded = weights.len();
    for ((c, own), out) in own.iter().enumerate().zip(out) {
        let (own, mut sum) = (l.splat(*own), l.zero());
        for (w, x) in L::view(weights).iter().zip(L::view(&columns[c * padded..(c + 1) * padded])) {
            sum = l.fma(*w, l.sub(*x, own), sum);
        }
        *out = l.sum(sum) / total;
    }
}

#[cfg(test)]
mod tests {
    use super::{Room, Scores};
    use crate::num::simd::Level;
    use crate::num::stream::Stream;
    use crate::sphere::Tokens;

    /// The formula, with plain exponentials.
    fn directly(scores: &Scores, z: &Tokens) -> Vec<f64> {
        let (n, d) = (z.n(), z.d());
        let mut out = vec![0.0; n * d];
        for (i, out) in out.chunks_exact_mut(d).enumerate() {
            let seen = if scores.causal { i + 1 } else { n };
            let score = |j: usize| -> f64 { (0..d * d).map(|k| scores.form[k] * z.row(i)[k % d] * z.row(j)[k / d]).sum() };
            let all: Vec<f64> = (0..seen).map(|j| scores.log_scale.exp() * score(j)).collect();
            let top = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = all.iter().zip(z.masses()).map(|(s, m)| m * (s - top).exp()).collect();
            let total: f64 = weights.iter().sum();
            for (j, w) in weights.iter().enumerate() {
                out.iter_mut().enumerate().for_each(|(c, o)| *o += w / total * (z.row(j)[c] - z.row(i)[c]));
            }
        }
        out
    }

    #[test]
    fn lanes_agree_with_the_formula() {
        let mut room = Room::default();
        for (n, d, causal, log_scale) in [(1, 2, false, 0.0), (5, 3, false, 1.0), (40, 3, true, -2.0), (33, 5, false, 2.0), (7, 1, true, 0.5)] {
            let (mut x, mut form) = (vec![0.0; n * d], vec![0.0; d * d]);
            let mut stream = Stream::new(n as u64, &["leaders"]);
            stream.normals(&mut x);
            stream.normals(&mut form);
            let z = Tokens::flat(d, x).unwrap();
            let scores = Scores { form: &form, log_scale, causal };
            let expected = directly(&scores, &z);
            for level in Level::available() {
                let mut out = vec![0.0; n * d];
                scores.means(&z, level, &mut room, &mut out);
                // Scores reach 100: their rounding is 100 u in every weight.
                assert!(out.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{n} {d} {}", level.name());
            }
        }
    }

    #[test]
    fn scores_beyond_every_number_leave_the_leader() {
        let z = Tokens::flat(1, vec![1.0, 1.0 + 1e-15, -1.0, 0.5]).unwrap();
        let mut out = vec![0.0; 4];
        Scores { form: &[1.0], log_scale: 1e4, causal: false }.means(&z, Level::best(), &mut Room::default(), &mut out);
        let ends = z.coordinates().iter().zip(&out).map(|(z, v)| z + v);
        assert!(ends.zip([1.0 + 1e-15, 1.0 + 1e-15, -1.0, 1.0 + 1e-15]).all(|(a, b)| (a - b).abs() < 1e-15));
        // Far below every number all are alike.
        Scores { form: &[1.0], log_scale: -1e4, causal: false }.means(&z, Level::best(), &mut Room::default(), &mut out);
        assert!((out[0] - (z.mean()[0] - 1.0)).abs() < 1e-15);
    }
}
