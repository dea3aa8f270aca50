//! Rates at which equiangular tokens collapse under normalisation schemes (arXiv:2510.22026).

use super::{PaperFigure, columns};
use crate::attention::normalisation::Normalisation;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::study::normalisation_schemes::{PART as STUDY, SCHEMES};

/// Left: `1 - gamma` at late times. Right: orbits in the plane of radius and inner product.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "normalisation",
    title: "Normalisation schemes: late rates, one orbit of three schemes",
    study: Some(&STUDY),
    draw: |inputs| {
        let reduced = inputs.table("reduced")?;
        let dash = |k: usize| [Dash::Solid, Dash::Dashed, Dash::Dotted][k % 3];
        let mut rates = Panel::new(
            "rates",
            Axis::log("t", 1e-2, 1e4),
            Axis::log("1 \u{2212} \u{3b3}", 1e-9, 2.0),
        );
        let mut orbits = Panel::new(
            "orbits",
            Axis::log("r", 0.9, 200.0),
            Axis::log("1 \u{2212} \u{3b3}", 1e-5, 2.0),
        );
        for (k, scheme) in SCHEMES.iter().enumerate() {
            let rows = columns(
                &reduced.only("scheme", scheme.name()),
                ["t", "one_minus_gamma", "radius"],
            )?;
            let rate = rows
                .iter()
                .filter(|[t, gap, _]| *t > 0.0 && *gap > 1e-9)
                .map(|[t, gap, _]| (*t, *gap));
            rates.line(rate.collect(), k, dash(k), scheme.name());
            if scheme.space().extra_per_token() > 0 {
                orbits.line(
                    rows.iter()
                        .filter(|[_, gap, radius]| *gap > 1e-5 && *radius <= 200.0)
                        .map(|[_, gap, radius]| (*radius, *gap))
                        .collect(),
                    k,
                    dash(k),
                    scheme.name(),
                );
            }
        }
        (rates.legend, orbits.legend) = (Some(Corner::BottomLeft), Some(Corner::BottomLeft));
        let caption = "Left: equiangular tokens, n = 16, beta = 2, orthonormal start of radius 1: \
            e^{-2t} (post, nGPT), e^{-4 sqrt(t+1)} (CoD), t^{-2} (pre, peri, mix), t^{-1} (literal \
            LN scaling). Right: the same in the (r, gamma) plane, where pre, peri and LN scaling \
            trace one curve.";
        Ok(Picture {
            panels: vec![rates, orbits],
            columns: 2,
            aspect: 1.0,
            caption: caption.into(),
        })
    },
    ..PaperFigure::EMPTY
};
