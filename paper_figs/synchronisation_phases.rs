//! Which interactions gather tokens on the circle: powers from random starts, and regular polygons
//! under steep sigmoids.

use super::{PaperFigure, distinct, span};
use crate::attention::Dynamics;
use crate::attention::interaction::{Interaction, InteractionAttention, RowSum};
use crate::draw::{Axis, Mark, Panel, Picture};
use crate::error::Result;
use crate::flow::{Options, clusters_within, solve};
use crate::num::stats::nan_max;
use crate::num::stream::Stream;
use crate::num::threads::par_map;
use crate::sphere::Tokens;
use crate::sphere::geometry::dist;
use crate::sphere::law::Law;
use crate::study::{Parameter, Part, Study, Tables, Values, table};
use crate::theory::interaction::polygon_rates;
use std::f64::consts::PI;

/// Synchronisation on the circle under families of interactions, and energies of three tokens.
///
/// Tables: phases (p, n, line, unfinished), polygons (c, m, rate), energies (interaction, second,
/// third, energy).
pub static STUDY: Study = Study {
    name: "interaction-phases",
    title: "Synchronisation on the circle under powers, regular polygons under sigmoids, energies \
        of three tokens",
    citation: "arXiv:2405.18273 (which interactions synchronise); derived",
    parts: &[&PART, &super::energy_landscapes::PART],
};

/// Ends of runs from random tokens under powers, and rates of polygons under sigmoids.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count("p", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (0.0, 16.0), "powers"),
        Parameter::count(
            "n",
            &[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
            (2.0, 64.0),
            "tokens under powers",
        ),
        Parameter::count("starts", &[40.0], (1.0, 1000.0), "random starts for each p and n"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the starts"),
        Parameter::real("k", &[20.0], (0.1, 40.0), "slope of the sigmoid 1/(1 + e^{-k (s - c)})"),
        Parameter::count("corners", &[16.0], (4.0, 64.0), "largest number of corners"),
    ],
    run: phases,
};

/// The end of a run. Two lines of tokens at nearly a right angle leave it at the rate of the angle
/// to the power p.
const END: f64 = 1e14;

fn phases(values: &Values) -> Result<Tables> {
    let (starts, seed) = (values.count("starts")?, values.one("seed")? as u64);
    let mut shares = table(&["p", "n", "line", "unfinished"]);
    for p in values.list("p")? {
        let phi = Interaction::parse("s^p", &[("p", *p)])?;
        let flow = Dynamics::single(InteractionAttention::new(phi, RowSum::Plain)?);
        for n in values.list("n")? {
            let runs: Vec<usize> = (0..starts).collect();
            let ends = par_map(&runs, |_, k| end(&flow, *n as usize, *k, seed))?;
            let share =
                |kind: End| ends.iter().filter(|e| **e == kind).count() as f64 / starts as f64;
            shares.rows.push(vec![*p, *n, share(End::Line), share(End::Unfinished)]);
        }
    }
    let slope = values.one("k")?;
    let mut polygons = table(&["c", "m", "rate"]);
    for k in -18..=18 {
        let c = 0.05 * f64::from(k);
        let phi = Interaction::parse("1/(1 + exp(-k*(s - c)))", &[("k", slope), ("c", c)])?;
        for m in 3..=values.count("corners")? {
            // The first rate belongs to rotations.
            let rates = polygon_rates(&phi, RowSum::Plain, m)?;
            let largest = rates[1..].iter().copied().fold(f64::NEG_INFINITY, nan_max);
            polygons.rows.push(vec![c, m as f64, largest / phi.value(1.0)?]);
        }
    }
    Ok(vec![("phases".into(), shares), ("polygons".into(), polygons)])
}

/// Where a run ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// At one point, or at two opposite points.
    Line,
    /// Elsewhere.
    Other,
    /// Nowhere: it had not come to rest.
    Unfinished,
}

