//! What a layer does with the output of its sublayer: one file per scheme (arXiv:2510.22026).

use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

mod damped;
mod ln_scaling;
mod mix;
mod ngpt;
mod none;
mod peri;
mod post;
mod pre;
mod scheme;

pub use damped::Damped;
pub use ln_scaling::LnScaling;
pub use mix::Mix;
pub use ngpt::NGpt;
pub use none::{Bare, Rescaled};
pub use peri::Peri;
pub use post::Post;
pub use pre::Pre;
pub use scheme::{Normalisation, Reads, Token};

/// All schemes, with their usual parameters.
pub static ALL: [&dyn Normalisation; 9] =
    [&Post, &Pre, &Peri, &Mix { tau: 1.0 }, &NGpt { alpha: 1.0 }, &Damped, &LnScaling, &Bare, &Rescaled];

/// A scheme by name, with a parameter where it has one: `mix:tau=2`, `ngpt:alpha=0.5`.
///
/// **Errors** an unknown name, with the nearest known one; a parameter that it has not, or that is not positive.
pub fn find(name: &str) -> Result<&'static dyn Normalisation> {
    let (own, parameter) = name.split_once(':').map_or((name, None), |(own, p)| (own, Some(p)));
    let all = || ALL.iter().map(|s| s.name());
    let usual = ALL.iter().copied().find(|s| s.name() == own).ok_or_else(|| Error::unknown("normalisation", own, all()))?;
    let Some(parameter) = parameter else { return Ok(usual) };
    let value = |key: &str| {
        let number = parameter.strip_prefix(key)?.strip_prefix('=')?.parse::<f64>().ok();
        number.filter(|v| *v > 0.0 && v.is_finite())
    };
    // Kept for ever, each once.
    static KEPT: Mutex<BTreeMap<String, &'static dyn Normalisation>> = Mutex::new(BTreeMap::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(name) {
        return Ok(*known);
    }
    let made = match own {
        "mix" => value("tau").map(|tau| Box::leak(Box::new(Mix { tau })) as &dyn Normalisation),
        "ngpt" => value("alpha").map(|alpha| Box::leak(Box::new(NGpt { alpha })) as &dyn Normalisation),
        _ => None,
    }
    .ok_or_else(|| Error::parameter("norm", name, "mix:tau=T or ngpt:alpha=A with a positive number; the others have no parameter"))?;
    kept.insert(name.to_owned(), made);
    Ok(made)
}
