//! The command line of `metastable`.

fn main() {
    std::process::exit(metastable::cli::main());
}
