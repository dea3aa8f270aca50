//! Rotary positions on a ring, and overlaps of sinusoidal positions.

use super::{Part, Study, Tables, Values, table};
use crate::error::Result;
use crate::theory::rotary::{largest_growth_rate, rates};
use crate::transformer::positions::overlap;

/// Tables: gap (p, beta, gap of consensus), twisted (q, beta, leading rate at p = 1), overlap (k,
/// d64, d512).
pub static ENTRY: Study = Study {
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
