//! Softmax means of differences for scores of any scale. In each row, scores enter only as
//! differences to the score of the leader: the token with the largest score.

use crate::num::aligned::AlignedVec;
use crate::num::simd::{Isa, SimdKernel, SimdOps};
use crate::sphere::Tokens;
use std::f64::consts::LOG2_E;

/// Scores `e^{log_scale} <form z_i, z_j>` of tokens, and the value matrix V. If `causal`, token i
/// sees the tokens `j <= i` only.
pub struct Scores<'a> {
    pub form: &'a [f64],
    pub value: &'a [f64],
    pub log_scale: f64,
    pub causal: bool,
}

/// Buffers, reused from call to call.
#[derive(Default)]
pub struct SoftmaxWorkspace {
    /// Tokens, coordinate by coordinate, padded to whole vectors with copies of the first token.
    columns: AlignedVec<f64>,
    /// Tokens row by row, minus the first token.
    shifted: Vec<f64>,
    /// Per visible token and a vector of rows: differences of scores, then weights.
    gaps: AlignedVec<f64>,
    /// Per coordinate and a vector of rows: gradients of the scores, leaders, then the largest
    /// absolute values of shifted tokens.
    rows: AlignedVec<f64>,
    /// Masses, with zeros for the padding of `gaps`.
    masses: Vec<f64>,
}

/// Largest number of rows per vector.
const MAX_LANES: usize = 16;

/// Independent exponentials and comparisons in flight; each has a latency of four cycles.
const UNROLL: usize = 4;

/// Score gap assigned to invisible tokens.
const HIDDEN_GAP: f64 = 1e300;

/// Larger logarithms of a scale are cut off here: times `e^{1200}` every nonzero difference is
/// beyond the range of the exponential.
const MAX_LOG_SCALE: f64 = 1200.0;

/// If the scores of a row differ by at most this, their rounding error is small enough. Otherwise
/// differences to the leader are recomputed from differences of tokens.
const MAX_PLAIN_GAP: f64 = 64.0;

impl Scores<'_> {
    /// Writes `V sum_j A_ij (z_j - z_i)` for all tokens, where A is the softmax of the scores with
    /// the masses.
    ///
    /// **Accuracy** the weight of a token whose score is g below the leader's has relative error
    /// `(d + 3) u (g + 64)`, where g is computed from differences of tokens. NaN if the form is not
    /// finite.
    /// **Cost** `n^2` exponentials and `8 n^2 d` operations.
    pub fn weighted_differences(
        &self,
        z: &Tokens,
        isa: Isa,
        work: &mut SoftmaxWorkspace,
        out: &mut [f64],
    ) {
        if self.form.iter().any(|v| !v.is_finite()) {
            return out.fill(f64::NAN);
        }
        let (n, d) = (z.n(), z.d());
        let padded = n.next_multiple_of(MAX_LANES);
        work.columns.resize(d * padded);
        for (c, column) in work.columns.chunks_exact_mut(padded).enumerate() {
            column[..n].iter_mut().zip(z.rows()).for_each(|(v, row)| *v = row[c]);
            column[n..].fill(z.row(0)[c]);
        }
        work.shifted.resize(n * d, 0.0);
        for (shifted, row) in work.shifted.chunks_exact_mut(d).zip(z.rows()) {
            shifted
                .iter_mut()
                .zip(row.iter().zip(z.row(0)))
                .for_each(|(s, (v, first))| *s = v - first);
        }
        let whole = n.next_multiple_of(UNROLL);
        work.masses.clear();
        work.masses.extend_from_slice(z.masses());
        work.masses.resize(whole, 0.0);
        work.gaps.resize(whole * MAX_LANES);
        work.rows.resize(3 * d * MAX_LANES);
        isa.run(Rows { scores: self, z, work, out });
    }
}

struct Rows<'a> {
    scores: &'a Scores<'a>,
    z: &'a Tokens,
    work: &'a mut SoftmaxWorkspace,
    out: &'a mut [f64],
}

