//! `solve`: integrate the motion of given or random tokens.

use super::checkpoint::CheckpointFile;
use super::input::{DynamicsArguments, TokenArguments, end_time};
use super::model_flags::note_tokens_without_keys;
use super::output::{counted, finite, matrix, more, note, set_all_digits, shown, vector};
use super::recording::{RecordingArguments, write};
use super::session::{self, Session};
use crate::attention::kernel::Workspace;
use crate::attention::model::Model;
use crate::attention::{Dynamics, Energy, EnergyScale, RowWeights};
use crate::error::{Error, Result};
use crate::flow::observable::RunParameters;
use crate::flow::observable::clusters::{count_clusters, linking_radius};
use crate::flow::{
    CheckpointSink, Frame, Observer, Options, Outcome, SDE_VELOCITY_ACCURACY, SdeOptions, Solution,
    Stats, parameters::Integration, solve, solve_sde, velocity_accuracy,
};
use crate::lab::{ModelSpec, model::NoiseSettings, provenance::hash};
use crate::landscape::critical::relative_gradient_norm;
use crate::operation::{
    Answer, Exit, Operation, Parameters, Rows, Table, any, at_least, column, within,
};
use crate::parameters;
use crate::sphere::{Tokens, geometry::dist};
use crate::theory::two_cluster::log_merge_time;
use serde_json::{Value, json};
use std::path::PathBuf;

