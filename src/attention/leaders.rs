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
    /// For every token seen, its differences of scores for a vector of rows, then its weights.
    gaps: Aligned<f64>,
    /// By coordinates, for a vector of rows: gradients of their scores, then their leaders.
    rows: Aligned<f64>,
    /// Masses, with zeros for the padding of `gaps`.
    masses: Vec<f64>,
}

/// The widest vector of rows.
const WIDEST: usize = 16;

/// Exponentials side by side.
const TOGETHER: usize = 4;

/// Tokens that are not seen are so far below the others.
const FAR: f64 = 1e300;

/// The most that counts of a logarithm of a scale: times `e^{1200}` every difference that is not 0 is beyond the range of exponentials.
const MOST: f64 = 1200.0;

impl Scores<'_> {
    /// Writes `sum_j A_ij (z_j - z_i)` for all tokens, A the softmax of the scores with the masses.
    ///
    /// **Accuracy** the weight of a token whose score is g below the leader's errs by `(d + 3) u g` relatively, g formed from differences of tokens; not a number where the form is none. **Cost** `n^2` exponentials and `8 n^2 d`
    /// operations.
    pub fn means(&self, z: &Tokens, level: Level, room: &mut Room, out: &mut [f64]) {
        if self.form.iter().any(|v| !v.is_finite()) {
            return out.fill(f64::NAN);
        }
        let (n, d) = (z.n(), z.d());
        let padded = n.next_multiple_of(WIDEST);
        room.columns.resize(d * padded);
        for (c, column) in room.columns.chunks_exact_mut(padded).enumerate() {
            column[..n].iter_mut().zip(z.rows()).for_each(|(v, row)| *v = row[c]);
            column[n..].fill(z.row(0)[c]);
        }
        let whole = n.next_multiple_of(TOGETHER);
        room.masses.clear();
        room.masses.extend_from_slice(z.masses());
        room.masses.resize(whole, 0.0);
        room.gaps.resize(whole * WIDEST);
        room.rows.resize(2 * d * WIDEST);
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

    // Closures would not be compiled for the level: loops only.
    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let Self { scores, z, room, out } = self;
        let (n, d, x) = (z.n(), z.d(), z.coordinates());
        let padded = room.columns.len() / d;
        // In two factors: their product may be beyond f64.
        let rate = (0.5 * scores.log_scale.min(MOST)).exp();
        let Room { columns, gaps, rows, masses } = room;
        let (h, from) = rows.split_at_mut(d * WIDEST);
        let (h, from) = (&mut L::view_mut(h)[..d], &mut L::view_mut(from)[..d]);
        let gaps = &mut L::view_mut(gaps)[..masses.len()];
        gaps[n..].fill(l.zero());
        let (mut lanes, mut leads) = ([0.0; WIDEST], [0; WIDEST]);
        for i in (0..n).step_by(L::WIDTH) {
            for (c, (h, from)) in h.iter_mut().zip(from.iter_mut()).enumerate() {
                *h = l.zero();
                for (e, a) in scores.form[c * d..(c + 1) * d].iter().enumerate() {
                    *h = l.fma(l.splat(*a), column::<L>(columns, e * padded + i), *h);
                }
                *from = l.splat(x[c]);
            }
            for (k, lane) in lanes.iter_mut().enumerate() {
                *lane = (i + k) as f64;
            }
            let last = if scores.causal { Some(column::<L>(&lanes, 0)) } else { None };
            differences(l, x, h, from, &mut gaps[..n]);
            // Rounding of the first comparison is undone by that of differences.
            column_mut::<L>(&mut lanes)[0] = leaders(l, last, &mut gaps[..n]);
            for (lead, j) in leads[..L::WIDTH].iter_mut().zip(&lanes) {
                *lead = (*j as usize).min(n - 1) * d;
            }
            for (c, from) in from.iter_mut().enumerate() {
                for (lane, lead) in lanes[..L::WIDTH].iter_mut().zip(&leads) {
                    *lane = x[lead + c];
                }
                *from = column::<L>(&lanes, 0);
            }
            differences(l, x, h, from, &mut gaps[..n]);
            let top = tops(l, last, &mut gaps[..n]);
            let total = weights(l, masses, (top, last), rate, gaps);
            for (c, from) in from.iter_mut().enumerate() {
                *from = column::<L>(columns, c * padded + i);
            }
            means(l, x, from, total, &gaps[..n], h);
            for (c, mean) in h.iter().enumerate() {
                column_mut::<L>(&mut lanes)[0] = *mean;
                for (out, v) in out[i * d..].chunks_exact_mut(d).zip(&lanes[..L::WIDTH]) {
                    out[c] = *v;
                }
            }
        }
    }
}

