//! Inner products by layer of a trained transformer, compared with SA started from its first layer.

use super::{FigureReference, PaperFigure, PublishedFigure};
use crate::draw::{Axis, Corner, Mark, Panel, Picture};
use crate::error::Error;
use crate::study::Parameter;

/// The inverse temperature of SA for the comparison with a model.
pub(super) const BETA: Parameter = Parameter::real(
    "beta",
    &[0.0],
    (0.0, 1000.0),
    "inverse temperature of SA; 0: the one whose velocity matches the model best",
);

/// One panel per layer.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "inner-products",
    title: "Inner products by layer of a trained transformer, and SA from its layer 0",
    redraws: &[
        PublishedFigure {
            paper: "2312.10794",
            place: FigureReference::Figure(1),
            shows: "cosines by layer of ALBERT XLarge v2, histograms",
            differs: "a sentence transformer (MiniLM) in place of ALBERT, or your hidden states",
        },
        PublishedFigure {
            paper: "2512.01868",
            place: FigureReference::Unnumbered("a figure (number not read)"),
            shows: "cosines of ALBERT at layers 0, 5, 30 and 48",
            differs: "a sentence transformer (MiniLM) in place of ALBERT, or your hidden states",
        },
    ],
    parameters: &[
        BETA,
        Parameter::count(
            "every",
            &[0.0],
            (0.0, 1000.0),
            "number of layers between panels; the last layer is always shown; 0: at most 12 panels",
        ),
    ],
    needs_hidden_states: true,
    quick: true,
    draw: |inputs| {
        let Some(hidden) = &inputs.hidden else {
            return Err(Error::parameter(
                "--tokens",
                "none",
                "a file of hidden states (layers x tokens x dimensions)",
            ));
        };
        let bins = hidden.model[0].len();
        let edges: Vec<f64> = (0..=bins).map(|b| -1.0 + 2.0 * b as f64 / bins as f64).collect();
        // The axis begins at the smallest inner product.
        let seen = |b: &usize| hidden.model.iter().chain(&hidden.sa).any(|h| h[*b] > 0.0);
        let low = (0..bins).find(seen).map_or(-1.0, |b| (10.0 * edges[b]).floor() / 10.0);
        let mut panels = Vec::new();
        let last = hidden.model.len() - 1;
        let every = match inputs.values.count("every")? {
            0 => (1..=last.max(1)).find(|e| last.div_ceil(*e) < 12).unwrap_or(1),
            given => given,
        };
        for (l, (model, sa)) in hidden
            .model
            .iter()
            .zip(&hidden.sa)
            .enumerate()
            .filter(|(l, _)| l % every == 0 || *l == last)
        {
            let top = model.iter().chain(sa).copied().fold(0.0, f64::max);
            let y = Axis::linear("share of pairs", 0.0, top * 1.1);
            let mut panel =
                Panel::new(format!("layer {l}"), Axis::linear("inner product", low, 1.0), y);
            let steps = |values: &[f64], colour, filled, label: &str| Mark::Steps {
                edges: edges.clone(),
                values: values.to_vec(),
                colour,
                filled,
                label: if l == 0 { label.into() } else { String::new() },
            };
            panel.marks.push(steps(model, 0, true, "model"));
            panel.marks.push(steps(sa, 1, false, "SA"));
            panel.legend = (l == 0).then_some(Corner::TopRight);
            panels.push(panel);
        }
        let caption = format!(
            "Histograms of the inner products of normalised hidden states (i < j) of a trained \
            transformer by layer (filled), and of SA started from layer 0 (outline) at {} beta = \
            {:.3}, {:.3} units of time per layer, cosine of the drifts {:.3}.{}",
            if inputs.values.one("beta")? > 0.0 {
                "a given inverse temperature, its time the one that best matches the model's own \
                drift of inner products:"
            } else {
                "the inverse temperature whose velocity best matches the model's own drift of \
                inner products from layer to layer:"
            },
            hidden.beta,
            hidden.time_per_layer,
            hidden.alignment,
            if panels.len() == hidden.model.len() {
                String::new()
            } else {
                format!(" {} of {} layers are shown.", panels.len(), hidden.model.len())
            }
        );
        // Many layers need low panels to fit on a page.
        let aspect = if panels.len() > 12 { 0.5 } else { 0.9 };
        Ok(Picture { panels, columns: 4, aspect, caption })
    },
    ..PaperFigure::EMPTY
};
