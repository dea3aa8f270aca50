//! Blocks of Transformers: derivatives against differences and transposes, exponents, mixing,
//! norms, products, activations.

use metastable::attention::dense::Activation;
use metastable::attention::pattern::{
    Alibi, BiasTable, Causal, CombinedPattern, FullAttention, Pairs, Pattern, Rotary, Window,
};
use metastable::num::dense::symmetric_eigenvalues;
use metastable::num::deviation::{largest, max_difference};
use metastable::num::linearised::{Linearised, spectral_norm};
use metastable::num::lyapunov::{exponents, mixing, singular_exponents};
use metastable::num::stream::Stream;
use metastable::num::sum::dot;
use metastable::transformer::tangent::{LinearisedAttention, linearised};
use metastable::transformer::{
    AttentionLayer, BlockPart, Centring, Grouping, Linear, Mlp, Norm, NormPlacement,
    ResidualSublayer, TransformerBlock, lipschitz,
};
use std::sync::Arc;

const D: usize = 8;

fn normals(stream: &mut Stream, count: usize, size: f64) -> Vec<f64> {
    (0..count).map(|_| size * stream.normal()).collect()
}

fn map(stream: &mut Stream, inputs: usize, outputs: usize) -> Linear {
    let (w, b) = (
        normals(stream, inputs * outputs, 1.0 / (inputs as f64).sqrt()),
        normals(stream, outputs, 0.3),
    );
    Linear::new("map", inputs, w, b).expect("a map")
}

/// Four query heads that share two heads of keys.
fn heads(stream: &mut Stream, pattern: Arc<dyn Pattern>) -> AttentionLayer {
    let maps = [map(stream, D, 16), map(stream, D, 8), map(stream, D, 8), map(stream, 16, D)];
    AttentionLayer::new("heads", maps, Grouping { heads: 4, kv_heads: 2 }, pattern).expect("heads")
}

fn norm(stream: &mut Stream, centring: Centring) -> Norm {
    let gain = normals(stream, D, 0.2).iter().map(|v| 1.0 + v).collect();
    Norm::new("norm", centring, 1e-3, gain, normals(stream, D, 0.2)).expect("a norm")
}

/// A block of a decoder: attention with a pattern, cross-attention, a feed-forward layer, with the
/// given norms.
fn decoder(
    stream: &mut Stream,
    place: NormPlacement,
    centring: Centring,
    pattern: Arc<dyn Pattern>,
    act: Activation,
    gated: bool,
) -> TransformerBlock {
    let gate = gated.then(|| map(stream, D, 12));
    let mlp = Mlp::new("units", map(stream, D, 12), gate, map(stream, 12, D), act).expect("units");
    let parts = [
        BlockPart::Attention(heads(stream, pattern)),
        BlockPart::Cross(heads(stream, Arc::new(FullAttention))),
        BlockPart::Mlp(mlp),
    ];
    TransformerBlock {
        parts: parts
            .into_iter()
            .map(|p| {
                ResidualSublayer::new(
                    p,
                    place,
                    norm(stream, centring),
                    Some(norm(stream, centring)),
                )
            })
            .collect(),
    }
}

fn patterns() -> Vec<Arc<dyn Pattern>> {
    let rotary =
        |pairs| Box::new(Rotary::new(50.0, pairs, 4).expect("positions")) as Box<dyn Pattern>;
    vec![
        Arc::new(FullAttention),
        Arc::new(CombinedPattern::new(vec![Box::new(Causal), rotary(Pairs::Halves)])),
        Arc::new(CombinedPattern::new(vec![
            Box::new(Window::new(2).expect("a window")),
            rotary(Pairs::Adjacent),
        ])),
        Arc::new(CombinedPattern::new(vec![
            Box::new(Causal),
            Box::new(Alibi::new(4).expect("slopes")),
        ])),
    ]
}

