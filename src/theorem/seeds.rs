//! What five popular documents say of attention, sentence by sentence: a talk on arXiv:2312.10794 and notes of it, a survey from recurrent
//! networks to Transformers, an essay on attention as energy, a tutorial. Each sentence is true, false, true under a hypothesis, or informal.

use super::{Claim, Record, find};
use crate::error::{Error, Result};
use std::fmt;

/// What is found of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// As it stands.
    True,
    /// Not as it stands; a claim that is expected to be violated says it as printed.
    False,
    /// Under a hypothesis that it does not name.
    Conditional,
    /// No statement that a number could contradict.
    Informal,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::True => "true",
            Self::False => "false",
            Self::Conditional => "needs a hypothesis",
            Self::Informal => "informal",
        })
    }
}

/// A sentence of the seeds.
#[derive(Debug)]
pub struct SeedClaim {
    /// Name on the command line.
    pub name: &'static str,
    /// The documents that say it.
    pub source: &'static str,
    /// The sentence, in our words.
    pub sentence: &'static str,
    /// What is found.
    pub standing: Standing,
    /// The hypothesis, the correction, or why there is nothing to test.
    pub why: &'static str,
    /// The claims that test it.
    pub claims: &'static [&'static str],
}

/// The name under which the claims of all sentences are checked together.
pub const GROUP: &str = "seeds";

/// Finds a sentence. **Errors** an unknown name, with the nearest known one.
pub fn sentence(name: &str) -> Result<&'static SeedClaim> {
    ALL.iter().find(|s| s.name == name).ok_or_else(|| Error::unknown("sentence of the seeds", name, ALL.iter().map(|s| s.name)))
}

/// The claims of a name: of one claim, of one sentence, or of all of them.
///
/// **Errors** a name that is none of these.
pub fn claims_of(name: &str) -> Result<Vec<&'static Claim>> {
    let of = |s: &SeedClaim| s.claims.iter().map(|c| find(c)).collect::<Result<Vec<_>>>();
    if name == GROUP {
        let mut all = ALL.iter().map(of).collect::<Result<Vec<_>>>()?.concat();
        all.sort_by_key(|c| c.name);
        all.dedup_by_key(|c| c.name);
        return Ok(all);
    }
    match ALL.iter().find(|s| s.name == name) {
        Some(s) if s.claims.is_empty() => Err(Error::parameter("seed", name, format!("one with a claim: this one is listed only ({})", s.why))),
        Some(s) => of(s),
        None => find(name).map(|c| vec![c]).map_err(|_| unknown(name)),
    }
}

fn unknown(name: &str) -> Error {
    Error::unknown("theorem", name, super::ALL.iter().map(|c| c.name).chain(ALL.iter().map(|s| s.name)).chain([GROUP]))
}

/// What a check saw of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Every claim came out as expected.
    AsExpected,
    /// One did not.
    Otherwise,
    /// No claim was checked.
    Nothing,
}

impl SeedClaim {
    /// What these verdicts say of it.
    pub fn seen(&self, records: &[Record]) -> Seen {
        let found: Vec<Option<bool>> = self.claims.iter().map(|c| records.iter().find(|r| r.name == *c).map(|r| r.as_expected)).collect();
        match () {
            () if found.contains(&Some(false)) => Seen::Otherwise,
            () if found.is_empty() || found.contains(&None) => Seen::Nothing,
            () => Seen::AsExpected,
        }
    }
}

const fn row(
    name: &'static str,
    source: &'static str,
    sentence: &'static str,
    (standing, why): (Standing, &'static str),
    claims: &'static [&'static str],
) -> SeedClaim {
    SeedClaim { name, source, sentence, standing, why, claims }
}

const fn holds() -> (Standing, &'static str) {
    (Standing::True, "")
}

const fn needs(why: &'static str) -> (Standing, &'static str) {
    (Standing::Conditional, why)
}

const fn wrong(why: &'static str) -> (Standing, &'static str) {
    (Standing::False, why)
}

const fn informal(why: &'static str) -> (Standing, &'static str) {
    (Standing::Informal, why)
}

