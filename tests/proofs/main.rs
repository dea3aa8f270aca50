//! Certified results: intervals, critical points, modes, convergence, merge times, and the
//! independent verifier.

#[path = "../common/mod.rs"]
mod common;

mod any_interaction;
mod forgeries;
mod intervals;
mod landscape;
mod merge_time;
mod modes;
mod verifier;
mod whole_landscapes;
