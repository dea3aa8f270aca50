//! The gamma curve and its level times (arXiv:2312.10794, Theorem 6.8 and (6.12)).

use super::PaperFigure;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::study::Parameter;
use crate::theory::equiangular::Equiangular;

/// gamma(t) for several beta, and the transition curve `gamma_beta(t) = 1 - 1e-3`, n = 32.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "gamma-curve",
    title: "The gamma curve and the transition curve, n = 32",
    parameters: &[
        Parameter::count("n", &[32.0], (2.0, 1e6), "tokens of the curves"),
        Parameter::real(
            "beta",
            &[0.0, 3.0, 5.0, 6.0, 7.0],
            (0.0, 12.0),
            "inverse temperatures of the curves",
        ),
        Parameter::real("t_end", &[48.0], (1.0, 1e6), "end of the curves"),
    ],
    quick: true,
    draw: |inputs| {
        let (own, end) = (inputs.values.count("n")?, inputs.values.one("t_end")?);
        let mut left = Panel::new(
            format!("\u{3b3}(t), SA, n = {own}"),
            Axis::linear("t", 0.0, end),
            Axis::linear("\u{3b3}", 0.0, 1.0),
        );
        for (k, &beta) in inputs.values.list("beta")?.iter().enumerate() {
            let curve = Equiangular::sa(own, beta);
            // Points at equal heights with times by quadrature, so that plateaus and jumps are
            // resolved alike.
            let mut points = vec![(0.0, 0.0)];
            for level in (1..=199).map(|i| f64::from(i) / 200.0) {
                points.push((curve.level_time(0.0, level)?.value, level));
            }
            points.push((points[points.len() - 1].0.max(end), 1.0));
            points.retain(|p| p.0 <= end);
            left.line(points, k, Dash::for_series(k), format!("\u{3b2} = {beta}"));
        }
        left.legend = Some(Corner::BottomRight);
        let title = "\u{3b3}(t) = 1 \u{2212} 10\u{207b}\u{b3}";
        let mut right = Panel::new(
            title,
            Axis::log("t", f64::INFINITY, 0.0),
            Axis::linear("\u{3b2}", 0.0, 10.0),
        );
        for (k, n) in [own, 4 * own].into_iter().enumerate() {
            let mut points = Vec::new();
            for beta in (0..=100).map(|b| 0.1 * f64::from(b)) {
                points.push((Equiangular::sa(n, beta).level_time(0.0, 0.999)?.value, beta));
            }
            right.x.low = points.iter().map(|p| 0.8 * p.0).fold(right.x.low, f64::min);
            right.x.high = points.iter().map(|p| 1.25 * p.0).fold(right.x.high, f64::max);
            right.line(points, k, Dash::for_series(k), format!("n = {n}"));
        }
        right.legend = Some(Corner::TopLeft);
        let caption = format!(
            "Left: gamma(t), the common inner product from an orthonormal start of SA, n = {own}. \
            Right: the time at which gamma reaches 1 - 1e-3 against beta, for n = {own} and {} \
            (quadrature of the scalar equation).",
            4 * own
        );
        Ok(Picture { panels: vec![left, right], columns: 2, aspect: 0.85, caption })
    },
    ..PaperFigure::EMPTY
};
