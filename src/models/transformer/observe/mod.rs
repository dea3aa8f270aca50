//! What the theory asks of hidden states and heads: cosines, effective temperature, spectra.

mod cloud;
mod fit;
mod head;

pub use cloud::Cloud;
pub use fit::{Fit, Reference};
pub use head::{HeadForm, HeadWeighting, form, weighting};
