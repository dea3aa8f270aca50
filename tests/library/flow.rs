//! Runs: events, merges, outcomes, observers, ensembles, long times, the unit of the tolerance.

use metastable::Result;
use metastable::attention::interaction::{Interaction, InteractionAttention, RowSum};
use metastable::attention::kernel::Workspace;
use metastable::attention::random_matrix::MatrixLaw;
use metastable::attention::{
    Dynamics, Energy, EnergyScale, Head, Input, OutputForm, Properties, Spec, Sublayer, dynamics,
};
use metastable::flow::observable::{self, RunParameters, linear_times, log_times};
use metastable::flow::{
    EnergyLevel, EnterHemisphere, EscapeCap, Event, EventAction, Options, Outcome, Recorder,
    cross_check, solve, solve_many,
};
use metastable::num::deviation::{largest, max_difference};
use metastable::num::{roots::bracketed_root, stream::Stream};
use metastable::sphere::{Tokens, geometry::chord2, geometry::dist, law::Law};
use metastable::theory::two_cluster::merge_time_sa;

fn sa(beta: f64, n: usize) -> Dynamics {
    dynamics::build("sa", false, &Spec::new(beta, n)).expect("registered")
}

fn uniform(n: usize, d: usize, seed: u64) -> Tokens {
    Law::parse("uniform")
        .expect("registered")
        .sample(n, d, &mut Stream::new(seed, &["flow"]))
        .expect("valid")
}

fn with_event(event: Box<dyn Event>, action: EventAction) -> Options<'static> {
    Options { events: vec![(event, action)], ..Options::default() }
}

#[test]
fn energy_levels_are_located_in_time() {
    // Two tokens: the energy in the scale `Unit` is (1 + e^{beta (rho - 1)})/2 with rho their inner
    // product. A level is therefore an angle, and its time is a quadrature.
    let (beta, from, to) = (4.0, 2.0, 1.0f64);
    let level = (0.5 * (1.0 + (beta * (to.cos() - 1.0)).exp())).ln();
    let x = Tokens::from_angles(&[0.0, from]).expect("finite");
    let options = with_event(Box::new(EnergyLevel { beta, log_level: level }), EventAction::Stop);
    let end = solve(&sa(beta, 2), &x, 1e6, &options, &mut []).expect("valid");
    let expected = merge_time_sa(beta, 0.5, from, to).expect("finite").value;
    assert!(
        matches!(end.outcome, Outcome::Event { t, .. } if (t / expected - 1.0).abs() < 1e-9),
        "{:?} {expected}",
        end.outcome
    );
    assert!((dist(end.clusters.row(0), end.clusters.row(1)) - to).abs() < 1e-9);
    // If the event is only recorded, the run goes on to its end time.
    let options = with_event(Box::new(EnergyLevel { beta, log_level: level }), EventAction::Record);
    let recorded = solve(&sa(beta, 2), &x, 1e6, &options, &mut []).expect("valid");
    assert_eq!(recorded.outcome, Outcome::Reached);
    assert!(recorded.hits.len() == 1 && (recorded.hits[0].t / expected - 1.0).abs() < 1e-9);
}

#[test]
fn escape_from_a_cap_and_entry_into_a_hemisphere() {
    let (beta, from) = (1.0, 2.0f64);
    let x = Tokens::from_angles(&[0.0, from]).expect("finite");
    // Both tokens move by the same angle. So the second one leaves the cap of radius 0.3 around its
    // start when the angle of the pair has decreased by 0.6.
    let centre = x.row(1).to_vec();
    let end = solve(
        &sa(beta, 2),
        &x,
        1e3,
        &with_event(Box::new(EscapeCap { centre, radius: 0.3 }), EventAction::Stop),
        &mut [],
    )
    .expect("valid");
    let expected = merge_time_sa(beta, 0.5, from, from - 0.6).expect("finite").value;
    assert!(
        matches!(end.outcome, Outcome::Event { t, .. } if (t / expected - 1.0).abs() < 1e-9),
        "{:?} {expected}",
        end.outcome
    );
    // Three tokens around the circle enter a half circle when the largest gap exceeds pi.
    let x = Tokens::from_angles(&[0.0, 2.0, 4.1]).expect("finite");
    let end = solve(
        &sa(1.0, 3),
        &x,
        1e3,
        &with_event(Box::new(EnterHemisphere), EventAction::Stop),
        &mut [],
    )
    .expect("valid");
    assert!(matches!(end.outcome, Outcome::Event { .. }), "{:?}", end.outcome);
    let mut angles = end.clusters.angles();
    angles.sort_by(f64::total_cmp);
    let gaps = [
        angles[1] - angles[0],
        angles[2] - angles[1],
        angles[0] + std::f64::consts::TAU - angles[2],
    ];
    let widest = largest(gaps);
    assert!((widest - std::f64::consts::PI).abs() < 1e-11, "{gaps:?}");
}