/// The vector that begins at this number.
#[inline(always)]
fn column<L: Lanes<F = f64>>(numbers: &[f64], first: usize) -> L::V {
    L::view(&numbers[first..first + L::WIDTH])[0]
}

#[inline(always)]
fn column_mut<L: Lanes<F = f64>>(numbers: &mut [f64]) -> &mut [L::V] {
    L::view_mut(&mut numbers[..L::WIDTH])
}

/// Coordinates taken at once: their vectors stay in registers.
const AT_ONCE: usize = 4;

/// `<h, z_j - from>` for all tokens.
#[inline(always)]
fn differences<L: Lanes<F = f64>>(l: L, x: &[f64], h: &[L::V], from: &[L::V], gaps: &mut [L::V]) {
    for c in (0..h.len()).step_by(AT_ONCE) {
        match (c, h.len() - c) {
            (0, 1) => add::<L, 1, true>(l, (x, h.len(), c), h, from, gaps),
            (0, 2) => add::<L, 2, true>(l, (x, h.len(), c), h, from, gaps),
            (0, 3) => add::<L, 3, true>(l, (x, h.len(), c), h, from, gaps),
            (0, _) => add::<L, AT_ONCE, true>(l, (x, h.len(), c), h, from, gaps),
            (_, 1) => add::<L, 1, false>(l, (x, h.len(), c), h, from, gaps),
            (_, 2) => add::<L, 2, false>(l, (x, h.len(), c), h, from, gaps),
            (_, 3) => add::<L, 3, false>(l, (x, h.len(), c), h, from, gaps),
            (_, _) => add::<L, AT_ONCE, false>(l, (x, h.len(), c), h, from, gaps),
        }
    }
}

/// The same of D coordinates from the first on, added unless they are the FIRST.
#[inline(always)]
fn add<L: Lanes<F = f64>, const D: usize, const FIRST: bool>(
    l: L,
    (x, d, first): (&[f64], usize, usize),
    h: &[L::V],
    from: &[L::V],
    gaps: &mut [L::V],
) {
    let (mut own_h, mut own_from) = ([l.zero(); D], [l.zero(); D]);
    own_h.copy_from_slice(&h[first..first + D]);
    own_from.copy_from_slice(&from[first..first + D]);
    for (gap, row) in gaps.iter_mut().zip(x.chunks_exact(d)) {
        let mut sum = if FIRST { l.zero() } else { *gap };
        for ((h, from), v) in own_h.iter().zip(&own_from).zip(&row[first..first + D]) {
            sum = l.fma(*h, l.sub(l.splat(*v), *from), sum);
        }
        *gap = sum;
    }
}

/// Comparisons side by side: one waits for its result four cycles.
const CHAINS: usize = 4;

/// Whose difference is the largest of every row, the first of equals; with `last` a row sees the tokens up to its own number, others are put far below.
#[inline(always)]
fn leaders<L: Lanes<F = f64>>(l: L, last: Option<L::V>, gaps: &mut [L::V]) -> L::V {
    hide(l, last, gaps);
    let (mut top, mut leader) = ([l.splat(f64::NEG_INFINITY); CHAINS], [l.zero(); CHAINS]);
    let (whole, rest) = gaps.as_chunks::<CHAINS>();
    for (k, gaps) in whole.iter().enumerate() {
        for (c, gap) in gaps.iter().enumerate() {
            let more = l.greater(*gap, top[c]);
            top[c] = l.max(*gap, top[c]);
            leader[c] = l.select(more, l.splat((CHAINS * k + c) as f64), leader[c]);
        }
    }
    for (c, gap) in rest.iter().enumerate() {
        let more = l.greater(*gap, top[0]);
        top[0] = l.max(*gap, top[0]);
        leader[0] = l.select(more, l.splat((CHAINS * whole.len() + c) as f64), leader[0]);
    }
    let (mut best, mut own) = (top[0], leader[0]);
    for (top, leader) in top.iter().zip(&leader).skip(1) {
        // Of equals the first one.
        let first = l.select(l.greater(best, *top), own, l.min(own, *leader));
        own = l.select(l.greater(*top, best), *leader, first);
        best = l.max(best, *top);
    }
    own
}

