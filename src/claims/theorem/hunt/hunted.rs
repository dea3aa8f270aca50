//! What a search saw, and what it minimises.

use crate::theorem::{Attempt, Finding};

/// What a hunt saw.
#[derive(Clone, Debug)]
pub struct Hunted {
    /// Trials evaluated.
    pub evaluations: u64,
    /// The trial with the smallest margin; for answers, one with a no.
    pub best: Option<Attempt>,
}

impl Hunted {
    /// True when the best trial fails beyond its error.
    pub fn found(&self) -> bool {
        self.best.as_ref().is_some_and(Attempt::failed)
    }

    /// The smallest margin.
    pub fn margin(&self) -> Option<f64> {
        self.best.as_ref().map(value)
    }

    /// Adds what another search saw.
    pub(super) fn keep(&mut self, other: Self) {
        self.evaluations += other.evaluations;
        if let Some(new) = other.best {
            let better = self.best.as_ref().is_none_or(|old| value(&new) < value(old));
            if better {
                self.best = Some(new);
            }
        }
    }
}

/// What is minimised: the margin; 1 and -1 for yes and no; infinity where there is none.
pub(super) fn value(a: &Attempt) -> f64 {
    match &a.finding {
        Finding::Margin(m) => m.value,
        Finding::Answer(yes) => {
            if *yes {
                1.0
            } else {
                -1.0
            }
        }
        _ => f64::INFINITY,
    }
}
