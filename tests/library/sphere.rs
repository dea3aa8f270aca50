//! Tokens on the sphere: laws of masses, geodesics, hemispheres, smallest caps.

use metastable::num::deviation::{largest, least};
use metastable::num::{stream::Stream, sum::dot};
use metastable::sphere::Tokens;
use metastable::sphere::cap::{Hemisphere, hemisphere};
use metastable::sphere::geometry::{chord2, dist, exp, log, retract, tangent_basis, transport};
use metastable::sphere::mass_law::{MassLaw, usage};

fn weights(spec: &str, n: usize) -> Vec<f64> {
    let law = MassLaw::parse(spec).expect("a law").expect("valid");
    law.weights(n, &mut Stream::new(3, &["masses"]))
}

#[test]
fn powers_are_correctly_rounded() {
    // The quotients 1/i and 1/i^2 are correctly rounded by the processor (i^2 is exact).
    for (k, (one, two)) in
        weights("power", 2000).into_iter().zip(weights("power:s=2", 2000)).enumerate()
    {
        let i = (k + 1) as f64;
        assert_eq!(
            (one.to_bits(), two.to_bits()),
            ((1.0 / i).to_bits(), (1.0 / (i * i)).to_bits()),
            "{i}"
        );
    }
    // The double nearest to the square root of 1/2.
    assert_eq!(weights("power:0.5", 2)[1].to_bits(), std::f64::consts::FRAC_1_SQRT_2.to_bits());
    assert!(weights("power:0", 5).iter().all(|m| m.to_bits() == 1f64.to_bits()), "equal masses");
}

#[test]
fn one_token_has_its_share() {
    let m = weights("one-heavy:0.75", 5);
    let total: f64 = m.iter().sum();
    // The bound is five rounding errors, for five sums of numbers of size 1.
    assert!(
        (m[0] / total - 0.75).abs() < 5.0 * f64::EPSILON
            && m[1..].iter().all(|v| v.to_bits() == m[1].to_bits()),
        "{m:?}"
    );
    assert_eq!(weights("one-heavy", 1).len(), 1);
}

#[test]
fn drawn_masses_have_the_moments_of_their_law() {
    // Masses of Dirichlet(a, .., a): mean 1/n, variance (n - 1) / (n^2 (n a + 1)).
    for a in [0.3f64, 1.0, 4.0] {
        let (n, runs) = (4, 20_000u32);
        let law = MassLaw::parse(&format!("dirichlet:{a}")).expect("a law").expect("valid");
        let mut stream = Stream::new(5, &["moments"]);
        let (mut mean, mut square) = (0.0, 0.0);
        for _ in 0..runs {
            let w = law.weights(n, &mut stream);
            let first = w[0] / w.iter().sum::<f64>();
            assert!(w.iter().all(|v| *v > 0.0 && v.is_finite()));
            mean += first / f64::from(runs);
            square += (first - 0.25) * (first - 0.25) / f64::from(runs);
        }
        let variance = 3.0 / (16.0 * (4.0 * a + 1.0));
        // The bound is five standard errors of the mean and of the variance. The variance of the
        // latter follows from (m - 1/4)^2 <= 9/16.
        let error = 5.0 / f64::from(runs).sqrt();
        assert!((mean - 0.25).abs() < error * variance.sqrt(), "a = {a}: mean {mean}");
        assert!(
            (square - variance).abs() < error * (0.5625 * variance).sqrt(),
            "a = {a}: variance {square}, expected {variance}"
        );
    }
}

#[test]
fn wrong_laws_are_refused_with_the_right_form() {
    for (spec, expected) in [
        ("power:two", "power s: found two, expected a number"),
        ("power:-1", "power s: found -1, expected a number in [0, 20]"),
        ("power:exponent=2", "unknown parameter of masses `exponent`"),
        ("uniform:3", "unknown parameter of masses `3`"),
        ("dirichlet:0", "dirichlet a: found 0"),
    ] {
        let message =
            MassLaw::parse(spec).expect("a law").map(|_| ()).expect_err("wrong").to_string();
        assert!(message.contains(expected), "{spec}: {message}");
    }
    assert_eq!(usage(), "dirichlet:A, one-heavy:SHARE, power:S, uniform");
}

#[test]
fn exp_and_log_are_inverse_and_transport_is_an_isometry() {
    let (mut x, mut y) = (vec![0.3, -0.4, 0.5], vec![-0.2, 0.9, 0.1]);
    retract(&mut x);
    retract(&mut y);
    let u = log(&x, &y);
    assert!(dot(&u, &x).abs() < 4e-16);
    // The bound is four rounding errors u on vectors of length 1.
    assert!(chord2(&exp(&x, &u), &y).sqrt() < 8.0 * f64::EPSILON);
    let v = transport(&x, &y, &u);
    assert!((dot(&v, &v) - dot(&u, &u)).abs() < 8.0 * f64::EPSILON);
    assert!(dot(&v, &y).abs() < 8e-16);
    let basis = tangent_basis(&x);
    assert!(dot(&basis[..3], &x).abs() < 4e-16 && dot(&basis[..3], &basis[3..]).abs() < 4e-16);
}

#[test]
fn distance_near_the_antipode_keeps_its_digits() {
    let delta = 1e-9f64;
    let y = [-delta.cos(), delta.sin()];
    assert!((std::f64::consts::PI - dist(&[1.0, 0.0], &y) - delta).abs() < 1e-15);
}

/// A uniform point of the sphere in `R^d`.
fn uniform_point(s: &mut Stream, d: usize) -> Vec<f64> {
    let x: Vec<f64> = (0..d).map(|_| s.normal()).collect();
    let norm = dot(&x, &x).sqrt();
    x.iter().map(|v| v / norm).collect()
}

