//! Registers the laws of tokens and of masses.

fn main() {
    metastable_registry::register("laws", "law");
    metastable_registry::register("mass_laws", "mass_law");
}
