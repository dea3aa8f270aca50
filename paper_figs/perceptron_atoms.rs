//! Attention with a perceptron: the density early and the final atoms (arXiv:2601.21366).

use super::{PaperFigure, distinct, only, series};
use crate::attention::dense::{Activation, Linear};
use crate::attention::feed_forward::Mlp;
use crate::attention::{Dynamics, Spec, dynamics};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::error::Result;
use crate::flow::{Options, Table, solve};
use crate::num::stream::Stream;
use crate::sphere::Tokens;
use crate::sphere::law::Law;
use crate::study::{Parameter, Part, Study, Tables, Values, table};
use std::f64::consts::{PI, TAU};

/// Perceptron and attention (arXiv:2601.21366): tokens of the circle between two hidden units, as
/// their weight grows.
///
/// Tables: density, atoms.
pub static STUDY: Study = Study {
    name: "perceptron-atoms",
    title: "Perceptron and attention: density on the circle and its atoms as |w| grows",
    citation: "arXiv:2601.21366, Section 3 (stationary measures are finitely atomic); parameters \
        ours",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[Parameter::real("beta", &[4.0], (0.1, 20.0), "inverse temperature")],
    run,
};

/// Number of tokens.
pub const N: usize = 120;

/// Angles of the two hidden units.
pub const UNITS: [f64; 2] = [PI / 3.0, -PI / 3.0];

/// Number of bins of the circle in the table of densities.
pub const CELLS: usize = 36;

/// Weights, as decimal logarithms.
pub fn weights() -> impl Iterator<Item = f64> {
    (0..=24).map(|k| -2.0 + f64::from(k) / 6.0)
}

/// USA with two hidden units of weight w.
fn both(beta: f64, w: f64) -> Result<Dynamics> {
    let a: Vec<f64> = UNITS.iter().flat_map(|t| [t.cos(), t.sin()]).collect();
    let second = vec![w * a[0], w * a[2], w * a[1], w * a[3]];
    let mut all = dynamics::build("usa", false, &Spec::new(beta, N))?;
    let (first, second) =
        (Linear::new("first", 2, a, vec![])?, Linear::new("second", 2, second, vec![])?);
    all.sublayers.push(Box::new(Mlp::new("units", first, None, second, Activation::Relu)?));
    Ok(all)
}

fn run(values: &Values) -> Result<Tables> {
    let beta = values.one("beta")?;
    let x = Law::parse("uniform")?.sample(N, 2, &mut Stream::new(1, &["perceptron atoms"]))?;
    let mut density = table(&["log_w", "angle", "density"]);
    let mut atoms = table(&["log_w", "angle", "mass"]);
    for log in weights() {
        let dynamics = both(beta, 10f64.powf(log))?;
        let flow = |x: &Tokens, t: f64, merge_radius: f64| {
            solve(&dynamics, x, t, &Options { merge_radius, ..Options::default() }, &mut [])
        };
        let early = flow(&x, 0.1, 0.0)?.clusters;
        let mut counts = [0.0; CELLS];
        for t in early.angles() {
            counts[((t + PI) / TAU * CELLS as f64) as usize % CELLS] +=
                CELLS as f64 / (TAU * N as f64);
        }
        let centre = |k: usize| TAU * (k as f64 + 0.5) / CELLS as f64 - PI;
        density.rows.extend(counts.iter().enumerate().map(|(k, c)| vec![log, centre(k), *c]));
        let end = flow(&x, 2000.0, 1e-3)?.clusters;
        atoms.rows.extend(end.angles().iter().zip(end.masses()).map(|(t, m)| vec![log, *t, *m]));
    }
    Ok(vec![("density".into(), density), ("atoms".into(), atoms)])
}

/// Left: the density at t = 0.1. Right: the atoms at t = 2000; both as the weight of the perceptron
/// grows.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "perceptron-atoms",
    title: "Perceptron and attention: early density and final atoms as the weight grows",
    study: Some(&PART),
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
