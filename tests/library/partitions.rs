//! The theorem for large beta on the circle: its constant, its counts, its orbits.

use metastable::landscape::starts::polygons;
use metastable::theory::partitions::{cyclic_partitions, holds, orbits, threshold};

#[test]
fn the_condition_holds_for_every_larger_beta() {
    let masses: [&[f64]; 7] = [
        &[1.0; 3],
        &[1.0; 4],
        &[1.0; 6],
        &[1.0; 11],
        &[1.0, 2.0, 3.0, 4.0],
        &[1.0, 1.0, 40.0],
        &[0.01, 1.0, 1.0, 1.0, 5.0],
    ];
    for m in masses {
        let least = threshold(m).expect("masses");
        assert!(!holds(m, least * (1.0 - 1e-9)).expect("masses"), "{m:?}");
        let mut beta = least;
        while beta < 1e6 {
            assert!(holds(m, beta).expect("masses"), "{m:?} {beta} {least}");
            beta *= 1.003;
        }
        // Only ratios count.
        let scaled: Vec<f64> = m.iter().map(|v| 7.0 * v).collect();
        let other = threshold(&scaled).expect("masses");
        assert!((other - least).abs() <= 1e-9 * least, "{m:?}: {least} {other}");
    }
    for (n, printed) in
        [(3, 0.81), (4, 2.58), (5, 5.52), (6, 9.47), (7, 14.44), (8, 20.5), (9, 27.72), (10, 36.13)]
    {
        let least = threshold(&vec![1.0; n]).expect("masses");
        assert!(least <= printed && printed - least < 0.01, "{n}: {least}");
    }
    assert!(threshold(&[2.0, 5.0]).is_ok_and(|b| b.abs() < f64::MIN_POSITIVE));
    assert!(threshold(&[1e-300, 1e-300, 1.0]).is_ok_and(f64::is_infinite));
}

#[test]
fn partitions_and_orbits_are_counted() {
    // (k-1)! S(n, k) for n = 7.
    assert_eq!(cyclic_partitions(7), [1.0, 63.0, 602.0, 2100.0, 3360.0, 2520.0, 720.0]);
    for n in 2..=12 {
        // The alternating sum is the Euler characteristic of a torus.
        let counts = cyclic_partitions(n).into_iter().enumerate();
        let sum: f64 = counts.map(|(k, c)| if k % 2 == 0 { c } else { -c }).sum();
        assert!(sum.abs() < 0.5, "{n}: {sum}");
        // One cluster, two clusters, polygons.
        assert_eq!(orbits(n), 1 + n / 2 + polygons(n).len(), "{n}");
    }
}

#[test]
fn masses_that_have_no_theorem_are_refused() {
    for masses in [&[1.0][..], &[1.0, 0.0], &[1.0, -1.0, 2.0], &[1.0, f64::NAN], &[]] {
        let refused = threshold(masses).expect_err("refused").to_string();
        assert!(refused.contains("masses"), "{refused}");
        assert!(holds(masses, 3.0).is_err());
    }
    assert!(!holds(&[1.0; 3], -1.0).expect("masses"));
    assert!(!holds(&[1.0; 2], 0.0).expect("masses") && holds(&[1.0; 2], 0.1).expect("masses"));
}
