//! Documented accuracies and error bounds hold: named kernels, tolerances, log energies, inverses,
//! outcomes of runs, critical points.

use metastable::attention::kernel::{
    ALL, Attention, EXACT_ACCURACY, KernelChoice, OutputForm, Weights, Workspace,
};
use metastable::attention::{Energy, EnergyScale, Spec, TimeScale, dynamics, layer::Layer};
use metastable::flow::observable::{self, RunParameters, linear_times};
use metastable::flow::{
    Event, EventAction, Options, Outcome, Recorder, apply_layers, solve, velocity_accuracy,
};
use metastable::landscape::CriticalPoint;
use metastable::num::deviation::{largest, max_difference};
use metastable::num::{dd::Dd, stream::Stream};
use metastable::sphere::{Tokens, law::Law};
use metastable::theory::{equiangular::Equiangular, spectra};
use std::collections::BTreeMap;

fn drawn(law: &str, n: usize, d: usize, seed: u64) -> Tokens {
    Law::parse(law)
        .expect("registered")
        .sample(n, d, &mut Stream::new(seed, &["promises"]))
        .expect("valid")
}

fn length(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    length(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>())
}

/// The velocities and the number of flagged rows, or the error message.
fn velocity(
    kernel: KernelChoice,
    accuracy: f64,
    beta: f64,
    x: &Tokens,
) -> Result<(Vec<f64>, usize), String> {
    let mut v = vec![0.0; x.coordinates().len()];
    let attention = Attention { kernel, accuracy, ..Attention::new(beta) };
    attention
        .apply(x, OutputForm::Tangent, &mut Workspace::default(), &mut v)
        .map(|flagged| (v, flagged))
        .map_err(|e| e.to_string())
}

#[test]
fn a_named_kernel_keeps_the_accuracy_or_names_the_one_it_can_reach() {
    for (n, d, law) in [
        (24, 3, "uniform"),
        (60, 17, "cap:radius=0.01"),
        (300, 2, "uniform"),
        (300, 3, "uniform"),
        (100, 64, "uniform"),
    ] {
        let x = drawn(law, n, d, 3);
        for beta in [0.0, 0.5, 4.0, 30.0, 300.0, -8.0] {
            let exact =
                velocity(KernelChoice::parse("rows").expect("a kernel"), EXACT_ACCURACY, beta, &x)
                    .expect("the kernel rows computes everything")
                    .0;
            // The error of the kernel `rows` itself: the terms `A_ij min(|x_j - x_i|, |x_j + x_i|)`
            // may cancel, and have the rounding errors of their exponents.
            let rows = Attention::new(beta);
            let term = |i: usize, j: usize, w: f64| {
                let chord = distance(x.row(i), x.row(j)).powi(2);
                w * chord.min(4.0 - chord).max(0.0).sqrt()
            };
            let terms = |i: usize| {
                rows.row_weights(&x, 0, i)
                    .iter()
                    .enumerate()
                    .map(|(j, w)| term(i, j, *w))
                    .sum::<f64>()
            };
            let rows_error = (64.0 + 16.0 * (n as f64).sqrt())
                * f64::EPSILON
                * (1.0 + beta.abs().min(40.0) / 8.0);
            let rows_error: Vec<f64> = (0..n).map(|i| rows_error * terms(i)).collect();
            let is_accurate = |found: &[f64], accuracy: f64| {
                let mut rows = found.chunks_exact(d).zip(exact.chunks_exact(d)).zip(&rows_error);
                rows.all(|((a, b), error)| distance(a, b) <= accuracy * length(b) + error)
            };
            for kernel in ALL {
                let attention =
                    Attention { kernel: KernelChoice::Named(*kernel), ..Attention::new(beta) };
                let label = format!("{} n {n} d {d} beta {beta}", kernel.name());
                match velocity(attention.kernel, EXACT_ACCURACY, beta, &x) {
                    Ok((found, _)) => assert!(is_accurate(&found, EXACT_ACCURACY), "{label}"),
                    Err(refusal) => {
                        assert!(refusal.contains(kernel.name()), "{refusal}");
                        let least = attention.attainable_accuracy(&x, OutputForm::Tangent);
                        if least > EXACT_ACCURACY && least <= 0.1 {
                            assert!(
                                refusal.contains("at least")
                                    && refusal.contains(&format!("n = {n}, d = {d}")),
                                "{refusal}"
                            );
                            let (found, _) = velocity(attention.kernel, least, beta, &x)
                                .unwrap_or_else(|e| panic!("{label}: {e}"));
                            assert!(is_accurate(&found, least), "{label}: {least:e}");
                            assert!(
                                velocity(attention.kernel, 0.9 * least, beta, &x).is_err(),
                                "{label}: a tenth below the least accuracy"
                            );
                        }
                    }
                }
            }
        }
    }
    // The example of the help text: drifts are a billionth of the weights. The accuracy holds row
    // by row.
    let x = drawn("uniform", 500, 256, 1);
    let products = KernelChoice::parse("products").expect("a kernel");
    assert!(
        velocity(products, EXACT_ACCURACY, 30.0, &x)
            .is_err_and(|e| e.contains("accuracy") && e.contains("products"))
    );
    let (found, flagged) = velocity(products, 1e-9, 30.0, &x).expect("an attainable accuracy");
    let exact = velocity(KernelChoice::parse("rows").expect("a kernel"), EXACT_ACCURACY, 30.0, &x)
        .expect("rows")
        .0;
    assert!(flagged > 0, "no row was flagged");
    for (a, b) in found.chunks_exact(256).zip(exact.chunks_exact(256)) {
        assert!(distance(a, b) <= 1e-9 * length(b), "{:e}", distance(a, b) / length(b));
    }
}

