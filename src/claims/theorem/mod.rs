//! Theorems as experiments: one claim per file in [`claim`], each with its hypotheses, trial, margin, control and citation.
//!
//! A verdict says what was seen, never more: certified (an enclosure decides the printed box), supported, inconclusive, violated (as encoded,
//! with a counterexample that can be replayed), or hypotheses never met. The hypotheses printed are the sampler's ([`Domain`]), a violation is
//! confirmed by a method that could have said otherwise, a control shows that the other side of the line is seen, and the resolving power
//! says how far the stated constant may be moved before the check notices.

mod attempt;
mod check;
pub mod claim;
mod confirm;
pub mod conformance;
mod context;
mod domain;
mod finding;
pub mod hunt;
mod power;
pub mod prelude;
mod region;
#[doc(hidden)]
pub mod rounding;
pub mod seeds;
mod status;
mod tape;
pub mod topics;
mod verdict;

pub use attempt::{Attempt, attempt};
pub use check::{Effort, check, sweep, worst, worst_of};
pub use claim::{ALL, derivation, find};
pub use confirm::{Confirmation, confirm};
pub use context::{Context, Evidence, Method, Stop};
pub use domain::{Also, Betas, Case, Domain, Masses, Sizes};
pub use finding::{Finding, Margin};
pub use region::{AxisValues, Region};
pub use status::{Kind, Status};
pub use tape::{Draw, Tape};
pub use verdict::{Drawn, Power, Record, Searched, Verdict};

use crate::error::{Error, Result};

/// The other side of the line: the same code path with one thing changed.
pub struct Control {
    /// What is changed: a hypothesis broken or a false strengthening; for a false statement, where it holds.
    pub what: &'static str,
    /// The trial that must come out on the other side.
    pub trial: fn(&mut Context) -> Result<Finding>,
}

/// A decision by interval arithmetic.
pub struct Proof {
    /// The box for which it decides, as printed.
    pub what: &'static str,
    /// Whether the box is all that the claim speaks of.
    pub whole: bool,
    /// True when the enclosure decides that the claim holds on the whole box.
    pub holds: fn() -> Result<bool>,
}

/// A registered claim.
pub struct Claim {
    /// Name on the command line.
    pub name: &'static str,
    /// Title in tables.
    pub title: &'static str,
    /// The statement, in plain notation.
    pub statement: &'static str,
    /// The hypotheses: printed, and drawn from.
    pub domain: Domain,
    /// Where the hypotheses tested are narrower than the source's; empty when they are not.
    pub narrower: &'static str,
    /// Where it is printed.
    pub citation: &'static str,
    /// What the literature says.
    pub status: Status,
    /// What is measured.
    pub kind: Kind,
    /// Draws in total: quick and standard.
    pub trials: (usize, usize),
    /// One trial.
    pub trial: fn(&Case, &mut Context) -> Result<Finding>,
    /// What [`Context::stated`] perturbs; empty when nothing of the claim has a size.
    pub perturbed: &'static str,
    /// The control: negative for what should hold (it must be violated), positive for what is false (it must hold).
    pub control: Control,
    /// A proof for a box, where there is one.
    pub proof: Option<Proof>,
}

/// What most claims share, for `..Claim::IDENTITY`: a theorem, tested on the hypotheses of its source, without a constant that can be moved and
/// without a proof for a box. A claim says the rest: one that leaves out its trial or its control errs when it is checked.
impl Claim {
    /// Measured as an inequality.
    pub const INEQUALITY: Self = Self {
        name: "",
        title: "",
        statement: "",
        domain: Domain::ATTENTION,
        narrower: "",
        citation: "",
        status: Status::Theorem,
        kind: Kind::Inequality,
        trials: (0, 0),
        trial: |_, _| Err(missing("trial")),
        perturbed: "",
        control: Control { what: "", trial: |_| Err(missing("control")) },
        proof: None,
    };
    /// Measured as an identity.
    pub const IDENTITY: Self = Self { kind: Kind::Identity, ..Self::INEQUALITY };
    /// Measured as a law.
    pub const LAW: Self = Self { kind: Kind::Law, ..Self::INEQUALITY };
    /// True of every draw, exceptions below 10 %.
    pub const EVERY: Self = Self { kind: Kind::Every(0.1), ..Self::INEQUALITY };
}

fn missing(what: &str) -> Error {
    Error::Numerical { what: format!("the claim has no {what}") }
}
