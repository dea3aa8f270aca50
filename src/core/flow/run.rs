//! A run that goes on in turns: between them its state can be seen, or the work left to others.

use super::clock::{Clock, StepRule};
use super::drive::drive;
use super::outcome::{Outcome, Solution, Stats};
use super::particles::Particles;
use crate::attention::kernel::in_a_row;
use crate::error::Result;
use crate::sphere::Tokens;
use std::sync::atomic::AtomicBool;

/// Tokens on their way from 0 to the end time; made by [`begin`](super::begin) and [`begin_walk`](super::begin_walk).
///
/// ```
/// use metastable::{attention::{dynamics, Spec}, flow::{Options, begin, solve}, sphere::Tokens};
/// let sa = dynamics::build("sa", false, &Spec::new(4.0, 3))?;
/// let x = Tokens::from_angles(&[0.0, 1.0, 2.5])?;
/// let options = Options::default();
/// let (mut none, mut steps) = ([], 0);
/// let mut run = begin(&sa, &x, 10.0, &options, &mut none)?;
/// while run.go(5)?.is_none() {
///     steps += 5;
/// }
/// // Turns change nothing.
/// let whole = solve(&sa, &x, 10.0, &options, &mut [])?;
/// assert_eq!(run.finish().clusters, whole.clusters);
/// assert!(steps > 0);
/// # Ok::<(), metastable::error::Error>(())
/// ```
pub struct Run<'a, 'o, 'p> {
    particles: Particles<'a, 'o, 'p>,
    clock: Clock,
    rule: StepRule,
    cancel: Option<&'a AtomicBool>,
}

impl<'a, 'o, 'p> Run<'a, 'o, 'p> {
    /// A run whose observers have seen its start.
    pub(super) fn new(particles: Particles<'a, 'o, 'p>, clock: Clock, rule: StepRule, cancel: Option<&'a AtomicBool>) -> Self {
        Self { particles, clock, rule, cancel }
    }

    /// At most so many attempted steps; how the run ended, when it has. Turns change no number of a run.
    ///
    /// **Errors** what a system says of itself.
    pub fn go(&mut self, steps: u64) -> Result<Option<&Outcome>> {
        if self.clock.outcome.is_none() {
            let tried = self.clock.stats.steps + self.clock.stats.rejected;
            let max_steps = self.rule.max_steps.min(tried.saturating_add(steps));
            let rule = StepRule { max_steps, ..self.rule };
            let Self { particles, clock, cancel, .. } = self;
            let live = particles.live.clone();
            in_a_row(&live, || drive(particles, std::slice::from_mut(clock), &rule, *cancel))?;
            if max_steps < self.rule.max_steps && matches!(self.clock.outcome, Some(Outcome::MaxSteps { .. })) {
                self.clock.outcome = None;
            }
        }
        Ok(self.clock.outcome.as_ref())
    }

    /// The time reached.
    pub fn t(&self) -> f64 {
        self.clock.now()
    }

    /// The surviving tokens with their summed masses.
    pub fn tokens(&self) -> &Tokens {
        &self.particles.live
    }

    /// For every initial token, the index of its survivor.
    pub fn labels(&self) -> &[usize] {
        self.particles.labels()
    }

    /// Work done.
    pub fn stats(&self) -> Stats {
        self.clock.stats
    }

    /// The solution, of a run that was left as interrupted.
    pub fn finish(self) -> Solution {
        self.particles.finish(self.clock)
    }
}
