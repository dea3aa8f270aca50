//! Checks about recurrent cells, decoders, norms and counts of parameters.

use super::setting::{everything, normal_rows};
use crate::attention::dense::Activation;
use crate::num::linearised::Linearised;
use crate::recurrent::{
    TokenMap,
    alignment::{Alignment, EncoderDecoder},
    cell::{CellLayer, Gate, RecurrentCell},
    linearise_layer,
    lyapunov::mixing,
    map::{gru_v1::Gru, lstm::Lstm, rnn::Rnn},
    trace::{LinearisedTrace, Trace, Var},
};
use crate::theorem::prelude::*;
use crate::transformer::{AttentionLayer, Centring, Grouping, Linear, Mlp, Norm};

/// `h + x`.
struct Adds(usize);

impl RecurrentCell for Adds {
    fn width(&self) -> usize {
        self.0
    }

    fn input_width(&self) -> usize {
        self.0
    }

    fn next<'a>(&'a self, trace: &mut Trace<'a>, input: Var, state: Var) -> Var {
        trace.sum(state, 1.0, input)
    }
}

/// A recurrent network with normal weights; with `adds` the cell that only adds.
fn network(ctx: &mut Context, d: usize, gain: f64, adds: bool) -> Box<dyn TokenMap> {
    let gate = Gate::normal(ctx.seed(), "network", d, gain);
    if adds { Box::new(CellLayer(Adds(d))) } else { Box::new(CellLayer(Rnn { gate })) }
}

/// The state depends analytically on its inputs and is not symmetric in the last two: exchanging
/// them changes it with probability 1. Of four draws the largest change counts.
pub fn rnn_order(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let most = order_change(case, ctx, wrong);
    Ok(Finding::answer((1e-6..f64::INFINITY).contains(&most)))
}

/// Sums in another order differ by rounding.
pub fn additive_order(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    Ok(Finding::identity(order_change(case, ctx, !wrong), 1e-12))
}

/// The largest change of the state in four draws if the last two inputs are exchanged.
fn order_change(case: &Case, ctx: &mut Context, adds: bool) -> f64 {
    let (n, d) = (case.n, case.d);
    let mut change = || {
        let (x, map) = (ctx.normals(n * d), network(ctx, d, 1.0, adds));
        let mut y = x.clone();
        y[(n - 2) * d..].rotate_left(d);
        let end =
            |x: &[f64]| linearise_layer(map.as_ref(), 0, d, x).value()[(n - 1) * d..].to_vec();
        max_difference(&end(&x), &end(&y))
    };
    largest((0..4).map(|_| change()))
}

pub fn rnn_equal_weight(_: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (30, 8);
    let (x, map) = (ctx.normals(n * d), network(ctx, d, 0.5, wrong));
    let m = mixing(map.as_ref(), &x, d, 1);
    Ok(Finding::answer(m[(n - 1) * n] < 0.5 * m[n * n - 1]))
}

/// The state of a cell after the inputs, rows of d numbers.
fn end_state(cell: &dyn RecurrentCell, inputs: &[f64], start: &[f64], d: usize) -> Vec<f64> {
    let mut trace = Trace::default();
    let mut state = trace.input(start);
    for x in inputs.chunks_exact(d) {
        let x = trace.constant(x);
        state = cell.next(&mut trace, x, state);
    }
    trace.value(state).to_vec()
}

/// `H+ = Z*H + (1-Z)*H~` with Z in [0, 1] and `|H~| <= 1` is a mean, coordinate by coordinate. A
/// bias of 800 exceeds all contributions of the weights, so that Z = 1.
pub fn gru_bounds(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let gain = ctx.log_uniform_in(0.25, 4.0);
    let mut cell = Gru::normal(ctx.seed(), d, gain, ctx.index(2) == 1);
    let (inputs, mut start) = (ctx.normals(n * d), ctx.normals(d));
    if wrong {
        start.fill(40.0);
    }
    let bound = if wrong { 1.0 } else { max_abs(&start).max(1.0) };
    if wrong {
        cell.update.bias.fill(800.0);
    }
    let within = max_abs(&end_state(&cell, &inputs, &start, d)) <= bound * (1.0 + 1e-13);
    cell.update.bias.fill(800.0);
    Ok(Finding::all([within, end_state(&cell, &inputs, &start, d) == start]))
}