/// Two opposite tokens, both moved by m towards the last axis, so that the largest margin is m.
fn lifted(d: usize, m: f64) -> Tokens {
    let row = |side: f64| {
        (0..d).map(move |a| {
            if a == 0 {
                side
            } else if a == d - 1 {
                m
            } else {
                0.0
            }
        })
    };
    Tokens::new(d, row(1.0).chain(row(-1.0)).collect()).expect("unit rows")
}

#[test]
fn margins_below_the_rounding_error_prove_no_hemisphere() {
    for d in [2, 3, 7, 64] {
        let least = 16.0 * d as f64 * f64::EPSILON;
        assert!(
            matches!(hemisphere(&lifted(d, 1.05 * least)), Hemisphere::Open { margin, .. } if (margin / least - 1.05).abs() < 1e-12),
            "{d}"
        );
        let Hemisphere::None { residual, .. } = hemisphere(&lifted(d, 0.95 * least)) else {
            panic!("{d}")
        };
        // The residual bounds every possible margin.
        assert!(residual < least && residual > 0.9 * least, "{d} {residual}");
    }
}

#[test]
fn three_tokens_are_in_a_hemisphere_exactly_when_their_largest_gap_exceeds_a_half_turn() {
    for gap in [1e-13, 1e-10, 1e-6, 1e-3, 0.1] {
        let of = |gap: f64| {
            hemisphere(
                &Tokens::from_angles(&[0.3, 2.0, 0.3 - std::f64::consts::PI + gap])
                    .expect("angles"),
            )
        };
        // Coordinates have rounding errors of 1e-16.
        let Hemisphere::Open { margin, radius, .. } = of(-gap) else { panic!("{gap}") };
        assert!(
            (margin - (0.5 * gap).sin()).abs() < 1e-15
                && (radius - 0.5 * (std::f64::consts::PI - gap)).abs() < 1e-15,
            "{gap}"
        );
        let Hemisphere::None { weights, residual } = of(gap) else { panic!("{gap}") };
        assert!(residual < 1e-15 && weights.iter().all(|w| *w >= 0.0), "{gap}");
    }
}

#[test]
fn vectors_that_are_not_finite_have_no_direction() {
    for bad in [f64::NAN, f64::INFINITY] {
        for mut x in [[bad, 1.0], [1.0, bad], [bad, bad]] {
            assert!(!retract(&mut x), "{x:?}");
        }
    }
}

#[test]
fn certificates_hold_for_every_token_and_are_attained() {
    let mut s = Stream::new(1, &["hemispheres"]);
    let (mut open, mut none) = (0, 0);
    for _ in 0..4000 {
        let (n, d) = (2 + s.index(9), 2 + s.index(5));
        let x = Tokens::normalised(d, (0..n).flat_map(|_| uniform_point(&mut s, d)).collect())
            .expect("rows");
        match hemisphere(&x) {
            Hemisphere::Open { w, margin, radius } => {
                open += 1;
                let lowest = least(x.rows().map(|row| dot(row, &w)));
                let widest = largest(x.rows().map(|row| dist(row, &w)));
                let rounding = 8.0 * d as f64 * f64::EPSILON;
                assert!(
                    (margin - lowest).abs() < rounding
                        && (radius - widest).abs() < rounding
                        && (radius.cos() - margin).abs() < rounding
                );
                assert!((dot(&w, &w) - 1.0).abs() < rounding);
            }
            Hemisphere::None { weights, residual } => {
                none += 1;
                let sum: Vec<f64> =
                    (0..d).map(|a| (0..n).map(|i| weights[i] * x.row(i)[a]).sum()).collect();
                assert!(
                    (dot(&sum, &sum).sqrt() - residual).abs() < 1e-14 && residual < 1e-13,
                    "{n} {d} {residual}"
                );
                assert!(
                    (weights.iter().sum::<f64>() - 1.0).abs() < 1e-12
                        && weights.iter().all(|w| *w >= 0.0)
                );
            }
        }
    }
    assert!(open > 500 && none > 500, "{open} {none}");
}

#[test]
fn caps_are_the_smallest() {
    // The tokens on the rim of a known cap have its centre among their convex combinations. The
    // other tokens are well inside.
    let mut s = Stream::new(2, &["hemispheres"]);
    for case in 0..200 {
        let d = 2 + case % 5;
        let radius = [1.5, 0.7, 1e-2, 1e-5][case % 4];
        let centre = uniform_point(&mut s, d);
        let place = |u: &[f64], r: f64| -> Vec<f64> {
            let along = dot(u, &centre);
            let t: Vec<f64> = u.iter().zip(&centre).map(|(u, c)| u - along * c).collect();
            let norm = dot(&t, &t).sqrt();
            t.iter().zip(&centre).map(|(t, c)| r.cos() * c + r.sin() * t / norm).collect()
        };
        let mut rows = Vec::new();
        for _ in 0..d {
            let u = uniform_point(&mut s, d);
            rows.extend(place(&u, radius));
            rows.extend(place(&u.iter().map(|v| -v).collect::<Vec<_>>(), radius));
            rows.extend(place(&uniform_point(&mut s, d), 0.9 * radius));
        }
        let Hemisphere::Open { w, radius: found, .. } =
            hemisphere(&Tokens::normalised(d, rows).expect("rows"))
        else {
            panic!("{case}")
        };
        // Rounding of coordinates moves the rim by 1e-16. It moves the centre as much, if the
        // tokens on the rim are spread evenly.
        assert!((found - radius).abs() < 1e-15 + 1e-13 * radius, "{case} {found} {radius}");
        assert!(dist(&w, &centre) < 1e-13, "{case} {}", dist(&w, &centre));
    }
}
