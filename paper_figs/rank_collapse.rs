//! Rank collapse: the logarithm of the residual (the difference from a common row) triples per
//! layer.

use super::{PaperFigure, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::study::rank_collapse::{KINDS, LAYERS};

/// Attention alone and with layer normalisation collapses cubically; a skip connection keeps the
/// residual.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "rank-collapse",
    title: "Rank collapse is cubic: attention alone, with layer normalisation, with a skip \
        connection",
    study: Some(&crate::study::rank_collapse::PART),
    draw: |inputs| {
        let table = inputs.table("collapse")?;
        let last = LAYERS as f64;
        let mut panel = Panel::new(
            "",
            Axis::integer("layer", -0.2, last + 0.2),
            Axis::log("\u{2212}log |R|", 0.5, 2000.0),
        );
        let sizes = |kind: &str| -> Vec<(f64, f64)> {
            series(table, "layer", kind).into_iter().map(|(l, r)| (l, -r)).collect()
        };
        let alone = sizes(KINDS[0]);
        let end = alone.last().copied().unwrap_or((last, 1.0));
        panel.line(
            (0..=LAYERS).map(|k| (k as f64, end.1 * 3f64.powf(k as f64 - end.0))).collect(),
            6,
            Dash::Dotted,
            "tripling",
        );
        for (k, label) in [
            "attention alone",
            "then layer normalisation",
            "skip connection",
            "skip, then layer normalisation",
        ]
        .into_iter()
        .enumerate()
        {
            let points =
                sizes(KINDS[k]).into_iter().filter(|p| p.1.is_finite()).collect::<Vec<_>>();
            panel.line(points.clone(), k, Dash::Solid, "");
            panel.points(points, k, 2.4, label);
        }
        let first = sizes(KINDS[4])[0];
        panel.line(
            vec![first, (1.0, 2000.0)],
            5,
            Dash::Dashed,
            "W = 0: no residual after one layer",
        );
        panel.legend = Some(Corner::TopLeft);
        let caption = "Residual R (the difference from a common row) of n = 8 rows in d = 4 \
            through layers softmax(X W X^T) X W_V with normal W and W_V, stored by its logarithm, \
            since f64 underflows from the fourth layer on. Alone and with layer normalisation \
            after each layer the logarithm triples; a skip connection keeps the residual; W = 0 \
            (uniform attention) removes it.";
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.7, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};
