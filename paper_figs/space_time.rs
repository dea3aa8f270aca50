//! The density on the circle over time, with particles.

use super::{PaperFigure, columns, distinct, groups, series};
use crate::draw::{Axis, Dash, Mark, Panel, Picture};

/// Density in colour; the paths of every fourth particle on top.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "space-time",
    title: "Density on the circle over time, with particles on top",
    study: Some(&crate::study::measure_view::RASTER),
    draw: |inputs| {
        let table = inputs.table("raster")?;
        let (times, angles) = (distinct(table, "t"), distinct(table, "theta"));
        let tau = std::f64::consts::TAU;
        let edges = |v: &[f64], end: f64| -> Vec<f64> { v.iter().copied().chain([end]).collect() };
        // Time runs to the right: one row of the raster per angle.
        let density = table.column("density");
        let values = (0..angles.len())
            .map(|a| (0..times.len()).map(|t| density[t * angles.len() + a]).collect())
            .collect();
        let shade = Axis::saturating("density \u{3c1} (uniform: 1)");
        let end = inputs.values.one("t_end")?;
        let mut panel =
            Panel::new("", Axis::linear("t", 0.0, end), Axis::linear("angle", 0.0, tau));
        panel.marks.push(Mark::Heat {
            x: edges(&times, end),
            y: edges(&angles, tau),
            values,
            shade,
        });
        let particles = inputs.table("particles")?;
        for (_, path) in groups(particles, "i").into_iter().step_by(4) {
            let mut points: Vec<(f64, f64)> = Vec::new();
            for (t, angle) in series(&path, "t", "theta") {
                if points.last().is_some_and(|p| (p.1 - angle).abs() > 3.0) {
                    points.push((t, f64::NAN));
                }
                points.push((t, angle));
            }
            panel.line(points, 1, Dash::Solid, "");
        }
        let beta = inputs.values.one("beta")?;
        let last = times.last().copied().unwrap_or(0.0);
        // Dense cells and particles at the time of the last column, grouped by the same rule.
        let raster = columns(table, ["t", "theta", "density"])?.into_iter();
        let dense: Vec<f64> = raster
            .filter(|[t, _, density]| *t >= last && *density > 1.0)
            .map(|[_, theta, _]| theta + 0.5 * tau / angles.len() as f64)
            .collect();
        let moment = distinct(particles, "t")
            .into_iter()
            .min_by(|a, b| (a - last).abs().total_cmp(&(b - last).abs()))
            .unwrap_or(last);
        let standing: Vec<f64> = series(particles, "t", "theta")
            .into_iter()
            .filter(|(t, _)| (t - moment).abs() < 1e-9 * (1.0 + last))
            .map(|(_, theta)| theta)
            .collect();
        let cell = tau / angles.len() as f64;
        let reach = (0.5 / beta.sqrt()).max(1.5 * cell);
        let (of_density, of_particles) = (arcs(dense, reach), arcs(standing, reach));
        let caption = format!(
            "Density rho on the circle under SA at beta = {beta} from noise (cell averages of the \
            flow map), and every fourth of forty particles started at its quantiles. At t = \
            {last:.4} the cells denser than the uniform measure are in {of_density} {}, the \
            particles in {of_particles} (separated by more than beta^(-1/2)/2).",
            if of_density == 1 { "group" } else { "groups" }
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.6, caption })
    },
    ..PaperFigure::EMPTY
};

/// The number of groups of points on the circle with gaps larger than `reach` between them.
fn arcs(mut angles: Vec<f64>, reach: f64) -> usize {
    angles.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (angles.first().copied(), angles.last().copied()) else {
        return 0;
    };
    let around = first + std::f64::consts::TAU - last;
    let gaps =
        angles.windows(2).map(|w| w[1] - w[0]).chain([around]).filter(|gap| *gap > reach).count();
    gaps.max(1)
}
