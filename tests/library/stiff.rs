//! Stiff runs reach their end: implicit steps of causal attention, steady states, clusters of
//! nearly equal tokens.

use metastable::attention::{Dynamics, Spec, dynamics};
use metastable::flow::observable::{self, RunParameters, log_times};
use metastable::flow::{
    Event, EventAction, ImplicitStep, ImplicitSteps, Options, Outcome, Recorder, Solution,
    StepAttempt, Stepper, TokenSystem, solve, solve_many,
};
use metastable::num::deviation::{largest, max_difference};
use metastable::num::stats::{nan_max, slope};
use metastable::num::{quadrature::integrate, stream::Stream, vector::max_abs};
use metastable::sphere::{Tokens, geometry, law::Law};

fn flow(name: &str, beta: f64, n: usize) -> Dynamics {
    dynamics::build(name, false, &Spec::new(beta, n)).expect("registered")
}

fn drawn(law: &str, n: usize, d: usize, seed: u64) -> Tokens {
    Law::parse(law)
        .expect("registered")
        .sample(n, d, &mut Stream::new(seed, &["stiff"]))
        .expect("valid")
}

fn uniform(n: usize, d: usize, seed: u64) -> Tokens {
    drawn("uniform", n, d, seed)
}

fn run(name: &str, beta: f64, x: &Tokens, t_end: f64, implicit: ImplicitSteps) -> Solution {
    let options = Options { implicit, max_steps: 1_000_000, ..Options::default() };
    solve(&flow(name, beta, x.n()), x, t_end, &options, &mut []).expect("valid")
}

/// Every column of the Jacobian against central differences in gnomonic coordinates.
#[test]
fn the_triangular_jacobian_is_the_derivative() {
    for (name, n, d, beta) in [
        ("causal-sa", 6, 2, 9.0),
        ("causal-sa", 5, 3, 1.0),
        ("causal-usa", 5, 4, 3.0),
        ("causal-sa", 4, 8, 30.0),
        ("causal-usa", 5, 3, -2.0),
    ] {
        let (x, f) = (uniform(n, d, 1), flow(name, beta, n));
        let mut jacobian = f.triangular_jacobian().expect("causal");
        jacobian.linearise(&x);
        let size = n * d;
        let (mut plus, mut minus) = (vec![0.0; size], vec![0.0; size]);
        let mut scale = 0.0f64;
        let mut deviation = 0.0f64;
        for (column, e) in x
            .rows()
            .flat_map(geometry::tangent_basis)
            .collect::<Vec<_>>()
            .chunks_exact(d)
            .enumerate()
        {
            let j = column / (d - 1);
            let delta = 1e-5 * beta.abs().max(1.0).powf(-0.5);
            for (step, out) in [(delta, &mut plus), (-delta, &mut minus)] {
                let mut y = x.coordinates().to_vec();
                y[j * d..(j + 1) * d].iter_mut().zip(e).for_each(|(y, e)| *y += step * e);
                geometry::retract(&mut y[j * d..(j + 1) * d]);
                out.copy_from_slice(&f.velocity(&Tokens::new(d, y).expect("unit")));
            }
            let mut u = vec![0.0; size];
            u[j * d..(j + 1) * d].copy_from_slice(e);
            for i in 0..n {
                let mut expected: Vec<f64> =
                    (i * d..(i + 1) * d).map(|c| (plus[c] - minus[c]) / (2.0 * delta)).collect();
                geometry::project(x.row(i), &mut expected);
                let mut found = vec![0.0; d];
                if i == j {
                    let mut block = vec![0.0; d * d];
                    jacobian.diagonal_block(i, &mut block);
                    found = block
                        .chunks_exact(d)
                        .map(|r| r.iter().zip(e).map(|(a, b)| a * b).sum())
                        .collect();
                } else {
                    jacobian.add_off_diagonal(i, &u, &mut found);
                }
                scale = nan_max(scale, max_abs(&expected));
                deviation = largest([deviation, max_difference(&found, &expected)]);
            }
        }
        println!("{name} n {n} d {d} beta {beta}: {:.1e}", deviation / scale);
        assert!(
            deviation < 2e-9 * scale,
            "{name} n {n} d {d} beta {beta}: {deviation:e} of {scale:e}"
        );
    }
}

