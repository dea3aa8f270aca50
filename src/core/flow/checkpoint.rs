//! Checkpoints: the complete state of a run at the end of a step. A run resumed from it gives the
//! same results as one that was never interrupted.

use super::event::EventHit;
use super::merging::Merge;
use super::outcome::Stats;
use crate::error::{Error, Result};
use crate::sphere::Tokens;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Numbers stored by their bits: exact, infinities included.
type Bits = Vec<u64>;

/// The saved state of a run. Resume it with the dynamics, options and observers of the original
/// run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunCheckpoint {
    /// Bits of the time, a double-double number.
    pub(super) t: [u64; 2],
    /// Bits of the next step.
    pub(super) h: u64,
    pub(super) last_rejected: bool,
    pub(super) nonfinite_steps: u32,
    /// Accepted steps, rejected steps, evaluations (including those of the stepper), implicit
    /// steps.
    pub(super) stats: [u64; 4],
    /// The tokens: their coordinates, and radii where the space has them.
    numbers: Bits,
    masses: Bits,
    /// For every initial token, the index of its present token.
    pub(super) labels: Vec<usize>,
    /// Time, members and mass of every merge.
    merges: Vec<(u64, Vec<usize>, u64)>,
    /// Index, name and time of every event hit.
    hits: Vec<(usize, String, u64)>,
    /// The event functions at the end of the step.
    pub(super) events: Bits,
    /// The state of the steady-state detector.
    pub(super) steady_state: [u64; 4],
    /// The state of the stepper.
    pub(super) stepper: Bits,
    /// The state of every observer.
    pub(super) observers: Vec<Value>,
}

/// Stores checkpoints of a run.
pub trait CheckpointSink: Sync {
    /// Whether to save a checkpoint now; called after every step.
    fn due(&self) -> bool;
    /// Saves a checkpoint.
    fn save(&self, checkpoint: &RunCheckpoint);
}

/// The bits of numbers.
pub(super) fn bits(numbers: &[f64]) -> Bits {
    numbers.iter().map(|v| v.to_bits()).collect()
}

/// The numbers with these bits.
pub(super) fn numbers(bits: &[u64]) -> Vec<f64> {
    bits.iter().map(|b| f64::from_bits(*b)).collect()
}

impl RunCheckpoint {
    /// A checkpoint with the tokens of a run, its merges and its event hits.
    pub(super) fn new(
        live: &Tokens,
        labels: &[usize],
        merges: &[Merge],
        hits: &[EventHit],
    ) -> Self {
        Self {
            numbers: bits(live.numbers()),
            masses: bits(live.masses()),
            labels: labels.to_vec(),
            merges: merges
                .iter()
                .map(|m| (m.t.to_bits(), m.members.clone(), m.mass.to_bits()))
                .collect(),
            hits: hits.iter().map(|h| (h.index, h.name.clone(), h.t.to_bits())).collect(),
            ..Self::default()
        }
    }

    /// The time reached.
    pub fn time(&self) -> f64 {
        f64::from_bits(self.t[0])
    }

    /// The tokens at the checkpoint of a run that started from `start`.
    ///
    /// **Errors** a checkpoint of another run.
    pub(super) fn tokens(&self, start: &Tokens) -> Result<Tokens> {
        let (n, d) = (self.masses.len(), start.d());
        let fits = self.labels.len() == start.n()
            && self.labels.iter().all(|l| *l < n)
            && self.numbers.len() == n * (d + start.space().extra_per_token());
        if !fits || n == 0 || (n < start.n() && !start.space().is_unit()) {
            let expected = format!("the checkpoint of a run of {} tokens with d = {d}", start.n());
            return Err(Error::parameter(
                "checkpoint",
                format!("{} tokens of {}", n, self.labels.len()),
                expected,
            ));
        }
        let mut live = if n == start.n() {
            start.clone()
        } else {
            Tokens::from_parts(d, vec![0.0; n * d], numbers(&self.masses))
        };
        live.numbers_mut().copy_from_slice(&numbers(&self.numbers));
        Ok(live)
    }

    pub(super) fn merges(&self) -> Vec<Merge> {
        let one = |(t, members, mass): &(u64, Vec<usize>, u64)| Merge {
            t: f64::from_bits(*t),
            members: members.clone(),
            mass: f64::from_bits(*mass),
        };
        self.merges.iter().map(one).collect()
    }

    pub(super) fn hits(&self) -> Vec<EventHit> {
        self.hits
            .iter()
            .map(|(index, name, t)| EventHit {
                index: *index,
                name: name.clone(),
                t: f64::from_bits(*t),
            })
            .collect()
    }

    pub(super) fn stats(&self, stepper: u64) -> Stats {
        let [steps, rejected, evaluations, implicit] = self.stats;
        Stats { steps, rejected, evaluations: evaluations.saturating_sub(stepper), implicit }
    }
}
