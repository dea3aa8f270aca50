//! The number of clusters that form, compared with square-root laws.

use super::{PaperFigure, distinct, groups, only, series, span};
use crate::attention::{Spec, TimeScale, dynamics};
use crate::clusters::linkage::linkage;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::flow::{Options, Table, solve};
use crate::lab::LabelledTable;
use crate::num::stats::{correlation, mean_and_error};
use crate::num::stream::Stream;
use crate::num::threads::sequentially;
use crate::proofs::modes;
use crate::sphere::law::Law;
use crate::study::{Parameter, Part, Study, Tables, Values, table};
use crate::theory::growth::{fastest_mode, rates_sa, rates_usa};
use crate::theory::kac_rice::expected_modes_circle;
use crate::theory::parking::RENYI;
use rayon::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// The number of clusters that form, compared with four square-root laws, on the circle and on S^2
/// (linear instability, modes of the initial density, Renyi centres).
///
/// n = 300 uniform tokens, beta from 4 to 400.
pub static STUDY: Study = Study {
    name: "cluster-count",
    title: "Number of clusters that form against beta, SA and USA, with the modes of the initial \
        density of each start",
    citation: "arXiv:2410.23228 (fastest mode), arXiv:2412.09080 (modes), arXiv:2411.04990 \
        (centres)",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count("n", &[300.0], (10.0, 2000.0), "tokens of every run"),
        Parameter::real(
            "beta",
            &[4.0, 9.0, 16.0, 25.0, 49.0, 100.0, 196.0, 400.0],
            (1.0, 1000.0),
            "inverse temperatures on the circle; on the sphere those up to 50",
        ),
        Parameter::count(
            "starts",
            &[8.0],
            (2.0, 1000.0),
            "starts for each beta on the circle; half as many on the sphere",
        ),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the starts"),
    ],
    run,
};

fn run(values: &Values) -> Result<Tables> {
    let mut runs = Vec::new();
    let (n, seed, starts) =
        (values.count("n")?, values.one("seed")? as u64, values.count("starts")?);
    for (d, starts, most) in [(2usize, starts, f64::INFINITY), (3, starts.div_ceil(2), 50.0)] {
        for &beta in values.list("beta")?.iter().filter(|b| **b <= most) {
            for usa in [false, true] {
                runs.extend((0..starts).map(|start| (d, beta, usa, start)));
            }
        }
    }
    let rows: Vec<Vec<f64>> = runs
        .par_iter()
        .with_max_len(1)
        .map(|(d, beta, usa, start)| sequentially(|| one((n, *d), *beta, *usa, (seed, *start))))
        .collect::<Result<_>>()?;
    let mut out = table(&["d", "dynamics", "beta", "start", "clusters", "modes", "time"])
        .with_labels("dynamics", ["sa", "usa"]);
    out.rows = rows;
    Ok(vec![("counts".into(), out)])
}

/// One run: the number of clusters at half a kernel width after six formation times, and the number
/// of modes of the initial density.
fn one(
    (n, d): (usize, usize),
    beta: f64,
    usa: bool,
    (seed, start): (u64, usize),
) -> Result<Vec<f64>> {
    let x = Law::parse("uniform")?.sample(
        n,
        d,
        &mut Stream::new(seed, &["cluster-count", &start.to_string()]),
    )?;
    let time = 6.0 * formation_time(n, d, beta, usa)?;
    let name = if usa { "usa" } else { "sa" };
    let flow = dynamics::build(
        name,
        false,
        &Spec { time_scale: TimeScale::parse("u2")?, accuracy: 1e-8, ..Spec::new(beta, n) },
    )?;
    let options = Options { rtol: 1e-5, merge_radius: 0.02 / beta.sqrt(), ..Options::default() };
    let end = solve(&flow, &x, time, &options, &mut [])?;
    let clusters = linkage(&end.clusters, 0.5 / beta.sqrt())?.sizes.len();
    let modes = if d == 2 { modes::circle(&x.angles(), beta)?.count()? as f64 } else { -1.0 };
    Ok(vec![d as f64, f64::from(u8::from(usa)), beta, start as f64, clusters as f64, modes, time])
}

/// `log n / (2 r_max)`: fluctuations of size `n^{-1/2}` grow to order one at the largest rate (USA
/// in U2).
pub fn formation_time(n: usize, d: usize, beta: f64, usa: bool) -> Result<f64> {
    let most = 4 + (3.0 * beta.sqrt()) as usize;
    let rates = if usa {
        rates_usa(d, beta, most, TimeScale::parse("u2")?, n)?
    } else {
        rates_sa(d, beta, most)?
    };
    Ok((n as f64).ln() / (2.0 * rates[fastest_mode(&rates)]))
}

/// Number of clusters against beta, with the square-root laws.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "cluster-count",
    title: "Number of clusters against beta, with the square-root laws",
    study: Some(&PART),
    draw: |inputs| {
        let table = inputs.table("counts")?;
        let spaces = [Space::Circle, Space::Sphere];
        let mut panels: Vec<Panel> =
            spaces.iter().filter_map(|space| against_beta(table, space)).collect();
        let (modes, within) = against_modes(table);
        panels.push(modes);
        let caption = caption(inputs.values.count("n")?, &within);
        Ok(Picture { panels, columns: 2, aspect: 0.8, caption })
    },
    ..PaperFigure::EMPTY
};

