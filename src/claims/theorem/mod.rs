//! Theorems as experiments: one claim per file in [`claim`], each with hypotheses, a trial, a
//! control and a citation.
//!
//! A check runs trials of a claim at random cases that meet its hypotheses, and gives a verdict:
//!
//! - *certified*: interval arithmetic proves the claim on the whole printed box;
//! - *supported*: every margin exceeds its error;
//! - *violated*: a counterexample was found and confirmed; it can be replayed;
//! - *inconclusive*, or *hypotheses never met*.
//!
//! The printed hypotheses are the ones that cases are drawn from ([`Domain`]). A violation counts
//! only after independent methods confirm it. The *control* is the same test on an example where
//! the claim is false; it must fail. The *resolving power* is the smallest relative change of the
//! claimed constant that the check detects.

mod check;
#[doc(hidden)]
pub mod claim;
mod confirm;
#[doc(hidden)]
pub mod conformance;
mod context;
mod domain;
mod finding;
pub mod hunt;
#[doc(hidden)]
pub mod prelude;
mod region;
mod resolving_power;
#[doc(hidden)]
pub mod rounding;
pub mod sentences;
#[doc(hidden)]
pub mod shared;
mod status;
mod tape;
mod trial;
mod verdict;

pub use check::{Effort, check, exit_code, exit_code_of, sweep};
pub use claim::{ALL, TOPICS, Topic, derivation, find};
#[doc(hidden)]
pub use confirm::{Confirmation, confirm};
pub use context::Stop;
#[doc(hidden)]
pub use context::{Context, Evidence, Method};
pub use domain::{Betas, Case, Condition, Domain, Masses, Sizes};
#[doc(hidden)]
pub use finding::{Finding, Margin};
#[doc(hidden)]
pub use region::{AxisValues, Region};
pub use status::{Kind, Status};
#[doc(hidden)]
pub use tape::{Draw, Tape};
#[doc(hidden)]
pub use trial::{TrialResult, run_trial};
pub use verdict::{DrawnRanges, Record, ResolvingPower, SearchSummary, Verdict};

use crate::error::{Error, Result, format_number};

/// A control: the same test with one thing changed, such that the outcome must be the opposite.
pub struct Control {
    /// The change: a violated hypothesis or a false stronger statement; for a claim that is false,
    /// a case in which it holds.
    pub what: &'static str,
    /// The trial, which must have the opposite outcome.
    pub trial: fn(&mut Context) -> Result<Finding>,
}

/// A proof by interval arithmetic.
pub struct Proof {
    /// The box of parameters on which the claim is proved, as printed.
    pub what: &'static str,
    /// True if the box is the whole range of the claim.
    pub whole: bool,
    /// Runs the proof; true if it succeeds on the whole box.
    pub holds: fn() -> Result<bool>,
}

/// A registered claim. Backticks mark the formulas in its texts; [`Claim::printed`] removes them.
pub struct Claim {
    /// Name on the command line.
    pub name: &'static str,
    /// Title in tables.
    pub title: &'static str,
    /// What is given, without the word "let"; empty if `then` says it.
    pub lets: &'static str,
    /// The statement about it.
    pub then: &'static str,
    /// How it is tested: tolerances, times, what a trial draws; empty if `then` says it.
    pub tested: &'static str,
    /// Constants of the code that the texts print: `{NAME}` in a text is replaced by the number.
    pub numbers: &'static [(&'static str, f64)],
    /// The hypotheses. They are printed, and cases are drawn from them.
    pub domain: Domain,
    /// How the tested hypotheses are narrower than those of the source; empty if they are not.
    pub narrower: &'static str,
    /// The source: a paper with the number of a theorem or an equation, or "derived" if the
    /// derivation is in the file of the claim.
    pub source: &'static str,
    /// Status in the literature.
    pub status: Status,
    /// For a false claim: what is true instead. Empty if the claim of which it is a variant says
    /// it.
    pub correct: &'static str,
    /// The kind of quantity measured.
    pub kind: Kind,
    /// Number of trials: quick and standard.
    pub trials: (usize, usize),
    /// One trial.
    pub trial: fn(&Case, &mut Context) -> Result<Finding>,
    /// The constant that the trial passes through [`Context::claimed_constant`], in words; empty if
    /// the claim has none.
    pub constant: &'static str,
    /// Why no relative change of a constant can be resolved; empty if there is a constant, or an
    /// inequality whose slack tells it.
    pub no_constant: &'static str,
    /// The control. It must be violated if the claim should hold, and hold if the claim is false.
    pub control: Control,
    /// A proof on a box, if there is one.
    pub proof: Option<Proof>,
    /// Other wordings of the same statement: as printed, as believed, as corrected. A variant has
    /// its own name, status, trial and control; in tables it shares the row of this claim.
    pub variants: &'static [&'static Claim],
}

