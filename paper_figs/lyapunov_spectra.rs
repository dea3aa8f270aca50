//! Lyapunov spectra of recurrent and residual networks, compared with attention.

use super::{PaperFigure, distinct, only, series};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};

/// Exponents by index; one panel for each size of the weights.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "lyapunov-spectra",
    title: "Lyapunov spectra: residual and recurrent networks, attention",
    study: Some(&crate::study::flow_maps::PART),
    draw: |inputs| {
        let spectra = inputs.table("spectra")?;
        let count = spectra.column("index").into_iter().fold(1.0, f64::max);
        let (mut low, mut high) = (-1.0, 0.5);
        for e in spectra.column("exponent").into_iter().filter(|e| *e > -8.0) {
            (low, high) = (e.min(low), e.max(high));
        }
        let mut panels = Vec::new();
        for gain in distinct(spectra, "gain") {
            let (x, y) = (
                Axis::integer("index", 0.7, count + 0.3),
                Axis::linear("exponent", low - 0.2, high + 0.2),
            );
            let mut panel = Panel::new(format!("gain {gain}"), x, y);
            for (k, name) in MAPS.iter().enumerate() {
                let points =
                    series(&only(&spectra.only("map", name), "gain", gain), "index", "exponent")
                        .into_iter();
                let points =
                    points.map(|(k, e)| (k, if e > -8.0 { e } else { f64::NAN })).collect();
                panel.line(points, k, [Dash::Solid, Dash::Dashed, Dash::Dotted][k % 3], *name);
            }
            let seen = |m: &Mark| matches!(m, Mark::Line { points, .. } if points.iter().filter(|p| p.1.is_finite()).count() > 1);
            if !panel.marks.iter().any(seen) {
                panel.marks.push(Mark::Middle("all exponents below \u{2212}8".into()));
            }
            panel.legend = Some(Corner::BottomLeft);
            panels.push(panel);
        }
        let caption = "Exponents by QR: of the state of a cell without inputs per step (rnn, \
            gru-v1, lstm), of all rows per unit of depth for the others (all L layers of a \
            residual network, four layers of attention with the step 1/4). Normal weights, entries \
            of variance gain^2/d; independent layers for resnet-root, one matrix for all layers of \
            attention. In the steady state the two gated cells have the same Jacobian, 1/2 + U/4. \
            Exponents below -8 are left out.";
        Ok(Picture { columns: panels.len().min(2), panels, aspect: 1.0, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};

/// The maps that are drawn.
const MAPS: [&str; 6] = ["rnn", "gru-v1", "lstm", "resnet", "resnet-root", "attention"];
