//! The maps, one file each. A new map is a new file with an `ENTRY` and its line here.

use super::NamedMap;
use crate::error::{Error, Result};

#[doc(hidden)]
pub mod attention;
#[doc(hidden)]
pub mod bahdanau;
#[doc(hidden)]
pub mod causal_attention;
#[doc(hidden)]
pub mod convolution;
#[doc(hidden)]
pub mod gru_v1;
#[doc(hidden)]
pub mod gru_v3;
#[doc(hidden)]
pub mod lstm;
#[doc(hidden)]
pub mod luong;
#[doc(hidden)]
pub mod resnet;
#[doc(hidden)]
pub mod resnet_root;
#[doc(hidden)]
pub mod rnn;

/// All maps, sorted by file name.
pub static ALL: &[&NamedMap] = include!(concat!(env!("OUT_DIR"), "/maps.rs"));

/// Finds a map. **Errors** an unknown name, with the nearest known one.
pub fn find(name: &str) -> Result<&'static NamedMap> {
    ALL.iter()
        .copied()
        .find(|m| m.name == name)
        .ok_or_else(|| Error::unknown("map", name, ALL.iter().map(|m| m.name)))
}
