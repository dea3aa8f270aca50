//! Linear theory and critical points of any interaction against closed forms, the exponential's own
//! code, and each other.

use metastable::Result;
use metastable::attention::interaction::{Interaction, InteractionEnergy, RowSum};
use metastable::attention::{RowWeights, TimeScale};
use metastable::landscape::interaction::{InteractionCriticalPoint, InteractionSpectrum};
use metastable::landscape::{CriticalPoint, Spectrum, search::Search};
use metastable::num::{gegenbauer::scaled_funk_hecke, stats::nan_max, vector::max_abs};
use metastable::sphere::Tokens;
use metastable::theory::interaction::Coefficient;
use metastable::theory::{growth, interaction, spectra};
use std::f64::consts::TAU;

fn phi(text: &str) -> Interaction {
    Interaction::parse(text, &[]).expect("an interaction")
}

fn polygon(n: usize) -> Tokens {
    let angles: Vec<f64> = (0..n).map(|k| TAU * k as f64 / n as f64).collect();
    Tokens::from_angles(&angles).expect("angles")
}

#[test]
fn coefficients_and_growth_rates_of_exponentials_are_bessel_ratios() -> Result<()> {
    for (d, beta) in [(2, 3.0), (3, 5.0), (10, 8.0), (100, 2.0)] {
        let exp = phi(&format!("exp:beta={beta}"));
        let found = interaction::funk_hecke(&exp, d, 12)?;
        let scale = f64::exp(beta);
        for (k, expected) in scaled_funk_hecke(d, 12, beta).iter().enumerate() {
            let gap = (found[k].value - scale * expected).abs();
            let mean = found[0].value;
            assert!(gap <= found[k].error + 4e-15 * mean, "d {d} k {k}: {gap:e}");
            assert!(found[k].error < 1e-13 * scale, "d {d} k {k}: {:e}", found[k].error);
        }
        let rates = interaction::growth_rates(&exp, RowSum::Normalised, d, 8)?;
        for (k, expected) in growth::rates_sa(d, beta, 8)?.iter().enumerate() {
            let Coefficient { value, error } = rates[k];
            assert!((value - expected).abs() <= error + 1e-13, "d {d} k {k}: {value} {expected}");
        }
        let rates = interaction::growth_rates(&exp, RowSum::Plain, d, 8)?;
        let known = growth::rates(RowWeights::Exponential, d, beta, 8, TimeScale::U1, 1)?;
        for (k, expected) in known.iter().enumerate() {
            let Coefficient { value, error } = rates[k];
            assert!((value - expected).abs() <= error + 1e-13 * scale, "d {d} k {k}");
        }
    }
    Ok(())
}

#[test]
fn coefficients_of_powers_and_kinks_are_their_closed_forms() -> Result<()> {
    // s^3 = (3 P_1 + 2 P_3) / 5 on S^2, so lambda_1 = 1/5 and lambda_3 = 2/35.
    let cubic = interaction::funk_hecke(&phi("power:p=3"), 3, 4)?;
    for (k, expected) in [0.0, 0.2, 0.0, 2.0 / 35.0, 0.0].into_iter().enumerate() {
        assert!((cubic[k].value - expected).abs() < 1e-15, "{k}: {:?}", cubic[k]);
    }
    // max(s, 0) on S^2: 1/4, 1/6, 1/16, 0, -1/96.
    let relu = interaction::funk_hecke(&phi("relu:p=1"), 3, 4)?;
    for (k, expected) in [0.25, 1.0 / 6.0, 1.0 / 16.0, 0.0, -1.0 / 96.0].into_iter().enumerate() {
        assert!((relu[k].value - expected).abs() < 1e-15, "{k}: {:?}", relu[k]);
    }
    // On the circle they are half the Chebyshev coefficients.
    let steep = phi("sigmoid:k=9");
    let series = steep.series()[0].coefficients();
    for (k, found) in interaction::funk_hecke(&steep, 2, 20)?.iter().enumerate() {
        let expected = if k == 0 { series[0] } else { 0.5 * series[k] };
        assert!((found.value - expected).abs() < 1e-15, "{k}");
    }
    Ok(())
}