parameters! {
    /// Parameters of `solve`.
    struct Solve {
        ..tokens: TokenArguments;
        ..dynamics: DynamicsArguments;
        ..integration: Integration;
        ..recording: RecordingArguments;
        /// End time.
        t_end: f64, at_least(0.0).check(end_time);
        /// Write the final tokens and a time line (CSV, NPY, JSON) into this new folder.
        out: Option<PathBuf>, any().form("FOLDER");
        /// Minutes between checkpoints in --out (default 3); an interruption writes one too. Repeat
        /// the command to resume. Runs with noise have no checkpoints.
        keep_every: Option<f64>, within(0.0, 1e5).form("MINUTES").needs(&["out"]);
        /// Distribute the run over the processes of `mpirun -n P`, with the kernel `blocks`; its
        /// results do not depend on P.
        mpi: bool;
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "solve",
    group: "Simulate",
    summary: "Integrate the motion of tokens",
    notes: "Examples:
  metastable solve --init uniform --n 32 --d 2 --beta 9 --t-end 1e6 --format json
  metastable solve --angles pair.csv --beta 200 --t-end 1.9e165 --merge-radius 0.05
  metastable solve --tokens points.csv --beta 4 --t-end 20 --model norm=pre --model mask=window:w=8
  metastable solve --tokens points.csv --model rescaled=true --model v=v.csv --beta 1 --t-end 10
  metastable solve --init uniform --n 32 --d 3 --seed 7 --masses power:0.5 \\
      --model q=low-rank:rank=1 --beta 4 --t-end 20
  metastable solve --init uniform --n 64 --d 3 --beta 4 --t-end 5 --noise kappa=20,seed=1,step=0.01
  metastable solve --init uniform --n 64 --d 3 --beta 4 --t-end 50 --out run \\
      --observables positions,clusters --samples 100",
    parameters: Solve::table,
    results: &[
        column("clusters", "number of clusters"),
        column("cluster_masses", "their masses"),
        column(
            "stationary",
            "if the tokens are at rest: time, speed, rate of decay and remaining distance",
        ),
        column("t", "time at the end"),
        column("outcome", "how the run ended"),
        column("message", "how it ended, in words"),
        column("merges", "mergers: time, members, mass"),
        column("stats", "numbers of steps, evaluations and of tokens without keys"),
        column("energy", "energy at the end"),
        column("log_energy", "its logarithm"),
        column("energy_normalisation", "what the energy is"),
        column("log_energy_normalisation", "what its logarithm is of"),
        column("normalisation", "time normalisation of USA; null for other dynamics"),
        column("dynamics", "name of the dynamics"),
        column("beta", "inverse temperature"),
        column("merge_radius", "distance at which tokens merge"),
        column("rtol", "tolerance"),
        column("integrator", "the integrator"),
        column("remaining_merger_log10_t", "log10 of the time until two remaining clusters merge"),
        column("min_relative_gradient_norm", "how near the run came to a saddle"),
        column("model", "keys of the model and hashes of its files"),
    ],
    tables: &[Table {
        name: "tokens",
        what: "one row for each token at the end",
        rows: Rows::Lists,
        columns: &[
            column("final_tokens", "its place"),
            column("final_masses", "mass of its cluster"),
            column("final_radii", "its radius, for spaces with radii"),
            column("labels", "its cluster"),
        ],
    }],
    exits: &[
        (Exit::Shown, "the run reached its end"),
        (Exit::Failure, "the run did not reach its end"),
        (Exit::Interrupted, "interrupted"),
    ],
    run: |given, _| {
        let solve = Solve::of(given)?;
        let noise = solve.dynamics.parts.has("noise");
        if let Some(flag) = WITHOUT_NOISE.iter().find(|name| noise && given.has(name)) {
            let expected = "none with --noise: its steps have a fixed length, its tokens never \
                            merge and its runs have no checkpoints";
            return Err(Error::parameter(*flag, "it together with --noise", expected));
        }
        solve.run(given.has("merge_radius"))
    },
    ..Operation::EMPTY
};

/// Says if the weights of an interaction are too inaccurate for the tolerance at the start.
fn note_lost_weights(dynamics: &Dynamics, x: &Tokens, rtol: f64) {
    let mut v = vec![0.0; x.numbers().len()];
    dynamics.rates(0.0, x, &mut Workspace::default(), &mut v);
    let error = dynamics.relative_error(x, &v[..x.coordinates().len()]).unwrap_or(0.0);
    if error > rtol {
        note(&format!(
            "the weights of this interaction are accurate relative to the largest one: velocities \
             at the start have relative errors of up to {error:.0e}, more than --rtol, so slow \
             motion is not resolved; named interactions (`explain interaction`) keep small weights"
        ));
    }
}

/// Parameters of the adaptive integrators, which noise does not use.
const WITHOUT_NOISE: [&str; 6] =
    ["rtol", "merge_radius", "integrator", "max_steps", "stop_at_one_cluster", "keep_every"];

impl Solve {
    /// Runs it, alone or as one of several processes.
    fn run(self, has_merge_radius: bool) -> Result<Answer> {
        if !self.mpi {
            return self.work(has_merge_radius);
        }
        let processes = super::mpi::init()?;
        processes.finish(self.work(has_merge_radius))
    }

    fn work(self, has_merge_radius: bool) -> Result<Answer> {
        set_all_digits(self.tokens.all_digits);
        let session = session::current();
        let options = self.options(&session)?;
        let model_spec = self.dynamics.parts.model_spec()?.with_seed(self.tokens.seed());
        let model = &model_spec.model;
        self.dynamics.note_past(&self.tokens, &model_spec)?;
        let x = self.tokens.placed(&model_spec, self.dynamics.parts.radii()?.as_deref())?;
        let accuracy = if model_spec.noise_settings.is_some() {
            SDE_VELOCITY_ACCURACY
        } else {
            velocity_accuracy(self.rtol(), self.dynamics.beta())
        };
        let (dynamics, taken) = self.dynamics.build(model, &x, accuracy)?;
        let beta = self.dynamics.beta();
        let setting = RunParameters { n: x.n(), d: x.d(), beta };
        let mut recorder = self.recording.recorder(
            setting,
            self.t_end,
            self.out.is_some(),
            x.space().is_unit(),
        )?;
        let settings = self.settings(&model_spec, &x)?;
        let keep = |folder| {
            CheckpointFile::open(
                folder,
                &json!([settings, format!("{:?}", self.recording)]),
                self.keep_every.unwrap_or(3.0),
            )
        };
        let checkpoint = super::mpi::agree(&settings, self.out.as_deref().map(keep).transpose())?;
        let options = Options {
            checkpoint_sink: checkpoint.as_ref().map(|k| k as &dyn CheckpointSink),
            resume: checkpoint.as_ref().and_then(|k| k.checkpoint.as_ref()),
            ..options
        };
        let blind = note_tokens_without_keys(model, &x, self.dynamics.is_causal(model)?)?;
        let mut saddle = ClosestSaddle { beta, least: (f64::INFINITY, 0.0) };
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        // The gradient is that of all pairs; row weights do not change its zeros. With other
        // interactions slow tokens are not near a saddle: their weights are small.
        let row_weights = model.row_weights.clone();
        if *model == (Model { row_weights, ..Model::default() }) {
            observers.push(&mut saddle);
        }
        note_lost_weights(&dynamics, &x, self.rtol());
        if self.out.is_some() {
            observers.push(&mut recorder);
        }
        let _ending = super::cancel::ends_itself();
        let mut reporter = ProgressReporter { t_end: self.t_end, last: 0.0, steps: 0.0 };
        observers.push(&mut reporter);
        let end = match &model_spec.noise_settings {
            Some(noise_settings) => {
                self.solve_with_noise(&dynamics, &x, noise_settings, &mut observers)?
            }
            None => solve(&dynamics, &x, self.t_end, &options, &mut observers)?,
        };
        let mut json = self.json(&end, &dynamics, model, x.d())?;
        json["remaining_merger_log10_t"] =
            self.last_merger(&end, &model_spec).map_or(Value::Null, finite);
        json["min_relative_gradient_norm"] = finite(saddle.least.0);
        json["stats"]["tokens_without_keys"] = json!(blind);
        json["stats"]["accuracy_of_kernel"] = json!(taken);
        json["stats"]["merging_ignored"] = json!(end.merging_ignored);
        json["model"] = json!(model_spec);
        let merging = (has_merge_radius, end.merging_ignored);
        self.print_notes(&end, &model_spec, &json, (&saddle, merging));
        if let Some(folder) = &self.out {
            if super::mpi::is_root() {
                write(folder, &json, &settings, recorder.table(), &end)?;
            }
            if let Some(checkpoint) =
                checkpoint.filter(|_| !matches!(end.outcome, Outcome::Interrupted { .. }))
            {
                checkpoint.remove();
            }
            note(&format!("wrote {}", folder.display()));
        }
        let text = text(&end, self.merge_radius(), linking_radius(&dynamics, beta));
        let answer = Answer::new(json, text);
        Ok(match end.outcome {
            Outcome::Interrupted { .. } => answer.ended(Exit::Interrupted),
            o if o.is_success() => answer,
            o => {
                note(&format!("the run did not reach its end: {o}{}", flags(&o)));
                answer.ended(Exit::Failure)
            }
        })
    }

    fn rtol(&self) -> f64 {
        self.integration.rtol
    }

    fn merge_radius(&self) -> f64 {
        self.integration.merge_radius
    }

    fn options<'a>(&self, session: &'a Session) -> Result<Options<'a>> {
        let cancel = Some(super::mpi::cancel_flag(session));
        Options { cancel, ..self.integration.options()? }.validated()
    }

    /// Solves with noise, in steps of the given length.
    fn solve_with_noise(
        &self,
        dynamics: &Dynamics,
        x: &Tokens,
        noise_settings: &NoiseSettings,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Solution> {
        let NoiseSettings { noise, seed, step, splitting } = *noise_settings;
        let seed = seed.unwrap_or(self.tokens.seed());
        let session = session::current();
        let plan = SdeOptions {
            noise: &noise,
            step,
            seed,
            splitting,
            cancel: Some(super::mpi::cancel_flag(&session)),
        };
        let (end, outcome) = solve_sde(dynamics, x, self.t_end, &plan, observers)?;
        let t = match outcome {
            Outcome::Interrupted { t } | Outcome::NonFinite { t, .. } => t,
            _ => self.t_end,
        };
        let steps = (t / step - 1e-9).ceil().max(0.0) as u64;
        let stats = Stats { steps, rejected: 0, evaluations: 12 * steps, implicit: 0 };
        let labels = (0..end.n()).collect();
        Ok(Solution {
            outcome,
            t,
            labels,
            clusters: end,
            merges: Vec::new(),
            hits: Vec::new(),
            stats,
            merging_ignored: false,
        })
    }

    /// Prints notes about merging and saddles.
    fn print_notes(
        &self,
        end: &Solution,
        model_spec: &ModelSpec,
        json: &Value,
        (saddle, merging): (&ClosestSaddle, (bool, bool)),
    ) {
        if merging == (true, true) {
            note(
                "--merge-radius: tokens of this dynamics never merge, because they do not move in a common velocity field; it only counts clusters",
            );
        }
        if let Some(log10) = json["remaining_merger_log10_t"].as_f64() {
            note(&format!(
                "two clusters are left; by the exact two-cluster law they merge after a further 10^{log10:.6} units of time"
            ));
        }
        let pair = end.clusters.n() == 2
            && self.mutual(model_spec).is_some()
            && self.dynamics.beta() >= 0.0;
        if pair && std::f64::consts::PI - dist(end.clusters.row(0), end.clusters.row(1)) < 1e-12 {
            note(
                "the two remaining tokens are antipodal to rounding: this is a saddle, which almost every start leaves",
            );
        }
        if end.merges.iter().any(|m| m.t > saddle.least.1) && saddle.least.0 < RESOLVED {
            note(&format!(
                "at t = {:.3e} the tokens were within {:.1e} of a saddle: the time spent there, and every later time, depends on rounding (double precision resolves log(1/distance) to \
                 {:.0} %)",
                saddle.least.1,
                saddle.least.0,
                100.0 * f64::EPSILON / saddle.least.0.max(f64::EPSILON)
            ));
        }
    }

    /// All settings that determine the results, with hashes of all files.
    fn settings(&self, model_spec: &ModelSpec, x: &Tokens) -> Result<Value> {
        let bytes =
            |values: &[f64]| hash(values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
        Ok(json!({
            "tokens": {"n": x.n(), "d": x.d(), "space": x.space().name(), "sha256": bytes(x.numbers())},
            "masses": {"equal": x.uniform_mass().is_some(), "sha256": bytes(x.masses()), "values": x.uniform_mass().is_none().then(|| x.masses())},
            "dynamics": self.dynamics.entry(&model_spec.model)?.name,
            "beta": self.dynamics.beta,
            "normalisation": self.dynamics.normalisation(&model_spec.model)?,
            "model": model_spec,
            "t_end": self.t_end,
            "rtol": self.rtol(),
            "merge_radius": self.merge_radius(),
            "integrator": self.integration.integrator,
            "max_steps": self.integration.max_steps,
            "stop_at_one_cluster": self.integration.stop_at_one_cluster,
        }))
    }
}

/// The flags that let a run continue after it ended early.
fn flags(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::MaxSteps { .. } => " (--max-steps, --rtol)",
        Outcome::StepTooSmall { .. } => " (--rtol)",
        _ => "",
    }
}