#[test]
fn derivatives_of_blocks_agree_with_differences_and_with_their_transposes() {
    let acts = [Activation::Gelu, Activation::GeluTanh, Activation::Silu, Activation::Gelu];
    for (k, pattern) in patterns().into_iter().enumerate() {
        for place in
            [NormPlacement::Post, NormPlacement::Pre, NormPlacement::Peri, NormPlacement::Ngpt]
        {
            for centring in [Centring::Mean, Centring::None] {
                let mut stream = Stream::new(7, &["derivatives"]);
                let block = decoder(
                    &mut stream,
                    place,
                    centring,
                    Arc::clone(&pattern),
                    acts[k],
                    k % 2 == 0,
                );
                let (n, memory) = (5, normals(&mut stream, 3 * D, 1.0));
                let (x, h, g) = (
                    normals(&mut stream, n * D, 1.0),
                    normals(&mut stream, n * D, 1.0),
                    normals(&mut stream, n * D, 1.0),
                );
                let at = linearised(&block, &x, Some(&memory), 0.7).expect("linearised");
                let step = |s: f64| {
                    let moved: Vec<f64> = x.iter().zip(&h).map(|(x, h)| x + s * h).collect();
                    block.step(&moved, Some(&memory), 0.7).expect("a layer")
                };
                let same = max_difference(&step(0.0), at.value());
                assert!(same < 1e-13, "{same}");
                let (pushed, pulled, e) = (at.jvp(&h), at.vjp(&g), 1e-5);
                let (up, down) = (step(e), step(-e));
                let size = dot(&pushed, &pushed).sqrt();
                let difference = pushed
                    .iter()
                    .zip(up.iter().zip(&down))
                    .map(|(p, (u, d))| (p - (u - d) / (2.0 * e)).powi(2))
                    .sum::<f64>()
                    .sqrt();
                // Differences have errors of e^2 and u / e.
                assert!(
                    difference < 1e-8 * size,
                    "{place:?} {centring:?} pattern {k}: {difference} of {size}"
                );
                let (a, b) = (dot(&g, &pushed), dot(&pulled, &h));
                assert!(
                    (a - b).abs() < 1e-12 * size * dot(&g, &g).sqrt(),
                    "{place:?} {centring:?} pattern {k}: {a} and {b}"
                );
            }
        }
    }
}

#[test]
fn derivatives_by_queries_and_sources_are_separate() {
    let mut stream = Stream::new(8, &["apart"]);
    let of = heads(&mut stream, Arc::new(FullAttention));
    let (x, y) = (normals(&mut stream, 3 * D, 1.0), normals(&mut stream, 5 * D, 1.0));
    let at = LinearisedAttention::new(&of, &x, &y).expect("linearised");
    let (hx, hy, g) = (
        normals(&mut stream, 3 * D, 1.0),
        normals(&mut stream, 5 * D, 1.0),
        normals(&mut stream, 3 * D, 1.0),
    );
    let (gx, gy) = at.vjp_separate(&g);
    let both = dot(&g, &at.jvp_separate(&hx, &hy));
    assert!((both - dot(&gx, &hx) - dot(&gy, &hy)).abs() < 1e-12 * both.abs().max(1.0));
    // If the sources do not change, only the queries contribute.
    let one = dot(&g, &at.jvp(&hx));
    assert!((one - dot(&gx, &hx)).abs() < 1e-12 * one.abs().max(1.0));
}

/// The block `x -> a x` for a diagonal matrix a, as `x + (a - 1) x`: a feed-forward layer with two
/// ReLUs for each coordinate.
fn diagonal(a: &[f64]) -> TransformerBlock {
    let d = a.len();
    let first = (0..2 * d * d)
        .map(|k| if k % d == k / d % d { if k / d < d { 1.0 } else { -1.0 } } else { 0.0 })
        .collect();
    let second = (0..2 * d * d).map(|k| {
        if k % (2 * d) % d == k / (2 * d) {
            (a[k / (2 * d)] - 1.0) * if k % (2 * d) < d { 1.0 } else { -1.0 }
        } else {
            0.0
        }
    });
    let map = |inputs, w| Linear::new("map", inputs, w, vec![]).expect("a map");
    let mlp =
        Mlp::new("units", map(d, first), None, map(2 * d, second.collect()), Activation::Relu)
            .expect("units");
    TransformerBlock {
        parts: vec![ResidualSublayer {
            part: BlockPart::Mlp(mlp),
            inner: None,
            outer: None,
            after: None,
        }],
    }
}

