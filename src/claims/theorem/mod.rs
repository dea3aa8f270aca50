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
mod region;
mod rounding;
pub mod seeds;
mod status;
mod tape;
pub mod topics;
mod verdict;

pub use attempt::{Attempt, attempt};
pub use check::{Effort, check, sweep, worst};
pub use claim::{ALL, derivation, find};
pub use confirm::{Confirmation, confirm};
pub use context::{Context, Evidence, Method, Stop};
pub use domain::{Also, Betas, Case, Domain, Masses, Sizes};
pub use finding::{Finding, Margin};
pub use region::{AxisValues, Region};
pub use status::{Kind, Status};
pub use tape::{Draw, Tape};
pub use verdict::{Drawn, Power, Record, Searched, Verdict};

use crate::error::Result;

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
