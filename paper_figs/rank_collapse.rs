//! Rank collapse: the logarithm of the residual (the difference from a common row) triples per
//! layer.

use super::{PaperFigure, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::num::stream::Stream;
use crate::num::vector::scale;
use crate::study::{Part, Study, Tables, Values, table};
use crate::theory::rank_collapse::RankResidual;

/// Rank collapse (arXiv:2103.03404) of attention alone, and the effect of a skip connection, layer
/// normalisation and uniform weights.
///
/// Tables: collapse.
pub static STUDY: Study = Study {
    name: "rank-collapse",
    title: "Residuals of attention layers: alone, normalised, with a skip connection, with both",
    citation: "arXiv:2103.03404 (law derived)",
    parts: &[&PART],
};

/// The whole study; it has no parameters.
pub static PART: Part = Part { parameters: &[], run };

/// Number of layers.
pub const LAYERS: usize = 5;

/// The columns after `layer`: attention alone, with layer normalisation, with a skip connection,
/// with both, and with W = 0.
pub const KINDS: [&str; 5] = ["attention", "normalised", "skip", "skip_normalised", "uniform"];

fn run(_: &Values) -> Result<Tables> {
    let mut stream = Stream::new(1, &["rank collapse"]);
    let mut normals = |count: usize, size: f64| {
        let mut out = vec![0.0; count];
        stream.normals(&mut out);
        scale(size, &mut out);
        out
    };
    let (x, w, w_v) = (normals(32, 0.02), normals(16, 0.5), normals(16, 0.5));
    // Normalisation needs a common row with distinct entries.
    let x: Vec<f64> = x.iter().enumerate().map(|(k, v)| v + [0.5, -0.3, 0.2, 0.1][k % 4]).collect();
    let step = |r: &RankResidual, kind: usize| -> Option<RankResidual> {
        let zero = vec![0.0; 16];
        let layer = r.layer(if kind == 4 { &zero } else { &w }, &w_v)?;
        match kind {
            1 => layer.normalised(),
            2 => r.plus(&layer),
            3 => r.plus(&layer)?.normalised(),
            _ => Some(layer),
        }
    };
    let mut collapse = table(&["layer", KINDS[0], KINDS[1], KINDS[2], KINDS[3], KINDS[4]]);
    let mut states: Vec<Option<RankResidual>> =
        KINDS.iter().map(|_| RankResidual::new(&x, 4)).collect();
    for layer in 0..=LAYERS {
        let sizes = states.iter().map(|s| s.as_ref().map_or(f64::NEG_INFINITY, |s| s.log_size));
        collapse.rows.push(std::iter::once(layer as f64).chain(sizes).collect());
        states = states
            .iter()
            .enumerate()
            .map(|(kind, s)| s.as_ref().and_then(|s| step(s, kind)))
            .collect();
    }
    Ok(vec![("collapse".into(), collapse)])
}

/// Attention alone and with layer normalisation collapses cubically; a skip connection keeps the
/// residual.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "rank-collapse",
    title: "Rank collapse is cubic: attention alone, with layer normalisation, with a skip \
        connection",
    study: Some(&PART),
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