/// Relative gradient norm below which rounding determines when a saddle is left.
const RESOLVED: f64 = 1e-13;

/// Reports progress; estimates the remaining steps from the length of the last one.
struct ProgressReporter {
    t_end: f64,
    last: f64,
    steps: f64,
}

impl Observer for ProgressReporter {
    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        let h = frame.t - std::mem::replace(&mut self.last, frame.t);
        self.steps += 1.0;
        let share = || (h > 0.0).then(|| self.steps / (self.steps + (self.t_end - frame.t) / h));
        super::progress::report_with(|| {
            (
                share(),
                format!("t = {:.4e} of {}, {} tokens", frame.t, time(self.t_end), frame.tokens.n()),
            )
        });
    }
}

/// The smallest relative gradient norm of a run with at least two clusters, and its time: how near
/// the run came to a saddle.
struct ClosestSaddle {
    beta: f64,
    least: (f64, f64),
}

impl Observer for ClosestSaddle {
    fn every_step(&self) -> bool {
        true
    }

    fn save_state(&self) -> Value {
        json!([self.least.0.to_bits(), self.least.1.to_bits()])
    }

    fn restore_state(&mut self, memory: &Value) {
        if let (Some(least), Some(t)) = (memory[0].as_u64(), memory[1].as_u64()) {
            self.least = (f64::from_bits(least), f64::from_bits(t));
        }
    }

