//! Softmax means by differences to the leader, in lanes, against the formula.

use metastable::attention::shifted_softmax::{Scores, SoftmaxWorkspace};
use metastable::num::dense::mat_vec;
use metastable::num::simd::Isa;
use metastable::num::stream::Stream;
use metastable::sphere::Tokens;

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
        let means = out.to_vec();
        mat_vec(scores.value, &means, out);
    }
    out
}

#[test]
fn lanes_agree_with_the_formula() {
    let mut room = SoftmaxWorkspace::default();
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
        let expected = directly(&scores, &z);
        for isa in Isa::available() {
            let mut out = vec![0.0; n * d];
            scores.weighted_differences(&z, isa, &mut room, &mut out);
            // Scores reach 30 e^{log_scale}: their rounding is as many u in every weight.
            let tolerance = 1e-12 * f64::max(1.0, log_scale.exp() / 8.0);
            assert!(out.iter().zip(&expected).all(|(a, b)| (a - b).abs() < tolerance), "{n} {d} {}", isa.name());
        }
    }
}

#[test]
fn close_tokens_are_told_apart_far_from_the_first_one() {
    // Taken off -3 the others differ by 4504 roundoffs, not by 4503.
    let z = Tokens::flat(1, vec![-3.0, 1.0, 1.0 + 4503.0 * f64::EPSILON]).unwrap();
    let log_scale = 1e12f64.ln();
    let way = z.row(2)[0] - z.row(1)[0];
    let expected = way / (1.0 + (-log_scale.exp() * way).exp());
    for isa in Isa::available() {
        let mut out = vec![0.0; 3];
        Scores { form: &[1.0], value: &[1.0], log_scale, causal: false }.weighted_differences(
            &z,
            isa,
            &mut SoftmaxWorkspace::default(),
            &mut out,
        );
        // 4 u (1 + 64), and the rounding of the scale, 28 u.
        assert!((out[1] - expected).abs() < 300.0 * f64::EPSILON * expected, "{} {} {expected}", isa.name(), out[1]);
    }
}

#[test]
fn scores_beyond_every_number_leave_the_leader() {
    // Five tokens: with padding.
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
        // The scores of 0 are all alike.
        let expected = [1.0 + 1e-15, 1.0 + 1e-15, -1.0, 1.0 + 1e-15, z.mean()[0]];
        assert!(ends.zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{}", isa.name());
        // Far below every number all are alike.
        Scores { form: &[1.0], value: &[1.0], log_scale: -1e4, causal: false }.weighted_differences(
            &z,
            isa,
            &mut SoftmaxWorkspace::default(),
            &mut out,
        );
        assert!((out[0] - (z.mean()[0] - 1.0)).abs() < 1e-15, "{}", isa.name());
    }
}
