//! The program and its command line.

mod program;
mod snapshot;

mod certify;
mod cli;
mod crash;
mod drawn;
mod figures;
mod flags;
mod frames;
mod honest;
#[cfg(unix)]
mod interrupt;
mod model;
mod model_files;
mod page;
mod plot;
mod predictions;
mod printed;
mod readme;
mod records;
mod results;
mod shards;
mod terminal;
