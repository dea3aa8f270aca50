//! Merging times of two clusters collapse onto one law.

use super::{PaperFigure, distinct, groups, series};
use crate::attention::{Spec, dynamics};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::error::{Error, Result};
use crate::flow::{Options, solve};
use crate::sphere::Tokens;
use crate::study::{Parameter, Part, Study, Tables, Values, table};
use crate::theory::two_cluster::{mass_factor, merge_time_sa};

/// Merging times of two clusters against the exact reduction and its asymptotics.
///
/// SA from three angles, two mass ratios, beta up to 400.
pub static STUDY: Study = Study {
    name: "merging-times",
    title: "Merging times of two clusters: measured, exact quadrature, and the law \
        e^{beta (1 - rho)}",
    citation: "reduction of arXiv:2312.10794, (2.3) to two points; arXiv:2512.01868",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::real(
            "beta",
            &[5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 400.0],
            (2.0, 600.0),
            "inverse temperatures",
        ),
        Parameter::real(
            "rho",
            &[-0.5, 0.0, 0.5],
            (-0.99, 0.9),
            "inner products of the two clusters at the start",
        ),
        Parameter::real("alpha", &[0.5, 0.2], (0.01, 0.99), "masses of the first cluster"),
    ],
    run,
};

/// A time that is too large, with the names of the parameters of the study.
fn named(error: Error, beta: f64, rho: f64) -> Error {
    match error {
        Error::Beyond { .. } => Error::Beyond {
            quantity: format!("the merging time at beta = {beta} and rho = {rho}"),
            hint: format!(
                "use a smaller beta or a larger rho: beta (1 - rho) = {:.0} is above 709, the \
                 logarithm of the largest double",
                beta * (1.0 - rho)
            ),
        },
        other => other,
    }
}

fn run(values: &Values) -> Result<Tables> {
    let mut out = table(&["rho", "alpha", "beta", "measured", "exact", "exponent", "rescaled"]);
    for &rho in values.list("rho")? {
        for &alpha in values.list("alpha")? {
            for &beta in values.list("beta")? {
                let from = rho.acos();
                let to = (1.0 - 1.0 / beta).acos();
                let x = Tokens::from_angles(&[0.0, from])?.with_masses(&[alpha, 1.0 - alpha])?;
                let sa = dynamics::build("sa", false, &Spec::new(beta, 2))?;
                let options = Options { merge_radius: to, ..Options::default() };
                let end = solve(&sa, &x, 1e300, &options, &mut [])?;
                let measured = end.merges.first().map_or(f64::NAN, |m| m.t);
                let exact =
                    merge_time_sa(beta, alpha, from, to).map_err(|e| named(e, beta, rho))?;
                let exact = exact.value;
                let exponent = beta * (1.0 - rho);
                let rescaled = measured * beta * mass_factor(alpha) * (1.0 - rho * rho);
                out.rows.push(vec![rho, alpha, beta, measured, exact, exponent, rescaled]);
            }
        }
    }
    Ok(vec![("times".into(), out)])
}

/// Merging times of two clusters, over 260 orders of magnitude.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "merging-times",
    title: "Merging times of two clusters, over 260 orders of magnitude",
    study: Some(&PART),
    quick: true,
    draw: |inputs| {
        let table = inputs.table("times")?;
        let over = |column: &str| table.column(column).into_iter();
        let far = over("exponent").chain(over("rescaled").map(f64::ln));
        let (low, high) = super::span(far.chain([0.0]), (0.0, 1.0));
        let (low, high) =
            (if low < 0.0 { low - 0.03 * (high - low) } else { 0.0 }, high + 0.03 * (high - low));
        let mut collapse = Panel::new(
            "collapse",
            Axis::linear("\u{3b2} (1 \u{2212} \u{3c1}\u{2080})", low, high),
            Axis::linear("ln (T \u{3b2} c (1 \u{2212} \u{3c1}\u{2080}\u{b2}))", low, high),
        );
        collapse.line(vec![(low, low), (high, high)], 7, Dash::Dotted, "asymptotic law");
        let betas = super::span(over("beta"), (1.0, 1.0));
        let mut ratio = Panel::new(
            "relative error of T",
            Axis::log("\u{3b2}", 0.8 * betas.0, 1.25 * betas.1),
            Axis::linear("error / 10\u{207b}\u{b9}\u{b3}", -20.0, 20.0),
        );
        ratio.line(vec![(ratio.x.low, 0.0), (ratio.x.high, 0.0)], 7, Dash::Dotted, "");
        for (k, (rho, rows)) in groups(table, "rho").into_iter().enumerate() {
            let points = series(&rows, "exponent", "rescaled")
                .into_iter()
                .map(|(x, y)| (x, y.ln()))
                .collect();
            collapse.points(
                points,
                2 * k,
                1.8,
                format!("\u{3c1}\u{2080} = {rho}").replace('-', "\u{2212}"),
            );
            let errors = rows
                .column("beta")
                .into_iter()
                .zip(rows.column("measured").into_iter().zip(rows.column("exact")))
                .map(|(b, (m, e))| (b, (m / e - 1.0) * 1e13));
            ratio.points(errors.collect(), 2 * k, 1.8, "");
        }
        let largest = ratio.marks.iter().flat_map(|m| {
            if let Mark::Points { points, .. } = m { points.clone() } else { Vec::new() }
        });
        let top = largest.map(|p| 1.2 * p.1.abs()).fold(1.0, f64::max);
        (ratio.y.low, ratio.y.high) = (-top, top);
        collapse.legend = Some(Corner::TopLeft);
        let masses = distinct(table, "alpha")
            .iter()
            .map(|a| format!("{a}, {}", (1e12 * (1.0 - a)).round() / 1e12))
            .collect::<Vec<_>>();
        // There is no time for clusters that start closer than this angle, or do not reach it
        // within the run.
        let missing = over("rescaled").filter(|t| !(t.is_finite() && *t > 0.0)).count();
        let missing = if missing > 0 {
            format!(
                " {missing} of {} have no such time up to 1e300 and are not drawn.",
                table.rows.len()
            )
        } else {
            String::new()
        };
        let caption = format!(
            "Two clusters of masses {} under SA from inner products {}, beta = {}. Left: time to \
            the angle of cosine 1 - 1/beta, rescaled, against beta (1 - rho_0). Right: the \
            relative error of the integrated time against the exact quadrature, in units of \
            1e-13.{missing}",
            masses.join(" and "),
            super::join_numbers(&distinct(table, "rho")),
            super::join_numbers(&distinct(table, "beta"))
        );
        Ok(Picture { panels: vec![collapse, ratio], columns: 2, aspect: 0.8, caption })
    },
    ..PaperFigure::EMPTY
};
