//! Negentropy of the hidden states of a trained transformer by layer, compared with SA started from
//! its first layer.

use super::{PaperFigure, inner_products::BETA};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::entropy::bootstrap::estimate_negentropy;
use crate::entropy::estimate::{kernel, nearest_neighbour};
use crate::error::{Error, Result};
use crate::sphere::Tokens;
use crate::study::Parameter;

/// Two estimators, for the model and for SA.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "layer-entropy",
    title: "Negentropy of hidden states by layer, and of SA from layer 0",
    parameters: &[
        BETA,
        Parameter::count(
            "neighbours",
            &[3.0],
            (1.0, 50.0),
            "number of the neighbour whose distance the first estimator uses",
        ),
        Parameter::real(
            "bandwidth",
            &[100.0],
            (0.1, 1e5),
            "concentration of the kernels of the second estimator",
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
        let last = hidden.model_tokens.len() as f64 - 1.0;
        let (mut panels, mut left_out) = (Vec::new(), Vec::new());
        let (neighbour, bandwidth) =
            (inputs.values.count("neighbours")?, inputs.values.one("bandwidth")?);
        let nearest = move |x: &Tokens| nearest_neighbour(x, neighbour);
        let smooth = move |x: &Tokens| kernel(x, bandwidth);
        for (title, estimate) in
            [("nearest neighbours", &nearest as &Estimate), ("kernels", &smooth)]
        {
            let mut panel = Panel::new(
                title,
                Axis::integer("layer", 0.0, last),
                Axis::linear("negentropy", 0.0, 1.0),
            );
            for (clouds, colour, label) in
                [(&hidden.model_tokens, 0, "model"), (&hidden.sa_tokens, 1, "SA")]
            {
                let points: Vec<(f64, f64)> = clouds
                    .iter()
                    .enumerate()
                    .map(|(l, x)| Ok((l as f64, estimate(x)?)))
                    .collect::<Result<_>>()?;
                let name = if colour == 0 { "model" } else { "SA" };
                let infinite = points.iter().filter(|p| !p.1.is_finite());
                left_out.extend(infinite.map(|p| format!("{name}, layer {}, {title}", p.0)));
                let points: Vec<_> = points.into_iter().filter(|p| p.1.is_finite()).collect();
                panel.line(
                    points.clone(),
                    colour,
                    if colour == 0 { Dash::Solid } else { Dash::Dashed },
                    "",
                );
                panel.points(points, colour, 2.2, label);
            }
            let drawn = panel.marks.iter().flat_map(|m| match m {
                Mark::Points { points, .. } => points.iter().map(|p| p.1).collect(),
                _ => Vec::new(),
            });
            let (low, high) =
                drawn.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            if low > high {
                return Err(Error::parameter(
                    "--tokens",
                    format!("no layer with a finite estimate by {title}"),
                    "layers whose tokens are all different",
                ));
            }
            (panel.y.low, panel.y.high) = (low - 0.08 * (high - low), high + 0.12 * (high - low));
            panel.legend = Some(Corner::TopLeft);
            panels.push(panel);
        }
        let x = &hidden.model_tokens[0];
        let biases = estimate_negentropy(x, neighbour, bandwidth)?.map(|e| e.bias);
        let caption = format!(
            "Negentropy relative to the uniform law of the sphere, {} tokens in d = {}, by layer: \
            nearest neighbours (number {neighbour}) and leave-one-out kernels of concentration \
            {bandwidth} (on average a lower bound). By a smoothed bootstrap their biases at layer \
            0 are about {:+.2} and {:+.2}: where they are large, only differences are meaningful. \
            Filled: a trained transformer; dashed: SA from its layer 0 at beta = {:.3}, {:.3} per \
            layer.",
            x.n(),
            x.d(),
            biases[0],
            biases[1],
            hidden.beta,
            hidden.time_per_layer
        );
        let caption = if left_out.is_empty() {
            caption
        } else {
            format!(
                "{caption} Not drawn, as tokens coincide and the estimate is infinite: {}.",
                left_out.join("; ")
            )
        };
        Ok(Picture { panels, columns: 2, aspect: 0.75, caption })
    },
    ..PaperFigure::EMPTY
};

type Estimate = dyn Fn(&Tokens) -> Result<f64>;
