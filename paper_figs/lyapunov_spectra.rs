//! Lyapunov spectra of recurrent and residual networks, compared with attention.

use super::{PaperFigure, distinct, only, series};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::error::Result;
use crate::lab::LabelledTable;
use crate::recurrent::observe::summarise;
use crate::recurrent::{MapSpec, map};
use crate::study::{Parameter, Part, Study, Tables, Values, table};

/// Maps to compare with attention: Lyapunov spectra, observables by layer, receptive fields.
///
/// Tables: observables, spectra, mixing.
pub static STUDY: Study = Study {
    name: "flow-maps",
    title: "Maps to compare with attention: cosines, ranks, Lyapunov spectra, receptive fields",
    citation: "arXiv:2206.06929, 1409.0473, 1406.1078, 2312.10794 (the maps); the observables are \
        common to all",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count("n", &[6.0], (1.0, 64.0), "rows"),
        Parameter::count("d", &[8.0], (2.0, 64.0), "dimension of a row"),
        Parameter::count("layers", &[24.0], (1.0, 1000.0), "layers"),
        Parameter::real(
            "gain",
            &[0.8, 1.5],
            (0.0, 100.0),
            "sizes of the weights, whose entries have variance gain^2/d; the first is used for \
            layers and mixing",
        ),
    ],
    run,
};

fn names() -> impl Iterator<Item = &'static str> {
    map::ALL.iter().map(|m| m.name)
}

fn run(given: &Values) -> Result<Tables> {
    let mut observables =
        table(&["map", "layer", "mean_cosine", "effective_rank", "residual", "change"])
            .with_labels("map", names());
    let mut spectra = table(&["map", "gain", "index", "exponent"]).with_labels("map", names());
    let mut mixing = table(&["map", "row", "column", "share"]).with_labels("map", names());
    let (n, d, layers) = (given.count("n")?, given.count("d")?, given.count("layers")?);
    for (g, gain) in given.list("gain")?.iter().enumerate() {
        for (m, named) in map::ALL.iter().enumerate() {
            let found = summarise(named, &MapSpec { n, d, layers, gain: *gain, seed: 1 }, d)?;
            let number = m as f64;
            spectra.rows.extend(
                found
                    .exponents
                    .iter()
                    .enumerate()
                    .map(|(k, e)| vec![number, *gain, 1.0 + k as f64, *e]),
            );
            if g == 0 {
                let rows = found.layers.iter().enumerate();
                observables.rows.extend(rows.map(|(k, l)| {
                    vec![number, k as f64, l.mean_cosine, l.effective_rank, l.residual, l.change]
                }));
                mixing.rows.extend(
                    found
                        .mixing
                        .iter()
                        .enumerate()
                        .map(|(k, v)| vec![number, (k / n) as f64, (k % n) as f64, *v]),
                );
            }
        }
    }
    Ok(vec![
        ("observables".into(), observables),
        ("spectra".into(), spectra),
        ("mixing".into(), mixing),
    ])
}

/// Exponents by index; one panel for each size of the weights.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "lyapunov-spectra",
    title: "Lyapunov spectra: residual and recurrent networks, attention",
    study: Some(&PART),
    draw: |inputs| {
        let spectra = inputs.table("spectra")?;
        let last = spectra.column("index").into_iter().fold(1.0, f64::max);
        let drawn = spectra.column("exponent").into_iter().filter(|e| *e > LEAST);
        // The axis shows -1 to 0.5 at least.
        let (low, high) = drawn.fold((-1.0, 0.5), |(low, high), e| (e.min(low), e.max(high)));
        let panel = |gain| {
            let x = Axis::integer("index", 0.7, last + 0.3);
            let y = Axis::linear("exponent", low - 0.2, high + 0.2);
            of_gain(spectra, gain, Panel::new(format!("gain {gain}"), x, y))
        };
        let panels: Vec<Panel> = distinct(spectra, "gain").into_iter().map(panel).collect();
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

/// Smaller exponents are left out: directions that vanish at once.
const LEAST: f64 = -8.0;

/// The exponents of all maps at one size of the weights.
fn of_gain(spectra: &LabelledTable, gain: f64, mut panel: Panel) -> Panel {
    let mut visible = false;
    for (k, name) in MAPS.iter().enumerate() {
        let rows = only(&spectra.only("map", name), "gain", gain);
        let shown = |(k, e): (f64, f64)| (k, if e > LEAST { e } else { f64::NAN });
        let points: Vec<(f64, f64)> =
            series(&rows, "index", "exponent").into_iter().map(shown).collect();
        // A line has two points.
        visible |= points.iter().filter(|p| p.1.is_finite()).count() > 1;
        panel.line(points, k, [Dash::Solid, Dash::Dashed, Dash::Dotted][k % 3], *name);
    }
    if !visible {
        panel.marks.push(Mark::Middle("all exponents below \u{2212}8".into()));
    }
    panel.legend = Some(Corner::BottomLeft);
    panel
}

/// The maps that are drawn.
const MAPS: [&str; 6] = ["rnn", "gru-v1", "lstm", "resnet", "resnet-root", "attention"];
