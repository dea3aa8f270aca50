//! The README is current: its generated table, its pictures, its commands. (Its example is a doc-test.)

use metastable::lab::report::claims_table;
use std::path::Path;

#[test]
fn the_theorem_table_is_the_generated_one() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("a README");
    let (_, rest) = readme.split_once("<!-- theorems -->\n").expect("the marker");
    let (table, _) = rest.split_once("<!-- /theorems -->").expect("the closing marker");
    assert!(table == claims_table(), "regenerate with: metastable list --markdown");
}

#[test]
fn every_picture_exists_and_every_figure_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).expect("a README");
    for figure in metastable::paper_figs::ALL {
        let path = format!("paper_figs/gallery/{}.png", figure.name);
        assert!(readme.contains(&path), "{path} is not in the gallery");
        assert!(root.join(&path).exists(), "{path} is missing");
    }
}

#[test]
fn the_experiment_of_the_readme_is_valid() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("a README");
    let (_, rest) = readme.split_once("```toml\n").expect("an experiment");
    let (text, _) = rest.split_once("```").expect("its end");
    let experiment = metastable::lab::Experiment::parse("README.md", text).expect("valid");
    assert_eq!(metastable::lab::plan(&experiment).len(), 20);
}
