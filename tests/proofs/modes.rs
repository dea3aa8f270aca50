//! Modes of density estimates: reference cases, proved and undecided counts, and comparison with a
//! brute-force scan.

use crate::common::{numbers, reference};
use crate::given::with_threads;
use metastable::num::stream::Stream;
use metastable::proofs::modes::{circle, line, sphere};
use metastable::sphere::{Tokens, geometry::chord2, geometry::retract, law::Law};
use proptest::prelude::*;
use std::f64::consts::TAU;

#[test]
fn reference_cases_are_right_and_certified() {
    for case in reference("kde_modes") {
        let beta = case["beta"].as_f64().expect("beta");
        let found = if case["space"] == "line" {
            line(&numbers(&case["samples"]), beta)
        } else {
            circle(&numbers(&case["angles"]), beta)
        };
        let found = found.expect("valid samples");
        assert_eq!(found.count().ok().map(|k| k as u64), case["modes"].as_u64());
        if let Some(places) = case.get("where") {
            // The reference is the best point of a grid of twentieths of a kernel width.
            for (a, b) in found.approximate_locations().iter().zip(numbers(places)) {
                assert!((a - b).abs() <= 0.05 / beta.sqrt(), "{a} {b}");
            }
        }
    }
}

#[test]
fn the_bifurcation_of_two_samples_is_resolved_and_the_degenerate_point_is_not_claimed() {
    for (excess, count) in [(-1e-9, 1), (1e-7, 2)] {
        let found = line(&[0.0, 2.0 + excess], 1.0).expect("valid");
        assert_eq!(found.count(), Ok(count), "{excess}: {found:?}");
    }
    let found = line(&[0.0, 2.0], 1.0).expect("valid");
    assert!(
        !found.is_proved() && found.lower_bound() == 1 && found.undecided().len() == 1,
        "{found:?}"
    );
    let refusal = found.count().expect_err("degenerate");
    assert!(
        refusal.to_string().contains("not proved: at least 1") && found.locations() == Err(refusal)
    );
}

#[test]
fn bounds_of_location_errors_hold_for_pairs() {
    // By symmetry the only mode lies in the middle: of the numbers themselves, as sums of two f64.
    for (a, gap, beta) in [(0.0, 1.5, 1.0), (0.1, 0.3, 20.0), (3.0, 1e-3, 1e5), (1.0, 1.7, 1.0)] {
        let b: f64 = a + gap;
        let middle = 0.5 * (a + b);
        let off_middle = f64::EPSILON * middle;
        for found in [line(&[a, b], beta), circle(&[a, b], beta)] {
            let found = found.expect("valid");
            let (at, error) = (found.locations().expect("proved")[0], found.location_errors()[0]);
            assert!((at - middle).abs() <= error + off_middle, "{a} {b}: {at} +- {error:e}");
            assert!(error < 1e-9 / beta.sqrt(), "{a} {b}: {error:e}");
        }
    }
    // Where no count is proved, a mode lies in an undecided interval.
    let found = line(&[0.0, 2.0], 1.0).expect("valid");
    let (at, error) = (found.approximate_locations()[0], found.location_errors()[0]);
    assert!((at - 1.0).abs() <= error, "{at} +- {error:e}");
}

