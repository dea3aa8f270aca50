//! The integrators by name.

use super::dop853::DOP853;
use super::dopri5::DOPRI5;
use super::tableau::Tableau;
use crate::error::{Error, Result};

/// The registered integrators.
pub static ALL: &[&Tableau] = &[&DOP853, &DOPRI5];

/// Finds an integrator by name.
///
/// **Errors** unknown name.
pub fn integrator(name: &str) -> Result<&'static Tableau> {
    ALL.iter()
        .copied()
        .find(|t| t.name == name)
        .ok_or_else(|| Error::unknown("integrator", name, ALL.iter().map(|t| t.name)))
}
