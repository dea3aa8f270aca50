//! Heads of trained models are heads of the theory.

use crate::attention::dense::Activation;
use crate::attention::multi_head::MultiHead;
use crate::attention::pattern::{FullAttention, Pattern};
use crate::num::dense::transpose_mul;
use crate::theorem::prelude::*;
use crate::transformer::{
    AttentionLayer, BlockPart, Centring, Grouping, Linear, Mlp, Norm, NormPlacement,
    ResidualSublayer, TransformerBlock,
};

/// With one more coordinate that is 1, the biases of a trained head become entries of matrices.
///
/// # Derivation
///
/// `<W_q x_i + b_q, W_k x_j + b_k> / sqrt r = x_i^T A x_j + <W_k^T b_q, x_j> / sqrt r + c_i` with
/// `A = W_q^T W_k / sqrt r`; `c_i` does not depend on j and cancels in the softmax. Rows of P sum
/// to 1, so `sum_j P_ij (W_v x_j + b_v) = W_v sum_j P_ij x_j + b_v`, and multiplication by `W_o`
/// gives `V = W_o W_v` and the constant `b_o + W_o b_v`.
pub static ENTRY: Claim = Claim {
    name: "block-collapse",
    title: "Trained heads: W_q, W_k, W_v, W_o and biases amount to one form A, one matrix V and \
            two vectors",
    lets: "A_h = W_q^T W_k / sqrt r, V_h = W_o W_v and u_h = W_k^T b_q / sqrt r for head h",
    then: "Then b_o + sum_h W_o^h sum_j P_ij (W_v^h x_j + b_v^h) with P = softmax(<W_q^h x_i + \
           b_q^h, W_k^h x_j + b_k^h> / sqrt r) equals sum_h sum_j P_ij V_h x_j + sum_h W_o^h \
           b_v^h + b_o with logits x_i^T A_h x_j + <u_h, x_j>, evaluated by the kernel of the \
           theory's heads.",
    tested: "in every coordinate to twice the rounding of one computation: 8 eps (n + d) T, where \
             T is the sum of the absolute values of all terms of an output, entry by entry, plus \
             e^{8 (d + 4) eps L} - 1 of T, where L bounds the sizes of the terms of a logit",
    domain: Domain { laws: &["normal"], ..Domain::BLOCKS },
    narrower: "normal weights of size 1 / sqrt d, two heads",
    source: "derived; Vaswani et al. 2017",
    trials: (8, 60),
    trial: |case, ctx| compare(case, ctx, 1.0),
    control: Control {
        what: "the formula without u_h",
        trial: |ctx| compare(&Case::new(6, 4, 1.0, "sa"), ctx, 0.0),
    },
    ..Claim::IDENTITY
};

/// A map with normal weights of size `1 / sqrt inputs` and a bias.
pub(crate) fn map(ctx: &mut Context, inputs: usize, outputs: usize, size: f64) -> Result<Linear> {
    let scale = size / (inputs as f64).sqrt();
    let (weight, bias) = (ctx.normals(inputs * outputs), ctx.normals(outputs));
    Linear::new(
        "map",
        inputs,
        weight.iter().map(|v| scale * v).collect(),
        bias.iter().map(|v| 0.3 * v).collect(),
    )
}

/// Two heads of rank d / 2 under a pattern.
pub(crate) fn heads(
    ctx: &mut Context,
    d: usize,
    size: f64,
    pattern: Arc<dyn Pattern>,
) -> Result<AttentionLayer> {
    let maps = [
        map(ctx, d, d, size)?,
        map(ctx, d, d, size)?,
        map(ctx, d, d, size)?,
        map(ctx, d, d, size)?,
    ];
    AttentionLayer::new("heads", maps, Grouping { heads: 2, kv_heads: 2 }, pattern)
}

/// A pre-norm block: heads, then 2 d hidden units.
pub(crate) fn block(
    ctx: &mut Context,
    d: usize,
    size: f64,
    pattern: Arc<dyn Pattern>,
) -> Result<TransformerBlock> {
    let attention = heads(ctx, d, size, pattern)?;
    let mlp = Mlp::new(
        "units",
        map(ctx, d, 2 * d, size)?,
        None,
        map(ctx, 2 * d, d, size)?,
        Activation::Gelu,
    )?;
    let norm = || Norm::plain(d, Centring::Mean, 1e-5);
    let place = |part| ResidualSublayer::new(part, NormPlacement::Pre, norm(), None);
    Ok(TransformerBlock {
        parts: vec![place(BlockPart::Attention(attention)), place(BlockPart::Mlp(mlp))],
    })
}

/// Tokens of length about `sqrt d`.
pub(crate) fn tokens(ctx: &mut Context, n: usize, d: usize) -> Vec<f64> {
    ctx.normals(n * d)
}

