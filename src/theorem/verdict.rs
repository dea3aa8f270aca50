use super::Case;
use std::fmt;

/// Signed distance to a claimed inequality: positive when it holds. The numerical error is kept by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Margin {
    /// The distance.
    pub value: f64,
    /// Twice the difference between the tolerance and a hundredth of it.
    pub integrator: f64,
    /// Rounding of the evaluation.
    pub evaluation: f64,
    /// Error of a sampled quantity: three standard errors, or one where the claim itself allows for five.
    pub sampling: f64,
}

impl Margin {
    /// Total error.
    pub fn error(&self) -> f64 {
        self.integrator + self.evaluation + self.sampling
    }
}

/// What the trials say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every margin exceeds its error and the negative control failed.
    Supported,
    /// An error bar covers the threshold, a run did not finish, a violation was not confirmed, or the control did not fail.
    Inconclusive,
    /// A margin below minus its error, confirmed at a hundredth of the tolerance.
    Violated,
    /// No trial met the hypotheses.
    HypothesesNeverMet,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Supported => "supported",
            Self::Inconclusive => "inconclusive",
            Self::Violated => "violated",
            Self::HypothesesNeverMet => "hypotheses never met",
        })
    }
}

/// The verdict on one claim with everything needed to judge and repeat it.
#[derive(Clone, Debug)]
pub struct Record {
    /// Name of the claim.
    pub name: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// True when the verdict is the one the literature (with its known errata) predicts.
    pub as_expected: bool,
    /// The worst margin.
    pub margin: Option<Margin>,
    /// Where it was seen: the case and the trial's number.
    pub worst: Option<(Case, usize)>,
    /// Trials that met the hypotheses.
    pub trials: usize,
    /// Draws that missed the hypotheses.
    pub missed: usize,
    /// Trials that did not finish, with the first reason.
    pub unfinished: (usize, String),
    /// Trials whose margin was positive.
    pub held: usize,
    /// For almost-sure claims, the upper 99.9 % bound on the measure of exceptions.
    pub exception_bound: Option<f64>,
    /// True when the negative control was violated as it should be.
    pub control_failed: bool,
    /// All margins, in order of trials, for the small figure.
    pub margins: Vec<f64>,
    /// Root seed.
    pub seed: u64,
}

impl Record {
    /// A record before any trial is booked.
    pub(super) fn new(name: &'static str, seed: u64, control_failed: bool) -> Self {
        Self {
            name,
            verdict: Verdict::HypothesesNeverMet,
            as_expected: false,
            margin: None,
            worst: None,
            trials: 0,
            missed: 0,
            unfinished: (0, String::new()),
            held: 0,
            exception_bound: None,
            control_failed,
            margins: Vec::new(),
            seed,
        }
    }
}
