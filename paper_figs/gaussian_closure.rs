//! Attention in R^d of a Gaussian law, which stays Gaussian, compared with particles
//! (arXiv:2501.18322).

use super::{PaperFigure, distinct, only, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::study::gaussian_closure::VALUES;

/// Decay and blow-up of variances: the closed equation, and finitely many tokens.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "gaussian-closure",
    title: "Gaussian closure: variances, blow-up, and finitely many tokens",
    study: Some(&crate::study::gaussian_closure::PART),
    draw: |inputs| {
        let (closure, particles) = (inputs.table("closure")?, inputs.table("particles")?);
        let mut panels = Vec::new();
        let shown = [("V = \u{2212}I", 1.2, Corner::TopRight), ("V = I", 60.0, Corner::TopLeft)];
        for (value, (title, high, corner)) in VALUES.into_iter().zip(shown) {
            let mut panel =
                Panel::new(title, Axis::linear("t", 0.0, 2.05), Axis::log("variance", 0.24, high));
            let (lines, dots) = (closure.only("value", value), particles.only("value", value));
            for (k, s0) in distinct(&lines, "s0").into_iter().enumerate() {
                let line = series(&only(&lines, "s0", s0), "t", "variance");
                panel.line(
                    line,
                    2 * k,
                    [Dash::Solid, Dash::Dashed][k % 2],
                    format!("closure from {s0}"),
                );
                let rows = only(&dots, "s0", s0);
                for (j, n) in distinct(&rows, "n").into_iter().enumerate() {
                    let label = if k == 0 { format!("{n} tokens") } else { String::new() };
                    panel.points(
                        series(&only(&rows, "n", n), "t", "variance"),
                        1 + 2 * j,
                        2.0,
                        label,
                    );
                }
            }
            panel.legend = Some(corner);
            panels.push(panel);
        }
        let caption = "x_i' = v E[x_j] on the line with scores x y / 2, from normal laws of \
            variance 1 and 1/2: s(t) = s/(1 - v s t), which for V = I is infinite at t = 1/s, and \
            tokens that start at quantiles. Finitely many tokens leave the closure before the \
            blow-up, the fewer the earlier.";
        Ok(Picture { panels, columns: 2, aspect: 1.0, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};