/// Pairs of samples slightly closer or farther apart than where their modes merge: the count is
/// right or undecided, and decided wherever f64 suffices.
#[test]
fn pairs_near_merging_are_counted_correctly_or_not_at_all() {
    let beta: f64 = 30.0;
    // beta sin^2 t = cos t at half the distance t.
    let t = (2.0 * beta / (1.0 + (1.0 + 4.0 * beta * beta).sqrt())).acos();
    let on_line =
        |share: f64| line(&[0.0, 2.0 * (1.0 + share)], 1.0).map(|m| (m.count(), m.lower_bound()));
    let on_circle = |share: f64| {
        let t = t * (1.0 + share);
        circle(&[1.0 - t, 1.0 + t], beta).map(|m| (m.count(), m.lower_bound()))
    };
    let on_sphere = |share: f64| {
        let (sin, cos) = (t * (1.0 + share)).sin_cos();
        let x = Tokens::new(3, vec![sin, 0.0, cos, -sin, 0.0, cos]);
        x.and_then(|x| sphere(&x, beta)).map(|m| (m.count(), m.lower_bound()))
    };
    for k in 4..16 {
        for (share, count) in [(-(10f64.powi(-k)), 1), (10f64.powi(-k), 2)] {
            let both = [on_line(share), on_circle(share)].into_iter();
            for found in both.chain((k == 5).then(|| on_sphere(share))) {
                let (proved, at_least) = found.expect("valid");
                let resolved = if count == 1 { k <= 10 } else { k <= 8 };
                let right = proved.as_ref().map_or(!resolved, |found| *found == count);
                assert!(right && at_least <= count, "{share}: {proved:?} {at_least}");
                assert!(k <= 12 || proved.is_err(), "{share}: {proved:?}");
            }
        }
    }
    let (proved, at_least) = on_sphere(0.0).expect("valid");
    assert!(proved.is_err() && at_least == 1);
}

#[test]
fn degenerate_samples_give_the_right_count() {
    for beta in [1e-12, 1.0, 1e12] {
        assert_eq!(line(&[0.25; 40], beta).and_then(|m| m.count()), Ok(1));
        assert_eq!(circle(&[0.25; 40], beta).and_then(|m| m.count()), Ok(1));
        let ulps: Vec<f64> = (0..30).map(|k| 1.0 + f64::from(k) * f64::EPSILON).collect();
        assert_eq!(line(&ulps, beta).and_then(|m| m.count()), Ok(1));
        let found = line(&[7.5], beta).expect("valid");
        let off = (found.approximate_locations()[0] - 7.5).abs();
        assert!(found.count() == Ok(1) && off < 1e-14 * beta.powf(-0.5).max(1.0), "{found:?}");
        // Opposite angles: cosh(beta cos) has two maxima for every beta; pi itself is rounded.
        let found = circle(&[0.0, 0.5 * TAU], beta).expect("valid");
        assert!(found.lower_bound() == 2, "{beta} {found:?}");
    }
    // beta = 0 is constant: no strict local maximum. Distant samples do not interact.
    assert_eq!(line(&[1.0, 2.0], 0.0).and_then(|m| m.count()), Ok(0));
    assert_eq!(line(&[-1e308, 0.0, 1e308], 1.0).and_then(|m| m.count()), Ok(3));
    assert_eq!(line(&[1.0, 2.0, 3.0], 1e12).and_then(|m| m.count()), Ok(3));
}

#[test]
fn bad_input_is_refused() {
    for (samples, beta) in [
        (&[f64::NAN][..], 1.0),
        (&[], 1.0),
        (&[1.0, f64::INFINITY], 1.0),
        (&[1.0], -1.0),
        (&[1.0], f64::NAN),
    ] {
        assert!(line(samples, beta).is_err() && circle(samples, beta).is_err(), "{samples:?}");
    }
    assert!(circle(&[1.0], 1e29).is_err());
}

#[test]
fn results_do_not_depend_on_threads_order_or_turns() {
    let samples: Vec<f64> = (0..50_000)
        .map(|k| (f64::from(k) * 0.618_033_988_749_894_9).fract().powi(2) * 6.0)
        .collect();
    let both = || (line(&samples, 3e4).expect("valid"), circle(&samples, 3e4).expect("valid"));
    let one = with_threads(1, both);
    assert!([2, 3].iter().all(|threads| with_threads(*threads, both) == one));
    let mut reversed = samples.clone();
    reversed.reverse();
    assert_eq!(one.0, line(&reversed, 3e4).expect("valid"));
    let turned: Vec<f64> = samples.iter().map(|a| a - 40.0 * TAU).collect();
    assert!(one.0.is_proved() && one.1.is_proved());
    assert_eq!(one.1.count(), circle(&turned, 3e4).and_then(|m| m.count()));
}

