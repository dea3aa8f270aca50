//! Tokens on the circle at the printed times (arXiv:2312.10794, figure 4).

use super::PaperFigure;
use crate::draw::{Axis, Mark, Panel, Picture};

/// beta = 4 and 9, n = 32, t = 0, 2.5, 18, 30.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "circle-snapshots",
    title: "Tokens on the circle at beta = 4 and 9",
    experiments: &["circle-snapshots"],
    full: &[],
    study: None,
    hidden: false,
    quick: true,
    draw: |inputs| {
        let mut panels = Vec::new();
        for (cell, tables) in &inputs.results[0] {
            let (t, clusters) = (tables.table.column("t"), tables.table.column("clusters"));
            for (k, time) in t.iter().enumerate() {
                let word = if clusters[k] > 1.5 { "clusters" } else { "cluster" };
                let title = format!("\u{3b2} = {}, t = {time}", cell.beta);
                let mut panel = Panel::new(title, Axis::linear("", -1.15, 1.15), Axis::linear("", -1.15, 1.15));
                panel.bare = true;
                let at = |i: usize, c: usize| tables.table.column(&format!("x_{i}_{c}"))[k];
                panel.marks.push(Mark::Circle);
                panel.marks.push(Mark::Points {
                    points: (0..cell.n).map(|i| (at(i, 0), at(i, 1))).collect(),
                    colour: 0,
                    radius: 1.6,
                    label: String::new(),
                });
                panel.marks.push(Mark::Text { at: (-0.42, 0.0), text: format!("{} {word}", clusters[k]) });
                panels.push(panel);
            }
        }
        let caption = "SA on the circle from 32 uniform tokens at beta = 4 (top) and beta = 9 (bottom); clusters are components of tokens nearer than half a \
                       kernel width, beta^{-1/2}/2.";
        Ok(Picture { panels, columns: 4, aspect: 1.0, caption: caption.into() })
    },
};
