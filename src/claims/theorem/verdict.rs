//! Verdicts on claims, and the record of everything that a verdict depends on.

use super::{Case, Kind, Margin, Status};
use std::fmt;

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Interval arithmetic proves the claim on the whole printed box, and every trial agrees.
    Certified,
    /// Every margin exceeds its error, and the control had the expected result.
    Supported,
    /// A margin lies within its error, a trial did not finish, a violation was not confirmed, too
    /// few draws met the hypotheses, the bound on a share is not reached, or the control failed.
    Inconclusive,
    /// A margin below minus its error, confirmed by independent methods.
    Violated,
    /// No trial met the hypotheses.
    HypothesesNeverMet,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Certified => "certified",
            Self::Supported => "supported",
            Self::Inconclusive => "inconclusive",
            Self::Violated => "violated",
            Self::HypothesesNeverMet => "hypotheses never met",
        })
    }
}

/// The ranges of the cases that were drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawnRanges {
    /// Smallest and largest number of tokens.
    pub n: (usize, usize),
    /// Smallest and largest dimension.
    pub d: (usize, usize),
    /// Smallest and largest beta.
    pub beta: (f64, f64),
    /// The dynamics.
    pub dynamics: Vec<&'static str>,
    /// The laws of tokens.
    pub laws: Vec<&'static str>,
}

impl DrawnRanges {
    /// The ranges of these cases.
    pub fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> Self {
        let mut out = Self {
            n: (usize::MAX, 0),
            d: (usize::MAX, 0),
            beta: (f64::INFINITY, f64::NEG_INFINITY),
            ..Self::default()
        };
        for c in cases {
            out.n = (out.n.0.min(c.n), out.n.1.max(c.n));
            out.d = (out.d.0.min(c.d), out.d.1.max(c.d));
            out.beta = (out.beta.0.min(c.beta), out.beta.1.max(c.beta));
            for (list, name) in [(&mut out.dynamics, c.dynamics), (&mut out.laws, c.law)] {
                if !list.contains(&name) {
                    list.push(name);
                }
            }
        }
        out
    }
}

impl fmt::Display for DrawnRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dynamics.is_empty() {
            return write!(f, "nothing");
        }
        let range = |lo: String, hi: String| if lo == hi { lo } else { format!("{lo}..{hi}") };
        let n = range(self.n.0.to_string(), self.n.1.to_string());
        let d = range(self.d.0.to_string(), self.d.1.to_string());
        let beta = range(
            format!("{:.3}", ThreeDigits(self.beta.0)),
            format!("{:.3}", ThreeDigits(self.beta.1)),
        );
        write!(f, "n {n}, d {d}, beta {beta}, {}, {}", self.dynamics.join("/"), self.laws.join("/"))
    }
}

/// A number with three significant digits, in scientific notation only if it is very large or
/// small.
struct ThreeDigits(f64);

impl fmt::Display for ThreeDigits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v: f64 = format!("{:.2e}", self.0).parse().unwrap_or(self.0);
        if v == 0.0 || (1e-3..1e5).contains(&v.abs()) {
            write!(f, "{v}")
        } else {
            write!(f, "{v:e}")
        }
    }
}

/// The smallest relative change of the claimed constant that the check detects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ResolvingPower {
    /// A relative change of this size.
    Resolves(f64),
    /// Even half or twice the claimed value would pass.
    AboveFactorTwo,
    /// The claim has no constant.
    NotApplicable,
}

impl ResolvingPower {
    /// The relative change, if it is below a factor of two.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Resolves(s) => Some(s),
            _ => None,
        }
    }
}

impl fmt::Display for ResolvingPower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resolves(s) => f.pad(&format!("{s:.0e}")),
            Self::AboveFactorTwo => f.pad("not 2x"),
            Self::NotApplicable => f.pad("-"),
        }
    }
}

/// Summary of the search for a violation that preceded a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchSummary {
    /// Number of trials.
    pub evaluations: u64,
    /// The smallest margin.
    pub best: f64,
}

/// The verdict on one claim, with everything needed to judge and to repeat it.
#[derive(Clone, Debug)]
pub struct Record {
    /// Name of the claim.
    pub name: &'static str,
    /// Status in the literature.
    pub status: Status,
    /// The kind of quantity measured.
    pub kind: Kind,
    /// The verdict.
    pub verdict: Verdict,
    /// Why the claim is not supported; empty if it is.
    pub reason: String,
    /// True if the verdict is the one that the literature, with its known errata, predicts. For an
    /// open claim: if no draw violates it.
    pub as_expected: bool,
    /// The smallest margin; for a share, the distance of the share to its level.
    pub margin: Option<Margin>,
    /// The case and the number of the trial with the smallest margin.
    pub worst: Option<(Case, usize)>,
    /// For an inequality, the smallest slack: the factor by which its bound could be tightened and
    /// still hold in every trial.
    pub slack: Option<f64>,
    /// The resolving power.
    pub power: ResolvingPower,
    /// Number of trials that met the hypotheses.
    pub trials: usize,
    /// Number of draws that missed the hypotheses.
    pub missed: usize,
    /// Number of trials that did not finish, and the first reason.
    pub unfinished: (usize, String),
    /// Number of trials that held by more than their error.
    pub held: usize,
    /// For trials that assert convergence to one point: how many were proved by interval
    /// arithmetic, and how many there were.
    pub certified: Option<(usize, usize)>,
    /// For shares, the upper 99.9 % bound on the share of draws that fail.
    pub bound: Option<f64>,
    /// The methods that confirmed a violation.
    pub confirmed: Vec<&'static str>,
    /// The search for a violation, if there was one: for thin margins, open claims and claims that
    /// are expected to fail.
    pub searched: Option<SearchSummary>,
    /// True if the control had the expected result.
    pub control_ok: bool,
    /// The ranges that were drawn.
    pub drawn: DrawnRanges,
    /// All margins in the order of the trials.
    pub margins: Vec<f64>,
    /// The cases of the margins.
    pub cases: Vec<Case>,
    /// Root seed.
    pub seed: u64,
}

impl Record {
    /// A record without trials.
    pub(super) fn new(claim: &super::Claim, seed: u64, control_ok: bool) -> Self {
        Self {
            name: claim.name,
            status: claim.status,
            kind: claim.kind,
            verdict: Verdict::HypothesesNeverMet,
            reason: String::new(),
            as_expected: false,
            margin: None,
            worst: None,
            slack: None,
            power: ResolvingPower::NotApplicable,
            trials: 0,
            missed: 0,
            unfinished: (0, String::new()),
            held: 0,
            certified: None,
            bound: None,
            confirmed: Vec::new(),
            searched: None,
            control_ok,
            drawn: DrawnRanges::default(),
            margins: Vec::new(),
            cases: Vec::new(),
            seed,
        }
    }
}
