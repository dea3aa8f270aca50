//! Growth of the modes of the uniform measure (arXiv:2410.23228), with Sinkhorn attention.

use super::{FigureReference, PaperFigure, PublishedFigure, distinct, groups, only, series, span};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};

/// Growth rates of the modes, and the fastest one.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "growth-rates",
    title: "Growth rates of the modes, and the fastest one",
    redraws: &[PublishedFigure {
        paper: "2410.23228",
        place: FigureReference::Unnumbered("figures of growth rates (numbers not read)"),
        shows: "rates of the modes k = 0 to 10",
        differs: "the rates of the simulated equation: pi times the plotted ones",
    }],
    study: Some(&crate::study::measure_view::RATES),
    draw: |inputs| {
        let table = inputs.table("rates")?;
        let mut panels = Vec::new();
        for (beta, rows) in groups(table, "beta") {
            let last = span(rows.column("k"), (0.0, 1.0)).1;
            let top = ["sa", "usa", "sinkhorn"]
                .map(|c| span(rows.column(c), (0.0, 0.0)).1)
                .into_iter()
                .fold(0.0, f64::max);
            let mut panel = Panel::new(
                format!("\u{3b2} = {beta}"),
                Axis::integer("mode k", -0.5, last + 0.5),
                Axis::linear("rate", 0.0, 1.1 * top),
            );
            for (k, (column, name)) in
                [("sa", "SA"), ("usa", "USA, time U2"), ("sinkhorn", "Sinkhorn")]
                    .into_iter()
                    .enumerate()
            {
                panel.line(series(&rows, "k", column), k, Dash::for_series(k), name);
                panel.points(series(&rows, "k", column), k, 1.6, "");
            }
            panel.legend = Some(Corner::TopRight);
            panels.push(panel);
        }
        let table = inputs.table("kmax")?;
        let mut panel = Panel::new(
            "fastest mode of SA",
            Axis::log("\u{3b2}", 0.5, 500.0),
            Axis::integer("k", 0.0, 34.0),
        );
        for (k, d) in distinct(table, "d").into_iter().enumerate() {
            panel.line(
                series(&only(table, "d", d), "beta", "k"),
                k,
                Dash::for_series(k),
                format!("d = {d}"),
            );
        }
        panel.line(
            (0..=60)
                .map(|j| 0.5 * 1000f64.powf(f64::from(j) / 60.0))
                .map(|b| (b, (2.0 * b).sqrt()))
                .collect(),
            7,
            Dash::Dotted,
            "\u{221a}(2\u{3b2})",
        );
        panel.legend = Some(Corner::TopLeft);
        panels.push(panel);
        let caption = "Linear growth rates about the uniform measure on the circle for SA, USA \
            (time scale U2) and Sinkhorn attention, and the fastest mode of SA against beta: \
            sqrt(2 beta) in low dimension, 1 until beta = 2d/3 in high.";
        Ok(Picture { panels, columns: 2, aspect: 0.75, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};
