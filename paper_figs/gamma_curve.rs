//! The gamma curve and its level times (arXiv:2312.10794, Theorem 6.8 and (6.12)).

use super::PaperFigure;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::theory::equiangular::Equiangular;

/// gamma(t) for several beta, and the transition curve `gamma_beta(t) = 1 - 1e-3`, n = 32.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "gamma-curve",
    title: "The gamma curve and the transition curve, n = 32",
    experiments: &[],
    full: &[],
    study: None,
    hidden: false,
    quick: true,
    draw: |_| {
        let mut left = Panel::new("\u{3b3}(t), SA, n = 32", Axis::linear("t", 0.0, 48.0), Axis::linear("\u{3b3}", 0.0, 1.0));
        for (k, beta) in [0.0, 3.0, 5.0, 6.0, 7.0].into_iter().enumerate() {
            let curve = Equiangular::sa(32, beta);
            // Points at equal heights: times by quadrature, so plateaus and jumps are drawn alike.
            let mut points = vec![(0.0, 0.0)];
            for level in (1..=199).map(|i| f64::from(i) / 200.0) {
                points.push((curve.level_time(0.0, level)?.value, level));
            }
            points.push((points[points.len() - 1].0.max(48.0), 1.0));
            points.retain(|p| p.0 <= 48.0);
            left.line(points, k, [Dash::Solid, Dash::Dashed, Dash::Dotted][k % 3], format!("\u{3b2} = {beta}"));
        }
        left.legend = Some(Corner::BottomRight);
        let mut right =
            Panel::new("\u{3b3}(t) = 1 \u{2212} 10\u{207b}\u{b3}", Axis::log("t", 1.0, 1e3), Axis::linear("\u{3b2}", 0.0, 10.0));
        for (k, n) in [32, 128].into_iter().enumerate() {
            let mut points = Vec::new();
            for beta in (0..=100).map(|b| 0.1 * f64::from(b)) {
                points.push((Equiangular::sa(n, beta).level_time(0.0, 0.999)?.value, beta));
            }
            right.line(points, k, [Dash::Solid, Dash::Dashed][k], format!("n = {n}"));
        }
        right.legend = Some(Corner::TopLeft);
        let caption = "Left: gamma(t), the common inner product from an orthonormal start of SA, n = 32. Right: the time at which gamma reaches 1 - 1e-3 against \
                       beta, for n = 32 and 128 (quadrature of the scalar equation).";
        Ok(Picture { panels: vec![left, right], columns: 2, aspect: 0.85, caption: caption.into() })
    },
};