/// The dynamics: colour, name, and the factor by which beta is shifted so that bars stay apart.
const DYNAMICS: [(usize, &str, f64); 2] = [(0, "SA", 0.97), (1, "USA", 1.03)];

/// With fewer values of beta the points form a few heaps, and their correlation is meaningless.
const LEAST_BETAS: usize = 5;

/// The smallest number of clusters on a logarithmic axis: bars that reach 0 end here.
const LEAST_CLUSTERS: f64 = 0.8;

/// The space of the tokens.
enum Space {
    Circle,
    Sphere,
}

/// A law: clusters as a function of beta, colour, pattern, label.
type RootLaw = (fn(f64) -> f64, usize, Dash, &'static str);

/// The laws on the circle.
const CIRCLE: [RootLaw; 4] = [
    (|b| (2.0 * b).sqrt(), 2, Dash::Dashed, "fastest mode \u{221a}(2\u{3b2})"),
    (
        |b| expected_modes_circle(b).unwrap_or(f64::NAN),
        3,
        Dash::Solid,
        "modes \u{221a}(3\u{3b2}/2)",
    ),
    (|b| RENYI * TAU * b.sqrt() / 4.0, 4, Dash::Dotted, "Renyi centres"),
    (|b| PI * b.sqrt() / 4.0, 5, Dash::Dotted, "strong centres"),
];

/// The law on S^2: the area of the sphere over that of a cap of two kernel widths.
const SPHERE: [RootLaw; 1] =
    [(|b| 1.0 / (2.0 / b.sqrt()).min(FRAC_PI_2).sin().powi(2), 5, Dash::Dotted, "strong centres")];

impl Space {
    /// Ambient dimension, title, the largest number of clusters of the axis, laws.
    fn parts(&self) -> (f64, &'static str, f64, &'static [RootLaw]) {
        match self {
            Self::Circle => (2.0, "circle", 400.0, &CIRCLE),
            Self::Sphere => (3.0, "S\u{b2}", 200.0, &SPHERE),
        }
    }
}

/// Clusters against beta; none if all beta are too large for the space.
fn against_beta(table: &LabelledTable, space: &Space) -> Option<Panel> {
    let (d, title, most, laws) = space.parts();
    let betas = distinct(&only(table, "d", d), "beta");
    if betas.is_empty() {
        return None;
    }
    let (least, largest) = span(betas.iter().copied(), (1.0, 1.0));
    // Room for the shifted bars at both ends.
    let (low, high) = (least / 1.3, largest * 1.3);
    let axes = (Axis::log("\u{3b2}", low, high), Axis::log("clusters", LEAST_CLUSTERS, most));
    let mut panel = Panel::new(title, axes.0, axes.1);
    let grid: Vec<f64> = (0..=60).map(|k| low * (high / low).powf(f64::from(k) / 60.0)).collect();
    for (law, colour, dash, label) in laws {
        panel.line(grid.iter().map(|b| (*b, law(*b))).collect(), *colour, *dash, *label);
    }
    for (colour, name, shift) in DYNAMICS {
        let own = only(&table.only("dynamics", &name.to_lowercase()), "d", d);
        let mut means = Vec::new();
        for beta in &betas {
            let (mean, error) = mean_and_error(&only(&own, "beta", *beta).column("clusters"));
            let (x, low) = (beta * shift, (mean - 2.0 * error).max(LEAST_CLUSTERS));
            panel.line(vec![(x, low), (x, mean + 2.0 * error)], colour, Dash::Solid, "");
            means.push((x, mean));
        }
        panel.points(means, colour, 2.0, name);
    }
    panel.legend = Some(Corner::TopLeft);
    Some(panel)
}

/// Clusters against the modes of the initial density on the circle, start by start, and the
/// correlations of deviations from the means at each beta, in words.
fn against_modes(table: &LabelledTable) -> (Panel, Vec<String>) {
    let most = only(table, "d", 2.0).column("modes").into_iter().fold(1.0, f64::max) * 1.1;
    let axis = |label| Axis::linear(label, 0.0, most);
    let axes = (axis("modes of the initial density"), axis("clusters"));
    let mut panel = Panel::new("modes and clusters", axes.0, axes.1);
    panel.line(vec![(0.0, 0.0), (most, most)], 7, Dash::Dotted, "");
    let mut within = Vec::new();
    for (colour, name, _) in DYNAMICS {
        let rows = only(&table.only("dynamics", &name.to_lowercase()), "d", 2.0);
        let points = series(&rows, "modes", "clusters");
        let mut label = name.to_owned();
        if distinct(&rows, "beta").len() >= LEAST_BETAS {
            label.push_str(&format!(", correlation {:.3}", correlation(&points)));
            let own = correlation(&about_their_means(&rows));
            within.push(format!("{own:.2} for {name} over {} starts", points.len()));
        }
        panel.points(points, colour, 1.5, label);
    }
    panel.legend = Some(Corner::TopLeft);
    (panel, within)
}

fn caption(n: usize, within: &[String]) -> String {
    let deviations = match within {
        [] => String::new(),
        _ => format!(
            " The correlation is over all beta; of deviations from the mean at each beta it is {}.",
            within.join(" and ")
        ),
    };
    format!(
        "Clusters (components at half a kernel width) of {n} uniform tokens after six formation \
        times log n / (2 r_max), mean and two standard errors (SA drawn 3 % to the left of its \
        beta, USA 3 % to the right), against square-root laws; last panel: against the certified \
        number of modes of the initial density, start by start.{deviations}"
    )
}

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
