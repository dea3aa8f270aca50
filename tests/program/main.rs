//! The program and its command line.

mod program;
mod snapshot;
mod stated_errors;

mod certify;
mod cli;
#[cfg(unix)]
mod cluster;
mod crash;
mod figures;
#[cfg(unix)]
mod files;
mod flags;
mod frames;
mod fuzz;
mod interaction;
#[cfg(unix)]
mod interrupt;
mod links;
mod model;
mod model_files;
mod operations;
mod page;
mod plot;
mod predictions;
mod printed;
mod random_draws;
#[cfg(unix)]
mod readme;
mod records;
mod reporting;
mod results;
mod shards;
mod terminal;
mod version;
mod wrong_inputs;
