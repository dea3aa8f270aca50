//! The density on the circle over time, with particles.

use super::{PaperFigure, columns, distinct, groups, series};
use crate::attention::{Spec, dynamics};
use crate::continuity::MeasureDynamics;
use crate::continuity::circle::Circle;
use crate::continuity::density::Density;
use crate::continuity::flow_map::{FlowMap, Resolution};
use crate::draw::{Axis, Dash, Mark, Panel, Picture};
use crate::error::Result;
use crate::flow::observable::{RunParameters, find, linear_times};
use crate::flow::{Options, Recorder, solve};
use crate::sphere::Tokens;
use crate::study::{Parameter, Part, Tables, Values, table};
use std::f64::consts::TAU;

/// Density and particles over time.
pub static PART: Part = Part {
    parameters: &[
        Parameter::real("beta", &[7.0], (1.0, 12.0), "inverse temperature"),
        Parameter::real("t_end", &[14.0], (0.1, 100.0), "end time"),
        Parameter::count("seed", &[3.0], (0.0, 9e15), "seed of the noise"),
    ],
    run: raster,
};

/// Density over time and angle, and forty particles started at its quantiles.
fn raster(values: &Values) -> Result<Tables> {
    let (beta, end) = (values.one("beta")?, values.one("t_end")?);
    let text = format!("noise:amplitude=0.01,modes=10,seed={}", values.count("seed")?);
    let medium = MeasureDynamics::new("sa", beta, 0.0)?;
    let start = Circle::from_density(&Density::parse(&text)?, 64)?;
    let (rows, columns) = (100usize, 128usize);
    let mut raster = table(&["t", "theta", "density"]);
    let mut map = FlowMap::from_series(&start, Resolution::COARSE)?;
    for r in 0..rows {
        for (c, average) in map.volume_averages(columns).into_iter().enumerate() {
            raster.rows.push(vec![
                end * r as f64 / rows as f64,
                TAU * c as f64 / columns as f64,
                average,
            ]);
        }
        map = map.evolve(&medium, end / rows as f64, |_, _| true)?.reached()?;
    }
    let x = Tokens::from_angles(&quantiles(&start, 40))?;
    let flow = dynamics::build("sa", false, &Spec::new(beta, 40))?;
    let setting = RunParameters { n: 40, d: 2, beta };
    let mut recorder =
        Recorder::new(setting, linear_times(end, 101), false, vec![find("positions")?]);
    solve(
        &flow,
        &x,
        end,
        &Options { merge_radius: 0.0, rtol: 1e-8, ..Options::default() },
        &mut [&mut recorder],
    )?;
    let mut particles = table(&["i", "t", "theta"]);
    for i in 0..40 {
        for row in &recorder.table.rows {
            particles.rows.push(vec![
                i as f64,
                row[0],
                row[2 + 2 * i].atan2(row[1 + 2 * i]).rem_euclid(TAU),
            ]);
        }
    }
    Ok(vec![("raster".into(), raster), ("particles".into(), particles)])
}

/// Angles at the levels `(i + 1/2)/n` of the distribution function.
pub(super) fn quantiles(density: &Circle, n: usize) -> Vec<f64> {
    let values = density.values(1 << 16);
    let total: f64 = values.iter().sum();
    let (mut below, mut out) = (0.0, Vec::with_capacity(n));
    for (j, v) in values.iter().enumerate() {
        let level = |k: usize| (k as f64 + 0.5) / n as f64;
        let next = below + v / total;
        while out.len() < n && level(out.len()) <= next {
            out.push(
                TAU * (j as f64 + (level(out.len()) - below) / (next - below))
                    / values.len() as f64,
            );
        }
        below = next;
    }
    out
}

/// Density in colour; the paths of every fourth particle on top.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "space-time",
    title: "Density on the circle over time, with particles on top",
    study: Some(&PART),
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
