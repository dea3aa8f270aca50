//! Mixing matrices of blocks with random weights: how much each token moves each other token
//! through the layers.

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::attention::pattern::{
    Alibi, Causal, CombinedPattern, FullAttention, Pairs, Pattern, Rotary,
};
use crate::error::Result;
use crate::num::lyapunov::mixing;
use crate::num::stream::Stream;
use crate::transformer::NormPlacement;
use crate::transformer::random::{BlockSizes, random_block};
use crate::transformer::tangent::linearised;
use std::sync::Arc;

/// Table: mixing, the entries (i, j) of the matrix of every block.
pub static ENTRY: Study = Study {
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