impl SimdKernel for Rows<'_> {
    type F = f64;
    type Output = ();

    // Loops instead of closures: a closure would not be compiled for the instruction set.
    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let Self { scores, z, work, out } = self;
        let (n, d, x) = (z.n(), z.d(), z.coordinates());
        let padded = work.columns.len() / d;
        // Applied twice, because the square may be beyond f64.
        let rate = (0.5 * scores.log_scale.min(MAX_LOG_SCALE)).exp();
        let SoftmaxWorkspace { columns, shifted, gaps, rows, masses } = work;
        let (h, rest) = rows.split_at_mut(d * MAX_LANES);
        let (from, largest) = rest.split_at_mut(d * MAX_LANES);
        let (h, from, largest) =
            (&mut L::view_mut(h)[..d], &mut L::view_mut(from)[..d], &mut L::view_mut(largest)[..d]);
        let gaps = &mut L::view_mut(gaps)[..masses.len()];
        for (c, (largest, column)) in
            largest.iter_mut().zip(columns.chunks_exact(padded)).enumerate()
        {
            *largest = l.zero();
            for v in L::view(column) {
                *largest = l.max(*largest, abs(l, l.sub(*v, l.splat(x[c]))));
            }
            *largest = l.splat(l.largest(*largest));
        }
        let mut lanes = [0.0; MAX_LANES];
        for i in (0..n).step_by(L::WIDTH) {
            let mut most = l.zero();
            for ((h, largest), row) in h.iter_mut().zip(&*largest).zip(scores.form.chunks_exact(d))
            {
                *h = l.zero();
                for (e, a) in row.iter().enumerate() {
                    *h = l.fma(l.splat(*a), column::<L>(columns, e * padded + i), *h);
                }
                most = l.fma(abs(l, *h), *largest, most);
            }
            for (k, lane) in lanes.iter_mut().enumerate() {
                *lane = (i + k) as f64;
            }
            let last = if scores.causal { Some(column::<L>(&lanes, 0)) } else { None };
            products(l, shifted, h, &mut gaps[..n]);
            // NaN compares false, so such rows take the accurate path.
            let small_gaps = l.largest(most) * rate * rate <= 0.5 * MAX_PLAIN_GAP;
            if !small_gaps {
                from_leaders(l, x, (h, from), last, &mut gaps[..n]);
            }
            let top = tops(l, last, &mut gaps[..n]);
            gaps[n..].fill(l.splat(-HIDDEN_GAP));
            let total = weights(l, masses, (top, last), rate, gaps);
            for (c, from) in from.iter_mut().enumerate() {
                *from = column::<L>(columns, c * padded + i);
            }
            means(l, x, (from, total), &gaps[..n], h);
            for (c, row) in scores.value.chunks_exact(d).enumerate() {
                let mut value = l.zero();
                for (v, mean) in row.iter().zip(&*h) {
                    value = l.fma(l.splat(*v), *mean, value);
                }
                column_mut::<L>(&mut lanes)[0] = value;
                for (out, v) in out[i * d..].chunks_exact_mut(d).zip(&lanes[..L::WIDTH]) {
                    out[c] = *v;
                }
            }
        }
    }
}

/// `|v|`
#[inline(always)]
fn abs<L: SimdOps<F = f64>>(l: L, v: L::V) -> L::V {
    l.max(v, l.sub(l.zero(), v))
}

/// The vector that begins at this index.
#[inline(always)]
fn column<L: SimdOps<F = f64>>(numbers: &[f64], first: usize) -> L::V {
    L::view(&numbers[first..first + L::WIDTH])[0]
}

#[inline(always)]
fn column_mut<L: SimdOps<F = f64>>(numbers: &mut [f64]) -> &mut [L::V] {
    L::view_mut(&mut numbers[..L::WIDTH])
}

/// Coordinates per pass; their vectors stay in registers.
const MAX_COORDINATES: usize = 4;

