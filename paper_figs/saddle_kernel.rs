//! The kernel `g(tau) = (cos tau - beta sin^2 tau) e^(beta cos tau)` (arXiv:2312.10794, figure 6).

use super::{FigureReference, PaperFigure, PublishedFigure};
use crate::attention::circle::hessian_kernel;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::study::Parameter;
use crate::theory::threshold::tau_star;

/// beta = 2 and 6 on [-pi, pi], each scaled by e^beta.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "saddle-kernel",
    title: "The kernel g of the second variation, beta = 2 and 6",
    redraws: &[PublishedFigure {
        paper: "2312.10794",
        place: FigureReference::Figure(6),
        shows: "the kernel g for beta = 2 and 6",
        differs: "divided by g(0) = e^beta",
    }],
    parameters: &[Parameter::real("beta", &[2.0, 6.0], (0.1, 500.0), "inverse temperatures")],
    quick: true,
    draw: |inputs| {
        let betas = inputs.values.list("beta")?;
        let pi = std::f64::consts::PI;
        let mut panel = Panel::new(
            "",
            Axis::linear("\u{3c4}", -pi, pi),
            Axis::linear("g(\u{3c4}) / g(0)", -0.5, 1.05),
        );
        for (k, &beta) in betas.iter().enumerate() {
            let points = (0..=400)
                .map(|i| -pi + 2.0 * pi * f64::from(i) / 400.0)
                .map(|t| (t, hessian_kernel(beta, t) / f64::exp(beta)));
            let dash = Dash::for_series(k);
            let points: Vec<(f64, f64)> = points.collect();
            panel.y.low = points.iter().map(|p| 1.08 * p.1).fold(panel.y.low, f64::min);
            panel.line(
                points,
                k,
                dash,
                format!("\u{3b2} = {beta}, \u{3c4}* = {:.3}", tau_star(2, beta)),
            );
        }
        panel.line(vec![(-pi, 0.0), (pi, 0.0)], 7, Dash::Dotted, "");
        panel.legend = Some(Corner::TopRight);
        let caption = format!(
            "The kernel g(tau) = (cos tau - beta sin^2 tau) e^(beta cos tau) of the Hessian on the \
            circle for beta = {}, divided by g(0) = e^beta; it changes sign at +-tau*.",
            super::join_numbers(betas)
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.5, caption })
    },
    ..PaperFigure::EMPTY
};
