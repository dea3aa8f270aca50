//! Experiment files, plans, the store of results, provenance, resuming, reports. This crate holds
//! no mathematics.

use metastable_claims::theorem;
use metastable_core::{attention, flow, theory};
#[cfg(feature = "trained")]
use metastable_models::transformer;
use metastable_num::{self as num, error};
use metastable_operation as operation;
use metastable_proofs as proofs;
use metastable_sphere as sphere;

pub mod arrays;
pub mod cell;
pub mod counterexample;
pub mod difference;
pub mod draws;
pub mod experiment;
mod joined_tables;
#[doc(hidden)]
pub mod journal;
mod labelled_table;
pub mod method;
pub mod model;
mod npy;
pub mod npz;
#[doc(hidden)]
pub mod overrides;
mod parse;
pub mod plan;
pub mod provenance;
pub mod replace;
pub mod report;
pub mod reuse;
pub mod run;
pub mod shard;
pub mod snapshot;
pub mod store;
pub mod toml_reader;
#[cfg(feature = "trained")]
pub mod weights;
pub mod write;

pub use counterexample::Counterexample;
pub use experiment::Experiment;
pub use labelled_table::LabelledTable;
pub use metastable_operation::range;
pub use model::ModelSpec;
pub use plan::{Cell, plan};
pub use provenance::Provenance;
