//! Every quantity of finitely many tokens against 60-digit values, at its documented accuracy.

use crate::common::{number, numbers, reference, rows};
use metastable::attention::kernel::Workspace;
use metastable::attention::{Energy, EnergyScale, Head, Spec, circle, dynamics};
use metastable::flow::{Options, solve};
use metastable::num::deviation::{largest, max_difference};
use metastable::num::{stats::nan_max, vector::max_abs};
use metastable::sphere::{Tokens, geometry::dist};

fn tokens(case: &serde_json::Value) -> Tokens {
    let rows = rows(&case["tokens"]);
    Tokens::new(rows[0].len(), rows.concat()).expect("reference tokens are on the sphere")
}

/// Entries below this are rounding errors of the 60-digit generator (it gives 1e-62 where the true
/// drift is e^{-1500}).
const GENERATOR_FLOOR: f64 = 1e-48;

/// The largest deviation, relative to the largest entry.
fn relative(found: &[f64], expected: &[f64]) -> f64 {
    max_difference(found, expected) / nan_max(max_abs(expected), GENERATOR_FLOOR)
}

fn velocity(name: &str, causal: bool, spec: &Spec, x: &Tokens) -> Vec<f64> {
    let mut out = vec![0.0; x.coordinates().len()];
    dynamics::build(name, causal, spec).expect("a registered dynamics").rates(
        0.0,
        x,
        &mut Workspace::default(),
        &mut out,
    );
    out
}

#[test]
fn velocities_and_energies() {
    let (mut worst, mut compared) = ([0.0; 6], [0; 6]);
    for case in reference("velocity_energy") {
        let x = tokens(&case);
        let beta = case["beta"].as_f64().expect("beta");
        let spec = Spec::new(beta, x.n());
        let mut note = |slot: usize, error: f64| {
            worst[slot] = largest([worst[slot], error]);
            compared[slot] += 1;
        };
        let mut check = |slot: usize, found: Vec<f64>, key: &str| {
            note(slot, relative(&found, &rows(&case[key]).concat()));
        };
        check(0, velocity("sa", false, &spec, &x), "sa");
        check(2, velocity("sa", true, &spec, &x), "sa_causal");
        if !case["usa"].is_null() {
            check(1, velocity("usa", false, &spec, &x), "usa");
        }
        let matrix = |key: &str| Some((x.d(), rows(&case[key]).concat()));
        let head =
            Head::new(x.d(), matrix("Q"), matrix("K"), matrix("V")).expect("square matrices");
        check(3, velocity("sa", false, &Spec { heads: vec![head], ..spec }, &x), "sa_qkv");
        if !case["log_energy"].is_null() {
            let log = Energy::new(beta, EnergyScale::Mean).log_value(&x).expect("finite");
            let expected = number(&case["log_energy"]);
            note(4, (log - expected).abs() / expected.abs().max(1.0));
        }
        if !case["energy"].is_null() {
            let value = Energy::new(beta, EnergyScale::Mean).value(&x).expect("finite");
            note(5, (value / number(&case["energy"]) - 1.0).abs());
        }
    }
    println!(
        "worst: sa {:.1e} usa {:.1e} causal {:.1e} qkv {:.1e} log energy {:.1e} energy {:.1e}",
        worst[0], worst[1], worst[2], worst[3], worst[4], worst[5]
    );
    // The generator leaves out what is beyond f64.
    assert_eq!(compared, [25, 20, 25, 25, 20, 15]);
    for (slot, bound) in [1e-11, 1e-11, 1e-11, 1e-11, 1e-13, 1e-12].into_iter().enumerate() {
        assert!(worst[slot] <= bound, "slot {slot}: {:e} > {bound:e}", worst[slot]);
    }
}

#[test]
fn tiny_drifts_keep_relative_accuracy_token_by_token() {
    let mut worst = 0.0f64;
    for case in reference("tiny_drift") {
        let x = tokens(&case);
        let found =
            velocity("sa", false, &Spec::new(case["beta"].as_f64().expect("beta"), x.n()), &x);
        for (v, expected) in found.chunks_exact(x.d()).zip(rows(&case["sa"])) {
            worst = largest([worst, relative(v, &expected)]);
        }
    }
    println!("worst per token {worst:.1e}");
    assert!(worst <= 1e-11, "{worst:e}");
}

