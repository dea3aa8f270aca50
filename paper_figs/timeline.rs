//! Energy and clusters of one run over log time.

use super::{CellSelection, ENERGY, PaperFigure, dynamics_text, energy_axis, first_run, series};
use crate::draw::{Axis, Dash, Panel, Picture};
use crate::study::Parameter;

/// n = 64, d = 2, beta = 25, from uniform tokens to one cluster.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "timeline",
    title: "Energy and clusters of one run over log time",
    experiments: &["timeline"],
    cells: Some(CellSelection { max_cells: 1, d: None, columns: &["log_energy", "clusters"] }),
    parameters: &[
        Parameter::real("beta", &[25.0], (0.1, 200.0), "inverse temperature"),
        Parameter::count("n", &[64.0], (2.0, 1000.0), "tokens"),
        Parameter::count("d", &[2.0], (2.0, 128.0), "dimension"),
        Parameter::count("seed", &[3.0], (0.0, 9e15), "seed of the start"),
        Parameter::real("t_end", &[1e26], (1.0, 1e200), "end of the run"),
    ],
    quick: true,
    draw: |inputs| {
        let (cell, tables) = &inputs.results[0][0];
        let (table, note) = &first_run(&tables.table);
        let late = |p: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
            p.into_iter().filter(|p| p.0 > 0.0).collect()
        };
        let clusters = late(series(table, "t", "clusters"));
        // The axis ends a little after the last merge.
        let settled = clusters.iter().rev().find(|p| p.1 > 1.5).map_or(1e3, |p| p.0);
        let axis = || Axis::log("t", 0.1, settled * 30.0);
        let shown = |points: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
            late(points).into_iter().filter(|p| p.0 <= settled * 30.0).collect()
        };
        let mut energy = Panel::new("energy", axis(), energy_axis(table));
        energy.line(
            shown(series(table, "t", "log_energy"))
                .into_iter()
                .map(|(t, e)| (t, e.exp()))
                .collect(),
            0,
            Dash::Solid,
            "",
        );
        let top = clusters.iter().map(|p| p.1).fold(1.0, f64::max);
        let mut count = Panel::new("clusters", axis(), Axis::integer("number", 0.0, top + 1.0));
        count.line(shown(clusters), 1, Dash::Solid, "");
        let caption = format!(
            "One run of {}, n = {}, d = {}, beta = {}{note}: {ENERGY}, and number of clusters, \
            over log time. Plateaus are metastable states.",
            dynamics_text(cell),
            cell.n,
            cell.d,
            cell.beta
        );
        Ok(Picture { panels: vec![energy, count], columns: 2, aspect: 0.8, caption })
    },
    ..PaperFigure::EMPTY
};