#[test]
fn merging_conserves_mass_and_agrees_with_the_run_without_merges() {
    let x = uniform(12, 3, 3)
        .with_masses(&[1.0, 2.0, 3.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 4.0, 1.0, 1.0])
        .expect("positive");
    let run = |radius: f64| {
        solve(
            &sa(9.0, 12),
            &x,
            40.0,
            &Options { merge_radius: radius, ..Options::default() },
            &mut [],
        )
        .expect("valid")
    };
    let (merged, full) = (run(1e-8), run(0.0));
    assert!(merged.merges.len() > 3 && full.merges.is_empty());
    assert!((merged.clusters.masses().iter().sum::<f64>() - 1.0).abs() < 1e-14);
    for (l, mass) in merged.clusters.masses().iter().enumerate() {
        let members: f64 = (0..12).filter(|i| merged.labels[*i] == l).map(|i| x.masses()[i]).sum();
        assert!((members - mass).abs() < 1e-15);
    }
    let worst = max_difference(&merged.tokens(), &full.tokens());
    assert!(worst < 1e-7, "{worst:e}");
    assert!(merged.merges.windows(2).all(|w| w[0].t <= w[1].t));
    // Coincident tokens of the input are one token from the start.
    let twice = Tokens::new(2, vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0]).expect("unit");
    let end = solve(&sa(1.0, 3), &twice, 0.1, &Options::default(), &mut []).expect("valid");
    assert!(end.merges[0].t == 0.0 && end.merges[0].members == [0, 1]);
}

#[test]
fn antipodes_stay_and_nearly_antipodal_tokens_escape_at_the_predicted_time() {
    let x = Tokens::new(2, vec![1.0, 0.0, -1.0, 0.0]).expect("unit");
    let end = solve(&sa(3.0, 2), &x, 1e100, &Options::default(), &mut []).expect("valid");
    assert_eq!((end.outcome, end.clusters.n()), (Outcome::Reached, 2));
    // beta = 4, 1e-8 from the antipode. The escape time is a quadrature from the angle of the
    // tokens, because the angle given is rounded by 1e-16.
    let from = std::f64::consts::PI - 1e-8;
    let x = Tokens::from_angles(&[0.0, from]).expect("finite");
    let end =
        solve(&sa(4.0, 2), &x, 1e9, &Options { merge_radius: 1.0, ..Options::default() }, &mut [])
            .expect("valid");
    let rounded_from = dist(x.row(0), x.row(1));
    let expected = merge_time_sa(4.0, 0.5, rounded_from, 1.0).expect("finite").value;
    assert!((end.merges[0].t / expected - 1.0).abs() < 1e-7, "{} {expected}", end.merges[0].t);
}

/// Speed 1 on the circle, and NaN at angles above one radian.
struct UndefinedSpeed;

impl Sublayer for UndefinedSpeed {
    fn evaluate(&self, input: &Input, _: OutputForm, _: &mut Workspace, out: &mut [f64]) {
        for (row, v) in input.tokens.rows().zip(out.chunks_exact_mut(2)) {
            let speed = if row[1].atan2(row[0]) > 1.0 { f64::NAN } else { 1.0 };
            (v[0], v[1]) = (-row[1] * speed, row[0] * speed);
        }
    }

    fn properties(&self) -> Properties {
        Properties { common_field: true, ..Properties::default() }
    }

    fn length_scale(&self) -> f64 {
        1.0
    }
}

