//! Metastability of five tokens (the start of arXiv:2410.06833's movie).

use super::{PaperFigure, series};
use crate::draw::{Axis, Dash, Panel, Picture};
use std::f64::consts::{PI, TAU};

/// Angles, energy and clusters over log time to t = 400.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "metastability",
    title: "Metastability of five tokens on the circle, beta = 4",
    experiments: &["metastability"],
    full: &[],
    study: None,
    hidden: false,
    quick: true,
    draw: |inputs| {
        let (cell, tables) = &inputs.results[0][0];
        let table = &tables.table;
        let t = table.column("t");
        let end = t.last().copied().unwrap_or(1.0);
        let mut angles = Panel::new("angles", Axis::log("t", 0.1, end), Axis::linear("\u{3b8}", -PI, PI));
        for i in 0..cell.n {
            let (x, y) = (table.column(&format!("x_{i}_0")), table.column(&format!("x_{i}_1")));
            let mut points: Vec<(f64, f64)> = Vec::new();
            for (k, t) in t.iter().enumerate() {
                let theta = y[k].atan2(x[k]);
                if points.last().is_some_and(|p: &(f64, f64)| (p.1 - theta).abs() > TAU / 2.0) {
                    points.push((f64::NAN, f64::NAN));
                }
                points.push((*t, theta));
            }
            angles.line(points, i, [Dash::Solid, Dash::Dashed, Dash::Dotted][i % 3], "");
        }
        let mut energy =
            Panel::new("energy", Axis::log("t", 0.1, end), Axis::linear("\u{2211} exp \u{3b2}(G\u{2212}1) / n\u{b2}", 0.0, 1.05));
        energy.line(series(table, "t", "log_energy").into_iter().map(|(t, e)| (t, e.exp())).collect(), 0, Dash::Solid, "");
        let mut clusters = Panel::new("clusters", Axis::log("t", 0.1, end), Axis::linear("number", 0.0, 6.0));
        clusters.line(series(table, "t", "clusters"), 1, Dash::Solid, "");
        let caption = "SA on the circle from the published start of five tokens, beta = 4: angles, energy (its maximum is 1) and the number of clusters (components nearer \
                       than beta^{-1/2}/2), by adaptive integration.";
        Ok(Picture { panels: vec![angles, energy, clusters], columns: 3, aspect: 0.9, caption: caption.into() })
    },
};
