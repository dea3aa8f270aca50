//! Experiment files, plans, the results store, provenance, resume, reports. No mathematics here.

use metastable_claims::theorem;
use metastable_core::{attention, flow, theory};
#[cfg(feature = "trained")]
use metastable_models::transformer;
use metastable_num::{self as num, error};
use metastable_proofs as proofs;
use metastable_sphere as sphere;

pub mod adopt;
pub mod arrays;
pub mod cell;
#[doc(hidden)]
pub mod changed;
pub mod computation;
pub mod counterexample;
pub mod difference;
pub mod drawn;
pub mod experiment;
pub mod frame;
mod gather;
#[doc(hidden)]
pub mod journal;
pub mod model;
mod npy;
pub mod npz;
mod parse;
pub mod part;
pub mod plan;
pub mod provenance;
pub mod range;
pub mod report;
pub mod run;
pub mod store;
pub mod toml_reader;
#[cfg(feature = "trained")]
pub mod weights;

pub use counterexample::Counterexample;
pub use experiment::Experiment;
pub use model::Described;
pub use plan::{Cell, plan};
pub use provenance::Provenance;
