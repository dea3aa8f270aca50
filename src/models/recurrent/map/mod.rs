//! The maps, one file each. A new map is a new file with an `ENTRY` and its line here.

use super::NamedMap;
use crate::error::{Error, Result};

pub mod attention;
pub mod bahdanau;
pub mod causal_attention;
pub mod convolution;
pub mod gru_v1;
pub mod gru_v3;
pub mod lstm;
pub mod luong;
pub mod resnet;
pub mod resnet_root;
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
