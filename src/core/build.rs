//! Registers the dynamics and the observables.

fn main() {
    metastable_registry::register("dynamics", "attention/dynamics");
    metastable_registry::register("observables", "flow/observable");
}
