//! Which step moves the tokens: explicit ones, and implicit ones where stability, not accuracy, would keep the explicit ones short.

use super::implicit::ImplicitStep;
use super::ode_system::OdeSystem;
use super::stepper::Stepper;
use crate::attention::Dynamics;
use crate::error::Result;
use crate::sphere::Tokens;
use std::ops::{Deref, DerefMut};

/// When implicit steps are taken; they need a dynamics with [`Dynamics::triangular`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Implicit {
    /// Where explicit steps are limited by stability.
    #[default]
    Auto,
    /// Never.
    Never,
    /// Always.
    Always,
}

/// Accepted explicit steps between two looks at the linearised velocity, at first and at most.
const WAIT: (u32, u32) = (16, 4096);

/// Explicit steps are held up when `h rho` is at least this and no token moves by more than this share of the kernel width: some mode decays by a
/// factor e per step, and nothing is there to be resolved. (Beyond it the rounding of that mode fills the error estimate, well before stability ends.)
const HELD_UP: (f64, f64) = (1.0, 0.01);

/// Implicit steps below this `h rho`, which explicit ones could have taken, and how many in a row before these take over again.
const SHORT: (f64, u32) = (3.0, 3);

/// An implicit excursion pays when its `h rho` grows beyond this.
const PAYS: f64 = 30.0;

/// Explicit steps, and implicit ones where the dynamics knows its linearisation: dereferences to
/// those in use.
///
/// The test of stiffness is exact: the spectrum of a block triangular Jacobian is that of its diagonal blocks. Explicit steps h are given up when
/// `h rho` reaches 1 though hardly anything moves, and taken up again when the error test keeps the implicit steps short as well. An excursion that
/// does not pay doubles the wait for the next one.
pub(super) struct Mover<'a> {
    explicit: Box<dyn Stepper + 'a>,
    implicit: Option<ImplicitStep<'a>>,
    mode: Implicit,
    /// Length over which weights change.
    width: f64,
    stiff: bool,
    /// Accepted steps since the last change or look.
    since: u32,
    wait: u32,
    short: u32,
    /// Largest `h rho` of this excursion.
    reach: f64,
}

impl<'a> Deref for Mover<'a> {
    type Target = dyn Stepper + 'a;

    fn deref(&self) -> &Self::Target {
        match &self.implicit {
            Some(implicit) if self.stiff => implicit,
            _ => &*self.explicit,
        }
    }
}

impl DerefMut for Mover<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.implicit {
            Some(implicit) if self.stiff => implicit,
            _ => &mut *self.explicit,
        }
    }
}

impl<'a> Mover<'a> {
    /// Explicit steps only.
    pub fn only(explicit: Box<dyn Stepper + 'a>) -> Self {
        let (mode, width) = (Implicit::Never, 1.0);
        Self { explicit, implicit: None, mode, width, stiff: false, since: 0, wait: WAIT.0, short: 0, reach: 0.0 }
    }

    /// These explicit steps, and implicit ones where the dynamics knows its linearisation.
    pub fn begin(explicit: Box<dyn Stepper>, mode: Implicit, dynamics: &'a Dynamics, x: &Tokens) -> Self {
        let implicit = ImplicitStep::new(dynamics, x).filter(|_| mode != Implicit::Never);
        let stiff = implicit.is_some() && mode == Implicit::Always;
        Self { implicit, mode, width: dynamics.length_scale(), stiff, ..Self::only(explicit) }
    }

    /// Rates evaluated so far, by steps of both kinds.
    pub fn evaluations(&self) -> u64 {
        self.explicit.evaluations() + self.implicit.as_ref().map_or(0, |i| i.evaluations())
    }

    /// True while steps are implicit.
    pub fn is_implicit(&self) -> bool {
        self.stiff
    }

    /// What it must know to go on from the tokens of a pause, beside them.
    pub fn memory(&self) -> Vec<f64> {
        if self.implicit.is_none() {
            return Vec::new();
        }
        vec![f64::from(u8::from(self.stiff)), f64::from(self.since), f64::from(self.wait), f64::from(self.short), self.reach]
    }

    /// Goes on with this memory from the state `y` at time `t`.
    pub fn recall(&mut self, memory: &[f64], system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<()> {
        if let [stiff, since, wait, short, reach] = *memory {
            (self.stiff, self.since, self.wait, self.short, self.reach) = (stiff > 0.5, since as u32, wait as u32, short as u32, reach);
        }
        self.restart(system, t, y)?;
        if let Some(implicit) = self.implicit.as_mut().filter(|_| self.stiff) {
            // The run that was kept had looked at the rate already.
            let _ = implicit.rate();
        }
        Ok(())
    }

    /// Changes the kind of steps, if that is due, at the state `y` reached by a step that moved it by
    /// `displacement`; the next one is planned to have length `h`.
    pub fn reconsider(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64], h: f64, displacement: f64) -> Result<()> {
        let Some(implicit) = self.implicit.as_mut().filter(|_| self.mode == Implicit::Auto) else { return Ok(()) };
        if !self.stiff {
            self.since += 1;
            if self.since >= self.wait && displacement <= HELD_UP.1 * self.width {
                self.since = 0;
                implicit.restart(system, t, y)?;
                (self.stiff, self.short, self.reach) = (h * implicit.rate() >= HELD_UP.0, 0, 0.0);
            }
            return Ok(());
        }
        let rate = implicit.rate();
        self.reach = self.reach.max(h * rate);
        self.short = if h * rate < SHORT.0 { self.short + 1 } else { 0 };
        if self.short >= SHORT.1 {
            self.give_up(system, t, y)?;
        }
        Ok(())
    }

    /// Leaves implicit steps that no length makes acceptable; false when there is nothing to leave.
    pub fn give_up(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<bool> {
        if !self.stiff || self.mode != Implicit::Auto {
            return Ok(false);
        }
        self.wait = if self.reach < PAYS { (2 * self.wait).min(WAIT.1) } else { WAIT.0 };
        (self.stiff, self.since) = (false, 0);
        self.explicit.restart(system, t, y)?;
        Ok(true)
    }
}
