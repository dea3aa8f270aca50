//! Mixing matrices of blocks with random weights.

use super::PaperFigure;
use crate::draw::{Axis, Mark, Panel, Picture};
use crate::study::mixing_matrices::{BLOCKS, PART as STUDY};

/// One panel for each block.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "mixing-matrices",
    title: "Mixing matrices: which token moves which through layers",
    study: Some(&STUDY),
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
