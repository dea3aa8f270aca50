//! Observables of hidden states and heads: cosines, effective inverse temperatures, spectra.

mod cloud;
mod head;
mod sa_fit;

pub use cloud::Cloud;
pub use head::{HeadForm, WeightStatistics, head_form, weight_statistics};
pub use sa_fit::{Fit, SaReference};
