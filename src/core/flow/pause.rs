//! A run at the end of a step: all that decides its further way, so that another process goes on as if nothing had happened.

use super::coalesce::Merge;
use super::event::Hit;
use super::outcome::Stats;
use crate::error::{Error, Result};
use crate::sphere::Tokens;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Numbers by their bits: what is read is what was written, infinities too.
type Bits = Vec<u64>;

/// A run that can go on. Numbers are kept exactly; the dynamics, the options and the observers are those of the run that made it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pause {
    pub(super) t: [u64; 2],
    pub(super) h: u64,
    pub(super) shrunk: bool,
    pub(super) broken: u32,
    /// Steps, rejected, evaluations (those of the stepper too), implicit.
    pub(super) stats: [u64; 4],
    numbers: Bits,
    masses: Bits,
    pub(super) labels: Vec<usize>,
    merges: Vec<(u64, Vec<usize>, u64)>,
    hits: Vec<(usize, String, u64)>,
    pub(super) events: Bits,
    pub(super) rest: [u64; 4],
    pub(super) stepper: Bits,
    pub(super) observers: Vec<Value>,
}

/// Keeps a run while it runs.
pub trait Keeper: Sync {
    /// True when it is time to keep the run; asked after every step.
    fn due(&self) -> bool;
    /// Keeps it.
    fn keep(&self, pause: &Pause);
}

/// The bits of numbers.
pub(super) fn bits(numbers: &[f64]) -> Bits {
    numbers.iter().map(|v| v.to_bits()).collect()
}

/// Numbers of their bits.
pub(super) fn numbers(bits: &[u64]) -> Vec<f64> {
    bits.iter().map(|b| f64::from_bits(*b)).collect()
}

impl Pause {
    /// The tokens of a run and what has happened to them.
    pub(super) fn of(live: &Tokens, labels: &[usize], merges: &[Merge], hits: &[Hit]) -> Self {
        Self {
            numbers: bits(live.numbers()),
            masses: bits(live.masses()),
            labels: labels.to_vec(),
            merges: merges.iter().map(|m| (m.t.to_bits(), m.members.clone(), m.mass.to_bits())).collect(),
            hits: hits.iter().map(|h| (h.index, h.name.clone(), h.t.to_bits())).collect(),
            ..Self::default()
        }
    }

    /// The time reached.
    pub fn time(&self) -> f64 {
        f64::from_bits(self.t[0])
    }

    /// The live tokens of a run that began with these.
    ///
    /// **Errors** a pause of another run.
    pub(super) fn tokens(&self, start: &Tokens) -> Result<Tokens> {
        let (n, d) = (self.masses.len(), start.d());
        let fits =
            self.labels.len() == start.n() && self.labels.iter().all(|l| *l < n) && self.numbers.len() == n * (d + start.space().own());
        if !fits || n == 0 || (n < start.n() && !start.space().is_unit()) {
            let expected = format!("the pause of a run of {} tokens with d = {d}", start.n());
            return Err(Error::parameter("pause", format!("{} tokens of {}", n, self.labels.len()), expected));
        }
        let mut live = if n == start.n() { start.clone() } else { Tokens::from_parts(d, vec![0.0; n * d], numbers(&self.masses)) };
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

    pub(super) fn hits(&self) -> Vec<Hit> {
        self.hits.iter().map(|(index, name, t)| Hit { index: *index, name: name.clone(), t: f64::from_bits(*t) }).collect()
    }

    pub(super) fn stats(&self, stepper: u64) -> Stats {
        let [steps, rejected, evaluations, implicit] = self.stats;
        Stats { steps, rejected, evaluations: evaluations.saturating_sub(stepper), implicit }
    }
}