#[test]
fn the_error_bounds_of_the_kernels_hold() {
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    for (n, d) in [(24, 2), (120, 7), (120, 60), (300, 20)] {
        let x = drawn("uniform", n, d, 8);
        for beta in [0.0, 1.0, 20.0, 200.0, -5.0] {
            let field = |kernel: KernelChoice| {
                let mut out = vec![0.0; n * d];
                let attention = Attention {
                    kernel,
                    accuracy: 0.1,
                    weights: Weights::Softmax,
                    ..Attention::new(beta)
                };
                attention
                    .apply(&x, OutputForm::Sum, &mut Workspace::default(), &mut out)
                    .map(|flagged| (out, flagged))
            };
            let exact = field(KernelChoice::parse("rows").expect("a kernel")).expect("rows").0;
            for kernel in ALL {
                let Ok((found, 0)) = field(KernelChoice::Named(*kernel)) else { continue };
                *compared.entry(kernel.name()).or_insert(0) += 1;
                let plain = Attention { accuracy: 0.1, ..Attention::new(beta) };
                let job = plain.problem(&x, OutputForm::Sum);
                // Softmax divides by a sum whose error is as large as that of the drift.
                let bound =
                    2.0 * kernel.error_bound(&job) + 64.0 * f64::EPSILON * (n as f64).sqrt();
                let rows = found.chunks_exact(d).zip(exact.chunks_exact(d));
                let worst = largest(rows.map(|(a, b)| distance(a, b)));
                assert!(
                    worst <= bound,
                    "{} n {n} d {d} beta {beta}: {worst:e}, bound {bound:e}",
                    kernel.name()
                );
            }
        }
    }
    // Five betas for each shape that a kernel supports. Series give velocities, not sums.
    let expected = [
        ("blocks", 20),
        ("direct", 20),
        ("gram", 15),
        ("heads", 20),
        ("inner", 10),
        ("products", 20),
        ("rows", 20),
    ];
    assert_eq!(compared, BTreeMap::from(expected));
}

