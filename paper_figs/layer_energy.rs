//! The energy along residual layers for several step sizes, up to mean shift.

use super::{
    CellSelection, ENERGY, PaperFigure, dynamics_text, first_run, join_numbers, series, span,
};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::flow::Table;
use crate::lab::Cell;
use crate::study::Parameter;

/// Log energy over the layers, one line for each step eta.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "layer-energy",
    title: "Layers climb the energy for every step size",
    experiments: &["layer-energy"],
    cells: Some(CellSelection { max_cells: 12, d: None, columns: &["log_energy"] }),
    parameters: &[
        Parameter::real("beta", &[9.0], (0.0, 500.0), "inverse temperature"),
        Parameter::count("n", &[32.0], (2.0, 1000.0), "tokens"),
        Parameter::count("d", &[3.0], (2.0, 128.0), "dimension"),
        Parameter::count("seed", &[2.0], (0.0, 9e15), "seed of the start"),
        Parameter::count("layers", &[400.0], (2.0, 20000.0), "layers"),
    ],
    quick: true,
    draw: |inputs| {
        let results: Vec<(&Cell, Table, String)> = inputs.results[0]
            .iter()
            .map(|(c, t)| (c, first_run(&t.table)))
            .map(|(c, (t, note))| (c, t, note))
            .collect();
        let kind = |cell: &Cell| dynamics_text(&Cell { eta: "0".into(), ..cell.clone() });
        let kinds = results.iter().map(|r| kind(r.0)).collect::<std::collections::BTreeSet<_>>();
        let own = |f: &dyn Fn(&Cell) -> f64| {
            let mut values: Vec<f64> = results.iter().map(|r| f(r.0)).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            values
        };
        let (n, d, beta) = (own(&|c| c.n as f64), own(&|c| c.d as f64), own(&|c| c.beta));
        let mut panel = Panel::new(
            "",
            Axis::log(
                "layer",
                1.0,
                results.iter().flat_map(|r| r.1.column("t")).fold(2.0, f64::max),
            ),
            Axis::linear("log energy", -3.0, 0.3),
        );
        for (k, (cell, table, _)) in results.iter().enumerate() {
            let mut label = match cell.eta()? {
                f64::INFINITY => "\u{3b7} = \u{221e} (mean shift)".to_owned(),
                eta if eta > 0.0 => format!("\u{3b7} = {eta}"),
                _ => "continuous time".to_owned(),
            };
            // Labels name the settings in which the cells differ.
            for (values, name, value) in
                [(&n, "n", cell.n as f64), (&d, "d", cell.d as f64), (&beta, "\u{3b2}", cell.beta)]
            {
                if values.len() > 1 {
                    label.push_str(&format!(", {name} = {value}"));
                }
            }
            if kinds.len() > 1 {
                label = format!("{}, {label}", kind(cell));
            }
            panel.line(
                series(table, "t", "log_energy").into_iter().skip(1).collect(),
                k,
                Dash::for_series(k),
                label,
            );
        }
        let (low, high) = span(results.iter().flat_map(|r| r.1.column("log_energy")), (-1.0, 0.0));
        (panel.y.low, panel.y.high) = (1.05 * low.min(0.0), (1.05 * high).max(-0.1 * low));
        panel.legend = Some(Corner::TopLeft);
        let rises = results.iter().all(|r| r.0.beta > 0.0);
        let drop = results
            .iter()
            .flat_map(|r| {
                r.1.column("log_energy").windows(2).map(|w| w[0] - w[1]).collect::<Vec<_>>()
            })
            .fold(0.0f64, f64::max);
        let drop = match drop {
            _ if !rises => String::new(),
            drop if drop > 0.0 => {
                format!(" The largest decrease from one recorded row to the next is {drop:.1e}.")
            }
            _ => " No recorded row is lower than the one before.".into(),
        };
        let layers = if results.iter().all(|r| r.0.eta().is_ok_and(|eta| eta > 0.0)) {
            " along residual layers x <- normalise(x + eta a)"
        } else {
            ""
        };
        let caption = format!(
            "log of {ENERGY}{layers}: {}, n = {}, d = {}, beta = {}{}.{drop}",
            kinds.into_iter().collect::<Vec<_>>().join("; "),
            join_numbers(&n),
            join_numbers(&d),
            join_numbers(&beta),
            results.iter().map(|r| r.2.as_str()).find(|note| !note.is_empty()).unwrap_or_default()
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.55, caption })
    },
    ..PaperFigure::EMPTY
};
