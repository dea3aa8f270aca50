//! Modes of density estimates whose kernel is an interaction on the circle.

use crate::given::phi;
use metastable::Result;
use metastable::num::{deviation::largest, stream::Stream};
use metastable::proofs::modes::{circle, interaction};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

fn angles(n: usize, stream: &mut Stream) -> Vec<f64> {
    (0..n).map(|_| stream.uniform_in(-4.0, 8.0)).collect()
}

/// The distance of two angles.
fn gap(a: f64, b: f64) -> f64 {
    let d = (a - b).rem_euclid(TAU);
    d.min(TAU - d)
}

#[test]
fn exponentials_have_the_modes_of_the_built_in_kernel() -> Result<()> {
    let mut stream = Stream::new(12, &["interaction modes"]);
    let (mut proved, mut others, mut worst) = (0, 0, 0.0f64);
    for (beta, text) in [(4.0, "exp(4*s)"), (0.7, "exp:beta=0.7"), (30.0, "gauss:k=30")] {
        let kernel = phi(text);
        for trial in 0..60 {
            let samples = angles(1 + trial % 24, &mut stream);
            let known = circle(&samples, beta)?;
            let found = interaction(&samples, &kernel)?;
            assert!(known.lower_bound() >= 1 && found.lower_bound() >= 1);
            let (Ok(a), Ok(b)) = (known.locations(), found.locations()) else { continue };
            assert_eq!(a.len(), b.len(), "{text} {samples:?}");
            worst = largest(a.iter().zip(b).map(|(a, b)| gap(*a, *b)).chain([worst]));
            proved += 1;
            // The test tells this bandwidth from another one.
            let other = circle(&samples, 3.0 * beta)?;
            others += usize::from(other.count().is_ok_and(|count| count != a.len()));
        }
    }
    println!("{proved} of 180 proved, {others} differ at another bandwidth, places to {worst:.1e}");
    assert!(proved >= 175 && others >= 20 && worst < 1e-8, "{proved} {others} {worst:e}");
    Ok(())
}

#[test]
fn harmonics_and_powers_have_the_modes_of_their_closed_forms() -> Result<()> {
    let mut stream = Stream::new(13, &["interaction modes"]);
    for n in [1, 2, 7, 40] {
        let samples = angles(n, &mut stream);
        // cos k theta about any samples is |A_k| cos(k theta - shift).
        for (text, count) in [("s", 1), ("s^2", 2), ("chebyshev:0,0,0,1", 3), ("4*s^3 - 3*s", 3)] {
            let found = interaction(&samples, &phi(text))?;
            assert_eq!(found.count()?, count, "{text} {samples:?}");
            let k = count as f64;
            let (sin, cos) =
                samples.iter().fold((0.0, 0.0), |(s, c), a| (s + (k * a).sin(), c + (k * a).cos()));
            let first = f64::atan2(sin, cos).rem_euclid(TAU) / k;
            assert!(gap(k * found.locations()?[0], k * first) < 1e-11, "{text}");
        }
        // -phi has its modes between those of phi.
        assert_eq!(interaction(&samples, &phi("-s"))?.count()?, 1);
    }
    // A narrow kernel of bounded support in effect: one mode for each sample.
    let comb: Vec<f64> = (0..12).map(|k| TAU * f64::from(k) / 12.0).collect();
    let found = interaction(&comb, &phi("((1 + s)/2)^200"))?;
    assert_eq!(found.count()?, 12);
    assert!(found.locations()?.iter().zip(&comb).all(|(a, b)| gap(*a, *b) < 1e-10));
    Ok(())
}

#[test]
fn estimates_that_may_be_constant_have_no_proved_mode() -> Result<()> {
    for (samples, text) in [
        (vec![0.0, FRAC_PI_2], "s^2"),
        (vec![0.0, PI], "s"),
        (vec![0.3, 0.3 + TAU / 3.0, 0.3 + 2.0 * TAU / 3.0], "s^2"),
    ] {
        let found = interaction(&samples, &phi(text))?;
        assert!(!found.is_proved() && found.lower_bound() == 0, "{text}: {found:?}");
        assert!(found.count().is_err());
    }
    // A constant kernel has no mode, and that is proved; next to the degenerate samples there is
    // one.
    assert_eq!(interaction(&[0.0, 1.0], &phi("2"))?.count(), Ok(0));
    assert_eq!(interaction(&[0.0, PI - 1e-6], &phi("s"))?.count(), Ok(1));
    Ok(())
}

/// `1/(c - cos t)` has its inflection at `cos^2 t + c cos t = 2`: two samples at twice this
/// distance have merged modes.
#[test]
fn pairs_near_merging_are_counted_correctly_or_not_at_all() -> Result<()> {
    let (kernel, c) = (phi("1/(1.2 - s)"), 1.2f64);
    let half = (0.5 * ((c * c + 8.0).sqrt() - c)).acos();
    for k in 3..16 {
        let share = 10f64.powi(-k);
        for (sign, count) in [(-1.0, 1), (1.0, 2)] {
            let t = half * (1.0 + sign * share);
            let found = interaction(&[1.0 - t, 1.0 + t], &kernel)?;
            let resolved = k <= 7;
            let proved = found.count();
            assert!(proved.as_ref().map_or(!resolved, |c| *c == count), "{k} {count} {proved:?}");
            assert!((1..=count).contains(&found.lower_bound()));
        }
    }
    Ok(())
}

#[test]
fn kernels_without_two_derivatives_or_with_long_series_are_refused() -> Result<()> {
    for (text, reason) in [
        ("relu:p=1", "a kink at s = 0"),
        ("abs(s - 0.25)", "a kink at s = 0.25"),
        ("1/(1.001 - s)", "terms"),
    ] {
        let found = interaction(&[0.0, 1.0], &phi(text)).expect_err(text).to_string();
        assert!(found.contains(reason) && found.starts_with("interaction"), "{found}");
    }
    assert!(interaction(&[], &phi("s")).is_err());
    let wrong = interaction(&[0.0, f64::NAN], &phi("s")).expect_err("not finite").to_string();
    assert!(wrong.contains("NaN"), "{wrong}");
    Ok(())
}
