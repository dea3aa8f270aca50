//! Causal attention on the circle: tokens that are strong Renyi centres hardly move
//! (arXiv:2411.04990).

use super::{FigureReference, PaperFigure, PublishedFigure, groups, only, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};

/// Left: trajectories, strong centres marked. Right: the number of strong centres and its
/// expectation.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "causal-centres",
    title: "Causal attention: trajectories and strong Renyi centres",
    redraws: &[PublishedFigure {
        paper: "2411.04990",
        place: FigureReference::Unnumbered("figures of trajectories (numbers not read)"),
        shows: "causal tokens on the circle with their centres",
        differs: "n, beta, end time and seed are chosen here: the published ones are not known",
    }],
    study: Some(&crate::study::causal_centres::PART),
    draw: |inputs| {
        let paths = inputs.table("paths")?;
        let pi = std::f64::consts::PI;
        let end = paths.column("t").into_iter().fold(1.0, f64::max);
        let mut panel = Panel::new(
            "angles over time",
            Axis::log("t", 0.1, end),
            Axis::linear("angle", -pi, pi),
        );
        let mut arcs = Vec::new();
        for (kind, colour, name) in [("other", 7, "other tokens"), ("strong", 1, "strong centres")]
        {
            let mut lengths: Vec<f64> = Vec::new();
            for (_, path) in groups(&paths.only("centre", kind), "token") {
                let angles = path.column("theta");
                let mut points: Vec<(f64, f64)> = Vec::new();
                for (t, angle) in path.column("t").into_iter().zip(&angles) {
                    // A jump through -pi, pi breaks the line.
                    if points.last().is_some_and(|p| (p.1 - angle).abs() > pi) {
                        points.push((t, f64::NAN));
                    }
                    points.push((t, *angle));
                }
                // The arc from the first position to the last.
                let turn = angles[angles.len() - 1] - angles[0];
                let label = if lengths.is_empty() { name } else { "" };
                lengths.push(turn.sin().atan2(turn.cos()).abs());
                panel.line(points, colour, Dash::Solid, label);
            }
            arcs.push(lengths);
        }
        panel.legend = Some(Corner::BottomLeft);
        let counts = inputs.table("counts")?;
        let mut numbers = Panel::new(
            "strong centres",
            Axis::log("\u{3b4}", 0.08, 1.0),
            Axis::log("number", 2.0, 1000.0),
        );
        for (k, d) in [2.0, 3.0].into_iter().enumerate() {
            let rows = only(counts, "d", d);
            numbers.line(series(&rows, "delta", "strong_expected"), k, Dash::for_series(k), "");
            numbers.points(series(&rows, "delta", "strong"), k, 2.0, format!("d = {d}"));
        }
        numbers.line(
            (0..=20)
                .map(|k| 0.08 * 12.5f64.powf(f64::from(k) / 20.0))
                .map(|x| (x, 1.0 / (3.0 * (0.5 * x).sin().powi(2))))
                .collect(),
            1,
            Dash::Dotted,
            "d = 3 as published",
        );
        numbers.legend = Some(Corner::TopRight);
        let mean = |arcs: &[f64]| {
            if arcs.is_empty() {
                "none".to_owned()
            } else {
                format!("{:.3}", arcs.iter().sum::<f64>() / arcs.len() as f64)
            }
        };
        let caption = format!(
            "Left: causal SA on the circle, n = {}, beta = {}; strong Renyi centres at delta = 4 \
            beta^(-1/2) ({} of them) move by {} on average until t = {}, the other tokens by {}. \
            Right: numbers of strong centres among uniform tokens against (1 - (1 - p)^n)/p; \
            dotted: the value published for d = 3, a third of the correct one.",
            inputs.values.count("n")?,
            inputs.values.one("beta")?,
            arcs[1].len(),
            mean(&arcs[1]),
            crate::error::format_number(end),
            mean(&arcs[0])
        );
        Ok(Picture { panels: vec![panel, numbers], columns: 2, aspect: 0.9, caption })
    },
    ..PaperFigure::EMPTY
};