#[test]
fn the_library_refuses_the_kernels_that_the_command_line_refuses() {
    let x = drawn("uniform", 30, 3, 2);
    for (name, at) in [("fourier", 4.0), ("products", 1e14), ("inner", 1e14)] {
        let spec = Spec {
            kernel: KernelChoice::parse(name).expect("a kernel"),
            accuracy: 1e-2,
            ..Spec::new(at, 30)
        };
        let sa = dynamics::build("sa", false, &spec).expect("registered");
        let mut v = vec![0.0; 90];
        sa.rates(0.0, &x, &mut Workspace::default(), &mut v);
        assert!(
            sa.kernel(&x).is_err() && v.iter().all(|v| v.is_nan()),
            "{name}: another algorithm was used"
        );
        assert!(
            solve(&sa, &x, 1.0, &Options { rtol: 0.1, ..Options::default() }, &mut []).is_err()
        );
    }
    // The kernel `harmonics` computes only velocities; layers need sums in R^d.
    let spec = Spec {
        kernel: KernelChoice::parse("harmonics").expect("a kernel"),
        accuracy: 1e-2,
        ..Spec::new(4.0, 30)
    };
    let sa = dynamics::build("sa", false, &spec).expect("registered");
    let layer = Layer::new(0.1).expect("a step");
    assert!(sa.kernel(&x).is_ok() && apply_layers(&sa, &x, layer, 3, 1.0, None, &mut []).is_err());
    let mut moved = x.clone();
    layer.apply(&sa, &mut moved);
    assert!(
        moved.coordinates().iter().all(|v| v.is_nan()),
        "a velocity of NaN must give tokens of NaN"
    );
}

#[test]
fn tolerances_below_the_velocity_error_are_refused_and_runs_end() {
    let (n, d, beta) = (60, 17, 30.0);
    let x = drawn("uniform", n, d, 5);
    let run = |kernel: &str, accuracy: f64, rtol: f64| {
        let spec = Spec {
            kernel: KernelChoice::parse(kernel).expect("a kernel"),
            accuracy,
            ..Spec::new(beta, n)
        };
        let sa = dynamics::build("sa", false, &spec).expect("registered");
        solve(&sa, &x, 20.0, &Options { rtol, max_steps: 3000, ..Options::default() }, &mut [])
            .map_err(|e| e.to_string())
    };
    for (kernel, accuracy) in [("products", 1e-10), ("gram", 1e-10), ("products", 1e-4)] {
        let refused = run(kernel, accuracy, 1e-10).expect_err("noise");
        assert!(
            refused.contains("rtol") && refused.contains(&format!("{accuracy:.1e}")),
            "{refused}"
        );
        let least = 10.1 * accuracy * beta.sqrt();
        if least <= 0.1 {
            let end = run(kernel, accuracy, least).expect("above the noise");
            assert!(
                end.outcome == Outcome::Reached && end.stats.steps < 1000,
                "{kernel} {accuracy:e}: {:?} {:?}",
                end.outcome,
                end.stats
            );
        }
    }
    // The accuracy that solve chooses is never refused.
    for rtol in [1e-13, 1e-10, 1e-7, 1e-3] {
        let end = run("auto", velocity_accuracy(rtol, beta), rtol).expect("consistent");
        assert!(end.outcome == Outcome::Reached || rtol < 1e-12, "{rtol:e}: {:?}", end.outcome);
    }
}

#[test]
fn the_log_energy_is_the_documented_formula_for_both_signs_of_beta() {
    for (n, d, beta) in
        [(5, 2, -0.5), (20, 3, -8.0), (20, 5, -150.0), (7, 2, 8.0), (20, 3, 150.0), (2, 2, -1e-6)]
    {
        let x = drawn("uniform", n, d, 4);
        // The definition in double-doubles.
        let mut sum = Dd::default();
        for i in 0..n {
            for j in 0..n {
                let inner = (0..d)
                    .fold(Dd::default(), |s, k| s + Dd::from(x.row(i)[k]) * Dd::from(x.row(j)[k]));
                let weight = Dd::from(x.masses()[i]) * Dd::from(x.masses()[j]);
                sum = sum + weight * (Dd::from(beta) * (inner - Dd::from(1.0))).exp();
            }
        }
        let expected = sum.to_f64().ln();
        // Rows are unit vectors to an ulp; beta multiplies this error.
        let bound = 8.0 * f64::EPSILON * (1.0 + beta.abs());
        let mut recorder = Recorder::new(
            RunParameters { n, d, beta },
            linear_times(0.0, 2)[..1].to_vec(),
            false,
            vec![observable::find("log-energy").expect("known")],
        );
        let sa = dynamics::build("sa", false, &Spec::new(beta, n)).expect("registered");
        solve(&sa, &x, 0.0, &Options::default(), &mut [&mut recorder]).expect("valid");
        for found in [
            recorder.table.rows[0][1],
            Energy::new(beta, EnergyScale::Unit).log_value(&x).expect("always"),
        ] {
            assert!((found - expected).abs() <= bound, "n {n} beta {beta}: {found} {expected}");
        }
        let shifted = Energy::new(beta, EnergyScale::Shifted).value(&x).expect("within f64");
        assert!(
            (shifted * 2.0 * beta / sum.to_f64() - 1.0).abs() <= 2.0 * bound,
            "beta {beta}: {shifted}"
        );
    }
}