/// Bound on the rounding error in every coordinate of the outputs of trained heads, for as many
/// key-value heads as heads. An output is `sum_h sum_j P_ij sum_e W_ce v_je + b_c`. Its terms have
/// sizes that add up to at most `T = sum_h sum_e |W_ce| max_j |v_je| + |b_c|`, where `|v|` (and
/// `|q|`, `|k|`) is `|W| |x| + |b|`, entry by entry: the size of the terms before cancellation.
/// Some n + 2 d successive roundings make at most `4 eps (n + d) T`. The error of a logit is
/// `4 (d + 4) eps L`, L the norm of `|q_i|` times the largest norm of `|k_j|` over `sqrt r`; the
/// weights change by twice that.
pub(crate) fn allowed(of: &AttentionLayer, x: &[f64]) -> Vec<f64> {
    let (d, heads, r, s) = (of.query.inputs(), of.grouping.heads, of.rank(), of.size());
    let n = x.len() / d;
    let (queries, keys, values) =
        (magnitudes(&of.query, x), magnitudes(&of.key, x), magnitudes(&of.value, x));
    let norm = |rows: &[f64], i: usize, h: usize| {
        let row = &rows[(i * heads + h) * r..][..r];
        dot(row, row).sqrt()
    };
    let largest_key = |h: usize| (0..n).map(|j| norm(&keys, j, h)).fold(0.0, f64::max);
    let largest_value = |e: usize| (0..n).map(|j| values[j * heads * s + e]).fold(0.0, f64::max);
    let (weight, bias) = (of.output.weight(), of.output.bias());
    let mut out = Vec::with_capacity(n * of.output.outputs());
    for i in 0..n {
        let change = |h: usize| {
            let logit = norm(&queries, i, h) * largest_key(h) / (r as f64).sqrt();
            weight_change(4.0 * f64::EPSILON * (d as f64 + 4.0) * logit, n)
                + 4.0 * f64::EPSILON * (n + d) as f64
        };
        let changes: Vec<f64> = (0..heads).map(change).collect();
        for (c, row) in weight.chunks_exact(heads * s).enumerate() {
            let terms = row
                .iter()
                .enumerate()
                .map(|(e, w)| changes[e / s] * w.abs() * largest_value(e))
                .sum::<f64>();
            out.push(
                terms
                    + 4.0 * f64::EPSILON * (n + d) as f64 * bias.get(c).map_or(0.0, |b| b.abs())
                    + TINY,
            );
        }
    }
    out
}

/// `|W| |x| + |b|` for all tokens.
fn magnitudes(of: &Linear, x: &[f64]) -> Vec<f64> {
    let (inputs, weight, bias) = (of.inputs(), absolute(&of.weight()), of.bias());
    let row = |x: &[f64]| -> Vec<f64> {
        let own = |r: usize| bias.get(r).map_or(0.0, |b| b.abs());
        weight.chunks_exact(inputs).enumerate().map(|(r, w)| dot(w, x) + own(r)).collect()
    };
    absolute(x).chunks_exact(inputs).flat_map(row).collect()
}

/// The largest difference, relative to the largest entry.
pub(crate) fn relative_difference(a: &[f64], b: &[f64]) -> f64 {
    let size = max_abs(b);
    max_difference(a, b) / size
}

fn compare(case: &Case, ctx: &mut Context, share: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let of = heads(ctx, d, 1.0, Arc::new(FullAttention))?;
    let x = tokens(ctx, n, d);
    let literal = of.attend(&x, &x, false)?.out;
    let (r, e) = (of.rank(), d + 1);
    let rows = |l: &Linear, h: usize| {
        (l.weight()[h * r * d..(h + 1) * r * d].to_vec(), l.bias()[h * r..(h + 1) * r].to_vec())
    };
    let mut made = Vec::new();
    for h in 0..2 {
        let ((wq, bq), (wk, _), (wv, bv)) =
            (rows(&of.query, h), rows(&of.key, h), rows(&of.value, h));
        let wo: Vec<f64> = of
            .output
            .weight()
            .chunks_exact(d)
            .flat_map(|row| row[h * r..(h + 1) * r].to_vec())
            .collect();
        // <q (x, 1), (y, 1)> = x^T A y + <u, y>.
        let (a, u) = (transpose_mul(&wk, &wq, r), transpose_mul(&wk, &bq, r));
        let (v, c) = (mul(&wo, &wv, d), mul(&wo, &bv, 1));
        let (mut q, mut value) = (vec![0.0; e * e], vec![0.0; e * e]);
        for i in 0..d {
            q[i * e..i * e + d]
                .iter_mut()
                .zip(&a[i * d..])
                .for_each(|(q, a)| *q = a / (r as f64).sqrt());
            q[i * e + d] = share * u[i] / (r as f64).sqrt();
            value[i * e..i * e + d].copy_from_slice(&v[i * d..(i + 1) * d]);
            value[i * e + d] = c[i];
        }
        made.push(Head::new(e, Some((e, q)), None, Some((e, value)))?);
    }
    let lifted: Vec<f64> =
        x.chunks_exact(d).flat_map(|row| row.iter().copied().chain([1.0])).collect();
    let mut sums = vec![0.0; n * e];
    MultiHead::new(1.0, made)?.sums(
        &Tokens::flat(e, lifted)?,
        &mut Workspace::default(),
        &mut sums,
    )?;
    let theory: Vec<f64> = sums
        .chunks_exact(e)
        .flat_map(|row| {
            row[..d].iter().zip(of.output.bias()).map(|(v, b)| v + b).collect::<Vec<_>>()
        })
        .collect();
    let both: Vec<f64> = allowed(&of, &x).iter().map(|a| 2.0 * a).collect();
    Ok(Finding::identity(max_relative_deviation(&theory, &literal, &both), 1.0))
}
