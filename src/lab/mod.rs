//! Experiment files, plans, the results store, provenance, resume, reports. No mathematics here.

pub mod arrays;
pub mod cell;
pub mod computation;
pub mod counterexample;
pub mod difference;
pub mod experiment;
pub mod frame;
mod gather;
mod journal;
pub mod model;
mod npy;
mod parse;
pub mod part;
pub mod plan;
pub mod provenance;
pub mod report;
pub mod run;
pub mod store;
pub mod toml_reader;

pub use counterexample::Counterexample;
pub use experiment::Experiment;
pub use model::Described;
pub use plan::{Cell, plan};
pub use provenance::Provenance;
