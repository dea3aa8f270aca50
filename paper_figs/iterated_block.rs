//! One transformer block, applied repeatedly as in ALBERT.

use super::{FigureReference, PaperFigure, PublishedFigure, distinct, only, series};
use crate::attention::pattern::FullAttention;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::num::cloud::{COSINE_BINS, effective_rank};
use crate::num::stream::Stream;
use crate::num::sum::dot;
use crate::study::{Parameter, Part, Study, Tables, Values, table};
use crate::transformer::observe::Cloud;
use crate::transformer::random::{BlockSizes, random_block};
use crate::transformer::{Centring, Norm, NormPlacement};

/// One block iterated through all layers, as in ALBERT: a flow.
///
/// Tables: histogram (layer, cosine, raw, bare), course (layer, mean, bare, ratio, rank).
pub static STUDY: Study = Study {
    name: "iterated-block",
    title: "One post-norm block with random weights, iterated: cosines, residual ratio, rank",
    citation: "arXiv:2312.10794, Figures of ALBERT (one shared block); Lan et al. 2020",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count("layers", &[48.0], (4.0, 400.0), "layers"),
        Parameter::count("n", &[64.0], (4.0, 256.0), "tokens"),
        Parameter::real("size", &[1.0], (0.1, 5.0), "size of the weights"),
    ],
    run,
};

/// Dimension of the tokens.
const D: usize = 32;

fn run(given: &Values) -> Result<Tables> {
    let (layers, n, size) = (given.count("layers")?, given.count("n")?, given.one("size")?);
    let mut stream = Stream::new(5, &["iterated-block"]);
    let sizes = BlockSizes { d: D, heads: 4, hidden: 4 * D, size, place: NormPlacement::Post };
    let mut block = random_block(&mut stream, &sizes, std::sync::Arc::new(FullAttention))?;
    // A layer norm with gain and shift, as in trained models.
    let (mut gain, mut shift, mut x) = (vec![0.0; D], vec![0.0; D], vec![0.0; n * D]);
    [&mut gain, &mut shift, &mut x].into_iter().for_each(|v| stream.normals(v));
    gain.iter_mut().for_each(|g| *g = 1.0 + 0.3 * *g);
    shift.iter_mut().for_each(|s| *s *= 0.3);
    let norm = Norm::new("norm", Centring::Mean, 1e-12, gain, shift)?;
    if let Some(last) = block.parts.last_mut() {
        last.after = Some(norm.clone());
    }
    let mut states = vec![norm.apply(&x)];
    for layer in 0..=layers {
        states.push(block.step(&states[layer], None, 1.0)?);
    }
    let states: Vec<&[f64]> = states.iter().map(Vec::as_slice).collect();
    Ok(tables(D, &states, Some(&norm), 0))
}

/// The tables of the states after each layer; `first` is the number of the first state. Cosines are
/// computed from the states as they are (`raw`) and, if the states come out of a layer norm,
/// without its gain and shift (`bare`). The last state only serves to measure how much the layer
/// before it moves.
pub fn tables(d: usize, states: &[&[f64]], norm: Option<&Norm>, first: usize) -> Tables {
    let (mut histogram, mut course) = (
        table(&["layer", "cosine", "raw", "bare"]),
        table(&["layer", "mean", "bare", "ratio", "rank"]),
    );
    let last = states.len().saturating_sub(2);
    for (k, (x, next)) in states.iter().zip(&states[1.min(states.len())..]).enumerate() {
        let raw = Cloud::new(x, d);
        let bare =
            norm.map_or_else(|| Cloud::new(x, d), |norm| Cloud::new(&norm.without_affine(x), d));
        let (layer, n) = ((first + k) as f64, x.len() / d);
        let moved: f64 = next.iter().zip(*x).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        course.rows.push(vec![
            layer,
            raw.mean(),
            bare.mean(),
            moved / dot(x, x).sqrt(),
            effective_rank(x, d),
        ]);
        if [0, last / 4, last].contains(&k) {
            let pairs = (n * n.saturating_sub(1) / 2).max(1) as f64;
            for (b, (raw, bare)) in raw.histogram().into_iter().zip(bare.histogram()).enumerate() {
                let cosine = -1.0 + 2.0 * (b as f64 + 0.5) / COSINE_BINS as f64;
                histogram.rows.push(vec![layer, cosine, raw as f64 / pairs, bare as f64 / pairs]);
            }
        }
    }
    vec![("histogram".into(), histogram), ("course".into(), course)]
}

