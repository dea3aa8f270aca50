//! Negentropy over time: its growth compared with the predicted rate.

use super::{PaperFigure, columns, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};

/// Negentropy over time, SA and USA, with the predicted slopes.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "entropy",
    title: "Negentropy over time, SA and USA, with the predicted slopes",
    study: Some(&crate::study::measure_view::ENTROPY),
    draw: |inputs| {
        let (table, ends, clusters) = (
            inputs.table("entropy")?,
            inputs.table("entropy-ends")?,
            inputs.table("entropy-clusters")?,
        );
        let mut found = Vec::new();
        let mut panels = Vec::new();
        for (dynamics, title, unit) in [("sa", "SA", "t"), ("usa", "USA", "t (U2)")] {
            let rows = series(&table.only("dynamics", dynamics), "t", "negentropy");
            let end = rows.last().map_or(1.0, |p| p.0);
            let top = rows.iter().map(|p| p.1).fold(0.5, f64::max) * 1.1;
            let mut panel = Panel::new(
                title,
                Axis::linear(unit, 0.0, end),
                Axis::linear("negentropy", 0.0, top),
            );
            // The slope is known if clusters hold nearly all the mass. The line passes through the
            // point at 0.4 of the height.
            let masses = clusters.only("dynamics", dynamics).column("mass");
            let squares: f64 = masses.iter().map(|m| m * m).sum();
            let formed = masses.iter().sum::<f64>() > 0.95;
            let slope = if dynamics == "sa" { 1.0 } else { squares };
            if let Some(&(t, h)) = rows.iter().find(|p| p.1 > 0.4 * top).filter(|_| formed) {
                let label = if dynamics == "sa" {
                    "slope d \u{2212} 1 = 1".to_owned()
                } else {
                    format!("slope \u{3a3} \u{3b1}\u{b2} = {squares:.3}")
                };
                panel.line(
                    vec![(t - h / slope * 0.7, 0.3 * h), (t + (top - h) / slope, top)],
                    1,
                    Dash::Dashed,
                    label,
                );
            }
            found.push(if formed {
                format!(
                    "{title} ends in clusters of masses {}",
                    masses.iter().map(|m| format!("{m:.3}")).collect::<Vec<_>>().join(", ")
                )
            } else {
                format!("under {title} no clusters have formed by the end")
            });
            panel.line(rows, 0, Dash::Solid, "computed");
            panel.legend = Some(Corner::TopLeft);
            panels.push(panel);
        }
        let gap = columns(ends, ["negentropy", "coarser"])?
            .into_iter()
            .map(|[fine, coarse]| (fine - coarse).abs())
            .fold(0.0, f64::max);
        let caption = format!(
            "Negentropy of a noisy uniform density on the circle at beta = {} under SA and USA \
            (time scale U2): {}. For clusters the slope is d - 1 for SA whatever their number, and \
            the sum of squared masses for USA (dashed). By the flow map of the density; a coarser \
            run differs by {gap:.0e} at the end.",
            inputs.values.one("beta")?,
            found.join("; ")
        );
        Ok(Picture { panels, columns: 2, aspect: 0.8, caption })
    },
    ..PaperFigure::EMPTY
};
