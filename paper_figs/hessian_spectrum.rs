//! The Hessian spectrum along a run.

use super::PaperFigure;
use crate::draw::{Axis, Corner, Mark, Panel, Picture};

/// Eigenvalues of the Hessian along a run.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "hessian-spectrum",
    title: "Eigenvalues of the Hessian along a run",
    experiments: &[],
    full: &[],
    study: Some(&crate::study::landscape_tour::ENTRY),
    hidden: false,
    quick: false,
    draw: |inputs| {
        let table = inputs.table("spectrum")?;
        let last = table.column("t").into_iter().fold(1.0, f64::max);
        let signed = |v: f64| v.signum() * (1.0 + (v.abs() / 1e-12).max(1.0).log10()) / 13.0;
        let mut panel =
            Panel::new("", Axis::log("t", 0.01, last), Axis::linear("eigenvalue (sign and log, 10\u{207b}\u{b9}\u{b2} to 1)", -1.05, 1.05));
        for (positive, colour, label) in [(true, 1, "positive: unstable"), (false, 0, "negative")] {
            let points = table
                .rows
                .iter()
                .filter(|r| r[0] > 0.0 && r[2].abs() > 1e-12 && (r[2] > 0.0) == positive)
                .map(|r| (r[0], signed(r[2])))
                .collect();
            panel.marks.push(Mark::Points { points, colour, radius: 0.8, label: label.into() });
        }
        panel.legend = Some(Corner::BottomLeft);
        let caption = "Eigenvalues of the Hessian of E_beta (mass metric, over e^beta) at every step of one SA run of 12 tokens on the circle at beta = 10: positive ones vanish one by one as saddles are passed; the rotation (zero) is not drawn.";
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.55, caption: caption.into() })
    },
};
