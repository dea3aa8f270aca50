//! How a run ended, and its result.

use super::steady_state::Residual;
use super::{EventHit, Merge};
use crate::sphere::Tokens;
use std::fmt;

/// How a run ended. Partial results are kept for every outcome.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The end time was reached.
    Reached,
    /// The tokens will not move any more: a stable steady state was reached to rounding.
    Stationary {
        /// Time at which the steady state was detected.
        t: f64,
        /// Its distance from the steady state.
        residual: Residual,
    },
    /// All tokens formed one cluster (with `stop_at_one_cluster`).
    OneCluster {
        /// Time reached.
        t: f64,
    },
    /// A stopping event happened.
    Event {
        /// Index in the list of events.
        index: usize,
        /// Name of the event.
        name: String,
        /// Time of the event.
        t: f64,
    },
    /// The largest number of steps was attempted.
    MaxSteps {
        /// Time reached.
        t: f64,
    },
    /// No step that still moves a token passes the error test.
    StepTooSmall {
        /// Time reached.
        t: f64,
        /// Length of the rejected step.
        h: f64,
    },
    /// A velocity became infinite or NaN.
    NonFinite {
        /// Time reached.
        t: f64,
        /// Index of the token.
        token: usize,
    },
    /// The density became finer than the largest resolution.
    UnderResolved {
        /// The last time at which it was resolved.
        t: f64,
    },
    /// The run was interrupted.
    Interrupted {
        /// Time reached.
        t: f64,
    },
}

impl Outcome {
    /// Whether the run ended as requested.
    pub fn is_success(&self) -> bool {
        matches!(
            self,
            Self::Reached | Self::Stationary { .. } | Self::OneCluster { .. } | Self::Event { .. }
        )
    }

    /// Whether the state at the end time is known: that time was reached, or the tokens will not
    /// move until then.
    pub fn end_state_is_known(&self) -> bool {
        matches!(self, Self::Reached | Self::Stationary { .. })
    }

    /// The name in files and JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Stationary { .. } => "stationary",
            Self::OneCluster { .. } => "one-cluster",
            Self::Event { .. } => "event",
            Self::MaxSteps { .. } => "max-steps",
            Self::StepTooSmall { .. } => "step-too-small",
            Self::NonFinite { .. } => "non-finite",
            Self::UnderResolved { .. } => "under-resolved",
            Self::Interrupted { .. } => "interrupted",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reached => write!(f, "the end time was reached"),
            Self::Stationary { t, residual } => write!(
                f,
                "a stable steady state was reached by t = {t:.6e} (speed {:.1e}, slowest decay rate {:.3e}, remaining distance {:.1e})",
                residual.speed, residual.decay_rate, residual.remaining_distance
            ),
            Self::OneCluster { t } => write!(f, "all tokens formed one cluster at t = {t:.6e}"),
            Self::Event { name, t, .. } => write!(f, "the event `{name}` happened at t = {t:.6e}"),
            Self::MaxSteps { t } => {
                write!(
                    f,
                    "the largest number of steps was reached at t = {t:.6e}; allow more steps or a larger tolerance"
                )
            }
            Self::StepTooSmall { t, h } => {
                write!(
                    f,
                    "no step met the tolerance at t = {t:.6e} (last attempt {h:.3e}); allow a larger tolerance"
                )
            }
            Self::NonFinite { t, token } => {
                write!(f, "the velocity of token {token} is not finite at t = {t:.6e}")
            }
            Self::UnderResolved { t } => {
                write!(f, "the density became finer than the resolution allows at t = {t:.6e}")
            }
            Self::Interrupted { t } => write!(f, "interrupted at t = {t:.6e}"),
        }
    }
}

/// Work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Accepted steps.
    pub steps: u64,
    /// Steps rejected by the error test.
    pub rejected: u64,
    /// Velocity evaluations.
    pub evaluations: u64,
    /// Accepted steps that were implicit.
    pub implicit: u64,
}

/// Result of [`super::solve`].
#[derive(Clone, Debug)]
pub struct Solution {
    /// How it ended.
    pub outcome: Outcome,
    /// Time reached; the end time if the state cannot change any more.
    pub t: f64,
    /// The remaining tokens with their summed masses.
    pub clusters: Tokens,
    /// For every initial token, the index of the remaining token that contains it.
    pub labels: Vec<usize>,
    /// Merges in order of time.
    pub merges: Vec<Merge>,
    /// Located events in order of time.
    pub hits: Vec<EventHit>,
    /// Work done.
    pub stats: Stats,
    /// True if a merge radius was given but tokens cannot merge, because the dynamics does not
    /// claim a [common field](crate::attention::Properties::common_field).
    /// [`Solution::clusters_within`] still counts clusters.
    pub merging_ignored: bool,
}

/// The result of [`super::solve_many`] for one system.
#[derive(Clone, Debug)]
pub struct Summary {
    /// How it ended.
    pub outcome: Outcome,
    /// Time reached.
    pub t: f64,
    /// The remaining tokens with their summed masses.
    pub clusters: Tokens,
    /// Number of tokens that merged into others.
    pub merges: usize,
    /// Velocity evaluations.
    pub evaluations: u64,
    /// Time at which all tokens became one cluster, if they did.
    pub one_cluster: Option<f64>,
}

impl From<Solution> for Summary {
    fn from(s: Solution) -> Self {
        let merges = s.labels.len() - s.clusters.n();
        let one_cluster = s.one_cluster();
        Self {
            outcome: s.outcome,
            t: s.t,
            clusters: s.clusters,
            merges,
            evaluations: s.stats.evaluations,
            one_cluster,
        }
    }
}

impl Solution {
    /// The remaining tokens, with those within `radius` (or equal to rounding) merged: the clusters
    /// of summaries.
    pub fn clusters_within(&self, radius: f64) -> Tokens {
        super::merging::clusters_within(&self.clusters, radius).0
    }

    /// Time at which all tokens became one cluster: that of the last merge, or that of the stop
    /// rule `stop_at_one_cluster`. `None` if several tokens are left; a run that never merges
    /// tokens needs the stop rule.
    pub fn one_cluster(&self) -> Option<f64> {
        match self.outcome {
            Outcome::OneCluster { t } => Some(t),
            _ => (self.clusters.n() == 1).then(|| self.merges.last().map_or(0.0, |m| m.t)),
        }
    }

    /// One row for every initial token, merged or not.
    pub fn tokens(&self) -> Vec<f64> {
        self.labels.iter().flat_map(|&l| self.clusters.row(l).iter().copied()).collect()
    }
}
