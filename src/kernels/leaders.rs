//! Softmax means of differences from scores that are never formed: every row by differences to its leader, in lanes.

use crate::num::aligned::Aligned;
use crate::num::simd::{Lanes, Level, Task};
use crate::sphere::Tokens;
use std::f64::consts::LOG2_E;

/// Scores `e^{log_scale} <form z_i, z_j>` of tokens, and the matrix V of their values; with `causal` token i sees the tokens `j <= i` only.
pub struct Scores<'a> {
    pub form: &'a [f64],
    pub value: &'a [f64],
    pub log_scale: f64,
    pub causal: bool,
}

/// Buffers of a run.
#[derive(Default)]
pub struct Room {
    /// The tokens by coordinates, each padded to whole vectors by repeating the first token.
    columns: Aligned<f64>,
    /// Tokens by rows, the first one taken off.
    shifted: Vec<f64>,
    /// For every token seen, its differences of scores for a vector of rows, then its weights.
    gaps: Aligned<f64>,
    /// By coordinates, for a vector of rows: gradients of their scores, their leaders; then the largest sizes of shifted tokens.
    rows: Aligned<f64>,
    /// Masses, with zeros for the padding of `gaps`.
    masses: Vec<f64>,
}

/// The widest vector of rows.
const WIDEST: usize = 16;

/// Exponentials side by side, and comparisons: one waits for its result four cycles.
const TOGETHER: usize = 4;

/// Tokens that are not seen are so far below the others.
const FAR: f64 = 1e300;

/// The most that counts of a logarithm of a scale: times `e^{1200}` every difference that is not 0 is beyond the range of exponentials.
const MOST: f64 = 1200.0;

/// Where scores differ by no more, their rounding is left in the weights: differences to the leader are not formed anew.
const MODEST: f64 = 64.0;

impl Scores<'_> {
    /// Writes `V sum_j A_ij (z_j - z_i)` for all tokens, A the softmax of the scores with the masses.
    ///
    /// **Accuracy** the weight of a token whose score is g below the leader's errs by `(d + 3) u (g + 64)` relatively, g formed from differences of tokens; not a number where the form is none. **Cost** `n^2` exponentials and `8 n^2 d`
    /// operations.
    pub fn pulls(&self, z: &Tokens, level: Level, room: &mut Room, out: &mut [f64]) {
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
        room.shifted.resize(n * d, 0.0);
        for (shifted, row) in room.shifted.chunks_exact_mut(d).zip(z.rows()) {
            shifted.iter_mut().zip(row.iter().zip(z.row(0))).for_each(|(s, (v, first))| *s = v - first);
        }
        let whole = n.next_multiple_of(TOGETHER);
        room.masses.clear();
        room.masses.extend_from_slice(z.masses());
        room.masses.resize(whole, 0.0);
        room.gaps.resize(whole * WIDEST);
        room.rows.resize(3 * d * WIDEST);
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
        let Room { columns, shifted, gaps, rows, masses } = room;
        let (h, rest) = rows.split_at_mut(d * WIDEST);
        let (from, largest) = rest.split_at_mut(d * WIDEST);
        let (h, from, largest) = (&mut L::view_mut(h)[..d], &mut L::view_mut(from)[..d], &mut L::view_mut(largest)[..d]);
        let gaps = &mut L::view_mut(gaps)[..masses.len()];
        for (c, (largest, column)) in largest.iter_mut().zip(columns.chunks_exact(padded)).enumerate() {
            *largest = l.zero();
            for v in L::view(column) {
                *largest = l.max(*largest, size(l, l.sub(*v, l.splat(x[c]))));
            }
            *largest = l.splat(l.largest(*largest));
        }
        let mut lanes = [0.0; WIDEST];
        for i in (0..n).step_by(L::WIDTH) {
            let mut most = l.zero();
            for ((h, largest), row) in h.iter_mut().zip(&*largest).zip(scores.form.chunks_exact(d)) {
                *h = l.zero();
                for (e, a) in row.iter().enumerate() {
                    *h = l.fma(l.splat(*a), column::<L>(columns, e * padded + i), *h);
                }
                most = l.fma(size(l, *h), *largest, most);
            }
            for (k, lane) in lanes.iter_mut().enumerate() {
                *lane = (i + k) as f64;
            }
            let last = if scores.causal { Some(column::<L>(&lanes, 0)) } else { None };
            products(l, shifted, h, &mut gaps[..n]);
            // Not so where it is no number.
            let modest = l.largest(most) * rate * rate <= 0.5 * MODEST;
            if !modest {
                from_leaders(l, x, (h, from), last, &mut gaps[..n]);
            }
            let top = tops(l, last, &mut gaps[..n]);
            gaps[n..].fill(l.splat(-FAR));
            let total = weights(l, masses, (top, last), rate, gaps);
            for (c, from) in from.iter_mut().enumerate() {
                *from = column::<L>(columns, c * padded + i);
            }
            means(l, x, (from, total), &gaps[..n], h);
            for (c, row) in scores.value.chunks_exact(d).enumerate() {
                let mut pull = l.zero();
                for (v, mean) in row.iter().zip(&*h) {
                    pull = l.fma(l.splat(*v), *mean, pull);
                }
                column_mut::<L>(&mut lanes)[0] = pull;
                for (out, v) in out[i * d..].chunks_exact_mut(d).zip(&lanes[..L::WIDTH]) {
                    out[c] = *v;
                }
            }
        }
    }
}

