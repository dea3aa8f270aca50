//! Modes of kernel density estimates: certified counts against Kac-Rice (arXiv:2412.09080).

use super::{PaperFigure, groups, series, span};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::flow::Table;

/// Modes of density estimates: certified counts and expectations.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "mode-count",
    title: "Modes of density estimates: certified counts and expectations",
    study: Some(&crate::study::mode_count::PART),
    draw: |inputs| {
        let line = inputs.table("line")?;
        let circle = inputs.table("circle")?;
        let betas = span(line.column("beta"), (2.0, 2.0));
        let beta = || Axis::log("\u{3b2}", 0.65 * betas.0, 1.6 * betas.1);
        // The mean is NaN if no draw is certified.
        let modes = |table: &Table| {
            let (low, high) =
                span(table.column("mean").into_iter().chain(table.column("expected")), (1.0, 1.0));
            Axis::log("modes", 0.8 * low.min(1.0), 2.5 * high)
        };
        let mut counts = Panel::new("line, Gaussian samples", beta(), modes(line));
        for (k, (n, rows)) in groups(line, "n").into_iter().enumerate() {
            counts.line(series(&rows, "beta", "expected"), k, Dash::for_series(k), "");
            counts.points(series(&rows, "beta", "mean"), k, 1.8, format!("n = {n}"));
        }
        counts.legend = Some(Corner::TopLeft);
        let mut round =
            Panel::new("circle, uniform samples", Axis::log("\u{3b2}", 1.5, 1500.0), modes(circle));
        round.line(
            series(circle, "beta", "expected"),
            2,
            Dash::Solid,
            "\u{221a}(1 + (3\u{3b2}/2) I\u{2082}/I\u{2081})",
        );
        round.points(series(circle, "beta", "mean"), 2, 1.8, "certified counts");
        round.legend = Some(Corner::TopLeft);
        let places = inputs.table("places")?.column("location");
        let edges: Vec<f64> = (0..=48).map(|k| -4.8 + 0.2 * f64::from(k)).collect();
        let share =
            |a: f64, b: f64| places.iter().filter(|p| **p >= a && **p < b).count() as f64 / 10.0;
        let values: Vec<f64> = edges.windows(2).map(|e| share(e[0], e[1])).collect();
        let top = values.iter().copied().fold(1.0, f64::max) * 1.15;
        let mut belt = Panel::new(
            "where they sit, n = \u{3b2} = 10\u{2075}",
            Axis::linear("t", -4.8, 4.8),
            Axis::linear("modes per 0.2", 0.0, top),
        );
        belt.steps((edges, values), 0, true, "");
        let edge = (2.0 * 1e5f64.ln() - 1e5f64.ln()).sqrt();
        for side in [-edge, edge] {
            belt.line(vec![(side, 0.0), (side, top)], 1, Dash::Dashed, "");
        }
        let mut constant = Panel::new(
            "over \u{221a}(\u{3b2} log \u{3b2})",
            beta(),
            Axis::linear(
                "effective constant",
                0.0,
                1.3 * span(
                    line.column("constant").into_iter().chain(line.column("leading_constant")),
                    (0.0, 1.0),
                )
                .1,
            ),
        );
        for (k, (n, rows)) in groups(line, "n").into_iter().enumerate() {
            constant.line(series(&rows, "beta", "leading_constant"), k, Dash::for_series(k), "");
            constant.points(series(&rows, "beta", "constant"), k, 1.8, format!("n = {n}"));
        }
        constant.legend = Some(Corner::TopRight);
        let error = [line, circle]
            .into_iter()
            .flat_map(|t| t.column("error").into_iter().zip(t.column("mean")).map(|(e, m)| e / m));
        let (least, most) = span(line.column("constant"), (f64::NAN, f64::NAN));
        let proved = span(line.column("certified"), (1.0, 1.0)).0;
        let unproved = if proved < 1.0 {
            format!(
                "; at one point only {:.0} % of the draws have a proof and are counted",
                100.0 * proved
            )
        } else {
            String::new()
        };
        let caption = format!(
            "Certified numbers of modes ({} draws per point; standard errors up to {:.1} % of the \
            mean{unproved}) against Kac-Rice with the Gaussian proxy on its interval T* (lines, \
            left: a lower estimate, the tails come on top), on the circle against the exact limit, \
            and positions of the modes with the outer edge of the belt of arXiv:2412.09080. Last: \
            the same counts over sqrt(beta log beta), with the leading order (lines): effective \
            constants of {least:.2} to {most:.2} in these counts.",
            inputs.values.count("draws")?,
            100.0 * span(error, (0.0, 0.0)).1
        );
        Ok(Picture {
            panels: vec![counts, round, belt, constant],
            columns: 2,
            aspect: 0.8,
            caption,
        })
    },
    ..PaperFigure::EMPTY
};