/// Down-crossings of the derivative on a fine grid.
fn scan(slope: impl Fn(f64) -> f64, from: f64, to: f64, points: usize) -> usize {
    let signs: Vec<bool> = (0..=points)
        .map(|k| slope(from + (to - from) * (k as f64 + 0.37) / points as f64) > 0.0)
        .collect();
    signs.windows(2).filter(|s| s[0] && !s[1]).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn certified_counts_agree_with_a_scan(
        xs in prop::collection::vec(-3.0f64..3.0, 1..40),
        log_beta in -1.0f64..7.0,
    ) {
        let beta = log_beta.exp();
        let one = |x: f64, t: f64| (x - t) * (-0.5 * beta * (t - x) * (t - x)).exp();
        let slope = |t: f64| xs.iter().map(|x| one(*x, t)).sum::<f64>();
        let found = line(&xs, beta).expect("valid");
        // Where the derivative underflows to zero between far samples it rises: no crossing is lost
        // or added.
        let counted = scan(slope, -3.5, 3.5, 40_000);
        prop_assert!(found.count().is_ok_and(|k| k == counted), "{:?} {}", found, counted);
        for m in found.approximate_locations() {
            let h = 1e-9 / beta.sqrt();
            prop_assert!(slope(m - h) > 0.0 && slope(m + h) < 0.0);
        }
        let around = |t: f64| slope_around(&xs, beta, t);
        let found = circle(&xs, beta).expect("valid");
        // From 42 bins on the farthest samples are bounded, not summed: they move a mode by their
        // sum divided by the slope.
        let far = if beta > 10.6 { beyond_ten_widths(xs.len(), beta) } else { 0.0 };
        for m in found.approximate_locations() {
            let slope = (around(m - 1e-6) - around(m + 1e-6)) / 2e-6;
            let h = (1e-9 / beta.sqrt().max(1.0)).max(far / slope.abs());
            prop_assert!(around(m - h) > 0.0 && around(m + h) < 0.0, "{} {}", m, h);
        }
    }
}

/// The derivative of the estimate on the circle.
fn slope_around(xs: &[f64], beta: f64, t: f64) -> f64 {
    xs.iter().map(|x| (x - t).sin() * (beta * ((x - t).cos() - 1.0)).exp()).sum()
}

/// Of n samples on the circle beyond ten widths, the largest sum of kernels.
fn beyond_ten_widths(n: usize, beta: f64) -> f64 {
    n as f64 * (beta * ((9.5 / beta.sqrt()).cos() - 1.0)).exp()
}

#[test]
fn samples_beyond_ten_widths_move_a_mode_of_the_circle_within_the_bound() {
    // A random find: beta = 10.76 has 42 bins, of which 41 are summed.
    let xs = [
        -0.964750246943076,
        -1.6069986152296818,
        -0.6593671044237975,
        0.4249299668429415,
        -0.6154620303636447,
        -1.4399213537167297,
        2.18015972335821,
        0.0,
        0.0,
        -0.1718345050145626,
        -1.2221174604167024,
        -0.5116143594979059,
        -1.1244519484128643,
        -1.7640807485816663,
    ];
    let beta = 2.3756786955277773f64.exp();
    let found = circle(&xs, beta).expect("valid");
    // By bisection with exactly rounded sums.
    let at = [2.1801567455428126, TAU - 1.0155566007014705, TAU - 0.7681431741261027];
    let modes = found.approximate_locations();
    assert_eq!(modes.len(), 3);
    for ((m, at), error) in modes.iter().zip(at).zip(found.location_errors()) {
        let off = (m - at).abs();
        assert!(off <= *error && *error < 1e-6, "{off:e} {error:e}");
        assert!(off < beyond_ten_widths(14, beta) / 0.0375, "{off:e}");
    }
    // With all bins summed they are accurate up to rounding.
    let whole = circle(&xs, 10.0).expect("valid");
    let around = |t: f64| slope_around(&xs, 10.0, t);
    let sharp = |m: &f64| around(m - 1e-12) > 0.0 && around(m + 1e-12) < 0.0;
    assert!(whole.approximate_locations().iter().all(sharp));
}

