//! Causal attention with strong Renyi centres (arXiv:2411.04990).

use super::{PaperFigure, PrintedFigure, PrintedPlace, only, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};

/// Causal attention: trajectories and strong Renyi centres.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "causal-centres",
    title: "Causal attention: trajectories and strong Renyi centres",
    redraws: &[PrintedFigure {
        paper: "2411.04990",
        place: PrintedPlace::Unnumbered("figures of trajectories (numbers not read)"),
        shows: "causal tokens on the circle with their centres",
        differs: "n, beta, end time and seed are ours: the printed ones are not read",
    }],
    study: Some(&crate::study::causal_centres::PART),
    draw: |inputs| {
        let paths = inputs.table("paths")?;
        let pi = std::f64::consts::PI;
        let end = paths.column("t").into_iter().fold(1.0, f64::max);
        let mut panel = Panel::new("angles over time", Axis::log("t", 0.1, end), Axis::linear("angle", -pi, pi));
        let mut moved = [Vec::new(), Vec::new()];
        let mut lines: Vec<(bool, Vec<(f64, f64)>)> = Vec::new();
        for rows in paths.rows.chunk_by(|a, b| a[0].total_cmp(&b[0]).is_eq()) {
            let mut points: Vec<(f64, f64)> = Vec::new();
            for r in rows {
                // A jump through -pi, pi breaks the line.
                if points.last().is_some_and(|p| (p.1 - r[2]).abs() > pi) {
                    points.push((r[1], f64::NAN));
                }
                points.push((r[1], r[2]));
            }
            // The arc from the first place to the last.
            let (from, to) = (rows[0][2], rows[rows.len() - 1][2]);
            moved[usize::from(rows[0][3] > 0.5)].push((to - from).sin().atan2((to - from).cos()).abs());
            lines.push((rows[0][3] > 0.5, points));
        }
        lines.sort_by_key(|l| l.0);
        let mut named = [false; 2];
        for (strong, points) in lines {
            let label = match (strong, named[usize::from(strong)]) {
                (_, true) => "",
                (true, false) => "strong centres",
                (false, false) => "other tokens",
            };
            named[usize::from(strong)] = true;
            panel.line(points, if strong { 1 } else { 7 }, Dash::Solid, label);
        }
        panel.legend = Some(Corner::BottomLeft);
        let counts = inputs.table("counts")?;
        let mut numbers = Panel::new("strong centres", Axis::log("\u{3b4}", 0.08, 1.0), Axis::log("number", 2.0, 1000.0));
        for (k, d) in [2.0, 3.0].into_iter().enumerate() {
            let rows = only(counts, "d", d);
            numbers.line(series(&rows, "delta", "strong_expected"), k, Dash::of(k), "");
            numbers.points(series(&rows, "delta", "strong"), k, 2.0, format!("d = {d}"));
        }
        numbers.line(
            (0..=20).map(|k| 0.08 * 12.5f64.powf(f64::from(k) / 20.0)).map(|x| (x, 1.0 / (3.0 * (0.5 * x).sin().powi(2)))).collect(),
            1,
            Dash::Dotted,
            "d = 3 as printed",
        );
        numbers.legend = Some(Corner::TopRight);
        let mean =
            |arcs: &[f64]| if arcs.is_empty() { "none".to_owned() } else { format!("{:.3}", arcs.iter().sum::<f64>() / arcs.len() as f64) };
        let caption = format!(
            "Left: causal SA on the circle, n = {}, beta = {}; strong Renyi centres at delta = 4 beta^(-1/2) ({} of them) move by {} on average until t = {}, the other tokens by {}. Right: numbers of strong centres among uniform \
             tokens against (1 - (1 - p)^n)/p; dotted, the value printed for d = 3, a third of the right one.",
            inputs.values.count("n")?,
            inputs.values.one("beta")?,
            moved[1].len(),
            mean(&moved[1]),
            crate::error::show(end),
            mean(&moved[0])
        );
        Ok(Picture { panels: vec![panel, numbers], columns: 2, aspect: 0.9, caption })
    },
    ..PaperFigure::EMPTY
};
