//! Rates at which equiangular tokens collapse under normalisation schemes (arXiv:2510.22026).

use super::{PaperFigure, columns};
use crate::attention::normalisation::{
    Cod, LnScaling, Mix, NGpt, Normalisation, Peri, Post, Pre, Scheme,
};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::flow::observable::log_times;
use crate::study::{Part, Study, Tables, Values, table};
use crate::theory::normalised::SchemeCurve;

/// Normalisation schemes (arXiv:2510.22026): late rates and orbits of equiangular tokens.
///
/// Table: reduced (n = 16, beta = 2, orthonormal start of radius 1).
pub static STUDY: Study = Study {
    name: "normalisation-schemes",
    title: "Normalisation schemes: late rates, orbits in the (r, gamma) plane",
    citation: "arXiv:2510.22026, Section 4; rates and orbits derived",
    parts: &[&PART],
};

/// The whole study; it has no parameters.
pub static PART: Part = Part { parameters: &[], run };

/// The schemes.
pub static SCHEMES: [Scheme; 7] =
    [Post, Pre, Peri, Mix { tau: 1.0 }, NGpt { alpha: 1.0 }, Cod, LnScaling];

fn run(_: &Values) -> Result<Tables> {
    let mut reduced = table(&["scheme", "t", "one_minus_gamma", "radius"])
        .with_labels("scheme", SCHEMES.map(|s| s.name()));
    let times = log_times(1e-2, 1e4, 120);
    for (k, scheme) in SCHEMES.iter().enumerate() {
        for (t, p) in
            times.iter().zip(SchemeCurve::new(*scheme, 16, 2.0)?.states(0.0, 1.0, &times)?)
        {
            reduced.rows.push(vec![k as f64, *t, (-p.depth).exp(), p.radius]);
        }
    }
    Ok(vec![("reduced".into(), reduced)])
}

/// Left: `1 - gamma` at late times. Right: orbits in the plane of radius and inner product.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "normalisation",
    title: "Normalisation schemes: late rates, one orbit of three schemes",
    study: Some(&PART),
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
