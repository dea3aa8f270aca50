//! Automatic switching between explicit and implicit steps. Implicit steps are used while
//! stability, not accuracy, limits the explicit ones.

use super::implicit::ImplicitStep;
use super::integrate::OdeSystem;
use super::stepper::Stepper;
use crate::attention::Dynamics;
use crate::error::Result;
use crate::sphere::Tokens;
use std::ops::{Deref, DerefMut};

/// When implicit steps are used. They need a dynamics with [`Dynamics::triangular_jacobian`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImplicitSteps {
    /// While stability limits the explicit steps.
    #[default]
    Auto,
    /// Never.
    Never,
    /// Always.
    Always,
}

/// Accepted explicit steps between two checks for stiffness: the initial number and the largest.
const MIN_CHECK_INTERVAL: u32 = 16;
const MAX_CHECK_INTERVAL: u32 = 4096;

/// Explicit steps h are stiff when `h rho` is at least `MIN_STIFF_RATE`, rho the spectral radius of
/// the Jacobian, and no token moves by more than `MAX_STIFF_DISPLACEMENT` kernel widths: some mode
/// decays by a factor e per step although there is nothing to resolve. (For larger `h rho` the
/// rounding of that mode fills the error estimate, well before the stability limit.)
const MIN_STIFF_RATE: f64 = 1.0;
const MAX_STIFF_DISPLACEMENT: f64 = 0.01;

/// Implicit steps with `h rho` below this are short: explicit steps could have the same length.
const MIN_IMPLICIT_RATE: f64 = 3.0;

/// Short implicit steps in a row after which explicit steps are used again.
const MAX_SHORT_STEPS: u32 = 3;

/// A period of implicit steps saved time if `h rho` has exceeded this.
const MIN_USEFUL_RATE: f64 = 30.0;

/// An explicit stepper, and an implicit one if the dynamics knows its linearisation. It
/// dereferences to the stepper in use.
///
/// The test of stiffness is exact: the spectrum of a block triangular Jacobian is that of its
/// diagonal blocks. Explicit steps are left when `h rho` reaches 1 although tokens hardly move.
/// They are used again when the error test keeps the implicit steps short too. A period of implicit
/// steps that saved no time doubles the number of steps until the next check.
pub(super) struct AutoSwitch<'a> {
    explicit: Box<dyn Stepper + 'a>,
    implicit: Option<ImplicitStep<'a>>,
    mode: ImplicitSteps,
    /// Length over which attention weights change.
    width: f64,
    stiff: bool,
    /// Accepted steps since the last switch or check.
    steps_since_check: u32,
    check_interval: u32,
    short_steps: u32,
    /// Largest `h rho` in this period of implicit steps.
    largest_rate: f64,
}

impl<'a> Deref for AutoSwitch<'a> {
    type Target = dyn Stepper + 'a;

    fn deref(&self) -> &Self::Target {
        match &self.implicit {
            Some(implicit) if self.stiff => implicit,
            _ => &*self.explicit,
        }
    }
}

impl DerefMut for AutoSwitch<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.implicit {
            Some(implicit) if self.stiff => implicit,
            _ => &mut *self.explicit,
        }
    }
}

impl<'a> AutoSwitch<'a> {
    /// Explicit steps only.
    pub fn explicit_only(explicit: Box<dyn Stepper + 'a>) -> Self {
        let (mode, width) = (ImplicitSteps::Never, 1.0);
        Self {
            explicit,
            implicit: None,
            mode,
            width,
            stiff: false,
            steps_since_check: 0,
            check_interval: MIN_CHECK_INTERVAL,
            short_steps: 0,
            largest_rate: 0.0,
        }
    }

    /// These explicit steps, and implicit ones if the dynamics knows its linearisation.
    pub fn new(
        explicit: Box<dyn Stepper>,
        mode: ImplicitSteps,
        dynamics: &'a Dynamics,
        x: &Tokens,
    ) -> Self {
        let implicit = ImplicitStep::new(dynamics, x).filter(|_| mode != ImplicitSteps::Never);
        let stiff = implicit.is_some() && mode == ImplicitSteps::Always;
        Self {
            implicit,
            mode,
            width: dynamics.length_scale(),
            stiff,
            ..Self::explicit_only(explicit)
        }
    }

    /// Evaluations of the rates so far, by both steppers.
    pub fn evaluations(&self) -> u64 {
        self.explicit.evaluations() + self.implicit.as_ref().map_or(0, |i| i.evaluations())
    }

    /// True while steps are implicit.
    pub fn is_implicit(&self) -> bool {
        self.stiff
    }

    /// The state to be saved in a checkpoint.
    pub fn save_state(&self) -> Vec<f64> {
        if self.implicit.is_none() {
            return Vec::new();
        }
        vec![
            f64::from(u8::from(self.stiff)),
            f64::from(self.steps_since_check),
            f64::from(self.check_interval),
            f64::from(self.short_steps),
            self.largest_rate,
        ]
    }

    /// Restores a saved state; the next step starts from `y` at time `t`.
    pub fn restore_state(
        &mut self,
        state: &[f64],
        system: &mut dyn OdeSystem,
        t: f64,
        y: &[f64],
    ) -> Result<()> {
        if let [stiff, since, wait, short, reach] = *state {
            (
                self.stiff,
                self.steps_since_check,
                self.check_interval,
                self.short_steps,
                self.largest_rate,
            ) = (stiff > 0.5, since as u32, wait as u32, short as u32, reach);
        }
        self.restart(system, t, y)?;
        if let Some(implicit) = self.implicit.as_mut().filter(|_| self.stiff) {
            // The saved run had already computed the rate.
            let _ = implicit.rate();
        }
        Ok(())
    }

    /// Switches between explicit and implicit steps if necessary. The last step has moved the state
    /// by `displacement` to `y`; the next one is planned to have length `h`.
    pub fn switch_method(
        &mut self,
        system: &mut dyn OdeSystem,
        t: f64,
        y: &[f64],
        h: f64,
        displacement: f64,
    ) -> Result<()> {
        let Some(implicit) = self.implicit.as_mut().filter(|_| self.mode == ImplicitSteps::Auto)
        else {
            return Ok(());
        };
        if !self.stiff {
            self.steps_since_check += 1;
            if self.steps_since_check >= self.check_interval
                && displacement <= MAX_STIFF_DISPLACEMENT * self.width
            {
                self.steps_since_check = 0;
                implicit.restart(system, t, y)?;
                (self.stiff, self.short_steps, self.largest_rate) =
                    (h * implicit.rate() >= MIN_STIFF_RATE, 0, 0.0);
            }
            return Ok(());
        }
        let rate = implicit.rate();
        self.largest_rate = self.largest_rate.max(h * rate);
        self.short_steps = if h * rate < MIN_IMPLICIT_RATE { self.short_steps + 1 } else { 0 };
        if self.short_steps >= MAX_SHORT_STEPS {
            self.fall_back(system, t, y)?;
        }
        Ok(())
    }

    /// Switches back to explicit steps when implicit steps of every length fail. False if steps are
    /// explicit already or must be implicit.
    pub fn fall_back(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<bool> {
        if !self.stiff || self.mode != ImplicitSteps::Auto {
            return Ok(false);
        }
        self.check_interval = if self.largest_rate < MIN_USEFUL_RATE {
            (2 * self.check_interval).min(MAX_CHECK_INTERVAL)
        } else {
            MIN_CHECK_INTERVAL
        };
        (self.stiff, self.steps_since_check) = (false, 0);
        self.explicit.restart(system, t, y)?;
        Ok(true)
    }
}
