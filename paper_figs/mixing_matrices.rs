//! Mixing matrices of blocks with random weights.

use super::PaperFigure;
use crate::attention::pattern::{
    Alibi, Causal, CombinedPattern, FullAttention, Pairs, Pattern, Rotary,
};
use crate::draw::{Axis, Mark, Panel, Picture};
use crate::error::Result;
use crate::num::lyapunov::mixing;
use crate::num::stream::Stream;
use crate::study::{Parameter, Part, Study, Tables, Values, table};
use crate::transformer::NormPlacement;
use crate::transformer::random::{BlockSizes, random_block};
use crate::transformer::tangent::linearised;
use std::sync::Arc;

/// Mixing matrices of blocks with random weights: how much each token moves each other token
/// through the layers.
///
/// Table: mixing, the entries (i, j) of the matrix of every block.
pub static STUDY: Study = Study {
    name: "mixing-matrices",
    title: "Mixing matrices |d x_i(L) / d x_j(0)| of pre-norm blocks with random weights",
    citation: "derived; pre-norm blocks as in GPT-2",
    parts: &[&PART],
};

/// The blocks: one panel each.
pub const BLOCKS: [&str; 5] =
    ["feed-forward", "attention", "causal", "causal and rotary", "causal and ALiBi"];

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count("layers", &[4.0], (1.0, 24.0), "layers"),
        Parameter::count("n", &[16.0], (2.0, 48.0), "tokens"),
        Parameter::real("size", &[1.5], (0.1, 5.0), "size of the weights"),
    ],
    run,
};

/// Dimension of the tokens.
const D: usize = 8;

fn pattern(kind: usize) -> Result<Arc<dyn Pattern>> {
    let causal = || Box::new(Causal) as Box<dyn Pattern>;
    Ok(match kind {
        2 => Arc::new(Causal),
        3 => Arc::new(CombinedPattern::new(vec![
            causal(),
            Box::new(Rotary::new(100.0, Pairs::Halves, D / 2)?),
        ])),
        4 => Arc::new(CombinedPattern::new(vec![causal(), Box::new(Alibi::new(2)?)])),
        _ => Arc::new(FullAttention),
    })
}

fn run(given: &Values) -> Result<Tables> {
    let (layers, n, size) = (given.count("layers")?, given.count("n")?, given.one("size")?);
    let mut out = table(&["block", "i", "j", "value"]).with_labels("block", BLOCKS);
    for block_kind in 0..BLOCKS.len() {
        // The weights and tokens are the same for all blocks.
        let mut stream = Stream::new(3, &["mixing-matrices"]);
        let sizes = BlockSizes { d: D, heads: 2, hidden: 2 * D, size, place: NormPlacement::Pre };
        let mut blocks = (0..layers)
            .map(|_| random_block(&mut stream, &sizes, pattern(block_kind)?))
            .collect::<Result<Vec<_>>>()?;
        if block_kind == 0 {
            blocks.iter_mut().for_each(|b| {
                b.parts.retain(|p| !matches!(p.part, crate::transformer::BlockPart::Attention(_)))
            });
        }
        let mut x = vec![0.0; n * D];
        stream.normals(&mut x);
        let found = mixing(&x, D, layers, |k, x| linearised(&blocks[k], x, None, 1.0))?;
        out.rows.extend(
            found
                .iter()
                .enumerate()
                .map(|(k, v)| vec![block_kind as f64, (k / n) as f64, (k % n) as f64, *v]),
        );
    }
    Ok(vec![("mixing".into(), out)])
}

/// One panel for each block.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "mixing-matrices",
    title: "Mixing matrices: which token moves which through layers",
    study: Some(&PART),
    draw: |inputs| {
        let all = inputs.table("mixing")?;
        let mut panels = Vec::new();
        for block in BLOCKS {
            let found = all.only("block", block).column("value");
            let n = (found.len() as f64).sqrt().round() as usize;
            let (edges, end) =
                ((0..=n).map(|k| k as f64 + 0.5).collect::<Vec<f64>>(), n as f64 + 0.5);
            // Exact zeros lie below the scale.
            let values = found
                .chunks(n)
                .map(|row| row.iter().map(|v| v.max(1e-6).log10()).collect())
                .collect();
            let mut panel = Panel::new(
                block,
                Axis::integer("moved token j", 0.5, end),
                Axis::integer("token i", 0.5, end),
            );
            panel.marks.push(Mark::Heat {
                x: edges.clone(),
                y: edges,
                values,
                shade: Axis::linear(
                    "log\u{2081}\u{2080} |\u{2202}x\u{1d62} / \u{2202}x\u{2c7c}|",
                    -4.0,
                    1.5,
                ),
            });
            panels.push(panel);
        }
        let caption = "Frobenius norms of the d x d blocks of the derivative of the tokens after \
            all layers by the tokens before them, as powers of ten: pre-norm blocks with random \
            weights, the same in all panels. Feed-forward layers: a diagonal. Causal: a lower \
            triangle, exactly, whatever the positions.";
        Ok(Picture { panels, columns: 3, aspect: 1.0, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};
