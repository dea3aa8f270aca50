//! `solve`: integrate the flow from given or random tokens.

use super::checkpoint::Kept;
use super::input::{DynamicsArguments, TokenArguments};
use super::model::note_blind;
use super::output::{Output, counted, finite, matrix, more, note, shown, vector};
use super::recording::{RecordingArguments, write};
use crate::attention::model::Model;
use crate::attention::{Dynamics, Energy, EnergyScale, RowWeights};
use crate::error::{Error, Result};
use crate::flow::observable::Setting;
use crate::flow::observable::clusters::{count, link};
use crate::flow::{
    Frame, Keeper, Observer, Options, Outcome, Solution, Stats, WALK_ACCURACY, Walk, integrator, solve, velocity_accuracy, walk,
};
use crate::lab::{Described, model::Shaking, provenance::hash};
use crate::landscape::critical::unrest;
use crate::sphere::{Tokens, geometry::dist};
use crate::theory::two_cluster::log_merge_time;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Flags of `solve`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable solve --init uniform --n 32 --d 2 --beta 9 --t-end 1e6 --format json
  metastable solve --angles pair.csv --beta 200 --t-end 1.9e165 --merge-radius 0.05
  metastable solve --tokens points.csv --norm pre --beta 4 --t-end 20 --mask window:w=8 --bias alibi
  metastable solve --tokens points.csv --rescaled --v v.csv --beta 1 --t-end 10
  metastable solve --init uniform --n 32 --d 3 --seed 7 --q low-rank:rank=1 --masses power:0.5 --beta 4 --t-end 20
  metastable solve --init uniform --n 64 --d 3 --beta 4 --t-end 5 --noise kappa=20,seed=1,step=0.01
  metastable solve --init uniform --n 64 --d 3 --beta 4 --t-end 50 --out run --observables positions,clusters --samples 100")]
pub struct Arguments {
    #[command(flatten)]
    tokens: TokenArguments,
    #[command(flatten)]
    dynamics: DynamicsArguments,
    /// End time.
    #[arg(long, allow_hyphen_values = true)]
    t_end: f64,
    /// Local error per unit displacement, in kernel widths (default 1e-10).
    #[arg(long, allow_hyphen_values = true)]
    rtol: Option<f64>,
    /// Geodesic distance at which tokens become one; 0 never (default 1e-10).
    #[arg(long, allow_hyphen_values = true)]
    merge_radius: Option<f64>,
    /// dop853 (order 8, default) or dopri5 (order 5).
    #[arg(long)]
    integrator: Option<String>,
    /// Budget of steps (default 1000000).
    #[arg(long, allow_hyphen_values = true)]
    max_steps: Option<u64>,
    /// Stop as soon as one cluster is left.
    #[arg(long)]
    stop_at_one_cluster: bool,
    /// Write final tokens and a time line (CSV, NPY, JSON) into this new folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Keep the run in --out so often (default 3), and when it is interrupted; the same command goes on from there. Runs with noise are not kept.
    #[arg(long, value_name = "MINUTES", requires = "out", allow_hyphen_values = true)]
    keep_every: Option<f64>,
    #[command(flatten)]
    recording: RecordingArguments,
    /// One run shared by the processes that `mpirun -n P` started: the kernel `blocks`, whose bytes do not depend on P.
    #[arg(long)]
    mpi: bool,
}

impl Arguments {
    /// Runs it, alone or as one of several processes.
    pub fn run(self, out: &Output) -> Result<i32> {
        if !self.mpi {
            return self.work(out);
        }
        let company = super::company::join()?;
        let code = self.work(out);
        company.left(code)
    }