#[test]
fn exponents_of_a_diagonal_map_are_logarithms_and_its_norm_is_the_largest_entry() {
    let a = [2.0, 0.5, 1.5, 0.1];
    let block = diagonal(&a);
    let mut stream = Stream::new(3, &["exponents"]);
    let found =
        exponents(&[1.0; 4], (0, 40), 4, &mut stream, |_, x| linearised(&block, x, None, 1.0))
            .expect("exponents");
    for (found, a) in found.iter().zip([2.0f64, 1.5, 0.5, 0.1]) {
        // The frame aligns in the first layers, which gives an error of O(1 / layers).
        assert!((found - a.ln()).abs() < 0.1, "{found} for {}", a.ln());
    }
    let sum: f64 = found.iter().sum();
    assert!((sum - a.iter().map(|a: &f64| a.ln()).sum::<f64>()).abs() < 1e-10);
    let at = linearised(&block, &[1.0; 4], None, 1.0).expect("a block");
    let (top, change) = spectral_norm(&at, normals(&mut stream, 4, 1.0), 200);
    assert!((top - 2.0).abs() < 1e-8 && change < 1e-8, "{top} {change}");
}

#[test]
fn singular_exponents_are_those_of_the_whole_product_and_descending() {
    // Twelve coordinates are more than the eight directions that are used. After nine layers the
    // largest singular value is 5e4 times the fourth and 1e17 times the last. Small ones must be
    // accurate too.
    let a: Vec<f64> = (0..12).map(|k: i32| 3.0 * (-0.4 * f64::from(k * 5 % 12)).exp()).collect();
    let block = diagonal(&a);
    let at = linearised(&block, &[1.0; 12], None, 1.0).expect("a block");
    let mut frame = Stream::new(5, &["frame"]);
    let found = singular_exponents(12, 4, &mut frame, |_, see| {
        (0..9).for_each(|_| see(&at));
        Ok::<_, ()>(())
    })
    .expect("exponents");
    for (k, found) in found.values.iter().enumerate() {
        let expected = 3f64.ln() - 0.4 * k as f64;
        assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
    }
    assert!(found.error < 1e-6 && found.rounds < 10, "{found:?}");
    // One layer of a decoder against the eigenvalues of J^T J.
    let mut stream = Stream::new(9, &["singular"]);
    let block = decoder(
        &mut stream,
        NormPlacement::Pre,
        Centring::Mean,
        patterns().remove(1),
        Activation::Gelu,
        true,
    );
    let (x, memory) = (normals(&mut stream, 3 * D, 1.0), normals(&mut stream, 2 * D, 1.0));
    let at = linearised(&block, &x, Some(&memory), 1.0).expect("a block");
    let size = x.len();
    let columns: Vec<Vec<f64>> = (0..size)
        .map(|c| at.jvp(&(0..size).map(|k| f64::from(u8::from(k == c))).collect::<Vec<_>>()))
        .collect();
    let gram: Vec<f64> =
        (0..size * size).map(|k| dot(&columns[k / size], &columns[k % size])).collect();
    let values = symmetric_eigenvalues(&gram, size).expect("eigenvalues");
    let found = singular_exponents(size, 4, &mut frame, |_, see| {
        see(&at);
        Ok::<_, ()>(())
    })
    .expect("exponents");
    for (found, value) in found.values.iter().zip(values.iter().rev()) {
        assert!((found - 0.5 * value.ln()).abs() < 1e-4, "{found} for {}", 0.5 * value.ln());
        // The exponents are lower bounds, up to rounding of the eigenvalues.
        assert!(*found < 0.5 * value.ln() + 1e-12);
    }
    assert!(found.values.windows(2).all(|w| w[0] >= w[1]));
}

