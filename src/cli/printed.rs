//! Figures printed in papers, each with the command that redraws it or the reason why none does.

use super::data;
use super::papers::{ALL as PAPERS, Paper};
use super::sections::{Document, Section};
use crate::paper_figs::FigureReference::{self, Figure, Unnumbered};
use crate::paper_figs::{ALL, PaperFigure, PublishedFigure};
use serde::Deserialize;
use std::sync::LazyLock;

/// A printed figure that is not redrawn.
#[derive(Deserialize)]
pub struct Absent {
    pub paper: String,
    figure: Option<u32>,
    #[serde(default)]
    place: String,
    shows: String,
    pub why: String,
}

impl Absent {
    /// Its number, or its place in words.
    pub fn place(&'static self) -> FigureReference {
        self.figure.map_or(Unnumbered(&self.place), Figure)
    }
}

/// Printed figures that are not redrawn.
pub static ABSENT: LazyLock<Vec<Absent>> =
    LazyLock::new(|| data::entries(include_str!("data/printed.toml"), "figure"));

/// The header of the table of a paper.
pub const HEAD: [&str; 3] =
    ["printed figure", "metastable figure", "content, differences here, or why it is not redrawn"];

/// The title of a figure with the printed figures that it redraws.
pub fn titled(figure: &PaperFigure) -> String {
    let printed: Vec<String> =
        figure.redraws.iter().map(|p| format!("{}, {}", p.paper, p.place)).collect();
    if printed.is_empty() {
        figure.title.to_owned()
    } else {
        format!("{} [{}]", figure.title, printed.join("; "))
    }
}

/// The printed figures that a figure of the program redraws, one line each.
pub fn lines(figure: &PaperFigure) -> String {
    let line = |p: &PublishedFigure| {
        format!("Redraws     arXiv:{}, {}: {}; here: {}\n", p.paper, p.place, p.shows, p.differs)
    };
    figure.redraws.iter().map(line).collect()
}

/// The last sentence of a caption: the papers whose figures it redraws, if any.
pub fn credit(figure: &PaperFigure) -> String {
    let printed = |p: &PublishedFigure| match p.place {
        Figure(number) => format!("arXiv:{}, figure {number}", p.paper),
        Unnumbered(_) => format!("arXiv:{}", p.paper),
    };
    let all: Vec<String> = figure.redraws.iter().map(printed).collect();
    if all.is_empty() { String::new() } else { format!(" After {}.", all.join(" and ")) }
}

/// A printed figure.
struct PrintedFigure {
    place: FigureReference,
    /// The name of the figure that redraws it, if there is one.
    figure: Option<&'static str>,
    text: String,
}

impl PrintedFigure {
    fn row(&self) -> Vec<String> {
        let figure = self.figure.map_or("-".to_owned(), |name| format!("`{name}`"));
        vec![self.place.to_string(), figure, self.text.clone()]
    }
}

/// The printed figures of a paper, ordered by number, redrawn ones first; empty if they were not
/// read.
fn printed_figures(paper: &Paper) -> Vec<PrintedFigure> {
    let redrawn = ALL
        .iter()
        .flat_map(|f| f.redraws.iter().map(|p| (f.name, p)))
        .filter(|(_, p)| p.paper == paper.id);
    let redrawn = redrawn.map(|(name, p)| PrintedFigure {
        place: p.place,
        figure: Some(name),
        text: format!("{}. Here: {}", p.shows, p.differs),
    });
    let missing = ABSENT.iter().filter(|a| a.paper == paper.id).map(|a| {
        let shows = if a.shows.is_empty() { String::new() } else { format!("{}. Why: ", a.shows) };
        PrintedFigure { place: a.place(), figure: None, text: format!("{shows}{}", a.why) }
    });
    let mut all: Vec<PrintedFigure> = redrawn.chain(missing).collect();
    let numbered = |k: &PrintedFigure| matches!(k.place, Figure(_));
    all.sort_by_key(|k| (!numbered(k), !numbered(k) && k.figure.is_none(), k.place));
    all
}

/// The same as rows of [`HEAD`].
pub fn rows(paper: &Paper) -> Vec<Vec<String>> {
    printed_figures(paper).iter().map(PrintedFigure::row).collect()
}

/// Papers of which no figure was read.
fn unread() -> Vec<&'static str> {
    PAPERS.iter().filter(|p| printed_figures(p).is_empty()).map(|p| &*p.id).collect()
}

/// Every printed figure of every paper, with its description.
pub fn all() -> Vec<(String, String)> {
    let line = |paper: &Paper, k: &PrintedFigure| {
        let here =
            k.figure.map_or("not redrawn".to_owned(), |name| format!("metastable figure {name}"));
        (format!("{}, {}", paper.id, k.place), format!("{here}: {}", k.text.replace('`', "")))
    };
    let lines = PAPERS
        .iter()
        .flat_map(|p| printed_figures(p).iter().map(|k| line(p, k)).collect::<Vec<_>>());
    lines
        .chain(unread().into_iter().map(|id| (format!("{id}, all figures"), "not read".to_owned())))
        .collect()
}

/// The page of the guide: a table for each paper.
pub fn markdown() -> String {
    let mut out = String::from(
        "Figures in the papers and the command that redraws each: `metastable figure NAME`. A dash: not redrawn, with the reason.\n\
         Figure numbers are given only if they were read.\n",
    );
    for paper in PAPERS.iter().filter(|p| !rows(p).is_empty()) {
        let heading = &paper.id;
        let section =
            Section::table(heading, &format!("{}.", paper.summary()), &HEAD, &rows(paper));
        out.push_str(&Document { lead: String::new(), sections: vec![section] }.markdown());
    }
    out.push_str(&format!(
        "\n# Not read\n\nThe figures of these papers were not read: {}.\n",
        unread().join(", ")
    ));
    out
}
