//! The page of a paper: its claims, experiments, studies and figures, found by their citations.

use super::papers::Paper;
use super::sections::{Document, Section, columns};
use super::{list, printed};
use crate::lab::{experiment::BUILT_IN, report::table};
use crate::{paper_figs, study::ALL as STUDIES, theorem};

/// The head comments of all figure files, in the order of the figures.
const ABOUT: &[&str] = include!(concat!(env!("OUT_DIR"), "/figure_docs.rs"));

/// The page of a paper: claims, computations, printed figures and the commands that redraw them.
pub fn page(paper: &Paper) -> Document {
    let cites = |text: &str| text.contains(&paper.id);
    let printed = if paper.title.is_empty() {
        "title not read".to_owned()
    } else {
        format!("*{}*", paper.title)
    };
    let number = format!("arXiv:{}", paper.id);
    let known = [&paper.authors, &printed, &number];
    let lead = format!(
        "{}.\n",
        known.iter().map(|t| t.as_str()).filter(|t| !t.is_empty()).collect::<Vec<_>>().join(", ")
    );
    let mut page = Document { lead, sections: Vec::new() };
    page.sections.extend(tested(&paper.claims().collect::<Vec<_>>()));
    let experiments = BUILT_IN
        .iter()
        .filter(|(_, text)| cites(text))
        .map(|(name, _)| (*name, title("experiments", name)));
    let studies =
        STUDIES.iter().filter(|s| cites(s.citation)).map(|s| (s.name, s.title.to_owned()));
    let computed = experiments
        .chain(studies)
        .map(|(name, title)| (format!("metastable run {name}"), title))
        .collect();
    page.sections.extend(listed("Computed for it", computed));
    let redraws = |f: &paper_figs::PaperFigure| f.redraws.iter().any(|p| p.paper == paper.id);
    let figure = |(f, about): (&&paper_figs::PaperFigure, &&str)| {
        let data =
            f.experiments.iter().any(|e| BUILT_IN.iter().any(|(n, text)| n == e && cites(text)));
        let own = redraws(f)
            || cites(about)
            || data
            || f.study.and_then(|p| p.study()).is_some_and(|s| cites(s.citation));
        own.then(|| (format!("metastable figure {}", f.name), f.title.to_owned()))
    };
    page.sections.extend(listed(
        "Its figures",
        paper_figs::ALL.iter().zip(ABOUT).filter_map(figure).collect(),
    ));
    let rows = printed::rows(paper);
    if !rows.is_empty() {
        let intro =
            "Figures in the paper. A dash: not redrawn. `metastable figure NAME` draws one.";
        page.sections.push(Section::table("Its printed figures", intro, &printed::HEAD, &rows));
    }
    let used =
        ["integrators", "kernels", "normalisations", "dynamics"].into_iter().flat_map(|kind| {
            let own = list::entries(kind).into_iter().filter(|(_, summary)| cites(summary));
            own.map(move |(name, summary)| (name, format!("{summary} ({kind})")))
                .collect::<Vec<_>>()
        });
    page.sections.extend(listed("Also here", used.collect()));
    if page.sections.is_empty() {
        page.lead.push_str("\nNo claim, study or figure cites it; the library's documentation cites it where its formulas are used.\n");
    }
    page
}

fn listed(heading: &'static str, entries: Vec<(String, String)>) -> Option<Section> {
    (!entries.is_empty()).then(|| Section::list(heading, &entries))
}

/// The table of its claims.
fn tested(claims: &[&'static theorem::Claim]) -> Option<Section> {
    if claims.is_empty() {
        return None;
    }
    let intro = "`metastable check NAME` tests a claim, `metastable explain NAME` describes the test, with `--proof` the derivation.";
    let row = |c: &&theorem::Claim| {
        vec![
            c.name.to_owned(),
            c.status.to_string(),
            c.kind.to_string(),
            format!("{} [{}]", c.printed(c.title), c.source),
        ]
    };
    let rows: Vec<Vec<String>> = claims.iter().map(row).collect();
    let plain = columns(&["claim", "status", "kind", "what is tested [source]"], &rows);
    Some(Section::of("Its statements, tested", intro, &table(claims), &plain))
}

fn title(kind: &str, name: &str) -> String {
    list::entries(kind)
        .into_iter()
        .find(|(n, _)| n == name)
        .map_or_else(String::new, |(_, title)| title)
}
