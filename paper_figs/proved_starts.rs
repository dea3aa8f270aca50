//! Share of starts that provably converge to one point, and the causes of failure of the other
//! proofs.

use super::{PaperFigure, distinct, groups};
use crate::attention::{RowWeights, Variant};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::error::Result;
use crate::num::stream::Stream;
use crate::proofs::trajectory::{Cause, Neighbourhood, prove};
use crate::sphere::law::Law;
use crate::study::{Parameter, Part, Study, Tables, Values, table};
use rayon::prelude::*;

/// Share of starts that provably converge to one point, over the number of tokens and beta.
///
/// SA from uniform starts on the circle and the sphere.
pub static STUDY: Study = Study {
    name: "proved-starts",
    title: "Share of uniform starts that provably converge to one point, and why the other proofs fail",
    citation: "the lemmas of `proofs::trajectory`; arXiv:2312.10794, Lemma 6.4",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count("d", &[2.0, 3.0], (2.0, 8.0), "dimensions"),
        Parameter::count("n", &[4.0, 8.0], (2.0, 64.0), "tokens"),
        Parameter::real("beta", &[1.0, 4.0, 9.0, 16.0, 25.0], (0.0, 100.0), "inverse temperatures"),
        Parameter::count("starts", &[10.0], (1.0, 10000.0), "uniform starts for each"),
        Parameter::real(
            "radius",
            &[1e-5],
            (0.0, 0.1),
            "distance of each token from its start, over which the proof holds; with 0 all starts are proved",
        ),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the starts"),
    ],
    run,
};

fn run(values: &Values) -> Result<Tables> {
    let (starts, radius, seed) =
        (values.count("starts")?, values.one("radius")?, values.one("seed")? as u64);
    let mut out = table(&[
        "d",
        "n",
        "beta",
        "proved",
        "growth",
        "enclosure",
        "defect",
        "steady_state",
        "limit",
    ]);
    for &d in values.list("d")? {
        for &n in values.list("n")? {
            for &beta in values.list("beta")? {
                // The same starts as `certify start --init uniform --trials`.
                let one = |k: usize| {
                    let mut stream = Stream::new(seed.wrapping_add(k as u64), &["cli", "init"]);
                    let x = Law::parse("uniform")?.sample(n as usize, d as usize, &mut stream)?;
                    let near =
                        Neighbourhood::new(Variant::mutual(RowWeights::Softmax), beta, &x, radius)?;
                    Ok(prove(&near)?.map_err(|failure| failure.cause).err())
                };
                let found: Vec<Option<Cause>> =
                    (0..starts).into_par_iter().map(one).collect::<Result<_>>()?;
                let share = |cause: Option<Cause>| {
                    found.iter().filter(|f| **f == cause).count() as f64 / starts as f64
                };
                let failures = Cause::ALL.into_iter().map(|c| share(Some(c)));
                out.rows.push([d, n, beta, share(None)].into_iter().chain(failures).collect());
            }
        }
    }
    Ok(vec![("starts".into(), out)])
}

/// A row of panels per dimension: the share of proved starts, and the causes of failure.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "proved-starts",
    title: "Starts that provably converge to one point, and why the other proofs fail",
    study: Some(&PART),
    draw: |inputs| {
        let table = inputs.table("starts")?;
        let mut panels = Vec::new();
        let betas = distinct(table, "beta");
        let (low, high) =
            betas.iter().fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(*v), b.max(*v)));
        let axis = || {
            Axis::linear(
                "\u{3b2}",
                low - 0.05 * (high - low).max(1.0),
                high + 0.05 * (high - low).max(1.0),
            )
        };
        for (d, rows) in groups(table, "d") {
            let mut proved = Panel::new(
                format!("proved, d = {d}"),
                axis(),
                Axis::linear("share of starts", -0.05, 1.05),
            );
            let mut unproved = Panel::new(
                format!("not proved, by cause, d = {d}"),
                axis(),
                Axis::linear("share of starts", -0.05, 1.05),
            );
            for (k, (n, rows)) in groups(&rows, "n").into_iter().enumerate() {
                let over = |column: &str| {
                    rows.column("beta").into_iter().zip(rows.column(column)).collect::<Vec<_>>()
                };
                let dash = [Dash::Solid, Dash::Dashed, Dash::Dotted][k % 3];
                proved.line(over("proved"), k, dash, format!("n = {n}"));
                for (c, cause) in CAUSES
                    .iter()
                    .enumerate()
                    .filter(|(_, cause)| rows.column(cause).iter().any(|v| *v > 0.0))
                {
                    let (values, cause) = (over(cause), cause.replace('_', "-"));
                    let known = unproved
                        .marks
                        .iter()
                        .any(|m| matches!(m, Mark::Line { label, .. } if *label == cause));
                    unproved.line(values, c, dash, if known { String::new() } else { cause });
                }
            }
            proved.legend = Some(Corner::BottomLeft);
            unproved.legend = Some(Corner::TopLeft);
            panels.extend([proved, unproved]);
        }
        let caption = format!(
            "{} uniform starts for each point under SA{}: share that provably converges to one \
            point, by an accurate path, interval bounds of its defect and the logarithmic norm \
            (left), and the other starts by the cause of failure (right; lines as on the left). \
            growth: the error outgrew the distance from every hemisphere; steady-state: the enclosure \
            may contain a steady state; limit: too many steps, or a slow state of more than 1e15 units of time.",
            inputs.values.count("starts")?,
            match inputs.values.one("radius")? {
                r if r > 0.0 => format!(", each token anywhere within {r} of its position"),
                _ => String::new(),
            }
        );
        Ok(Picture { panels, columns: 2, aspect: 0.7, caption })
    },
    ..PaperFigure::EMPTY
};

/// Columns of the causes of failure.
const CAUSES: [&str; 5] = ["growth", "steady_state", "enclosure", "defect", "limit"];
