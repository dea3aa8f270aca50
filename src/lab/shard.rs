//! Shards: the part k of K of a piece of work, for one of K machines. The hash of a name or id says
//! to which shard it belongs, so machines need not communicate.

use super::provenance::hash;
use crate::error::{Error, Result};
use std::fmt;

/// Shard `k` of `of`, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    k: u64,
    of: u64,
}

impl Shard {
    /// Parses `k/K` with `0 <= k < K`.
    ///
    /// **Errors** anything else.
    ///
    /// ```
    /// use metastable::lab::shard::Shard;
    /// let shards: Vec<Shard> = (0..3).map(|k| Shard::parse(&format!("{k}/3")).unwrap()).collect();
    /// let holders = |name| shards.iter().filter(|shard| shard.holds(name)).count();
    /// assert!(["a", "b", "c", "d"].iter().all(|name| holders(name) == 1));
    /// assert!(Shard::parse("3/3").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            Error::parameter(
                "shard",
                text,
                "k/K with 0 <= k < K, as 0/4, 1/4, 2/4 and 3/4 for four machines",
            )
        };
        let (k, of) = text.split_once('/').ok_or_else(wrong)?;
        let whole = |t: &str| t.parse::<u64>().map_err(|_| wrong());
        let part = Self { k: whole(k)?, of: whole(of)? };
        if part.k < part.of { Ok(part) } else { Err(wrong()) }
    }

    /// The number of shards.
    pub fn count(&self) -> u64 {
        self.of
    }

    /// True if a name belongs to this shard; every name belongs to exactly one of the K.
    pub fn holds(&self, name: &str) -> bool {
        u64::from_str_radix(&hash(name)[..16], 16).unwrap_or(0) % self.of == self.k
    }

    /// A seed for this shard, for work that is drawn at random and not divided.
    pub fn seed(&self, seed: u64) -> u64 {
        u64::from_str_radix(&hash(format!("{seed}/{self}"))[..15], 16).unwrap_or(seed)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.k, self.of)
    }
}
