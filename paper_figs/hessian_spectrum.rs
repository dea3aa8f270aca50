//! The Hessian spectrum along a run.

use super::PaperFigure;
use crate::draw::{Axis, Corner, Mark, Panel, Picture};

/// Smaller magnitudes are rounding and not drawn.
const FLOOR: f64 = 1e-12;

/// Eigenvalues of the Hessian along a run.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "hessian-spectrum",
    title: "Eigenvalues of the Hessian along a run",
    redraws: &[],
    experiments: &[],
    full: &[],
    cells: None,
    study: Some(&crate::study::landscape_tour::SPECTRUM),
    parameters: &[],
    hidden: false,
    quick: false,
    draw: |inputs| {
        let table = inputs.table("spectrum")?;
        let last = table.column("t").into_iter().fold(1.0, f64::max);
        let largest = table.rows.iter().map(|r| r[2].abs()).fold(1.0, f64::max);
        let first = table.column("t").into_iter().filter(|t| *t > 0.0).fold(last, f64::min).max(1e-3);
        let mut panel = Panel::new("", Axis::log("t", first, last), Axis::signed("eigenvalue", FLOOR, largest));
        for (positive, colour, label) in [(true, 1, "positive: unstable"), (false, 0, "negative")] {
            let shown = table.rows.iter().filter(|r| r[0] >= first && r[2].abs() > FLOOR && (r[2] > 0.0) == positive);
            let points = shown.map(|r| (r[0], r[2])).collect();
            panel.marks.push(Mark::Points { points, colour, radius: 0.8, label: label.into() });
        }
        panel.legend = Some(Corner::BottomLeft);
        let ends = super::span(table.column("t"), (0.0, last));
        let positive = |t: f64| {
            let at = if t > ends.0 { ends.1 } else { ends.0 };
            table.rows.iter().filter(|r| (r[0] - at).abs() <= 1e-12 * at && r[2] > FLOOR).count()
        };
        let caption = format!(
            "Eigenvalues of the Hessian of E_beta (mass metric, over e^beta) at every step of one SA run of {} tokens on the circle at beta = {}, on a logarithmic scale of either sign down to 1e-12; {} are positive at the first step and {} at the last. The rotation (zero) and what is smaller than 1e-12 are not drawn.",
            inputs.values.count("n")?,
            inputs.values.one("beta")?,
            positive(0.0),
            positive(last)
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.55, caption })
    },
};
