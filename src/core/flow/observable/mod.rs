//! Observables: named columns measured on a frame, one file each with an [`Observable`]. Observers
//! do not influence the run.

use crate::attention::Dynamics;
use crate::attention::kernel::{Batch, Workspace};
use crate::error::{Error, Result};
use crate::sphere::Tokens;
use serde_json::{Value, json};
use std::cell::RefCell;

#[doc(hidden)]
pub mod attention_entropy;
#[doc(hidden)]
pub mod cap_radius;
#[doc(hidden)]
pub mod clusters;
#[doc(hidden)]
pub mod effective_rank;
#[doc(hidden)]
pub mod energy;
#[doc(hidden)]
pub mod grad_norm;
#[doc(hidden)]
pub mod head_energy;
#[doc(hidden)]
pub mod hull_support;
#[doc(hidden)]
pub mod inner_histogram;
#[doc(hidden)]
pub mod inner_range;
#[doc(hidden)]
pub mod log_energy;
#[doc(hidden)]
pub mod masses;
#[doc(hidden)]
pub mod mean_cosine;
#[doc(hidden)]
pub mod order_parameter;
#[doc(hidden)]
pub mod pair_share;
#[doc(hidden)]
pub mod positions;
#[doc(hidden)]
pub mod radii;
#[doc(hidden)]
pub mod residual;

/// The state that an observer sees.
pub struct Frame<'a> {
    /// Time (or depth).
    pub t: f64,
    /// The tokens with their masses; merged tokens are one.
    pub tokens: &'a Tokens,
    /// For every initial token, the index of its row in `tokens`.
    pub labels: &'a [usize],
    /// The dynamics that moves them.
    pub dynamics: &'a Dynamics,
    /// Buffers of the run.
    pub work: &'a RefCell<Workspace>,
    /// Geodesic distance within which tokens count as one cluster; 0: equal to rounding.
    pub merge_radius: f64,
}

/// Observes frames at its own sample times.
pub trait Observer {
    /// The next sample time, if any.
    fn next_time(&self) -> Option<f64> {
        None
    }
    /// Whether it also observes the state after every accepted step.
    fn every_step(&self) -> bool {
        false
    }
    /// Observes a frame.
    fn observe(&mut self, frame: &Frame);
    /// The state to be saved in a checkpoint; null if there is none.
    fn save_state(&self) -> Value {
        Value::Null
    }
    /// Restores a saved state.
    fn restore_state(&mut self, state: &Value) {
        let _ = state;
    }
}

/// Parameters of a run that observables may need.
#[derive(Clone, Copy, Debug)]
pub struct RunParameters {
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
    /// Description.
    pub summary: &'static str,
    /// True if the observable is defined for unit vectors only.
    pub needs_unit_vectors: bool,
    /// Column names.
    pub columns: fn(&RunParameters) -> Vec<String>,
    /// Appends one number per column.
    pub measure: fn(&RunParameters, &Frame, &mut Vec<f64>),
    /// Measures all systems of a batch at once, system by system, if there is a faster way.
    pub batch: Option<fn(&Batch, &mut Vec<f64>)>,
}

/// All observables, by name.
pub static ALL: &[&Observable] = include!(concat!(env!("OUT_DIR"), "/observables.rs"));

/// Finds observables by name. **Errors** an unknown name.
pub fn find(name: &str) -> Result<&'static Observable> {
    ALL.iter()
        .copied()
        .find(|e| e.name == name)
        .ok_or_else(|| Error::unknown("observable", name, ALL.iter().map(|e| e.name)))
}

/// A table of numbers with named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Column names.
    pub columns: Vec<String>,
    /// The rows; all have the same length.
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
    setting: RunParameters,
    times: Vec<f64>,
    next: usize,
    every_step: bool,
    observables: Vec<&'static Observable>,
    /// The rows so far.
    pub table: Table,
}

impl Recorder {
    /// A recorder at sorted sample times, and after every step if `every_step`.
    pub fn new(
        setting: RunParameters,
        times: Vec<f64>,
        every_step: bool,
        observables: Vec<&'static Observable>,
    ) -> Self {
        let columns = std::iter::once("t".to_owned())
            .chain(observables.iter().flat_map(|o| (o.columns)(&setting)))
            .collect();
        Self {
            setting,
            times,
            next: 0,
            every_step,
            observables,
            table: Table { columns, rows: Vec::new() },
        }
    }
}

impl Recorder {
    /// The batch function of the observable, if it is the only one and has one.
    pub(super) fn batch_measure(&self) -> Option<fn(&Batch, &mut Vec<f64>)> {
        if let [only] = self.observables[..] { only.batch } else { None }
    }

    /// The remaining sample times.
    pub(super) fn pending(&self) -> &[f64] {
        &self.times[self.next..]
    }

    /// Adds a row of measured values.
    pub(super) fn push_row(&mut self, t: f64, values: &[f64]) {
        self.next += self.due(t);
        self.table.rows.push(std::iter::once(t).chain(values.iter().copied()).collect());
    }

    /// The number of sample times up to t. Layers may be coarser than the sample times: one frame
    /// then counts for several of them.
    fn due(&self, t: f64) -> usize {
        self.times[self.next..].iter().take_while(|s| **s <= t * (1.0 + 1e-12)).count()
    }
}

impl Observer for Recorder {
    fn save_state(&self) -> Value {
        let rows: Vec<Vec<u64>> =
            self.table.rows.iter().map(|r| r.iter().map(|v| v.to_bits()).collect()).collect();
        json!({"next": self.next, "rows": rows})
    }

    fn restore_state(&mut self, state: &Value) {
        self.next = state["next"].as_u64().unwrap_or(0) as usize;
        let row = |r: &Value| {
            r.as_array()
                .into_iter()
                .flatten()
                .map(|v| f64::from_bits(v.as_u64().unwrap_or(0)))
                .collect()
        };
        self.table.rows = state["rows"].as_array().into_iter().flatten().map(row).collect();
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
    let time = |k: usize| {
        if k + 2 >= count {
            t_end
        } else {
            t_first * (ratio * k as f64 / (count.max(3) - 2) as f64).exp()
        }
    };
    std::iter::once(0.0).chain((0..count - 1).map(time)).collect()
}