fn end(flow: &Dynamics, n: usize, k: usize, seed: u64) -> Result<End> {
    let mut stream = Stream::new(seed, &["interaction-phases", &n.to_string(), &k.to_string()]);
    let x = Law::parse("uniform")?.sample(n, 2, &mut stream)?;
    let options = Options { rtol: 1e-6, max_steps: 3_000, ..Options::default() };
    let solution = solve(flow, &x, END, &options, &mut [])?;
    let (clusters, _) = clusters_within(&solution.clusters, 1e-3);
    let on_a_line = |x: &Tokens| {
        x.rows().all(|row| {
            let angle = dist(x.row(0), row);
            !(1e-3..=PI - 1e-3).contains(&angle)
        })
    };
    Ok(if on_a_line(&clusters) {
        End::Line
    } else if solution.outcome.end_state_is_known() {
        End::Other
    } else {
        End::Unfinished
    })
}

/// Left: powers. Right: sigmoids.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "synchronisation-phases",
    title: "Which interactions gather tokens on the circle: powers s^p and steep sigmoids",
    study: Some(&PART),
    draw: |inputs| {
        let (phases, polygons) = (inputs.table("phases")?, inputs.table("polygons")?);
        let powers = panel(
            phases,
            ["p", "n", "line"],
            "\u{3c6}(s) = s^p",
            Axis::linear("share of starts that end on one line", 0.0, 1.0),
            |share| share,
        );
        let fastest = -span(polygons.column("rate"), (-0.1, 0.0)).0.min(-1e-3);
        let sigmoids = panel(
            polygons,
            ["c", "m", "rate"],
            "\u{3c6}(s) = 1/(1 + exp(\u{2212}k(s \u{2212} c)))",
            Axis::linear("rate at which m clusters return to a polygon", 0.0, fastest),
            |rate| (-rate).max(0.0),
        );
        let odd = phases.rows.iter().filter(|r| (r[0] as i64) % 2 == 1).map(|r| r[3]);
        let caption = format!(
            "USA with the interaction phi on the circle. Left: the share of {} random starts of n \
            equal tokens that end at one point or at two opposite points. Under odd p nearly all \
            do (at most {:.0} % of a cell had not come to rest); under even p three clusters at \
            obtuse angles stay, and two tokens can stop at a right angle, where the force \
            vanishes. Right, k = {}: the slowest rate at which m equal clusters return to a \
            regular m-gon, over phi(1); 0 if they leave it. The interaction increases, so three or \
            four clusters never stay; five or more can.",
            inputs.values.count("starts")?,
            100.0 * span(odd, (0.0, 0.0)).1,
            inputs.values.one("k")?
        );
        Ok(Picture { panels: vec![powers, sigmoids], columns: 2, aspect: 0.9, caption })
    },
    ..PaperFigure::EMPTY
};

/// A raster of a table with the columns across, up and value. Its rows are ordered by the first
/// column, then by the second one.
fn panel(
    table: &crate::flow::Table,
    [across, up, value]: [&str; 3],
    title: &str,
    shade: Axis,
    shown: fn(f64) -> f64,
) -> Panel {
    let (columns, rows) = (distinct(table, across), distinct(table, up));
    let found = table.column(value);
    let values = (0..rows.len())
        .map(|r| (0..columns.len()).map(|c| shown(found[c * rows.len() + r])).collect())
        .collect();
    let (x, y) = (edges(&columns), edges(&rows));
    let mut panel = Panel::new(
        title,
        Axis::linear(across, x[0], x[columns.len()]),
        Axis::linear(up, y[0], y[rows.len()]),
    );
    panel.marks.push(Mark::Heat { x, y, values, shade });
    panel
}

/// Cell edges around sorted centres.
fn edges(centres: &[f64]) -> Vec<f64> {
    let n = centres.len();
    let half = |a: usize, b: usize| 0.5 * (centres[b] - centres[a]);
    let mut out: Vec<f64> = centres.windows(2).map(|w| 0.5 * (w[0] + w[1])).collect();
    let (first, last) = if n > 1 { (half(0, 1), half(n - 2, n - 1)) } else { (0.5, 0.5) };
    out.insert(0, centres[0] - first);
    out.push(centres[n - 1] + last);
    out
}
