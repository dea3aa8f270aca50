//! Curves of a plot: medians and percentiles at every x, one curve for each group of rows.

use super::columns::{LongTable, group_by_value};
use super::settings::{LogAxes, PlotSettings};
use crate::draw::{Axis, Corner, Dash, Panel};
use crate::error::{Error, Result};
use crate::num::stats::quantile;

/// Largest number of curves in a panel.
const MAX_CURVES: usize = 12;

/// Ratio of the largest to the smallest positive value above which an axis is logarithmic by
/// default.
const LOG_SPAN: f64 = 1e3;

/// Margin above and below the curves, relative to the length of the axis.
const MARGIN: f64 = 0.04;

/// A curve; its points are sorted by x.
pub struct Curve {
    label: String,
    points: Vec<PlotPoint>,
}

/// A point of a curve.
struct PlotPoint {
    x: f64,
    median: f64,
    /// The two percentiles; NaN without a band.
    band: [f64; 2],
    /// Number of values at this x.
    values: usize,
}

/// The curves of one column over another, and the number of values left out because they are NaN or
/// infinite.
///
/// **Errors** a column that is unknown or has no numbers; too many curves; nothing to draw; a band
/// although every x has one value.
pub fn curves(
    table: &LongTable,
    rows: &[usize],
    settings: &PlotSettings,
    y: &str,
) -> Result<(Vec<Curve>, usize)> {
    let (xs, ys) = (table.numbers("--x", &settings.x)?, table.numbers("--y", y)?);
    let groups: Vec<(String, Vec<usize>)> = match settings
        .by
        .as_ref()
        .map(|by| (by, table.find(by)))
    {
        Some((by, Some(column))) => {
            let groups = column.groups(rows);
            if groups.len() > MAX_CURVES {
                let found = format!("{by}, which has {} values", groups.len());
                let expected = format!(
                    "at most {MAX_CURVES} curves: another column, or fewer rows with --where COLUMN=VALUE"
                );
                return Err(Error::parameter("--by", found, expected));
            }
            groups
                .into_iter()
                .map(|(value, rows)| (format!("{} = {value}", axis_label(by)), rows))
                .collect()
        }
        _ => vec![(String::new(), rows.to_vec())],
    };
    let mut left_out = 0;
    let mut drawn = Vec::new();
    for (label, rows) in groups {
        let mut points = Vec::new();
        for (x, rows) in group_by_value(&rows, xs) {
            let found: Vec<f64> =
                rows.iter().map(|r| ys[*r]).filter(|v| v.is_finite() && x.is_finite()).collect();
            left_out += rows.len() - found.len();
            if !found.is_empty() {
                let band = settings.band.map_or([f64::NAN; 2], |(low, high)| {
                    [low, high].map(|p| quantile(&found, 0.01 * p))
                });
                points.push(PlotPoint {
                    x,
                    median: quantile(&found, 0.5),
                    band,
                    values: found.len(),
                });
            }
        }
        if !points.is_empty() {
            drawn.push(Curve { label, points });
        }
    }
    if drawn.is_empty() {
        return Err(Error::parameter(
            "--y",
            format!("`{y}` without a finite value"),
            "a column with numbers to draw",
        ));
    }
    if let (Some((low, high)), true) = (settings.band, max_values_per_point(&drawn) < 2) {
        let found = format!("{low},{high} with one value at every {}", settings.x);
        let expected = "several values at an x; an experiment with `mean = true` keeps only the mean of its realisations, with its `band` as columns";
        return Err(Error::parameter("--band", found, expected));
    }
    Ok((drawn, left_out))
}

/// The largest number of values at one x.
pub fn max_values_per_point(curves: &[Curve]) -> usize {
    curves.iter().flat_map(|c| &c.points).map(|p| p.values).max().unwrap_or(0)
}