/// Calls a function for the next coordinates: at most [`MAX_COORDINATES`], or the fewer that are
/// left.
macro_rules! some_coordinates {
    ($left:expr, $function:ident::<$lanes:ident, _>($($argument:expr),*)) => {
        match $left {
            1 => $function::<$lanes, 1>($($argument),*),
            2 => $function::<$lanes, 2>($($argument),*),
            3 => $function::<$lanes, 3>($($argument),*),
            _ => $function::<$lanes, MAX_COORDINATES>($($argument),*),
        }
    };
}

/// Differences of scores to those of the leaders. On entry, `gaps` holds differences to another
/// token; on exit, `from` holds the leaders.
#[inline(always)]
fn from_leaders<L: SimdOps<F = f64>>(
    l: L,
    x: &[f64],
    (h, from): (&[L::V], &mut [L::V]),
    last: Option<L::V>,
    gaps: &mut [L::V],
) {
    let (d, mut lanes, mut leader_rows) = (h.len(), [0.0; MAX_LANES], [0; MAX_LANES]);
    // A leader chosen wrongly by rounding does no harm: the maximum is taken again after this.
    column_mut::<L>(&mut lanes)[0] = leaders(l, last, gaps);
    for (leader_row, j) in leader_rows[..L::WIDTH].iter_mut().zip(&lanes) {
        *leader_row = (*j as usize).min(gaps.len() - 1) * d;
    }
    for (c, from) in from.iter_mut().enumerate() {
        for (lane, leader_row) in lanes[..L::WIDTH].iter_mut().zip(&leader_rows) {
            *lane = x[leader_row + c];
        }
        *from = column::<L>(&lanes, 0);
    }
    differences(l, x, (h, from), gaps);
}

/// `<h, y_j>` for all rows y.
#[inline(always)]
fn products<L: SimdOps<F = f64>>(l: L, y: &[f64], h: &[L::V], gaps: &mut [L::V]) {
    let d = h.len();
    for c in (0..d).step_by(MAX_COORDINATES) {
        some_coordinates!(d - c, add_products::<L, _>(l, (y, d, c), h, gaps));
    }
}

