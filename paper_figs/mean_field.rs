//! Distance of n particles from the mean field.

use super::PaperFigure;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::num::stats::slope;

/// Wasserstein distance between n particles and the density.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "mean-field",
    title: "Wasserstein distance between n particles and the density",
    study: Some(&crate::study::measure_view::DISTANCE),
    draw: |inputs| {
        let table = inputs.table("distance")?;
        let (low, high) = super::span(table.column("w1").into_iter().filter(|w| *w > 0.0), (1e-4, 1.0));
        let mut panel = Panel::new("", Axis::log("n", 20.0, 5000.0), Axis::log("W\u{2081}", low / 2.0, high * 2.0));
        for (random, colour, name) in [(1.0f64, 0, "random starts (mean of 12)"), (0.0, 1, "quantile starts")] {
            let rows: Vec<&Vec<f64>> = table.rows.iter().filter(|r| (r[0] - random).abs() < 0.5).collect();
            let mut means: Vec<(f64, f64)> = Vec::new();
            for group in rows.chunk_by(|a, b| a[1].total_cmp(&b[1]).is_eq()) {
                means.push((group[0][1], group.iter().map(|r| r[2]).sum::<f64>() / group.len() as f64));
            }
            let fit = slope(&means.iter().map(|p| (p.0.ln(), p.1.ln())).collect::<Vec<_>>());
            panel.line(means.clone(), colour, if colour == 0 { Dash::Solid } else { Dash::Dashed }, "");
            panel.points(means, colour, 2.2, format!("{name}, slope {fit:.3}").replace('-', "\u{2212}"));
        }
        panel.legend = Some(Corner::BottomLeft);
        let caption = format!(
            "W1 on the circle between n tokens and the solution of the continuity equation after t = 1 under SA at beta = {}, from 1 + 0.5 cos + 0.2 cos 2: random starts and quantile starts.",
            inputs.values.one("beta")?
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.55, caption })
    },
    ..PaperFigure::EMPTY
};
