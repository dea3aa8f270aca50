//! Eigenvalues of the Hessian of the energy along a run: its unstable directions.

use super::connections::settings;
use super::{PaperFigure, series, span};
use crate::attention::{Spec, dynamics};
use crate::draw::{Axis, Dash, Panel, Picture};
use crate::error::Result;
use crate::flow::{Frame, Observer, Options, Table, solve};
use crate::landscape::Spectrum;
use crate::num::stream::Stream;
use crate::sphere::law::Law;
use crate::study::{Parameter, Part, Tables, Values, table};

/// The Hessian along a run.
pub static PART: Part = Part {
    parameters: &[
        Parameter::real("beta", &[10.0], (0.5, 40.0), "inverse temperature"),
        Parameter::count("n", &[12.0], (2.0, 64.0), "tokens"),
        Parameter::count("seed", &[3.0], (0.0, 9e15), "seed of the start"),
    ],
    run: spectrum,
};

/// Eigenvalues of the Hessian at every step of a run.
struct Eigenvalues {
    beta: f64,
    rows: Vec<Vec<f64>>,
}

impl Observer for Eigenvalues {
    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        let sizes = crate::landscape::slow_states::cluster_sizes(frame.labels, frame.tokens.n());
        if let Ok(spectrum) = Spectrum::of_clusters(self.beta, frame.tokens, &sizes) {
            self.rows.extend(
                spectrum.values.iter().enumerate().map(|(k, v)| vec![frame.t, k as f64, *v]),
            );
        }
    }
}

/// One run on the circle.
fn spectrum(values: &Values) -> Result<Tables> {
    let (beta, n, seed) = settings(values)?;
    let x = Law::parse("uniform")?.sample(n, 2, &mut Stream::new(seed, &["landscape-tour"]))?;
    let sa = dynamics::build("sa", false, &Spec::new(beta, n))?;
    let mut watch = Eigenvalues { beta, rows: Vec::new() };
    let options =
        Options { rtol: 1e-6, merge_radius: 1e-5, stop_at_one_cluster: true, ..Options::default() };
    solve(&sa, &x, 1e300, &options, &mut [&mut watch])?;
    let mut out = table(&["t", "k", "eigenvalue"]);
    out.rows = watch.rows;
    Ok(vec![("spectrum".into(), out)])
}

/// Eigenvalues of smaller magnitude are rounding errors and are not drawn.
const MIN_EIGENVALUE: f64 = 1e-12;

/// Eigenvalues of the Hessian along a run.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "hessian-spectrum",
    title: "Eigenvalues of the Hessian along a run",
    study: Some(&PART),
    draw: |inputs| {
        let table = inputs.table("spectrum")?;
        let last = table.column("t").into_iter().fold(1.0, f64::max);
        let after = table.column("t").into_iter().filter(|t| *t > 0.0);
        let first = after.fold(last, f64::min).max(EARLIEST);
        let (low, high) = span(of_sign(table, true), (1e-3, 1.0));
        let deepest = span(of_sign(table, false), (-1.0, 0.0)).0;
        let panel = |title, eigenvalues, positive, colour| {
            let panel = Panel::new(title, Axis::log("t", first, 1.5 * last), eigenvalues);
            with_curves(panel, curves(table, first, positive), colour)
        };
        let unstable = Axis::log("eigenvalue", 0.5 * low, 2.0 * high);
        let stable = Axis::linear("eigenvalue", 1.05 * deepest, 0.0);
        let panels = vec![
            panel("unstable directions", unstable, true, 1),
            panel("stable directions", stable, false, 0),
        ];
        let ends = span(table.column("t"), (0.0, last));
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
            positive_at(table, ends.0),
            positive_at(table, ends.1)
        );
        Ok(Picture { panels, columns: 2, aspect: 0.85, caption })
    },
    ..PaperFigure::EMPTY
};

/// The time axis begins here at the earliest.
const EARLIEST: f64 = 1e-3;

/// The eigenvalues of one sign that are drawn.
fn of_sign(table: &Table, positive: bool) -> impl Iterator<Item = f64> {
    let all = table.column("eigenvalue").into_iter();
    all.filter(move |v| v.abs() > MIN_EIGENVALUE && (*v > 0.0) == positive)
}

/// The number of positive eigenvalues at a time of the table.
fn positive_at(table: &Table, at: f64) -> usize {
    let here = |(t, v): &(f64, f64)| (t - at).abs() <= 1e-12 * at && *v > MIN_EIGENVALUE;
    series(table, "t", "eigenvalue").iter().filter(|point| here(point)).count()
}

/// A panel with curves. Between two changes there may be one step only, a dot.
fn with_curves(mut panel: Panel, curves: Vec<Vec<(f64, f64)>>, colour: usize) -> Panel {
    for points in curves {
        match points.len() {
            0 | 1 => panel.points(points, colour, 0.7, ""),
            _ => panel.line(points, colour, Dash::Solid, ""),
        };
    }
    panel
}

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
