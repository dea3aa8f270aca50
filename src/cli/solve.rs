//! `solve`: integrate the flow from given or random tokens.

use super::cancel::CANCEL;
use super::input::{DynamicsArguments, TokenArguments};
use super::output::{Output, finite, matrix, note};
use crate::attention::{Energy, EnergyScale, TimeScale};
use crate::error::{Error, Result};
use crate::flow::observable::{self, Setting, log_times};
use crate::flow::{Frame, Observer, Options, Outcome, Recorder, Solution, integrator, solve, velocity_accuracy};
use crate::lab::{Provenance, arrays};
use crate::landscape::critical::unrest;
use crate::sphere::geometry::dist;
use crate::theory::two_cluster::log_merge_time;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Flags of `solve`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable solve --init uniform --n 32 --d 2 --beta 9 --t-end 1e6 --format json
  metastable solve --angles pair.csv --beta 200 --t-end 1.9e165 --merge-radius 0.05")]
pub struct Arguments {
    #[command(flatten)]
    tokens: TokenArguments,
    #[command(flatten)]
    dynamics: DynamicsArguments,
    /// End time.
    #[arg(long, allow_hyphen_values = true)]
    t_end: f64,
    /// Local error per unit displacement, in kernel widths.
    #[arg(long, default_value_t = 1e-10, allow_hyphen_values = true)]
    rtol: f64,
    /// Geodesic distance at which tokens become one; 0 never.
    #[arg(long, default_value_t = 1e-10, allow_hyphen_values = true)]
    merge_radius: f64,
    /// dop853 (order 8) or dopri5 (order 5).
    #[arg(long, default_value = "dop853")]
    integrator: String,
    /// Budget of steps.
    #[arg(long, default_value_t = 1_000_000, allow_hyphen_values = true)]
    max_steps: u64,
    /// Stop as soon as one cluster is left.
    #[arg(long)]
    stop_at_one_cluster: bool,
    /// Write final tokens and a time line (CSV, NPY, JSON) into this new folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let options = Options {
            integrator: integrator(&self.integrator)?,
            rtol: self.rtol,
            merge_radius: self.merge_radius,
            max_steps: self.max_steps,
            stop_at_one_cluster: self.stop_at_one_cluster,
            cancel: Some(&CANCEL),
            ..Options::default()
        }
        .validated()?;
        let x = self.tokens.tokens()?;
        let dynamics = self.dynamics.build(x.n(), x.d(), velocity_accuracy(self.rtol, self.dynamics.beta))?;
        if let Some(folder) = &self.out {
            create(folder)?;
        }
        let beta = self.dynamics.beta;
        let setting = Setting { n: x.n(), d: x.d(), beta };
        let first = (1e-3f64).min(0.5 * self.t_end);
        let times =
            if self.out.is_some() && first > 0.0 && self.t_end.is_finite() { log_times(first, self.t_end, 400) } else { Vec::new() };
        let names = ["log-energy", "clusters", "inner-range"];
        let observables = names.iter().map(|o| observable::find(o)).collect::<Result<_>>()?;
        let mut recorder = Recorder::new(setting, times, false, observables);
        let mut saddle = ClosestSaddle { beta, least: (f64::INFINITY, 0.0) };
        let mut observers: Vec<&mut dyn Observer> = vec![&mut saddle];
        if self.out.is_some() {
            observers.push(&mut recorder);
        }
        let end = solve(&dynamics, &x, self.t_end, &options, &mut observers)?;
        super::cancel::work_is_over();
        let mut json = self.json(&end, x.d())?;
        json["remaining_merger_log10_t"] = self.last_merger(&end).map_or(Value::Null, finite);
        json["least_unrest"] = finite(saddle.least.0);
        if let Some(log10) = json["remaining_merger_log10_t"].as_f64() {
            note(&format!(
                "two clusters are left; by the exact two-cluster law they meet (at the merge radius) after a further 10^{log10:.6} units of time"
            ));
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
        if let Some(folder) = &self.out {
            write(folder, &json, &recorder.table, &end.tokens(), x.d())?;
            note(&format!("wrote {}", folder.display()));
        }
        out.result(&json, &text(&end, self.merge_radius));
        match end.outcome {
            Outcome::Interrupted { .. } => Ok(130),
            o if o.is_success() => Ok(0),
            o => {
                note(&format!("the run did not reach the end: {o}{}", flags(&o)));
                Ok(4)
            }
        }
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

/// The least unrest of a run with at least two clusters: how near it came to a saddle, and when.
struct ClosestSaddle {
    beta: f64,
    least: (f64, f64),
}

impl Observer for ClosestSaddle {
    fn next_time(&self) -> Option<f64> {
        None
    }

    fn every_step(&self) -> bool {
        true
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
    /// `log10` of the time two remaining clusters still need to come within the merge radius, by the exact law of SA and USA.
    fn last_merger(&self, end: &Solution) -> Option<f64> {
        let x = &end.clusters;
        if x.n() != 2 || self.merge_radius <= 0.0 || self.dynamics.beta < 0.0 || !self.dynamics.is_plain() {
            return None;
        }
        let (from, alpha) = (dist(x.row(0), x.row(1)), x.masses()[0]);
        // Nearer to the antipode than rounding there is nothing to measure.
        if from <= self.merge_radius || std::f64::consts::PI - from < 1e-12 {
            return None;
        }
        let weights = self.dynamics.entry().ok()?.variant?.mutual_weights()?;
        let scale = (TimeScale::parse(&self.dynamics.time_scale).ok()?, end.labels.len());
        let log = log_merge_time(weights, scale, self.dynamics.beta, alpha, from, self.merge_radius);
        log.ok().map(|l| l / std::f64::consts::LN_10)
    }

    /// The result as one JSON object.
    fn json(&self, end: &Solution, d: usize) -> Result<Value> {
        let energy = Energy::new(self.dynamics.beta, EnergyScale::Mean);
        let clusters = end.clusters_within(self.merge_radius);
        let rest = match end.outcome {
            Outcome::Stationary { t, residual: r } => json!({"t": t, "speed": r.speed, "decay": r.decay, "left": r.left}),
            _ => Value::Null,
        };
        let merges: Vec<Value> = end.merges.iter().map(|m| json!({"t": m.t, "members": m.members, "mass": m.mass})).collect();
        Ok(json!({
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
            "energy": energy.value(&end.clusters).map_or(Value::Null, finite),
            "log_energy": energy.log_value(&end.clusters).map_or(Value::Null, finite),
            "energy_normalisation": EnergyScale::Mean.describe(),
            "normalisation": self.dynamics.normalisation()?,
            "dynamics": self.dynamics.entry()?.name,
            "beta": self.dynamics.beta,
            "merge_radius": self.merge_radius,
            "rtol": self.rtol,
            "integrator": self.integrator,
        }))
    }
}

/// The result for people: one line and the first clusters.
fn text(end: &Solution, merge_radius: f64) -> String {
    let (s, clusters) = (end.stats, end.clusters_within(merge_radius));
    let mut text = format!(
        "t = {:e}: {}; {} clusters, {} merges, {} steps ({} implicit, {} rejected), {} evaluations\n",
        end.t,
        end.outcome,
        clusters.n(),
        end.merges.len(),
        s.steps,
        s.implicit,
        s.rejected,
        s.evaluations
    );
    for (row, m) in clusters.rows().zip(clusters.masses()).take(20) {
        text.push_str(&format!("  mass {m:<8.5} at {row:?}\n"));
    }
    if clusters.n() > 20 {
        text.push_str(&format!("  ... and {} more (use --format json or --out)\n", clusters.n() - 20));
    }
    text
}

/// Creates a folder that does not exist yet or is empty: nothing is overwritten.
pub(super) fn create(folder: &std::path::Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
    let used = std::fs::read_dir(folder).map_err(|e| Error::io(folder.display(), "read", &e))?.next().is_some();
    if used {
        return Err(Error::parameter("--out", folder.display(), "a new or empty folder; nothing is overwritten"));
    }
    // A folder that cannot be written is found out before the run, not after it.
    let probe = folder.join(".probe");
    std::fs::write(&probe, b"").map_err(|e| Error::io(folder.display(), "write into", &e))?;
    std::fs::remove_file(&probe).map_err(|e| Error::io(folder.display(), "write into", &e))
}

fn write(folder: &std::path::Path, json: &Value, table: &crate::flow::Table, tokens: &[f64], d: usize) -> Result<()> {
    let reproduce = format!("metastable {}", std::env::args().skip(1).collect::<Vec<_>>().join(" "));
    let provenance = Provenance::new("solve", &reproduce, reproduce.clone());
    let columns = (0..d).map(|c| format!("x_{c}")).collect();
    let end = crate::flow::Table { columns, rows: tokens.chunks(d).map(<[f64]>::to_vec).collect() };
    let mut record = json.clone();
    record["provenance"] = serde_json::to_value(&provenance).unwrap_or_default();
    for (name, bytes) in [
        ("final_tokens.csv", arrays::csv_text(&end, &provenance.csv_header()).into_bytes()),
        ("final_tokens.npy", arrays::npy_bytes(&end)),
        ("timeline.csv", arrays::csv_text(table, &provenance.csv_header()).into_bytes()),
        ("timeline.npy", arrays::npy_bytes(table)),
        ("record.json", record.to_string().into_bytes()),
    ] {
        arrays::write_atomically(&folder.join(name), &bytes)?;
    }
    Ok(())
}
