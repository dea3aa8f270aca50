//! Every registered dynamics and law is tested by one suite.

use metastable::attention::{Spec, dynamics};
use metastable::num::{deviation::largest, stream::Stream, sum::dot};
use metastable::sphere::{Tokens, law};
use metastable::theorem::conformance::suite;

#[test]
fn every_dynamics_has_its_declared_properties() {
    for entry in dynamics::ALL {
        for seed in 0..5 {
            for check in suite(&|spec: &Spec| (entry.build)(spec), seed).expect("the suite runs") {
                assert!(
                    check.passed(),
                    "{} (seed {seed}): {} = {:e} > {:e}",
                    entry.name,
                    check.what,
                    check.value,
                    check.bound
                );
            }
        }
    }
}

#[test]
fn every_law_draws_unit_vectors_reproducibly() {
    for entry in law::ALL {
        let law = law::Law::parse(entry.name).expect("a registered name");
        assert_eq!(
            law.spec(),
            law::Law::parse(&law.spec()).expect("canonical").spec(),
            "{}",
            entry.name
        );
        let draw = |seed| law.sample(5, 6, &mut Stream::new(seed, &["law"]));
        let x: Tokens = draw(1).expect("n = 5 tokens in d = 6 exist for every law");
        assert_eq!((x.n(), x.d()), (5, 6));
        assert!(x.rows().all(|r| (dot(r, r) - 1.0).abs() < 8.0 * f64::EPSILON), "{}", entry.name);
        assert_eq!(
            x,
            draw(1).expect("valid"),
            "{}: the same stream must give the same tokens",
            entry.name
        );
        assert!(
            law.sample(0, 3, &mut Stream::new(1, &[])).is_err()
                && law.sample(3, 1, &mut Stream::new(1, &[])).is_err()
        );
    }
}

#[test]
fn uniform_tokens_are_uniform() {
    // The first coordinate on S^2 is uniform on [-1, 1] (Archimedes). The bound is the
    // Kolmogorov-Smirnov distance of 10^5 draws at significance 1e-6.
    let x = law::Law::parse("uniform")
        .expect("registered")
        .sample(100_000, 3, &mut Stream::new(11, &[]))
        .expect("valid");
    let mut heights: Vec<f64> = x.rows().map(|r| 0.5 * (r[0] + 1.0)).collect();
    heights.sort_by(f64::total_cmp);
    let n = heights.len() as f64;
    let distance =
        largest(heights.iter().enumerate().map(|(i, h)| (h - (i as f64 + 0.5) / n).abs()));
    assert!(distance < (-(0.5e-6f64).ln() / (2.0 * n)).sqrt(), "{distance}");
    // Uniform on a cap of radius r: for d = 3, cos(theta) is uniform on [cos r, 1].
    let x = law::Law::parse("cap:radius=0.8")
        .expect("registered")
        .sample(50_000, 3, &mut Stream::new(12, &[]))
        .expect("valid");
    let mut heights: Vec<f64> =
        x.rows().map(|r| (r[0] - 0.8f64.cos()) / (1.0 - 0.8f64.cos())).collect();
    heights.sort_by(f64::total_cmp);
    let n = heights.len() as f64;
    let distance =
        largest(heights.iter().enumerate().map(|(i, h)| (h - (i as f64 + 0.5) / n).abs()));
    assert!(distance < (-(0.5e-6f64).ln() / (2.0 * n)).sqrt(), "{distance}");
}