#[test]
fn failures_and_interruptions_are_outcomes() {
    let x = Tokens::from_angles(&[0.0]).expect("finite");
    let end = solve(&Dynamics::single(UndefinedSpeed), &x, 10.0, &Options::default(), &mut [])
        .expect("valid");
    assert!(
        matches!(end.outcome, Outcome::NonFinite { token: 0, t } if t > 0.9 && t <= 1.0),
        "{:?}",
        end.outcome
    );
    let x = uniform(20, 3, 1);
    let end =
        solve(&sa(5.0, 20), &x, 1e3, &Options { max_steps: 10, ..Options::default() }, &mut [])
            .expect("valid");
    assert!(matches!(end.outcome, Outcome::MaxSteps { t } if t > 0.0) && !end.outcome.is_success());
    let cancel = std::sync::atomic::AtomicBool::new(true);
    let end = solve(
        &sa(5.0, 20),
        &x,
        1e3,
        &Options { cancel: Some(&cancel), ..Options::default() },
        &mut [],
    )
    .expect("valid");
    assert_eq!(end.outcome, Outcome::Interrupted { t: 0.0 });
    for t_end in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(solve(&sa(5.0, 20), &x, t_end, &Options::default(), &mut []).is_err());
    }
}

#[test]
fn observers_do_not_change_the_run() -> Result<()> {
    let x = uniform(10, 3, 2);
    let run = |times: Vec<f64>, every: bool| -> Result<(Vec<f64>, Recorder)> {
        let names = [
            "log-energy",
            "inner-range",
            "cap-radius",
            "clusters",
            "masses",
            "inner-histogram",
            "grad-norm",
            "energy",
            "pair-share",
            "positions",
        ];
        let all = names.iter().map(|n| observable::find(n)).collect::<Result<Vec<_>>>()?;
        let mut recorder =
            Recorder::new(RunParameters { n: 10, d: 3, beta: 1.0 }, times, every, all);
        let end = solve(&sa(1.0, 10), &x, 50.0, &Options::default(), &mut [&mut recorder])?;
        Ok((end.tokens(), recorder))
    };
    let (unobserved, _) = run(Vec::new(), false)?;
    let (observed, recorder) = run(linear_times(50.0, 101), false)?;
    assert!(unobserved == observed, "an observer changed the tokens");
    let table = &recorder.table;
    assert_eq!(table.rows.len(), 101);
    assert!((table.column("t")[37] - 18.5).abs() < 1e-12);
    let energy = table.column("log_energy");
    assert!(energy.windows(2).all(|w| w[1] >= w[0] - 1e-13), "the energy decreased");
    assert!(
        table.column("cap_radius").last().is_some_and(|r| *r < 1e-8)
            && table.column("inner_min").last().is_some_and(|g| *g > 1.0 - 1e-9)
    );
    assert!((0..10).map(|i| table.column(&format!("mass_{i}"))[100]).sum::<f64>() > 1.0 - 1e-12);
    // The positions recorded at t = 2 agree with the independent integrator.
    let at = cross_check::solve_independently(&sa(1.0, 10), &x, 2.0, 1e-12)?;
    let row = table.rows.iter().find(|r| (r[0] - 2.0).abs() < 1e-12).expect("a sample at t = 2");
    let first = table.columns.iter().position(|c| c == "x_0_0").expect("positions");
    let worst = max_difference(&at, &row[first..first + at.len()]);
    assert!(worst < 1e-9, "{worst:e}");
    let (_, steps) = run(Vec::new(), true)?;
    assert!(
        steps.table.rows.len() > 20 && log_times(0.1, 1e10, 50).windows(2).all(|w| w[0] < w[1])
    );
    Ok(())
}

/// The column `pair_share` at 601 times, for each start: from one ensemble, or from separate runs.
fn shares(
    dynamics: &Dynamics,
    starts: &[Tokens],
    t_end: f64,
    options: &Options,
    ensemble: bool,
) -> Result<Vec<Vec<f64>>> {
    let parameters = RunParameters { n: starts[0].n(), d: starts[0].d(), beta: 1.0 };
    let share = observable::find("pair-share")?;
    let recorder =
        |_: &Tokens| Recorder::new(parameters, linear_times(t_end, 601), false, vec![share]);
    let mut recorders: Vec<Recorder> = starts.iter().map(recorder).collect();
    if ensemble {
        solve_many(dynamics, starts, t_end, options, &mut recorders)?;
    } else {
        for (start, recorder) in starts.iter().zip(&mut recorders) {
            solve(dynamics, start, t_end, options, &mut [recorder])?;
        }
    }
    Ok(recorders.iter().map(|r| r.table.column("pair_share")).collect())
}

