//! What the theory asks of hidden states and heads: cosines, effective temperature, spectra, ranks.

mod cloud;
mod fit;
mod head;

pub use cloud::{Cloud, entropy_rank, rank_one_residual};
pub use fit::{Fit, Reference};
pub use head::{HeadForm, HeadWeighting, form, weighting};
