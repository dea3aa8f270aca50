//! The graph of connections between critical points.

use super::Entry;
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};

/// Critical points of five tokens on the circle and who falls into whom.
pub static ENTRY: Entry = Entry {
    name: "connections",
    title: "Critical points of five tokens on the circle and who falls into whom",
    experiments: &[],
    full: &[],
    study: Some(&crate::study::landscape_tour::ENTRY),
    hidden: false,
    quick: false,
    draw: |inputs| {
        let points = inputs.table("points")?;
        let (level, energy) = (points.column("unstable"), points.column("log_energy"));
        let most = level.iter().copied().fold(0.0, f64::max);
        // Points of one index side by side.
        let place = |k: usize| {
            let same: Vec<usize> = (0..level.len()).filter(|j| (level[*j] - level[k]).abs() < 0.5).collect();
            let rank = same.iter().position(|j| *j == k).unwrap_or(0) as f64;
            ((rank + 0.5) / same.len() as f64, energy[k].exp())
        };
        let mut panel = Panel::new("", Axis::linear("", 0.0, 1.0), Axis::linear("energy / maximum", 0.0, 1.08));
        let links = inputs.table("links")?;
        let mut drawn: Vec<(usize, usize)> = Vec::new();
        for row in &links.rows {
            let (a, b) = (row[0] as usize, row[1] as usize);
            if !drawn.contains(&(a, b)) {
                panel.line(vec![place(a), place(b)], 2, if level[a] - level[b] > 1.5 { Dash::Dotted } else { Dash::Solid }, "");
                drawn.push((a, b));
            }
        }
        for index in 0..=most as usize {
            let own: Vec<(f64, f64)> = (0..level.len()).filter(|k| (level[*k] - index as f64).abs() < 0.5).map(place).collect();
            panel.marks.push(Mark::Points { points: own, colour: 2 * index, radius: 3.0, label: format!("{index} unstable") });
        }
        for k in 0..level.len() {
            let (x, y) = place(k);
            let sizes = ["largest", "second", "third"]
                .iter()
                .map(|c| points.column(c)[k])
                .filter(|s| *s > 0.0)
                .map(|s| s.to_string())
                .collect::<Vec<_>>()
                .join("+");
            let more = if points.column("clusters")[k] > 3.5 { "+..." } else { "" };
            panel.marks.push(Mark::Text { at: (x + 0.02, y + 0.015), text: format!("{sizes}{more}") });
        }
        panel.legend = Some(Corner::TopRight);
        let caption = format!(
            "Critical points of E_beta for five tokens on the circle at beta = {}, with cluster sizes; lines: both ends of each unstable direction followed by SA to rest (dotted: more than one index down).",
            crate::study::landscape_tour::GRAPH_BETA
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.6, caption })
    },
};
