//! Files of counterexamples: everything that a trial drew, exact and readable.

use super::Provenance;
use crate::error::{Error, Result, wrong_json};
use crate::theorem::{
    Case, Claim, Confirmation, Context, Finding, Masses, Method, Tape, TrialResult, find, run_trial,
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A [`Case`] as it is written to the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SavedCase {
    n: usize,
    d: usize,
    beta: f64,
    dynamics: String,
    law: String,
    equal_masses: bool,
}

/// A counterexample that `hunt --replay` evaluates again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Counterexample {
    provenance: Provenance,
    claim: String,
    statement: String,
    case: SavedCase,
    /// The seed of the random numbers that the method of the claim draws.
    pub seed: u64,
    /// The margin at the time of writing; `None` for a claim that only holds or fails.
    pub margin: Option<f64>,
    error: Option<f64>,
    confirmed_by: Vec<String>,
    draws: Tape,
}

impl Counterexample {
    /// The file of a failed trial.
    pub fn new(
        claim: &Claim,
        failed: &TrialResult,
        seed: u64,
        confirmation: &Confirmation,
        provenance: Provenance,
    ) -> Self {
        let c = failed.case;
        let case = SavedCase {
            n: c.n,
            d: c.d,
            beta: c.beta,
            dynamics: c.dynamics.into(),
            law: c.law.into(),
            equal_masses: c.masses == Masses::Equal,
        };
        let (margin, error) = match &failed.finding {
            Finding::Margin(m) => (Some(m.value), Some(m.error())),
            _ => (None, None),
        };
        let confirmed_by = confirmation.confirmed_by.iter().map(|w| (*w).to_owned()).collect();
        let (claim, statement) = (claim.name.to_owned(), claim.statement());
        Self {
            provenance,
            claim,
            statement,
            case,
            seed,
            margin,
            error,
            confirmed_by,
            draws: failed.tape.clone(),
        }
    }

    /// JSON; floating-point numbers are written so that they are read back bit for bit.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a file.
    ///
    /// **Errors** no such file, a file that is no counterexample written by `hunt`, numbers that
    /// are not finite.
    pub fn read(path: &Path) -> Result<Self> {
        let bad = |problem: String| Error::File {
            path: path.display().to_string(),
            place: String::new(),
            problem,
        };
        let text =
            std::fs::read_to_string(path).map_err(|e| Error::io(path.display(), "read", &e))?;
        let file: Self = serde_json::from_str(&text)
            .map_err(|e| bad(wrong_json(&e, "a counterexample written by `hunt`")))?;
        if !file.case.beta.is_finite() || !file.draws.numbers().iter().all(|v| v.is_finite()) {
            return Err(bad("a number is not finite".into()));
        }
        Ok(file)
    }

    /// Evaluates the trial of the claim with these draws again.
    ///
    /// **Errors** a claim or dynamics that is not registered, a statement that has changed since, a
    /// trial that cannot be set up.
    pub fn evaluate(&self) -> Result<(&'static Claim, TrialResult)> {
        let claim = find(&self.claim)?;
        if claim.statement() != self.statement {
            let found = format!("the statement when the file was written: {}", self.statement);
            return Err(Error::parameter(
                "statement",
                found,
                format!("today's: {}", claim.statement()),
            ));
        }
        let c = &self.case;
        // A claim without dynamics or laws has the empty name.
        let registered = |names: &'static [&'static str], name: &str| {
            if names.is_empty() && name.is_empty() {
                return Some("");
            }
            names.iter().copied().find(|known| *known == name)
        };
        let dynamics = registered(claim.domain.dynamics, &c.dynamics);
        let dynamics = dynamics.map_or_else(
            || crate::attention::dynamics::find(&c.dynamics, false).map(|e| e.name),
            Ok,
        )?;
        let law = registered(claim.domain.laws, &c.law);
        let law = match law {
            Some(law) => law,
            None => {
                crate::sphere::law::Law::parse(&c.law)?;
                c.law.clone().leak()
            }
        };
        let masses = if c.equal_masses { Masses::Equal } else { Masses::Random };
        let case = Case { n: c.n, d: c.d, beta: c.beta, dynamics, law, masses };
        let context = Context::replay(
            self.draws.clone(),
            self.seed,
            &["shrink", claim.name],
            Method::default(),
        );
        Ok((claim, run_trial(claim, &case, context)?))
    }
}
