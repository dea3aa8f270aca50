//! Observables: named columns measured on a frame, one file each with an [`Observable`]. Observers never steer the flow.

use crate::attention::Dynamics;
use crate::attention::kernel::{Batch, Workspace};
use crate::error::{Error, Result};
use crate::sphere::Tokens;
use serde_json::{Value, json};
use std::cell::RefCell;

pub mod attention_entropy;
pub mod cap_radius;
pub mod clusters;
pub mod effective_rank;
pub mod energy;
pub mod grad_norm;
pub mod head_energy;
pub mod hull_support;
pub mod inner_histogram;
pub mod inner_range;
pub mod log_energy;
pub mod masses;
pub mod mean_cosine;
pub mod order_parameter;
pub mod pair_share;
pub mod positions;
pub mod radii;
pub mod residual;

/// What an observer sees.
pub struct Frame<'a> {
    /// Time (or depth).
    pub t: f64,
    /// The live tokens with their masses.
    pub tokens: &'a Tokens,
    /// For every initial token its row in `tokens`.
    pub labels: &'a [usize],
    /// The dynamics that moves them.
    pub dynamics: &'a Dynamics,
    /// Buffers of the run.
    pub work: &'a RefCell<Workspace>,
    /// Geodesic distance up to which tokens count as one cluster; 0 when equal to rounding.
    pub merge_radius: f64,
}

/// Sees frames at its own times.
pub trait Observer {
    /// The next sample time, if any.
    fn next_time(&self) -> Option<f64> {
        None
    }
    /// True to see the state after every accepted step as well.
    fn every_step(&self) -> bool {
        false
    }
    /// Sees a frame.
    fn observe(&mut self, frame: &Frame);
    /// What it must know to go on after a pause; null where that is nothing.
    fn memory(&self) -> Value {
        Value::Null
    }
    /// Goes on with this memory.
    fn recall(&mut self, memory: &Value) {
        let _ = memory;
    }
}

/// Fixed facts of a run that observables may need.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Initial number of tokens.
    pub n: usize,
    /// Ambient dimension.
    pub d: usize,
    /// Inverse temperature.
    pub beta: f64,
}

/// A registered observable.
pub struct Observable {
    /// Name in experiments.
    pub name: &'static str,
    /// What it measures.
    pub summary: &'static str,
    /// True where it means something for unit vectors only.
    pub needs_unit: bool,
    /// Column names.
    pub columns: fn(&Setting) -> Vec<String>,
    /// Appends one number per column.
    pub measure: fn(&Setting, &Frame, &mut Vec<f64>),
    /// The same for all systems of a batch at once, system by system, where that is worth having.
    pub batch: Option<fn(&Batch, &mut Vec<f64>)>,
}

/// All observables, by name.
pub static ALL: &[&Observable] = include!(concat!(env!("OUT_DIR"), "/observables.rs"));

/// Finds observables by name. **Errors** an unknown name.
pub fn find(name: &str) -> Result<&'static Observable> {
    ALL.iter().copied().find(|e| e.name == name).ok_or_else(|| Error::unknown("observable", name, ALL.iter().map(|e| e.name)))
}

/// A table of numbers with named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows of the same length.
    pub rows: Vec<Vec<f64>>,
}

impl Table {
    /// A column by name; empty when absent.
    pub fn column(&self, name: &str) -> Vec<f64> {
        match self.columns.iter().position(|c| c == name) {
            Some(c) => self.rows.iter().map(|r| r[c]).collect(),
            None => Vec::new(),
        }
    }
}

/// Writes observables at given times into one table; the first column is `t`.
#[derive(Clone)]
pub struct Recorder {
    setting: Setting,
    times: Vec<f64>,
    next: usize,
    every_step: bool,
    observables: Vec<&'static Observable>,
    /// The rows so far.
    pub table: Table,
}

impl Recorder {
    /// A recorder at sorted times, or at every step when `every_step`.
    pub fn new(setting: Setting, times: Vec<f64>, every_step: bool, observables: Vec<&'static Observable>) -> Self {
        let columns = std::iter::once("t".to_owned()).chain(observables.iter().flat_map(|o| (o.columns)(&setting))).collect();
        Self { setting, times, next: 0, every_step, observables, table: Table { columns, rows: Vec::new() } }
    }
}

impl Recorder {
    /// The observable, when it is the only one and can measure batches.
    pub(super) fn batched(&self) -> Option<fn(&Batch, &mut Vec<f64>)> {
        if let [only] = self.observables[..] { only.batch } else { None }
    }

    /// The sample times to come.
    pub(super) fn pending(&self) -> &[f64] {
        &self.times[self.next..]
    }

    /// Books a row that was measured elsewhere.
    pub(super) fn book(&mut self, t: f64, values: &[f64]) {
        self.next += self.due(t);
        self.table.rows.push(std::iter::once(t).chain(values.iter().copied()).collect());
    }

    /// Layers may be coarser than the sample times: one frame then answers several of them.
    fn due(&self, t: f64) -> usize {
        self.times[self.next..].iter().take_while(|s| **s <= t * (1.0 + 1e-12)).count()
    }
}

impl Observer for Recorder {
    fn memory(&self) -> Value {
        let rows: Vec<Vec<u64>> = self.table.rows.iter().map(|r| r.iter().map(|v| v.to_bits()).collect()).collect();
        json!({"next": self.next, "rows": rows})
    }

    fn recall(&mut self, memory: &Value) {
        self.next = memory["next"].as_u64().unwrap_or(0) as usize;
        let row = |r: &Value| r.as_array().into_iter().flatten().map(|v| f64::from_bits(v.as_u64().unwrap_or(0))).collect();
        self.table.rows = memory["rows"].as_array().into_iter().flatten().map(row).collect();
    }

    fn next_time(&self) -> Option<f64> {
        self.times.get(self.next).copied()
    }

    fn every_step(&self) -> bool {
        self.every_step
    }

    fn observe(&mut self, frame: &Frame) {
        self.next += self.due(frame.t);
        let mut row = vec![frame.t];
        for o in &self.observables {
            (o.measure)(&self.setting, frame, &mut row);
        }
        self.table.rows.push(row);
    }
}

/// `count` equally spaced times from 0 to `t_end`.
pub fn linear_times(t_end: f64, count: usize) -> Vec<f64> {
    (0..count).map(|k| t_end * k as f64 / (count.max(2) - 1) as f64).collect()
}

/// 0 and `count - 1` times equally spaced in `log t` from `t_first` to `t_end`.
pub fn log_times(t_first: f64, t_end: f64, count: usize) -> Vec<f64> {
    let ratio = (t_end / t_first).ln();
    let time = |k: usize| if k + 2 >= count { t_end } else { t_first * (ratio * k as f64 / (count.max(3) - 2) as f64).exp() };
    std::iter::once(0.0).chain((0..count - 1).map(time)).collect()
}