#[test]
fn an_ensemble_gives_the_results_of_separate_runs() -> Result<()> {
    // The time at which a pair reaches the level has an error of about the tolerance, 1e-8. Samples
    // are 0.01 apart, so no sample falls between the two times.
    let (n, t_end) = (12, 6.0);
    let exponential = |name: &str, beta: f64| dynamics::build(name, false, &Spec::new(beta, n));
    let other = |phi: &str, row_sum| {
        let attention = InteractionAttention::new(Interaction::parse(phi, &[])?, row_sum)?;
        Result::Ok(Dynamics::single(attention))
    };
    let cases = [
        ("sa at 4", exponential("sa", 4.0)?, 2, "dop853"),
        ("sa at 1/2", exponential("sa", 0.5)?, 3, "dopri5"),
        ("usa at 3", exponential("usa", 3.0)?, 2, "dop853"),
        ("usa at 1", exponential("usa", 1.0)?, 5, "dop853"),
        ("sa at 9", exponential("sa", 9.0)?, 4, "dop853"),
        ("sigmoid", other("sigmoid:k=9", RowSum::Normalised)?, 2, "dop853"),
        ("mixed", other("exp(4*s) + 0.3*(s + 1)^3", RowSum::Normalised)?, 3, "dop853"),
        ("cubic", other("s^3 + 0.5", RowSum::Plain)?, 5, "dopri5"),
        ("steep", other("exp(12*(s - 1))", RowSum::Normalised)?, 2, "dop853"),
        ("kinked", other("relu(s + 0.2)", RowSum::Plain)?, 3, "dop853"),
    ];
    for (name, dynamics, d, integrator) in &cases {
        assert!(dynamics.batch_field_at(0.0, (n, *d)).is_some(), "{name}");
        let (dynamics, d) = (dynamics, *d);
        let starts: Vec<Tokens> = (0..11).map(|k| uniform(n, d, 70 + k)).collect();
        let integrator = metastable::flow::integrator(integrator)?;
        for merge_radius in [0.0, 1e-4] {
            let options = || Options { rtol: 1e-8, merge_radius, integrator, ..Options::default() };
            let (many, each) = (
                shares(dynamics, &starts, t_end, &options(), true)?,
                shares(dynamics, &starts, t_end, &options(), false)?,
            );
            assert_eq!(many, each, "{name}, radius {merge_radius:e}");
            assert!(
                many.iter().any(|m| m[0] < 0.1 && m[600] > m[0] + 0.1),
                "no share changes: {name}"
            );
            // The results are the same bytes, whatever other systems the ensemble has.
            let few = shares(dynamics, &starts[3..5], t_end, &options(), true)?;
            assert_eq!(few[..], many[3..5]);
        }
        // The control: a tolerance that is too large gives other shares.
        let rough = Options { rtol: 0.1, merge_radius: 0.3, integrator, ..Options::default() };
        let accurate = Options { rtol: 1e-8, merge_radius: 1e-4, integrator, ..Options::default() };
        assert_ne!(
            shares(dynamics, &starts, t_end, &rough, true)?,
            shares(dynamics, &starts, t_end, &accurate, false)?,
            "{name}"
        );
    }
    Ok(())
}

#[test]
fn an_ensemble_with_heads_gives_the_results_of_separate_runs() -> Result<()> {
    let (n, d, t_end) = (12, 3, 6.0);
    let drawn =
        |law: &str, place: &str| MatrixLaw::parse(law).expect("a law").map(|l| l.draw(d, place));
    let head = |place: &str, value: bool| {
        let v = if value { Some(drawn("rotation:seed=4", place)?) } else { None };
        Head::new(
            d,
            Some(drawn("normal:seed=2,scale=1.5", place)?),
            Some(drawn("normal:seed=3,scale=1.5", place)?),
            v,
        )
    };
    for heads in [vec![head("a", true)?, head("b", false)?], vec![head("c", false)?]] {
        for name in ["sa", "usa"] {
            let dynamics =
                dynamics::build(name, false, &Spec { heads: heads.clone(), ..Spec::new(2.0, n) })?;
            let starts: Vec<Tokens> = (0..11).map(|k| uniform(n, d, 170 + k)).collect();
            for merge_radius in [0.0, 1e-4] {
                let options = || Options { rtol: 1e-8, merge_radius, ..Options::default() };
                let (many, each) = (
                    shares(&dynamics, &starts, t_end, &options(), true)?,
                    shares(&dynamics, &starts, t_end, &options(), false)?,
                );
                // Merging moves a token by up to the radius, and heads that stretch distances
                // enlarge this. A few shares change one sample earlier or later.
                let difference = many
                    .iter()
                    .flatten()
                    .zip(each.iter().flatten())
                    .map(|(a, b)| (a - b).abs())
                    .sum::<f64>()
                    / (11.0 * 601.0);
                let allowed = if merge_radius > 0.0 { 1e-4 } else { 0.0 };
                assert!(
                    difference <= allowed && many[0].len() == 601,
                    "{name}, {} heads, radius {merge_radius:e}: {difference:e}",
                    heads.len()
                );
                assert!(
                    heads.len() > 1 || many.iter().any(|m| m[600] > m[0] + 0.1),
                    "no share changes: {name}"
                );
                let few = shares(&dynamics, &starts[3..5], t_end, &options(), true)?;
                assert!(few[..] == many[3..5]);
            }
        }
    }
    Ok(())
}

