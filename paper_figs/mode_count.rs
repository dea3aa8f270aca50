//! Modes of kernel density estimates: certified counts against Kac-Rice (arXiv:2412.09080).

use super::{PaperFigure, groups, series, span};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::flow::Table;
use crate::num::stats::mean_and_error;
use crate::num::stream::Stream;
use crate::proofs::modes;
use crate::study::{Parameter, Part, Study, Tables, Values, table};
use crate::theory::kac_rice::{
    default_interval, expected_modes, expected_modes_circle, leading_modes,
};

/// Modes of density estimates: certified counts of random samples against the Kac-Rice formulas
/// (arXiv:2412.09080).
///
/// Gaussian samples on the line for three n, uniform angles on the circle, and positions of the
/// modes.
pub static STUDY: Study = Study {
    name: "mode-count",
    title: "Modes of kernel density estimates: certified counts and expectations",
    citation: "arXiv:2412.09080 (main theorem); Kac-Rice with the Gaussian proxy",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count(
            "n",
            &[100.0, 1000.0, 10000.0],
            (10.0, 1e5),
            "sizes of the samples on the line",
        ),
        Parameter::count("draws", &[40.0], (2.0, 1000.0), "samples for each point"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the samples"),
    ],
    run,
};

fn run(values: &Values) -> Result<Tables> {
    let (draws, seed) = (values.count("draws")?, values.one("seed")? as u64);
    // `constant` and `leading_constant`: the mean and the leading order, divided by sqrt(beta log
    // beta).
    let mut line = table(&[
        "n",
        "beta",
        "mean",
        "error",
        "expected",
        "inside",
        "certified",
        "constant",
        "leading_constant",
    ]);
    for n in values.list("n")?.iter().map(|n| *n as usize) {
        for k in 0..9 {
            let beta = 10f64.powf(0.5 + 0.4 * f64::from(k));
            if beta > (n * n) as f64 / 10.0 {
                continue;
            }
            let interval = default_interval(n as f64, beta)?;
            let (mut counts, mut inside) = (Vec::new(), 0usize);
            for draw in 0..draws {
                let mut samples = vec![0.0; n];
                Stream::new(seed, &["mode-count", "line", &n.to_string(), &draw.to_string()])
                    .normals(&mut samples);
                // Draws without a proof are not counted; the column `certified` is the share of
                // draws with a proof.
                if let Ok(locations) = modes::line(&samples, beta)?.locations() {
                    inside += locations.iter().filter(|m| m.abs() <= interval).count();
                    counts.push(locations.len() as f64);
                }
            }
            let (mean, error) = mean_and_error(&counts);
            let row = [
                n as f64,
                beta,
                mean,
                error,
                expected_modes(n as f64, beta, interval)?,
                inside as f64 / counts.len() as f64,
                counts.len() as f64 / draws as f64,
                mean / (beta * beta.ln()).sqrt(),
                leading_modes(n as f64, beta) / (beta * beta.ln()).sqrt(),
            ];
            line.rows.push(row.to_vec());
        }
    }
    let mut circle = table(&["beta", "mean", "error", "expected"]);
    for beta in [2.0, 5.0, 15.0, 50.0, 150.0, 400.0, 1000.0] {
        let mut counts = Vec::new();
        for draw in 0..draws {
            let mut stream = Stream::new(seed, &["mode-count", "circle", &draw.to_string()]);
            let angles: Vec<f64> =
                (0..5000).map(|_| stream.uniform_in(0.0, std::f64::consts::TAU)).collect();
            counts.push(modes::circle(&angles, beta)?.count()? as f64);
        }
        let (mean, error) = mean_and_error(&counts);
        circle.rows.push(vec![beta, mean, error, expected_modes_circle(beta)?]);
    }
    // Positions of the modes, for the belt of the main theorem: n = 10^5, beta = n.
    let mut places = table(&["location"]);
    let mut samples = vec![0.0; 100_000];
    for draw in 0..10 {
        Stream::new(seed, &["mode-count", "belt", &draw.to_string()]).normals(&mut samples);
        places.rows.extend(modes::line(&samples, 1e5)?.locations()?.iter().map(|m| vec![*m]));
    }
    Ok(vec![("line".into(), line), ("circle".into(), circle), ("places".into(), places)])
}

/// Modes of density estimates: certified counts and expectations.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "mode-count",
    title: "Modes of density estimates: certified counts and expectations",
    study: Some(&PART),
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
