//! Properties on random, near-coincident and antipodal tokens at any beta.

use metastable::attention::{Energy, EnergyScale, OutputForm, Spec, dynamics, dynamics::MAX_BETA};
use metastable::num::stats::{nan_max, nan_min};
use metastable::num::{deviation::max_difference, sum::dot, vector::max_abs};
use metastable::sphere::cap::{Hemisphere, cap_radius, hemisphere};
use metastable::sphere::{Tokens, geometry};
use proptest::prelude::*;

/// Random directions. Some are a few ulp or a tiny angle away from another token or from its
/// antipode.
fn tokens() -> impl Strategy<Value = Tokens> {
    (2usize..6, 2usize..7).prop_flat_map(|(d, n)| {
        let row = prop::collection::vec(-1.0f64..1.0, d);
        let near = (0usize..4, -32i64..32, 1e-12f64..1e-3);
        (prop::collection::vec(row, n), prop::collection::vec(near, n)).prop_filter_map(
            "no direction",
            move |(rows, near)| {
                let mut x: Vec<Vec<f64>> = rows;
                for i in 1..x.len() {
                    let (kind, ulps, angle) = near[i];
                    let previous = x[i - 1].clone();
                    match kind {
                        0 => {
                            x[i] = previous
                                .iter()
                                .map(|v| f64::from_bits((v.to_bits() as i64 + ulps) as u64))
                                .collect()
                        }
                        1 => {
                            x[i] = previous.iter().zip(&x[i]).map(|(p, v)| p + angle * v).collect()
                        }
                        2 => {
                            x[i] = previous.iter().zip(&x[i]).map(|(p, v)| -p + angle * v).collect()
                        }
                        _ => {}
                    }
                }
                Tokens::normalised(x[0].len(), x.concat()).ok()
            },
        )
    })
}

