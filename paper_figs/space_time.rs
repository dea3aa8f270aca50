//! Density and particles on the circle over time.

use super::{PaperFigure, distinct};
use crate::draw::{Axis, Dash, Mark, Panel, Picture};

/// Density on the circle over time, with particles on top.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "space-time",
    title: "Density on the circle over time, with particles on top",
    experiments: &[],
    full: &[],
    cells: None,
    study: Some(&crate::study::measure_view::RASTER),
    parameters: &[],
    hidden: false,
    quick: false,
    draw: |inputs| {
        let table = inputs.table("raster")?;
        let (times, angles) = (distinct(table, "t"), distinct(table, "theta"));
        let tau = std::f64::consts::TAU;
        let edges = |v: &[f64], end: f64| -> Vec<f64> { v.iter().copied().chain([end]).collect() };
        // Time runs to the right: one row of the raster per angle.
        let at = |t: usize, a: usize| table.rows[t * angles.len() + a][2];
        let values = (0..angles.len()).map(|a| (0..times.len()).map(|t| at(t, a)).collect()).collect();
        let shade = Axis::saturating("density \u{3c1} (uniform: 1)");
        let end = inputs.values.one("t_end")?;
        let mut panel = Panel::new("", Axis::linear("t", 0.0, end), Axis::linear("angle", 0.0, tau));
        panel.marks.push(Mark::Heat { x: edges(&times, end), y: edges(&angles, tau), values, shade });
        let particles = inputs.table("particles")?;
        for rows in particles.rows.chunk_by(|a, b| a[0].total_cmp(&b[0]).is_eq()).step_by(4) {
            let mut points: Vec<(f64, f64)> = Vec::new();
            for r in rows {
                if points.last().is_some_and(|p| (p.1 - r[2]).abs() > 3.0) {
                    points.push((r[1], f64::NAN));
                }
                points.push((r[1], r[2]));
            }
            panel.line(points, 1, Dash::Solid, "");
        }
        let caption = format!(
            "Density rho on the circle under SA at beta = {} from noise (cell averages of the flow map), and every fourth of forty particles started at its quantiles: both views agree.",
            inputs.values.one("beta")?
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.6, caption })
    },
};