/// The coordinates after equal implicit steps.
fn fixed(f: &Dynamics, x: &Tokens, horizon: f64, steps: u32) -> Vec<f64> {
    let (mut step, mut system) = (ImplicitStep::new(f, x).expect("causal"), TokenSystem::new(f, x));
    let (mut y, mut end) = (x.coordinates().to_vec(), x.coordinates().to_vec());
    for _ in 0..steps {
        step.step(&mut system, 0.0, &y, horizon / f64::from(steps), &mut end).expect("finite");
        std::mem::swap(&mut y, &mut end);
        step.accept(&mut system, 0.0, &y).expect("finite");
    }
    y
}

#[test]
fn implicit_steps_have_order_five_and_their_dense_output_order_four() {
    let f = flow("causal-sa", 4.0, 6);
    let counts = [24u32, 32, 48, 64, 96];
    let mut squares = [0.0; 5];
    for seed in 0..8 {
        let x = uniform(6, 3, seed);
        let options = Options { rtol: 1e-14, implicit: ImplicitSteps::Never, ..Options::default() };
        let exact = solve(&f, &x, 2.0, &options, &mut []).expect("valid").tokens();
        for (sum, k) in squares.iter_mut().zip(counts) {
            *sum +=
                fixed(&f, &x, 2.0, k).iter().zip(&exact).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        }
    }
    let points: Vec<(f64, f64)> =
        counts.iter().zip(squares).map(|(k, s)| (f64::from(*k).ln(), 0.5 * s.ln())).collect();
    println!("order {:.2} {points:?}", -slope(&points));
    assert!((-slope(&points) - 5.0).abs() < 0.3, "{points:?}");
    let x = uniform(6, 3, 3);
    let mut points = Vec::new();
    for h in [0.2, 0.1, 0.05] {
        let (mut step, mut system) =
            (ImplicitStep::new(&f, &x).expect("causal"), TokenSystem::new(&f, &x));
        let (mut end, mut middle) = (x.coordinates().to_vec(), x.coordinates().to_vec());
        step.step(&mut system, 0.0, x.coordinates(), h, &mut end).expect("finite");
        let ends = StepAttempt { t: 0.0, start: x.coordinates(), end: &end };
        step.interpolate(&mut system, ends, 0.4, &mut middle).expect("dense");
        let options = Options { rtol: 1e-15, implicit: ImplicitSteps::Never, ..Options::default() };
        let exact = solve(&f, &x, 0.4 * h, &options, &mut []).expect("valid").tokens();
        points.push((f64::ln(h), max_difference(&middle, &exact).ln()));
    }
    println!("dense {:.2}", slope(&points));
    assert!(slope(&points) > 4.5, "{points:?}");
}

#[test]
fn very_long_steps_move_followers_onto_their_leader() {
    // The method damps infinitely fast modes: one step of length 1e200 moves a follower onto its
    // leader, up to rounding. An explicit step would diverge.
    let x = Tokens::from_angles(&[0.3, 0.3 + 1e-9, 0.3 - 2e-9]).expect("finite");
    let f = flow("causal-sa", 9.0, 3);
    let (mut step, mut end) = (ImplicitStep::new(&f, &x).expect("causal"), [0.0; 6]);
    let error = step
        .step(&mut TokenSystem::new(&f, &x), 0.0, x.coordinates(), 1e200, &mut end)
        .expect("finite");
    let spread = largest((1..3).map(|i| max_difference(&end[..2], &end[2 * i..2 * i + 2])));
    assert!(error < 1e-15 && spread < 1e-16, "{error:e} {spread:e}");
}

