//! Branches of critical points on the circle over beta.

use super::{PaperFigure, columns, distinct, groups, only, series, span};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};

/// The energy of all branches over beta, drawn by the number of unstable directions.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "bifurcation-diagram",
    title: "Critical points on the circle over beta",
    study: Some(&crate::study::bifurcations::PART),
    draw: |inputs| {
        let (branches, found) = (inputs.table("branches")?, inputs.table("bifurcations")?);
        let mut panels = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for (n, own) in groups(branches, "n") {
            let beta = span(own.column("beta"), (0.0, 1.0));
            // One cluster has the energy 1 at all beta; the others show more without it.
            let below = own.column("energy_share").into_iter().filter(|e| *e < 1.0 - 1e-12);
            let energy = span(below, (0.0, 1.0));
            let room = 0.06 * (energy.1 - energy.0);
            let mut panel = Panel::new(
                format!("n = {n}"),
                Axis::linear("\u{3b2}", beta.0, beta.1),
                Axis::linear("relative energy", energy.0 - room, energy.1 + room),
            );
            let mut labelled = false;
            let mut drawn: Vec<Stretch> = Vec::new();
            let mut ends: Vec<((f64, f64), String)> = Vec::new();
            for (_, branch) in groups(&own, "branch") {
                let own = stretches(&columns(&branch, ["beta", "energy_share", "unstable"])?);
                let end = own.last().and_then(|s| s.points.last()).filter(|p| p.1 <= 1.0 - 1e-12);
                let name = branch.column("name").first().map(|k| *k as usize);
                let name = name.zip(branches.words("name")).and_then(|(k, all)| all.get(k));
                if let (Some(at), Some(name)) = (end, name) {
                    ends.push((*at, name.clone()));
                }
                drawn.extend(own);
            }
            drawn.retain(|s| s.points.iter().any(|p| p.1 <= 1.0 - 1e-12));
            for stretch in &drawn {
                let unstable = stretch.unstable;
                // The longest one has the name: short ones lie under the discs.
                let longest = drawn.iter().filter(|s| s.unstable == unstable).map(Stretch::length);
                let named = stretch.length() >= longest.fold(0.0, f64::max);
                let name = format!("{unstable} unstable");
                let label = if named && !names.contains(&name) {
                    names.push(name.clone());
                    labelled = true;
                    name
                } else {
                    String::new()
                };
                let dash = if unstable % 2 == 0 { Dash::Dashed } else { Dash::Solid };
                panel.line(stretch.points.clone(), unstable, dash, label);
            }
            let here = only(found, "n", n);
            if !here.rows.is_empty() {
                let label = if panels.is_empty() { "bifurcations" } else { "" };
                labelled |= panels.is_empty();
                panel.points(series(&here, "beta", "energy_share"), 0, 2.6, label);
            }
            // Names of branches that end close together would cover each other.
            let apart = APART * (energy.1 - energy.0);
            let alone = |(at, _): &&((f64, f64), String)| {
                ends.iter().filter(|e| (e.0.1 - at.1).abs() < apart).count() == 1
            };
            let names = ends.iter().filter(alone);
            panel.marks.extend(names.map(|(at, n)| Mark::Text { at: *at, text: n.clone() }));
            panel.legend = labelled.then_some(Corner::TopRight);
            panels.push(panel);
        }
        let caption = format!(
            "Critical points of the energy of n equal tokens on the circle over beta, one curve for \
            each branch up to rotations, reflections and permutations, with its tokens per cluster \
            where there is room (all are in `name` of the table): energy relative to one cluster \
            (which has 1 and is not drawn). Colours and dashes give the number of unstable \
            directions; discs are bifurcations, where two tokens of a cluster can split{}.",
            places(&distinct(found, "beta"))
        );
        let columns = panels.len().clamp(1, 2);
        Ok(Picture { panels, columns, aspect: 0.8, caption })
    },
    ..PaperFigure::EMPTY
};

/// Least distance of the ends of branches with names, relative to the range of energies.
const APART: f64 = 0.07;

/// A part of a branch with the same number of unstable directions.
struct Stretch {
    unstable: usize,
    points: Vec<(f64, f64)>,
}

impl Stretch {
    /// The length of its interval of beta.
    fn length(&self) -> f64 {
        let ends = self.points.first().zip(self.points.last());
        ends.map_or(0.0, |(a, b)| b.0 - a.0)
    }
}

/// The parts of a branch, in the order of beta; neighbours share a point.
fn stretches(rows: &[[f64; 3]]) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for [beta, energy, unstable] in rows {
        let (point, unstable) = ((*beta, *energy), *unstable as usize);
        match all.last_mut() {
            Some(own) if own.unstable == unstable => own.points.push(point),
            Some(own) => {
                own.points.push(point);
                all.push(Stretch { unstable, points: vec![point] });
            }
            None => all.push(Stretch { unstable, points: vec![point] }),
        }
    }
    all
}

/// The values of beta in brackets, as text.
fn places(all: &[f64]) -> String {
    match all.len() {
        0 => String::new(),
        1..=8 => {
            let words: Vec<String> = all.iter().map(|b| format!("{b:.4}")).collect();
            format!(" (beta = {})", words.join(", "))
        }
        n => format!(" ({n} values of beta)"),
    }
}