    fn observe(&mut self, frame: &Frame) {
        if (2..=64).contains(&frame.tokens.n()) {
            let now = match frame.dynamics.pair_energy() {
                Some(energy) => energy.relative_gradient_norm(frame.tokens),
                None => relative_gradient_norm(self.beta, frame.tokens),
            };
            if now < self.least.0 {
                self.least = (now, frame.t);
            }
        }
    }
}

impl Solve {
    /// The row weights, if the dynamics is plain attention between all tokens.
    fn mutual(&self, model_spec: &ModelSpec) -> Option<RowWeights> {
        self.dynamics
            .entry(&model_spec.model)
            .ok()?
            .variant?
            .mutual_weights()
            .filter(|_| model_spec.is_plain())
    }

    /// `log10` of the time until two remaining clusters come within the merge radius, by the exact
    /// law of SA and USA.
    fn last_merger(&self, end: &Solution, model_spec: &ModelSpec) -> Option<f64> {
        let x = &end.clusters;
        if x.n() != 2 || self.merge_radius() <= 0.0 || self.dynamics.beta() < 0.0 {
            return None;
        }
        let (from, alpha) = (dist(x.row(0), x.row(1)), x.masses()[0]);
        // Within rounding of the antipode the angle is not known.
        if from <= self.merge_radius() || std::f64::consts::PI - from < 1e-12 {
            return None;
        }
        let weights = self.mutual(model_spec)?;
        let scale = (self.dynamics.time_scale().ok()?, end.labels.len());
        let log =
            log_merge_time(weights, scale, self.dynamics.beta(), alpha, from, self.merge_radius());
        log.ok().map(|l| l / std::f64::consts::LN_10)
    }

