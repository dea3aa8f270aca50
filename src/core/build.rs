//! Registers the observables.

fn main() {
    metastable_registry::register("observables", "flow/observable");
}
