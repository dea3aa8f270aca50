//! Quantities fitted to trained models: the beta of a head, the spectra of its matrices.

use metastable::attention::pattern::FullAttention;
use metastable::num::dense::{eigenvalues, mul, symmetric_eigenvalues};
use metastable::num::{stats::nan_min, stream::Stream};
use metastable::transformer::observe::{Cloud, SaReference, head_form};
use metastable::transformer::random::{BlockSizes, random_block};
use metastable::transformer::{BlockPart, NormPlacement};
use std::sync::Arc;

/// The drift of SA on every token, divided by the largest weight of another token. Sums leave out
/// the token itself.
fn drifts(x: &[f64], d: usize, beta: f64) -> Vec<f64> {
    let rows: Vec<&[f64]> = x.chunks_exact(d).collect();
    let gap = |i: usize, j: usize| {
        0.5 * rows[i].iter().zip(rows[j]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
    };
    let pairs = (0..rows.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let least = pairs.map(|(i, j)| gap(i, j)).filter(|s| *s > 0.0).fold(f64::INFINITY, nan_min);
    let mut out = vec![0.0; x.len()];
    for i in 0..rows.len() {
        let total: f64 = (0..rows.len()).map(|j| (-beta * gap(i, j)).exp()).sum();
        for j in (0..rows.len()).filter(|j| gap(i, *j) > 0.0) {
            let w = (-beta * (gap(i, j) - least)).exp() / total;
            out[i * d..(i + 1) * d]
                .iter_mut()
                .zip(rows[j].iter().zip(rows[i]))
                .for_each(|(o, (y, x))| *o += w * (y - x));
        }
    }
    out
}

/// Seven tokens on the circle at irregular angles, the nearest 0.4 apart. At beta = 64 the largest
/// weight of another token is e^{-5}, and most are below e^{-16}.
fn ring() -> Vec<f64> {
    [0.0f64, 0.4, 1.1, 2.0, 3.1, 4.0, 5.2].iter().flat_map(|t| [t.cos(), t.sin()]).collect()
}

#[test]
fn the_fitted_beta_is_exact_for_separated_tokens_at_large_beta() {
    let x = ring();
    let cloud = Cloud::new(&x, 2);
    let reference = SaReference::new(&cloud, false);
    for beta in [1.0, 8.0, 64.0] {
        let fit = reference.fit(&[1.0; 7], &drifts(&x, 2, beta));
        // The bound is 16 rounding errors of a cosine.
        assert!(
            (fit.beta - beta).abs() < 1e-9 * beta && fit.cosine > 1.0 - 16.0 * f64::EPSILON,
            "{beta}: {fit:?}"
        );
    }
    // At beta = 128 only one pair moves, as at the largest beta that is tried: the drifts differ
    // only by rounding, so there is no fit.
    assert!(reference.fit(&[1.0; 7], &drifts(&x, 2, 128.0)).beta.is_nan());
}

#[test]
fn an_unresolved_drift_has_no_beta() {
    // All tokens agree in direction up to rounding.
    let x: Vec<f64> = (0..7).flat_map(|k| [1.0, f64::EPSILON * f64::from(k % 3)]).collect();
    let cloud = Cloud::new(&x, 2);
    let a: Vec<f64> = (0..14).map(|k| f64::from(k * k % 5) - 2.0).collect();
    assert!(SaReference::new(&cloud, false).fit(&[1.0; 7], &a).beta.is_nan());
    // A head whose drift is only rounding.
    let x = ring();
    let cloud = Cloud::new(&x, 2);
    let still: Vec<f64> = x
        .iter()
        .enumerate()
        .map(|(k, v)| v * (1.0 + f64::EPSILON * f64::from(k as u32 % 3)))
        .collect();
    let fit = SaReference::new(&cloud, false).fit(&[1.0; 7], &still);
    assert!(fit.beta.is_nan() && fit.reliable_beta().is_none(), "{fit:?}");
}

#[test]
fn a_repulsive_head_has_no_reliable_beta() {
    let x = ring();
    let cloud = Cloud::new(&x, 2);
    let away: Vec<f64> = drifts(&x, 2, 8.0).iter().map(|v| -v).collect();
    let fit = SaReference::new(&cloud, false).fit(&[1.0; 7], &away);
    assert!(fit.cosine < 0.0 && fit.reliable_beta().is_none(), "{fit:?}");
}

#[test]
fn coincident_tokens_do_not_spoil_the_fit() {
    // Two equal tokens, as two equal words at the first layer of a model with rotary positions.
    let mut x = ring();
    x.extend_from_slice(&ring()[..2]);
    let cloud = Cloud::new(&x, 2);
    let fit = SaReference::new(&cloud, false).fit(&[1.0; 8], &drifts(&x, 2, 64.0));
    assert!(
        (fit.beta - 64.0).abs() < 1e-9 * 64.0 && fit.cosine > 1.0 - 16.0 * f64::EPSILON,
        "{fit:?}"
    );
}

/// Spectra of the factors against those of the d x d matrices.
#[test]
fn spectra_agree_with_the_full_matrices() {
    let (d, heads) = (12, 3);
    let s = d / heads;
    let sizes = BlockSizes { d, heads, hidden: 0, size: 1.0, place: NormPlacement::Pre };
    let block = random_block(&mut Stream::new(1, &["forms"]), &sizes, Arc::new(FullAttention))
        .expect("a block");
    let BlockPart::Attention(of) = &block.parts[0].part else { panic!("attention") };
    for h in 0..heads {
        let (o, v) = (of.output.weight(), of.value.weight());
        let columns: Vec<f64> = (0..d * s).map(|k| o[k / s * d + h * s + k % s]).collect();
        let full = mul(&columns, &v[h * s * d..(h + 1) * s * d], d);
        let even: Vec<f64> =
            (0..d * d).map(|k| 0.5 * (full[k] + full[k % d * d + k / d])).collect();
        let found = head_form(of, h);
        let mut all = eigenvalues(&full, d).expect("eigenvalues");
        all.sort_by(|a, b| b.0.hypot(b.1).total_cmp(&a.0.hypot(a.1)));
        assert!(all[s..].iter().all(|z| z.0.hypot(z.1) < 1e-6));
        for z in &found.values {
            assert!(all[..s].iter().any(|w| (z.0 - w.0).hypot(z.1 - w.1) < 1e-12), "{z:?}");
        }
        let mut expected = symmetric_eigenvalues(&even, d).expect("eigenvalues");
        assert_eq!((found.values.len(), found.symmetric.len()), (s, 2 * s));
        expected.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
        expected.truncate(2 * s);
        expected.sort_by(f64::total_cmp);
        assert!(
            found.symmetric.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13),
            "{:?} {expected:?}",
            found.symmetric
        );
        assert!(found.real().0 >= 0.0 && found.symmetric_ends().0 >= found.real().0 - 1e-12);
    }
}
