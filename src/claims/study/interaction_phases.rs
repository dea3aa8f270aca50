//! Synchronisation on the circle under families of interactions, and energies of three tokens.

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::attention::Dynamics;
use crate::attention::interaction::{Interaction, InteractionAttention, InteractionEnergy, RowSum};
use crate::error::Result;
use crate::flow::{Options, clusters_within, solve};
use crate::num::{stream::Stream, threads::par_map};
use crate::sphere::{Tokens, geometry::dist, law::Law};
use std::f64::consts::{PI, TAU};

/// Tables: phases (family, parameter, n, point, line, unfinished), energies (interaction, second,
/// third, energy).
pub static ENTRY: Study = Study {
    name: "interaction-phases",
    title: "Synchronisation on the circle under s^p and under sigmoids; the energies of three \
        tokens",
    citation: "arXiv:2405.18273 (which interactions synchronise); derived",
    parts: &[&PHASES, &LANDSCAPES],
};

/// Families of interactions on the circle, each with a parameter.
pub const FAMILIES: [&str; 2] = ["power", "sigmoid"];

/// The interactions whose energies are computed.
pub const INTERACTIONS: [&str; 3] = ["exp(4*s)", "s^2", "s^3"];

/// Ends of runs from random tokens.
pub static PHASES: Part = Part {
    parameters: &[
        Parameter::count(
            "n",
            &[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
            (2.0, 64.0),
            "tokens, rows of the diagrams",
        ),
        Parameter::count(
            "p",
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
            (0.0, 16.0),
            "powers",
        ),
        Parameter::real(
            "k",
            &[2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0],
            (0.1, 40.0),
            "slopes of the sigmoid 1/(1 + e^{-k (s + 1/4)})",
        ),
        Parameter::count("starts", &[40.0], (1.0, 1000.0), "random starts for each cell"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the starts"),
    ],
    run: phases,
};

/// The energies of three tokens, one of them at the angle 0.
pub static LANDSCAPES: Part = Part {
    parameters: &[Parameter::count("grid", &[48.0], (8.0, 400.0), "angles in each direction")],
    run: landscapes,
};

/// The interaction of a family with this parameter.
fn interaction(family: usize, parameter: f64) -> Result<Interaction> {
    if family == 0 {
        Interaction::parse("s^p", &[("p", parameter)])
    } else {
        Interaction::parse("1/(1 + exp(-k*(s + 0.25)))", &[("k", parameter)])
    }
}

/// The end of a run, in units of the smallest force: forces between distant tokens are of the
/// order `2^{-p}`.
const END: f64 = 1e6;

fn phases(values: &Values) -> Result<Tables> {
    let (starts, seed) = (values.count("starts")?, values.one("seed")? as u64);
    let mut out = table(&["family", "parameter", "n", "point", "line", "unfinished"])
        .with_labels("family", FAMILIES);
    for (family, name) in ["p", "k"].into_iter().enumerate() {
        for parameter in values.list(name)? {
            let phi = interaction(family, *parameter)?;
            let flow = Dynamics::single(InteractionAttention::new(phi, RowSum::Plain)?);
            for n in values.list("n")? {
                let runs: Vec<usize> = (0..starts).collect();
                let ends = par_map(&runs, |_, k| end(&flow, *n as usize, *k, seed))?;
                let share =
                    |kind: End| ends.iter().filter(|e| **e == kind).count() as f64 / starts as f64;
                let (point, line) = (share(End::Point), share(End::Line));
                let row =
                    [family as f64, *parameter, *n, point, point + line, share(End::Unfinished)];
                out.rows.push(row.to_vec());
            }
        }
    }
    Ok(vec![("phases".into(), out)])
}

/// Where a run ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// At one point.
    Point,
    /// At two opposite points.
    Line,
    /// Elsewhere.
    Other,
    /// Nowhere: it had not come to rest.
    Unfinished,
}

fn end(flow: &Dynamics, n: usize, k: usize, seed: u64) -> Result<End> {
    let mut stream = Stream::new(seed, &["interaction-phases", &n.to_string(), &k.to_string()]);
    let x = Law::parse("uniform")?.sample(n, 2, &mut stream)?;
    let options = Options { rtol: 1e-6, max_steps: 20_000, ..Options::default() };
    let solution = solve(flow, &x, END, &options, &mut [])?;
    let (clusters, _) = clusters_within(&solution.clusters, 1e-3);
    let on_a_line = |x: &Tokens| {
        x.rows().all(|row| {
            let angle = dist(x.row(0), row);
            angle < 1e-3 || angle > PI - 1e-3
        })
    };
    Ok(if clusters.n() == 1 {
        End::Point
    } else if on_a_line(&clusters) {
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
