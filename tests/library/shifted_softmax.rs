//! Softmax means computed from differences to the leader, against the formula.

use metastable::attention::shifted_softmax::{Scores, SoftmaxWorkspace};
use metastable::num::dense::mat_vec;
use metastable::num::simd::Isa;
use metastable::num::stats::nan_max;
use metastable::num::stream::Stream;
use metastable::sphere::Tokens;

/// The formula, with exponentials of score minus largest score.
fn by_formula(scores: &Scores, z: &Tokens) -> Vec<f64> {
    let (n, d) = (z.n(), z.d());
    let mut out = vec![0.0; n * d];
    for (i, out) in out.chunks_exact_mut(d).enumerate() {
        let visible = if scores.causal { i + 1 } else { n };
        let score = |j: usize| -> f64 {
            (0..d * d).map(|k| scores.form[k] * z.row(i)[k % d] * z.row(j)[k / d]).sum()
        };
        let all: Vec<f64> = (0..visible).map(|j| scores.log_scale.exp() * score(j)).collect();
        let top = all.iter().copied().fold(f64::NEG_INFINITY, nan_max);
        let weights: Vec<f64> =
            all.iter().zip(z.masses()).map(|(s, m)| m * (s - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        for (j, w) in weights.iter().enumerate() {
            out.iter_mut()
                .enumerate()
                .for_each(|(c, o)| *o += w / total * (z.row(j)[c] - z.row(i)[c]));
        }
        let means = out.to_vec();
        mat_vec(scores.value, &means, out);
    }
    out
}

#[test]
fn weighted_differences_agree_with_the_formula() {
    let mut work = SoftmaxWorkspace::default();
    for (n, d, causal, log_scale) in [
        (1, 2, false, 0.0),
        (5, 3, false, 1.0),
        (40, 3, true, -2.0),
        (33, 5, false, 2.0),
        (7, 1, true, 0.5),
        (40, 3, false, 6.0),
        (19, 2, true, 7.0),
        (50, 6, false, 5.0),
    ] {
        let (mut x, mut form, mut value) = (vec![0.0; n * d], vec![0.0; d * d], vec![0.0; d * d]);
        let mut stream = Stream::new(n as u64, &["leaders"]);
        stream.normals(&mut x);
        stream.normals(&mut form);
        stream.normals(&mut value);
        let z = Tokens::flat(d, x).unwrap();
        let scores = Scores { form: &form, value: &value, log_scale, causal };
        let expected = by_formula(&scores, &z);
        for isa in Isa::available() {
            let mut out = vec![0.0; n * d];
            scores.weighted_differences(&z, isa, &mut work, &mut out);
            // Scores reach 30 e^{log_scale}, so every weight has a relative error of up to
            // 30 e^{log_scale} u.
            let tolerance = 1e-12 * (log_scale.exp() / 8.0).max(1.0);
            assert!(
                out.iter().zip(&expected).all(|(a, b)| (a - b).abs() < tolerance),
                "{n} {d} {}",
                isa.name()
            );
        }
    }
}

#[test]
fn close_tokens_far_from_the_first_one_are_resolved() {
    // The last two tokens differ by 4503 machine epsilons. After subtracting the first token, -3,
    // they would differ by 4504.
    let z = Tokens::flat(1, vec![-3.0, 1.0, 1.0 + 4503.0 * f64::EPSILON]).unwrap();
    let log_scale = 1e12f64.ln();
    let gap = z.row(2)[0] - z.row(1)[0];
    let expected = gap / (1.0 + (-log_scale.exp() * gap).exp());
    for isa in Isa::available() {
        let mut out = vec![0.0; 3];
        Scores { form: &[1.0], value: &[1.0], log_scale, causal: false }.weighted_differences(
            &z,
            isa,
            &mut SoftmaxWorkspace::default(),
            &mut out,
        );
        // The documented error is 4 u (1 + 64); the scale is rounded by 28 u.
        assert!(
            (out[1] - expected).abs() < 300.0 * f64::EPSILON * expected,
            "{} {} {expected}",
            isa.name(),
            out[1]
        );
    }
}

#[test]
fn infinite_scores_give_the_leader_and_zero_scores_the_mean() {
    // Five tokens do not fill whole vectors.
    let z = Tokens::flat(1, vec![1.0, 1.0 + 1e-15, -1.0, 0.5, 0.0]).unwrap();
    for isa in Isa::available() {
        let mut out = vec![0.0; 5];
        Scores { form: &[1.0], value: &[1.0], log_scale: 1e4, causal: false }.weighted_differences(
            &z,
            isa,
            &mut SoftmaxWorkspace::default(),
            &mut out,
        );
        let ends = z.coordinates().iter().zip(&out).map(|(z, v)| z + v);
        // All scores of the token 0 are equal.
        let expected = [1.0 + 1e-15, 1.0 + 1e-15, -1.0, 1.0 + 1e-15, z.mean()[0]];
        assert!(ends.zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{}", isa.name());
        // The scale underflows: all scores are equal.
        Scores { form: &[1.0], value: &[1.0], log_scale: -1e4, causal: false }
            .weighted_differences(&z, isa, &mut SoftmaxWorkspace::default(), &mut out);
        assert!((out[0] - (z.mean()[0] - 1.0)).abs() < 1e-15, "{}", isa.name());
    }
}