#[test]
fn implicit_runs_agree_with_explicit_ones() {
    for (name, n, d, beta, t_end) in [
        ("causal-sa", 16, 2, 9.0, 1e4),
        ("causal-sa", 12, 2, 9.0, 1e5),
        ("causal-sa", 16, 3, 4.0, 1e3),
        ("causal-sa", 12, 8, 1.0, 30.0),
        ("causal-usa", 10, 3, 2.0, 20.0),
        ("causal-sa", 16, 2, 30.0, 3e3),
    ] {
        let x = uniform(n, d, 5);
        let (explicit, auto) = (
            run(name, beta, &x, t_end, ImplicitSteps::Never),
            run(name, beta, &x, t_end, ImplicitSteps::Auto),
        );
        let always = run(name, beta, &x, t_end, ImplicitSteps::Always);
        let (one, two) = (
            max_difference(&explicit.tokens(), &auto.tokens()),
            max_difference(&explicit.tokens(), &always.tokens()),
        );
        println!(
            "{name} n {n} d {d} beta {beta} t {t_end:e}: auto {one:.1e}, always {two:.1e}; {:?} {:?} {:?}",
            explicit.stats, auto.stats, always.stats
        );
        assert!(one < 1e-8 && two < 1e-8, "{name} n {n} d {d} beta {beta}: {one:e} {two:e}");
        assert_eq!((explicit.stats.implicit, always.stats.implicit), (0, always.stats.steps));
    }
}

#[test]
fn causal_attention_reaches_very_late_end_times() {
    for (name, n, d, beta, t_end) in [
        ("causal-sa", 16, 2, 9.0, 1e12),
        ("causal-sa", 16, 3, 9.0, 1e12),
        ("causal-sa", 16, 8, 9.0, 1e12),
        ("causal-sa", 16, 2, 1.0, 1e12),
        ("causal-sa", 16, 3, 4.0, 1e12),
        ("causal-sa", 16, 3, 30.0, 1e300),
        ("causal-sa", 16, 2, 30.0, 1e12),
        ("causal-sa", 64, 3, 9.0, 1e12),
        ("causal-usa", 16, 3, 4.0, 1e300),
        ("causal-usa", 16, 2, 9.0, 1e12),
    ] {
        let x = uniform(n, d, 11);
        let started = std::time::Instant::now();
        let end = run(name, beta, &x, t_end, ImplicitSteps::Auto);
        println!(
            "{name} n {n} d {d} beta {beta} t {t_end:e}: {:.3} s, {:?}, {:?}",
            started.elapsed().as_secs_f64(),
            end.outcome,
            end.stats
        );
        // If rounding keeps unnormalised tokens apart forever, the single cluster ends as a steady
        // state.
        assert!(
            end.outcome.end_state_is_known() && end.t.to_bits() == t_end.to_bits(),
            "{name} n {n} d {d} beta {beta}: {:?}",
            end.outcome
        );
        assert!(
            end.stats.steps < 40_000 && end.clusters.coordinates().iter().all(|v| v.is_finite())
        );
        // Followers belong to the clusters of their leaders.
        let clusters = end.clusters_within(1e-10);
        assert!(clusters.n() <= n / 2, "{} clusters", clusters.n());
        assert!((clusters.masses().iter().sum::<f64>() - 1.0).abs() < 1e-14);
    }
}

/// The event that token 1 is within an angle of token 0.
struct Within(f64);

impl Event for Within {
    fn name(&self) -> String {
        "second token".into()
    }

    fn value(&self, x: &Tokens) -> f64 {
        self.0 - geometry::dist(x.row(0), x.row(1))
    }
}

