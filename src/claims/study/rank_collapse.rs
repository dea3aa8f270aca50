//! Rank collapse (arXiv:2103.03404) of attention alone, and the effect of a skip connection, layer
//! normalisation and uniform weights.

use super::{Part, Study, Tables, Values, table};
use crate::error::Result;
use crate::num::stream::Stream;
use crate::num::vector::scale;
use crate::theory::rank_collapse::RankResidual;

/// Tables: collapse.
pub static ENTRY: Study = Study {
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