/// `|v|`
#[inline(always)]
fn size<L: Lanes<F = f64>>(l: L, v: L::V) -> L::V {
    l.max(v, l.sub(l.zero(), v))
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

/// Calls a function of so many coordinates: at most [`AT_ONCE`] of those that are left.
macro_rules! some_coordinates {
    ($left:expr, $function:ident::<$lanes:ident, _>($($argument:expr),*)) => {
        match $left {
            1 => $function::<$lanes, 1>($($argument),*),
            2 => $function::<$lanes, 2>($($argument),*),
            3 => $function::<$lanes, 3>($($argument),*),
            _ => $function::<$lanes, AT_ONCE>($($argument),*),
        }
    };
}

/// Differences of scores to those of the leaders, from these differences to those of another token; `from` becomes the leaders.
#[inline(always)]
fn from_leaders<L: Lanes<F = f64>>(l: L, x: &[f64], (h, from): (&[L::V], &mut [L::V]), last: Option<L::V>, gaps: &mut [L::V]) {
    let (d, mut lanes, mut leads) = (h.len(), [0.0; WIDEST], [0; WIDEST]);
    // Rounding of the first comparison is undone by that of differences.
    column_mut::<L>(&mut lanes)[0] = leaders(l, last, gaps);
    for (lead, j) in leads[..L::WIDTH].iter_mut().zip(&lanes) {
        *lead = (*j as usize).min(gaps.len() - 1) * d;
    }
    for (c, from) in from.iter_mut().enumerate() {
        for (lane, lead) in lanes[..L::WIDTH].iter_mut().zip(&leads) {
            *lane = x[lead + c];
        }
        *from = column::<L>(&lanes, 0);
    }
    differences(l, x, (h, from), gaps);
}

/// `<h, y_j>` for all rows y.
#[inline(always)]
fn products<L: Lanes<F = f64>>(l: L, y: &[f64], h: &[L::V], gaps: &mut [L::V]) {
    let d = h.len();
    for c in (0..d).step_by(AT_ONCE) {
        some_coordinates!(d - c, add_products::<L, _>(l, (y, d, c), h, gaps));
    }
}

/// The same of D coordinates from the first on, added unless this is 0.
#[inline(always)]
fn add_products<L: Lanes<F = f64>, const D: usize>(l: L, (y, d, first): (&[f64], usize, usize), h: &[L::V], gaps: &mut [L::V]) {
    let mut own = [l.zero(); D];
    own.copy_from_slice(&h[first..first + D]);
    for (gap, row) in gaps.iter_mut().zip(y.chunks_exact(d)) {
        let mut sum = if first == 0 { l.zero() } else { *gap };
        for (h, v) in own.iter().zip(&row[first..first + D]) {
            sum = l.fma(*h, l.splat(*v), sum);
        }
        *gap = sum;
    }
}

/// `<h, z_j - from>` for all tokens.
#[inline(always)]
fn differences<L: Lanes<F = f64>>(l: L, x: &[f64], (h, from): (&[L::V], &[L::V]), gaps: &mut [L::V]) {
    let d = h.len();
    for c in (0..d).step_by(AT_ONCE) {
        some_coordinates!(d - c, add_differences::<L, _>(l, (x, d, c), (h, from), gaps));
    }
}

/// The same of D coordinates from the first on, added unless this is 0.
#[inline(always)]
fn add_differences<L: Lanes<F = f64>, const D: usize>(
    l: L,
    (x, d, first): (&[f64], usize, usize),
    (h, from): (&[L::V], &[L::V]),
    gaps: &mut [L::V],
) {
    let (mut own_h, mut own_from) = ([l.zero(); D], [l.zero(); D]);
    own_h.copy_from_slice(&h[first..first + D]);
    own_from.copy_from_slice(&from[first..first + D]);
    for (gap, row) in gaps.iter_mut().zip(x.chunks_exact(d)) {
        let mut sum = if first == 0 { l.zero() } else { *gap };
        for ((h, from), v) in own_h.iter().zip(&own_from).zip(&row[first..first + D]) {
            sum = l.fma(*h, l.sub(l.splat(*v), *from), sum);
        }
        *gap = sum;
    }
}

/// Whose difference is the largest of every row, the first of equals; with `last` a row sees the tokens up to its own number, others are put far below.
#[inline(always)]
fn leaders<L: Lanes<F = f64>>(l: L, last: Option<L::V>, gaps: &mut [L::V]) -> L::V {
    hide(l, last, gaps);
    let (mut top, mut leader, mut number) = ([l.splat(f64::NEG_INFINITY); TOGETHER], [l.zero(); TOGETHER], [l.zero(); TOGETHER]);
    for (c, number) in number.iter_mut().enumerate() {
        *number = l.splat(c as f64);
    }
    let (whole, rest) = gaps.as_chunks::<TOGETHER>();
    for gaps in whole {
        for (c, gap) in gaps.iter().enumerate() {
            let more = l.greater(*gap, top[c]);
            top[c] = l.max(*gap, top[c]);
            leader[c] = l.select(more, number[c], leader[c]);
            number[c] = l.add(number[c], l.splat(TOGETHER as f64));
        }
    }
    for (c, gap) in rest.iter().enumerate() {
        let more = l.greater(*gap, top[c]);
        top[c] = l.max(*gap, top[c]);
        leader[c] = l.select(more, number[c], leader[c]);
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
    let mut top = [l.splat(f64::NEG_INFINITY); TOGETHER];
    let (whole, rest) = gaps.as_chunks::<TOGETHER>();
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

/// Turns differences of scores, none above the top, scaled by the square of the rate, into weights; their sums.
#[inline(always)]
fn weights<L: Lanes<F = f64>>(l: L, masses: &[f64], (top, last): (L::V, Option<L::V>), rate: f64, gaps: &mut [L::V]) -> L::V {
    let (first, second) = (l.splat(rate), l.splat(rate * LOG2_E));
    let mut total = l.zero();
    for (k, (gaps, masses)) in gaps.as_chunks_mut::<TOGETHER>().0.iter_mut().zip(masses.as_chunks::<TOGETHER>().0).enumerate() {
        for gap in gaps.iter_mut() {
            *gap = l.mul(l.mul(l.sub(*gap, top), first), second);
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
fn means<L: Lanes<F = f64>>(l: L, x: &[f64], (own, total): (&[L::V], L::V), weights: &[L::V], out: &mut [L::V]) {
    let d = own.len();
    for c in (0..d).step_by(AT_ONCE) {
        some_coordinates!(d - c, mean::<L, _>(l, (x, d, c), (own, total), weights, out));
    }
}

/// The same of D coordinates from the first on.
#[inline(always)]
fn mean<L: Lanes<F = f64>, const D: usize>(
    l: L,
    (x, d, first): (&[f64], usize, usize),
    (own, total): (&[L::V], L::V),
    weights: &[L::V],
    out: &mut [L::V],
) {
    // Even and odd tokens: a sum waits for itself.
    let (mut here, mut sums) = ([l.zero(); D], [[l.zero(); D]; 2]);
    here.copy_from_slice(&own[first..first + D]);
    let (pairs, rest) = weights.as_chunks::<2>();
    for (weights, rows) in pairs.iter().zip(x.chunks_exact(2 * d)) {
        for (k, (weight, row)) in weights.iter().zip([&rows[first..first + D], &rows[d + first..d + first + D]]).enumerate() {
            for ((sum, own), v) in sums[k].iter_mut().zip(&here).zip(row) {
                *sum = l.fma(*weight, l.sub(l.splat(*v), *own), *sum);
            }
        }
    }
    for weight in rest {
        let row = &x[x.len() - d + first..][..D];
        for ((sum, own), v) in sums[0].iter_mut().zip(&here).zip(row) {
            *sum = l.fma(*weight, l.sub(l.splat(*v), *own), *sum);
        }
    }
    for (out, (even, odd)) in out[first..first + D].iter_mut().zip(sums[0].iter().zip(&sums[1])) {
        *out = l.div(l.add(*even, *odd), total);
    }
}
