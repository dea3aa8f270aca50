//! The status of a claim in the literature, and the kind of quantity that its trials measure.

use std::fmt;

/// The status of a claim in the literature. It determines the expected verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Proved in the source, or derived here with its derivation in the claim's documentation.
    Theorem,
    /// The correction of a statement that is printed wrongly.
    Corrected,
    /// A printed statement that is false: a violation is expected.
    Misprinted,
    /// A conjecture of the source that is false as it is printed: a violation is expected.
    RefutedConjecture,
    /// A common belief that is false and nowhere printed as a theorem: a violation is expected.
    Folklore,
    /// Neither proved nor refuted. The check searches for counterexamples; a violation is a
    /// discovery.
    Open,
    /// A numerical finding without a proof.
    Observation,
}

impl Status {
    /// True if the literature, with its errata, predicts a violation.
    pub fn expects_violation(self) -> bool {
        matches!(self, Self::Misprinted | Self::RefutedConjecture | Self::Folklore)
    }

    /// True if a violation means a defect of the program or of the theory: exit code 2.
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
            Self::RefutedConjecture => "refuted conjecture",
            Self::Folklore => "folklore",
            Self::Open => "open",
            Self::Observation => "observation",
        })
    }
}

/// The kind of a claim: it fixes the meaning of a margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// An exact identity. The tolerance is a constant times eps times a scale; the margin is
    /// `1 - deviation / tolerance`.
    Identity,
    /// An inequality. The margin is the distance to the bound over the bound; the slack is the
    /// factor by which the bound could be tightened.
    Inequality,
    /// Counts or truth values, without rounding: every trial must say yes.
    Exact,
    /// A measured number with its sampling error. The margin is
    /// `1 - |measured - claimed| / allowed`.
    Law,
    /// Holds for at least this share of draws, at every case, judged by Clopper-Pearson bounds at
    /// 99.9 %.
    Share(f64),
    /// Holds for every draw. It is supported only if no draw fails and the draws bound the share of
    /// exceptions by this number at 99.9 %.
    Every(f64),
}

impl Kind {
    /// True if a trial answers yes or no and the share of yes is judged.
    pub fn is_share(self) -> bool {
        matches!(self, Self::Share(_) | Self::Every(_))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Identity => "identity",
            Self::Exact => "exact",
            Self::Inequality => "inequality",
            Self::Law => "law",
            Self::Share(_) | Self::Every(_) => "share",
        })
    }
}
