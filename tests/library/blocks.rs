//! Trained heads and blocks: they are heads of the theory; shifts of positions, biases of keys and
//! later tokens change nothing; decoding with kept keys and values gives the masked pass.

use metastable::attention::Head;
use metastable::attention::dense::Activation;
use metastable::attention::kernel::Workspace;
use metastable::attention::multi_head::MultiHead;
use metastable::attention::pattern::{
    Alibi, BiasTable, Causal, CombinedPattern, FullAttention, Pairs, Pattern, Rotary,
};
use metastable::error::Result;
use metastable::num::dense::{mul, transpose_mul};
use metastable::num::roots::bracketed_root;
use metastable::num::{deviation::largest, stats::nan_max, stream::Stream, sum::dot};
use metastable::sphere::Tokens;
use metastable::theorem::rounding::{TINY, absolute, max_relative_deviation, weight_change};
use metastable::transformer::decode::KeyValueCache;
use metastable::transformer::positions::sinusoidal;
use metastable::transformer::{
    AttentionLayer, Centring, Grouping, Linear, Mlp, Norm, NormPlacement, TransformerBlock,
};
use std::sync::Arc;

fn normals(stream: &mut Stream, count: usize, size: f64) -> Vec<f64> {
    (0..count).map(|_| size * stream.normal()).collect()
}

/// A map with normal weights of size `1 / sqrt inputs` and a bias.
fn map(stream: &mut Stream, inputs: usize, outputs: usize) -> Linear {
    let weight = normals(stream, inputs * outputs, 1.0 / (inputs as f64).sqrt());
    Linear::new("map", inputs, weight, normals(stream, outputs, 0.3)).expect("a map")
}

/// Two heads of rank d / 2 under a pattern.
fn heads(stream: &mut Stream, d: usize, pattern: Arc<dyn Pattern>) -> AttentionLayer {
    let maps = [(); 4].map(|()| map(stream, d, d));
    AttentionLayer::new("heads", maps, Grouping { heads: 2, kv_heads: 2 }, pattern).expect("heads")
}

