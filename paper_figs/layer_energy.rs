//! The energy along residual layers for every step size.

use super::{PaperFigure, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};

/// One line per eta, up to mean shift.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "layer-energy",
    title: "Layers climb the energy for every step size",
    experiments: &["layer-energy"],
    full: &[],
    study: None,
    hidden: false,
    quick: true,
    draw: |inputs| {
        let results = &inputs.results[0];
        let mut panel = Panel::new("", Axis::log("layer", 1.0, 400.0), Axis::linear("log energy", -3.0, 0.3));
        for (k, (cell, tables)) in results.iter().enumerate() {
            let label =
                if cell.eta()?.is_infinite() { "\u{3b7} = \u{221e} (mean shift)".to_owned() } else { format!("\u{3b7} = {}", cell.eta) };
            panel.line(
                series(&tables.table, "t", "log_energy").into_iter().skip(1).collect(),
                k,
                [Dash::Solid, Dash::Dashed, Dash::Dotted][k % 3],
                label,
            );
        }
        let values = results.iter().flat_map(|(_, t)| t.table.column("log_energy"));
        panel.y.low = values.fold(0.0f64, f64::min) * 1.05;
        panel.legend = Some(Corner::TopLeft);
        let drop = results
            .iter()
            .flat_map(|(_, t)| t.table.column("log_energy").windows(2).map(|w| w[0] - w[1]).collect::<Vec<_>>())
            .fold(0.0f64, f64::max);
        let caption = format!(
            "log of sum_ij e^(beta (G_ij - 1)) / n^2 along residual layers x <- normalise(x + eta a), n = 32, d = 3, beta = 9, for step sizes 0.01 to infinity; the largest \
             decrease over any layer is {drop:.1e}."
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.55, caption })
    },
};