#[test]
fn mixing_matrices_are_diagonal_triangular_or_full_as_the_attention_is() {
    let mut stream = Stream::new(9, &["mixing"]);
    let (n, x) = (5, normals(&mut stream, 5 * D, 1.0));
    let mut of = |pattern: Option<Arc<dyn Pattern>>| {
        let mut block = decoder(
            &mut stream,
            NormPlacement::Pre,
            Centring::Mean,
            pattern.clone().unwrap_or(Arc::new(FullAttention)),
            Activation::Gelu,
            false,
        );
        block.parts.retain(|p| {
            matches!(p.part, BlockPart::Mlp(_))
                || pattern.is_some() && matches!(p.part, BlockPart::Attention(_))
        });
        mixing(&x, D, 2, |_, x| linearised(&block, x, None, 1.0)).expect("a matrix")
    };
    let zeros = |m: &[f64]| {
        (0..n * n).filter(|k| m[*k] < 1e-12).map(|k| (k / n, k % n)).collect::<Vec<_>>()
    };
    assert_eq!(zeros(&of(None)).len(), n * n - n);
    let above = zeros(&of(Some(Arc::new(Causal))));
    assert_eq!(above.len(), n * (n - 1) / 2);
    assert!(above.iter().all(|(i, j)| j > i));
    assert!(zeros(&of(Some(Arc::new(FullAttention)))).is_empty());
}

#[test]
fn norms_are_within_their_lipschitz_bound() {
    let norm = Norm::new("norm", Centring::Mean, 1e-4, vec![2.0; D], vec![]).expect("a norm");
    let block = TransformerBlock {
        parts: vec![ResidualSublayer {
            part: BlockPart::Mlp(
                Mlp::new(
                    "units",
                    Linear::new("m", D, vec![0.0; D], vec![]).expect("a map"),
                    None,
                    Linear::new("m", 1, vec![0.0; D], vec![]).expect("a map"),
                    Activation::Relu,
                )
                .expect("units"),
            ),
            inner: None,
            outer: None,
            after: Some(norm),
        }],
    };
    // Near 0 the bound max |gain| / sqrt eps is attained.
    let tiny: Vec<f64> = (0..D).map(|k| 1e-9 * (k as f64).sin()).collect();
    let at = linearised(&block, &tiny, None, 1.0).expect("a block");
    let (found, bound) = (
        spectral_norm(&at, (1..=D).map(|k| (k as f64).cos()).collect(), 100).0,
        lipschitz::norm(2.0, 1e-4),
    );
    assert!(found <= bound * (1.0 + 1e-9) && found > 0.99 * bound, "{found} and {bound}");
}

#[test]
fn wrong_shapes_are_refused() {
    let linear = |inputs: usize, w: Vec<f64>, b: Vec<f64>| {
        Linear::new("layer 1", inputs, w, b).map(|_| ()).expect_err("refused").to_string()
    };
    assert_eq!(
        linear(2, vec![1.0; 3], vec![]),
        "layer 1: found 3 numbers, expected rows of 2 numbers"
    );
    assert_eq!(
        linear(1, vec![1.0; 3], vec![1.0]),
        "layer 1, bias: found 1 numbers, expected 3, one for each output"
    );
    assert_eq!(
        linear(1, vec![1.0, f64::NAN], vec![]),
        "layer 1, weight: found NaN, expected finite numbers (number 2)"
    );
    let mut stream = Stream::new(1, &["refused"]);
    let maps = [
        map(&mut stream, D, 6),
        map(&mut stream, D, 6),
        map(&mut stream, D, 6),
        map(&mut stream, 6, D),
    ];
    let refused = AttentionLayer::new(
        "heads",
        maps,
        Grouping { heads: 4, kv_heads: 2 },
        Arc::new(FullAttention),
    )
    .map(|_| ())
    .expect_err("refused");
    assert!(
        refused.to_string().starts_with("heads: found 4 heads with 2 heads of keys, W_q 6 x 8"),
        "{refused}"
    );
    let block = decoder(
        &mut stream,
        NormPlacement::Pre,
        Centring::Mean,
        Arc::new(Causal),
        Activation::Gelu,
        false,
    );
    let x = normals(&mut stream, 2 * D, 1.0);
    assert_eq!(
        block.step(&x, None, 1.0).expect_err("refused").to_string(),
        "memory: found none, expected tokens for the cross-attention"
    );
    let post = decoder(
        &mut stream,
        NormPlacement::Post,
        Centring::Mean,
        Arc::new(Causal),
        Activation::Gelu,
        false,
    );
    assert!(
        post.symmetric_step(&x, Some(&x), 0.1)
            .expect_err("refused")
            .to_string()
            .contains("norms before the sublayers")
    );
}