#[test]
fn modes_on_the_sphere_are_where_mean_shift_ends() {
    let uniform = |n: usize, seed: u64| {
        let law = Law::parse("uniform").expect("registered");
        law.sample(n, 3, &mut Stream::new(seed, &["sphere modes"])).expect("tokens")
    };
    for (n, beta) in [(1, 5.0), (6, 20.0), (40, 60.0)] {
        let x = uniform(n, 4);
        let found = sphere(&x, beta).expect("valid");
        assert!(found.count().is_ok_and(|k| (1..=n).contains(&k)), "{found:?}");
        for start in x.rows() {
            let mut at = start.to_vec();
            for _ in 0..4000 {
                let mut next = [0.0; 3];
                for y in x.rows() {
                    let w = (-0.5 * beta * chord2(&at, y)).exp();
                    next.iter_mut().zip(y).for_each(|(s, v)| *s += w * v);
                }
                retract(&mut next);
                at = next.to_vec();
            }
            // Mean shift converges linearly; after 4000 steps only rounding remains.
            let near = |m: &[f64; 3]| chord2(m, &at).sqrt() < 1e-6;
            assert!(found.approximate_locations().iter().any(near), "{at:?} {found:?}");
        }
    }
}

#[test]
fn modes_on_the_sphere_are_counted() {
    let planar = Tokens::from_angles(&[0.0]).expect("a token");
    assert!(sphere(&planar, 1.0).is_err());
    let law = Law::parse("uniform").expect("registered");
    let many = law.sample(3000, 3, &mut Stream::new(1, &["sphere modes"])).expect("tokens");
    let many = sphere(&many, 25.0).expect("valid");
    assert!(many.count().is_ok_and(|k| (7..25).contains(&k)), "{many:?}");
    // One point many times; points an ulp apart; a lattice of equal modes.
    let point = [0.6, 0.0, 0.8];
    let same = Tokens::new(3, point.repeat(50)).and_then(|x| sphere(&x, 1e6)).expect("valid");
    let near = chord2(&same.approximate_locations()[0], &point) < 1e-24;
    assert!(same.count() == Ok(1) && near, "{same:?}");
    let twins = vec![0.6, 0.0, 0.8, 0.6 + 1e-16, 0.0, 0.8, -0.6, 1e-16, 0.8];
    let twins = Tokens::normalised(3, twins).and_then(|x| sphere(&x, 50.0));
    assert_eq!(twins.and_then(|m| m.count()), Ok(2));
    // Enough samples to be replaced by points, and three isolated ones, whose modes are 1e-5 as
    // high.
    let mut crowd = Stream::new(7, &["crowd"]);
    let mut places: Vec<f64> =
        (0..200_000).flat_map(|_| [0.1 * crowd.normal(), 0.1 * crowd.normal(), 1.0]).collect();
    places.extend([1.0, 0.0, -0.2, -0.5, 0.9, -0.3, 0.1, 0.2, -1.0]);
    let lonely = Tokens::normalised(3, places).and_then(|x| sphere(&x, 25.0)).expect("valid");
    assert_eq!(lonely.count(), Ok(4));
    // e^{beta x} summed over a cross-polytope: maxima at the six axes for every beta > 0 (the
    // fourth-order term x^4 + y^4 + z^4 decides).
    let axis = |k: usize, sign: f64| (0..3).map(move |a| if a == k { sign } else { 0.0 });
    let cross = (0..3).flat_map(|k| axis(k, 1.0).chain(axis(k, -1.0))).collect();
    let cross = Tokens::new(3, cross).expect("tokens");
    for beta in [0.5, 2.0, 200.0] {
        assert_eq!(sphere(&cross, beta).and_then(|m| m.count()), Ok(6), "{beta}");
    }
}