    /// The energy and its logarithm at the end; null off the sphere. An interaction of its own has
    /// its own energy, without a logarithm, unless matrices act.
    fn energies(&self, end: &Solution, dynamics: &Dynamics, model: &Model) -> (Value, Value) {
        let (x, beta) = (&end.clusters, self.dynamics.beta());
        if !x.space().is_unit() {
            return (Value::Null, Value::Null);
        }
        if let Some(energy) = dynamics.pair_energy() {
            let plain = model.heads.is_empty();
            return (if plain { finite(energy.value(x)) } else { Value::Null }, Value::Null);
        }
        let (value, log) = Energy::new(beta, EnergyScale::Mean).value_and_log_unit(x);
        (value.map_or(Value::Null, finite), finite(log))
    }

    /// The result as one JSON object.
    fn json(&self, end: &Solution, dynamics: &Dynamics, model: &Model, d: usize) -> Result<Value> {
        let clusters = end.clusters_within(self.merge_radius());
        let rest = match end.outcome {
            Outcome::Stationary { t, residual: r } => {
                json!({"t": t, "speed": r.speed, "decay_rate": r.decay_rate, "remaining_distance": r.remaining_distance})
            }
            _ => Value::Null,
        };
        let merges: Vec<Value> = end
            .merges
            .iter()
            .map(|m| json!({"t": m.t, "members": m.members, "mass": m.mass}))
            .collect();
        // The energy is defined for unit vectors; its logarithm is the column of the time line.
        let (value, log) = self.energies(end, dynamics, model);
        let mut json = json!({
            "final_tokens": matrix(&end.tokens(), d),
            "final_masses": end.clusters.masses(),
            "clusters": clusters.n(),
            "cluster_masses": clusters.masses(),
            "stationary": rest,
            "labels": end.labels,
            "t": end.t,
            "outcome": end.outcome.name(),
            "message": if end.outcome == Outcome::Reached { String::new() } else { end.outcome.to_string() },
            "merges": merges,
            "stats": {"steps": end.stats.steps, "rejected": end.stats.rejected, "evaluations": end.stats.evaluations, "implicit": end.stats.implicit},
            "energy": value,
            "log_energy": log,
            "energy_normalisation": dynamics.pair_energy().map_or(
                EnergyScale::Mean.describe(),
                |energy| energy.describe(),
            ),
            "log_energy_normalisation": EnergyScale::Unit.describe(),
            "normalisation": self.dynamics.normalisation(model)?,
            "dynamics": self.dynamics.entry(model)?.name,
            "beta": self.dynamics.beta,
            "merge_radius": self.merge_radius(),
            "rtol": self.rtol(),
            "integrator": self.integration.integrator,
        });
        if !end.clusters.extra_numbers().is_empty() {
            let radii: Vec<f64> =
                end.labels.iter().map(|l| end.clusters.extra_numbers()[*l]).collect();
            json["final_radii"] = json!(radii);
        }
        Ok(json)
    }
}

/// A time in its shortest form, with an exponent if that is shorter.
fn time(t: f64) -> String {
    if (1e-3..1e5).contains(&t) || t == 0.0 { t.to_string() } else { format!("{t:e}") }
}

/// The result as text: one line and the first clusters.
fn text(end: &Solution, merge_radius: f64, link: f64) -> String {
    let (s, clusters) = (end.stats, end.clusters_within(merge_radius));
    // Merged tokens are one cluster; clusters within `link` look like one.
    let linked = if end.clusters.space().is_unit() {
        count_clusters(&end.clusters, link)
    } else {
        clusters.n()
    };
    let near = if linked < clusters.n() {
        format!(" ({linked} if those closer than {link:.2} count as one)")
    } else {
        String::new()
    };
    let mut text = format!(
        "t = {}: {}; {}{near}, {}, {} ({} implicit, {} rejected), {}\n",
        time(end.t),
        end.outcome,
        counted(clusters.n(), "cluster"),
        counted(end.merges.len(), "merge"),
        counted(s.steps as usize, "step"),
        s.implicit,
        s.rejected,
        counted(s.evaluations as usize, "evaluation")
    );
    // Off the sphere clusters have no mean direction, so the tokens are listed.
    let listed = if end.clusters.space().is_unit() { &clusters } else { &end.clusters };
    for (row, m) in listed.rows().zip(listed.masses()).take(shown(listed.n())) {
        text.push_str(&format!("  mass {m:<8.5} at {}\n", vector(row)));
    }
    text.push_str(&more(listed.n()));
    text
}