#[test]
fn a_query_that_sees_nothing_gets_the_output_bias_alone() {
    let mut stream = Stream::new(10, &["masked"]);
    let of = heads(
        &mut stream,
        Arc::new(
            BiasTable::mask(3, 3, &[false, false, false, true, true, false, true, true, true])
                .expect("a mask"),
        ),
    );
    let x = normals(&mut stream, 3 * D, 1.0);
    let attended = of.attend(&x, &x, true).expect("attention");
    assert_eq!(&attended.out[..D], of.output.bias());
    assert!(
        attended.weights[..3].iter().all(|w| w.abs() < f64::MIN_POSITIVE),
        "the weights must be 0, not 0/0"
    );
    assert!(attended.out.iter().all(|v| v.is_finite()));
}

#[test]
fn sinusoidal_positions_first_become_similar_again_at_5_and_43() {
    assert_eq!([64, 512].map(metastable::transformer::positions::first_increase), [5, 43]);
}

#[test]
fn ngpt_layers_are_interpolations() {
    let mut stream = Stream::new(9, &["ngpt"]);
    let unit = || Norm::plain(D, Centring::None, 0.0);
    let part = BlockPart::Attention(heads(&mut stream, Arc::new(FullAttention)));
    let block = TransformerBlock {
        parts: vec![ResidualSublayer::new(part, NormPlacement::Ngpt, unit(), Some(unit()))],
    };
    let x = unit().apply(&normals(&mut stream, 5 * D, 1.0));
    let a = 0.3;
    // N((1 - a) x + a N(F(x)))
    let f = block.parts[0].output(&x, None, false).expect("an output").0;
    let lerp: Vec<f64> = x.iter().zip(&f).map(|(x, f)| (1.0 - a) * x + a * f).collect();
    let layer = block.step(&x, None, a / (1.0 - a)).expect("a layer");
    assert!(unit().apply(&lerp).iter().zip(&layer).all(|(p, q)| (p - q).abs() < 1e-14));
}

/// Queries at some positions of a decoder with many tokens, with the bias `-rate (j - k) / count`.
/// No token sees itself.
struct Fading {
    places: Vec<usize>,
    rate: f64,
    count: f64,
}

impl Pattern for Fading {
    fn visible(&self, i: usize, _: usize) -> std::ops::Range<usize> {
        0..self.places[i]
    }
    fn bias(&self, _: usize, i: usize, j: usize) -> f64 {
        -self.rate * (self.places[i] as f64 - j as f64) / self.count
    }
}

/// arXiv:2605.09213: without logits, n times the weight of token j on token k tends to
/// `r e^{-r (s - s')} / (1 - e^{-r s})` with `s = j / n`, `s' = k / n`, or to 1/s for r = 0.
#[test]
fn the_weights_of_a_fading_decoder_have_a_graphon() {
    let worst = |n: usize, rate: f64| {
        let places: Vec<usize> = (1..=8).map(|k| k * n / 8).collect();
        let pattern = Fading { places: places.clone(), rate, count: n as f64 };
        let zero = || Linear::new("zero", 1, vec![0.0], Vec::new()).expect("a map");
        let one = AttentionLayer::new(
            "head",
            [zero(), zero(), zero(), zero()],
            Grouping { heads: 1, kv_heads: 1 },
            Arc::new(pattern),
        );
        let attended = one
            .expect("a head")
            .attend(&vec![0.0; places.len()], &vec![0.0; n], true)
            .expect("weights")
            .weights;
        let mut worst = 0.0f64;
        for (j, row) in places.iter().zip(attended.chunks_exact(n)) {
            for (k, w) in row.iter().enumerate().take(*j) {
                let (s, t) = (*j as f64 / n as f64, k as f64 / n as f64);
                let limit = if rate > 0.0 {
                    rate * (-rate * (s - t)).exp() / (1.0 - (-rate * s).exp())
                } else {
                    1.0 / s
                };
                worst = largest([worst, (n as f64 * w / limit - 1.0).abs()]);
            }
            assert!(row[*j..].iter().all(|w| *w == 0.0));
        }
        worst
    };
    // Sums in place of integrals have relative errors of r / 2n.
    for rate in [0.0, 1.0, 4.0] {
        let (a, b) = (worst(2048, rate), worst(4096, rate));
        assert!(b < 1e-3 && (rate == 0.0 || (1.9..2.1).contains(&(a / b))), "{rate}: {a} {b}");
    }
    // The first token sees nothing and stays.
    let pattern = Fading { places: vec![0], rate: 1.0, count: 4.0 };
    let id = || Linear::new("one", 1, vec![1.0], Vec::new()).expect("a map");
    let head = AttentionLayer::new(
        "head",
        [id(), id(), id(), id()],
        Grouping { heads: 1, kv_heads: 1 },
        Arc::new(pattern),
    )
    .expect("a head");
    assert_eq!(head.attend(&[1.0], &[1.0, 2.0, 3.0, 4.0], false).expect("an output").out, [0.0]);
}