/// The largest difference of every row.
#[inline(always)]
fn tops<L: Lanes<F = f64>>(l: L, last: Option<L::V>, gaps: &mut [L::V]) -> L::V {
    hide(l, last, gaps);
    let mut top = [l.splat(f64::NEG_INFINITY); CHAINS];
    let (whole, rest) = gaps.as_chunks::<CHAINS>();
    for gaps in whole {
        for (top, gap) in top.iter_mut().zip(gaps) {
            *top = l.max(*gap, *top);
        }
    }
    for gap in rest {
        top[0] = l.max(*gap, top[0]);
    }
    l.max(l.max(top[0], top[1]), l.max(top[2], top[3]))
}

/// Puts far below what a row does not see.
#[inline(always)]
fn hide<L: Lanes<F = f64>>(l: L, last: Option<L::V>, gaps: &mut [L::V]) {
    if let Some(last) = last {
        for (j, gap) in gaps.iter_mut().enumerate() {
            *gap = l.select(l.greater(l.splat(j as f64), last), l.splat(-FAR), *gap);
        }
    }
}

/// Turns differences of scores, scaled by the square of the rate, into weights; their sums.
#[inline(always)]
fn weights<L: Lanes<F = f64>>(l: L, masses: &[f64], (top, last): (L::V, Option<L::V>), rate: f64, gaps: &mut [L::V]) -> L::V {
    let (first, second) = (l.splat(rate), l.splat(rate * LOG2_E));
    let mut total = l.zero();
    for (k, (gaps, masses)) in gaps.as_chunks_mut::<TOGETHER>().0.iter_mut().zip(masses.as_chunks::<TOGETHER>().0).enumerate() {
        // Padding may be above the leader.
        for gap in gaps.iter_mut() {
            *gap = l.mul(l.mul(l.min(l.sub(*gap, top), l.zero()), first), second);
        }
        *gaps = l.exp2_each::<TOGETHER, false>(*gaps);
        for (c, (gap, mass)) in gaps.iter_mut().zip(masses).enumerate() {
            let mut mass = l.splat(*mass);
            if let Some(last) = last {
                mass = l.select(l.greater(l.splat((k * TOGETHER + c) as f64), last), l.zero(), mass);
            }
            *gap = l.mul(mass, *gap);
            total = l.add(total, *gap);
        }
    }
    total
}

/// Means of `z_j - own` with these weights of these sums.
#[inline(always)]
fn means<L: Lanes<F = f64>>(l: L, x: &[f64], own: &[L::V], total: L::V, weights: &[L::V], out: &mut [L::V]) {
    let d = own.len();
    for c in (0..d).step_by(AT_ONCE) {
        match d - c {
            1 => mean::<L, 1>(l, (x, d, c), own, total, weights, out),
            2 => mean::<L, 2>(l, (x, d, c), own, total, weights, out),
            3 => mean::<L, 3>(l, (x, d, c), own, total, weights, out),
            _ => mean::<L, AT_ONCE>(l, (x, d, c), own, total, weights, out),
        }
    }
}

/// The same of D coordinates from the first on.
#[inline(always)]
fn mean<L: Lanes<F = f64>, const D: usize>(
    l: L,
    (x, d, first): (&[f64], usize, usize),
    own: &[L::V],
    total: L::V,
    weights: &[L::V],
    out: &mut [L::V],
) {
    let (mut here, mut sums) = ([l.zero(); D], [l.zero(); D]);
    here.copy_from_slice(&own[first..first + D]);
    for (weight, row) in weights.iter().zip(x.chunks_exact(d)) {
        for ((sum, own), v) in sums.iter_mut().zip(&here).zip(&row[first..first + D]) {
            *sum = l.fma(*weight, l.sub(l.splat(*v), *own), *sum);
        }
    }
    for (out, sum) in out[first..first + D].iter_mut().zip(&sums) {
        *out = l.div(*sum, total);
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
        for (n, d, causal, log_scale) in
            [(1, 2, false, 0.0), (5, 3, false, 1.0), (40, 3, true, -2.0), (33, 5, false, 2.0), (7, 1, true, 0.5)]
        {
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
