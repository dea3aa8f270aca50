//! Certified results: intervals, critical points, modes, convergence, and the referee that shares nothing with them.

#[path = "../common/mod.rs"]
mod common;

mod dwell;
mod intervals;
mod landscape;
mod modes;
mod referee;
