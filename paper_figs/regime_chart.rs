//! The regime chart: for which (d, beta) convergence to one cluster is known (arXiv:2312.10794,
//! figure 2).

use super::{FigureReference, PaperFigure, PublishedFigure};
use crate::draw::{Axis, Corner, Panel, Picture};
use crate::study::Parameter;
use crate::theory::threshold::{paper_circle, paper_proof, sharp};

/// Curves over d at n = 32.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "regime-chart",
    title: "Where one cluster is known to form, n = 32",
    redraws: &[PublishedFigure {
        paper: "2312.10794",
        place: FigureReference::Figure(2),
        shows: "chart of (d, beta) where one cluster is proved",
        differs: "the sharp threshold of the chain argument and the later theorems are added",
    }],
    parameters: &[Parameter::count("n", &[32.0], (3.0, 1e6), "tokens")],
    quick: true,
    draw: |inputs| {
        let n = inputs.values.count("n")?;
        let (low, high) = (0.3 / n as f64, 1e3 * (n * n) as f64);
        let mut panel = Panel::new(
            format!("The first of four arguments that proves one cluster, n = {n}"),
            Axis::integer("d", 1.5, 8.5),
            Axis::log("\u{3b2}", low, high),
        );
        // Bands lie above each other: each is filled down to the bottom, and the next is drawn over
        // it.
        let mut band = |dimensions: std::ops::RangeInclusive<usize>,
                        top: &dyn Fn(usize) -> f64,
                        colour,
                        label: &str| {
            let values: Vec<f64> = dimensions.clone().map(top).collect();
            let edges =
                dimensions.clone().chain([dimensions.end() + 1]).map(|d| d as f64 - 0.5).collect();
            panel.steps((edges, values), colour, true, label);
        };
        band(2..=8, &|_| high, 1, "Theorem 5.1, chain argument");
        // Three tokens have no threshold above 0.
        let drawn = (2..=8).all(|d| sharp(n, d) > low);
        if drawn {
            band(3..=8, &|d| sharp(n, d), 2, "Theorem 6.1, holds for d \u{2265} 3");
            band(2..=2, &|d| sharp(n, d), 4, "2507.22857, holds for d = 2");
        }
        band(2..=8, &|_| 1.0 / n as f64, 0, "Theorem 4.3, \u{3b2} < 1/n");
        let written = (2..=8).map(|d| (d as f64, paper_proof(n, d))).collect();
        panel.points(written, 6, 2.0, "written proof of Theorem 5.1: above");
        panel.points(vec![(2.0, paper_circle(n))], 3, 2.5, "n\u{b2}/\u{3c0}\u{b2} at d = 2");
        panel.legend = Some(Corner::TopRight);
        let middle = if drawn {
            "The other two, Theorem 6.1 for d >= 3 and arXiv:2507.22857 for d = 2, hold for all \
            beta >= 0, so nothing of this chart is open; they are drawn where the first two are \
            silent. The lower edge of the upper band is the sharp threshold of the chain \
            argument, beta = (d-1) cos(pi/(n-1)) / sin^2(pi/(n-1)) of order n^2."
        } else {
            "The sharp threshold (d-1) cos(pi/(n-1)) / sin^2(pi/(n-1)) is 0 here and not drawn: \
            the chain argument alone decides all beta > 0."
        };
        let caption = format!(
            "Which theorem of arXiv:2312.10794 proves that {n} tokens in dimension d converge to \
            one point from almost every start, by the first of four arguments that applies: below, Theorem \
            4.3 (beta < 1/n); above, Theorem 5.1. {middle} Markers: from where on the written \
            proof of Theorem 5.1 works, and n^2/pi^2, which the paper states for the circle."
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.6, caption })
    },
    ..PaperFigure::EMPTY
};
