//! The graph of connections between critical points: which one the flow reaches from which.

use super::{Inputs, PaperFigure, columns};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::error::Result;

/// Critical points of five tokens on the circle and their connections.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "connections",
    title: "Critical points of five tokens on the circle and their connections",
    study: Some(&crate::study::landscape_tour::GRAPH),
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
