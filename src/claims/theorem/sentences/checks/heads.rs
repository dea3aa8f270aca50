//! Checks about heads: ranks, several heads, masks, truncation, positions.

use super::setting::{
    everything, images, layer, normal_rows, own_weights, singular_ratio, softmax_row, weights,
};
use crate::attention::pattern::{BiasTable, Causal};
use crate::num::dense::transpose_mul;
use crate::recurrent::{MapSpec, ReceptiveField, lyapunov::mixing, map};
use crate::sphere::geometry::project;
use crate::theorem::prelude::*;
use crate::transformer::positions::{first_increase, frequency, overlap, sinusoidal};
use crate::transformer::{AttentionLayer, Linear};

/// True if the singular value after the first `rank` is negligible.
fn small(a: &[f64], columns: usize, rank: usize) -> bool {
    singular_ratio(a, columns, rank) <= 1e-7
}

pub fn logit_rank(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let r = if wrong { 1 } else { 1 + ctx.index(n.min(d) - 1) };
    let x = ctx.normals(n * d);
    let [q, k, v] = std::array::from_fn(|_| normal_rows(ctx, r, d));
    let scores = images(&images(&x, &q, d), &images(&x, &k, d), r);
    let head = layer(d, 1, [&q, &k, &v, &normal_rows(ctx, d, r)])?.attend(&x, &x, true)?;
    let square = if wrong { head.weights } else { scores };
    Ok(Finding::all([small(&square, n, r), small(&head.out, d, r)]))
}

/// `sum_h P_h X v o^T = (sum_h P_h X v) o^T` is a column times a row for all weights `P_h`.
pub fn shared_value_rank(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.normals(n * d);
    let [q, k] = std::array::from_fn(|_| normal_rows(ctx, 3 * d, d));
    let (mut v, mut o) = (normal_rows(ctx, 3, d), normal_rows(ctx, d, 3));
    if !wrong {
        v = v[..d].repeat(3);
        o = o.chunks_exact(3).flat_map(|row| [row[0]; 3]).collect();
    }
    let out = layer(d, 3, [&q, &k, &v, &o])?.attend(&x, &x, false)?.out;
    Ok(Finding::answer(small(&out, d, 1)))
}

pub fn linear_attention(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.normals(n * d);
    let (keys, values) =
        (images(&x, &normal_rows(ctx, d, d), d), images(&x, &normal_rows(ctx, d, d), d));
    let mut weights = images(&x, &keys, d);
    if wrong {
        weights = weights.chunks_exact(n).flat_map(|s| softmax_row(s.to_vec())).collect();
    }
    let tokenwise = images(&x, &transpose_mul(&values, &keys, n), d);
    let off = max_difference(&mul(&weights, &values, d), &tokenwise);
    Ok(Finding::identity(off, 1e-13 * norm(&x) * norm(&keys) * norm(&values)))
}

/// Rows, V, and the outputs of a head with `Q = K = strength I`.
fn attended(
    ctx: &mut Context,
    (n, d): (usize, usize),
    strength: f64,
) -> Result<(Vec<f64>, Vec<f64>, Vec<f64>)> {
    let (x, v) = (ctx.normals(n * d), ctx.normals(d * d));
    let mut q = identity(d);
    scale(strength, &mut q);
    let out = layer(d, 1, [&q, &q, &v, &identity(d)])?.attend(&x, &x, false)?.out;
    Ok((x, v, out))
}

pub fn zero_query_is_mean(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let (x, v, out) = attended(ctx, (n, d), if wrong { 1.0 } else { 0.0 })?;
    let mean: Vec<f64> =
        (0..d).map(|c| x.iter().skip(c).step_by(d).sum::<f64>() / n as f64).collect();
    let equal = (d..n * d).all(|k| out[k].to_bits() == out[k % d].to_bits());
    let off = max_difference(&out[..d], &images(&mean, &v, d));
    let tolerance = 1e-13 * norm(&v) * max_norm(&x, d);
    Ok(Finding::identity(off, tolerance).and(Finding::answer(equal)))
}

