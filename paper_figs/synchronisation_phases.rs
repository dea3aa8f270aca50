//! Which interactions gather tokens on the circle: powers from random starts, and regular polygons
//! under steep sigmoids.

use super::{PaperFigure, distinct, span};
use crate::draw::{Axis, Mark, Panel, Picture};
use crate::study::interaction_phases::PHASES;

/// Left: powers. Right: sigmoids.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "synchronisation-phases",
    title: "Which interactions gather tokens on the circle: powers s^p and steep sigmoids",
    study: Some(&PHASES),
    draw: |inputs| {
        let (phases, polygons) = (inputs.table("phases")?, inputs.table("polygons")?);
        let powers = panel(
            phases,
            ["p", "n", "line"],
            "\u{3c6}(s) = s^p",
            Axis::linear("share of starts that end on one line", 0.0, 1.0),
            |share| share,
        );
        let fastest = -span(polygons.column("rate"), (-0.1, 0.0)).0.min(-1e-3);
        let sigmoids = panel(
            polygons,
            ["c", "m", "rate"],
            "\u{3c6}(s) = 1/(1 + exp(\u{2212}k(s \u{2212} c)))",
            Axis::linear("rate at which m clusters return to a polygon", 0.0, fastest),
            |rate| (-rate).max(0.0),
        );
        let odd = phases.rows.iter().filter(|r| (r[0] as i64) % 2 == 1).map(|r| r[3]);
        let caption = format!(
            "USA with the interaction phi on the circle. Left: the share of {} random starts of n \
            equal tokens that end at one point or at two opposite points. Under odd p nearly all \
            do (at most {:.0} % of a cell had not come to rest); under even p three clusters at \
            obtuse angles stay, and two tokens can stop at a right angle, where the force \
            vanishes. Right, k = {}: the slowest rate at which m equal clusters return to a \
            regular m-gon, over phi(1); 0 if they leave it. The interaction increases, so three or \
            four clusters never stay; five or more can.",
            inputs.values.count("starts")?,
            100.0 * span(odd, (0.0, 0.0)).1,
            inputs.values.one("k")?
        );
        Ok(Picture { panels: vec![powers, sigmoids], columns: 2, aspect: 0.9, caption })
    },
    ..PaperFigure::EMPTY
};

/// A raster of a table with the columns across, up and value. Its rows are ordered by the first
/// column, then by the second one.
fn panel(
    table: &crate::flow::Table,
    [across, up, value]: [&str; 3],
    title: &str,
    shade: Axis,
    shown: fn(f64) -> f64,
) -> Panel {
    let (columns, rows) = (distinct(table, across), distinct(table, up));
    let found = table.column(value);
    let values = (0..rows.len())
        .map(|r| (0..columns.len()).map(|c| shown(found[c * rows.len() + r])).collect())
        .collect();
    let (x, y) = (edges(&columns), edges(&rows));
    let mut panel = Panel::new(
        title,
        Axis::linear(across, x[0], x[columns.len()]),
        Axis::linear(up, y[0], y[rows.len()]),
    );
    panel.marks.push(Mark::Heat { x, y, values, shade });
    panel
}

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
