//! Which step moves the tokens: explicit ones, and implicit ones where stability, not accuracy, would keep the explicit ones short.

use super::implicit::ImplicitStep;
use super::tableau::{Step, Tableau};
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
    explicit: Step,
    implicit: Option<ImplicitStep<'a>>,
    mode: Implicit,
    order: u32,
    stiff: bool,
    /// Accepted steps since the last change or look.
    since: u32,
    wait: u32,
    short: u32,
    /// Largest `h rho` of this excursion.
    reach: f64,
}

impl<'a> Mover<'a> {
    pub fn new(tableau: &'static Tableau, mode: Implicit, dynamics: &'a Dynamics, t: f64, x: &Tokens) -> Self {
        let implicit = if mode == Implicit::Never { None } else { ImplicitStep::new(dynamics, x) };
        Self {
            explicit: Step::new(tableau, dynamics, t, x),
            stiff: mode == Implicit::Always && implicit.is_some(),
            implicit,
            mode,
            order: tableau.order,
            since: 0,
            wait: WAIT.0,
            short: 0,
            reach: 0.0,
        }
    }

    /// The implicit step when it is in use.
    fn stiff_step(&mut self) -> Option<&mut ImplicitStep<'a>> {
        self.implicit.as_mut().filter(|_| self.stiff)
    }

    pub fn is_implicit(&self) -> bool {
        self.stiff
    }

    /// Order by which the next step is chosen.
    pub fn order(&self) -> u32 {
        if self.stiff { super::rodas5p::ORDER } else { self.order }
    }

    pub fn evaluations(&self) -> u64 {
        self.explicit.evaluations + self.implicit.as_ref().map_or(0, |i| i.evaluations)
    }

    pub fn max_speed(&self) -> f64 {
        match &self.implicit {
            Some(i) if self.stiff => i.max_speed(),
            _ => self.explicit.max_speed(),
        }
    }

    pub fn velocity(&self) -> &[f64] {
        self.explicit.velocity()
    }

    pub fn displacement(&self) -> f64 {
        match &self.implicit {
            Some(i) if self.stiff => i.displacement(),
            _ => self.explicit.displacement(),
        }
    }

    pub fn broken_token(&self) -> Option<usize> {
        match &self.implicit {
            Some(i) if self.stiff => i.broken_token(),
            _ => self.explicit.broken_token(),
        }
    }

    pub fn end(&self) -> &[f64] {
        match &self.implicit {
            Some(i) if self.stiff => &i.end,
            _ => &self.explicit.end,
        }
    }

    pub fn attempt(&mut self, dynamics: &Dynamics, h: f64) -> f64 {
        match self.stiff_step() {
            Some(i) => i.attempt(dynamics, h),
            None => self.explicit.attempt(dynamics, h),
        }
    }

    /// Weights are asked at no later time by explicit steps; those of implicit ones never change.
    pub fn until(&mut self, t: f64) {
        self.explicit.until = t;
    }

    pub fn restart(&mut self, dynamics: &Dynamics, t: f64, x: &Tokens) {
        match self.stiff_step() {
            Some(i) => i.restart(dynamics, x),
            None => self.explicit.restart(dynamics, t, x),
        }
    }

    pub fn advance(&mut self, dynamics: &Dynamics, t: f64) {
        match self.stiff_step() {
            Some(i) => i.advance(dynamics),
            None => self.explicit.advance(t),
        }
    }

    pub fn prepare_dense(&mut self, dynamics: &Dynamics) {
        match self.stiff_step() {
            Some(i) => i.prepare_dense(),
            None => self.explicit.prepare_dense(dynamics),
        }
    }

    pub fn interpolate(&self, theta: f64, x: &mut Tokens) {
        match &self.implicit {
            Some(i) if self.stiff => i.interpolate(theta, x),
            _ => self.explicit.interpolate(theta, x),
        }
    }

    /// New tokens after a merge.
    pub fn replace(&mut self, dynamics: &'a Dynamics, tableau: &'static Tableau, t: f64, x: &Tokens) {
        let (evaluations, work) = (self.evaluations(), std::mem::take(&mut self.explicit.work));
        *self = Self::new(tableau, self.mode, dynamics, t, x);
        self.explicit.evaluations += evaluations;
        self.explicit.work = work;
    }

    /// Changes the kind of steps, if that is due, at the tokens reached by a step that moved them by `displacement`; the length `h` planned for the
    /// next one, or a shorter one.
    pub fn reconsider(&mut self, dynamics: &Dynamics, t: f64, x: &Tokens, h: f64, displacement: f64) -> f64 {
        let Some(implicit) = self.implicit.as_mut().filter(|_| self.mode == Implicit::Auto) else {
            return h;
        };
        if !self.stiff {
            self.since += 1;
            if self.since >= self.wait && displacement <= HELD_UP.1 * dynamics.length_scale() {
                self.since = 0;
                implicit.restart(dynamics, x);
                (self.stiff, self.short, self.reach) = (h * implicit.rate() >= HELD_UP.0, 0, 0.0);
            }
            return h;
        }
        let rate = implicit.rate();
        self.reach = self.reach.max(h * rate);
        self.short = if h * rate < SHORT.0 { self.short + 1 } else { 0 };
        if self.short >= SHORT.1 {
            self.give_up(dynamics, t, x);
        }
        h
    }

    /// Leaves implicit steps that no length makes acceptable; false when there is nothing to leave.
    pub fn give_up(&mut self, dynamics: &Dynamics, t: f64, x: &Tokens) -> bool {
        if !self.stiff || self.mode != Implicit::Auto {
            return false;
        }
        self.wait = if self.reach < PAYS { (2 * self.wait).min(WAIT.1) } else { WAIT.0 };
        (self.stiff, self.since) = (false, 0);
        self.explicit.restart(dynamics, t, x);
        true
    }
}
