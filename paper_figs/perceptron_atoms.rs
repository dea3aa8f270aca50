//! Attention with a perceptron: the density early and the final atoms (arXiv:2601.21366).

use super::{PaperFigure, distinct, only, series};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::flow::Table;
use crate::study::perceptron_atoms::{CELLS, N, PART as STUDY, UNITS};
use std::f64::consts::{PI, TAU};

/// Left: the density at t = 0.1. Right: the atoms at t = 2000; both as the weight of the perceptron
/// grows.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "perceptron-atoms",
    title: "Perceptron and attention: early density and final atoms as the weight grows",
    study: Some(&STUDY),
    draw: |inputs| {
        let (density, atoms) = (inputs.table("density")?, inputs.table("atoms")?);
        let logs = distinct(density, "log_w");
        let step = logs.get(1).map_or(1.0, |b| b - logs[0]);
        let x: Vec<f64> = (0..=logs.len()).map(|k| logs[0] + step * (k as f64 - 0.5)).collect();
        let y: Vec<f64> = (0..=CELLS).map(|k| TAU * k as f64 / CELLS as f64 - PI).collect();
        let columns: Vec<Vec<f64>> =
            logs.iter().map(|l| only(density, "log_w", *l).column("density")).collect();
        let values = (0..CELLS).map(|r| columns.iter().map(|c| c[r]).collect()).collect();
        let level = || Axis::linear("log\u{2081}\u{2080} w", x[0], x[logs.len()]);
        let angle = || Axis::linear("angle", -PI, PI);
        let mut early = Panel::new("t = 0.1", level(), angle());
        let top = density.column("density").into_iter().fold(0.0, f64::max);
        early.marks.push(Mark::Heat {
            x: x.clone(),
            y,
            values,
            shade: Axis::linear("density", 0.0, top),
        });
        let mut late = Panel::new("atoms at t = 2000", level(), angle());
        for (k, unit) in UNITS.iter().enumerate() {
            late.line(
                vec![(x[0], *unit), (x[logs.len()], *unit)],
                6,
                Dash::Dotted,
                if k == 0 { "hidden units" } else { "" },
            );
        }
        late.points(series(atoms, "log_w", "angle"), 0, 2.4, "atoms");
        late.legend = Some(Corner::TopRight);
        let caption = format!(
            "{N} uniform tokens of the circle under USA at beta = {} and two hidden units w max(0, \
            <a_k, x>) a_k, a_k at the angles +-60 degrees. Left: density over the circle at t = \
            0.1; right: the atoms at t = 2000: {}.",
            inputs.values.one("beta")?,
            numbers_of(atoms)
        );
        Ok(Picture { panels: vec![early, late], columns: 2, aspect: 1.0, caption })
    },
    ..PaperFigure::EMPTY
};

/// The number of atoms as the weight grows, as text.
fn numbers_of(atoms: &Table) -> String {
    let mut runs: Vec<(usize, f64, f64)> = Vec::new();
    for log in distinct(atoms, "log_w") {
        let count = only(atoms, "log_w", log).rows.len();
        match runs.last_mut() {
            Some(run) if run.0 == count => run.2 = log,
            _ => runs.push((count, log, log)),
        }
    }
    let described = |(count, from, to): &(usize, f64, f64)| {
        let weight = |log: f64| format!("{:.2}", 10f64.powf(log));
        let over = if from < to {
            format!("from w = {} to {}", weight(*from), weight(*to))
        } else {
            format!("at w = {}", weight(*from))
        };
        format!("{count} {over}")
    };
    match runs.as_slice() {
        [(count, ..)] => format!("{count} at every weight"),
        few if few.len() < 5 => few.iter().map(described).collect::<Vec<_>>().join(", "),
        many => {
            let counts = || many.iter().map(|r| r.0);
            format!("between {} and {}", counts().min().unwrap_or(0), counts().max().unwrap_or(0))
        }
    }
}
