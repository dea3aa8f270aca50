//! Weak orders of four integrators for noise on the sphere.

use super::{PaperFigure, series};
use crate::attention::noise::Sampler;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::study::{Part, Study, Tables, Values, table};
use crate::theory::noise_step::{stationary_mean, stationary_means};

/// Errors of noise integrators against their steps, computed with the transfer operator, without
/// sampling of paths.
///
/// Tables: noise.
pub static STUDY: Study = Study {
    name: "noise-orders",
    title: "Errors of the stationary mean under four schemes of noise",
    citation: "derived (transfer operator on Legendre modes)",
    parts: &[&PART],
};

/// The whole study; it has no parameters.
pub static PART: Part = Part { parameters: &[], run };

fn run(_: &Values) -> Result<Tables> {
    let mut noise = table(&["h", "lie", "strang", "corrected", "normalised"]);
    let exact = stationary_mean(4.0);
    for h in [0.4, 0.2, 0.1, 0.05] {
        let off = |s: Sampler| {
            let (lie, strang) = stationary_means(s, 4.0, h);
            ((lie - exact).abs(), (strang - exact).abs())
        };
        let plain = off(Sampler::Geodesic);
        noise.rows.push(vec![
            h,
            plain.0,
            plain.1,
            off(Sampler::Corrected).1,
            off(Sampler::Normalised).0,
        ]);
    }
    Ok(vec![("noise".into(), noise)])
}

/// Error of a stationary mean against the step: the corrected Strang scheme has order 2, the others
/// order 1.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "noise-orders",
    title: "Noise: the corrected geodesic has weak order 2, three other schemes order 1",
    study: Some(&PART),
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