/// Adds D coordinates from `first` on; overwrites if `first` is 0.
#[inline(always)]
fn add_products<L: SimdOps<F = f64>, const D: usize>(
    l: L,
    (y, d, first): (&[f64], usize, usize),
    h: &[L::V],
    gaps: &mut [L::V],
) {
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
fn differences<L: SimdOps<F = f64>>(
    l: L,
    x: &[f64],
    (h, from): (&[L::V], &[L::V]),
    gaps: &mut [L::V],
) {
    let d = h.len();
    for c in (0..d).step_by(MAX_COORDINATES) {
        some_coordinates!(d - c, add_differences::<L, _>(l, (x, d, c), (h, from), gaps));
    }
}

/// Adds D coordinates from `first` on; overwrites if `first` is 0.
#[inline(always)]
fn add_differences<L: SimdOps<F = f64>, const D: usize>(
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

/// Index of the largest difference in every row, the first one of equals. With `last`, a row sees
/// the tokens up to its own index.
#[inline(always)]
fn leaders<L: SimdOps<F = f64>>(l: L, last: Option<L::V>, gaps: &mut [L::V]) -> L::V {
    mask(l, last, gaps);
    let (mut top, mut leader, mut number) =
        ([l.splat(f64::NEG_INFINITY); UNROLL], [l.zero(); UNROLL], [l.zero(); UNROLL]);
    for (c, number) in number.iter_mut().enumerate() {
        *number = l.splat(c as f64);
    }
    let (whole, rest) = gaps.as_chunks::<UNROLL>();
    for gaps in whole {
        for (c, gap) in gaps.iter().enumerate() {
            let more = l.greater(*gap, top[c]);
            top[c] = l.max(*gap, top[c]);
            leader[c] = l.select(more, number[c], leader[c]);
            number[c] = l.add(number[c], l.splat(UNROLL as f64));
        }
    }
    for (c, gap) in rest.iter().enumerate() {
        let more = l.greater(*gap, top[c]);
        top[c] = l.max(*gap, top[c]);
        leader[c] = l.select(more, number[c], leader[c]);
    }
    let (mut best, mut own) = (top[0], leader[0]);
    for (top, leader) in top.iter().zip(&leader).skip(1) {
        // The smaller index of equals.
        let first = l.select(l.greater(best, *top), own, l.min(own, *leader));
        own = l.select(l.greater(*top, best), *leader, first);
        best = l.max(best, *top);
    }
    own
}

/// The largest difference of every row.
#[inline(always)]
fn tops<L: SimdOps<F = f64>>(l: L, last: Option<L::V>, gaps: &mut [L::V]) -> L::V {
    mask(l, last, gaps);
    let mut top = [l.splat(f64::NEG_INFINITY); UNROLL];
    let (whole, rest) = gaps.as_chunks::<UNROLL>();
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

/// Sets the gaps of invisible tokens to `-HIDDEN_GAP`.
#[inline(always)]
fn mask<L: SimdOps<F = f64>>(l: L, last: Option<L::V>, gaps: &mut [L::V]) {
    if let Some(last) = last {
        for (j, gap) in gaps.iter_mut().enumerate() {
            *gap = l.select(l.greater(l.splat(j as f64), last), l.splat(-HIDDEN_GAP), *gap);
        }
    }
}

/// Turns differences of scores into weights and returns their sums. No difference exceeds `top`;
/// the scale is `rate^2`.
#[inline(always)]
fn weights<L: SimdOps<F = f64>>(
    l: L,
    masses: &[f64],
    (top, last): (L::V, Option<L::V>),
    rate: f64,
    gaps: &mut [L::V],
) -> L::V {
    let (first, second) = (l.splat(rate), l.splat(rate * LOG2_E));
    let mut total = l.zero();
    for (k, (gaps, masses)) in
        gaps.as_chunks_mut::<UNROLL>().0.iter_mut().zip(masses.as_chunks::<UNROLL>().0).enumerate()
    {
        for gap in gaps.iter_mut() {
            *gap = l.mul(l.mul(l.sub(*gap, top), first), second);
        }
        *gaps = l.exp2_array::<UNROLL, false>(*gaps);
        for (c, (gap, mass)) in gaps.iter_mut().zip(masses).enumerate() {
            let mut mass = l.splat(*mass);
            if let Some(last) = last {
                mass = l.select(l.greater(l.splat((k * UNROLL + c) as f64), last), l.zero(), mass);
            }
            *gap = l.mul(mass, *gap);
            total = l.add(total, *gap);
        }
    }
    total
}

/// Means of `z_j - own` with these weights, divided by `total`.
#[inline(always)]
fn means<L: SimdOps<F = f64>>(
    l: L,
    x: &[f64],
    (own, total): (&[L::V], L::V),
    weights: &[L::V],
    out: &mut [L::V],
) {
    let d = own.len();
    for c in (0..d).step_by(MAX_COORDINATES) {
        some_coordinates!(d - c, mean::<L, _>(l, (x, d, c), (own, total), weights, out));
    }
}

/// D coordinates from `first` on.
#[inline(always)]
fn mean<L: SimdOps<F = f64>, const D: usize>(
    l: L,
    (x, d, first): (&[f64], usize, usize),
    (own, total): (&[L::V], L::V),
    weights: &[L::V],
    out: &mut [L::V],
) {
    // Even and odd tokens separately: two independent chains of additions.
    let (mut here, mut sums) = ([l.zero(); D], [[l.zero(); D]; 2]);
    here.copy_from_slice(&own[first..first + D]);
    let (pairs, rest) = weights.as_chunks::<2>();
    for (weights, rows) in pairs.iter().zip(x.chunks_exact(2 * d)) {
        for (k, (weight, row)) in weights
            .iter()
            .zip([&rows[first..first + D], &rows[d + first..d + first + D]])
            .enumerate()
        {
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
