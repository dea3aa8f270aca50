//! Hardmax layers (arXiv:2508.09628): straight lines to the vertices of cells, and the line on
//! which the Frank-Wolfe bound fails.

use super::{Part, Study, Tables, Values, table};
use crate::attention::{Dynamics, hardmax::Hardmax, layer::Layer, normalisation::Rescaled};
use crate::error::Result;
use crate::num::stream::Stream;
use crate::sphere::Tokens;

/// Tables: paths (the first five tokens are the vertices), line.
pub static ENTRY: Study = Study {
    name: "hardmax-cells",
    title: "Hardmax layers: straight trajectories in dominance cells; tokens 3 and -1 under a \
        negative form",
    citation: "arXiv:2508.09628 v1; counterexample x_1 = 1/3 + 8/(t(t+1)), x_2 = 1/3",
    parts: &[&PART],
};

/// The whole study; it has no parameters.
pub static PART: Part = Part { parameters: &[], run };

/// Vertices of the first table.
pub const VERTICES: usize = 5;

fn run(_: &Values) -> Result<Tables> {
    let mut stream = Stream::new(2, &["hardmax-cells"]);
    let angle = |k: usize| {
        std::f64::consts::TAU * (k as f64 + 0.3 * (k as f64 * 1.7).sin()) / VERTICES as f64
    };
    let mut x: Vec<f64> = (0..VERTICES).flat_map(|k| [angle(k).cos(), angle(k).sin()]).collect();
    x.extend((0..40).map(|_| stream.uniform_in(-0.55, 0.55)));
    let mut z = Tokens::flat(2, x)?;
    let dynamics = Dynamics::single(Hardmax::new(None, 1e-12)?).with_normalisation(Rescaled);
    let mut paths = table(&["token", "t", "x", "y"]);
    for t in 0..=25 {
        paths
            .rows
            .extend(z.rows().enumerate().map(|(i, r)| vec![i as f64, f64::from(t), r[0], r[1]]));
        Layer::new(0.15)?.apply(&dynamics, &mut z);
    }
    let mut line = table(&["t", "x1", "x2", "j", "bound"]);
    let negative =
        Dynamics::single(Hardmax::new(Some(vec![-1.0]), 1e-12)?).with_normalisation(Rescaled);
    let mut z = Tokens::flat(1, vec![3.0, -1.0])?;
    for t in 0..1000 {
        Layer::new(2.0 / (f64::from(t) + 2.0))?.apply(&negative, &mut z);
        let [a, b] = [z.numbers()[0], z.numbers()[1]];
        line.rows.push(vec![f64::from(t + 1), a, b, 0.5 * b * b, 32.0 / f64::from(t + 1)]);
    }
    Ok(vec![("paths".into(), paths), ("line".into(), line)])
}
