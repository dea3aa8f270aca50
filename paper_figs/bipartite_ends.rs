//! Final states of SA with a symmetric value matrix V: one cluster or two antipodal ones.

use super::{PaperFigure, series};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::study::bipartite_ends::{BETAS, RATIOS, STARTS, TOKENS};

/// Shares of the two final states over the eigenvalues of V, with the threshold at which two
/// antipodal clusters become stable.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "bipartite-ends",
    title: "V with a spectrum: one cluster or two antipodal ones, with the threshold of stability",
    study: Some(&crate::study::bipartite_ends::PART),
    draw: |inputs| {
        let (line, ends) = (inputs.table("threshold")?, inputs.table("ends")?);
        let share = |beta: f64, mu: f64, column: &str| {
            let at = |values: Vec<f64>, ratios: Vec<f64>| {
                values
                    .iter()
                    .zip(&ratios)
                    .position(|(b, m)| (b - beta).abs() + (m - mu).abs() < 1e-9)
            };
            at(ends.column("beta"), ends.column("mu"))
                .map_or(f64::NAN, |row| ends.column(column)[row])
        };
        let panel = |title: &str, column: &str, legend: Option<Corner>| {
            let mut panel = Panel::new(
                title,
                Axis::linear("\u{3b2}\u{3bb}", 0.0, 3.5),
                Axis::linear("\u{3bc}/\u{3bb}", -0.1, 1.05),
            );
            let values = RATIOS
                .iter()
                .map(|mu| BETAS.iter().map(|beta| share(*beta, *mu, column)).collect())
                .collect();
            panel.marks.push(Mark::Heat {
                x: edges(&BETAS, 0.0, 3.5),
                y: edges(&RATIOS, -0.1, 1.05),
                values,
                shade: Axis::linear("share of starts", 0.0, 1.0),
            });
            let label =
                if legend.is_some() { "\u{3bc} = \u{3bb} tanh(\u{3b2}\u{3bb})" } else { "" };
            panel.line(series(line, "beta", "mu"), 6, Dash::Solid, label);
            panel.legend = legend;
            panel
        };
        let caption = format!(
            "Shares of {STARTS} uniform starts of {TOKENS} tokens on the circle under SA with Q^T \
            K = V = diag(lambda, mu), lambda = 1, that end as one cluster (left) and as two \
            antipodal ones (right); each cell surrounds a tested pair of values. Below the line \
            two equal antipodal clusters along the first eigenvector are stable, above it they are \
            not."
        );
        Ok(Picture {
            // The legend is legible where the share is near 1.
            panels: vec![
                panel("one cluster", "one_cluster", None),
                panel("two antipodal clusters", "antipodal", Some(Corner::BottomRight)),
            ],
            columns: 2,
            aspect: 0.8,
            caption,
        })
    },
    ..PaperFigure::EMPTY
};

/// Edges of the cells around these values, from `first` to `last`.
fn edges(values: &[f64], first: f64, last: f64) -> Vec<f64> {
    let middle = values.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
    std::iter::once(first).chain(middle).chain([last]).collect()
}
