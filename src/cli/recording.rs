//! The files of `solve --out`.

use crate::error::{Error, Result};
use crate::flow::observable::{self, RunParameters, linear_times, log_times};
use crate::flow::{Frame, Observer, Recorder, Solution, Table};
use crate::lab::{Provenance, arrays};
use crate::operation::{Numbers, above, any, at_least, within};
use crate::parameters;
use serde_json::{Value, json};
use std::path::Path;

parameters! {
    /// Parameters of the time line.
    #[derive(Debug)]
    pub struct RecordingArguments {
        /// Observables of the time line (`list observables`), separated by commas. Default:
        /// log-energy, clusters, inner-range.
        observables: Vec<String>, any().form("NAMES").needs(&["out"]).separated().check(known);
        /// Ascending times to record: a list, or a range such as 0..10:lin21 or 1..1e6:log7.
        times: Option<Numbers>, at_least(0.0).needs(&["out"]).excludes(&["samples"]);
        /// Number of times to record, equally spaced in t, or in log t from --log-from on. Default:
        /// at most 400 ends of steps, spread over log t.
        samples: Option<usize>, within(2.0, 1e6).form("COUNT").needs(&["out"]);
        /// First time of --samples after 0; the others are equally spaced in log t.
        log_from: Option<f64>, above(0.0, f64::INFINITY).form("T").needs(&["samples"]);
    }
}

/// **Errors** an unknown observable.
fn known(name: &str) -> Result<()> {
    observable::find(name).map(drop)
}

/// Records a run at given times or at ends of steps.
pub struct TimeLine {
    recorder: Recorder,
    /// Times after each of which the next end of a step is recorded.
    loose: Option<Vec<f64>>,
    next: usize,
}

/// Largest number of rows of a time line without given times.
const LOOSE: usize = 400;

impl RecordingArguments {
    /// The recorder of a run; it records nothing unless the run is `written`.
    ///
    /// **Errors** unknown observables; observables of unit vectors off the sphere; times outside
    /// the run.
    pub fn recorder(
        &self,
        setting: RunParameters,
        t_end: f64,
        written: bool,
        unit: bool,
    ) -> Result<TimeLine> {
        let defaults: &[&str] = if unit {
            &["log-energy", "clusters", "inner-range"]
        } else {
            &["clusters", "positions"]
        };
        let names: Vec<&str> = if self.observables.is_empty() {
            defaults.to_vec()
        } else {
            self.observables.iter().map(|o| o.trim()).collect()
        };
        let observables = names.iter().map(|o| observable::find(o)).collect::<Result<Vec<_>>>()?;
        if let (false, Some(o)) = (unit, observables.iter().find(|o| o.needs_unit_vectors)) {
            return Err(Error::parameter(
                "observables",
                o.name,
                "positions, clusters or masses off the sphere",
            ));
        }
        if !written {
            return Ok(TimeLine {
                recorder: Recorder::new(setting, Vec::new(), false, observables),
                loose: None,
                next: 0,
            });
        }
        let (times, loose) = self.times(t_end)?;
        Ok(TimeLine { recorder: Recorder::new(setting, times, false, observables), loose, next: 0 })
    }

    /// Exact times, or approximate ones.
    fn times(&self, t_end: f64) -> Result<(Vec<f64>, Option<Vec<f64>>)> {
        let inside = |t: f64| t >= 0.0 && t <= t_end;
        let times = self.times.clone().unwrap_or_default().0;
        if let Some(t) = times.iter().find(|t| !inside(**t)) {
            return Err(Error::parameter(
                "times",
                t,
                format!("times in [0, {t_end}], the end of the run"),
            ));
        }
        if times.windows(2).any(|p| p[0] >= p[1]) {
            return Err(Error::parameter("times", format!("{times:?}"), "ascending times"));
        }
        if !times.is_empty() {
            return Ok((times, None));
        }
        match (self.samples, self.log_from) {
            (Some(_), Some(from)) if from >= t_end => Err(Error::parameter(
                "log_from",
                from,
                format!("a positive time below the end of the run, {t_end}"),
            )),
            (Some(count), Some(from)) => Ok((log_times(from, t_end, count), None)),
            (Some(count), None) => Ok((linear_times(t_end, count), None)),
            _ => {
                let first = 1e-3f64.min(1e-3 * t_end);
                let loose = if first > 0.0 && t_end.is_finite() {
                    log_times(first, t_end, LOOSE)
                } else {
                    vec![0.0]
                };
                Ok((Vec::new(), Some(loose)))
            }
        }
    }
}

