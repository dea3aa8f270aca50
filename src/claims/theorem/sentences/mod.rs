//! Sixty sentences about attention from five popular documents: a talk on arXiv:2312.10794 and
//! notes of it, a survey from recurrent networks to Transformers, an essay on attention as energy,
//! and a tutorial. Each sentence is judged where it stands, with what its page supplies: true, true
//! with something sharper known, or false.
//!
//! They are data (`statements.toml`). Claims decide a sentence, and so do [`checks`], which the one
//! claim `sentences` runs.

pub mod checks;

use super::{Claim, Record, find};
use crate::error::{Error, Result, nearest_few};
use serde::Deserialize;
use std::fmt;
use std::sync::LazyLock;

/// The assessment of a sentence where it stands, with the context that its page supplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Assessment {
    /// True there. A slip that the same page corrects does not count.
    True,
    /// True there, and something sharper is known.
    Sharper,
    /// False even there. A check or a claim finds a counterexample.
    False,
}

impl Assessment {
    /// All assessments.
    pub const ALL: [Self; 3] = [Self::True, Self::Sharper, Self::False];
}

impl fmt::Display for Assessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::True => "true",
            Self::Sharper => "true, sharper known",
            Self::False => "false",
        })
    }
}

/// A part of a sentence that joins several statements.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its letter.
    pub part: String,
    /// What it says.
    pub says: String,
    /// Its assessment.
    pub as_said: Assessment,
    /// The reason.
    pub why: String,
}

/// A sentence of the sheet.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sentence {
    /// Name on the command line.
    pub name: String,
    /// The documents that contain it.
    pub source: String,
    /// The sentence, paraphrased.
    pub text: String,
    /// What the page around it, or the model that the page fixes, supplies.
    pub context: String,
    /// Our assessment, with this context. It is that of the main part.
    pub as_said: Assessment,
    /// The sharper mathematics, the counterexample or the correction.
    pub beyond: String,
    /// A hypothesis that neither the page nor its model supplies.
    #[serde(default)]
    pub needs: String,
    /// A slip that the page corrects, or words that the documents do not contain.
    #[serde(default)]
    pub note: String,
    /// Assessments of its parts.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// The claims that decide it.
    #[serde(default)]
    pub claims: Vec<String>,
    /// The checks of the claim [`GROUP`] that decide it.
    #[serde(default)]
    pub checks: Vec<String>,
}

/// The name under which the claims of all sentences are checked together, and the name of the claim
/// that runs the checks.
pub const GROUP: &str = "sentences";

/// The sentences, as written.
pub const FILE: &str = include_str!("statements.toml");

/// The sentences of a file.
///
/// **Errors** anything that is no list of sentences, with its line.
pub fn parse(text: &str) -> Result<Vec<Sentence>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sheet {
        sentence: Vec<Sentence>,
    }
    let sheet: Sheet = toml::from_str(text)
        .map_err(|e| Error::parameter("statements.toml", e, "a list of sentences"))?;
    Ok(sheet.sentence)
}

/// All sentences, in the order of the documents. A test reads [`FILE`] with its errors, so here it
/// has none.
pub static ALL: LazyLock<Vec<Sentence>> = LazyLock::new(|| parse(FILE).unwrap_or_default());

fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|s| s.name.as_str())
}

/// Finds a sentence. **Errors** an unknown name, with the nearest known one.
pub fn sentence(name: &str) -> Result<&'static Sentence> {
    ALL.iter().find(|s| s.name == name).ok_or_else(|| Error::unknown("sentence", name, names()))
}

/// The claims with a name: one claim, the claims of one sentence, or those of all sentences.
///
/// **Errors** a name that is none of these.
pub fn claims_of(name: &str) -> Result<Vec<&'static Claim>> {
    let of = |s: &Sentence| s.tests().map(find).collect::<Result<Vec<_>>>();
    if name == GROUP {
        let mut all = ALL.iter().map(of).collect::<Result<Vec<_>>>()?.concat();
        all.sort_by_key(|c| c.name);
        all.dedup_by_key(|c| c.name);
        return Ok(all);
    }
    match ALL.iter().find(|s| s.name == name) {
        Some(s) if s.tests().next().is_none() => Err(Error::parameter(
            "sentence",
            name,
            format!("a sentence with a claim; no claim tests this one ({})", s.beyond),
        )),
        Some(s) => of(s),
        None => find(name).map(|c| vec![c]).map_err(|_| unknown(name)),
    }
}

/// The error for an unknown name, with suggestions from the sentences if one of them is nearest and
/// from the theorems otherwise.
fn unknown(name: &str) -> Error {
    let theorems = || super::ALL.iter().map(|c| c.name);
    let sentences = || names().chain([GROUP]);
    let near = nearest_few(name, theorems().chain(names()), 1);
    if names().any(|s| near.first() == Some(&s)) {
        Error::unknown("sentence", name, sentences())
    } else {
        Error::unknown("theorem", name, theorems())
    }
}

/// The outcome of the claims of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every claim had the expected verdict.
    AsExpected,
    /// A claim had another verdict.
    NotAsExpected,
    /// The sentence has no claims, or not all of them were checked.
    NotTested,
}

impl Sentence {
    /// True if it, or a part of it, is false where it stands.
    pub fn is_false_in_part(&self) -> bool {
        let parts = self.parts.iter().map(|p| p.as_said);
        parts.chain([self.as_said]).any(|a| a == Assessment::False)
    }

    /// The claims that test it: its own, and the claim that runs its checks.
    pub fn tests(&self) -> impl Iterator<Item = &str> {
        let own = self.claims.iter().map(String::as_str);
        own.chain((!self.checks.is_empty()).then_some(GROUP))
    }

    /// The outcome of its claims in these records.
    pub fn outcome(&self, records: &[Record]) -> Outcome {
        let found: Vec<Option<bool>> = self
            .tests()
            .map(|c| records.iter().find(|r| r.name == c).map(|r| r.as_expected))
            .collect();
        match () {
            () if found.contains(&Some(false)) => Outcome::NotAsExpected,
            () if found.is_empty() || found.contains(&None) => Outcome::NotTested,
            () => Outcome::AsExpected,
        }
    }
}
