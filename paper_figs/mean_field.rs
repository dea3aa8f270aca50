//! Distance of n particles from the density that solves the continuity equation.

use super::space_time::quantiles;
use super::{PaperFigure, groups};
use crate::attention::{Spec, dynamics};
use crate::continuity::MeasureDynamics;
use crate::continuity::circle::Circle;
use crate::continuity::density::Density;
use crate::continuity::transport::w1;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::num::stats::slope;
use crate::num::stream::Stream;
use crate::sphere::Tokens;
use crate::study::{Parameter, Part, Tables, Values, table};
use std::f64::consts::TAU;

/// Distance to the mean field.
pub static PART: Part = Part {
    parameters: &[
        Parameter::real("beta", &[3.0], (0.1, 6.0), "inverse temperature"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the draws"),
    ],
    run: distance,
};

/// W1 between n tokens and the density after t = 1 under SA, for random and quantile starts.
fn distance(values: &Values) -> Result<Tables> {
    let (beta, seed) = (values.one("beta")?, values.one("seed")? as u64);
    let start = Circle::from_density(&Density::parse("cos:1=0.5,2=0.2")?, 64)?;
    let end = start
        .clone()
        .evolve(&MeasureDynamics::new("sa", beta, 0.0)?, 1.0, 1024, |_, _| true)?
        .reached()?;
    let mut out = table(&["start", "n", "w1"]).with_labels("start", ["quantiles", "random"]);
    for n in [30usize, 100, 300, 1000, 3000] {
        for draw in 0..13usize {
            let mut stream =
                Stream::new(seed, &["measure-view", &n.to_string(), &draw.to_string()]);
            let angles: Vec<f64> = if draw == 0 {
                quantiles(&start, n)
            } else {
                // Rejection from the density, whose maximum is 1.7.
                let mut angles = Vec::with_capacity(n);
                while angles.len() < n {
                    let (t, u) = (stream.uniform_in(0.0, TAU), stream.uniform_in(0.0, 1.7));
                    if u < 1.0 + 0.5 * t.cos() + 0.2 * (2.0 * t).cos() {
                        angles.push(t);
                    }
                }
                angles
            };
            let flow =
                dynamics::build("sa", false, &Spec { accuracy: 1e-9, ..Spec::new(beta, n) })?;
            let tokens = solve(
                &flow,
                &Tokens::from_angles(&angles)?,
                1.0,
                &Options { merge_radius: 0.0, rtol: 1e-7, ..Options::default() },
                &mut [],
            )?;
            out.rows.push(vec![
                f64::from(u8::from(draw > 0)),
                n as f64,
                w1(&tokens.clusters.angles(), &end, 100_000),
            ]);
        }
    }
    Ok(vec![("distance".into(), out)])
}

/// 1-Wasserstein distance against n, for random starts and for starts at quantiles.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "mean-field",
    title: "Wasserstein distance between n particles and the density",
    study: Some(&PART),
    draw: |inputs| {
        let table = inputs.table("distance")?;
        let (low, high) =
            super::span(table.column("w1").into_iter().filter(|w| *w > 0.0), (1e-4, 1.0));
        let mut panel = Panel::new(
            "",
            Axis::log("n", 20.0, 5000.0),
            Axis::log("W\u{2081}", low / 2.0, high * 2.0),
        );
        for (start, colour, name) in
            [("random", 0, "random starts (mean of 12)"), ("quantiles", 1, "quantile starts")]
        {
            let sizes = groups(&table.only("start", start), "n").into_iter();
            let means: Vec<(f64, f64)> = sizes
                .map(|(n, draws)| {
                    (n, draws.column("w1").iter().sum::<f64>() / draws.rows.len() as f64)
                })
                .collect();
            let fit = slope(&means.iter().map(|p| (p.0.ln(), p.1.ln())).collect::<Vec<_>>());
            panel.line(
                means.clone(),
                colour,
                if colour == 0 { Dash::Solid } else { Dash::Dashed },
                "",
            );
            panel.points(
                means,
                colour,
                2.2,
                format!("{name}, slope {fit:.3}").replace('-', "\u{2212}"),
            );
        }
        panel.legend = Some(Corner::BottomLeft);
        let caption = format!(
            "W1 on the circle between n tokens and the solution of the continuity equation after t \
            = 1 under SA at beta = {}, from 1 + 0.5 cos + 0.2 cos 2: random starts and quantile \
            starts.",
            inputs.values.one("beta")?
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.55, caption })
    },
    ..PaperFigure::EMPTY
};
