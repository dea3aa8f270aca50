//! The page of a paper: what of it is checked and drawn here, from the citations of what is registered.

use super::list;
use super::papers::Paper;
use crate::lab::{experiment::BUILT_IN, report::table};
use crate::{paper_figs, study::ALL as STUDIES, theorem};

/// The first lines of every figure's file, in the order of the figures.
const ABOUT: &[&str] = include!(concat!(env!("OUT_DIR"), "/figure_docs.rs"));

/// The claims that cite it.
pub fn claims(paper: &Paper) -> impl Iterator<Item = &'static theorem::Claim> {
    theorem::ALL.iter().copied().filter(|c| c.citation.contains(paper.id))
}

/// Its page in Markdown: the claims that test it, what is computed for it, its figures with their commands.
pub fn page(paper: &Paper) -> String {
    let cites = |text: &str| text.contains(paper.id);
    let printed = if paper.title.is_empty() { String::new() } else { format!("*{}*", paper.title) };
    let number = format!("arXiv:{}", paper.id);
    let known = [paper.authors, &printed, &number];
    let mut out = format!("{}.\n", known.iter().filter(|t| !t.is_empty()).copied().collect::<Vec<_>>().join(", "));
    let bare = out.len();
    let claims: Vec<_> = claims(paper).collect();
    if !claims.is_empty() {
        out.push_str(
            "\n# Its statements, tested\n\n`metastable check NAME` tests one, `metastable explain NAME` says how, with `--proof` why.\n\n",
        );
        out.push_str(&table(&claims));
    }
    let mut bullets = |heading: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            out.push_str(&format!("\n# {heading}\n\n{}\n", lines.join("\n")));
        }
    };
    let experiments = BUILT_IN.iter().filter(|(_, text)| cites(text));
    let studies = STUDIES.iter().filter(|s| cites(s.citation));
    bullets(
        "Computed for it",
        experiments
            .map(|(name, _)| format!("- `metastable run {name}`: {}", title("experiments", name)))
            .chain(studies.map(|s| format!("- `metastable run {}`: {}", s.name, s.title)))
            .collect(),
    );
    let figure = |(f, about): (&&paper_figs::PaperFigure, &&str)| {
        let data = f.experiments.iter().any(|e| BUILT_IN.iter().any(|(n, text)| n == e && cites(text)));
        let own = cites(about) || data || f.study.and_then(|p| p.study()).is_some_and(|s| cites(s.citation));
        own.then(|| format!("- `metastable figure {}`: {}", f.name, f.title))
    };
    bullets("Its figures", paper_figs::ALL.iter().zip(ABOUT).filter_map(figure).collect());
    let mut used = Vec::new();
    for kind in ["integrators", "kernels", "normalisations", "dynamics"] {
        used.extend(list::entries(kind).into_iter().filter(|(_, s)| cites(s)).map(|(n, s)| format!("- `{n}` ({kind}): {s}")));
    }
    bullets("Also here", used);
    if out.len() == bare {
        out.push_str("\nNothing registered cites it; its formulas are in the documentation of the library, where they are used.\n");
    }
    out
}

fn title(kind: &str, name: &str) -> String {
    list::entries(kind).into_iter().find(|(n, _)| n == name).map_or_else(String::new, |(_, title)| title)
}
