//! Layers with new random value matrices (arXiv:2601.21942): when antipodal tokens attract.

use super::{PaperFigure, columns, only, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::study::random_values::{END_BETAS, PART as STUDY};

/// Left: sign of the growth near antipodes over beta and d. Right: final inner products of random
/// pairs.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "random-values",
    title: "Random values: where antipodal pairs attract, and where pairs end",
    study: Some(&STUDY),
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
