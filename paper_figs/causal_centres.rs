//! Causal attention on the circle: tokens that are strong Renyi centres hardly move
//! (arXiv:2411.04990).

use super::{FigureReference, PaperFigure, PublishedFigure, groups, only, series};
use crate::attention::{Spec, dynamics};
use crate::clusters::centres::{find_renyi_centres, find_strong_centres};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::flow::observable::{RunParameters, find, log_times};
use crate::flow::{Options, Recorder, Table, solve};
use crate::lab::LabelledTable;
use crate::num::stats::mean_and_error;
use crate::num::stream::Stream;
use crate::sphere::law::Law;
use crate::study::{Parameter, Part, Study, Tables, Values, table};
use crate::theory::parking::{cap_share, strong_centres};
use std::f64::consts::PI;

/// Causal attention on the circle: trajectories with their strong Renyi centres, and numbers of
/// centres against the radius (arXiv:2411.04990).
///
/// n = 200, beta = 64, d = 2 for the trajectories; counts for four values of delta at d = 2 and 3.
pub static STUDY: Study = Study {
    name: "causal-centres",
    title: "Causal attention: trajectories with strong Renyi centres, and the numbers of centres",
    citation: "arXiv:2411.04990, section 5 and Lemma C.1 (at d = 3 without the published factor 3)",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count("n", &[200.0], (2.0, 1000.0), "tokens of the trajectories"),
        Parameter::real("beta", &[64.0], (1.0, 1000.0), "inverse temperature of the trajectories"),
        Parameter::real("t_end", &[5000.0], (1.0, 1e5), "end of the trajectories"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of all draws"),
    ],
    run,
};

fn run(values: &Values) -> Result<Tables> {
    let (n, beta, end, seed) =
        (values.count("n")?, values.one("beta")?, values.one("t_end")?, values.one("seed")? as u64);
    let x = Law::parse("uniform")?.sample(n, 2, &mut Stream::new(seed, &["causal-centres"]))?;
    let csa = dynamics::build("sa", true, &Spec::new(beta, n))?;
    let setting = RunParameters { n, d: 2, beta };
    let mut recorder =
        Recorder::new(setting, log_times(0.1, end, 120), false, vec![find("positions")?]);
    solve(
        &csa,
        &x,
        end,
        &Options { rtol: 1e-7, merge_radius: 0.0, ..Options::default() },
        &mut [&mut recorder],
    )?;
    let mut paths =
        table(&["token", "t", "theta", "centre"]).with_labels("centre", ["other", "strong"]);
    let centres = find_strong_centres(&x, 4.0 / beta.sqrt());
    for i in 0..n {
        let (a, b) = (
            recorder.table.column(&format!("x_{i}_0")),
            recorder.table.column(&format!("x_{i}_1")),
        );
        let t = recorder.table.column("t");
        let is_strong = f64::from(u8::from(centres.contains(&i)));
        paths.rows.extend(
            t.iter()
                .zip(a.iter().zip(&b))
                .filter(|(t, _)| **t > 0.0)
                .map(|(t, (a, b))| vec![i as f64, *t, b.atan2(*a), is_strong]),
        );
    }
    let mut counts = table(&["d", "delta", "strong", "strong_error", "strong_expected", "greedy"]);
    for d in [2usize, 3] {
        for delta in [0.1, 0.2, 0.4, 0.8] {
            let n = (30.0 / cap_share(d, delta)?) as usize;
            let (mut all, mut greedy) = (Vec::new(), 0.0);
            for draw in 0..20 {
                let x = Law::parse("uniform")?.sample(
                    n,
                    d,
                    &mut Stream::new(seed, &["causal-centres", &d.to_string(), &draw.to_string()]),
                )?;
                all.push(find_strong_centres(&x, delta).len() as f64);
                greedy += find_renyi_centres(&x, delta).len() as f64 / 20.0;
            }
            let (mean, error) = mean_and_error(&all);
            counts.rows.push(vec![
                d as f64,
                delta,
                mean,
                error,
                strong_centres(n, d, delta)?,
                greedy,
            ]);
        }
    }
    Ok(vec![("paths".into(), paths), ("counts".into(), counts)])
}

