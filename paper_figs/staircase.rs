//! The staircase of the energy (arXiv:2410.06833, figure of section 6).

use super::{PaperFigure, distinct, only, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};

/// Six beta, n = 5; dotted, the predicted levels.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "staircase",
    title: "The energy climbs a staircase: five tokens, six beta",
    experiments: &[],
    full: &[],
    cells: None,
    study: Some(&crate::study::staircase::PART),
    parameters: &[],
    hidden: false,
    quick: true,
    draw: |inputs| {
        let table = inputs.table("ascent")?;
        let longest = table.column("length").into_iter().fold(0.0, f64::max);
        let mut length =
            Panel::new("along the path", Axis::linear("arc length / log \u{3b2}", 0.0, 1.02 * longest), Axis::linear("energy", 0.0, 1.05));
        let last = table.column("t").into_iter().fold(1.0, f64::max);
        let mut time = Panel::new("in time (U2)", Axis::log("t", 1e-1, last.min(1e110)), Axis::linear("energy", 0.0, 1.05));
        for level in [0.2, 0.28, 0.44, 0.52] {
            length.line(vec![(0.0, level), (1.02 * longest, level)], 7, Dash::Dotted, "");
            time.line(vec![(1e-1, level), (last.min(1e110), level)], 7, Dash::Dotted, "");
        }
        for (k, beta) in distinct(table, "beta").into_iter().enumerate() {
            let rows = only(table, "beta", beta);
            let dash = Dash::of(k);
            length.line(series(&rows, "length", "energy"), k, dash, format!("\u{3b2} = {beta}"));
            time.line(series(&rows, "t", "energy"), k, dash, "");
        }
        length.legend = Some(Corner::BottomRight);
        let caption = "Energy (1/n^2) sum exp(beta (cos - 1)) of five well-prepared tokens on the circle along gradient ascent, against arc length over log beta (left) and time (right). \
                       Dotted: predicted levels sum of squared cluster shares, 0.2, 0.28, 0.44, 0.52: after three have joined, the nearest pair is the last two.";
        Ok(Picture { panels: vec![length, time], columns: 2, aspect: 0.9, caption: caption.into() })
    },
};
