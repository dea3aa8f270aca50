//! Enclosed merge times of two clusters.

use metastable::attention::{RowWeights, TimeScale};
use metastable::proofs::merge_time::enclosed_merge_time;
use metastable::theory::two_cluster::merge_time;

#[test]
fn bounds_are_narrow_and_contain_the_quadrature() {
    for weights in [RowWeights::Softmax, RowWeights::Exponential] {
        for beta in [0.0, 1.0, 9.0, 50.0, 120.0] {
            for (alpha, from, to) in
                [(0.5, 2.0, 0.5), (0.5, 3.1, 0.01), (0.1, 1.0, 0.9), (0.9, 3.0, 1e-3)]
            {
                let t = enclosed_merge_time(weights, beta, alpha, from, to).expect("a time");
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
