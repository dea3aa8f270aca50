use super::rest::Residual;
use super::{Hit, Merge};
use crate::sphere::Tokens;
use std::fmt;

/// How a run ended. Every outcome keeps the partial results.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The end time was reached.
    Reached,
    /// Nothing will move any more: a stable state, reached to rounding.
    Stationary {
        /// When it was found.
        t: f64,
        /// Its distance from a state at rest.
        residual: Residual,
    },
    /// A stop rule was met: all tokens are one cluster.
    OneCluster {
        /// When.
        t: f64,
    },
    /// A stopping event happened.
    Event {
        /// Its place in the list of events.
        index: usize,
        /// Its name.
        name: String,
        /// When.
        t: f64,
    },
    /// The budget of steps is spent.
    MaxSteps {
        /// Time reached.
        t: f64,
    },
    /// The error test cannot be met by any step that still moves a token.
    StepTooSmall {
        /// Time reached.
        t: f64,
        /// The step refused.
        h: f64,
    },
    /// A velocity became infinite or NaN.
    NonFinite {
        /// Time reached.
        t: f64,
        /// The token.
        token: usize,
    },
    /// A density became finer than the resolution allows.
    UnderResolved {
        /// The last time at which it was resolved.
        t: f64,
    },
    /// The user interrupted.
    Interrupted {
        /// Time reached.
        t: f64,
    },
}

impl Outcome {
    /// True when the run did what was asked.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Reached | Self::Stationary { .. } | Self::OneCluster { .. } | Self::Event { .. })
    }

    /// True when the state at the end time is known: that time was reached, or nothing will move until then.
    pub fn lasts(&self) -> bool {
        matches!(self, Self::Reached | Self::Stationary { .. })
    }

    /// A stable word for files and JSON.
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
                "a stable state at rest was reached by t = {t:.6e} (speed {:.1e}, slowest decay at rate {:.3e}: what is left is {:.1e})",
                residual.speed, residual.decay, residual.left
            ),
            Self::OneCluster { t } => write!(f, "all tokens formed one cluster at t = {t:.6e}"),
            Self::Event { name, t, .. } => write!(f, "the event `{name}` happened at t = {t:.6e}"),
            Self::MaxSteps { t } => {
                write!(f, "the budget of steps was spent at t = {t:.6e}; a larger budget or a larger tolerance goes further")
            }
            Self::StepTooSmall { t, h } => {
                write!(f, "no step met the tolerance at t = {t:.6e} (last tried {h:.3e}); a larger tolerance goes further")
            }
            Self::NonFinite { t, token } => write!(f, "the velocity of token {token} is not finite at t = {t:.6e}"),
            Self::UnderResolved { t } => write!(f, "the density became finer than the resolution allows at t = {t:.6e}"),
            Self::Interrupted { t } => write!(f, "interrupted at t = {t:.6e}"),
        }
    }
}

/// Work done, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Accepted steps.
    pub steps: u64,
    /// Steps refused by the error test.
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
    /// Time reached; the end time itself when the state cannot change any more.
    pub t: f64,
    /// The surviving tokens with their summed masses.
    pub clusters: Tokens,
    /// For every initial token, the index of its survivor.
    pub labels: Vec<usize>,
    /// Coalescences in order of time.
    pub merges: Vec<Merge>,
    /// Located events in order of time.
    pub hits: Vec<Hit>,
    /// Work done.
    pub stats: Stats,
    /// True where a merge radius was given and means nothing: the dynamics does not say that its
    /// tokens move in a [common field](crate::attention::Facts::common_field), so tokens never
    /// become one, however near they come. [`Solution::clusters_within`] counts clusters all the
    /// same.
    pub merging_ignored: bool,
}

/// What [`super::solve_many`] keeps of every system.
#[derive(Clone, Debug)]
pub struct Summary {
    /// How it ended.
    pub outcome: Outcome,
    /// Time reached.
    pub t: f64,
    /// The surviving tokens with their summed masses.
    pub clusters: Tokens,
    /// Tokens that became one with another.
    pub merges: usize,
    /// Velocity evaluations.
    pub evaluations: u64,
    /// When all tokens became one cluster, where they did.
    pub one_cluster: Option<f64>,
}

impl From<Solution> for Summary {
    fn from(s: Solution) -> Self {
        let merges = s.labels.len() - s.clusters.n();
        let one_cluster = s.one_cluster();
        Self { outcome: s.outcome, t: s.t, clusters: s.clusters, merges, evaluations: s.stats.evaluations, one_cluster }
    }
}

impl Solution {
    /// The surviving tokens with those within `radius` (or equal to rounding) as one: what a summary calls clusters.
    pub fn clusters_within(&self, radius: f64) -> Tokens {
        super::coalesce::clusters_within(&self.clusters, radius).0
    }

    /// When all tokens became one cluster: the time of the last merger, or that of the stop rule. `None` where several are left, which a run that
    /// never merges tokens cannot tell without the rule.
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