/// 50-digit values (mpmath: quadrature of dy/y' and Newton's method): n, beta, start, t, gamma for
/// exactly these doubles.
const GAMMAS: [(&str, usize, f64, f64, f64, f64); 11] = [
    ("sa", 32, 40.0, 0.0, 1931903830830204.2, 0.199_999_999_999_990_47),
    ("sa", 32, 40.0, 0.0, 1932064552978617.0, 0.700_007_141_353_437),
    ("sa", 32, 40.0, 0.0, 1932064552978937.8, 0.999_150_764_176_548),
    ("sa", 8, 60.0, 0.0, 8.737045611716324e23, 0.199_999_999_999_746_3),
    ("sa", 8, 60.0, 0.0, 8.73707531702769e23, 0.400_000_049_671_656_15),
    ("sa", 8, 60.0, 0.0, 8.737075317185072e23, 0.630_687_841_235_726_7),
    ("u2", 16, 38.0, 0.0, 5214703202207902.0, 0.699_999_343_197_423_2),
    ("u2", 16, 38.0, 0.0, 5214703202213736.0, 0.998_992_959_993_738_5),
    ("sa", 8, 40.0, 0.25, 63150461199.39551, 0.699_999_999_964_195_3),
    ("sa", 8, 40.0, 0.25, 63150462430.41207, 0.999_000_003_391_449_8),
    ("sa", 3, 100.0, -0.3, 2.6558103188347663e54, 0.072_764_712_937_579_89),
];

fn curve(kind: &str, n: usize, beta: f64) -> Equiangular {
    match kind {
        "sa" => Equiangular::sa(n, beta),
        scale => {
            Equiangular::usa(n, beta, TimeScale::parse(scale).expect("known")).expect("within f64")
        }
    }
}

#[test]
fn gamma_inverts_the_level_time_also_where_it_jumps_within_a_rounding_of_t() {
    for (kind, n, beta, start, t, expected) in GAMMAS {
        let (found, error) = curve(kind, n, beta).gamma_with_error(start, t).expect("valid");
        assert!(
            (found - expected).abs() <= 8.0 * f64::EPSILON + 1e-10 * error,
            "{kind} {n} {beta}: {found} {expected}"
        );
        assert!(error >= 4.0 * f64::EPSILON * found && error.is_finite());
    }
    for (kind, n, beta, start) in [
        ("sa", 32, 40.0, 0.0),
        ("sa", 8, 200.0, 0.0),
        ("sa", 8, 600.0, -0.1),
        ("u1", 5, 3.0, 0.0),
        ("u2", 16, 100.0, 0.3),
        ("u3", 9, 36.0, 0.0),
        ("u4", 4, -2.0, 0.0),
        ("sa", 6, -50.0, 0.0),
    ] {
        let curve = curve(kind, n, beta);
        let mut last = -1.0;
        for level in
            [start, start + 1e-9, 0.4, 0.6, 0.9, 0.999, 1.0 - 1e-9, 1.0 - 4.0 * f64::EPSILON]
        {
            let t = curve.level_time(start, level).expect("below 1e300").value;
            let (gamma, error) = curve.gamma_with_error(start, t).expect("valid");
            assert!(
                (gamma - level).abs() <= error + 4.0 * f64::EPSILON,
                "{kind} {n} {beta}: {gamma} at the time of {level}, +- {error:e}"
            );
            // The inverse in the other direction loses no digits.
            if gamma > start && gamma <= 1.0 - f64::EPSILON {
                let back = curve.level_time(start, gamma).expect("valid").value;
                let slack = 4.0 * f64::EPSILON * gamma.max(1e-3)
                    / curve.velocity(gamma).max(1e-300)
                    + 2.0 * f64::EPSILON * t;
                assert!((back - t).abs() <= slack, "{kind} {n} {beta}: {back:e} {t:e}");
            }
            assert!(gamma >= last, "{kind} {n} {beta}: gamma falls at {level}");
            last = gamma;
        }
    }
    // Limits: the start at t = 0, the value 1 long after the jump, an error for times beyond f64.
    let sa = Equiangular::sa(8, 60.0);
    assert!(
        sa.gamma(0.25, 0.0).expect("valid") <= 0.25 + f64::EPSILON
            && sa.gamma(0.0, 1e25).expect("valid") >= 1.0
    );
    assert!(
        sa.gamma(0.0, 1e10).expect("valid") < 1e-12
            && Equiangular::sa(8, 1e6).gamma(0.0, 1e300).expect("valid") <= 0.0
    );
    assert!(Equiangular::sa(8, 800.0).level_time(0.0, 0.5).is_err());
}

