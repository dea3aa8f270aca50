//! Perceptron and attention (arXiv:2601.21366).

use super::{PaperFigure, distinct, only, series};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::study::perceptron_atoms::{CELLS, PART as STUDY, UNITS};
use std::f64::consts::{PI, TAU};

/// Early densities and final atoms against the weight.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "perceptron-atoms",
    title: "Perceptron and attention: early density and final atoms as the weight grows",
    experiments: &[],
    full: &[],
    cells: None,
    study: Some(&STUDY),
    parameters: &[],
    hidden: false,
    quick: false,
    draw: |inputs| {
        let (density, atoms) = (inputs.table("density")?, inputs.table("atoms")?);
        let logs = distinct(density, "log_w");
        let step = logs.get(1).map_or(1.0, |b| b - logs[0]);
        let x: Vec<f64> = (0..=logs.len()).map(|k| logs[0] + step * (k as f64 - 0.5)).collect();
        let y: Vec<f64> = (0..=CELLS).map(|k| TAU * k as f64 / CELLS as f64 - PI).collect();
        let columns: Vec<Vec<f64>> = logs.iter().map(|l| only(density, "log_w", *l).column("density")).collect();
        let values = (0..CELLS).map(|r| columns.iter().map(|c| c[r]).collect()).collect();
        let level = || Axis::linear("log_10 w", x[0], x[logs.len()]);
        let angle = || Axis::linear("angle", -PI, PI);
        let mut early = Panel::new("t = 0.1", level(), angle());
        let top = density.column("density").into_iter().fold(0.0, f64::max);
        early.marks.push(Mark::Heat { x: x.clone(), y, values, shade: Axis::linear("density", 0.0, top) });
        let mut late = Panel::new("atoms at t = 2000", level(), angle());
        for (k, unit) in UNITS.iter().enumerate() {
            late.line(vec![(x[0], *unit), (x[logs.len()], *unit)], 6, Dash::Dotted, if k == 0 { "hidden units" } else { "" });
        }
        late.marks.push(Mark::Points { points: series(atoms, "log_w", "angle"), colour: 0, radius: 2.4, label: "atoms".into() });
        late.legend = Some(Corner::TopRight);
        let caption = "120 uniform tokens of the circle under USA at beta = 4 and two hidden units w max(0, <a_k, x>) a_k, a_k at the angles +-60 degrees. Left: density over the circle early on; right: where the atoms stand in the end: one below a \
                       weight at which attention outweighs the units, then two, that move to the units.";
        Ok(Picture { panels: vec![early, late], columns: 2, aspect: 1.0, caption: caption.into() })
    },
};
