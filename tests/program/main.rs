//! The program and its command line.

mod program;
mod snapshot;

mod certify;
mod cli;
mod crash;
mod figures;
mod flags;
mod frames;
mod interaction;
#[cfg(unix)]
mod interrupt;
mod model;
mod model_files;
mod page;
mod plot;
mod predictions;
mod printed;
mod random_draws;
mod readme;
mod records;
mod reporting;
mod results;
mod shards;
mod terminal;
