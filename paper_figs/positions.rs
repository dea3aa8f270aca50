//! The effect of rotary positions on consensus, and overlaps of sinusoidal positions.

use super::{PaperFigure, distinct, only, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::study::{Part, Study, Tables, Values, table};
use crate::theory::rotary::{largest_growth_rate, rates};
use crate::transformer::positions::overlap;

/// Rotary positions on a ring, and overlaps of sinusoidal positions.
///
/// Tables: gap (p, beta, gap of consensus), twisted (q, beta, leading rate at p = 1), overlap (k,
/// d64, d512).
pub static STUDY: Study = Study {
    name: "positions",
    title: "Rotary positions on a ring of 12 tokens: gap of consensus, stability of twisted \
        states; overlaps of sinusoidal positions",
    citation: "rotary: arXiv:2104.09864; sinusoidal: Vaswani et al. 2017; rates derived",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part { parameters: &[], run };

/// Number of tokens on the ring.
const N: usize = 12;

fn run(_: &Values) -> Result<Tables> {
    let (mut gap, mut twisted, mut overlaps) =
        (table(&["p", "beta", "gap"]), table(&["q", "beta", "rate"]), table(&["k", "d64", "d512"]));
    for k in 0..=60 {
        let beta = 0.05 * f64::from(k);
        gap.rows.extend(
            (0..=6).map(|p| vec![p as f64, beta, -largest_growth_rate(&rates(N, p, 0, beta))]),
        );
        twisted.rows.extend(
            (-3..=3).map(|q| vec![q as f64, beta, largest_growth_rate(&rates(N, 1, q, beta))]),
        );
    }
    overlaps.rows.extend((0..=120).map(|k| {
        let k = f64::from(k);
        vec![k, overlap(k, 64) / 32.0, overlap(k, 512) / 256.0]
    }));
    Ok(vec![("gap".into(), gap), ("twisted".into(), twisted), ("overlap".into(), overlaps)])
}

/// Left: the spectral gap of consensus. Middle: growth rates of twisted states. Right: inner
/// products of sinusoidal positions.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "positions",
    title: "Positions: consensus and twisted states under rotary positions, overlaps of sinusoidal \
        positions",
    study: Some(&PART),
    draw: |inputs| {
        let (gap, twisted, overlap) =
            (inputs.table("gap")?, inputs.table("twisted")?, inputs.table("overlap")?);
        let top = gap.column("gap").into_iter().fold(0.0, f64::max);
        let mut consensus = Panel::new(
            "gap of consensus",
            Axis::linear("\u{3b2}", 0.0, 3.0),
            Axis::linear("gap", 0.0, 1.05 * top),
        );
        for (k, p) in
            distinct(gap, "p").into_iter().enumerate().filter(|(k, _)| [0, 1, 2, 6].contains(k))
        {
            consensus.line(
                series(&only(gap, "p", p), "beta", "gap"),
                k.min(3),
                Dash::for_series(k.min(3)),
                format!("w = 2\u{3c0} {p}/12"),
            );
        }
        consensus.legend = Some(Corner::TopLeft);
        let mut states = Panel::new(
            "twisted states, w = 2\u{3c0}/12",
            Axis::linear("\u{3b2}", 0.0, 3.0),
            Axis::linear("leading rate", -3.0, 3.0),
        );
        for (k, q) in [-2.0, -1.0, 0.0, 1.0].into_iter().enumerate() {
            states.line(
                series(&only(twisted, "q", q), "beta", "rate"),
                k,
                Dash::for_series(k),
                format!("q = {q}"),
            );
        }
        states.line(vec![(0.0, 0.0), (3.0, 0.0)], 7, Dash::Dotted, "");
        states.legend = Some(Corner::TopLeft);
        let mut sines = Panel::new(
            "sinusoidal positions",
            Axis::integer("k", 0.0, 120.0),
            Axis::linear("2 \u{27e8}PE(p), PE(p+k)\u{27e9} / d", -0.2, 1.05),
        );
        sines.line(series(overlap, "k", "d64"), 0, Dash::Solid, "d = 64");
        sines.line(series(overlap, "k", "d512"), 1, Dash::Dashed, "d = 512");
        sines.legend = Some(Corner::TopRight);
        let caption = "USA in d = 2 on a ring of 12 tokens with scores \u{3b2} cos(\u{3b8}_i \
            \u{2212} \u{3b8}_j + w(i \u{2212} j)). Left: the gap of consensus, which is stable for \
            every w. Middle: leading rates of twisted states \u{3b8}_i = 2\u{3c0}qi/12, stable \
            below 0. Right: inner products of sinusoidal positions, which first rise at a distance \
            of 5 (d = 64) and 43 (d = 512).";
        Ok(Picture {
            panels: vec![consensus, states, sines],
            columns: 3,
            aspect: 0.8,
            caption: caption.into(),
        })
    },
    ..PaperFigure::EMPTY
};
