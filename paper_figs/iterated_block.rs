//! One transformer block, applied repeatedly as in ALBERT.

use super::{FigureReference, PaperFigure, PublishedFigure, distinct, only, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::study::iterated_block::PART as STUDY;

/// Histograms of cosines; their mean, the relative change by a layer, and the effective rank over
/// the layers.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "iterated-block",
    title: "One shared block iterated: cosines as they are and without the affine norm",
    redraws: &[PublishedFigure {
        paper: "2312.10794",
        place: FigureReference::Figure(1),
        shows: "the same histograms with one block iterated 48 times",
        differs: "one block with random weights in place of the trained one",
    }],
    study: Some(&STUDY),
    draw: |inputs| {
        let (histogram, course) = (inputs.table("histogram")?, inputs.table("course")?);
        let mut panels = Vec::new();
        for (column, name) in [("raw", "cosines as they are"), ("bare", "without gain and shift")] {
            let top = histogram.column(column).into_iter().fold(0.0, f64::max);
            let mut panel = Panel::new(
                name,
                Axis::linear("cosine", -1.0, 1.0),
                Axis::linear("share of pairs", 0.0, 1.05 * top),
            );
            // Layers with equal histograms share a line.
            let mut shapes: Vec<(String, Vec<f64>)> = Vec::new();
            for layer in distinct(histogram, "layer") {
                let values = only(histogram, "layer", layer).column(column);
                match shapes.iter_mut().find(|(_, seen)| *seen == values) {
                    Some((label, _)) => label.push_str(&format!(", {layer}")),
                    None => shapes.push((format!("layer {layer}"), values)),
                }
            }
            for (k, (label, values)) in shapes.into_iter().enumerate() {
                let edges = (0..=values.len())
                    .map(|c| -1.0 + 2.0 * c as f64 / values.len() as f64)
                    .collect();
                panel.steps((edges, values), k, false, label);
            }
            panel.legend = Some(Corner::TopLeft);
            panels.push(panel);
        }
        let last = course.column("layer").last().copied().unwrap_or(1.0);
        let mut mean = Panel::new(
            "mean cosine, residual ratio",
            Axis::integer("layer", 0.0, last),
            Axis::linear("", -0.1, 1.1),
        );
        mean.line(series(course, "layer", "mean"), 0, Dash::Solid, "mean cosine");
        mean.line(series(course, "layer", "bare"), 1, Dash::Dashed, "without gain and shift");
        mean.line(
            series(course, "layer", "ratio"),
            3,
            Dash::Dotted,
            "|\u{3a6}(x) \u{2212} x| / |x|",
        );
        mean.legend = Some(Corner::BottomRight);
        let ranks = course.column("rank").into_iter().fold(1.0, f64::max);
        let mut rank = Panel::new(
            "rank",
            Axis::integer("layer", 0.0, last),
            Axis::linear("exp H of squared singular values", 0.0, 1.1 * ranks),
        );
        rank.line(series(course, "layer", "rank"), 2, Dash::Solid, "");
        panels.extend([mean, rank]);
        let (n, size) = (inputs.values.count("n")?, inputs.values.one("size")?);
        let block = match &inputs.source_command {
            Some(command) => format!("The block of `{command}`"),
            None => format!(
                "One post-norm block (4 heads, feed-forward layer, random weights of size {size}, \
                {n} tokens, a norm with gain and shift)"
            ),
        };
        let caption = format!(
            "{block} applied repeatedly, as in ALBERT: cosines of pairs of tokens as they are and \
            after removing gain and shift of the norm, which differ; the relative change by a \
            layer; the effective rank of the tokens."
        );
        Ok(Picture { panels, columns: 2, aspect: 0.75, caption })
    },
    ..PaperFigure::EMPTY
};