#[test]
fn trajectories() {
    for case in reference("trajectories") {
        let x = tokens(&case);
        let name = case["dynamics"].as_str().expect("a name");
        let causal = case["causal"].as_bool().expect("a flag");
        let dynamics =
            dynamics::build(name, causal, &Spec::new(case["beta"].as_f64().expect("beta"), x.n()))
                .expect("registered");
        let t_end = case["T"].as_f64().expect("T");
        let expected = rows(&case["final"]).concat();
        for integrator in ["dop853", "dopri5"] {
            let options = Options {
                rtol: 1e-12,
                integrator: metastable::flow::integrator(integrator).expect("registered"),
                ..Options::default()
            };
            let end = solve(&dynamics, &x, t_end, &options, &mut []).expect("valid");
            let error = relative(&end.tokens(), &expected);
            println!(
                "{name} T={t_end} {integrator}: {error:.1e} in {} steps, {} merges",
                end.stats.steps,
                end.merges.len()
            );
            assert!(error <= 1e-9, "{error:e}");
        }
        let second =
            metastable::flow::cross_check::solve_independently(&dynamics, &x, t_end, 1e-12)
                .expect("runs");
        assert!(
            relative(&second, &expected) <= 1e-9,
            "the second integrator: {:e}",
            relative(&second, &expected)
        );
    }
}

#[test]
fn merge_times_of_two_tokens_over_a_hundred_orders_of_magnitude() {
    let mut angles = 0;
    for case in reference("two_tokens") {
        let number = |key: &str| case[key].as_f64().expect("a number");
        let time = crate::common::number(&case["time"]);
        let x = Tokens::from_angles(&[0.0, number("from_angle")]).expect("finite");
        let name = case["dynamics"].as_str().expect("a name");
        let dynamics =
            dynamics::build(name, false, &Spec::new(number("beta"), 2)).expect("registered");
        // With the final angle as merge radius, the located merge time is the time to that angle.
        let options = Options { merge_radius: number("to_angle"), ..Options::default() };
        let end = solve(&dynamics, &x, 2.0 * time, &options, &mut []).expect("valid");
        let error = (end.merges[0].t / time - 1.0).abs();
        println!(
            "{name} beta={} t={time:.3e}: time error {error:.1e}, {} steps, {} rejected",
            number("beta"),
            end.stats.steps,
            end.stats.rejected
        );
        assert!(error <= 1e-7, "{error:e}");
        if time < 1e7 {
            let end = solve(&dynamics, &x, time, &Options::default(), &mut []).expect("valid");
            let angle = dist(end.clusters.row(0), end.clusters.row(1));
            println!("   angle error {:.1e}", (angle / number("to_angle") - 1.0).abs());
            assert!((angle / number("to_angle") - 1.0).abs() < 1e-3);
            angles += 1;
        }
    }
    assert_eq!(angles, 4);
}

#[test]
fn hessian_spectra() {
    let (mut worst, mut on_the_circle) = (0.0, 0);
    for case in reference("hessian") {
        let beta = case["beta"].as_f64().expect("beta");
        let expected = numbers(&case["eigenvalues"]);
        let energy = Energy::new(beta, EnergyScale::Mean);
        let angles = match (case["m"].as_u64(), case["angles"].is_null()) {
            (Some(m), _) => Some(
                (0..m).map(|k| std::f64::consts::TAU * k as f64 / m as f64).collect::<Vec<f64>>(),
            ),
            (None, false) => Some(numbers(&case["angles"])),
            (None, true) => None,
        };
        let x = angles
            .as_ref()
            .map_or_else(|| tokens(&case), |a| Tokens::from_angles(a).expect("finite"));
        let found = energy.hessian_eigenvalues(&x).expect("finite");
        worst = largest([worst, relative(&found, &expected)]);
        if let Some(angles) = angles {
            let h = circle::hessian(beta, &angles, x.masses());
            let spectrum =
                metastable::num::dense::symmetric_eigenvalues(&h, angles.len()).expect("converges");
            worst = largest([worst, relative(&spectrum, &expected)]);
            on_the_circle += 1;
        }
    }
    println!("worst {worst:.1e}");
    assert!(worst <= 1e-11 && on_the_circle == 7, "{worst:e} {on_the_circle}");
}