/// A panel with these curves, and the number of medians and percentiles that a logarithmic axis
/// cannot show.
///
/// **Errors** a logarithmic axis without positive values.
pub fn panel(curves: &[Curve], settings: &PlotSettings, y: &str) -> Result<(Panel, usize)> {
    let points = || curves.iter().flat_map(|c| &c.points);
    let xs: Vec<f64> = points().map(|p| p.x).collect();
    let ys: Vec<f64> =
        points().flat_map(|p| [p.median, p.band[0], p.band[1]]).filter(|v| v.is_finite()).collect();
    // Times begin at 0, and a logarithmic axis may leave this point out. A logarithmic y axis is
    // chosen by default only if it shows all values.
    let logs = match settings.log {
        Some(LogAxes::None) => [false, false],
        Some(LogAxes::X) => [true, false],
        Some(LogAxes::Y) => [false, true],
        Some(LogAxes::Xy) => [true, true],
        None => [
            is_wide(&xs) && xs.iter().all(|v| *v >= 0.0),
            is_wide(&ys) && ys.iter().all(|v| *v > 0.0),
        ],
    };
    let mut panel =
        Panel::new("", axis(&settings.x, &xs, logs[0], 0.0)?, axis(y, &ys, logs[1], MARGIN)?);
    let shown = |v: f64, log: bool| if log && v <= 0.0 { f64::NAN } else { v };
    let hidden = |p: &PlotPoint| {
        let drawn = if settings.band.is_some() {
            vec![p.median, p.band[0], p.band[1]]
        } else {
            vec![p.median]
        };
        drawn.iter().filter(|v| (logs[0] && p.x <= 0.0) || (logs[1] && **v <= 0.0)).count()
    };
    let hidden = points().map(hidden).sum();
    for (k, curve) in curves.iter().enumerate() {
        // Grey, the last colour, is for reference lines.
        let colour = k % 7;
        let line = |value: &dyn Fn(&PlotPoint) -> f64| -> Vec<(f64, f64)> {
            let later = curve.points.iter().filter(|p| !logs[0] || p.x > 0.0);
            later.map(|p| (p.x, shown(value(p), logs[1]))).collect()
        };
        let label = curve.label.clone();
        if settings.points {
            let points = line(&|p| p.median).into_iter().filter(|p| p.1.is_finite()).collect();
            panel.points(points, colour, 1.6, label);
        } else {
            panel.line(line(&|p| p.median), colour, Dash::for_series(k), label);
        }
        if settings.band.is_some() {
            panel.line(line(&|p| p.band[0]), colour, Dash::Dotted, "");
            panel.line(line(&|p| p.band[1]), colour, Dash::Dotted, "");
        }
    }
    panel.legend = settings.by.as_ref().map(|_| Corner::TopRight);
    Ok((panel, hidden))
}

/// True if the positive values span more than `LOG_SPAN`.
fn is_wide(values: &[f64]) -> bool {
    let positive = values.iter().copied().filter(|v| *v > 0.0);
    let (low, high) =
        positive.fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
    low < high && high / LOG_SPAN > low
}

/// An axis for these values with margins.
fn axis(name: &str, values: &[f64], log: bool, margin: f64) -> Result<Axis> {
    let inside = values.iter().copied().filter(|v| !log || *v > 0.0);
    let (low, high) =
        inside.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let label = axis_label(name);
    if log {
        if low > high {
            return Err(Error::parameter(
                "--log",
                format!("`{name}` without positive values"),
                "an axis with positive values",
            ));
        }
        let pad = if high > low { (high.log10() - low.log10()) * margin } else { 0.3 };
        return Ok(Axis::log(label, low * 10f64.powf(-pad), high * 10f64.powf(pad)));
    }
    let size = if low.abs() > 0.0 { low.abs() } else { 1.0 };
    let pad = if high > low { margin * (high - low) } else { 0.5 * size };
    let (low, high) = (low - pad, high + pad);
    let counts = values.iter().all(|v| v.fract().abs() < f64::EPSILON) && high - low < 100.0;
    Ok(if counts { Axis::integer(label, low, high) } else { Axis::linear(label, low, high) })
}

/// The name of a column in words.
pub fn axis_label(name: &str) -> String {
    name.replace('_', " ")
}
