//! Phase diagrams of synchronisation on the circle under two families of interactions.

use super::{PaperFigure, distinct, span};
use crate::draw::{Axis, Mark, Panel, Picture};
use crate::study::interaction_phases::{FAMILIES, PHASES};

/// Left: powers. Right: sigmoids.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "synchronisation-phases",
    title: "Which interactions gather tokens on the circle: powers s^p and steep sigmoids",
    study: Some(&PHASES),
    draw: |inputs| {
        let table = inputs.table("phases")?;
        let titles = [
            "\u{3c6}(s) = s^p: one line",
            "\u{3c6}(s) = 1/(1 + exp(\u{2212}k(s + 1/4))): one point",
        ];
        let shades = ["share of starts that end on one line", "share that ends at one point"];
        let mut panels = Vec::new();
        for (k, family) in FAMILIES.into_iter().enumerate() {
            let rows = table.only("family", family);
            let (across, up) = (distinct(&rows, "parameter"), distinct(&rows, "n"));
            let column = if k == 0 { "line" } else { "point" };
            let shares = rows.column(column);
            // Rows of the table are ordered by the parameter, then by n.
            let values = (0..up.len())
                .map(|r| (0..across.len()).map(|c| shares[c * up.len() + r]).collect())
                .collect();
            let x = edges(&across);
            let y = edges(&up);
            let name = if k == 0 { "p" } else { "k" };
            let mut panel = Panel::new(
                titles[k],
                Axis::linear(name, x[0], x[across.len()]),
                Axis::linear("n", y[0], y[up.len()]),
            );
            panel.marks.push(Mark::Heat { x, y, values, shade: Axis::linear(shades[k], 0.0, 1.0) });
            panels.push(panel);
        }
        let unfinished = span(table.column("unfinished"), (0.0, 0.0)).1;
        let caption = format!(
            "USA with the interaction phi from n uniform tokens of equal masses on the circle, {} \
            starts for each cell. Left: the share of starts that end at one point or at two \
            opposite points. Under odd p all of them do; under even p three clusters at obtuse \
            angles stay. Right: the share that ends at one point; from five tokens on a regular \
            polygon of clusters can stay under a steep sigmoid. At most {:.0} % of the starts of a \
            cell had not come to rest.",
            inputs.values.count("starts")?,
            100.0 * unfinished
        );
        Ok(Picture { panels, columns: 2, aspect: 0.9, caption })
    },
    ..PaperFigure::EMPTY
};

/// Cell edges around sorted centres.
fn edges(centres: &[f64]) -> Vec<f64> {
    let n = centres.len();
    let half = |a: usize, b: usize| 0.5 * (centres[b] - centres[a]);
    let mut out: Vec<f64> = centres.windows(2).map(|w| 0.5 * (w[0] + w[1])).collect();
    let (first, last) = if n > 1 { (half(0, 1), half(n - 2, n - 1)) } else { (0.5, 0.5) };
    out.insert(0, centres[0] - first);
    out.push(centres[n - 1] + last);
    out
}