impl TimeLine {
    /// The rows so far.
    pub fn table(&self) -> &Table {
        &self.recorder.table
    }
}

impl Observer for TimeLine {
    fn save_state(&self) -> Value {
        json!({"next": self.next, "recorder": self.recorder.save_state()})
    }

    fn restore_state(&mut self, memory: &Value) {
        self.next = memory["next"].as_u64().unwrap_or(0) as usize;
        self.recorder.restore_state(&memory["recorder"]);
    }

    fn next_time(&self) -> Option<f64> {
        self.recorder.next_time()
    }

    fn every_step(&self) -> bool {
        self.loose.is_some()
    }

    fn observe(&mut self, frame: &Frame) {
        let Some(loose) = &self.loose else { return self.recorder.observe(frame) };
        let passed = loose[self.next..].iter().take_while(|s| **s <= frame.t).count();
        // The end of the run is always recorded.
        if passed > 0 || loose.last().is_some_and(|last| frame.t >= *last) {
            self.next += passed;
            self.recorder.observe(frame);
        }
    }
}

/// Writes a run into its folder: final tokens, time line, mergers, and the record with all
/// settings.
pub fn write(
    folder: &Path,
    json: &Value,
    settings: &Value,
    timeline: &Table,
    end: &Solution,
) -> Result<()> {
    let provenance =
        Provenance::new("solve", &settings.to_string(), super::command_line::reproduce());
    let d = end.clusters.d();
    let mut columns: Vec<String> = (0..d).map(|c| format!("x_{c}")).collect();
    let mut rows: Vec<Vec<f64>> = end.tokens().chunks(d).map(<[f64]>::to_vec).collect();
    if !end.clusters.extra_numbers().is_empty() {
        columns.push("radius".into());
        rows.iter_mut()
            .zip(&end.labels)
            .for_each(|(row, l)| row.push(end.clusters.extra_numbers()[*l]));
    }
    let last = Table { columns, rows };
    let mergers = Table {
        columns: ["t", "mass", "tokens", "first"].map(String::from).to_vec(),
        rows: end
            .merges
            .iter()
            .map(|m| {
                vec![
                    m.t,
                    m.mass,
                    m.members.len() as f64,
                    m.members.first().map_or(-1.0, |i| *i as f64),
                ]
            })
            .collect(),
    };
    let mut record = json.clone();
    record["settings"] = settings.clone();
    record["final_columns"] = Value::from(last.columns.clone());
    record["timeline_columns"] = Value::from(timeline.columns.clone());
    record["provenance"] = serde_json::to_value(&provenance).unwrap_or_default();
    let header = provenance.csv_header();
    let mut files: Vec<arrays::PendingFile> = Vec::new();
    for (name, table) in [("final_tokens", &last), ("timeline", timeline), ("mergers", &mergers)] {
        files.push((
            folder.join(format!("{name}.csv")),
            Box::new(|| arrays::csv_text(table, &header).into_bytes()),
        ));
    }
    // Tokens are an array of rows, the other two are tables with names.
    files.push((folder.join("final_tokens.npy"), Box::new(|| arrays::npy_bytes(&last))));
    for (name, table) in [("timeline", timeline), ("mergers", &mergers)] {
        files.push((folder.join(format!("{name}.npy")), Box::new(|| arrays::npy_table(table))));
    }
    files.push((folder.join("record.json"), Box::new(move || record.to_string().into_bytes())));
    arrays::write_together(files)
}

/// Creates a folder; **errors** if it exists and is not empty, unless `--force` is given.
pub fn create(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
    let used = std::fs::read_dir(folder)
        .map_err(|e| Error::io(folder.display(), "read", &e))?
        .next()
        .is_some();
    if used && !super::session::current().is_forced() {
        return Err(Error::parameter(
            "--out",
            folder.display(),
            "a new or empty folder; nothing is overwritten without --force",
        ));
    }
    // Test before the run that the folder can be written.
    let probe = folder.join(".probe");
    std::fs::write(&probe, b"").map_err(|e| Error::io(folder.display(), "write into", &e))?;
    std::fs::remove_file(&probe).map_err(|e| Error::io(folder.display(), "write into", &e))
}
