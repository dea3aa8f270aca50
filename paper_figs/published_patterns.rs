//! Clusters that form from random tokens: particles, continuity equation, predicted positions.

use super::{FigureReference, PaperFigure, PublishedFigure, only, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use std::f64::consts::TAU;

/// Histograms at beta = 5 and 7 as published; below, how many clusters form.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "published-patterns",
    title: "Clusters from 20000 iid tokens: histogram, continuity equation, predicted places",
    redraws: &[PublishedFigure {
        paper: "2410.23228",
        place: FigureReference::Unnumbered("figures of particles (numbers not read)"),
        shows: "histograms of 20000 tokens at beta = 5 and 7",
        differs: "another random stream; the equation by a spectral method in place of \
            Lax-Friedrichs",
    }],
    study: Some(&crate::study::published_patterns::PART),
    draw: |inputs| {
        let (densities, predicted, counts) =
            (inputs.table("densities")?, inputs.table("predicted")?, inputs.table("counts")?);
        let mut panels = Vec::new();
        for (beta, k, t) in [(5.0, 3, 0.3), (7.0, 4, 0.045)] {
            let rows = only(densities, "beta", beta);
            let bins: Vec<f64> =
                rows.column("particles").into_iter().map(|v| v.max(1e-2)).collect();
            let title = format!("\u{3b2} = {beta}, t = {t}, fastest mode {k}");
            let mut panel = Panel::new(
                title,
                Axis::linear("\u{3b8}", 0.0, TAU),
                Axis::log("density", 1e-2, 1e4),
            );
            let edges = (0..=bins.len()).map(|b| TAU * b as f64 / bins.len() as f64).collect();
            panel.steps((edges, bins), 0, true, "tokens");
            let equation = series(&rows, "theta", "equation")
                .into_iter()
                .map(|(t, v)| (t, v.max(1e-2)))
                .collect();
            panel.line(equation, 1, Dash::Solid, "equation");
            for (j, place) in only(predicted, "beta", beta).column("theta").into_iter().enumerate()
            {
                panel.line(
                    vec![(place, 1e-2), (place, 200.0)],
                    2,
                    Dash::Dashed,
                    if j == 0 { "predicted" } else { "" },
                );
            }
            panel.legend = Some(Corner::TopRight);
            panels.push(panel);
        }
        for beta in [5.0, 7.0] {
            let values = only(counts, "beta", beta).column("seeds");
            let mut panel = Panel::new(
                format!("\u{3b2} = {beta}, 50 seeds"),
                Axis::integer("number of clusters", -0.5, 8.5),
                Axis::linear("seeds", 0.0, 50.0),
            );
            let edges = (0..=values.len()).map(|k| k as f64 - 0.5).collect();
            panel.steps((edges, values), 0, true, "");
            panels.push(panel);
        }
        let caption = "USA on the circle from 20000 iid uniform tokens at the published times: \
            histogram of the tokens (100 bins), the continuity equation started from their own \
            first 16 moments, and the places (2 pi j - arg mu_k)/k of the fastest mode. Below: how \
            many clusters form over 50 draws of the moments. Neighbouring modes are outgrown by a \
            factor of two only, so places and numbers scatter.";
        Ok(Picture { panels, columns: 2, aspect: 0.75, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};
