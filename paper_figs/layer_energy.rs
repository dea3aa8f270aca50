//! The energy along residual layers for every step size.

use super::{CellsShown, PaperFigure, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::study::Parameter;

/// One line per eta, up to mean shift.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "layer-energy",
    title: "Layers climb the energy for every step size",
    experiments: &["layer-energy"],
    full: &[],
    cells: Some(CellsShown { most: 12, d: None, columns: &["log_energy"] }),
    study: None,
    parameters: &[
        Parameter::real("beta", &[9.0], (0.0, 500.0), "inverse temperature"),
        Parameter::count("n", &[32.0], (2.0, 1000.0), "tokens"),
        Parameter::count("d", &[3.0], (2.0, 128.0), "dimension"),
        Parameter::count("seed", &[2.0], (0.0, 9e15), "seed of the start"),
        Parameter::count("layers", &[400.0], (2.0, 20000.0), "layers"),
    ],
    hidden: false,
    quick: true,
    draw: |inputs| {
        let results = &inputs.results[0];
        let mut panel = Panel::new(
            "",
            Axis::log("layer", 1.0, results[0].1.table.column("t").into_iter().fold(2.0, f64::max)),
            Axis::linear("log energy", -3.0, 0.3),
        );
        for (k, (cell, tables)) in results.iter().enumerate() {
            let label = match cell.eta()? {
                f64::INFINITY => "\u{3b7} = \u{221e} (mean shift)".to_owned(),
                eta if eta > 0.0 => format!("\u{3b7} = {eta}"),
                _ => format!("continuous time, \u{3b2} = {}", cell.beta),
            };
            panel.line(series(&tables.table, "t", "log_energy").into_iter().skip(1).collect(), k, Dash::of(k), label);
        }
        let values = results.iter().flat_map(|(_, t)| t.table.column("log_energy"));
        panel.y.low = values.fold(0.0f64, f64::min) * 1.05;
        panel.legend = Some(Corner::TopLeft);
        let drop = results
            .iter()
            .flat_map(|(_, t)| t.table.column("log_energy").windows(2).map(|w| w[0] - w[1]).collect::<Vec<_>>())
            .fold(0.0f64, f64::max);
        let caption = format!(
            "log of sum_ij e^(beta (G_ij - 1)) / n^2 along residual layers x <- normalise(x + eta a), n = {}, d = {}, beta = {}, one curve a step size; {}.",
            results[0].0.n,
            results[0].0.d,
            results[0].0.beta,
            if drop > 0.0 { format!("the largest decrease over any layer is {drop:.1e}") } else { "no layer decreases it".into() }
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.55, caption })
    },
};
