//! Random tokens under normalisation schemes (arXiv:2510.22026).

use super::{FigureReference, PaperFigure, PublishedFigure, series};
use crate::attention::normalisation::Normalisation;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::study::{normalisation_bands::PART as STUDY, normalisation_schemes::SCHEMES};

/// Mean cosine over time and its 90 % band, for every scheme.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "normalisation-bands",
    title: "Normalisation schemes: mean cosine of random starts with its 90 % band",
    redraws: &[
        PublishedFigure {
            paper: "2510.22026",
            place: FigureReference::Figure(1),
            shows: "mean cosine of all schemes with its 90 % band",
            differs: "n = 32 and 20 runs: the published numbers are not known; V = I",
        },
        PublishedFigure {
            paper: "2512.01868",
            place: FigureReference::Unnumbered("a figure (number not read)"),
            shows: "mean cosine of all schemes with its 90 % band",
            differs: "n = 32 and 20 runs: the published numbers are not known; V = I",
        },
    ],
    study: Some(&STUDY),
    draw: |inputs| {
        let cosine = inputs.table("cosine")?;
        let panel = |title: &str, radii: bool| {
            let mut panel = Panel::new(
                title,
                Axis::log("t", 0.05, 100.0),
                Axis::linear("mean cosine", -0.05, 1.05),
            );
            let members = SCHEMES.iter().filter(|s| (s.space().extra_per_token() > 0) == radii);
            for (k, scheme) in members.enumerate() {
                let rows = cosine.only("scheme", scheme.name());
                panel.line(series(&rows, "t", "mean"), k, Dash::for_series(k), scheme.name());
                for side in ["low", "high"] {
                    panel.line(series(&rows, "t", side), k, Dash::Dotted, "");
                }
            }
            panel.legend = Some(Corner::TopLeft);
            panel
        };
        let caption = "Mean inner product of pairs of 32 uniform tokens, d = 512, beta = sqrt d, V \
            = I, Q and K normal with entries of variance 1/d: mean over 20 runs, dotted the second \
            smallest and second largest of them (90 %). Left schemes on the sphere, right those \
            with radii. The paper does not state n and the number of runs.";
        Ok(Picture {
            panels: vec![panel("on the sphere", false), panel("with radii", true)],
            columns: 2,
            aspect: 1.0,
            caption: caption.into(),
        })
    },
    ..PaperFigure::EMPTY
};
