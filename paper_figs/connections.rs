//! The graph of connections between critical points: which one the flow reaches from which.

use super::{Inputs, PaperFigure, columns};
use crate::attention::dynamics;
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::error::Result;
use crate::lab::LabelledTable;
use crate::landscape::Exponential;
use crate::landscape::connections::{Connection, connections};
use crate::landscape::search::{Search, SearchResult};
use crate::study::{Parameter, Part, Study, Tables, Values, table};

/// A tour of the landscape: all critical points of five tokens on the circle with their
/// connections, saddles of eight tokens on S^2, the Hessian spectrum along a run, and a merge tree.
///
/// Tables: points, links, places, gallery, spectrum, tree.
pub static STUDY: Study = Study {
    name: "landscape-tour",
    title: "Critical points and their connections, saddles on S^2, the Hessian along a run, a \
        merge tree",
    citation: "arXiv:2312.10794, section 5 and appendix B (second variation); saddles of E_beta",
    parts: &[
        &PART,
        &super::landscape_atlas::PART,
        &super::saddle_gallery::PART,
        &super::hessian_spectrum::PART,
        &super::merge_tree::PART,
    ],
};

/// Critical points on the circle and their connections.
pub static PART: Part = Part {
    parameters: &[
        Parameter::real("beta", &[6.0], (0.5, 50.0), "inverse temperature"),
        Parameter::count("n", &[5.0], (3.0, 7.0), "tokens"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the search"),
    ],
    run: graph,
};

/// Reads beta, n and seed.
pub(super) fn settings(values: &Values) -> Result<(f64, usize, u64)> {
    Ok((values.one("beta")?, values.count("n")?, values.one("seed")? as u64))
}

/// The critical points on the circle and their connections.
pub(super) fn connected(values: &Values) -> Result<(SearchResult, Vec<Connection>)> {
    let (beta, n, seed) = settings(values)?;
    let energy = Exponential { beta };
    let search = Search { energy, n, d: 2, starts: 200, max_starts: 200, fixed: true, seed };
    let mut found = search.run()?;
    let (edges, _) = connections(dynamics::find("sa", false)?, &mut found, &mut || true)?;
    Ok((found, edges))
}

/// The table of connections.
pub(super) fn links(edges: &[Connection]) -> LabelledTable {
    let mut links = table(&["from", "to", "rate", "t"]);
    links.rows = edges.iter().map(|e| vec![e.from as f64, e.to as f64, e.rate, e.t]).collect();
    links
}

fn graph(values: &Values) -> Result<Tables> {
    let (found, edges) = connected(values)?;
    let mut points = table(&[
        "point",
        "log_energy",
        "unstable",
        "clusters",
        "size_1",
        "size_2",
        "size_3",
        "size_4",
        "size_5",
        "size_6",
        "size_7",
    ]);
    for (k, p) in found.points.iter().enumerate() {
        let mut sizes = p.sizes.clone();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let row = [k as f64, p.log_energy, p.spectrum.unstable as f64, p.clusters.n() as f64];
        let sizes = (0..7).map(|c| sizes.get(c).map_or(0.0, |s| *s as f64));
        points.rows.push(row.into_iter().chain(sizes).collect());
    }
    Ok(vec![("points".into(), points), ("links".into(), links(&edges))])
}

/// Critical points of five tokens on the circle and their connections.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "connections",
    title: "Critical points of five tokens on the circle and their connections",
    study: Some(&PART),
    draw: |inputs| {
        let graph = Graph::read(inputs)?;
        let level = &graph.level;
        let place = |k: usize| (graph.across[k], level[k]);
        let mut panel = Panel::new(
            "",
            Axis::blank(),
            Axis::integer("unstable directions", -0.5, graph.most + 0.5),
        );
        graph.draw_links(&mut panel, |a, b, _| vec![place(a), place(b)]);
        panel.points((0..level.len()).map(place).collect(), 0, 3.0, "");
        let points = inputs.table("points")?;
        for (k, log_energy) in graph.log_energy.iter().enumerate() {
            let sizes =
                (1..=7).map(|c| points.column(&format!("size_{c}"))[k]).filter(|s| *s > 0.0);
            let sizes = sizes.map(|s| s.to_string()).collect::<Vec<_>>().join("+");
            panel.marks.push(Mark::Text {
                at: place(k),
                text: format!("{sizes} ({:.2})", log_energy.exp()),
            });
        }
        panel.legend = Some(Corner::TopRight);
        let caption = format!(
            "Critical points of E_beta for {} tokens on the circle at beta = {}, in rows by their \
            unstable directions, with the sizes of their clusters and the energy over its maximum. \
            Lines: both sides of each unstable direction followed by SA to a steady state (dotted: \
            to a point with at least two unstable directions fewer); lines that follow from others \
            are left out. Positions within a row have no meaning.",
            inputs.values.count("n")?,
            inputs.values.one("beta")?
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.7, caption })
    },
    ..PaperFigure::EMPTY
};

