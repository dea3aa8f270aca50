//! What the literature says of a claim, and what kind of thing is measured.

use std::fmt;

/// What the literature says of a claim; what is expected follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Proved in the source, or derived here with its derivation in the claim's documentation.
    Theorem,
    /// Printed wrongly; this is the correction.
    Corrected,
    /// As printed, and false: a violation is expected.
    Misprinted,
    /// Said and believed, printed nowhere as a theorem, and false: a violation is expected.
    Folklore,
    /// Neither proved nor refuted: searched for counterexamples; a violation is a discovery.
    Open,
    /// A numerical finding without a proof.
    Observation,
}

impl Status {
    /// True where a violation is what the literature (with its errata) predicts.
    pub fn expects_violation(self) -> bool {
        matches!(self, Self::Misprinted | Self::Folklore)
    }

    /// True where a violation is a failure of the program or of the theory: exit code 2.
    pub fn must_hold(self) -> bool {
        matches!(self, Self::Theorem | Self::Corrected)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Theorem => "theorem",
            Self::Corrected => "corrected",
            Self::Misprinted => "misprinted",
            Self::Folklore => "folklore",
            Self::Open => "open",
            Self::Observation => "observation",
        })
    }
}

/// What is measured, and so what a margin means. Margins carry no unit: 1 is far from the threshold, 0 on it, negative beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A deviation from an exact law against a tolerance that is a constant times eps times a scale: `1 - deviation / tolerance`.
    Identity,
    /// An inequality: distance to the bound over the bound; the slack is the factor by which the bound could be tightened.
    Inequality,
    /// A fitted number with its sampling error: `1 - |measured - stated| / allowed`.
    Law,
    /// At least this share of draws, at every place of the range, judged by Clopper-Pearson bounds at 99.9 %.
    Share(f64),
    /// Every draw; without a failure supported only once exceptions are below this share at 99.9 %.
    Every(f64),
}

impl Kind {
    /// True where a trial answers yes or no and only their number means something.
    pub fn counts(self) -> bool {
        matches!(self, Self::Share(_) | Self::Every(_))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Identity => "identity",
            Self::Inequality => "inequality",
            Self::Law => "law",
            Self::Share(_) | Self::Every(_) => "share",
        })
    }
}
