//! The regime chart: for which (d, beta) convergence to one cluster is known (arXiv:2312.10794, figure 2).

use super::{PaperFigure, PrintedFigure, PrintedPlace};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::study::Parameter;
use crate::theory::threshold::{paper_circle, paper_proof, sharp};

/// Curves over d at n = 32.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "regime-chart",
    title: "Where one cluster is known to form, n = 32",
    redraws: &[PrintedFigure {
        paper: "2312.10794",
        place: PrintedPlace::Figure(2),
        shows: "chart of (d, beta) where one cluster is proved",
        differs: "the sharp threshold of the chain argument and the later theorems are added",
    }],
    experiments: &[],
    full: &[],
    cells: None,
    study: None,
    parameters: &[Parameter::count("n", &[32.0], (3.0, 1e6), "tokens")],
    hidden: false,
    quick: true,
    draw: |inputs| {
        let n = inputs.values.count("n")?;
        let mut panel = Panel::new(
            format!("One cluster for almost every start, n = {n}"),
            Axis::whole("d", 1.5, 8.5),
            Axis::log("\u{3b2}", 0.3 / n as f64, 1e4 * (n * n) as f64),
        );
        let over = |f: &dyn Fn(usize) -> f64| (2..=8).map(|d| (d as f64, f(d))).collect::<Vec<_>>();
        panel.line(over(&|_| 1.0 / n as f64), 0, Dash::Solid, "\u{3b2} = 1/n (Theorem 4.3)");
        panel.line(
            vec![(2.0, 0.3 / n as f64), (2.0, 1e4 * (n * n) as f64)],
            7,
            Dash::Dotted,
            "circle: all \u{3b2} \u{2265} 0 (2507.22857)",
        );
        // Three tokens have no threshold above 0.
        let drawn = over(&|d| sharp(n, d)).iter().all(|p| p.1 > panel.y.low);
        if drawn {
            panel.line(over(&|d| sharp(n, d)), 1, Dash::Dashed, "sharp threshold, (n\u{2212}1)\u{3c4}* = \u{3c0}");
        }
        panel.line(over(&|d| paper_proof(n, d)), 2, Dash::Dotted, "written proof, (n\u{2212}1)\u{3c4}* = \u{3c0}/2");
        panel.marks.push(Mark::Points {
            points: vec![(2.0, paper_circle(n))],
            colour: 3,
            radius: 2.5,
            label: "n\u{b2}/\u{3c0}\u{b2} at d = 2".into(),
        });
        panel.marks.push(Mark::Text { at: (3.2, 12.0), text: "d \u{2265} 3: all \u{3b2} \u{2265} 0 (Theorem 6.1)".into() });
        panel.legend = Some(Corner::TopRight);
        let dashed = if drawn {
            "Dashed: the sharp threshold beta = (d-1) cos(pi/(n-1)) / sin^2(pi/(n-1)) of order n^2."
        } else {
            "The sharp threshold (d-1) cos(pi/(n-1)) / sin^2(pi/(n-1)) is 0 here and not drawn."
        };
        let caption = format!(
            "Regimes of convergence to a single cluster for n = {n} tokens in dimension d. Solid: beta = 1/n. {dashed} Dotted: the threshold of the written proof; the circle n^2/pi^2 at d = 2."
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.6, caption })
    },
};
