//! Which step moves the tokens: explicit ones, and implicit ones where stability, not accuracy, would keep the explicit ones short.

use super::implicit::ImplicitStep;
use super::stepper::Stepper;
use crate::attention::Dynamics;
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
    explicit: Box<dyn Stepper + 'a>,
    implicit: ImplicitStep<'a>,
    mode: Implicit,
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
    pub fn begin(explicit: Box<dyn Stepper + 'a>, mode: Implicit, dynamics: &'a Dynamics, x: &Tokens) -> Box<dyn Stepper + 'a> {
        match ImplicitStep::new(dynamics, x).filter(|_| mode != Implicit::Never) {
            Some(implicit) => {
                let stiff = mode == Implicit::Always;
                Box::new(Self { explicit, implicit, mode, stiff, since: 0, wait: WAIT.0, short: 0, reach: 0.0 })
            }
            None => explicit,
        }
    }
}

impl Stepper for Mover<'_> {
    fn order(&self) -> Option<u32> {
        if self.stiff { Some(super::rodas5p::ORDER) } else { self.explicit.order() }
    }

    fn restart(&mut self, dynamics: &Dynamics, t: f64, x: &Tokens) {
        if self.stiff { self.implicit.restart(dynamics, x) } else { self.explicit.restart(dynamics, t, x) }
    }

    fn attempt(&mut self, dynamics: &Dynamics, h: f64) -> f64 {
        if self.stiff { self.implicit.attempt(dynamics, h) } else { self.explicit.attempt(dynamics, h) }
    }

    fn end(&self) -> &[f64] {
        if self.stiff { &self.implicit.end } else { self.explicit.end() }
    }

    fn velocity(&self) -> &[f64] {
        if self.stiff { self.implicit.velocity() } else { self.explicit.velocity() }
    }

    fn advance(&mut self, dynamics: &Dynamics, t: f64, x: &Tokens) {
        if self.stiff { self.implicit.advance(dynamics) } else { self.explicit.advance(dynamics, t, x) }
    }

    fn is_dense(&self) -> bool {
        self.stiff || self.explicit.is_dense()
    }

    fn interpolate(&mut self, dynamics: &Dynamics, theta: f64, x: &mut Tokens) {
        if self.stiff {
            self.implicit.prepare_dense();
            self.implicit.interpolate(theta, x);
        } else {
            self.explicit.interpolate(dynamics, theta, x);
        }
    }

    fn until(&mut self, t: f64) {
        self.explicit.until(t);
    }

    fn displacement(&self, x: &Tokens) -> f64 {
        if self.stiff { self.implicit.displacement() } else { self.explicit.displacement(x) }
    }

    fn max_speed(&self, x: &Tokens) -> f64 {
        if self.stiff { self.implicit.max_speed() } else { self.explicit.max_speed(x) }
    }

    fn broken_token(&self, x: &Tokens) -> Option<usize> {
        if self.stiff { self.implicit.broken_token() } else { self.explicit.broken_token(x) }
    }

    fn evaluations(&self) -> u64 {
        self.explicit.evaluations() + self.implicit.evaluations
    }

    fn is_implicit(&self) -> bool {
        self.stiff
    }

    fn memory(&self) -> Vec<f64> {
        vec![f64::from(u8::from(self.stiff)), f64::from(self.since), f64::from(self.wait), f64::from(self.short), self.reach]
    }

    fn recall(&mut self, memory: &[f64], dynamics: &Dynamics, t: f64, x: &Tokens) {
        if let [stiff, since, wait, short, reach] = *memory {
            (self.stiff, self.since, self.wait, self.short, self.reach) = (stiff > 0.5, since as u32, wait as u32, short as u32, reach);
        }
        self.restart(dynamics, t, x);
        if self.stiff {
            // The run that was kept had looked at the rate already.
            let _ = self.implicit.rate();
        }
    }

    /// Changes the kind of steps, if that is due, at the tokens reached by a step that moved them by `displacement`; the length `h` planned for the
    /// next one, or a shorter one.
    fn reconsider(&mut self, dynamics: &Dynamics, t: f64, x: &Tokens, h: f64, displacement: f64) -> f64 {
        if self.mode != Implicit::Auto {
            return h;
        }
        if !self.stiff {
            self.since += 1;
            if self.since >= self.wait && displacement <= HELD_UP.1 * dynamics.length_scale() {
                self.since = 0;
                self.implicit.restart(dynamics, x);
                (self.stiff, self.short, self.reach) = (h * self.implicit.rate() >= HELD_UP.0, 0, 0.0);
            }
            return h;
        }
        let rate = self.implicit.rate();
        self.reach = self.reach.max(h * rate);
        self.short = if h * rate < SHORT.0 { self.short + 1 } else { 0 };
        if self.short >= SHORT.1 {
            self.give_up(dynamics, t, x);
        }
        h
    }

    /// Leaves implicit steps that no length makes acceptable; false when there is nothing to leave.
    fn give_up(&mut self, dynamics: &Dynamics, t: f64, x: &Tokens) -> bool {
        if !self.stiff || self.mode != Implicit::Auto {
            return false;
        }
        self.wait = if self.reach < PAYS { (2 * self.wait).min(WAIT.1) } else { WAIT.0 };
        (self.stiff, self.since) = (false, 0);
        self.explicit.restart(dynamics, t, x);
        true
    }
}
