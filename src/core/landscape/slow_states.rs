//! Slow states of a flow: states with a local minimum of the relative gradient norm, near saddles.

use crate::flow::{Frame, Observer};
use crate::sphere::Tokens;

/// States with more tokens than this are skipped: the norm costs `n^2` per step.
const MAX_TOKENS: usize = 40;
/// Largest relative gradient norm of a slow state.
const MAX_NORM: f64 = 0.1;

/// Collects the slow states of a run: candidates for the saddles that it passes.
pub struct SlowStates<F> {
    norm: F,
    last: Option<(f64, Tokens, Vec<usize>)>,
    falling: bool,
    /// The states, with the number of tokens per cluster.
    pub states: Vec<(Tokens, Vec<usize>)>,
}

impl<F: Fn(&Tokens) -> f64> SlowStates<F> {
    /// Observes a run by this relative gradient norm.
    pub fn new(norm: F) -> Self {
        Self { norm, last: None, falling: false, states: Vec::new() }
    }
}

/// Number of initial tokens in each of the `rows` clusters.
pub fn cluster_sizes(labels: &[usize], rows: usize) -> Vec<usize> {
    let mut sizes = vec![0; rows];
    labels.iter().for_each(|&l| sizes[l] += 1);
    sizes
}

impl<F: Fn(&Tokens) -> f64> Observer for SlowStates<F> {
    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        if frame.tokens.n() < 2 || frame.tokens.n() > MAX_TOKENS {
            return;
        }
        let now = (self.norm)(frame.tokens);
        if let Some((before, tokens, sizes)) = self.last.take() {
            if now > before && self.falling && before < MAX_NORM {
                self.states.push((tokens, sizes));
            }
            self.falling = now < before;
        }
        self.last =
            Some((now, frame.tokens.clone(), cluster_sizes(frame.labels, frame.tokens.n())));
    }
}