/// The bits of a row do not depend on the other rows, columns or masked sources. Decoding and
/// prefixes need this.
#[test]
fn products_agree_with_the_definition_and_rows_are_independent() {
    let mut stream = Stream::new(4, &["products"]);
    for (n, inputs, outputs) in [(1, 1, 1), (3, 7, 5), (70, 200, 49), (9, 385, 101), (130, 64, 16)]
    {
        let (x, w, b) = (
            normals(&mut stream, n * inputs, 1.0),
            normals(&mut stream, inputs * outputs, 1.0),
            normals(&mut stream, outputs, 1.0),
        );
        let map = Linear::new("map", inputs, w.clone(), b.clone()).expect("a map");
        assert_eq!(map.weight(), w);
        let y = map.apply(&x);
        for (i, row) in y.chunks_exact(outputs).enumerate() {
            for (c, v) in row.iter().enumerate() {
                let (x, w) = (&x[i * inputs..][..inputs], &w[c * inputs..][..inputs]);
                let size: f64 =
                    x.iter().zip(w).map(|(x, w)| (x * w).abs()).sum::<f64>() + b[c].abs();
                assert!((v - dot(x, w) - b[c]).abs() <= 16.0 * f64::EPSILON * size);
            }
            assert_eq!(map.apply(&x[i * inputs..][..inputs]), row);
        }
        let g = normals(&mut stream, n * outputs, 1.0);
        let (h, pulled) = (map.jvp(&x), map.vjp(&g));
        let size: f64 = h.iter().zip(&g).map(|(h, g)| (h * g).abs()).sum();
        assert!((dot(&h, &g) - dot(&x, &pulled)).abs() <= 64.0 * f64::EPSILON * size);
    }
}

#[test]
fn vectorised_activations_agree_with_the_definition() {
    use metastable::attention::dense::activate::activate;
    let u = 0.5 * f64::EPSILON;
    for act in [Activation::Relu, Activation::Gelu, Activation::GeluTanh, Activation::Silu] {
        let x: Vec<f64> = (0..16_001).map(|k| -8.0 + 1e-3 * f64::from(k)).collect();
        let (mut wide, mut narrow): (Vec<f64>, Vec<f32>) =
            (x.clone(), x.iter().map(|x| *x as f32).collect());
        activate(act, &mut wide);
        activate(act, &mut narrow);
        for ((x, wide), narrow) in x.iter().zip(wide).zip(narrow) {
            let (exact, rounded) = (act.value(*x), act.value(f64::from(*x as f32)));
            // The scalar tanh form loses the digits of its tail.
            let slack = |exact: f64, u: f64| match act {
                Activation::Relu => 0.0,
                Activation::GeluTanh => 12.0 * u * x.abs(),
                _ => 16.0 * u * exact.abs(),
            };
            assert!((wide - exact).abs() <= slack(exact, u), "{act:?} {x}: {wide:e} {exact:e}");
            let error = (f64::from(narrow) - rounded).abs();
            assert!(
                error <= slack(rounded, 0.5 * f64::from(f32::EPSILON)) + 1e-37,
                "{act:?} {x} in f32: {narrow:e} {rounded:e}"
            );
        }
        let mut ends = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, 1e300, -1e300];
        activate(act, &mut ends);
        assert!(
            ends[2].is_nan()
                && ends[3] == 0.0
                && ends[4].to_bits() == 1e300f64.to_bits()
                && ends[5] == 0.0,
            "{act:?} {ends:?}"
        );
    }
}
