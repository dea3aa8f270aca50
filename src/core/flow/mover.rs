//! Which step moves the tokens: explicit ones, and implicit ones where stability, not accuracy, would keep the explicit ones short.

use super::implicit::ImplicitStep;
use super::ode_system::OdeSystem;
use super::stepper::{Segment, Stepper};
use crate::attention::Dynamics;
use crate::error::Result;
use crate::sphere::Tokens;

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

/// Both kinds of steps, one of them in use.
///
/// The test of stiffness is exact: the spectrum of a block triangular Jacobian is that of its diagonal blocks. Explicit steps h are given up when
/// `h rho` reaches 1 though hardly anything moves, and taken up again when the error test keeps the implicit steps short as well. An excursion that
/// does not pay doubles the wait for the next one.
pub(super) struct Mover<'a> {
    explicit: Box<dyn Stepper>,
    implicit: ImplicitStep<'a>,
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

impl<'a> Mover<'a> {
    /// These explicit steps, and implicit ones where the dynamics knows its linearisation.
    pub fn begin(explicit: Box<dyn Stepper>, mode: Implicit, dynamics: &'a Dynamics, x: &Tokens) -> Box<dyn Stepper + 'a> {
        match ImplicitStep::new(dynamics, x).filter(|_| mode != Implicit::Never) {
            Some(implicit) => {
                let (stiff, width) = (mode == Implicit::Always, dynamics.length_scale());
                Box::new(Self { explicit, implicit, mode, width, stiff, since: 0, wait: WAIT.0, short: 0, reach: 0.0 })
            }
            None => explicit,
        }
    }

    /// The steps in use.
    fn current(&self) -> &dyn Stepper {
        if self.stiff { &self.implicit } else { &*self.explicit }
    }

    fn current_mut(&mut self) -> &mut (dyn Stepper + 'a) {
        if self.stiff { &mut self.implicit } else { &mut *self.explicit }
    }
}

impl Stepper for Mover<'_> {
    fn step(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64], h: f64, end: &mut [f64]) -> Result<f64> {
        self.current_mut().step(system, t, y, h, end)
    }

    fn order(&self) -> Option<u32> {
        self.current().order()
    }

    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<()> {
        self.current_mut().restart(system, t, y)
    }

    fn accept(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<()> {
        self.current_mut().accept(system, t, y)
    }

    fn rates(&self) -> &[f64] {
        self.current().rates()
    }

    fn is_dense(&self) -> bool {
        self.current().is_dense()
    }

    fn interpolate(&mut self, system: &mut dyn OdeSystem, step: Segment, theta: f64, out: &mut [f64]) -> Result<()> {
        self.current_mut().interpolate(system, step, theta, out)
    }

    fn displacement(&self, system: &dyn OdeSystem, start: &[f64], end: &[f64]) -> f64 {
        self.current().displacement(system, start, end)
    }

    fn first_nonfinite(&self, end: &[f64]) -> Option<usize> {
        self.current().first_nonfinite(end)
    }

    fn evaluations(&self) -> u64 {
        self.explicit.evaluations() + self.implicit.evaluations()
    }

    fn is_implicit(&self) -> bool {
        self.stiff
    }

    fn memory(&self) -> Vec<f64> {
        vec![f64::from(u8::from(self.stiff)), f64::from(self.since), f64::from(self.wait), f64::from(self.short), self.reach]
    }

    fn recall(&mut self, memory: &[f64], system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<()> {
        if let [stiff, since, wait, short, reach] = *memory {
            (self.stiff, self.since, self.wait, self.short, self.reach) = (stiff > 0.5, since as u32, wait as u32, short as u32, reach);
        }
        self.restart(system, t, y)?;
        if self.stiff {
            // The run that was kept had looked at the rate already.
            let _ = self.implicit.rate();
        }
        Ok(())
    }

    fn reconsider(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64], h: f64, displacement: f64) -> Result<()> {
        if self.mode != Implicit::Auto {
            return Ok(());
        }
        if !self.stiff {
            self.since += 1;
            if self.since >= self.wait && displacement <= HELD_UP.1 * self.width {
                self.since = 0;
                self.implicit.restart(system, t, y)?;
                (self.stiff, self.short, self.reach) = (h * self.implicit.rate() >= HELD_UP.0, 0, 0.0);
            }
            return Ok(());
        }
        let rate = self.implicit.rate();
        self.reach = self.reach.max(h * rate);
        self.short = if h * rate < SHORT.0 { self.short + 1 } else { 0 };
        if self.short >= SHORT.1 {
            self.give_up(system, t, y)?;
        }
        Ok(())
    }

    fn give_up(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<bool> {
        if !self.stiff || self.mode != Implicit::Auto {
            return Ok(false);
        }
        self.wait = if self.reach < PAYS { (2 * self.wait).min(WAIT.1) } else { WAIT.0 };
        (self.stiff, self.since) = (false, 0);
        self.explicit.restart(system, t, y)?;
        Ok(true)
    }
}