#[test]
fn causal_runs_end_at_the_end_time_unless_they_are_steady() {
    let x = Tokens::from_angles(&[0.0, 0.3, 0.45, 0.2, 0.1]).expect("angles");
    let causal = dynamics::build("sa", true, &Spec::new(1.0, 5)).expect("registered");
    let run = |t_end: f64, stop_at_one_cluster: bool| {
        let options = Options { merge_radius: 0.5, stop_at_one_cluster, ..Options::default() };
        let setting = RunParameters { n: 5, d: 2, beta: 1.0 };
        let mut recorder = Recorder::new(
            setting,
            vec![0.0, 1.0, 4.0],
            false,
            vec![observable::find("positions").expect("known")],
        );
        (
            solve(&causal, &x, t_end, &options, &mut [&mut recorder]).expect("valid"),
            recorder.table.rows.len(),
        )
    };
    let (end, samples) = run(4.0, false);
    let exact =
        solve(&causal, &x, 4.0, &Options { merge_radius: 0.0, ..Options::default() }, &mut [])
            .expect("valid");
    assert!(end.stats.steps > 0 && samples == 3 && end.outcome == Outcome::Reached);
    assert!(
        distance(&end.tokens(), &exact.tokens()) < 1e-12,
        "a merge radius without merges changed the flow"
    );
    // With the option to stop at one cluster the run stops there, with the samples up to that time.
    let (end, samples) = run(4.0, true);
    assert!(
        matches!(end.outcome, Outcome::OneCluster { t } if t <= 0.0) && samples == 1,
        "{:?} {samples}",
        end.outcome
    );
    // Tokens steady to rounding reach every end time, however late.
    let (end, _) = run(1e12, false);
    assert!(
        end.outcome == Outcome::Reached && end.stats.steps < 1000,
        "{:?} {:?}",
        end.outcome,
        end.stats
    );
    assert!(end.clusters.rows().all(|r| distance(r, end.clusters.row(0)) <= 1e-13));
}