fn betas() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1e-300), 0.0f64..5.0, 5.0f64..300.0, -20.0f64..0.0]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn unit_vectors_stay_unchanged_and_others_are_normalised_to_two_ulp(x in tokens(), deviation in -1e-8f64..1e-8) {
        let again = Tokens::new(x.d(), x.coordinates().to_vec()).expect("unit vectors");
        prop_assert_eq!(again.coordinates(), x.coordinates());
        let longer = Tokens::new(x.d(), x.coordinates().iter().map(|v| v * (1.0 + 0.99 * deviation)).collect()).expect("nearly unit vectors");
        for row in longer.rows() {
            prop_assert!((dot(row, row) - 1.0).abs() <= 4.0 * f64::EPSILON);
        }
    }

    #[test]
    fn velocities_agree_with_the_double_double_definition(x in tokens(), beta in betas()) {
        for name in ["sa", "causal-sa", "repulsive-sa"] {
            let spec = Spec::new(beta, x.n());
            let dynamics = dynamics::build(name, false, &spec).expect("registered");
            let found = dynamics.velocity(&x);
            let expected = dynamics.definition(0.0, &x, OutputForm::Tangent).expect("attention has one");
            // The bound for each token: rounding of the coordinates changes a weight by beta u,
            // relatively, and a drift between tokens at distance c by u/c.
            for (i, (v, e)) in found.chunks_exact(x.d()).zip(expected.chunks_exact(x.d())).enumerate() {
                // The scale is the sum of the contributions without cancellation.
                let visible = if name.starts_with("causal") { i + 1 } else { x.n() };
                let log = |j: usize| metastable::attention::kernel::log_kernel(beta, x.row(i), x.row(j));
                let top = (0..visible).map(log).fold(f64::NEG_INFINITY, nan_max);
                let weights: Vec<f64> = (0..visible).map(|j| (log(j) - top).exp()).collect();
                let pull = |j: usize| weights[j] / weights.iter().sum::<f64>() * geometry::dist(x.row(i), x.row(j)).sin().abs();
                let scale = (0..visible).map(pull).fold(0.0, nan_max);
                let nearest = (0..x.n()).filter(|j| *j != i).map(|j| {
                    geometry::chord2(x.row(i), x.row(j)).min(geometry::antichord2(x.row(i), x.row(j))).sqrt()
                }).filter(|c| *c > 0.0).fold(2.0, nan_min);
                // The definition has 32 digits. Smaller drifts are tested against 60-digit tables
                // instead.
                if scale <= 1e-16 || nearest <= 1e-14 {
                    continue;
                }
                let bound = 64.0 * f64::EPSILON * (1.0 + beta.abs() + 1.0 / nearest);
                let worst = max_difference(v, e) / scale;
                prop_assert!(worst <= bound, "{name} beta={beta} token {i}: {worst} > {bound}");
            }
        }
    }

    #[test]
    fn every_beta_gives_finite_numbers(x in tokens(), exponent in -300f64..30.0, sign in prop::bool::ANY) {
        let beta = if sign { 10f64.powf(exponent) } else { -(10f64.powf(exponent)) }.clamp(-MAX_BETA, MAX_BETA);
        for name in ["sa", "causal-sa"] {
            let v = dynamics::build(name, false, &Spec::new(beta, x.n())).expect("registered").velocity(&x);
            prop_assert!(v.iter().all(|v| v.is_finite()), "{name} beta={beta}: {v:?}");
        }
        let log = Energy::new(beta, EnergyScale::Mean).log_value(&x).expect("beta is not 0");
        prop_assert!(log.is_finite());
        prop_assert!(Energy::new(beta, EnergyScale::Unit).log_scaled(&x) <= 1e-15 * x.n() as f64);
    }

    #[test]
    fn distances_are_a_metric_and_caps_contain_their_tokens(x in tokens()) {
        for i in 0..x.n() {
            for j in 0..x.n() {
                let d = geometry::dist(x.row(i), x.row(j));
                prop_assert!((0.0..=std::f64::consts::PI).contains(&d));
                for k in 0..x.n() {
                    prop_assert!(d <= geometry::dist(x.row(i), x.row(k)) + geometry::dist(x.row(k), x.row(j)) + 8.0 * f64::EPSILON);
                }
            }
        }
        match hemisphere(&x) {
            Hemisphere::Open { w, margin, radius } => {
                prop_assert!(margin > 0.0);
                for r in x.rows() {
                    prop_assert!(geometry::dist(r, &w) <= radius + 1e-15);
                }
                // The smallest cap is at least half the diameter.
                prop_assert!(radius >= 0.5 * x.diameter() - 4.0 * f64::EPSILON);
            }
            Hemisphere::None { weights, residual } => {
                prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9 && weights.iter().all(|w| *w >= 0.0));
                prop_assert!(residual < 1e-6, "no hemisphere, but the residual is {residual}");
            }
        }
    }

    #[test]
    fn caps_on_the_circle_are_half_the_range(angles in prop::collection::vec(-1.0f64..1.0, 2..9), exponent in -7i32..1) {
        let scale = 10f64.powi(exponent);
        let angles: Vec<f64> = angles.iter().map(|a| a * scale).collect();
        let low = angles.iter().copied().fold(f64::MAX, nan_min);
        let high = angles.iter().copied().fold(f64::MIN, nan_max);
        prop_assume!(high - low > 1e-3 * scale);
        let radius = cap_radius(&Tokens::from_angles(&angles).expect("finite")).expect("a hemisphere");
        // Coordinates have rounding errors of 1e-16, so an angle of size s has a relative error of
        // u/s.
        prop_assert!((radius / (0.5 * (high - low)) - 1.0).abs() < 16.0 * f64::EPSILON / (high - low) + 1e-14, "{radius} {}", 0.5 * (high - low));
    }

    #[test]
    fn geodesics_lead_back(x in prop::collection::vec(-1.0f64..1.0, 4), y in prop::collection::vec(-1.0f64..1.0, 4)) {
        let (mut x, mut y) = (x, y);
        prop_assume!(geometry::retract(&mut x) && geometry::retract(&mut y));
        let u = geometry::log(&x, &y);
        let back = geometry::exp(&x, &u);
        prop_assert!(geometry::chord2(&back, &y).sqrt() < 1e-14);
    }
}

/// The forces of the tokens at +q and -q steps are mirror images in the line through a token, and
/// that of the opposite token is along this line. What is left is the rounding of the angles.
#[test]
fn regular_polygons_are_stationary() {
    for name in ["sa", "usa"] {
        let weights = dynamics::find(name, false)
            .ok()
            .and_then(|e| e.variant)
            .map(|v| v.weights)
            .expect("plain attention");
        for n in [1usize, 2, 3, 12, 200, 400] {
            for beta in [-100.0f64, -1.0, 0.0, 0.01, 6.0, 30.0, 100.0] {
                let phase = (0.7 + n as f64 + beta).rem_euclid(std::f64::consts::TAU);
                let speed = |displacement: f64| {
                    let gap = std::f64::consts::TAU / n as f64;
                    let mut angles: Vec<f64> = (0..n).map(|k| phase + gap * k as f64).collect();
                    angles[0] += displacement;
                    let x = Tokens::from_angles(&angles).expect("angles");
                    let flow =
                        dynamics::build(name, false, &Spec::new(beta, n)).expect("registered");
                    max_abs(&flow.velocity(&x)) / weights.log_consensus_row_sum(beta.abs()).exp()
                };
                let allowed = 16.0 * f64::EPSILON * (1.0 + beta.abs());
                assert!(speed(0.0) <= allowed, "{name}, n = {n}, beta = {beta}: {}", speed(0.0));
                if n == 3 && beta.abs() < 10.0 {
                    let moved = speed(1e-6);
                    assert!(moved > allowed, "{name}, beta = {beta}: {moved}, a displaced token");
                }
            }
        }
    }
}
