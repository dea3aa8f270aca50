//! Embeds the experiments of the repository. A package has them in its own folder: the link
//! `experiments` puts them there. A checkout on Windows may have no links.

fn main() {
    let folder = ["../../experiments", "experiments"]
        .into_iter()
        .find(|folder| std::path::Path::new(folder).is_dir())
        .expect("the experiments");
    let path = |f: &str| format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{folder}/{f}.toml\")");
    let files = metastable_registry::file_names(folder, "toml");
    let entries: Vec<String> =
        files.iter().map(|f| format!("({f:?}, include_str!({}))", path(f))).collect();
    metastable_registry::write_source("experiments", &format!("&[{}]", entries.join(", ")));
}