/// With R = 0 the last state still counts with the weight Z; with Z = 0 it is forgotten.
pub fn gru_reset(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let d = case.d;
    let mut cell = Gru::normal(ctx.seed(), d, 1.0, false);
    cell.reset.bias.fill(-800.0);
    cell.update.bias.fill(if wrong { -800.0 } else { 0.0 });
    let mut trace = Trace::default();
    let (x, h) = (ctx.normals(d), ctx.normals(d));
    let (x, h) = (trace.constant(&x), trace.input(&h));
    let next = cell.next(&mut trace, x, h);
    let jacobian = LinearisedTrace::new(trace, vec![next]).jacobian();
    Ok(Finding::answer(norm(&jacobian) > 1e-3))
}

/// If the gates do not read the state, `c+ = f*c + i*g` gives `dc+/dc = diag(f)`. `|i*g| <= 1`
/// gives `|c_n| <= |c_0| + n`.
pub fn lstm_additive_path(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d, bias) = (case.n, case.d, [0.0, 1.0, 60.0][ctx.index(3)]);
    let mut cell = Lstm::normal(ctx.seed(), d, if wrong { 1.0 } else { 0.0 });
    cell.forget.bias.fill(if wrong { 1.0 } else { bias });
    let (inputs, start) = (ctx.normals(n * d), ctx.normals(2 * d));
    let mut trace = Trace::default();
    let mut state = trace.input(&start);
    let mut product = vec![1.0; d];
    for x in inputs.chunks_exact(d) {
        let logits = cell.forget.input.chunks_exact(d).map(|row| dot(row, x));
        let gates = logits.zip(&cell.forget.bias).map(|(l, b)| 1.0 / (1.0 + (-l - b).exp()));
        product.iter_mut().zip(gates).for_each(|(p, g)| *p *= g);
        let x = trace.constant(x);
        state = cell.next(&mut trace, x, state);
    }
    let here = LinearisedTrace::new(trace, vec![state]);
    let (end, jacobian) = (here.value(), here.jacobian());
    let stated = |k: usize| if k / d == k % d { product[k / d] } else { 0.0 };
    let entry = |k: usize| jacobian[(d + k / d) * 2 * d + d + k % d];
    let off = (0..d * d).map(|k| (entry(k) - stated(k)).abs()).fold(0.0, nan_max);
    let most = |c: usize| (start[d + c].abs() + n as f64) * (1.0 + 1e-13);
    let bounded = (0..d).all(|c| end[c].abs() <= 1.0 && end[d + c].abs() <= most(c));
    Ok(Finding::identity(off, 1e-12).and(Finding::answer(bounded)))
}

/// `|tanh| < 1`, so scores lie in `[-|v|_1, |v|_1]` and no weight is below that of a score `-|v|_1`
/// among scores `|v|_1`. Half of the draws are near equality: saturated, one of the opposite sign.
pub fn bahdanau_floor(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let v = normal_rows(ctx, 1, d);
    let [mut w, mut u] = std::array::from_fn(|_| normals(ctx, d * d, 3.0 / (d as f64).sqrt()));
    let mut rows = ctx.normals(n * d);
    if wrong || ctx.index(2) == 0 {
        w.fill(0.0);
        u = identity(d).iter().map(|v| 12.0 * v).collect();
        rows = (0..n * d).map(|k| if k < d { -1.0 } else { 1.0 } * v[k % d].signum()).collect();
    }
    let largest = if wrong { 0.5 } else { 1.0 } * v.iter().map(|v| v.abs()).sum::<f64>();
    let alignment = Alignment::Additive { decoder_weights: w, encoder_weights: u, score_vector: v };
    let mut trace = Trace::default();
    let s = trace.constant(&ctx.normals(d));
    let rows: Vec<Var> = rows.chunks_exact(d).map(|row| trace.constant(row)).collect();
    let weights = alignment.weights(&mut trace, s, &rows);
    let least = trace.value(weights).iter().copied().fold(f64::INFINITY, nan_min);
    let floor = 1.0 / (1.0 + (n as f64 - 1.0) * (2.0 * largest).exp());
    Ok(Finding::at_least(least * (1.0 + 1e-12), floor))
}

pub fn fixed_context(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let alignment = if wrong { Alignment::Dot } else { Alignment::Fixed };
    let (net, x) = (EncoderDecoder::normal(ctx.seed(), d, 1.0, alignment), ctx.normals(n * d));
    let mut trace = Trace::default();
    let rows: Vec<Var> = x.chunks_exact(d).map(|row| trace.input(row)).collect();
    let encoded = net.encode(&mut trace, &rows);
    let contexts = net.decode(&mut trace, &encoded, n).1;
    Ok(Finding::all(contexts.iter().map(|c| trace.value(*c) == trace.value(contexts[0]))))
}

