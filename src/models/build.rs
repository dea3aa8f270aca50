//! Registers the recurrent maps.

fn main() {
    metastable_registry::write_registry("maps", "recurrent/map");
}
