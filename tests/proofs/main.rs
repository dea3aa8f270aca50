//! Certified results: intervals, critical points, modes, convergence, merge times, and the
//! independent verifier.

#[path = "../common/mod.rs"]
mod common;

mod adversary;
mod any_interaction;
mod branch_parameters;
mod branches;
mod degenerate_regions;
mod false_proofs;
mod forger;
mod forgeries;
mod given;
mod independent;
mod interaction_modes;
mod interaction_points;
mod intervals;
mod landscape;
mod merge_time;
mod modes;
mod spheres;
mod verifier;
mod whole_landscapes;
