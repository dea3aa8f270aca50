use super::{Case, Kind, Margin, Status};
use std::fmt;

/// What the trials say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// An enclosure by interval arithmetic decides the claim for exactly the printed box, and every trial agrees.
    Certified,
    /// Every margin exceeds its error and the control came out on its side.
    Supported,
    /// An error bar covers the threshold, a run did not finish, a violation was not confirmed, too few draws met the hypotheses, a bound
    /// is not reached, or the control came out on the wrong side.
    Inconclusive,
    /// A margin below minus its error, confirmed by a method that could have said otherwise.
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

/// The ranges that were really drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// Smallest and largest number of tokens.
    pub n: (usize, usize),
    /// Smallest and largest dimension.
    pub d: (usize, usize),
    /// Smallest and largest beta.
    pub beta: (f64, f64),
    /// Dynamics.
    pub dynamics: Vec<&'static str>,
    /// Laws of tokens.
    pub laws: Vec<&'static str>,
}

impl Drawn {
    /// The ranges of some cases.
    pub fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> Self {
        let mut out = Self { n: (usize::MAX, 0), d: (usize::MAX, 0), beta: (f64::INFINITY, f64::NEG_INFINITY), ..Self::default() };
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

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dynamics.is_empty() {
            return write!(f, "nothing");
        }
        let range = |lo: String, hi: String| if lo == hi { lo } else { format!("{lo}..{hi}") };
        let n = range(self.n.0.to_string(), self.n.1.to_string());
        let d = range(self.d.0.to_string(), self.d.1.to_string());
        let beta = range(format!("{:.3}", Short(self.beta.0)), format!("{:.3}", Short(self.beta.1)));
        write!(f, "n {n}, d {d}, beta {beta}, {}, {}", self.dynamics.join("/"), self.laws.join("/"))
    }
}

/// Three significant digits, plain where that is short.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v: f64 = format!("{:.2e}", self.0).parse().unwrap_or(self.0);
        if v == 0.0 || (1e-3..1e5).contains(&v.abs()) { write!(f, "{v}") } else { write!(f, "{v:e}") }
    }
}

/// How far a stated constant or law may be moved before the check notices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Power {
    /// A relative change of this size is noticed.
    Notices(f64),
    /// Half or twice the stated value would pass too.
    NotTwice,
    /// Nothing of the claim has a size.
    NotAsked,
}

impl Power {
    /// The relative change, when one is noticed.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Notices(s) => Some(s),
            _ => None,
        }
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Notices(s) => f.pad(&format!("{s:.0e}")),
            Self::NotTwice => f.pad("not 2x"),
            Self::NotAsked => f.pad("-"),
        }
    }
}

/// A search that was made before a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Searched {
    /// Trials evaluated.
    pub evaluations: u64,
    /// The smallest margin seen.
    pub best: f64,
}

/// The verdict on one claim with everything needed to judge and repeat it.
#[derive(Clone, Debug)]
pub struct Record {
    /// Name of the claim.
    pub name: &'static str,
    /// What the literature says.
    pub status: Status,
    /// What is measured.
    pub kind: Kind,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is not supported, in words; empty when it is.
    pub reason: String,
    /// True when the verdict is the one the literature (with its known errata) predicts; of an open claim, when no draw violates it.
    pub as_expected: bool,
    /// The worst margin; of a share, the distance of the share to its level.
    pub margin: Option<Margin>,
    /// Where it was seen: the case and the trial's number.
    pub worst: Option<(Case, usize)>,
    /// The smallest slack of an inequality: the factor by which its bound could be tightened and still hold in every trial, upper or lower.
    pub slack: Option<f64>,
    /// The resolving power.
    pub power: Power,
    /// Trials that met the hypotheses.
    pub trials: usize,
    /// Draws that missed the hypotheses.
    pub missed: usize,
    /// Trials that did not finish, with the first reason.
    pub unfinished: (usize, String),
    /// Trials that held beyond their error.
    pub held: usize,
    /// Of the trials that say that a start converges to one point: how many were proved, each by a certificate, of how many.
    pub certified: Option<(usize, usize)>,
    /// For shares, the upper 99.9 % bound on the share of draws for which the claim fails.
    pub bound: Option<f64>,
    /// How a violation was confirmed.
    pub confirmed: Vec<&'static str>,
    /// The search that was made, for thin margins and open claims.
    pub searched: Option<Searched>,
    /// True when the control came out on its side.
    pub control_ok: bool,
    /// What was drawn.
    pub drawn: Drawn,
    /// All margins, in order of trials, for the small figure.
    pub margins: Vec<f64>,
    /// The cases of the margins.
    pub cases: Vec<Case>,
    /// Root seed.
    pub seed: u64,
}

impl Record {
    /// A record before any trial is booked.
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
            power: Power::NotAsked,
            trials: 0,
            missed: 0,
            unfinished: (0, String::new()),
            held: 0,
            certified: None,
            bound: None,
            confirmed: Vec::new(),
            searched: None,
            control_ok,
            drawn: Drawn::default(),
            margins: Vec::new(),
            cases: Vec::new(),
            seed,
        }
    }
}
