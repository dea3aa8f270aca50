//! Registers the claims, the derivations in their documentation, and the studies.

fn main() {
    metastable_registry::write_registry("claims", "theorem/claim");
    metastable_registry::write_registry("studies", "study");
    metastable_registry::write_texts("derivations", "theorem/claim", derivation);
}

/// The documentation between `# Derivation` and the entry, without comment marks.
fn derivation(source: &str) -> String {
    let (before, _) = source.split_once("\npub static ENTRY").unwrap_or_default();
    let Some((_, text)) = before.split_once("/// # Derivation\n") else { return String::new() };
    let lines: Vec<&str> = text
        .lines()
        .filter_map(|l| l.strip_prefix("///"))
        .map(|l| l.strip_prefix(' ').unwrap_or(l))
        .collect();
    lines.join("\n").trim().to_owned()
}
