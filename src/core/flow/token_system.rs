//! Tokens as a system of differential equations.

use super::ode_system::OdeSystem;
use crate::attention::{Dynamics, kernel::Workspace};
use crate::error::Result;
use crate::sphere::Tokens;

/// Tokens moved by a dynamics: their numbers are the state, a token is a block, retraction brings
/// tokens back to their space (one that cannot be keeps its numbers, and shows by its velocity).
pub struct TokenSystem<'a> {
    dynamics: &'a Dynamics,
    /// Where rates are evaluated; their masses and their space are those of the system.
    tokens: Tokens,
    work: Workspace,
    /// Weights are asked at no later time: just before they jump.
    pub(super) latest: f64,
}

impl<'a> TokenSystem<'a> {
    /// Tokens of these masses in this space.
    pub fn new(dynamics: &'a Dynamics, tokens: &Tokens) -> Self {
        Self { dynamics, tokens: tokens.clone(), work: Workspace::default(), latest: f64::INFINITY }
    }

    /// Other tokens, of other masses.
    pub(super) fn replace(&mut self, tokens: &Tokens) {
        self.tokens = tokens.clone();
    }
}

impl OdeSystem for TokenSystem<'_> {
    fn rates(&mut self, t: f64, y: &[f64], dy: &mut [f64]) -> Result<()> {
        self.tokens.numbers_mut().copy_from_slice(y);
        self.dynamics.rates(t.min(self.latest), &self.tokens, &mut self.work, dy);
        Ok(())
    }

    fn retract(&self, y: &mut [f64]) {
        let _ = self.tokens.space().settle(self.tokens.d(), self.tokens.n(), y);
    }

    fn block(&self, start: usize) -> usize {
        let (n, d) = (self.tokens.n(), self.tokens.d());
        if start < n * d { d } else { self.tokens.space().own() }
    }
}
