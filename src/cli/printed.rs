//! Figures printed in papers, each with the command that redraws it or the reason why none does.

use super::papers::{ALL as PAPERS, Paper};
use super::sections::{Document, Section};
use crate::paper_figs::FigureReference::{self, Figure, Unnumbered};
use crate::paper_figs::{ALL, PaperFigure, PublishedFigure};

/// A printed figure that is not redrawn.
pub struct Absent {
    pub paper: &'static str,
    pub place: FigureReference,
    shows: &'static str,
    pub why: &'static str,
}

const fn absent(
    paper: &'static str,
    place: FigureReference,
    shows: &'static str,
    why: &'static str,
) -> Absent {
    Absent { paper, place, shows, why }
}

/// Printed figures that are not redrawn. The figures of papers that occur neither here nor in an
/// ENTRY were not read.
pub const ABSENT: [Absent; 14] = [
    absent(
        "2305.05465",
        Unnumbered("a figure (number not read)"),
        "leaders: V = Q^T K = W W^T for a random W, n = 20",
        "no built-in run has random V and Q^T K in R^d",
    ),
    absent(
        "2305.05465",
        Unnumbered("a figure (number not read)"),
        "attention matrices over time, n = 40, with their rank",
        "the limit matrices are tested as claims, not drawn",
    ),
    absent(
        "2305.05465",
        Unnumbered("a figure (number not read)"),
        "a hyperplane times a polytope, and examples in R^3",
        "`rescaled-tokens` draws the plane",
    ),
    absent(
        "2305.05465",
        Unnumbered("a figure (number not read)"),
        "bounded and unbounded coordinates, n = 128",
        "the dimension of the printed run was not read",
    ),
    absent(
        "2305.05465",
        Unnumbered("a figure (number not read)"),
        "eigenvalues of V of ALBERT",
        "it needs trained weights, which are not part of this program",
    ),
    absent(
        "2312.10794",
        Figure(5),
        "phase diagrams with random Q, K, V, d = 128, n = 32",
        "no built-in experiment draws matrices; `metastable figure phase-diagram --experiment FILE` draws one of yours with laws of matrices",
    ),
    absent("2410.06833", Unnumbered("other figures"), "", "not read"),
    absent(
        "2410.23228",
        Unnumbered("a figure (number not read)"),
        "particles on the sphere, d = 3",
        "its parameters are not read",
    ),
    absent(
        "2411.04990",
        Unnumbered("figures of trajectories (numbers not read)"),
        "causal tokens on S^2",
        "`causal-centres` draws the circle; parameters not read",
    ),
    absent(
        "2412.09080",
        Unnumbered("a figure (number not read)"),
        "density estimates with their modes",
        "`mode-count` draws numbers of modes; parameters not read",
    ),
    absent(
        "2412.09080",
        Unnumbered("a figure (number not read)"),
        "number of modes over (n, beta) as a heat map",
        "`mode-count` draws the number over beta for a few n; parameters not read",
    ),
    absent(
        "2508.09628",
        Unnumbered("a figure (number not read)"),
        "erosion of a cell, seven vertices, step 1e-3",
        "not drawn",
    ),
    absent(
        "2508.09628",
        Unnumbered("a figure (number not read)"),
        "cells of other quadratic forms, 5, 7 and 10 vertices",
        "not drawn",
    ),
    absent("2510.22026", Unnumbered("other figures"), "", "not read"),
];

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
        PrintedFigure { place: a.place, figure: None, text: format!("{shows}{}", a.why) }
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
    PAPERS.iter().filter(|p| printed_figures(p).is_empty()).map(|p| p.id).collect()
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
        let heading = paper.id;
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