pub fn zero_query_is_ffn(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let n = if wrong { 1 } else { case.n };
    let (x, v, out) = attended(ctx, (n, case.d), 0.0)?;
    let apart = max_difference(&out, &images(&x, &v, case.d));
    Ok(Finding::answer((1e-9..f64::INFINITY).contains(&apart)))
}

/// A head with normal matrices: its weights `P_h`, its values `V_h`, and its block `W_h` of `W^O`.
struct NormalHead {
    weights: Vec<f64>,
    value: Vec<f64>,
    block: Vec<f64>,
}

/// Tokens, two to four heads, and `W^O` on their concatenation as the library computes it.
fn normal_heads(case: &Case, ctx: &mut Context) -> Result<(Vec<f64>, Vec<NormalHead>, Vec<f64>)> {
    let (n, d, count) = (case.n, case.d, 2 + ctx.index(3));
    let x = ctx.normals(n * d);
    let [q, k, v] = std::array::from_fn(|_| normal_rows(ctx, count * d, d));
    let o = normal_rows(ctx, d, count * d);
    let whole = layer(d, count, [&q, &k, &v, &o])?.attend(&x, &x, false)?.out;
    let one = |h: usize| -> Result<NormalHead> {
        let part = |m: &[f64]| m[h * d * d..(h + 1) * d * d].to_vec();
        let rows = o.chunks_exact(count * d);
        Ok(NormalHead {
            weights: weights(d, &part(&q), &part(&k), &x)?,
            value: part(&v),
            block: rows.flat_map(|r| r[h * d..][..d].to_vec()).collect(),
        })
    };
    let heads = (0..count).map(one).collect::<Result<Vec<_>>>()?;
    Ok((x, heads, whole))
}

pub fn heads_sum(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let d = case.d;
    let (x, heads, whole) = normal_heads(case, ctx)?;
    let mut sum = vec![0.0; whole.len()];
    for (h, head) in heads.iter().enumerate() {
        let block = &heads[(h + usize::from(wrong)) % heads.len()].block;
        let out = mul(&head.weights, &images(&x, &head.value, d), d);
        axpy(1.0, &images(&out, block, d), &mut sum);
    }
    Ok(Finding::identity(max_difference(&whole, &sum), 1e-11))
}

/// `(1/H) sum_h P_h X (H W_h V_h)^T = sum_h P_h X V_h^T W_h^T`.
pub fn heads_average(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let d = case.d;
    let (x, heads, whole) = normal_heads(case, ctx)?;
    let count = heads.len() as f64;
    let mut mean = vec![0.0; whole.len()];
    for head in &heads {
        let mut value = mul(&head.block, &head.value, d);
        scale(if wrong { 1.0 } else { count }, &mut value);
        axpy(1.0 / count, &mul(&head.weights, &images(&x, &value, d), d), &mut mean);
    }
    Ok(Finding::identity(max_difference(&whole, &mean), 1e-11))
}

/// A row of USA is the row of SA times `sum_j e^{<Q x_i, K x_j>}/n`.
pub fn same_direction(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.normals(n * d);
    let [q, k, v] = std::array::from_fn(|_| normal_rows(ctx, d, d));
    let one = identity(d);
    let mut with = layer(d, 1, [&q, &k, &v, &one])?.attend(&x, &x, false)?.out;
    let scores = images(&images(&x, &q, d), &images(&x, &k, d), d);
    let sums: Vec<f64> = scores.iter().map(|s| s.exp() / n as f64).collect();
    let values = if wrong { x.clone() } else { images(&x, &v, d) };
    let mut without = mul(&sums, &values, d);
    let unit = |rows: &mut [f64]| rows.chunks_exact_mut(d).all(retract);
    if !(unit(&mut with) && unit(&mut without)) {
        return Ok(Finding::HypothesesMissed);
    }
    Ok(Finding::identity(max_difference(&with, &without), 1e-9))
}

