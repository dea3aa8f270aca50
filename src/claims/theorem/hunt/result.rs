//! The result of a search, and the number that a search minimises.

use crate::theorem::{Finding, TrialResult};

/// The result of a hunt.
#[derive(Clone, Debug)]
pub struct HuntResult {
    /// Number of trials.
    pub evaluations: u64,
    /// The trial with the smallest margin; for answers, one whose answer is no, if there is one.
    pub best: Option<TrialResult>,
}

impl HuntResult {
    /// True if the best trial fails by more than its error.
    pub fn found(&self) -> bool {
        self.best.as_ref().is_some_and(TrialResult::failed)
    }

    /// The smallest margin.
    pub fn margin(&self) -> Option<f64> {
        self.best.as_ref().map(objective)
    }

    /// Adds the result of another search.
    pub(super) fn add(&mut self, other: Self) {
        self.evaluations += other.evaluations;
        if let Some(new) = other.best {
            let better = self.best.as_ref().is_none_or(|old| objective(&new) < objective(old));
            if better {
                self.best = Some(new);
            }
        }
    }
}

/// The number that a search minimises: the margin; 1 for yes and -1 for no; infinity if a trial has
/// neither.
pub(super) fn objective(a: &TrialResult) -> f64 {
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
