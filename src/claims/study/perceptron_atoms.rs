//! Perceptron and attention (arXiv:2601.21366): tokens of the circle between two hidden units, as
//! their weight grows.

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::attention::dense::{Activation, Linear};
use crate::attention::feed_forward::Mlp;
use crate::attention::{Dynamics, Spec, dynamics};
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::num::stream::Stream;
use crate::sphere::{Tokens, law::Law};
use std::f64::consts::{PI, TAU};

/// Tables: density, atoms.
pub static ENTRY: Study = Study {
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