    fn work(self, out: &Output) -> Result<i32> {
        out.in_full(self.tokens.full);
        let options = self.options()?;
        let described = self.dynamics.parts.described()?.seeded(self.tokens.seed());
        let model = &described.model;
        self.dynamics.note_past(&self.tokens, &described)?;
        let x = self.tokens.placed(&described, self.dynamics.parts.radii()?.as_deref())?;
        let accuracy = if described.shaking.is_some() { WALK_ACCURACY } else { velocity_accuracy(self.rtol(), self.dynamics.beta) };
        let (dynamics, taken) = self.dynamics.build(model, &x, accuracy)?;
        let beta = self.dynamics.beta;
        let setting = Setting { n: x.n(), d: x.d(), beta };
        let mut recorder = self.recording.recorder(setting, self.t_end, self.out.is_some(), x.space().is_unit())?;
        let settings = self.settings(&described, &x)?;
        let keep = |folder| Kept::open(folder, &json!([settings, format!("{:?}", self.recording)]), self.keep_every.unwrap_or(3.0));
        let kept = super::company::agreed(&settings, self.out.as_deref().map(keep).transpose())?;
        let options =
            Options { keeper: kept.as_ref().map(|k| k as &dyn Keeper), resume: kept.as_ref().and_then(|k| k.pause.as_ref()), ..options };
        let blind = note_blind(model, &x, self.dynamics.is_causal(model)?)?;
        let mut saddle = ClosestSaddle { beta, least: (f64::INFINITY, 0.0) };
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        // Saddles are those of plain attention.
        if *model == Model::default() {
            observers.push(&mut saddle);
        }
        if self.out.is_some() {
            observers.push(&mut recorder);
        }
        let mut said = Said { t_end: self.t_end, last: 0.0, steps: 0.0 };
        observers.push(&mut said);
        let end = match &described.shaking {
            Some(shaking) => self.shaken(&dynamics, &x, shaking, &mut observers)?,
            None => solve(&dynamics, &x, self.t_end, &options, &mut observers)?,
        };
        super::cancel::work_is_over();
        let mut json = self.json(&end, model, x.d())?;
        json["remaining_merger_log10_t"] = self.last_merger(&end, &described).map_or(Value::Null, finite);
        json["least_unrest"] = finite(saddle.least.0);
        json["stats"]["tokens_that_see_nothing"] = json!(blind);
        json["stats"]["accuracy_of_kernel"] = json!(taken);
        json["stats"]["merging_ignored"] = json!(end.merging_ignored);
        json["model"] = json!(described);
        self.remarks(&end, &described, &json, &saddle);
        if let Some(folder) = &self.out {
            if super::company::is_first() {
                write(folder, &json, &settings, recorder.table(), &end)?;
            }
            if let Some(kept) = kept.filter(|_| !matches!(end.outcome, Outcome::Interrupted { .. })) {
                kept.over();
            }
            note(&format!("wrote {}", folder.display()));
        }
        out.result(&json, &text(&end, self.merge_radius(), link(beta)));
        match end.outcome {
            Outcome::Interrupted { .. } => Ok(130),
            o if o.is_success() => Ok(0),
            o => {
                note(&format!("the run did not reach the end: {o}{}", flags(&o)));
                Ok(4)
            }
        }
    }

    fn rtol(&self) -> f64 {
        self.rtol.unwrap_or(1e-10)
    }

    fn merge_radius(&self) -> f64 {
        self.merge_radius.unwrap_or(1e-10)
    }

    fn integrator(&self) -> &str {
        self.integrator.as_deref().unwrap_or("dop853")
    }