impl Claim {
    /// The whole statement.
    pub fn statement(&self) -> String {
        plain(&self.marked_statement())
    }

    /// The whole statement with marked formulas.
    #[doc(hidden)]
    pub fn marked_statement(&self) -> String {
        let lets =
            if self.lets.is_empty() { String::new() } else { format!("Let {}. ", self.lets) };
        let tested = if self.tested.is_empty() {
            String::new()
        } else {
            format!(" Tested {}.", self.tested)
        };
        self.marked(&format!("{lets}{}{tested}", self.then))
    }

    /// The hypotheses that cases are drawn from.
    pub fn hypotheses(&self) -> String {
        plain(&self.marked_hypotheses())
    }

    /// The hypotheses with marked formulas.
    #[doc(hidden)]
    pub fn marked_hypotheses(&self) -> String {
        self.marked(&self.domain.to_string())
    }

    /// A text of the claim for people: numbers stand in place of their names, formulas have no
    /// marks.
    pub fn printed(&self, text: &str) -> String {
        plain(&self.marked(text))
    }

    /// A text of the claim with its numbers in place of their names, and with the backticks that
    /// mark formulas. Braces of formulas remain.
    #[doc(hidden)]
    pub fn marked(&self, text: &str) -> String {
        self.numbers.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), &in_text(*value))
        })
    }

    /// The claim, followed by its variants.
    pub fn with_variants(&'static self) -> impl Iterator<Item = &'static Self> {
        std::iter::once(self).chain(self.variants.iter().copied())
    }

    /// True if this is the name of the claim or of one of its variants.
    pub fn is_or_has(&self, name: &str) -> bool {
        self.name == name || self.variants.iter().any(|v| v.name == name)
    }
}

/// A text without the backticks that mark its formulas.
#[doc(hidden)]
pub fn plain(text: &str) -> String {
    text.replace('`', "")
}

/// Defaults, for use as `..Claim::IDENTITY`: a theorem, tested under the hypotheses of its source,
/// without a constant and without a proof. A claim without a trial or a control gives an error when
/// it is checked.
impl Claim {
    /// Defaults of an inequality.
    pub const INEQUALITY: Self = Self {
        name: "",
        title: "",
        lets: "",
        then: "",
        tested: "",
        numbers: &[],
        domain: Domain::ATTENTION,
        narrower: "",
        source: "",
        status: Status::Theorem,
        correct: "",
        kind: Kind::Inequality,
        trials: (0, 0),
        trial: |_, _| Err(missing("trial")),
        constant: "",
        no_constant: "",
        control: Control { what: "", trial: |_| Err(missing("control")) },
        proof: None,
        variants: &[],
    };
    /// Defaults of an identity.
    pub const IDENTITY: Self = Self { kind: Kind::Identity, ..Self::INEQUALITY };
    /// Defaults of a claim about counts or truth values.
    pub const EXACT: Self = Self { kind: Kind::Exact, ..Self::INEQUALITY };
    /// Defaults of a law.
    pub const LAW: Self = Self { kind: Kind::Law, ..Self::INEQUALITY };
    /// Defaults of a claim about every draw, with exceptions below 10 %.
    pub const EVERY: Self = Self { kind: Kind::Every(0.1), ..Self::INEQUALITY };
}

/// A number of a text. Small ones are tolerances and get an exponent.
fn in_text(value: f64) -> String {
    if (f64::MIN_POSITIVE..=1e-3).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        format_number(value)
    }
}

fn missing(what: &str) -> Error {
    Error::Numerical { what: format!("the claim has no {what}") }
}
