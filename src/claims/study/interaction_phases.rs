//! Synchronisation on the circle under families of interactions, and energies of three tokens.

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::attention::Dynamics;
use crate::attention::interaction::{Interaction, InteractionAttention, InteractionEnergy, RowSum};
use crate::error::Result;
use crate::flow::{Options, clusters_within, solve};
use crate::num::{stats::nan_max, stream::Stream, threads::par_map};
use crate::sphere::{Tokens, geometry::dist, law::Law};
use crate::theory::interaction::polygon_rates;
use std::f64::consts::{PI, TAU};

/// Tables: phases (p, n, line, unfinished), polygons (c, m, rate), energies (interaction, second,
/// third, energy).
pub static ENTRY: Study = Study {
    name: "interaction-phases",
    title: "Synchronisation on the circle under powers, regular polygons under sigmoids, energies \
        of three tokens",
    citation: "arXiv:2405.18273 (which interactions synchronise); derived",
    parts: &[&PHASES, &LANDSCAPES],
};

/// The interactions whose energies are computed.
pub const INTERACTIONS: [&str; 3] = ["exp(4*s)", "s^2", "s^3"];

/// Ends of runs from random tokens under powers, and rates of polygons under sigmoids.
pub static PHASES: Part = Part {
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

/// The energies of three tokens, one of them at the angle 0.
pub static LANDSCAPES: Part = Part {
    parameters: &[Parameter::count("grid", &[72.0], (8.0, 400.0), "angles in each direction")],
    run: landscapes,
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

fn landscapes(values: &Values) -> Result<Tables> {
    let grid = values.count("grid")?;
    let mut out = table(&["interaction", "second", "third", "energy"])
        .with_labels("interaction", INTERACTIONS);
    for (kind, text) in INTERACTIONS.into_iter().enumerate() {
        let energy = InteractionEnergy::new(Interaction::parse(text, &[])?);
        let angle = |k: usize| TAU * k as f64 / grid as f64 - PI;
        for (i, j) in (0..=grid).flat_map(|i| (0..=grid).map(move |j| (i, j))) {
            let (a, b) = (angle(i), angle(j));
            let value = energy.value(&Tokens::from_angles(&[0.0, a, b])?);
            out.rows.push(vec![kind as f64, a, b, value]);
        }
    }
    Ok(vec![("energies".into(), out)])
}