/// Left: trajectories, strong centres marked. Right: the number of strong centres and its
/// expectation.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "causal-centres",
    title: "Causal attention: trajectories and strong Renyi centres",
    redraws: &[PublishedFigure {
        paper: "2411.04990",
        place: FigureReference::Unnumbered("figures of trajectories (numbers not read)"),
        shows: "causal tokens on the circle with their centres",
        differs: "n, beta, end time and seed are chosen here: the published ones are not known",
    }],
    study: Some(&PART),
    draw: |inputs| {
        let paths = inputs.table("paths")?;
        let end = paths.column("t").into_iter().fold(1.0, f64::max);
        let axes = (Axis::log("t", 0.1, end), Axis::linear("angle", -PI, PI));
        let mut angles = Panel::new("angles over time", axes.0, axes.1);
        let others = draw_paths(&mut angles, paths, "other", (7, "other tokens"));
        let strong = draw_paths(&mut angles, paths, "strong", (1, "strong centres"));
        angles.legend = Some(Corner::BottomLeft);
        let numbers = numbers(inputs.table("counts")?);
        let caption = format!(
            "Left: causal SA on the circle, n = {}, beta = {}; strong Renyi centres at delta = 4 \
            beta^(-1/2) ({} of them) move by {} on average until t = {}, the other tokens by {}. \
            Right: numbers of strong centres among uniform tokens against (1 - (1 - p)^n)/p; \
            dotted: the value published for d = 3, a third of the correct one.",
            inputs.values.count("n")?,
            inputs.values.one("beta")?,
            strong.len(),
            mean(&strong),
            crate::error::format_number(end),
            mean(&others)
        );
        Ok(Picture { panels: vec![angles, numbers], columns: 2, aspect: 0.9, caption })
    },
    ..PaperFigure::EMPTY
};

/// The smallest radius of the study, and the factor to the largest one, 1.
const RADIUS: (f64, f64) = (0.08, 12.5);

/// Draws the paths of one kind of tokens; returns the arc from the first position of each to its
/// last.
fn draw_paths(
    panel: &mut Panel,
    paths: &LabelledTable,
    kind: &str,
    (colour, name): (usize, &'static str),
) -> Vec<f64> {
    let mut arcs = Vec::new();
    for (_, path) in groups(&paths.only("centre", kind), "token") {
        let angles = path.column("theta");
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (t, angle) in path.column("t").into_iter().zip(&angles) {
            // A jump through -pi, pi breaks the line.
            if points.last().is_some_and(|p| (p.1 - angle).abs() > PI) {
                points.push((t, f64::NAN));
            }
            points.push((t, *angle));
        }
        let turn = angles[angles.len() - 1] - angles[0];
        panel.line(points, colour, Dash::Solid, if arcs.is_empty() { name } else { "" });
        arcs.push(turn.sin().atan2(turn.cos()).abs());
    }
    arcs
}

/// The number of strong centres over their radius, computed, expected, and as published.
fn numbers(counts: &Table) -> Panel {
    let (low, factor) = RADIUS;
    // In these studies the numbers lie between 2 and 1000.
    let axes = (Axis::log("\u{3b4}", low, low * factor), Axis::log("number", 2.0, 1000.0));
    let mut panel = Panel::new("strong centres", axes.0, axes.1);
    for (k, d) in [2.0, 3.0].into_iter().enumerate() {
        let rows = only(counts, "d", d);
        panel.line(series(&rows, "delta", "strong_expected"), k, Dash::for_series(k), "");
        panel.points(series(&rows, "delta", "strong"), k, 2.0, format!("d = {d}"));
    }
    let radii = (0..=20).map(|k| low * factor.powf(f64::from(k) / 20.0));
    let published = radii.map(|x| (x, 1.0 / (3.0 * (0.5 * x).sin().powi(2)))).collect();
    panel.line(published, 1, Dash::Dotted, "d = 3 as published");
    panel.legend = Some(Corner::TopRight);
    panel
}

fn mean(arcs: &[f64]) -> String {
    match arcs {
        [] => "none".to_owned(),
        _ => format!("{:.3}", arcs.iter().sum::<f64>() / arcs.len() as f64),
    }
}
