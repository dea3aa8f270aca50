//! Registers the observables.

fn main() {
    metastable_registry::write_registry("observables", "flow/observable");
}
