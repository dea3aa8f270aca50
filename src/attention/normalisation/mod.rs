//! What a layer does with the output of its sublayer: one file per scheme (arXiv:2510.22026).

use crate::error::{Error, Result};

mod none;
mod post;
mod pre;
mod scheme;

pub use none::{Bare, Rescaled};
pub use post::Post;
pub use pre::Pre;
pub use scheme::{Normalisation, Token};

/// All schemes.
pub static ALL: [&dyn Normalisation; 4] = [&Post, &Pre, &Bare, &Rescaled];

/// The schemes by name.
///
/// **Errors** an unknown name, with the nearest known one.
pub fn find(name: &str) -> Result<&'static dyn Normalisation> {
    ALL.iter().copied().find(|s| s.name() == name).ok_or_else(|| Error::unknown("normalisation", name, ALL.iter().map(|s| s.name())))
}