/// `relu(s)^2` has one derivative at 0, not two. Polygons of a multiple of four
/// corners have corners there.
#[test]
fn polygon_rates_need_one_derivative() -> Result<()> {
    for n in [4, 8, 12] {
        let (rates, error) =
            interaction::polygon_rates_with_error(&phi("relu:p=2"), RowSum::Plain, n)?;
        let angle = |k: usize| std::f64::consts::TAU * k as f64 / n as f64;
        // f(a) = c^2 sin a where c = cos a is positive, so f' = c^3 - 2 c sin^2 a.
        let slope = |a: f64| {
            let c = a.cos().max(0.0);
            c.powi(3) - 2.0 * c * a.sin().powi(2)
        };
        for (q, rate) in rates.iter().enumerate() {
            let terms = (0..n).map(|j| slope(angle(j)) * ((q as f64 * angle(j)).cos() - 1.0));
            let expected = terms.sum::<f64>() / n as f64;
            assert!((rate - expected).abs() < 1e-14, "n {n} q {q}: {rate} {expected}");
        }
        assert!(error > 0.0 && error < 1e-13, "{error}");
    }
    // A kink of phi itself is refused.
    assert!(interaction::polygon_rates(&phi("relu:p=1"), RowSum::Plain, 4).is_err());
    Ok(())
}

#[test]
fn polygon_rates_are_eigenvalues_and_sums_of_fourier_coefficients() -> Result<()> {
    for text in ["exp:beta=4", "power:p=3", "sigmoid:k=9", "log:c=0.5", "exp(s) - 2*s^2"] {
        let one = phi(text);
        let scale = one.sizes().0 + one.sizes().1;
        let fourier = interaction::fourier_coefficients(&one)?;
        for n in [2, 3, 4, 5, 8, 13] {
            let rates = interaction::polygon_rates(&one, RowSum::Plain, n)?;
            for (q, rate) in rates.iter().enumerate() {
                let mut expected = 0.0;
                for (k, a) in fourier.iter().enumerate() {
                    let square = (k * k) as f64 * a;
                    expected += 0.5 * square * f64::from(u8::from(k % n == q));
                    expected += 0.5 * square * f64::from(u8::from((k + q) % n == 0));
                    expected -= square * f64::from(u8::from(k % n == 0));
                }
                let gap = (rate - expected).abs();
                assert!(gap < 2e-13 * scale, "{text} n {n} q {q}: {gap:e}");
            }
            // The Hessian of the energy has the same eigenvalues.
            let energy = InteractionEnergy::new(one.clone());
            let spectrum = InteractionSpectrum::of_tokens(&energy, &polygon(n))?;
            let mut sorted = rates.clone();
            sorted.sort_by(f64::total_cmp);
            for (a, b) in spectrum.values.iter().zip(&sorted) {
                assert!((a - b).abs() < 1e-13 * scale, "{text} n {n}: {a} {b}");
            }
        }
    }
    let exp = phi("exp:beta=4");
    for (row_sum, weights) in
        [(RowSum::Plain, RowWeights::Exponential), (RowSum::Normalised, RowWeights::Softmax)]
    {
        let (mut found, error) = interaction::polygon_rates_with_error(&exp, row_sum, 7)?;
        let (mut known, own) =
            (spectra::polygon(weights, 7, 4.0)?, spectra::polygon_error(weights, 7, 4.0)?);
        found.sort_by(f64::total_cmp);
        known.sort_by(f64::total_cmp);
        let scale = nan_max(1.0, max_abs(&known));
        for (a, b) in found.iter().zip(&known) {
            assert!((a - b).abs() <= error + own, "{weights:?}: {found:?} {known:?}");
            assert!(error + own < 1e-11 * scale, "{weights:?}: {error:e} {own:e}");
        }
    }
    // s^3 at the triangle and the pentagon, in closed form.
    for (n, rate) in [(3, 0.5), (5, 0.25)] {
        let (found, error) =
            interaction::polygon_rates_with_error(&phi("power:p=3"), RowSum::Plain, n)?;
        assert!(error < 1e-13, "n {n}: {error:e}");
        for (q, value) in found.iter().enumerate() {
            let expected = if q == 0 { 0.0 } else { rate };
            assert!((value - expected).abs() <= error, "n {n} q {q}: {value}");
        }
    }
    Ok(())
}

#[test]
fn critical_points_of_exponentials_are_those_of_their_own_code() -> Result<()> {
    let beta = 8.0;
    let energy = InteractionEnergy::new(phi(&format!("exp:beta={beta}")));
    for (angles, sizes) in
        [(vec![0.01, 2.1, 4.2], vec![1, 1, 1]), (vec![0.0, 3.1], vec![2, 1]), (vec![0.3], vec![4])]
    {
        let n: usize = sizes.iter().sum();
        let masses: Vec<f64> = sizes.iter().map(|s| *s as f64 / n as f64).collect();
        let start = Tokens::from_angles(&angles)?.with_masses(&masses)?;
        let found = InteractionCriticalPoint::near(&energy, &start, &sizes)?;
        let known = CriticalPoint::near(beta, &start, &sizes)?;
        assert_eq!(
            (found.spectrum.unstable, found.spectrum.nullity, found.spectrum.rotations),
            (known.spectrum.unstable, known.spectrum.nullity, known.spectrum.rotations),
            "{angles:?}"
        );
        // The known spectrum is scaled by e^{-beta}.
        let values = Spectrum::of_clusters(beta, &known.clusters, &sizes)?.values;
        for (a, b) in found.spectrum.values.iter().zip(&values) {
            assert!((a * (-beta).exp() - b).abs() < 1e-12, "{angles:?}: {a} {b}");
        }
    }
    Ok(())
}