/// An additional score log c adds `e^{log c} = c` to the denominator; its value 0 adds nothing to
/// the numerator. At `c = 1e8 Z` the result times c is the plain sum to 1e-8.
pub fn offset_attention(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let (scores, x, c) = (ctx.normals(n), ctx.normals(n * d), ctx.log_uniform_in(1e-3, 1e3));
    let exponentials: Vec<f64> = scores.iter().map(|s| s.exp()).collect();
    let total: f64 = exponentials.iter().sum();
    let plain = mul(&exponentials, &x, d);
    let with_token = |c: f64| {
        let weights = softmax_row([&scores[..], &[c.ln()]].concat());
        mul(&weights[..n], &x, d)
    };
    let above = if wrong { c } else { 0.0 };
    let direct: Vec<f64> = plain.iter().map(|p| (p + above) / (c + total)).collect();
    let first = Finding::identity(max_difference(&with_token(c), &direct), 1e-12 * max_abs(&x));
    let far = 1e8 * total;
    let limit: Vec<f64> = with_token(far).iter().map(|v| far * v).collect();
    Ok(first.and(Finding::identity(max_difference(&limit, &plain), 1e-7 * total * max_abs(&x))))
}

/// The outputs of one query over sources x under softmax of given biases.
fn biased(x: &[f64], d: usize, biases: Vec<f64>) -> Result<Vec<f64>> {
    let (n, zero, one) = (x.len() / d, vec![0.0; d * d], identity(d));
    let mut head = layer(d, 1, [&zero, &zero, &one, &one])?;
    head.pattern = Arc::new(BiasTable::biases(1, n, biases)?);
    Ok(head.attend(&vec![0.0; d], x, false)?.out)
}

/// The full mean is `(1 - tau) a + tau b` with the means a and b of the kept and of the dropped
/// rows, so it is `tau (b - a)` away from a. Rows have the distance 10 from 0.
pub fn truncation_bound(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x: Vec<f64> = ctx.normals(n * d).iter().map(|v| 10.0 + 0.1 * v).collect();
    let (scores, kept) = (ctx.normals(n), 1 + ctx.index(n - 1));
    let mut sorted = scores.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let masked = |keep: bool| -> Vec<f64> {
        let visible = |s: &f64| (*s >= sorted[kept - 1]) == keep;
        scores.iter().map(|s| if visible(s) { *s } else { f64::NEG_INFINITY }).collect()
    };
    let dropped = masked(false);
    let tau: f64 = softmax_row(scores.clone())
        .iter()
        .zip(&dropped)
        .map(|(w, s)| if s.is_finite() { *w } else { 0.0 })
        .sum();
    let (full, mut top) = (biased(&x, d, scores.clone())?, biased(&x, d, masked(true))?);
    scale(if wrong { 1.0 - tau } else { 1.0 }, &mut top);
    let (error, apart) =
        (chord2(&full, &top).sqrt(), chord2(&top, &biased(&x, d, dropped)?).sqrt());
    let diameter =
        pairs(n).map(|(i, j)| chord2(&x[i * d..][..d], &x[j * d..][..d]).sqrt()).fold(0.0, nan_max);
    let bound = Finding::at_most(error, tau * diameter + 1e-12);
    Ok(bound.and(Finding::identity((error - tau * apart).abs(), 1e-12)))
}

pub fn pad_mask(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d, all) = (case.n, case.d, case.n + 3);
    let mut x = ctx.normals(n * d);
    let [q, k, v, o] = std::array::from_fn(|_| normal_rows(ctx, d, d));
    let plain = layer(d, 1, [&q, &k, &v, &o])?;
    let mut of =
        AttentionLayer { output: Linear::new("output", d, o.clone(), ctx.normals(d))?, ..plain };
    let alone = of.attend(&x, &x, false)?.out;
    x.extend(vec![0.0; 3 * d]);
    let low = if wrong { 0.0 } else { f64::NEG_INFINITY };
    let biases = (0..all * all).map(|e| if e % all < n { 0.0 } else { low }).collect();
    of.pattern = Arc::new(BiasTable::biases(all, all, biases)?);
    let off = max_difference(&of.attend(&x, &x, false)?.out[..n * d], &alone);
    of.pattern = Arc::new(BiasTable::mask(all, all, &vec![false; all * all])?);
    let blind = of.attend(&x, &x, false)?.out;
    let only_bias = blind.chunks_exact(d).all(|row| row == of.output.bias());
    Ok(Finding::identity(off, 1e-12).and(Finding::answer(only_bias)))
}

