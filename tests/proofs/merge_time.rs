//! Enclosed merge times of two clusters.

use metastable::attention::{RowWeights, TimeScale};
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
                let found = enclosed_merge_time(weights, beta, alpha, from, to).expect("a time");
                let t = found.time;
                metastable_verifier::check(&found.certificate).expect("an accepted certificate");
                assert!(
                    t.is_positive() && t.width() < 1e-9 * t.lo(),
                    "{weights:?} {beta} {alpha} {from} {to}: {t:?}"
                );
                let other = merge_time(weights, (TimeScale::default(), 2), beta, alpha, from, to)
                    .expect("a time")
                    .value;
                // The quadrature is accurate to 1e-12; it loses four digits at angles near pi.
                assert!(
                    (other / t.mid() - 1.0).abs() < 1e-9,
                    "{weights:?} {beta} {alpha} {from} {to}: {t:?} {other}"
                );
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

#[test]
fn times_at_both_ends_have_their_digits() {
    // beta = 5, equal masses, from 2; computed with 30 digits.
    for (to, wanted) in [
        (0.5, 131.451_095_735_950),
        (1e-8, 149.385_858_773_281),
        (1e-16, 167.806_539_517),
        (1e-300, 821.740_705_928),
    ] {
        let t = enclosed_merge_time(RowWeights::Softmax, 5.0, 0.5, 2.0, to).expect("a time").time;
        // The numbers have 9 decimals.
        assert!((t.mid() - wanted).abs() < 1e-9 && t.width() < 1e-10 * wanted, "{to} {t:?}");
    }
    // At beta = 0 the time is the difference of ln tan(theta / 2), also beside pi.
    let away = 1e-12;
    let from = std::f64::consts::PI - away;
    // pi itself is 1.2246e-16 above its double.
    let exact = std::f64::consts::PI - from + 1.224_646_799_147_353_2e-16;
    let t = enclosed_merge_time(RowWeights::Exponential, 0.0, 0.5, from, 1.0).expect("a time").time;
    let wanted = -(0.5 * exact).ln() - 0.5f64.tan().ln();
    assert!((t.mid() / wanted - 1.0).abs() < 1e-13 && t.width() < 1e-10, "{t:?} {wanted}");
    let same = enclosed_merge_time(RowWeights::Softmax, 5.0, 0.5, 2.0, 2.0).expect("a time");
    assert_eq!(same.time.width().to_bits(), f64::from_bits(1).to_bits());
    let near = 2f64.next_up();
    let t = enclosed_merge_time(RowWeights::Softmax, 5.0, 0.5, near, 2.0).expect("a time").time;
    assert!(t.lo() >= 0.0 && t.hi() < 1e-10, "{t:?}");
}