/// Critical points in rows by their unstable directions, with the connections between them.
pub(super) struct Graph {
    /// Number of unstable directions of each point.
    pub level: Vec<f64>,
    /// Logarithm of the energy of each point.
    pub log_energy: Vec<f64>,
    /// The largest number of unstable directions.
    pub most: f64,
    /// Horizontal position of each point, in [0, 1].
    pub across: Vec<f64>,
    links: Vec<(usize, usize)>,
}

impl Graph {
    /// From the tables `points` and `links`.
    pub fn read(inputs: &Inputs) -> Result<Self> {
        let points = inputs.table("points")?;
        let (level, log_energy) = (points.column("unstable"), points.column("log_energy"));
        let links = covering(&columns(inputs.table("links")?, ["from", "to"])?);
        let across = horizontal_positions(&level, &links);
        let most = level.iter().copied().fold(0.0, f64::max);
        Ok(Self { level, log_energy, most, across, links })
    }

    /// Draws a line for each connection, dotted if it loses several unstable directions. `line` has
    /// the points of the line between two critical points; it knows whether the line is dotted.
    pub fn draw_links(
        &self,
        panel: &mut Panel,
        line: impl Fn(usize, usize, bool) -> Vec<(f64, f64)>,
    ) {
        for (dash, label) in
            [(Dash::Solid, "one unstable direction fewer"), (Dash::Dotted, "two or more fewer")]
        {
            let far = dash == Dash::Dotted;
            let loses_several = |a: usize, b: usize| self.level[a] - self.level[b] > 1.5;
            let drawn = self.links.iter().filter(|(a, b)| loses_several(*a, *b) == far);
            for (k, (a, b)) in drawn.enumerate() {
                panel.line(line(*a, *b, far), 2, dash, if k == 0 { label } else { "" });
            }
        }
    }
}

/// The distinct connections without those that follow from two others.
pub fn covering(links: &[[f64; 2]]) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for link in links.iter().map(|[from, to]| (*from as usize, *to as usize)) {
        if !all.contains(&link) {
            all.push(link);
        }
    }
    // Energy increases along every path, so following links until nothing new appears terminates.
    let mut reached = all.clone();
    loop {
        let further = |(a, b): &(usize, usize)| {
            all.iter().filter(|l| l.0 == *b).map(|l| (*a, l.1)).collect::<Vec<_>>()
        };
        let new: Vec<(usize, usize)> =
            reached.iter().flat_map(further).filter(|l| !reached.contains(l)).collect();
        if new.is_empty() {
            break;
        }
        new.into_iter().for_each(|l| {
            if !reached.contains(&l) {
                reached.push(l);
            }
        });
    }
    let follows = |(a, b): &(usize, usize)| {
        all.iter().any(|l| l.0 == *a && l.1 != *b && reached.contains(&(l.1, *b)))
    };
    all.iter().filter(|l| !follows(l)).copied().collect()
}

/// Horizontal positions in [0, 1]. The points of a row are equally spaced, ordered by the mean
/// position of the points to which they flow. Rows are shifted alternately to either side, so that
/// a line over several rows passes beside the points between.
pub fn horizontal_positions(level: &[f64], links: &[(usize, usize)]) -> Vec<f64> {
    let mut across = vec![0.5; level.len()];
    let most = level.iter().copied().fold(0.0, f64::max) as usize;
    for row in 0..=most {
        let mut points: Vec<(f64, usize)> = (0..level.len())
            .filter(|k| level[*k] as usize == row)
            .map(|k| (target(k, links, &across), k))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let shift = if row % 2 == 0 { -0.05 } else { 0.05 };
        for (j, (_, k)) in points.iter().enumerate() {
            across[*k] = (j as f64 + 0.5) / points.len() as f64 + shift;
        }
    }
    across
}

/// The mean position of the points to which a point flows.
fn target(k: usize, links: &[(usize, usize)], across: &[f64]) -> f64 {
    let below: Vec<f64> = links.iter().filter(|l| l.0 == k).map(|l| across[l.1]).collect();
    if below.is_empty() { 0.5 } else { below.iter().sum::<f64>() / below.len() as f64 }
}
