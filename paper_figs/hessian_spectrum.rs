//! Eigenvalues of the Hessian of the energy along a run: its unstable directions.

use super::{PaperFigure, series};
use crate::draw::{Axis, Dash, Panel, Picture};
use crate::flow::Table;

/// Eigenvalues of smaller magnitude are rounding errors and are not drawn.
const MIN_EIGENVALUE: f64 = 1e-12;

/// Eigenvalues of the Hessian along a run.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "hessian-spectrum",
    title: "Eigenvalues of the Hessian along a run",
    study: Some(&crate::study::landscape_tour::SPECTRUM),
    draw: |inputs| {
        let table = inputs.table("spectrum")?;
        let last = table.column("t").into_iter().fold(1.0, f64::max);
        let first =
            table.column("t").into_iter().filter(|t| *t > 0.0).fold(last, f64::min).max(1e-3);
        let of = |positive: bool| {
            table
                .column("eigenvalue")
                .into_iter()
                .filter(move |v| v.abs() > MIN_EIGENVALUE && (*v > 0.0) == positive)
        };
        let time = || Axis::log("t", first, 1.5 * last);
        let (low, high) = super::span(of(true), (1e-3, 1.0));
        let mut unstable = Panel::new(
            "unstable directions",
            time(),
            Axis::log("eigenvalue", 0.5 * low, 2.0 * high),
        );
        let deepest = super::span(of(false), (-1.0, 0.0)).0;
        let mut stable = Panel::new(
            "stable directions",
            time(),
            Axis::linear("eigenvalue", 1.05 * deepest, 0.0),
        );
        for (panel, positive, colour) in [(&mut unstable, true, 1), (&mut stable, false, 0)] {
            // Between two changes there may be one step only.
            for points in curves(table, first, positive) {
                if points.len() > 1 {
                    panel.line(points, colour, Dash::Solid, "");
                } else {
                    panel.points(points, colour, 0.7, "");
                }
            }
        }
        let ends = super::span(table.column("t"), (0.0, last));
        let positive = |t: f64| {
            let at = if t > ends.0 { ends.1 } else { ends.0 };
            series(table, "t", "eigenvalue")
                .into_iter()
                .filter(|(t, v)| (t - at).abs() <= 1e-12 * at && *v > MIN_EIGENVALUE)
                .count()
        };
        let caption = format!(
            "Eigenvalues of the Hessian of E_beta (mass metric, over e^beta) along one SA run of \
            {} tokens on the circle at beta = {}; {} are positive at the first step and {} at the \
            last. Left: the positive ones, one for each unstable direction, on a logarithmic axis: \
            the longer a plateau, the smaller they are, and each merge removes the largest. Right: \
            the negative ones. Lines join the eigenvalues of one rank from step to step and are \
            broken where the number of positive ones changes; a dot is a single step. The zero \
            eigenvalue of the rotation and eigenvalues below 1e-12 are not drawn.",
            inputs.values.count("n")?,
            inputs.values.one("beta")?,
            positive(0.0),
            positive(last)
        );
        Ok(Picture { panels: vec![unstable, stable], columns: 2, aspect: 0.85, caption })
    },
    ..PaperFigure::EMPTY
};

/// The eigenvalues of one sign over time, one curve for each rank from the largest. Curves are
/// broken where the number of positive eigenvalues changes.
pub fn curves(table: &Table, first: f64, positive: bool) -> Vec<Vec<(f64, f64)>> {
    let mut out: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut before = None;
    let rows = series(table, "t", "eigenvalue");
    for rows in rows.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()).filter(|rows| rows[0].0 >= first)
    {
        let t = rows[0].0;
        let mut values: Vec<f64> = rows.iter().map(|(_, v)| *v).collect();
        values.sort_by(|a, b| b.total_cmp(a));
        let unstable = values.iter().filter(|v| **v > MIN_EIGENVALUE).count();
        let cut = before.is_some_and(|count| count != unstable);
        before = Some(unstable);
        let own: Vec<f64> = values
            .into_iter()
            .filter(|v| v.abs() > MIN_EIGENVALUE && (*v > 0.0) == positive)
            .collect();
        out.resize(out.len().max(own.len()), Vec::new());
        for (k, curve) in out.iter_mut().enumerate() {
            if cut && !curve.is_empty() {
                curve.push((t, f64::NAN));
            }
            curve.extend(own.get(k).map(|v| (t, *v)));
        }
    }
    out
}
