//! The number of clusters that form, compared with square-root laws.

use super::{PaperFigure, distinct, groups, only, series, span};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::flow::Table;
use crate::num::stats::{correlation, mean_and_error};
use crate::theory::kac_rice::expected_modes_circle;
use crate::theory::parking::RENYI;

/// Number of clusters against beta, with the square-root laws.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "cluster-count",
    title: "Number of clusters against beta, with the square-root laws",
    study: Some(&crate::study::cluster_count::PART),
    draw: |inputs| {
        let table = inputs.table("counts")?;
        let mut panels = Vec::new();
        for d in [2.0f64, 3.0] {
            let rows = only(table, "d", d);
            let betas = distinct(&rows, "beta");
            if betas.is_empty() {
                // All beta are too large for the sphere.
                continue;
            }
            let (low, high) = {
                let (least, most) = span(betas.iter().copied(), (1.0, 1.0));
                (least / 1.3, most * 1.3)
            };
            let title = if d < 2.5 { "circle" } else { "S\u{b2}" };
            let mut panel = Panel::new(
                title,
                Axis::log("\u{3b2}", low, high),
                Axis::log("clusters", 0.8, if d < 2.5 { 400.0 } else { 200.0 }),
            );
            let grid: Vec<f64> =
                (0..=60).map(|k| low * (high / low).powf(f64::from(k) / 60.0)).collect();
            let mut law = |f: &dyn Fn(f64) -> f64, colour: usize, dash: Dash, label: &str| {
                panel.line(grid.iter().map(|b| (*b, f(*b))).collect(), colour, dash, label)
            };
            if d < 2.5 {
                law(&|b| (2.0 * b).sqrt(), 2, Dash::Dashed, "fastest mode \u{221a}(2\u{3b2})");
                law(
                    &|b| expected_modes_circle(b).unwrap_or(f64::NAN),
                    3,
                    Dash::Solid,
                    "modes \u{221a}(3\u{3b2}/2)",
                );
                law(
                    &|b| RENYI * std::f64::consts::TAU * b.sqrt() / 4.0,
                    4,
                    Dash::Dotted,
                    "Renyi centres",
                );
                law(&|b| std::f64::consts::PI * b.sqrt() / 4.0, 5, Dash::Dotted, "strong centres");
            } else {
                law(
                    &|b| 1.0 / (2.0 / b.sqrt()).min(std::f64::consts::FRAC_PI_2).sin().powi(2),
                    5,
                    Dash::Dotted,
                    "strong centres",
                );
            }
            for (colour, name, shift) in [(0, "SA", 0.97), (1, "USA", 1.03)] {
                let own = only(&table.only("dynamics", &name.to_lowercase()), "d", d);
                let mut means = Vec::new();
                for beta in &betas {
                    let counts = only(&own, "beta", *beta).column("clusters");
                    let (mean, error) = mean_and_error(&counts);
                    panel.line(
                        vec![
                            (beta * shift, (mean - 2.0 * error).max(0.8)),
                            (beta * shift, mean + 2.0 * error),
                        ],
                        colour,
                        Dash::Solid,
                        "",
                    );
                    means.push((beta * shift, mean));
                }
                panel.points(means, colour, 2.0, name);
            }
            panel.legend = Some(Corner::TopLeft);
            panels.push(panel);
        }
        let circle = only(table, "d", 2.0);
        let most = circle.column("modes").into_iter().fold(1.0, f64::max) * 1.1;
        let mut within = Vec::new();
        let mut modes = Panel::new(
            "modes and clusters",
            Axis::linear("modes of the initial density", 0.0, most),
            Axis::linear("clusters", 0.0, most),
        );
        modes.line(vec![(0.0, 0.0), (most, most)], 7, Dash::Dotted, "");
        for (colour, name) in ["SA", "USA"].into_iter().enumerate() {
            let rows = only(&table.only("dynamics", &name.to_lowercase()), "d", 2.0);
            let points = series(&rows, "modes", "clusters");
            // With few values of beta the points form a few heaps, and their correlation is
            // meaningless.
            let several = distinct(&rows, "beta").len() >= 5;
            let label = if several {
                format!("{name}, correlation {:.3}", correlation(&points))
            } else {
                name.to_owned()
            };
            if several {
                within.push(format!(
                    "{:.2} for {name} over {} starts",
                    correlation(&about_their_means(&rows)),
                    points.len()
                ));
            }
            modes.points(points, colour, 1.5, label);
        }
        modes.legend = Some(Corner::TopLeft);
        panels.push(modes);
        let caption = format!(
            "Clusters (components at half a kernel width) of {} uniform tokens after six formation \
            times log n / (2 r_max), mean and two standard errors (SA drawn 3 % to the left of its \
            beta, USA 3 % to the right), against square-root laws; last panel: against the \
            certified number of modes of the initial density, start by start.{}",
            inputs.values.count("n")?,
            if within.is_empty() {
                String::new()
            } else {
                format!(
                    " The correlation is over all beta; of deviations from the mean at each beta \
                    it is {}.",
                    within.join(" and ")
                )
            }
        );
        Ok(Picture { panels, columns: 2, aspect: 0.8, caption })
    },
    ..PaperFigure::EMPTY
};

/// Modes and clusters of every start, less their means over the starts at the same beta.
fn about_their_means(rows: &Table) -> Vec<(f64, f64)> {
    let mut out = Vec::new();
    for (_, starts) in groups(rows, "beta") {
        let own = series(&starts, "modes", "clusters");
        let mean = |f: fn(&(f64, f64)) -> f64| own.iter().map(f).sum::<f64>() / own.len() as f64;
        let (modes, clusters) = (mean(|p| p.0), mean(|p| p.1));
        out.extend(own.iter().map(|p| (p.0 - modes, p.1 - clusters)));
    }
    out
}