/// The event that the second token passes an angle.
struct AngleEvent(f64, &'static str);

impl Event for AngleEvent {
    fn name(&self) -> String {
        self.1.into()
    }

    fn value(&self, x: &Tokens) -> f64 {
        self.0 - x.row(1)[1].atan2(x.row(1)[0])
    }
}

#[test]
fn a_stopping_event_stops_whichever_events_are_recorded_too() {
    let x = Tokens::from_angles(&[0.0, 1.0]).expect("angles");
    let sa = dynamics::build("sa", false, &Spec::new(1.0, 2)).expect("registered");
    let run = |events: Vec<(Box<dyn Event>, EventAction)>| {
        solve(&sa, &x, 50.0, &Options { events, merge_radius: 0.0, ..Options::default() }, &mut [])
            .expect("valid")
    };
    // Two events at the same time with the same name, in either order.
    for actions in
        [[EventAction::Stop, EventAction::Record], [EventAction::Record, EventAction::Stop]]
    {
        let end = run(actions
            .iter()
            .map(|a| (Box::new(AngleEvent(0.8, "gate")) as Box<dyn Event>, *a))
            .collect());
        let stopping = actions.iter().position(|a| *a == EventAction::Stop).expect("one stops");
        assert!(
            matches!(end.outcome, Outcome::Event { index, .. } if index == stopping),
            "{:?}",
            end.outcome
        );
        assert_eq!(end.hits.len(), 2);
        assert!(end.t < 1.0);
    }
    // An event that only records does not stop the run, even if a stopping event has the same name.
    let end = run(vec![
        (Box::new(AngleEvent(0.9, "gate")), EventAction::Record),
        (Box::new(AngleEvent(0.7, "gate")), EventAction::Stop),
    ]);
    assert!(
        matches!(end.outcome, Outcome::Event { index: 1, .. })
            && end.hits.len() == 2
            && end.hits[0].index == 0,
        "{:?}",
        end.hits
    );
}

#[test]
fn error_bounds_of_critical_points_contain_the_exact_values() {
    for (m, beta) in [(3usize, 0.5), (3, 8.0), (4, 30.0), (5, 2.0)] {
        let step = std::f64::consts::TAU / m as f64;
        let near = Tokens::from_angles(
            &(0..m).map(|k| step * k as f64 + 1e-3 * (k as f64).cos()).collect::<Vec<_>>(),
        )
        .expect("angles");
        let point = CriticalPoint::near(beta, &near, &vec![1; m]).expect("a saddle");
        let e = point.errors;
        let weights = (0..m).map(|k| (beta * ((step * k as f64).cos() - 1.0)).exp()).sum::<f64>();
        assert!(
            (point.log_energy - (weights / m as f64).ln()).abs() <= e.log_energy,
            "energy of {m} at {beta}"
        );
        assert!(
            (point.angles[0] - step).abs() <= e.angle,
            "angle of {m} at {beta}: {:e}, {:e}",
            point.angles[0] - step,
            e.angle
        );
        let mut rates: Vec<f64> =
            spectra::polygon_usa(m, beta).iter().map(|r| r * (-beta).exp()).collect();
        rates.sort_by(f64::total_cmp);
        for (found, exact) in point.spectrum.values.iter().zip(&rates) {
            assert!(
                (found - exact).abs() <= e.eigenvalue,
                "rate of {m} at {beta}: {:e}, {:e}",
                found - exact,
                e.eigenvalue
            );
        }
        // The bounds are also small.
        assert!(
            e.position < 1e-9 && e.log_energy < 1e-11 && e.eigenvalue < 1e-9,
            "{m} at {beta}: {e:?}"
        );
    }
    // A point without closed form: two starts must agree within their bounds.
    let found = |seed: u64| {
        let noise = drawn("uniform", 4, 3, seed);
        let rows = [[0.0, 0.0, 1.0], [0.9, 0.0, -0.4], [-0.5, 0.8, -0.4], [-0.5, -0.8, -0.4]];
        let data = rows
            .iter()
            .zip(noise.rows())
            .flat_map(|(r, u)| r.iter().zip(u).map(|(r, u)| r + 0.02 * u).collect::<Vec<_>>())
            .collect();
        let masses = [0.4, 0.2, 0.2, 0.2];
        let x = Tokens::normalised(3, data).and_then(|x| x.with_masses(&masses)).expect("valid");
        CriticalPoint::near(3.0, &x, &[2, 1, 1, 1]).expect("a saddle")
    };
    let (a, b) = (found(1), found(2));
    assert!(a.is_same(&b));
    assert!(
        a.angles
            .iter()
            .zip(&b.angles)
            .all(|(x, y)| (x - y).abs() <= a.errors.angle + b.errors.angle),
        "{:?} {:?}",
        a.angles,
        b.angles
    );
    let deviation = max_difference(&a.spectrum.values, &b.spectrum.values);
    assert!(deviation <= a.errors.eigenvalue + b.errors.eigenvalue, "{deviation:e}");
}