#[test]
fn followers_do_not_change_the_exact_time_of_their_leader() {
    // Token 0 stays. Token 1 sees only tokens 0 and 1, so theta' = -sin theta / (1 + e^{beta (1 -
    // cos theta)}), for any later tokens.
    for (beta, from, to) in [(9.0, 3.0, 1.0f64), (30.0, 2.9, 0.5)] {
        let near: Vec<f64> =
            [0.0, from].into_iter().chain((0..6).map(|k| from + 0.02 * f64::from(k - 3))).collect();
        let x = Tokens::from_angles(&near).expect("finite");
        let rate = |theta: f64| (1.0 + (beta * (1.0 - theta.cos())).exp()) / theta.sin();
        let expected = integrate(rate, to, from, 1e-13).value;
        let options = Options {
            events: vec![(Box::new(Within(to)), EventAction::Stop)],
            ..Options::default()
        };
        let end = solve(&flow("causal-sa", beta, 8), &x, 1e300, &options, &mut []).expect("valid");
        let Outcome::Event { t, .. } = end.outcome else { panic!("{:?}", end.outcome) };
        println!(
            "beta {beta}: t = {t:e}, relative error {:.1e}, {:?}",
            t / expected - 1.0,
            end.stats
        );
        assert!((t / expected - 1.0).abs() < 1e-8 && end.stats.implicit > 0, "{t:e} {expected:e}");
    }
}

#[test]
fn samples_within_long_steps_are_accurate() {
    let x = uniform(12, 2, 4);
    let table = |implicit: ImplicitSteps| {
        let setting = RunParameters { n: 12, d: 2, beta: 9.0 };
        let mut recorder = Recorder::new(
            setting,
            log_times(1.0, 2e4, 300),
            false,
            vec![observable::find("positions").expect("registered")],
        );
        let options = Options { implicit, ..Options::default() };
        let end = solve(&flow("causal-sa", 9.0, 12), &x, 2e4, &options, &mut [&mut recorder])
            .expect("valid");
        (recorder.table, end.stats)
    };
    let ((a, explicit), (b, auto)) = (table(ImplicitSteps::Never), table(ImplicitSteps::Auto));
    assert_eq!((a.rows.len(), b.rows.len()), (300, 300));
    let deviation = largest(a.rows.iter().zip(&b.rows).map(|(a, b)| max_difference(a, b)));
    println!("samples: {deviation:.1e}; {explicit:?} {auto:?}");
    assert!(deviation < 1e-8 && auto.implicit > 10, "{deviation:e} {auto:?}");
}

#[test]
fn only_steady_states_are_stationary() {
    // Repulsive flows converge to polygons and similar configurations.
    for (name, n, d, beta) in [
        ("repulsive-sa", 5, 2, 4.0),
        ("repulsive-sa", 8, 2, 9.0),
        ("repulsive-sa", 5, 3, 4.0),
        ("repulsive-sa", 8, 3, 9.0),
        ("repulsive-usa", 5, 2, 2.0),
    ] {
        let x = uniform(n, d, 2);
        let end = run(name, beta, &x, 1e9, ImplicitSteps::Auto);
        println!("{name} n {n} d {d} beta {beta}: {} {:?}", end.outcome, end.stats);
        let Outcome::Stationary { t, residual } = end.outcome else {
            panic!("{name} n {n} d {d}: {:?}", end.outcome)
        };
        assert!(
            t > 1.0
                && t < 1e5
                && residual.decay_rate > 0.0
                && residual.remaining_distance < 1e-10
                && end.t >= 1e9,
            "{t:e} {residual:?}"
        );
        assert!(
            end.outcome.is_success()
                && end.outcome.name() == "stationary"
                && end.stats.steps < 5000
        );
        if d == 2 {
            let mut angles = end.clusters.angles();
            angles.sort_by(f64::total_cmp);
            let even = std::f64::consts::TAU / n as f64;
            assert!(angles.windows(2).all(|w| (w[1] - w[0] - even).abs() < 1e-11), "{angles:?}");
        }
    }
    // A metastable pair of clusters, merged or not, is not a steady state: its drift is resolved.
    let apart = Tokens::from_angles(&[0.0, 0.1, 0.2, 2.6, 2.7, 2.8]).expect("finite");
    for (beta, radius) in [(9.0, 1e-10), (9.0, 0.0), (30.0, 0.0), (30.0, 1e-10)] {
        let options = Options { merge_radius: radius, max_steps: 3000, ..Options::default() };
        let end = solve(&flow("sa", beta, 6), &apart, 1e6, &options, &mut []).expect("valid");
        println!("beta {beta} radius {radius:e}: {} {:?}", end.outcome, end.stats);
        assert!(
            matches!(end.outcome, Outcome::Reached | Outcome::MaxSteps { .. }),
            "{:?}",
            end.outcome
        );
    }
}

