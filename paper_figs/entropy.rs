//! Negentropy over time: the linear rate.

use super::PaperFigure;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};

/// Negentropy over time, SA and USA, with the predicted slopes.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "entropy",
    title: "Negentropy over time, SA and USA, with the predicted slopes",
    experiments: &[],
    full: &[],
    cells: None,
    study: Some(&crate::study::measure_view::ENTROPY),
    parameters: &[],
    hidden: false,
    quick: false,
    draw: |inputs| {
        let (table, ends) = (inputs.table("entropy")?, inputs.table("entropy-ends")?);
        let mut panels = Vec::new();
        for (usa, title, unit) in [(0.0, "SA", "t"), (1.0, "USA", "t (U2)")] {
            let rows: Vec<(f64, f64)> = table.rows.iter().filter(|r| (r[0] - usa).abs() < 0.5).map(|r| (r[1], r[2])).collect();
            let end = rows.last().map_or(1.0, |p| p.0);
            let top = rows.iter().map(|p| p.1).fold(0.5, f64::max) * 1.1;
            let mut panel = Panel::new(title, Axis::linear(unit, 0.0, end), Axis::linear("negentropy", 0.0, top));
            // The predicted slope through the point where a quarter of the final negentropy is reached.
            let m = 3.0;
            let slope = if usa < 0.5 { 1.0 } else { 1.0 / m };
            if let Some(&(t, h)) = rows.iter().find(|p| p.1 > 0.4 * top) {
                let label = if usa < 0.5 { "slope d \u{2212} 1 = 1" } else { "slope \u{3a3} \u{3b1}\u{b2} = 1/3" };
                panel.line(vec![(t - h / slope * 0.7, 0.3 * h), (t + (top - h) / slope, top)], 1, Dash::Dashed, label);
            }
            panel.line(rows, 0, Dash::Solid, "computed");
            panel.legend = Some(Corner::TopLeft);
            panels.push(panel);
        }
        let gap = ends.rows.iter().map(|r| (r[1] - r[2]).abs()).fold(0.0, f64::max);
        let caption = format!(
            "Negentropy of a noisy uniform density on the circle at beta = {} under SA and USA (time scale U2): three clusters form, and the slope becomes d - 1 for SA whatever their number, and the sum of squared masses for USA \
                       (about 1/3). By the flow map of the density; a coarser run differs by {gap:.0e} at the end.",
            inputs.values.one("beta")?
        );
        Ok(Picture { panels, columns: 2, aspect: 0.8, caption })
    },
};
