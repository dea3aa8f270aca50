//! The claims by topic: a folder for each topic, a file for each claim. The `mod.rs` of a topic has
//! its page and lists its claims in reading order.

use super::Claim;
use crate::error::{Error, Result};
use std::sync::LazyLock;

pub mod causal;
pub mod cones;
pub mod energy;
pub mod flat;
pub mod hardmax;
pub mod heads;
pub mod interactions;
pub mod landscapes;
pub mod mean_field;
pub mod metastability;
pub mod modes;
pub mod noise;
pub mod normalisation;
pub mod random_weights;
pub mod recurrent;

/// A topic: its page, and its claims in the order in which they should be read.
pub struct Topic {
    /// Name on the command line.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// The page: what the claims of the topic say together.
    pub page: &'static str,
    /// The claims.
    pub claims: &'static [&'static Claim],
}

/// All topics, in reading order.
pub static TOPICS: [&Topic; 15] = [
    &energy::TOPIC,
    &cones::TOPIC,
    &metastability::TOPIC,
    &landscapes::TOPIC,
    &interactions::TOPIC,
    &modes::TOPIC,
    &mean_field::TOPIC,
    &causal::TOPIC,
    &noise::TOPIC,
    &random_weights::TOPIC,
    &flat::TOPIC,
    &hardmax::TOPIC,
    &normalisation::TOPIC,
    &heads::TOPIC,
    &recurrent::TOPIC,
];

/// All claims by topic; each is followed by its variants.
pub static ALL: LazyLock<Vec<&'static Claim>> = LazyLock::new(|| {
    TOPICS.iter().flat_map(|t| t.claims).flat_map(|c| c.with_variants()).collect()
});

/// Finds a claim or a variant. **Errors** unknown name, with the nearest known one.
pub fn find(name: &str) -> Result<&'static Claim> {
    ALL.iter()
        .copied()
        .find(|c| c.name == name)
        .ok_or_else(|| Error::unknown("theorem", name, ALL.iter().map(|c| c.name)))
}

/// Finds a topic. **Errors** unknown name, with the nearest known one.
pub fn find_topic(name: &str) -> Result<&'static Topic> {
    TOPICS
        .iter()
        .copied()
        .find(|t| t.name == name)
        .ok_or_else(|| Error::unknown("topic", name, TOPICS.iter().map(|t| t.name)))
}

/// The topic of a claim or of a variant.
pub fn topic(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().copied().find(|t| t.claims.iter().any(|c| c.is_or_has(name)))
}

/// The claim that a name belongs to: the claim itself, or the one of which it is a variant.
pub fn row(name: &str) -> Option<&'static Claim> {
    TOPICS.iter().flat_map(|t| t.claims).copied().find(|c| c.is_or_has(name))
}

/// The derivation of a claim, from the documentation of its file; `None` if the cited paper has it.
pub fn derivation(claim: &Claim) -> Option<&'static str> {
    let all: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/derivations.rs"));
    let name = row(claim.name)?.name.replace('-', "_");
    all.iter().find(|(file, text)| *file == name && !text.is_empty()).map(|(_, text)| *text)
}

impl Claim {
    /// True if this is a variant of another claim.
    pub fn is_variant(&self) -> bool {
        row(self.name).is_some_and(|c| c.name != self.name)
    }

    /// For a false claim: the true claim of which it is a variant.
    pub fn corrected_by(&self) -> Option<&'static Self> {
        row(self.name).filter(|c| c.name != self.name && !c.status.expects_violation())
    }
}
