//! The state of a run between two turns, from which the same run goes on with the same bytes.

use super::coalesce::Merge;
use super::clock::Clock;
use super::outcome::Stats;
use super::particles::Particles;
use crate::num::dd::Dd;
use crate::sphere::Tokens;
use serde::{Deserialize, Serialize};

/// What a run must remember: everything that its steps to come depend on, and what it has to tell at its end.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct RunState {
    /// The time, as a sum of two numbers.
    t: [f64; 2],
    /// The step planned.
    h: f64,
    shrunk: bool,
    broken: u32,
    /// Steps, refused steps, velocities, implicit steps.
    work: [u64; 4],
    numbers: Vec<f64>,
    masses: Vec<f64>,
    labels: Vec<usize>,
    merges: Vec<(f64, Vec<usize>, f64)>,
    rest: (u32, u32, f64),
    memory: Vec<f64>,
}

impl RunState {
    /// Of a run whose stepper can be left now, whose dynamics does not depend on time, and that has no events.
    pub(super) fn of(clock: &Clock, particles: &Particles) -> Option<Self> {
        if !particles.dynamics.facts().autonomous || !particles.options.events.is_empty() {
            return None;
        }
        let high = clock.now();
        let Stats { steps, rejected, evaluations, implicit } = clock.stats;
        let (shrunk, broken) = clock.refusals();
        Some(Self {
            t: [high, (clock.t - Dd::from(high)).to_f64()],
            h: clock.h,
            shrunk,
            broken,
            work: [steps, rejected, evaluations + particles.evaluations(), implicit],
            numbers: particles.live.numbers().to_vec(),
            masses: particles.live.masses().to_vec(),
            labels: particles.labels().to_vec(),
            merges: particles.merges().iter().map(|m| (m.t, m.members.clone(), m.mass)).collect(),
            rest: particles.rest_memory(),
            memory: particles.memory()?,
        })
    }

    /// Puts a run that was just begun from `start` into this state; false when it is not a state of such a run.
    pub(super) fn put(&self, clock: &mut Clock, particles: &mut Particles) -> bool {
        let start = &particles.live;
        let (n, d) = (self.masses.len(), start.d());
        let fits = self.labels.len() == particles.labels().len() && self.labels.iter().all(|l| *l < n);
        let size = start.numbers().len() / start.n();
        if !fits || n == 0 || n > start.n() || self.numbers.len() != n * size || (n < start.n() && size != d) {
            return false;
        }
        let live = if n < start.n() {
            Tokens::from_parts(d, self.numbers.clone(), self.masses.clone())
        } else {
            let mut x = start.clone();
            x.numbers_mut().copy_from_slice(&self.numbers);
            x
        };
        let merges = self.merges.iter().map(|(t, members, mass)| Merge { t: *t, members: members.clone(), mass: *mass }).collect();
        clock.t = Dd::from(self.t[0]) + Dd::from(self.t[1]);
        clock.h = self.h;
        clock.set_refusals(self.shrunk, self.broken);
        particles.put(clock.now(), live, self.labels.clone(), merges, self.rest, &self.memory);
        let [steps, rejected, evaluations, implicit] = self.work;
        clock.stats = Stats { steps, rejected, evaluations: evaluations.saturating_sub(particles.evaluations()), implicit };
        true
    }
}