/// Multiplications of a decoder with n inputs and n outputs under an alignment.
fn multiplications(case: &Case, seed: u64, x: &[f64], alignment: Alignment) -> usize {
    let net = EncoderDecoder::normal(seed, case.d, 1.0, alignment);
    linearise_layer(&net, 0, case.d, x).multiplications()
}

/// Each of the n outputs needs n products of d numbers for the scores, n divisions for the weights
/// and n d products for the mean.
pub fn attention_cost(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d, x, seed) = (case.n, case.d, ctx.normals(case.n * case.d), ctx.seed());
    let [with, without] =
        [Alignment::Dot, Alignment::Fixed].map(|a| multiplications(case, seed, &x, a));
    Ok(Finding::exact(with, without + n * n * if wrong { d } else { 2 * d + 1 }))
}

pub fn attention_is_cheaper(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (x, seed) = (ctx.normals(case.n * case.d), ctx.seed());
    let attention = if wrong { Alignment::Fixed } else { Alignment::Dot };
    let [with, without] = [attention, Alignment::Fixed].map(|a| multiplications(case, seed, &x, a));
    Ok(Finding::answer(with > without))
}

/// Attention has `4 (d^2 + d)` parameters, the feed-forward part `8 d^2 + 5 d`, two norms `4 d`.
pub fn ffn_share(_: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let d = 4 + ctx.index(29);
    let width = if wrong { 2 * d } else { 4 * d };
    let map = |inputs: usize, outputs: usize| {
        Linear::new("map", inputs, vec![0.0; inputs * outputs], vec![0.0; outputs])
    };
    let one = Grouping { heads: 1, kv_heads: 1 };
    let maps = [map(d, d)?, map(d, d)?, map(d, d)?, map(d, d)?];
    let attention = AttentionLayer::<f64>::new("heads", maps, one, everything())?.parameters();
    let units = Mlp::<f64>::new("units", map(d, width)?, None, map(width, d)?, Activation::Gelu)?;
    let norm = Norm::<f64>::new("norm", Centring::Mean, 0.0, vec![1.0; d], vec![0.0; d])?;
    let (own, all) = (units.parameters(), attention + units.parameters() + 2 * norm.parameters());
    let share = Finding::exact(own * (12 * d + 13), all * (8 * d + 5));
    Ok(share.and(Finding::answer(3 * own < 2 * all && d * (2 * all - 3 * own) < all)))
}

pub fn layernorm_invariance(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let d = case.d;
    let norm = Norm::plain(d, Centring::Mean, if wrong { 1.0 } else { 0.0 });
    let (x, a, c) = (ctx.normals(d), ctx.log_uniform_in(0.1, 10.0), ctx.uniform_in(-2.0, 2.0));
    let one = norm.apply(&x);
    let other = norm.apply(&x.iter().map(|v| a * v + c).collect::<Vec<f64>>());
    let length = (dot(&one, &one) / d as f64).sqrt() - 1.0;
    Ok(Finding::identity(largest([max_difference(&one, &other), length.abs()]), 1e-8))
}

/// `C x / sqrt(|C x|^2 / d) = sqrt d C x / |C x|` with `C x = x - mean(x)`; without centring it is
/// RMSNorm.
pub fn ln_sphere(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (d, x) = (case.d, ctx.normals(case.d));
    let mut off = 0.0;
    for centring in [Centring::Mean, Centring::None] {
        let mean = if centring == Centring::Mean { x.iter().sum::<f64>() / d as f64 } else { 0.0 };
        let mut direction: Vec<f64> = x.iter().map(|v| v - mean).collect();
        if !retract(&mut direction) {
            return Ok(Finding::HypothesesMissed);
        }
        scale((d as f64).sqrt(), &mut direction);
        let norm = Norm::plain(d, centring, if wrong { 0.01 } else { 0.0 });
        off = nan_max(off, max_difference(&norm.apply(&x), &direction));
    }
    Ok(Finding::identity(off, 1e-8))
}

/// `y = LN(x)` has the sum 0 and the sum of squares d. If no coordinate exceeds m, the squares are
/// largest with d - 1 coordinates m and one `-(d - 1) m`: `d <= d (d - 1) m^2`.
pub fn layernorm_largest(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let d = case.d;
    let mut x = ctx.normals(d);
    if wrong || ctx.index(2) == 0 {
        x.fill(1.0);
        x[0] = 1.0 - d as f64;
    }
    let most = vector::max(&Norm::plain(d, Centring::Mean, 0.0).apply(&x));
    let bound = if wrong { 1.1 } else { 1.0 } / (d as f64 - 1.0).sqrt();
    Ok(Finding::at_least(most * (1.0 + 1e-9), bound))
}