/// A pre-norm block: heads, then 2 d hidden units.
fn block(stream: &mut Stream, d: usize, pattern: Arc<dyn Pattern>) -> TransformerBlock {
    let attention = heads(stream, d, pattern);
    let (first, second) = (map(stream, d, 2 * d), map(stream, 2 * d, d));
    let mlp = Mlp::new("units", first, None, second, Activation::Gelu).expect("units");
    let norm = || Norm::plain(d, Centring::Mean, 1e-5);
    TransformerBlock::new(NormPlacement::Pre, (attention, norm()), (mlp, norm()))
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

/// Bound on the rounding error in every coordinate of the outputs of trained heads, for as many
/// key-value heads as heads. An output is `sum_h sum_j P_ij sum_e W_ce v_je + b_c`. Its terms have
/// sizes that add up to at most `T = sum_h sum_e |W_ce| max_j |v_je| + |b_c|`, where `|v|` (and
/// `|q|`, `|k|`) is `|W| |x| + |b|`, entry by entry: the size of the terms before cancellation.
/// Some n + 2 d successive roundings make at most `4 eps (n + d) T`. The error of a logit is
/// `4 (d + 4) eps L`, L the norm of `|q_i|` times the largest norm of `|k_j|` over `sqrt r`; the
/// weights change by twice that.
fn allowed(of: &AttentionLayer, x: &[f64]) -> Vec<f64> {
    let (d, heads, r, s) = (of.query.inputs(), of.grouping.heads, of.rank(), of.size());
    let n = x.len() / d;
    let (queries, keys, values) =
        (magnitudes(&of.query, x), magnitudes(&of.key, x), magnitudes(&of.value, x));
    let norm = |rows: &[f64], i: usize, h: usize| {
        let row = &rows[(i * heads + h) * r..][..r];
        dot(row, row).sqrt()
    };
    let largest_key = |h: usize| (0..n).map(|j| norm(&keys, j, h)).fold(0.0, nan_max);
    let largest_value = |e: usize| (0..n).map(|j| values[j * heads * s + e]).fold(0.0, nan_max);
    let (weight, bias) = (of.output.weight(), of.output.bias());
    let own = 4.0 * f64::EPSILON * (n + d) as f64;
    let mut out = Vec::with_capacity(n * of.output.outputs());
    for i in 0..n {
        let change = |h: usize| {
            let logit = norm(&queries, i, h) * largest_key(h) / (r as f64).sqrt();
            weight_change(4.0 * f64::EPSILON * (d as f64 + 4.0) * logit, n) + own
        };
        let changes: Vec<f64> = (0..heads).map(change).collect();
        for (c, row) in weight.chunks_exact(heads * s).enumerate() {
            let term = |(e, w): (usize, &f64)| changes[e / s] * w.abs() * largest_value(e);
            let terms: f64 = row.iter().enumerate().map(term).sum();
            out.push(terms + own * bias.get(c).map_or(0.0, |b| b.abs()) + TINY);
        }
    }
    out
}

/// Twice the bound, for two computations.
fn twice_allowed(of: &AttentionLayer, x: &[f64]) -> Vec<f64> {
    allowed(of, x).iter().map(|a| 2.0 * a).collect()
}

fn attend(of: &AttentionLayer, x: &[f64]) -> Vec<f64> {
    of.attend(x, x, false).expect("an output").out
}

/// The same bits.
fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Draws of different sizes: a stream, n, d.
fn draws(name: &str, most: usize) -> impl Iterator<Item = (Stream, usize, usize)> {
    let sizes = (0..12).map(move |k| ([2, 3, 5, 8, 12, most][k % 6], [4, 8][k / 6]));
    let name = name.to_owned();
    sizes.map(move |(n, d)| (Stream::new(1, &[&name, &n.to_string(), &d.to_string()]), n, d))
}

/// `<W_q x_i + b_q, W_k x_j + b_k> / sqrt r = x_i^T A x_j + <u, x_j> + c_i` with
/// `A = W_q^T W_k / sqrt r`, `u = W_k^T b_q / sqrt r`; `c_i` cancels in the softmax. Rows of P sum
/// to 1, so values give `V = W_o W_v` and the constant `b_o + W_o b_v`. With one more coordinate
/// that is 1, u becomes an entry of the form.
#[test]
fn trained_heads_are_heads_of_the_theory() -> Result<()> {
    let theory = |of: &AttentionLayer, x: &[f64], d: usize, share: f64| -> Result<Vec<f64>> {
        let (r, e, root) = (of.rank(), d + 1, (of.rank() as f64).sqrt());
        let rows = |l: &Linear, h: usize| {
            (l.weight()[h * r * d..][..r * d].to_vec(), l.bias()[h * r..][..r].to_vec())
        };
        let head = |h: usize| {
            let ((wq, bq), (wk, _), (wv, bv)) =
                (rows(&of.query, h), rows(&of.key, h), rows(&of.value, h));
            let last = of.output.weight();
            let wo: Vec<f64> =
                last.chunks_exact(d).flat_map(|row| row[h * r..][..r].to_vec()).collect();
            let (a, u) = (transpose_mul(&wk, &wq, r), transpose_mul(&wk, &bq, r));
            let (v, c) = (mul(&wo, &wv, d), mul(&wo, &bv, 1));
            let (mut q, mut value) = (vec![0.0; e * e], vec![0.0; e * e]);
            for i in 0..d {
                q[i * e..][..d].iter_mut().zip(&a[i * d..]).for_each(|(q, a)| *q = a / root);
                q[i * e + d] = share * u[i] / root;
                value[i * e..][..d].copy_from_slice(&v[i * d..][..d]);
                value[i * e + d] = c[i];
            }
            Head::new(e, Some((e, q)), None, Some((e, value)))
        };
        let lifted: Vec<f64> =
            x.chunks_exact(d).flat_map(|row| row.iter().copied().chain([1.0])).collect();
        let mut sums = vec![0.0; lifted.len()];
        MultiHead::new(1.0, vec![head(0)?, head(1)?])?.sums(
            &Tokens::flat(e, lifted)?,
            &mut Workspace::default(),
            &mut sums,
        )?;
        let with_bias = |row: &[f64]| -> Vec<f64> {
            row[..d].iter().zip(of.output.bias()).map(|(v, b)| v + b).collect()
        };
        Ok(sums.chunks_exact(e).flat_map(with_bias).collect())
    };
    for (mut stream, n, d) in draws("collapse", 10) {
        let of = heads(&mut stream, d, Arc::new(FullAttention));
        let x = normals(&mut stream, n * d, 1.0);
        let (literal, both) = (attend(&of, &x), twice_allowed(&of, &x));
        let off = |share: f64| {
            theory(&of, &x, d, share).map(|t| max_relative_deviation(&t, &literal, &both))
        };
        assert!(off(1.0)? <= 1.0 && off(0.0)? > 1e3, "n = {n}, d = {d}: {}", off(1.0)?);
    }
    Ok(())
}

/// A change c of `b_k` adds `<q_i, c>` to all logits of row i; a change c of `b_v` adds `W_o c` to
/// all outputs.
#[test]
fn biases_of_keys_have_no_effect_and_those_of_values_shift_all_outputs_alike() {
    for (mut stream, n, d) in draws("bias", 10) {
        let of = heads(&mut stream, d, Arc::new(FullAttention));
        let x = normals(&mut stream, n * d, 1.0);
        let (by, value) = (normals(&mut stream, d, 1.0), normals(&mut stream, d, 1.0));
        let (before, shift) = (attend(&of, &x), of.output.jvp(&value));
        let expected: Vec<f64> = before.iter().enumerate().map(|(k, v)| v + shift[k % d]).collect();
        let moved = |l: &Linear, by: &[f64]| {
            let bias = l.bias().iter().zip(by).map(|(b, c)| b + c).collect();
            Linear::new("map", d, l.weight(), bias).expect("a map")
        };
        for of_keys in [true, false] {
            let other = AttentionLayer {
                query: if of_keys { of.query.clone() } else { moved(&of.query, &by) },
                key: if of_keys { moved(&of.key, &by) } else { of.key.clone() },
                value: moved(&of.value, &value),
                ..of.clone()
            };
            // The bounds before and after also cover the rounding of the shift.
            let both: Vec<f64> =
                allowed(&of, &x).iter().zip(allowed(&other, &x)).map(|(a, b)| a + b).collect();
            let off = max_relative_deviation(&attend(&other, &x), &expected, &both);
            assert!((off <= 1.0) == of_keys, "n = {n}, d = {d}, keys {of_keys}: {off}");
        }
    }
}

/// ALiBi for positions that begin at `first`.
struct Shifted {
    of: Alibi,
    first: usize,
}

impl Pattern for Shifted {
    fn bias(&self, head: usize, i: usize, j: usize) -> f64 {
        self.of.bias(head, self.first + i, self.first + j)
    }
}

/// Differences of positions are integers, so not a bit changes.
#[test]
fn alibi_does_not_change_in_any_bit_if_all_positions_shift() -> Result<()> {
    for (mut stream, n, d) in draws("alibi", 10) {
        let mut of = heads(&mut stream, d, Arc::new(FullAttention));
        let (x, c) = (normals(&mut stream, n * d, 1.0), 1 + stream.index(10_000));
        let mut at = |first: usize| -> Result<Vec<f64>> {
            of.pattern = Arc::new(Shifted { of: Alibi::new(2)?, first });
            Ok(attend(&of, &x))
        };
        assert!(same(&at(0)?, &at(c)?), "n = {n}, d = {d}, c = {c}");
        // Positions added to the tokens do change the outputs.
        of.pattern = Arc::new(FullAttention);
        let added = |first: usize| -> Vec<f64> {
            let rows = x.chunks_exact(d).enumerate();
            rows.flat_map(|(i, row)| {
                let places = sinusoidal((first + i) as f64, d);
                row.iter().zip(places).map(|(x, p)| x + p).collect::<Vec<f64>>()
            })
            .collect()
        };
        assert!(!same(&attend(&of, &added(0)), &attend(&of, &added(c))));
    }
    Ok(())
}

/// Rotations of pairs of coordinates preserve the lengths of queries and keys, so the bound on
/// rounding is the same; cosines and sines have an error of 2^-52 at every position.
#[test]
fn rotary_positions_do_not_change_outputs_if_all_positions_shift() -> Result<()> {
    let reversed =
        |x: &[f64], d: usize| -> Vec<f64> { x.chunks_exact(d).rev().flatten().copied().collect() };
    for (k, (mut stream, n, d)) in draws("rotary", 10).enumerate() {
        let rotary = Rotary::new(100.0, [Pairs::Adjacent, Pairs::Halves][k % 2], d / 2)?;
        let mut of = heads(&mut stream, d, Arc::new(rotary.clone()));
        let (x, c) = (normals(&mut stream, n * d, 1.0), 1 + stream.index(10_000));
        let (out, both) = (attend(&of, &x), twice_allowed(&of, &x));
        let backwards = reversed(&attend(&of, &reversed(&x, d)), d);
        of.pattern = Arc::new(rotary.starting_at(c as u64));
        let off = max_relative_deviation(&attend(&of, &x), &out, &both);
        assert!(off <= 1.0, "n = {n}, d = {d}, c = {c}: {off}");
        assert!(max_relative_deviation(&backwards, &out, &both) > 1e3);
    }
    Ok(())
}

/// Causal heads with rotary positions, ALiBi or neither.
fn causal(k: usize, d: usize) -> Result<Arc<dyn Pattern>> {
    let positions: Option<Box<dyn Pattern>> = match k % 3 {
        0 => Some(Box::new(Rotary::new(100.0, Pairs::Halves, d / 2)?)),
        1 => Some(Box::new(Alibi::new(2)?)),
        _ => None,
    };
    Ok(Arc::new(CombinedPattern::new(
        [Box::new(Causal) as Box<dyn Pattern>].into_iter().chain(positions).collect(),
    )))
}

/// Norms, feed-forward layers and residuals act on each token alone, and matrix products are
/// computed in pieces whose shapes do not depend on later tokens.
#[test]
fn the_first_tokens_of_a_causal_block_do_not_depend_on_later_ones_in_any_bit() -> Result<()> {
    for (k, (mut stream, n, d)) in draws("prefix", 90).enumerate() {
        for masked in [true, false] {
            let pattern = if masked { causal(k, d)? } else { Arc::new(FullAttention) };
            let block = block(&mut stream, d, pattern);
            let (x, first) = (normals(&mut stream, n * d, 1.0), 1 + stream.index(n - 1));
            let all = block.step(&x, None, 1.0)?;
            let alone = block.step(&x[..first * d], None, 1.0)?;
            assert!(same(&all[..first * d], &alone) == masked, "n = {n}, d = {d}, {first}");
        }
    }
    Ok(())
}

/// A row needs its own query, and keys and values of the tokens up to it, which later tokens do not
/// change; both passes add the same numbers in the same order.
#[test]
fn decoding_with_kept_keys_and_values_is_the_masked_pass_bit_for_bit() -> Result<()> {
    for (k, (mut stream, n, d)) in draws("decoding", 70).enumerate() {
        for masked in [true, false] {
            let pattern = if masked { causal(k, d)? } else { Arc::new(FullAttention) };
            let block = block(&mut stream, d, pattern);
            let x = normals(&mut stream, n * d, 1.0);
            let all = block.step(&x, None, 1.0)?;
            let mut cache = KeyValueCache::new(&block);
            let rows = x.chunks_exact(d).map(|token| cache.next(&block, token, None));
            let decoded = rows.collect::<Result<Vec<_>>>()?.concat();
            assert!(same(&decoded, &all) == masked, "n = {n}, d = {d}, masked {masked}");
        }
    }
    Ok(())
}

/// Masked keys contribute to neither sum of the softmax, and `e^{-1e9}` is 0.
#[test]
fn masked_padding_has_the_effect_of_no_padding() -> Result<()> {
    for (mut stream, n, d) in draws("padding", 10) {
        let (mut of, all) = (heads(&mut stream, d, Arc::new(FullAttention)), n + 3);
        let mut x = normals(&mut stream, n * d, 1.0);
        let (alone, both) = (attend(&of, &x), twice_allowed(&of, &x));
        x.extend(vec![0.0; 3 * d]);
        for low in [f64::NEG_INFINITY, -1e9, 0.0] {
            let biases = (0..all * all).map(|k| if k % all < n { 0.0 } else { low }).collect();
            of.pattern = Arc::new(BiasTable::biases(all, all, biases)?);
            let off = max_relative_deviation(&attend(&of, &x)[..n * d], &alone, &both);
            assert!((off <= 1.0) == (low < 0.0), "n = {n}, d = {d}, {low}: {off}");
        }
    }
    Ok(())
}

/// `(x Phi)' = Phi + x phi` vanishes at the minimum; its derivative `phi (2 - x^2)` vanishes at
/// `sqrt 2`, where the slope is `Phi(sqrt 2) + sqrt 2 phi(sqrt 2)`.
#[test]
fn gelu_has_its_known_minimum_slope_and_distance_from_the_tanh_form() {
    let minimum = |act: Activation| {
        let lowest = bracketed_root(|x| act.slope(x), -1.0, -0.5, 1e-14).expect("a root");
        (lowest, act.value(lowest))
    };
    let (lowest, least) = minimum(Activation::Gelu);
    assert!(
        (lowest + 0.751_791_524_694).abs() < 1e-11 && (least + 0.169_971_207_480).abs() < 1e-11
    );
    assert!((minimum(Activation::GeluTanh).1 + 0.169_971_207_480).abs() > 1e-6);
    assert!((Activation::Gelu.slope(2f64.sqrt()) - 1.128_904_145_185).abs() < 1e-11);
    let apart = |x: f64| Activation::Gelu.value(x) - Activation::GeluTanh.value(x);
    let change = |x: f64| Activation::Gelu.slope(x) - Activation::GeluTanh.slope(x);
    let furthest = bracketed_root(change, 2.4, 3.0, 1e-12).expect("a root");
    // The difference is not larger anywhere on a fine grid.
    let grid = (0..=20_000).map(|k| f64::from(k) * 5e-4);
    assert!((furthest - 2.699).abs() < 1e-3, "{furthest}");
    let most = largest(grid.chain([furthest]).map(|x| apart(x).abs()));
    assert!((most - 4.7324e-4).abs() < 1e-7, "{most:e}");
}
