//! Embeds the experiments of the repository.

fn main() {
    let folder = "../../experiments";
    let path = |f: &str| format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{folder}/{f}.toml\")");
    let files = metastable_registry::file_names(folder, "toml");
    let entries: Vec<String> =
        files.iter().map(|f| format!("({f:?}, include_str!({}))", path(f))).collect();
    metastable_registry::write_source("experiments", &format!("&[{}]", entries.join(", ")));
}