#[test]
fn ensembles_of_one_two_equal_opposite_and_many_tokens() -> Result<()> {
    let options = |merge_radius: f64| Options { rtol: 1e-8, merge_radius, ..Options::default() };
    let equal = Tokens::from_angles(&[0.5, 0.5, 0.5, 2.0])?;
    let opposite = Tokens::from_angles(&[0.0, std::f64::consts::PI])?;
    let many: Vec<Tokens> = (0..20).map(|k| uniform(40, 2, k)).collect();
    let starts = [
        vec![uniform(1, 2, 1); 3],
        (0..9).map(|k| uniform(2, 3, k)).collect(),
        vec![equal.clone(), uniform(4, 2, 7), equal],
        vec![opposite.clone(), uniform(2, 2, 3), opposite],
        many.clone(),
    ];
    for starts in starts {
        let sa = sa(3.0, starts[0].n());
        let ensemble = shares(&sa, &starts, 9.0, &options(1e-5), true)?;
        let separate = shares(&sa, &starts, 9.0, &options(1e-5), false)?;
        assert!(ensemble == separate, "{} tokens", starts[0].n());
        assert!(ensemble.iter().all(|l| l.len() == 601));
    }
    // A merged token is up to the radius away from its cluster. On average shares change by less
    // than the radius.
    let sa = sa(3.0, 40);
    let exact = shares(&sa, &many, 9.0, &options(0.0), true)?;
    let mut errors = Vec::new();
    for radius in [1e-3, 1e-2] {
        let merged = shares(&sa, &many, 9.0, &options(radius), true)?;
        let difference =
            merged.iter().flatten().zip(exact.iter().flatten()).map(|(a, b)| (a - b).abs());
        errors.push(difference.sum::<f64>() / (601.0 * 20.0));
    }
    assert!(
        errors[0] > 0.0 && errors[0] < 1e-3 && errors[1] < 1e-2 && errors[1] > 3.0 * errors[0],
        "{errors:?}"
    );
    Ok(())
}

#[test]
fn ensembles_end_in_the_states_of_separate_runs() -> Result<()> {
    let sa = sa(9.0, 24);
    let starts: Vec<Tokens> = (0..9).map(|k| uniform(24, 2, 30 + k)).collect();
    let options = Options { rtol: 1e-8, merge_radius: 1e-6, ..Options::default() };
    let parameters = RunParameters { n: 24, d: 2, beta: 9.0 };
    let share = observable::find("pair-share")?;
    let recorder = || Recorder::new(parameters, linear_times(20.0, 3), false, vec![share]);
    let mut recorders: Vec<Recorder> = starts.iter().map(|_| recorder()).collect();
    let ends = solve_many(&sa, &starts, 20.0, &options, &mut recorders)?;
    assert_eq!(ends.len(), starts.len());
    for (start, end) in starts.iter().zip(&ends) {
        let separate = solve(&sa, start, 20.0, &options, &mut [])?;
        assert_eq!(
            (&end.outcome, end.t, end.merges),
            (&Outcome::Reached, 20.0, 24 - separate.clusters.n())
        );
        assert_eq!(end.clusters.masses().len(), separate.clusters.masses().len());
        assert!(end.merges > 10 && end.clusters.n() > 1);
        let difference = max_difference(end.clusters.masses(), separate.clusters.masses());
        assert!(difference < 1e-14, "masses: {difference:e}");
        let distance = |i| chord2(end.clusters.row(i), separate.clusters.row(i)).sqrt();
        let difference = largest((0..separate.clusters.n()).map(distance));
        // Local errors of 1e-8 and displacements by merges, after twenty units of time.
        assert!(difference < 1e-5, "positions: {difference:e}");
        assert_eq!(end.one_cluster.is_some(), separate.clusters.n() == 1);
        // In a separate run a step ends at a merge; in an ensemble it does not.
        assert!((0.3..3.0).contains(&(end.evaluations as f64 / separate.stats.evaluations as f64)));
    }
    Ok(())
}