#[test]
fn saddles_are_not_steady_states() {
    for (name, n, d) in [("sa", 5, 2), ("usa", 6, 2), ("repulsive-sa", 6, 3)] {
        let x = drawn("polygon", n, d, 1);
        let end = run(name, 4.0, &x, 1e4, ImplicitSteps::Auto);
        println!("{name} polygon of {n} in d = {d}: {} {} clusters", end.outcome, end.clusters.n());
        // Rounding makes the attractive polygon unstable, and it ends as one cluster. No rounding
        // leads out of the plane of a great circle, so the repulsive run continues.
        assert!(
            name == "repulsive-sa" || (end.outcome == Outcome::Reached && end.clusters.n() == 1),
            "{:?}",
            end.outcome
        );
        assert!(
            name != "repulsive-sa"
                || !matches!(end.outcome, Outcome::Stationary { t, .. } if t < 1.0),
            "{:?}",
            end.outcome
        );
    }
    let antipodes = Tokens::new(2, vec![1.0, 0.0, -1.0, 0.0]).expect("unit");
    assert_eq!(run("sa", 3.0, &antipodes, 1e100, ImplicitSteps::Auto).outcome, Outcome::Reached);
}

#[test]
fn remaining_samples_record_the_steady_state() {
    let starts: Vec<Tokens> = (0..3).map(|k| uniform(5, 2, 20 + k)).collect();
    for name in ["pair-share", "positions"] {
        let observables = vec![observable::find(name).expect("registered")];
        let setting = RunParameters { n: 5, d: 2, beta: 4.0 };
        let recorder =
            || Recorder::new(setting, log_times(0.1, 1e8, 60), false, observables.clone());
        let mut recorders = vec![recorder(), recorder(), recorder()];
        let f = flow("repulsive-sa", 4.0, 5);
        let ends =
            solve_many(&f, &starts, 1e8, &Options::default(), &mut recorders).expect("valid");
        for (end, recorder) in ends.iter().zip(&recorders) {
            assert!(
                matches!(end.outcome, Outcome::Stationary { .. }) && end.t >= 1e8,
                "{:?}",
                end.outcome
            );
            assert_eq!(recorder.table.rows.len(), 60);
            assert!(recorder.table.rows[58][1..] == recorder.table.rows[59][1..]);
        }
    }
}

#[test]
fn nearly_equal_causal_tokens_are_one_cluster() {
    let x = Tokens::from_angles(&[0.0, 0.01, 2.0, 2.01, 2.02]).expect("finite");
    let masses = observable::find("masses").expect("registered");
    let mut recorder = Recorder::new(
        RunParameters { n: 5, d: 2, beta: 30.0 },
        vec![0.0, 200.0],
        false,
        vec![masses],
    );
    let end =
        solve(&flow("causal-sa", 30.0, 5), &x, 200.0, &Options::default(), &mut [&mut recorder])
            .expect("valid");
    assert_eq!(
        (end.clusters.n(), end.clusters_within(1e-10).n(), end.clusters_within(0.0).n()),
        (5, 2, 2)
    );
    let rows = &recorder.table.rows;
    assert!(
        max_difference(&rows[0][1..], &[0.2; 5]) < 1e-15
            && max_difference(&rows[1][1..], &[0.6, 0.4, 0.0, 0.0, 0.0]) < 1e-15,
        "{rows:?}"
    );
}

#[test]
fn implicit_steps_need_a_triangular_jacobian() {
    let x = uniform(4, 2, 1);
    let options = || Options { implicit: ImplicitSteps::Always, ..Options::default() };
    assert!(solve(&flow("sa", 1.0, 4), &x, 1.0, &options(), &mut []).is_err());
    assert!(solve(&flow("causal-sa", 1.0, 4), &x, 1.0, &options(), &mut []).is_ok());
}
