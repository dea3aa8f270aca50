//! Rank collapse, noise integrators, random values, two antipodal clusters.

use super::{PaperFigure, series};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};

/// Four small laws.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "rows-beyond",
    title: "Rank collapse is cubic, orders of noise integrators, antipodal attraction, two stable clusters",
    experiments: &[],
    full: &[],
    cells: None,
    study: Some(&crate::study::rows_beyond::PART),
    parameters: &[],
    hidden: false,
    quick: false,
    draw: |inputs| {
        let collapse: Vec<(f64, f64)> =
            series(inputs.table("collapse")?, "layer", "log_residual").into_iter().map(|(l, r)| (l, -r)).collect();
        let mut ladder = Panel::new("rank collapse", Axis::linear("layer", -0.2, 5.2), Axis::log("\u{2212}log |R|", 1.0, 2000.0));
        let last = collapse.last().copied().unwrap_or((0.0, 1.0));
        ladder.line((0..=5).map(|k| (f64::from(k), last.1 * 3f64.powf(f64::from(k) - last.0))).collect(), 6, Dash::Dotted, "tripling");
        ladder.marks.push(Mark::Points { points: collapse, colour: 0, radius: 2.4, label: "pure attention".into() });
        ladder.legend = Some(Corner::TopLeft);
        let noise = inputs.table("noise")?;
        let mut orders = Panel::new("noise", Axis::log("h", 0.04, 0.5), Axis::log("error of the stationary mean", 3e-5, 0.2));
        for (k, (column, label)) in [
            ("lie", "Lie, geodesic"),
            ("normalised", "Lie, normalised"),
            ("strang", "Strang, geodesic"),
            ("corrected", "Strang, corrected"),
        ]
        .into_iter()
        .enumerate()
        {
            orders.line(series(noise, "h", column), k, [Dash::Solid, Dash::Dashed, Dash::Dotted][k % 3], label);
        }
        orders.legend = Some(Corner::BottomRight);
        let mut antipodal = Panel::new("random values", Axis::log("d", 3.0, 128.0), Axis::linear("\u{3b2}", 0.0, 3.0));
        antipodal.line(series(inputs.table("antipodal")?, "d", "beta"), 0, Dash::Solid, "cosh 2\u{3b2} = d \u{2212} 2");
        antipodal.marks.push(Mark::Text { at: (4.0, 2.2), text: "antipodes attract".into() });
        antipodal.marks.push(Mark::Text { at: (25.0, 0.6), text: "antipodes repel".into() });
        antipodal.legend = Some(Corner::BottomRight);
        let mut bipartite =
            Panel::new("V with a spectrum", Axis::linear("\u{3b2}\u{3bb}", 0.0, 4.0), Axis::linear("\u{3bc}/\u{3bb}", 0.0, 1.1));
        bipartite.line(series(inputs.table("bipartite")?, "beta", "mu"), 0, Dash::Solid, "tanh(\u{3b2}\u{3bb})");
        bipartite.marks.push(Mark::Text { at: (1.6, 0.4), text: "stable".into() });
        bipartite.marks.push(Mark::Text { at: (0.1, 0.85), text: "unstable".into() });
        bipartite.legend = Some(Corner::BottomRight);
        let caption = "Residuals of pure attention layers (n = 8, d = 4) with their logarithm tripling; errors of the stationary mean of dX = P e_1 dt + sqrt(2/kappa) P dW on S^2, kappa = 4, by the transfer operator; where random values attract antipodal \
                       pairs; where two antipodal clusters along an eigenvector of V are stable.";
        Ok(Picture { panels: vec![ladder, orders, antipodal, bipartite], columns: 2, aspect: 0.75, caption: caption.into() })
    },
};