#[test]
fn observables_of_an_ensemble_are_those_of_separate_runs() -> Result<()> {
    let (n, d, beta) = (10, 3, 2.0);
    let sa = sa(beta, n);
    // The last system starts with two equal tokens.
    let mut starts: Vec<Tokens> = (0..11).map(|k| uniform(n, d, 700 + k)).collect();
    let twice = [starts[0].row(0), starts[0].row(0), &starts[0].coordinates()[2 * d..]].concat();
    starts.push(Tokens::new(d, twice)?);
    let names =
        ["mean-cosine", "clusters", "log-energy", "inner-range", "cap-radius", "pair-share"];
    let all = names.iter().map(|name| observable::find(name)).collect::<Result<Vec<_>>>()?;
    for merge_radius in [0.0, 1e-5] {
        let options = || Options { rtol: 1e-9, merge_radius, ..Options::default() };
        let recorder = || {
            Recorder::new(RunParameters { n, d, beta }, linear_times(25.0, 126), false, all.clone())
        };
        let mut recorders = vec![recorder(); starts.len()];
        solve_many(&sa, &starts, 25.0, &options(), &mut recorders)?;
        for (start, ensemble) in starts.iter().zip(&recorders) {
            let mut separate = recorder();
            solve(&sa, start, 25.0, &options(), &mut [&mut separate])?;
            let columns: Vec<&String> = separate.table.columns.iter().collect();
            assert!(separate.table.rows.len() == 126 && ensemble.table.rows.len() == 126);
            for (a, b) in separate.table.rows.iter().zip(&ensemble.table.rows) {
                for (c, (a, b)) in a.iter().zip(b).enumerate() {
                    // A count could differ by one if a sample were within the tolerance of an
                    // event: here none is.
                    let allowed = if ["t", "clusters", "pair_share"].contains(&columns[c].as_str())
                    {
                        0.0
                    } else {
                        1e-7 + 10.0 * merge_radius
                    };
                    assert!(
                        (a - b).abs() <= allowed,
                        "{}: {a} and {b}, radius {merge_radius:e}",
                        columns[c]
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
fn ensembles_and_separate_runs_agree_on_the_time_of_one_cluster() -> Result<()> {
    let share = observable::find("pair-share")?;
    // A long step can hold several merges. Then some pairs merge in another order than in a
    // separate run, and the last cluster is elsewhere by a part of the radius. `allowed` is the
    // largest number of such systems.
    for (n, d, beta, radius, rtol, allowed) in [
        (8, 3, 1.0, 1e-3, 1e-9, 0),
        (8, 3, 1.0, 1e-6, 1e-9, 0),
        (5, 2, 3.0, 1e-2, 1e-9, 0),
        (2, 4, 0.3, 1e-4, 1e-9, 0),
        (16, 3, 2.0, 1e-4, 1e-9, 0),
        (24, 3, 0.5, 1e-3, 1e-6, 2),
    ] {
        let (sa, options) =
            (sa(beta, n), Options { rtol, merge_radius: radius, ..Options::default() });
        let starts: Vec<Tokens> = (0..19).map(|k| uniform(n, d, 500 + k)).collect();
        let recorder =
            || Recorder::new(RunParameters { n, d, beta }, vec![0.0, 40.0], false, vec![share]);
        let mut recorders = vec![recorder(); starts.len()];
        let (mut formed, mut displaced) = (0, 0);
        for (start, end) in
            starts.iter().zip(solve_many(&sa, &starts, 40.0, &options, &mut recorders)?)
        {
            let separate = solve(&sa, start, 40.0, &options, &mut [])?;
            let merged = separate.merges.last().filter(|_| separate.clusters.n() == 1).map(|m| m.t);
            // Tokens approach each other at a rate of about 1, so the error of the time is about
            // the relative error of the distance. Merging displaces tokens by up to the radius.
            let difference = merged.zip(end.one_cluster).map(|(a, b)| (a - b).abs());
            displaced +=
                usize::from(difference.is_some_and(|difference| difference > 1e-6 + 10.0 * radius));
            assert!(
                merged.is_some() == end.one_cluster.is_some()
                    && difference.is_none_or(|difference| difference < 1.0),
                "{n} {beta} {radius:e}: {difference:?}"
            );
            formed += usize::from(difference.is_some());
        }
        assert!(displaced <= allowed, "{n} {d} {beta}: {displaced} of {formed}");
        assert!(formed >= 5, "{n} {d} {beta}: {formed}");
    }
    Ok(())
}

#[test]
fn clusters_that_a_merge_brings_within_the_radius_merge_at_the_same_time() -> Result<()> {
    // When the base of this triangle has shrunk to the radius, its height is 0.95 radii. Then the
    // third corner is within the radius of the middle of the base, but of neither end of the base.
    let place = |a: f64, b: f64| [a * 1e-2, b * 1e-2, (1.0 - 1e-4 * (a * a + b * b)).sqrt()];
    let start = Tokens::new(3, [place(-0.5, 0.0), place(0.5, 0.0), place(0.0, 0.95)].concat())?;
    let sa = sa(1.0, 3);
    let options = Options { rtol: 1e-6, merge_radius: 1e-3, ..Options::default() };
    let end = solve(&sa, &start, 20.0, &options, &mut [])?;
    assert!(
        end.merges.len() == 2 && end.merges[0].t.total_cmp(&end.merges[1].t).is_eq(),
        "{:?}",
        end.merges
    );
    // All differences decay at the rate 1, from 1e-2 to 1e-3.
    assert!((end.merges[0].t - 10f64.ln()).abs() < 1e-3, "{:?}", end.merges);
    // The control: a height of 1.05 radii. The second merge comes log 1.05 later.
    let higher = Tokens::new(3, [place(-0.5, 0.0), place(0.5, 0.0), place(0.0, 1.05)].concat())?;
    let end = solve(&sa, &higher, 20.0, &options, &mut [])?;
    assert!((end.merges[1].t - end.merges[0].t - 1.05f64.ln()).abs() < 1e-3, "{:?}", end.merges);
    Ok(())
}

#[test]
fn systems_that_cannot_form_an_ensemble_run_separately() -> Result<()> {
    let n = 6;
    let starts: Vec<Tokens> = (0..3).map(|k| uniform(n, 2, 90 + k)).collect();
    // Causal attention is not supported by ensembles. If the number of steps is exhausted, systems
    // are solved separately.
    for (dynamics, max_steps) in
        [(dynamics::build("causal-sa", false, &Spec::new(2.0, n))?, 200_000), (sa(2.0, n), 5)]
    {
        let options = || Options { rtol: 1e-8, max_steps, ..Options::default() };
        let (many, each) = (
            shares(&dynamics, &starts, 4.0, &options(), true)?,
            shares(&dynamics, &starts, 4.0, &options(), false)?,
        );
        assert_eq!(many, each);
        assert!(many.iter().all(|m| !m.is_empty()));
    }
    // Systems of different shapes are solved separately too.
    let mixed = [starts[0].clone(), uniform(n + 1, 2, 5), starts[1].clone()];
    let options = || Options { rtol: 1e-8, ..Options::default() };
    let (many, each) = (
        shares(&sa(2.0, n), &mixed, 4.0, &options(), true)?,
        shares(&sa(2.0, n), &mixed, 4.0, &options(), false)?,
    );
    assert!(many == each && many.iter().all(|m| m.len() > 1));
    Ok(())
}

#[test]
fn energies_lie_between_those_of_the_uniform_measure_and_of_one_point() {
    // Every discrete measure has more energy than the uniform measure, and at most the energy of a
    // Dirac mass.
    for (d, beta) in [(2, 1.0), (3, 8.0), (8, 30.0), (64, 5.0)] {
        for seed in 0..20 {
            let log = Energy::new(beta, EnergyScale::Mean)
                .log_value(&uniform(30, d, seed))
                .expect("finite");
            assert!(
                log > metastable::theory::uniform::log_energy_uniform(d, beta)
                    && log < metastable::theory::uniform::log_energy_dirac(beta)
            );
        }
    }
    assert!(bracketed_root(|x| x * x + 1.0, -1.0, 1.0, 0.0).is_none());
}

/// One token attracted by one token of a memory: `theta' = sin(2 - theta)` for every beta, because
/// the weights of a row sum to one. Only the unit of the tolerance depends on beta.
fn attracted_by_memory(beta: f64, rtol: f64, max_steps: u64) -> Result<metastable::flow::Solution> {
    use metastable::attention::multi_head::{MultiHead, Sources};
    let memory = std::sync::Arc::new(Tokens::from_angles(&[2.0])?);
    let dynamics = Dynamics::single(
        MultiHead::new(beta, vec![Head::default()])?.with_sources(Sources::Memory(memory)),
    );
    let options = Options {
        rtol,
        max_steps,
        integrator: metastable::flow::integrator("dopri5")?,
        ..Options::default()
    };
    solve(&dynamics, &Tokens::from_angles(&[0.0])?, 1.5, &options, &mut [])
}

#[test]
fn the_unit_of_the_tolerance_is_the_kernel_width() -> Result<()> {
    // The error of a step of order 5 per unit of displacement decreases like h^4. A hundred
    // times beta is a tenth of the width, and needs 10^(1/4) = 1.78 times the number of steps.
    // Without the width in the tolerance all three runs would take the same steps, except for one
    // or two shorter ones at the start.
    let exact = 2.0 - 2.0 * (1f64.tan() * (-1.5f64).exp()).atan();
    let mut last: Option<f64> = None;
    for beta in [1.0, 1e2, 1e4] {
        let end = attracted_by_memory(beta, 1e-8, 10_000)?;
        let (steps, error) = (end.stats.steps as f64, (end.clusters.angles()[0] - exact).abs());
        if let Some(before) = last {
            assert!(
                (1.6..2.0).contains(&(steps / before)),
                "beta = {beta}: {steps} steps after {before}"
            );
        }
        // The tolerance in its unit, times the length of the path, 1.3.
        assert!(error < 1.3e-8 * beta.powf(-0.5), "beta = {beta}: {error:e}");
        last = Some(steps);
    }
    Ok(())
}

#[test]
fn first_steps_are_a_hundredth_of_the_kernel_width() -> Result<()> {
    for beta in [1.0, 1e2, 1e4] {
        let end = attracted_by_memory(beta, 1e-3, 1)?;
        // The speed at the start is sin 2.
        let expected = 0.01 * beta.powf(-0.5) / 2f64.sin();
        assert!(
            matches!(end.outcome, Outcome::MaxSteps { t } if (t / expected - 1.0).abs() < 1e-12),
            "{:?} {expected:e}",
            end.outcome
        );
    }
    Ok(())
}

#[test]
fn the_accuracy_of_velocities_follows_the_kernel_width() -> Result<()> {
    use metastable::flow::velocity_accuracy;
    // A hundredth of the tolerance, which is in kernel widths, but at least 1e-13, the accuracy of
    // the sums.
    for (beta, expected) in [(1.0, 1e-8), (1e2, 1e-9), (1e4, 1e-10), (-1e4, 1e-10), (1e16, 1e-13)] {
        assert!((velocity_accuracy(1e-6, beta) / expected - 1.0).abs() < 1e-12, "{beta}");
    }
    // Velocities of accuracy 1e-7 allow tolerances from 1e-6 over the width on. Just below it, the
    // run is refused.
    let x = uniform(40, 17, 3);
    let run = |beta: f64, rtol: f64| {
        let spec = Spec {
            accuracy: 1e-7,
            kernel: metastable::attention::kernel::KernelChoice::parse("products")?,
            ..Spec::new(beta, 40)
        };
        let dynamics = dynamics::build("sa", false, &spec)?;
        solve(&dynamics, &x, 0.01, &Options { rtol, ..Options::default() }, &mut [])
    };
    for (beta, least) in [(1.0, 1e-6), (1e2, 1e-5)] {
        assert!(run(beta, 1.001 * least).is_ok(), "{beta}");
        let refused = run(beta, 0.999 * least).map(|_| ()).map_err(|e| e.to_string());
        assert!(
            refused
                .as_ref()
                .is_err_and(|e| e.contains("rtol") && e.contains(&format!("{least:.1e}"))),
            "{beta}: {refused:?}"
        );
    }
    Ok(())
}
