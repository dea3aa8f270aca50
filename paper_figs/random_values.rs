//! Layers with new random value matrices (arXiv:2601.21942): when antipodal tokens attract.

use super::{PaperFigure, columns, only, series};
use crate::attention::random_values::RandomValues;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::num::stats::mean_and_error;
use crate::num::stream::Stream;
use crate::sphere::Tokens;
use crate::sphere::law::Law;
use crate::study::{Part, Study, Tables, Values, table};
use crate::theory::random_weights::{antipodal_threshold, exponents};

/// Random values (arXiv:2601.21942): where antipodal pairs attract, and where pairs end.
///
/// Tables: threshold, measured, ends.
pub static STUDY: Study = Study {
    name: "random-values",
    title: "Random values: sign of the antipodal exponent over beta and d, and where uniform pairs \
        end",
    citation: "arXiv:2601.21942 (abstract: cosh 2 beta against d - 2); exponents derived",
    parts: &[&PART],
};

/// The whole study; it has no parameters.
pub static PART: Part = Part { parameters: &[], run };

/// Step size of a layer.
const ETA: f64 = 0.1;

/// Inverse temperatures for the final inner products, in d = 8: below and above the threshold 1.24.
pub const END_BETAS: [f64; 2] = [0.5, 2.5];

fn run(_: &Values) -> Result<Tables> {
    let mut threshold = table(&["d", "beta"]);
    threshold.rows.extend((3..=64).map(|d| vec![d as f64, antipodal_threshold(d)]));
    let mut measured = table(&["d", "beta", "exponent", "error", "stated"]);
    for d in [4usize, 8, 16, 32] {
        for beta in [0.25, 0.75, 1.25, 1.75, 2.25] {
            let (found, error) = exponent(d, beta)?;
            measured.rows.push(vec![d as f64, beta, found, error, exponents(d, beta).0]);
        }
    }
    let mut ends = table(&["beta", "pair", "inner"]);
    for beta in END_BETAS {
        let layer = RandomValues::new(beta, 0.2)?;
        for k in 0..300 {
            let mut stream = Stream::new(1, &["random values", &k.to_string()]);
            let mut x = Law::parse("uniform")?.sample(2, 8, &mut stream)?;
            (0..1000).for_each(|_| layer.apply(&mut x, &mut stream));
            ends.rows.push(vec![beta, f64::from(k), x.inner(0, 1)]);
        }
    }
    Ok(vec![("threshold".into(), threshold), ("measured".into(), measured), ("ends".into(), ends)])
}

/// Growth of `log(1 + <x, y>)` near antipodes, per layer and squared step, and its standard error,
/// from 3000 pairs of layers +V and -V.
fn exponent(d: usize, beta: f64) -> Result<(f64, f64)> {
    /// Distance of one token from the antipode of the other, small enough for the linearisation.
    const GAP: f64 = 1e-4;
    let layer = RandomValues::new(beta, ETA)?;
    let mut stream = Stream::new(2, &["random values", &format!("{d} {beta}")]);
    let mut start = vec![0.0; 2 * d];
    (start[0], start[d], start[d + 1]) = (1.0, -(1.0 - GAP * GAP).sqrt(), GAP);
    let x = Tokens::new(d, start)?;
    let square =
        |x: &Tokens| x.row(0).iter().zip(x.row(1)).map(|(a, b)| (a + b).powi(2)).sum::<f64>();
    let before = square(&x);
    let mut normals = vec![0.0; 2 * d];
    let changes: Vec<f64> = (0..3000)
        .map(|_| {
            stream.normals(&mut normals);
            let mut grown = || {
                let mut next = x.clone();
                layer.apply_with_normals(&mut next, &normals);
                normals.iter_mut().for_each(|g| *g = -*g);
                (square(&next) / before).ln()
            };
            0.5 * (grown() + grown()) / (ETA * ETA)
        })
        .collect();
    Ok(mean_and_error(&changes))
}

/// Left: sign of the growth near antipodes over beta and d. Right: final inner products of random
/// pairs.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "random-values",
    title: "Random values: where antipodal pairs attract, and where pairs end",
    study: Some(&PART),
    draw: |inputs| {
        let measured = columns(inputs.table("measured")?, ["d", "beta", "exponent", "error"])?;
        let mut plane = Panel::new(
            "exponent at antipodes",
            Axis::log("d", 3.0, 64.0),
            Axis::linear("\u{3b2}", 0.0, 3.0),
        );
        plane.line(
            series(inputs.table("threshold")?, "d", "beta"),
            6,
            Dash::Solid,
            "cosh 2\u{3b2} = d \u{2212} 2",
        );
        for (k, (name, sign)) in
            [("measured: repel", 1.0), ("measured: attract", -1.0)].into_iter().enumerate()
        {
            let points = measured
                .iter()
                .filter(|[_, _, value, error]| sign * value > 3.0 * error)
                .map(|[d, beta, ..]| (*d, *beta))
                .collect();
            plane.points(points, 2 * k, 2.6, name);
        }
        let open = measured
            .iter()
            .filter(|[_, _, value, error]| value.abs() <= 3.0 * error)
            .map(|[d, beta, ..]| (*d, *beta))
            .collect();
        plane.points(open, 5, 2.6, "within 3 errors of 0");
        plane.legend = Some(Corner::BottomRight);
        let mut ends = Panel::new(
            "d = 8, 1000 layers",
            Axis::linear("<x, y>", -1.0, 1.0),
            Axis::linear("share of pairs", 0.0, 1.0),
        );
        let edges: Vec<f64> = (0..=20).map(|k| -1.0 + 0.1 * f64::from(k)).collect();
        for (k, beta) in END_BETAS.into_iter().enumerate() {
            let inner = only(inputs.table("ends")?, "beta", beta).column("inner");
            let mut values = vec![0.0; 20];
            inner.iter().for_each(|g| {
                values[((0.5 * (g + 1.0) * 20.0) as usize).min(19)] += 1.0 / inner.len() as f64
            });
            ends.steps((edges.clone(), values), 2 * k, k == 0, format!("\u{3b2} = {beta}"));
        }
        ends.legend = Some(Corner::TopLeft);
        let caption = "Layers x + eta V m with a new normal V each. Left: sign of the measured growth \
            of log(1 + <x, y>) near antipodes (3000 pairs of layers +V and -V, eta = 1/10) and the \
            curve at which it changes. Right: inner products of 300 uniform pairs after 1000 \
            layers of eta = 1/5, below and above the threshold 1.24.";
        Ok(Picture { panels: vec![plane, ends], columns: 2, aspect: 1.0, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};
