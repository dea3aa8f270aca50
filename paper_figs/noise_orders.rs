//! Weak orders of four integrators for noise on the sphere.

use super::{PaperFigure, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};

/// Error of a stationary mean against the step: the corrected Strang scheme has order 2, the others
/// order 1.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "noise-orders",
    title: "Noise: the corrected geodesic has weak order 2, three other schemes order 1",
    study: Some(&crate::study::noise_orders::PART),
    draw: |inputs| {
        let noise = inputs.table("noise")?;
        let mut orders = Panel::new(
            "",
            Axis::log("h", 0.04, 0.5),
            Axis::log("error of the stationary mean", 3e-5, 0.2),
        );
        for (k, (column, label)) in [
            ("lie", "Lie, geodesic"),
            ("normalised", "Lie, normalised"),
            ("strang", "Strang, geodesic"),
            ("corrected", "Strang, corrected"),
        ]
        .into_iter()
        .enumerate()
        {
            orders.line(
                series(noise, "h", column),
                k,
                [Dash::Solid, Dash::Dashed, Dash::Dotted][k % 3],
                label,
            );
        }
        let at = |power: i32, start: f64| {
            [0.05, 0.4].map(|h: f64| (h, start * (h / 0.05).powi(power))).to_vec()
        };
        orders.line(at(1, 2.5e-2), 6, Dash::Dotted, "slopes 1 and 2");
        orders.line(at(2, 9e-5), 6, Dash::Dotted, "");
        orders.legend = Some(Corner::BottomRight);
        let caption = "Errors of the stationary mean of dX = P e_1 dt + sqrt(2/kappa) P dW on S^2, \
            kappa = 4, against the step, by the transfer operator on 60 Legendre modes: exact up \
            to rounding, without paths.";
        Ok(Picture { panels: vec![orders], columns: 1, aspect: 0.7, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};
