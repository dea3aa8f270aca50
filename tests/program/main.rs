//! The program and its command line.

mod program;
mod snapshot;

mod book_keeping;
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
mod parts;
mod plot;
mod predictions;
mod printed;
mod readme;
mod results;
mod terminal;
