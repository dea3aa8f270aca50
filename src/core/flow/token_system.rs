//! Tokens as a system of differential equations.

use super::integrate::OdeSystem;
use crate::attention::{Dynamics, kernel::Workspace};
use crate::error::Result;
use crate::sphere::Tokens;

/// Tokens moved by a dynamics. Their numbers are the state, a token is a block, and tokens are
/// retracted to their space. A token that cannot be retracted keeps its numbers; its velocity then
/// shows the failure.
pub struct TokenSystem<'a> {
    dynamics: &'a Dynamics,
    /// Tokens at which the rates are evaluated, with the masses and the space of the system.
    tokens: Tokens,
    work: Workspace,
    /// Latest time at which the dynamics is evaluated: just before the next jump of its weights.
    pub(super) latest: f64,
}

impl<'a> TokenSystem<'a> {
    /// A system of tokens with the masses and the space of `tokens`.
    pub fn new(dynamics: &'a Dynamics, tokens: &Tokens) -> Self {
        Self { dynamics, tokens: tokens.clone(), work: Workspace::default(), latest: f64::INFINITY }
    }

    /// Replaces the tokens, with their number and masses.
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
        let _ = self.tokens.space().retract_rows(self.tokens.d(), self.tokens.n(), y);
    }

    fn block(&self, start: usize) -> usize {
        let (n, d) = (self.tokens.n(), self.tokens.d());
        if start < n * d { d } else { self.tokens.space().extra_per_token() }
    }
}