    fn options(&self) -> Result<Options<'static>> {
        Options {
            integrator: integrator(self.integrator())?,
            rtol: self.rtol(),
            merge_radius: self.merge_radius(),
            max_steps: self.max_steps.unwrap_or(1_000_000),
            stop_at_one_cluster: self.stop_at_one_cluster,
            cancel: Some(super::company::cancel()),
            ..Options::default()
        }
        .validated()
    }

    /// A path with noise, whose steps all have the length that was given.
    fn shaken(&self, dynamics: &Dynamics, x: &Tokens, shaking: &Shaking, observers: &mut [&mut dyn Observer]) -> Result<Solution> {
        let given = [
            ("--rtol", self.rtol.is_some()),
            ("--merge-radius", self.merge_radius.is_some()),
            ("--integrator", self.integrator.is_some()),
            ("--max-steps", self.max_steps.is_some()),
            ("--stop-at-one-cluster", self.stop_at_one_cluster),
            ("--keep-every", self.keep_every.is_some()),
        ];
        if let Some((flag, _)) = given.iter().find(|g| g.1) {
            return Err(Error::parameter(
                *flag,
                *flag,
                "none with --noise, whose steps have the length it gives, whose tokens never become one and whose runs are not kept",
            ));
        }
        let Shaking { noise, seed, step, splitting } = *shaking;
        let seed = seed.unwrap_or(self.tokens.seed());
        let plan = Walk { noise: &noise, step, seed, splitting, cancel: Some(super::company::cancel()) };
        let (end, outcome) = walk(dynamics, x, self.t_end, &plan, observers)?;
        let t = match outcome {
            Outcome::Interrupted { t } | Outcome::NonFinite { t, .. } => t,
            _ => self.t_end,
        };
        let steps = (t / step - 1e-9).ceil().max(0.0) as u64;
        let stats = Stats { steps, rejected: 0, evaluations: 12 * steps, implicit: 0 };
        let labels = (0..end.n()).collect();
        Ok(Solution { outcome, t, labels, clusters: end, merges: Vec::new(), hits: Vec::new(), stats, merging_ignored: false })
    }

    /// What people should know beside the numbers.
    fn remarks(&self, end: &Solution, described: &Described, json: &Value, saddle: &ClosestSaddle) {
        if end.merging_ignored && self.merge_radius.is_some() {
            note(
                "--merge-radius: tokens of this dynamics never become one, as they move in no common field; clusters are counted within the radius",
            );
        }
        if let Some(log10) = json["remaining_merger_log10_t"].as_f64() {
            note(&format!(
                "two clusters are left; by the exact two-cluster law they meet (at the merge radius) after a further 10^{log10:.6} units of time"
            ));
        }
        let pair = end.clusters.n() == 2 && self.mutual(described).is_some() && self.dynamics.beta >= 0.0;
        if pair && std::f64::consts::PI - dist(end.clusters.row(0), end.clusters.row(1)) < 1e-12 {
            note("the two tokens that are left are antipodal to rounding: a saddle, which nearly all starts leave");
        }
        if end.merges.iter().any(|m| m.t > saddle.least.1) && saddle.least.0 < RESOLVED {
            note(&format!(
                "at t = {:.3e} the tokens were within {:.1e} of a saddle: how long they stayed there, and every later time, depends on rounding (double precision keeps log(1/distance) to \
                 {:.0} %)",
                saddle.least.1,
                saddle.least.0,
                100.0 * f64::EPSILON / saddle.least.0.max(f64::EPSILON)
            ));
        }
    }

    /// Everything that decides the numbers, with the content of every file.
    fn settings(&self, described: &Described, x: &Tokens) -> Result<Value> {
        let bytes = |values: &[f64]| hash(values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
        Ok(json!({
            "tokens": {"n": x.n(), "d": x.d(), "space": x.space().name(), "sha256": bytes(x.numbers())},
            "masses": {"equal": x.uniform_mass().is_some(), "sha256": bytes(x.masses()), "values": x.uniform_mass().is_none().then(|| x.masses())},
            "dynamics": self.dynamics.entry(&described.model)?.name,
            "beta": self.dynamics.beta,
            "normalisation": self.dynamics.normalisation(&described.model)?,
            "model": described,
            "t_end": self.t_end,
            "rtol": self.rtol(),
            "merge_radius": self.merge_radius(),
            "integrator": self.integrator(),
            "max_steps": self.max_steps.unwrap_or(1_000_000),
            "stop_at_one_cluster": self.stop_at_one_cluster,
        }))
    }
}

/// The flags by which a run that ended early gets further.
fn flags(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::MaxSteps { .. } => " (--max-steps, --rtol)",
        Outcome::StepTooSmall { .. } => " (--rtol)",
        _ => "",
    }
}

/// Distance from a saddle, in units of the forces, below which rounding decides when it is left.
const RESOLVED: f64 = 1e-13;

/// Says how far the run is: by the steps it still needs, if they stay as long as the last one.
struct Said {
    t_end: f64,
    last: f64,
    steps: f64,
}

impl Observer for Said {
    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        let h = frame.t - std::mem::replace(&mut self.last, frame.t);
        self.steps += 1.0;
        let share = || (h > 0.0).then(|| self.steps / (self.steps + (self.t_end - frame.t) / h));
        super::progress::report_with(|| (share(), format!("t = {:.4e} of {}, {} tokens", frame.t, time(self.t_end), frame.tokens.n())));
    }
}

/// The least unrest of a run with at least two clusters: how near it came to a saddle, and when.
struct ClosestSaddle {
    beta: f64,
    least: (f64, f64),
}

impl Observer for ClosestSaddle {
    fn every_step(&self) -> bool {
        true
    }

    fn memory(&self) -> Value {
        json!([self.least.0.to_bits(), self.least.1.to_bits()])
    }

    fn recall(&mut self, memory: &Value) {
        if let (Some(least), Some(t)) = (memory[0].as_u64(), memory[1].as_u64()) {
            self.least = (f64::from_bits(least), f64::from_bits(t));
        }
    }

