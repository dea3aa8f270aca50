//! Registers the claims, with the derivations in their documentation, and the studies.

fn main() {
    metastable_registry::register("claims", "theorem/claim");
    metastable_registry::register("studies", "study");
    metastable_registry::texts("derivations", "theorem/claim", derivation);
}

/// The lines between `# Derivation` and the entry, without their comment marks.
fn derivation(source: &str) -> String {
    let (before, _) = source.split_once("\npub static ENTRY").unwrap_or_default();
    let Some((_, text)) = before.split_once("/// # Derivation\n") else { return String::new() };
    let lines: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("///")).map(|l| l.strip_prefix(' ').unwrap_or(l)).collect();
    lines.join("\n").trim().to_owned()
}
