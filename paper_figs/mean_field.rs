//! Distance of n particles from the density that solves the continuity equation.

use super::{PaperFigure, groups};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::num::stats::slope;

/// 1-Wasserstein distance against n, for random starts and for starts at quantiles.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "mean-field",
    title: "Wasserstein distance between n particles and the density",
    study: Some(&crate::study::measure_view::DISTANCE),
    draw: |inputs| {
        let table = inputs.table("distance")?;
        let (low, high) =
            super::span(table.column("w1").into_iter().filter(|w| *w > 0.0), (1e-4, 1.0));
        let mut panel = Panel::new(
            "",
            Axis::log("n", 20.0, 5000.0),
            Axis::log("W\u{2081}", low / 2.0, high * 2.0),
        );
        for (start, colour, name) in
            [("random", 0, "random starts (mean of 12)"), ("quantiles", 1, "quantile starts")]
        {
            let sizes = groups(&table.only("start", start), "n").into_iter();
            let means: Vec<(f64, f64)> = sizes
                .map(|(n, draws)| {
                    (n, draws.column("w1").iter().sum::<f64>() / draws.rows.len() as f64)
                })
                .collect();
            let fit = slope(&means.iter().map(|p| (p.0.ln(), p.1.ln())).collect::<Vec<_>>());
            panel.line(
                means.clone(),
                colour,
                if colour == 0 { Dash::Solid } else { Dash::Dashed },
                "",
            );
            panel.points(
                means,
                colour,
                2.2,
                format!("{name}, slope {fit:.3}").replace('-', "\u{2212}"),
            );
        }
        panel.legend = Some(Corner::BottomLeft);
        let caption = format!(
            "W1 on the circle between n tokens and the solution of the continuity equation after t \
            = 1 under SA at beta = {}, from 1 + 0.5 cos + 0.2 cos 2: random starts and quantile \
            starts.",
            inputs.values.one("beta")?
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.55, caption })
    },
    ..PaperFigure::EMPTY
};
