//! Normalisation schemes (arXiv:2510.22026).

use super::{PaperFigure, only};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::study::normalisation_schemes::{PART as STUDY, SCHEMES};

/// Late rates, orbits, mean cosine with its band.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "normalisation",
    title: "Normalisation schemes: late rates, one orbit of three schemes, mean cosine with its 90 % band",
    experiments: &[],
    full: &[],
    cells: None,
    study: Some(&STUDY),
    parameters: &[],
    hidden: false,
    quick: false,
    draw: |inputs| {
        let (reduced, cosine) = (inputs.table("reduced")?, inputs.table("cosine")?);
        let dash = |k: usize| [Dash::Solid, Dash::Dashed, Dash::Dotted][k % 3];
        let mut rates = Panel::new("", Axis::log("t", 1e-2, 1e4), Axis::log("1 \u{2212} \u{3b3}", 1e-9, 2.0));
        let mut orbits = Panel::new("", Axis::log("r", 0.9, 200.0), Axis::log("1 \u{2212} \u{3b3}", 1e-5, 2.0));
        let mut bands = Panel::new("", Axis::log("t", 5e-2, 100.0), Axis::linear("mean cosine", -0.05, 1.05));
        for (k, scheme) in SCHEMES.iter().enumerate() {
            let rows = only(reduced, "scheme", k as f64).rows;
            let seen = |r: &&Vec<f64>| r[1] > 0.0 && r[2] > 1e-9;
            rates.line(rows.iter().filter(seen).map(|r| (r[1], r[2])).collect(), k, dash(k), scheme.name());
            if scheme.space().own() > 0 {
                orbits.line(rows.iter().filter(|r| r[2] > 1e-5).map(|r| (r[3], r[2])).collect(), k, dash(k), scheme.name());
            }
            let rows: Vec<Vec<f64>> = only(cosine, "scheme", k as f64).rows.into_iter().filter(|r| r[1] > 0.0).collect();
            bands.line(rows.iter().map(|r| (r[1], r[2])).collect(), k, dash(k), scheme.name());
            for c in [3, 4] {
                let points = rows.iter().map(|r| (r[1], r[c])).collect();
                bands.marks.push(Mark::Points { points, colour: k, radius: 0.5, label: String::new() });
            }
        }
        (rates.legend, orbits.legend, bands.legend) = (Some(Corner::BottomLeft), Some(Corner::BottomLeft), Some(Corner::TopLeft));
        let caption = "Left: equiangular tokens, n = 16, beta = 2, orthonormal start of radius 1: e^{-2t} (post, nGPT), e^{-4 sqrt(t+1)} (CoD), t^{-2} (pre, peri, mix), t^{-1} (literal LN scaling). Middle: the same in the (r, gamma) plane, where \
                       pre, peri and LN scaling trace one curve. Right: mean cosine of 32 uniform tokens, d = 512, beta = sqrt d, V = I, normal Q and K of variance 1/d, mean and second values from either end (5 and 95 %) of 20 runs.";
        Ok(Picture { panels: vec![rates, orbits, bands], columns: 3, aspect: 1.0, caption: caption.into() })
    },
};