/// Row t of causal attention, and the same row computed from the first t rows alone.
pub fn decode_cache(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.normals(n * d);
    let [q, k, v, o] = std::array::from_fn(|_| normal_rows(ctx, d, d));
    let mut of = layer(d, 1, [&q, &k, &v, &o])?;
    of.pattern = if wrong { everything() } else { Arc::new(Causal) };
    let parallel = of.attend(&x, &x, false)?.out;
    of.pattern = everything();
    let step = |t: usize| Ok(of.attend(&x[t * d..][..d], &x[..(t + 1) * d], false)?.out);
    let one_by_one: Vec<Vec<f64>> = (0..n).map(step).collect::<Result<_>>()?;
    Ok(Finding::identity(max_difference(&parallel, &one_by_one.concat()), 1e-12))
}

/// Entries of rows are cut at 3: a dependence may be weak after saturated states, and weights of
/// longer rows would underflow to 0.
pub fn mixing_structure(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d, layers) = (case.n.min(5), case.d.min(4), 1 + ctx.index(3));
    let mut named = map::ALL[ctx.index(map::ALL.len())];
    let mut field = named.receptive_field;
    if wrong {
        (named, field) = (map::find("attention")?, ReceptiveField::Before);
    }
    let x: Vec<f64> = ctx.normals(n * d).iter().map(|v| v.clamp(-3.0, 3.0)).collect();
    let spec = MapSpec { n, d, layers, gain: 1.0, seed: ctx.seed() };
    let m = mixing((named.build)(&spec).as_ref(), &x, d, layers);
    let silent = 1e-12 * m.iter().copied().fold(0.0, nan_max);
    Ok(Finding::all(
        (0..n * n).map(|k| {
            if field.allows(layers, k / n, k % n) { m[k] > 1e-300 } else { m[k] <= silent }
        }),
    ))
}

pub fn pe_shift(_: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let d = [2, 16, 64, 512][ctx.index(4)];
    let (p, k) = (ctx.index(1000) as f64, 1.0 + ctx.index(1000) as f64);
    let (here, shifted) = (sinusoidal(p, d), sinusoidal(p + k, d));
    let turn = if wrong { -k } else { k };
    let turned = (0..d / 2).flat_map(|j| {
        let ((sin, cos), a, b) = ((frequency(j, d) * turn).sin_cos(), here[2 * j], here[2 * j + 1]);
        [cos * a + sin * b, cos * b - sin * a]
    });
    let off = max_difference(&shifted, &turned.collect::<Vec<f64>>());
    let product = (dot(&here, &shifted) - overlap(k, d)).abs();
    Ok(Finding::identity(largest([off, product]), 1e-12 * d as f64))
}

/// `<PE(p), PE(p + k)> = sum_c cos(k w_c)` is even in k. Angles up to 1100 are rounded to 1e-13.
pub fn pe_direction(_: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let d = [2, 8, 64, 512][ctx.index(4)];
    let (p, k) = (100.0 + ctx.index(901) as f64, 1.0 + ctx.index(100) as f64);
    let mut own = sinusoidal(p, d);
    if wrong {
        own = images(&own, &normal_rows(ctx, d, d), d);
    }
    let off = dot(&own, &sinusoidal(p + k, d)) - dot(&own, &sinusoidal(p - k, d));
    Ok(Finding::identity(off.abs(), 1e-12 * d as f64))
}

pub fn pe_monotone(_: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let d = [64, 128, 512][ctx.index(3)];
    Ok(Finding::answer(first_increase(d) < if wrong { 4 } else { 200 }))
}

/// At `x_i = x` token i moves towards a mean of the vectors `x + p_j`; its tangent part vanishes
/// for all i only if all these means are multiples of x.
pub fn pe_breaks_consensus(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.tokens_with_law(1, d, "uniform")?.coordinates().to_vec();
    let places = if wrong {
        x.repeat(n)
    } else {
        ctx.tokens_with_law(n, d, "uniform")?.coordinates().to_vec()
    };
    let y: Vec<f64> = places.iter().enumerate().map(|(k, p)| x[k % d] + 0.5 * p).collect();
    let mut means = mul(&own_weights(d, case.beta, &y)?, &y, d);
    means.chunks_exact_mut(d).for_each(|row| project(&x, row));
    Ok(Finding::answer(max_norm(&means, d) > 1e-9))
}
