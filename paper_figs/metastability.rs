//! Metastability of five tokens (the start of arXiv:2410.06833's movie).

use super::{
    CellSelection, ENERGY, FigureReference, PaperFigure, PublishedFigure, dynamics_text,
    energy_axis, first_run, series, tokens,
};
use crate::draw::{Axis, Dash, Panel, Picture};
use crate::study::Parameter;
use std::f64::consts::PI;

/// Angles, energy and clusters over log time to t = 400.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "metastability",
    title: "Metastability of five tokens on the circle, beta = 4",
    redraws: &[PublishedFigure {
        paper: "2410.06833",
        place: FigureReference::Unnumbered("the film of the authors' code"),
        shows: "five tokens on the circle, beta = 4, to t = 400",
        differs: "a controlled integrator in place of layers of step 0.1; as a film: metastable \
            movie",
    }],
    experiments: &["metastability"],
    cells: Some(CellSelection {
        max_cells: 1,
        d: Some(2),
        columns: &["x_0_0", "log_energy", "clusters"],
    }),
    parameters: &[
        Parameter::real("beta", &[4.0], (0.1, 200.0), "inverse temperature"),
        Parameter::real("t_end", &[400.0], (1.0, 1e100), "end of the run"),
    ],
    quick: true,
    draw: |inputs| {
        let (cell, tables) = &inputs.results[0][0];
        let (table, note) = &first_run(&tables.table);
        let t = table.column("t");
        let end = t.last().copied().unwrap_or(1.0);
        let mut angles = Panel::new(
            "angles",
            Axis::log("t", 0.1, end),
            Axis::linear("\u{3b8} / \u{3c0}", 0.0, 0.0),
        );
        let mut first = 0.0;
        for i in 0..cell.n {
            let (x, y) = (table.column(&format!("x_{i}_0")), table.column(&format!("x_{i}_1")));
            let mut points: Vec<(f64, f64)> = Vec::new();
            for (k, t) in t.iter().enumerate() {
                // Angles continue beyond pi, so that no curve jumps.
                let mut theta = y[k].atan2(x[k]) / PI;
                // The first angle is shifted to lie near that of the token before it.
                let before = points.last().map_or(first, |p| p.1);
                theta += 2.0 * ((before - theta) / 2.0).round();
                angles.y.low = angles.y.low.min(theta - 0.05);
                angles.y.high = angles.y.high.max(theta + 0.05);
                points.push((*t, theta));
            }
            first = points.first().map_or(first, |p| p.1);
            angles.line(points, i, Dash::for_series(i), "");
        }
        let mut energy = Panel::new("energy", Axis::log("t", 0.1, end), energy_axis(table));
        energy.line(
            series(table, "t", "log_energy").into_iter().map(|(t, e)| (t, e.exp())).collect(),
            0,
            Dash::Solid,
            "",
        );
        let most = super::span(table.column("clusters"), (0.0, 1.0)).1;
        let mut clusters = Panel::new(
            "clusters",
            Axis::log("t", 0.1, end),
            Axis::integer("number", 0.0, most + 0.5),
        );
        clusters.line(series(table, "t", "clusters"), 0, Dash::Solid, "");
        let caption = format!(
            "{} on the circle from {}, beta = {}{note}: angles, {ENERGY}, and the number of \
            clusters (components nearer than beta^(-1/2)/2).",
            dynamics_text(cell),
            tokens(cell),
            cell.beta
        );
        Ok(Picture { panels: vec![angles, energy, clusters], columns: 3, aspect: 0.9, caption })
    },
    ..PaperFigure::EMPTY
};