/// Histograms of cosines; their mean, the relative change by a layer, and the effective rank over
/// the layers.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "iterated-block",
    title: "One shared block iterated: cosines as they are and without the affine norm",
    redraws: &[PublishedFigure {
        paper: "2312.10794",
        place: FigureReference::Figure(1),
        shows: "the same histograms with one block iterated 48 times",
        differs: "one block with random weights in place of the trained one",
    }],
    study: Some(&PART),
    draw: |inputs| {
        let (histogram, course) = (inputs.table("histogram")?, inputs.table("course")?);
        let mut panels = Vec::new();
        for (column, name) in [("raw", "cosines as they are"), ("bare", "without gain and shift")] {
            let top = histogram.column(column).into_iter().fold(0.0, f64::max);
            let mut panel = Panel::new(
                name,
                Axis::linear("cosine", -1.0, 1.0),
                Axis::linear("share of pairs", 0.0, 1.05 * top),
            );
            // Layers with equal histograms share a line.
            let mut shapes: Vec<(String, Vec<f64>)> = Vec::new();
            for layer in distinct(histogram, "layer") {
                let values = only(histogram, "layer", layer).column(column);
                match shapes.iter_mut().find(|(_, seen)| *seen == values) {
                    Some((label, _)) => label.push_str(&format!(", {layer}")),
                    None => shapes.push((format!("layer {layer}"), values)),
                }
            }
            for (k, (label, values)) in shapes.into_iter().enumerate() {
                let edges = (0..=values.len())
                    .map(|c| -1.0 + 2.0 * c as f64 / values.len() as f64)
                    .collect();
                panel.steps((edges, values), k, false, label);
            }
            panel.legend = Some(Corner::TopLeft);
            panels.push(panel);
        }
        let last = course.column("layer").last().copied().unwrap_or(1.0);
        let mut mean = Panel::new(
            "mean cosine, residual ratio",
            Axis::integer("layer", 0.0, last),
            Axis::linear("", -0.1, 1.1),
        );
        mean.line(series(course, "layer", "mean"), 0, Dash::Solid, "mean cosine");
        mean.line(series(course, "layer", "bare"), 1, Dash::Dashed, "without gain and shift");
        mean.line(
            series(course, "layer", "ratio"),
            3,
            Dash::Dotted,
            "|\u{3a6}(x) \u{2212} x| / |x|",
        );
        mean.legend = Some(Corner::BottomRight);
        let ranks = course.column("rank").into_iter().fold(1.0, f64::max);
        let mut rank = Panel::new(
            "rank",
            Axis::integer("layer", 0.0, last),
            Axis::linear("exp H of squared singular values", 0.0, 1.1 * ranks),
        );
        rank.line(series(course, "layer", "rank"), 2, Dash::Solid, "");
        panels.extend([mean, rank]);
        let (n, size) = (inputs.values.count("n")?, inputs.values.one("size")?);
        let block = match &inputs.source_command {
            Some(command) => format!("The block of `{command}`"),
            None => format!(
                "One post-norm block (4 heads, feed-forward layer, random weights of size {size}, \
                {n} tokens, a norm with gain and shift)"
            ),
        };
        let caption = format!(
            "{block} applied repeatedly, as in ALBERT: cosines of pairs of tokens as they are and \
            after removing gain and shift of the norm, which differ; the relative change by a \
            layer; the effective rank of the tokens."
        );
        Ok(Picture { panels, columns: 2, aspect: 0.75, caption })
    },
    ..PaperFigure::EMPTY
};
