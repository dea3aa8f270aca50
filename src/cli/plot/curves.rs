//! From rows to a picture: medians and percentiles at every x, one curve for each group of rows.

use super::columns::{LongTable, runs};
use super::wanted::{LogAxes, Wanted};
use crate::draw::{Axis, Corner, Dash, Panel};
use crate::error::{Error, Result};
use crate::num::stats::quantile;

/// Most curves of a panel.
const MOST: usize = 12;

/// Values that span more than this are drawn over their logarithm unless a flag says otherwise.
const WIDE: f64 = 1e3;

/// Room above and below the curves, as a share of the axis.
const MARGIN: f64 = 0.04;

/// A curve: what it is called and its points, by ascending x.
pub struct Curve {
    label: String,
    points: Vec<Place>,
}

/// What is drawn at an x.
struct Place {
    x: f64,
    median: f64,
    /// The ends of the band, where one is wanted.
    band: [f64; 2],
    /// How many values the median is of.
    values: usize,
}

/// The curves of a column over another one, and how many values were left out since they are NaN or
/// infinite.
///
/// **Errors** a column of words or none, too many curves, nothing to draw, a band of single values.
pub fn curves(table: &LongTable, rows: &[usize], wanted: &Wanted, y: &str) -> Result<(Vec<Curve>, usize)> {
    let (xs, ys) = (table.numbers("--x", &wanted.x)?, table.numbers("--y", y)?);
    let groups: Vec<(String, Vec<usize>)> = match wanted.by.as_ref().map(|by| (by, table.find(by))) {
        Some((by, Some(column))) => {
            let groups = column.groups(rows);
            if groups.len() > MOST {
                let found = format!("{by}, which has {} values", groups.len());
                let expected = format!("at most {MOST} curves: another column, or some of the rows with --where COLUMN=VALUE");
                return Err(Error::parameter("--by", found, expected));
            }
            groups.into_iter().map(|(value, rows)| (format!("{} = {value}", spoken(by)), rows)).collect()
        }
        _ => vec![(String::new(), rows.to_vec())],
    };
    let mut lost = 0;
    let mut drawn = Vec::new();
    for (label, rows) in groups {
        let mut points = Vec::new();
        for (x, rows) in runs(&rows, xs) {
            let found: Vec<f64> = rows.iter().map(|r| ys[*r]).filter(|v| v.is_finite() && x.is_finite()).collect();
            lost += rows.len() - found.len();
            if !found.is_empty() {
                let band = wanted.band.map_or([f64::NAN; 2], |(low, high)| [low, high].map(|p| quantile(&found, 0.01 * p)));
                points.push(Place { x, median: quantile(&found, 0.5), band, values: found.len() });
            }
        }
        if !points.is_empty() {
            drawn.push(Curve { label, points });
        }
    }
    if drawn.is_empty() {
        return Err(Error::parameter("--y", format!("`{y}` without a finite value"), "a column with numbers to draw"));
    }
    if let (Some((low, high)), true) = (wanted.band, most(&drawn) < 2) {
        let found = format!("{low},{high} with one value at every {}", wanted.x);
        let expected =
            "no band, or several realisations (an experiment with `mean = true` keeps only their mean, and its `band` as columns)";
        return Err(Error::parameter("--band", found, expected));
    }
    Ok((drawn, lost))
}

/// The largest number of values that a median is of.
pub fn most(curves: &[Curve]) -> usize {
    curves.iter().flat_map(|c| &c.points).map(|p| p.values).max().unwrap_or(0)
}

/// A panel with these curves, and how many medians and ends of bands a logarithmic axis leaves out.
///
/// **Errors** a logarithmic axis without positive values.
pub fn panel(curves: &[Curve], wanted: &Wanted, y: &str) -> Result<(Panel, usize)> {
    let places = || curves.iter().flat_map(|c| &c.points);
    let xs: Vec<f64> = places().map(|p| p.x).collect();
    let ys: Vec<f64> = places().flat_map(|p| [p.median, p.band[0], p.band[1]]).filter(|v| v.is_finite()).collect();
    // A time line begins at 0, which a logarithmic axis leaves out; of what is measured nothing is
    // left out unasked.
    let logs = match wanted.log {
        Some(LogAxes::None) => [false, false],
        Some(LogAxes::X) => [true, false],
        Some(LogAxes::Y) => [false, true],
        Some(LogAxes::Xy) => [true, true],
        None => [is_wide(&xs) && xs.iter().all(|v| *v >= 0.0), is_wide(&ys) && ys.iter().all(|v| *v > 0.0)],
    };
    let mut panel = Panel::new("", axis(&wanted.x, &xs, logs[0], 0.0)?, axis(y, &ys, logs[1], MARGIN)?);
    let shown = |v: f64, log: bool| if log && v <= 0.0 { f64::NAN } else { v };
    let hidden = |p: &Place| {
        let drawn = if wanted.band.is_some() { vec![p.median, p.band[0], p.band[1]] } else { vec![p.median] };
        drawn.iter().filter(|v| (logs[0] && p.x <= 0.0) || (logs[1] && **v <= 0.0)).count()
    };
    let hidden = places().map(hidden).sum();
    for (k, curve) in curves.iter().enumerate() {
        // Grey, the last colour, is for lines of reference.
        let colour = k % 7;
        let line = |value: &dyn Fn(&Place) -> f64| -> Vec<(f64, f64)> {
            let later = curve.points.iter().filter(|p| !logs[0] || p.x > 0.0);
            later.map(|p| (p.x, shown(value(p), logs[1]))).collect()
        };
        let label = curve.label.clone();
        if wanted.points {
            let points = line(&|p| p.median).into_iter().filter(|p| p.1.is_finite()).collect();
            panel.points(points, colour, 1.6, label);
        } else {
            panel.line(line(&|p| p.median), colour, Dash::of(k), label);
        }
        if wanted.band.is_some() {
            panel.line(line(&|p| p.band[0]), colour, Dash::Dotted, "");
            panel.line(line(&|p| p.band[1]), colour, Dash::Dotted, "");
        }
    }
    panel.legend = wanted.by.as_ref().map(|_| Corner::TopRight);
    Ok((panel, hidden))
}

/// True for positive values of more than three decades.
fn is_wide(values: &[f64]) -> bool {
    let positive = values.iter().copied().filter(|v| *v > 0.0);
    let (low, high) = positive.fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
    low < high && high / WIDE > low
}

/// An axis for these values with room at both ends.
fn axis(name: &str, values: &[f64], log: bool, margin: f64) -> Result<Axis> {
    let inside = values.iter().copied().filter(|v| !log || *v > 0.0);
    let (low, high) = inside.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let label = spoken(name);
    if log {
        if low > high {
            return Err(Error::parameter("--log", format!("`{name}` without a value above 0"), "an axis with positive values"));
        }
        let room = if high > low { (high.log10() - low.log10()) * margin } else { 0.3 };
        return Ok(Axis::log(label, low * 10f64.powf(-room), high * 10f64.powf(room)));
    }
    let size = if low.abs() > 0.0 { low.abs() } else { 1.0 };
    let room = if high > low { margin * (high - low) } else { 0.5 * size };
    let (low, high) = (low - room, high + room);
    let counts = values.iter().all(|v| v.fract().abs() < f64::EPSILON) && high - low < 100.0;
    Ok(if counts { Axis::whole(label, low, high) } else { Axis::linear(label, low, high) })
}

/// The name of a column as it is read.
pub fn spoken(name: &str) -> String {
    name.replace('_', " ")
}
