//! Where a flow slows down: the metastable states it passes.

use super::critical::unrest;
use crate::flow::{Frame, Observer};
use crate::sphere::Tokens;

/// States of least unrest along a run: candidates for the saddles it passes.
pub struct Lulls {
    beta: f64,
    last: Option<(f64, Tokens, Vec<usize>)>,
    falling: bool,
    /// The states, with tokens per cluster.
    pub states: Vec<(Tokens, Vec<usize>)>,
}

impl Lulls {
    /// Watches a run at this inverse temperature.
    pub fn new(beta: f64) -> Self {
        Self { beta, last: None, falling: false, states: Vec::new() }
    }
}

/// Tokens per live row.
pub fn sizes(labels: &[usize], rows: usize) -> Vec<usize> {
    let mut sizes = vec![0; rows];
    labels.iter().for_each(|&l| sizes[l] += 1);
    sizes
}

impl Observer for Lulls {
    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        if frame.tokens.n() < 2 || frame.tokens.n() > 40 {
            return;
        }
        let now = unrest(self.beta, frame.tokens);
        if let Some((before, tokens, sizes)) = self.last.take() {
            if now > before && self.falling && before < 0.1 {
                self.states.push((tokens, sizes));
            }
            self.falling = now < before;
        }
        self.last = Some((now, frame.tokens.clone(), sizes(frame.labels, frame.tokens.n())));
    }
}
