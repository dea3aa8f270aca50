//! The result of a proof: a certificate, or where the proof failed.

use super::start::Neighbourhood;

/// Why a proof failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The error bound grew beyond the distance to every hemisphere.
    Growth,
    /// The enclosure of the field became unbounded.
    Enclosure,
    /// No polynomial follows the field closely enough.
    Defect,
    /// The growth does not end, and the enclosure may contain a steady state: the start is
    /// symmetric, or the flow leads to a saddle.
    SteadyState,
    /// The limit of steps or of time was reached.
    Limit,
}

impl Cause {
    /// All causes.
    pub const ALL: [Self; 5] =
        [Self::Growth, Self::Enclosure, Self::Defect, Self::SteadyState, Self::Limit];

    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Growth => "growth",
            Self::Enclosure => "enclosure",
            Self::Defect => "defect",
            Self::SteadyState => "steady-state",
            Self::Limit => "limit",
        }
    }

    /// One sentence.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Growth => "growth: the error bound exceeds the distance to every hemisphere",
            Self::Enclosure => "enclosure: the bounds of the field became infinite",
            Self::Defect => "defect: no polynomial follows the field closely enough",
            Self::SteadyState => {
                "steady-state: the growth does not end, and the enclosure may contain a steady state"
            }
            Self::Limit => "limit: the limit of steps or of time was reached",
        }
    }
}

/// A piece of a step, with the bounds of Lemma 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    /// End of the piece, in time since the beginning of the step.
    pub(super) end: f64,
    /// Bound of the growth rate.
    pub(super) mu: f64,
    /// Bound of the error on the piece.
    pub(super) r: f64,
    /// Choice of time.
    pub(super) kappa: f64,
}

/// A step as the certificate records it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StepRecord {
    /// Length in time.
    pub(super) h: f64,
    pub(super) pieces: Vec<Piece>,
    /// Where the next step starts.
    pub(super) x: Vec<f64>,
    /// If points merge after the step: the new point of each, and the coordinates of the new
    /// points.
    pub(super) merged: Option<(Vec<usize>, Vec<f64>)>,
    /// The error bound after the step, for readers.
    pub(super) error: f64,
}

/// A proof of convergence to one point.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvergenceProof {
    pub(super) start: Neighbourhood,
    pub(super) order: usize,
    pub(super) steps: Vec<StepRecord>,
    pub(super) direction: Vec<f64>,
    /// Time of the path at which all tokens lie in an open hemisphere; for USA in units of
    /// `e^{-beta}`.
    pub t: f64,
    /// About how far `t` may be from the time of the solution: Lemma 2 changes the time.
    pub time_shift: f64,
    /// Bound of `(sum_i m_i |x_i - p_i|^2)^(1/2)` at that time; under a causal mask without the
    /// masses.
    pub error: f64,
    /// Integral of the bounds mu of the growth rate.
    pub growth: f64,
}

impl ConvergenceProof {
    /// Number of steps of the path.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// The proved statement.
    pub fn statement(&self) -> String {
        self.start.statement()
    }
}

/// Where a proof failed.
#[derive(Clone, Debug, PartialEq)]
pub struct ProofFailure {
    /// Why it failed.
    pub cause: Cause,
    /// Time of the path at which it failed.
    pub t: f64,
    /// Index of the token that is farthest outside the best hemisphere, counted from 0.
    pub token: usize,
    /// Bound of the error at that time.
    pub error: f64,
    /// Integral of the bounds mu of the growth rate.
    pub growth: f64,
    /// Integral of the bound of the defect.
    pub defect: f64,
    /// Number of steps until then.
    pub steps: usize,
}
