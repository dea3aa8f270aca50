//! Registers the recurrent maps.

fn main() {
    metastable_registry::register("maps", "recurrent/map");
}