    fn observe(&mut self, frame: &Frame) {
        if (2..=64).contains(&frame.tokens.n()) {
            let now = unrest(self.beta, frame.tokens);
            if now < self.least.0 {
                self.least = (now, frame.t);
            }
        }
    }
}

impl Arguments {
    /// The weights of plain attention by which all tokens draw each other.
    fn mutual(&self, described: &Described) -> Option<RowWeights> {
        self.dynamics.entry(&described.model).ok()?.variant?.mutual_weights().filter(|_| described.is_plain())
    }

    /// `log10` of the time two remaining clusters still need to come within the merge radius, by the exact law of SA and USA.
    fn last_merger(&self, end: &Solution, described: &Described) -> Option<f64> {
        let x = &end.clusters;
        if x.n() != 2 || self.merge_radius() <= 0.0 || self.dynamics.beta < 0.0 {
            return None;
        }
        let (from, alpha) = (dist(x.row(0), x.row(1)), x.masses()[0]);
        // Nearer to the antipode than rounding there is nothing to measure.
        if from <= self.merge_radius() || std::f64::consts::PI - from < 1e-12 {
            return None;
        }
        let weights = self.mutual(described)?;
        let scale = (self.dynamics.time_scale().ok()?, end.labels.len());
        let log = log_merge_time(weights, scale, self.dynamics.beta, alpha, from, self.merge_radius());
        log.ok().map(|l| l / std::f64::consts::LN_10)
    }

    /// The result as one JSON object.
    fn json(&self, end: &Solution, model: &Model, d: usize) -> Result<Value> {
        let clusters = end.clusters_within(self.merge_radius());
        let rest = match end.outcome {
            Outcome::Stationary { t, residual: r } => json!({"t": t, "speed": r.speed, "decay": r.decay, "left": r.left}),
            _ => Value::Null,
        };
        let merges: Vec<Value> = end.merges.iter().map(|m| json!({"t": m.t, "members": m.members, "mass": m.mass})).collect();
        // The energy is that of unit vectors; its logarithm is the column of the time line.
        let energies =
            end.clusters.space().is_unit().then(|| Energy::new(self.dynamics.beta, EnergyScale::Mean).value_and_log_unit(&end.clusters));
        let (value, log) = energies.map_or((Value::Null, Value::Null), |(e, log)| (e.map_or(Value::Null, finite), finite(log)));
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
            "energy_normalisation": EnergyScale::Mean.describe(),
            "log_energy_normalisation": EnergyScale::Unit.describe(),
            "normalisation": self.dynamics.normalisation(model)?,
            "dynamics": self.dynamics.entry(model)?.name,
            "beta": self.dynamics.beta,
            "merge_radius": self.merge_radius(),
            "rtol": self.rtol(),
            "integrator": self.integrator(),
        });
        if !end.clusters.own().is_empty() {
            let radii: Vec<f64> = end.labels.iter().map(|l| end.clusters.own()[*l]).collect();
            json["final_radii"] = json!(radii);
        }
        Ok(json)
    }
}

/// A time with its shortest digits, powers of ten where they are shorter.
fn time(t: f64) -> String {
    if (1e-3..1e5).contains(&t) || t == 0.0 { t.to_string() } else { format!("{t:e}") }
}

/// The result for people: one line and the first clusters.
fn text(end: &Solution, merge_radius: f64, link: f64) -> String {
    let (s, clusters) = (end.stats, end.clusters_within(merge_radius));
    // Two notions of a cluster: points that stand for several tokens, and what is so near that it looks like one.
    let linked = if end.clusters.space().is_unit() { count(&end.clusters, link) } else { clusters.n() };
    let near = if linked < clusters.n() { format!(" ({linked} where those nearer than {link:.2} are one)") } else { String::new() };
    let mut text = format!(
        "t = {}: {}; {}{near}, {}, {} steps ({} implicit, {} rejected), {} evaluations\n",
        time(end.t),
        end.outcome,
        counted(clusters.n(), "cluster"),
        counted(end.merges.len(), "merge"),
        s.steps,
        s.implicit,
        s.rejected,
        s.evaluations
    );
    // Off the sphere clusters have no mean direction: the tokens themselves.
    let listed = if end.clusters.space().is_unit() { &clusters } else { &end.clusters };
    for (row, m) in listed.rows().zip(listed.masses()).take(shown(listed.n())) {
        text.push_str(&format!("  mass {m:<8.5} at {}\n", vector(row)));
    }
    text.push_str(&more(listed.n()));
    text
}