/// Rates far below the largest phi have their signs, and forces there their digits.
#[test]
fn small_rates_are_resolved() -> Result<()> {
    let of = |energy: &InteractionEnergy, angles: &[f64]| {
        let start = Tokens::from_angles(angles)?;
        InteractionCriticalPoint::near(energy, &start, &vec![1; angles.len()])
    };
    // Opposite tokens: one rotation, and the rate phi(-1) of leaving the antipode.
    for k in [9.0, 60.0] {
        let energy = InteractionEnergy::new(phi(&format!("sigmoid:k={k}")));
        for near in [3.0, 2.6] {
            let found = of(&energy, &[0.0, near])?;
            let s = &found.spectrum;
            assert_eq!((s.unstable, s.stable, s.nullity, s.rotations), (1, 0, 0, 1), "k = {k}");
            let expected = 1.0 / (1.0 + f64::exp(k));
            let rate = s.values[1];
            assert!((rate / expected - 1.0).abs() < 1e-9, "k = {k}: {rate:e} {expected:e}");
            assert!((found.angles[0] - std::f64::consts::PI).abs() < 1e-7, "k = {k}");
        }
        // A third token at one of them: the same for two clusters.
        let pair = Tokens::from_angles(&[0.0, 3.0])?.with_masses(&[2.0, 1.0])?;
        let s = InteractionCriticalPoint::near(&energy, &pair, &[2, 1])?.spectrum;
        assert_eq!((s.unstable, s.stable, s.nullity), (1, 1, 0), "k = {k}");
    }
    // Orthogonal tokens are degenerate under s^3: the force is a cube of the distance.
    let s = of(&InteractionEnergy::new(phi("power:p=3")), &[0.0, 1.4])?.spectrum;
    assert_eq!((s.unstable, s.stable, s.nullity), (0, 0, 1));
    Ok(())
}

#[test]
fn consensus_rates_are_values_at_one() -> Result<()> {
    let one = phi("power:p=3");
    assert!((interaction::consensus_rate(&one, RowSum::Plain)? - 1.0).abs() < 1e-16);
    let odd = phi("-s");
    assert!(interaction::consensus_rate(&odd, RowSum::Normalised).is_err());
    // The spectrum at one point of four tokens on S^2: -phi(1) for six directions, 0 for two.
    let energy = InteractionEnergy::new(phi("1 + s + s^2"));
    let x = Tokens::new(3, vec![0.0, 0.0, 1.0])?;
    let spectrum = InteractionSpectrum::of_clusters(&energy, &x, &[4])?;
    assert_eq!((spectrum.stable, spectrum.unstable, spectrum.rotations), (6, 0, 2));
    assert!(spectrum.values[..6].iter().all(|v| (v + 3.0).abs() < 1e-14));
    Ok(())
}

#[test]
fn searches_find_the_known_landscapes() -> Result<()> {
    let search = |text: &str, n: usize, d: usize| {
        let energy = InteractionEnergy::new(phi(text));
        Search { energy, n, d, starts: 60, max_starts: 60, fixed: true, seed: 1 }.run()
    };
    // The exponential on S^2: as in the documentation of its own search.
    let found = search("exp:beta=4", 4, 3)?;
    let unstable: Vec<usize> = found.points.iter().map(|p| p.spectrum.unstable).collect();
    assert_eq!(unstable, [0, 2, 2, 3, 4, 5]);
    // W = s^4/4 is even: every split between two opposite points is a maximum of energy 1/8.
    let maxima = |text: &str, n: usize| -> Result<Vec<(usize, f64)>> {
        let all = search(text, n, 2)?.points;
        let top = all.iter().filter(|p| p.spectrum.unstable == 0 && p.spectrum.nullity == 0);
        Ok(top.map(|p| (p.clusters.n(), p.energy)).collect())
    };
    let cubic = maxima("power:p=3", 5)?;
    assert!(cubic.iter().all(|(k, e)| *k <= 2 && (e - 0.125).abs() < 1e-12), "{cubic:?}");
    // 1 + s is positive and increasing: one cluster is the only maximum found.
    assert_eq!(maxima("1 + s", 5)?.len(), 1);
    Ok(())
}
