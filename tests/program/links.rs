//! Links have their files, papers their pages, and claims that no paper proves their derivations.

use crate::program::{command, files_below, json, printed, successful, text};
use metastable::theorem;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_link_has_its_file() {
    let pages = [root().join("README.md"), root().join("CHANGELOG.md")].into_iter();
    let pages = pages.chain(files_below(&root().join("src")));
    let mut count = 0;
    for page in pages.filter(|p| p.extension().is_some_and(|e| e == "md")) {
        let text = std::fs::read_to_string(&page).expect("a page");
        let links: Vec<&str> = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
            // Rust's documentation checks links to items.
            .filter(|l| !l.contains("://") && !l.starts_with("crate::"))
            .collect();
        count += links.len();
        let folder = page.parent().expect("a folder");
        let missing: Vec<&&str> = links.iter().filter(|l| !folder.join(l).exists()).collect();
        assert!(missing.is_empty(), "{} links to {missing:?}", page.display());
    }
    assert!(count > metastable::paper_figs::ALL.len(), "only {count} links");
}

#[test]
fn every_paper_has_a_page() {
    let listed = json(root(), "list papers");
    let papers: Vec<&str> = listed["papers"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|p| p["name"].as_str())
        .collect();
    for paper in &papers {
        let page = printed(root(), &format!("explain {paper} --markdown"));
        assert!(page.contains(paper), "{page}");
    }
    let mut cited: Vec<String> = theorem::ALL.iter().map(|c| c.source.to_owned()).collect();
    cited.extend(metastable::study::ALL.iter().map(|s| s.citation.to_owned()));
    for text in &cited {
        for (k, _) in text.match_indices("arXiv:") {
            let number: String =
                text[k + 6..].chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            let number = number.trim_end_matches('.');
            assert!(
                papers.contains(&number),
                "{number} is cited and has no entry in src/cli/data/papers.toml"
            );
        }
    }
}

#[test]
fn every_term_is_explained() {
    let file = root().join("src/cli/data/terms.toml");
    let table: toml::Table = std::fs::read_to_string(file).expect("a file").parse().expect("TOML");
    let terms = table["term"].as_array().expect("a list of terms");
    assert!(terms.len() > 60, "only {} terms", terms.len());
    for term in terms {
        let (name, meaning) = (term["name"].as_str(), term["meaning"].as_str());
        let out = command(root(), "explain").arg(name.expect("a name")).output().expect("starts");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let page = words(&text(&successful(out, name.expect("a name")).stdout));
        assert!(page.contains(&words(meaning.expect("a meaning"))), "{page}");
    }
}

#[test]
fn claims_that_are_no_published_theorems_have_derivations() {
    for claim in theorem::ALL.iter() {
        if matches!(claim.status, theorem::Status::Corrected | theorem::Status::Observation) {
            let text = theorem::derivation(claim).unwrap_or_else(|| {
                panic!("{} has no section `# Derivation` in its documentation", claim.name)
            });
            assert!(text.len() > 150, "{}: {text}", claim.name);
        }
    }
}
