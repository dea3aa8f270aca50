//! A part of the work for one of several machines: `k/K`. Everything that is computed has a name or an id, whose hash says to which part it belongs, so that
//! no machine needs to know of the others.

use super::provenance::hash;
use crate::error::{Error, Result};
use std::fmt;

/// The part `k` of `of`, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    k: u64,
    of: u64,
}

impl Share {
    /// Parses `k/K` with `0 <= k < K`.
    ///
    /// **Errors** anything else.
    ///
    /// ```
    /// use metastable::lab::part::Share;
    /// let parts: Vec<Share> = (0..3).map(|k| Share::parse(&format!("{k}/3")).unwrap()).collect();
    /// assert!(["a", "b", "c", "d"].iter().all(|name| parts.iter().filter(|p| p.holds(name)).count() == 1));
    /// assert!(Share::parse("3/3").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || Error::parameter("cells", text, "k/K with 0 <= k < K, as 0/4, 1/4, 2/4 and 3/4 for four machines");
        let (k, of) = text.split_once('/').ok_or_else(wrong)?;
        let whole = |t: &str| t.parse::<u64>().map_err(|_| wrong());
        let part = Self { k: whole(k)?, of: whole(of)? };
        if part.k < part.of { Ok(part) } else { Err(wrong()) }
    }

    /// How many parts there are.
    pub fn of(&self) -> u64 {
        self.of
    }

    /// True for the names that belong to this part: every name belongs to exactly one of the K.
    pub fn holds(&self, name: &str) -> bool {
        u64::from_str_radix(&hash(name)[..16], 16).unwrap_or(0) % self.of == self.k
    }

    /// A seed of its own, for work that is drawn and not divided.
    pub fn seed(&self, seed: u64) -> u64 {
        u64::from_str_radix(&hash(format!("{seed}/{self}"))[..15], 16).unwrap_or(seed)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.k, self.of)
    }
}
