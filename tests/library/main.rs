//! Tests of the library: numbers against references, orders of convergence, statements of the
//! documentation, imports between the sources.

#[path = "../common/mod.rs"]
mod common;

mod architecture;
mod batches;
mod blocks;
mod closed_forms;
mod clusters;
mod conformance;
mod densities;
#[cfg(feature = "files")]
mod determinism;
mod deviations;
#[cfg(feature = "figures")]
mod draw;
mod error_bounds;
mod fast_interactions;
mod flow;
mod flow_map;
mod heads;
mod injected_bugs;
mod interaction;
mod interaction_downstream;
mod interaction_reference;
mod interaction_theory;
mod kernels;
mod lagrangian;
#[cfg(feature = "figures")]
mod layout;
mod lifetimes;
mod map_jacobians;
mod maps;
mod noise;
mod normalisation;
mod numbers;
mod observables;
mod observe;
mod order;
#[cfg(feature = "figures")]
mod paper_figs;
mod partitions;
mod properties;
mod prose;
mod public_interface;
mod reference;
#[cfg(feature = "figures")]
mod report;
#[cfg(feature = "files")]
mod report_text;
mod sa_fit;
mod shifted_softmax;
mod sphere;
mod steady_states;
mod step_control;
mod stiff;
mod sublayers;
mod theory;
#[cfg(feature = "models")]
mod trained;
mod transformer;
