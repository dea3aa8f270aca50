//! Enclosed merge times of two clusters.

use metastable::attention::{RowWeights, TimeScale};
use metastable::num::interval::Interval;
use metastable::proofs::merge_time::enclosed_merge_time;
use metastable::theory::two_cluster::merge_time;

#[test]
fn bounds_are_narrow_and_contain_the_quadrature() {
    for weights in [RowWeights::Softmax, RowWeights::Exponential] {
        for beta in [0.0, 1.0, 9.0, 50.0, 120.0] {
            for (alpha, from, to) in [
                (0.5, 2.0, 0.5),
                (0.5, 3.1, 0.01),
                (0.1, 1.0, 0.9),
                (0.9, 3.0, 1e-3),
                (0.3, 2.5, 1e-9),
            ] {
                let what = format!("{weights:?} {beta} {alpha} {from} {to}");
                let found = enclosed_merge_time(weights, beta, alpha, from, to).expect(&what);
                metastable_verifier::check(&found.certificate).expect("an accepted certificate");
                let t = found.time;
                assert!(t.is_positive() && t.width() < 1e-9 * t.lo(), "{what}: {t:?}");
                let scale = (TimeScale::default(), 2);
                let other = merge_time(weights, scale, beta, alpha, from, to).expect(&what).value;
                // The quadrature is accurate to 1e-12; it loses four digits at angles near pi.
                assert!((other / t.mid() - 1.0).abs() < 1e-9, "{what}: {t:?} {other}");
            }
        }
    }
    for (beta, alpha, from, to) in [
        (-1.0, 0.5, 2.0, 1.0),
        (1.0, 0.0, 2.0, 1.0),
        (1.0, 0.5, 1.0, 2.0),
        (1.0, 0.5, 3.2, 1.0),
        (f64::NAN, 0.5, 2.0, 1.0),
    ] {
        assert!(enclosed_merge_time(RowWeights::Softmax, beta, alpha, from, to).is_err());
    }
    assert!(enclosed_merge_time(RowWeights::Sinkhorn, 1.0, 0.5, 2.0, 1.0).is_err());
}

/// The time of two clusters of equal masses.
fn time(weights: RowWeights, beta: f64, from: f64, to: f64) -> Interval {
    enclosed_merge_time(weights, beta, 0.5, from, to).expect("a time").time
}

#[test]
fn times_at_both_ends_have_their_digits() {
    // beta = 5, equal masses, from 2; computed with 30 digits. Near the end the angle falls like
    // e^-t, so a factor of 1e8 takes ln 1e8.
    for (to, wanted) in [
        (0.5, 131.451_095_735_950),
        (1e-8, 149.385_858_773_281),
        (1e-16, 167.806_539_517),
        (1e-200, 149.385_858_773_281 + 192.0 * 10f64.ln()),
        (1e-300, 821.740_705_928),
    ] {
        let t = time(RowWeights::Softmax, 5.0, 2.0, to);
        // The numbers have 9 decimals.
        assert!((t.mid() - wanted).abs() < 1e-9 && t.width() < 1e-10 * wanted, "{to} {t:?}");
    }
    // At beta = 0 the time is the difference of ln tan(theta / 2), also beside pi.
    let away = 1e-12;
    let from = std::f64::consts::PI - away;
    // pi itself is 1.2246e-16 above its double.
    let exact = std::f64::consts::PI - from + 1.224_646_799_147_353_2e-16;
    let t = time(RowWeights::Exponential, 0.0, from, 1.0);
    let wanted = -(0.5 * exact).ln() - 0.5f64.tan().ln();
    assert!((t.mid() / wanted - 1.0).abs() < 1e-13 && t.width() < 1e-10, "{t:?} {wanted}");
    let same = time(RowWeights::Softmax, 5.0, 2.0, 2.0);
    assert_eq!(same.width().to_bits(), f64::from_bits(1).to_bits());
    let t = time(RowWeights::Softmax, 5.0, 2f64.next_up(), 2.0);
    assert!(t.lo() >= 0.0 && t.hi() < 1e-10, "{t:?}");
}
