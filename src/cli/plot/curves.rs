//! Curves of a plot: for every x the median or the mean of its rows with an interval, one curve for
//! each group of rows; beside them what a theory says, and a fit.

use super::columns::{Column, LongTable, group_by_value};
use super::settings::{Law, LogAxes, PlotSettings};
use crate::cli::digits::with_error;
use crate::draw::{Axis, Corner, Dash, Panel, with_powers};
use crate::error::{Error, Result};
use crate::lab::report::math::letter;
use crate::num::stats::{LineFit, line_fit, mean_and_error, quantile, share_interval};

/// Largest number of curves in a panel.
const MAX_CURVES: usize = 12;

/// Ratio of the largest to the smallest positive value above which an axis is logarithmic by
/// default.
const LOG_SPAN: f64 = 1e3;

/// Margin above and below the curves, relative to the length of the axis.
const MARGIN: f64 = 0.04;

/// Columns with shares of the runs of a cell.
const SHARES: [&str; 2] = ["one_cluster", "proved_share"];

/// Confidence of the intervals of shares.
const CONFIDENCE: f64 = 0.95;

/// Numbers of points along a fit.
const FIT_POINTS: usize = 65;

/// A curve; its points are sorted by x.
pub struct Curve {
    label: String,
    points: Vec<PlotPoint>,
    /// What the theory says: pairs (x, median or mean).
    theory: Vec<(f64, f64)>,
    /// The fit, in the coordinates in which it is a line.
    pub fit: Option<LineFit>,
}

/// A point of a curve.
struct PlotPoint {
    x: f64,
    /// Median, mean or share.
    y: f64,
    /// Two percentiles, or the ends of an interval; NaN without one.
    interval: [f64; 2],
    /// Number of values at this x.
    values: usize,
}

/// What is drawn at every x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// Medians, with or without percentiles.
    Medians,
    /// Means with their standard error.
    Means,
    /// Shares of runs with their Clopper-Pearson interval.
    Shares,
}

impl Drawn {
    /// What these settings draw of a column.
    pub fn of(table: &LongTable, settings: &PlotSettings, y: &str) -> Self {
        let counted = table.find("realisations").is_some() && SHARES.contains(&y);
        match (counted, settings.mean) {
            (true, _) if settings.band.is_none() => Self::Shares,
            (_, true) => Self::Means,
            _ => Self::Medians,
        }
    }
}

/// The curves of one column over another, and the number of values left out because they are NaN or
/// infinite.
///
/// **Errors** a column that is unknown or has no numbers; too many curves; nothing to draw; a band
/// or means although every x has one value; a fit of fewer than three points.
pub fn curves(
    table: &LongTable,
    rows: &[usize],
    settings: &PlotSettings,
    y: &str,
) -> Result<(Vec<Curve>, usize)> {
    let (xs, ys) = (table.numbers("--x", &settings.x)?, table.numbers("--y", y)?);
    let theory = settings.theory.as_deref().map(|t| table.numbers("--theory", t)).transpose()?;
    let drawn = Drawn::of(table, settings, y);
    let runs = match drawn {
        Drawn::Shares => Some(table.numbers("--y", "realisations")?),
        _ => None,
    };
    let mut left_out = 0;
    let mut found = Vec::new();
    for (label, rows) in groups(table, rows, settings)? {
        let (mut points, mut stated) = (Vec::new(), Vec::new());
        for (x, rows) in group_by_value(&rows, xs) {
            let finite = |values: &[f64]| -> Vec<f64> {
                let all = rows.iter().map(|r| values[*r]);
                all.filter(|v| v.is_finite() && x.is_finite()).collect()
            };
            let values = finite(ys);
            left_out += rows.len() - values.len();
            let middle = |values: &[f64]| match drawn {
                Drawn::Means => mean_and_error(values).0,
                _ => quantile(values, 0.5),
            };
            if let Some(theory) = theory.map(finite).filter(|t| !t.is_empty()) {
                stated.push((x, middle(&theory)));
            }
            if values.is_empty() {
                continue;
            }
            let (y, interval) = match (drawn, settings.band, runs) {
                (Drawn::Shares, _, Some(runs)) => share(rows.iter().map(|r| (ys[*r], runs[*r]))),
                (Drawn::Means, None, _) => {
                    let (mean, error) = mean_and_error(&values);
                    (mean, [mean - error, mean + error])
                }
                (_, band, _) => {
                    let ends = |(low, high)| [low, high].map(|p| quantile(&values, 0.01 * p));
                    (middle(&values), band.map_or([f64::NAN; 2], ends))
                }
            };
            points.push(PlotPoint { x, y, interval, values: values.len() });
        }
        if !points.is_empty() {
            let fit = settings.fit.map(|law| fitted(&points, law)).transpose()?;
            found.push(Curve { label, points, theory: stated, fit });
        }
    }
    if found.is_empty() {
        return Err(Error::parameter(
            "--y",
            format!("`{y}` without a finite value"),
            "a column with numbers to draw",
        ));
    }
    let one = max_values_per_point(&found) < 2;
    let several = "several values at an x; an experiment with `mean = true` keeps only the mean of its realisations, with its `band` as columns";
    if let (Some((low, high)), true) = (settings.band, one) {
        let found = format!("{low},{high} with one value at every {}", settings.x);
        return Err(Error::parameter("--band", found, several));
    }
    if drawn == Drawn::Means && one {
        let found = format!("one value at every {}", settings.x);
        return Err(Error::parameter("--mean", found, several));
    }
    Ok((found, left_out))
}

/// The rows of every curve with its label.
///
/// **Errors** too many curves.
fn groups(
    table: &LongTable,
    rows: &[usize],
    settings: &PlotSettings,
) -> Result<Vec<(String, Vec<usize>)>> {
    let Some((by, Some(column))) = settings.by.as_ref().map(|by| (by, table.find(by))) else {
        return Ok(vec![(String::new(), rows.to_vec())]);
    };
    let groups = column.groups(rows);
    if groups.len() > MAX_CURVES {
        let found = format!("{by}, which has {} values", groups.len());
        let expected = format!(
            "at most {MAX_CURVES} curves: another column, or fewer rows with --where COLUMN=VALUE"
        );
        return Err(Error::parameter("--by", found, expected));
    }
    let values: Vec<String> = match column {
        Column::Numbers(_) => short(groups.iter().map(|g| g.0.as_str()).collect()),
        Column::Words(_) => groups.iter().map(|g| g.0.clone()).collect(),
    };
    let named = |((_, rows), value): ((String, Vec<usize>), String)| match column {
        // A model is written as KEY=VALUE already.
        Column::Words(_) if value.contains('=') => (with_powers(&value), rows),
        _ => (format!("{} = {value}", axis_label(by)), rows),
    };
    Ok(groups.into_iter().zip(values).map(named).collect())
}

/// The fewest significant digits, at least four, that keep these numbers apart.
fn short(values: Vec<&str>) -> Vec<String> {
    let rounded = |digits: usize| -> Option<Vec<String>> {
        let of = |v: &&str| {
            let v: f64 = v.parse().ok()?;
            let near: f64 = format!("{v:.*e}", digits - 1).parse().ok()?;
            Some(crate::error::format_number(near))
        };
        let all: Vec<String> = values.iter().map(of).collect::<Option<_>>()?;
        let mut distinct = all.clone();
        distinct.sort();
        distinct.dedup();
        (distinct.len() == all.len()).then_some(all)
    };
    (4..17).find_map(rounded).unwrap_or_else(|| values.iter().map(ToString::to_string).collect())
}

/// The share of hits in all runs of these cells (pairs share, runs), with its interval.
fn share(cells: impl Iterator<Item = (f64, f64)>) -> (f64, [f64; 2]) {
    let known = cells.filter(|c| c.0.is_finite());
    let (hits, runs) = known.fold((0.0, 0.0), |sum, c| (sum.0 + c.0 * c.1, sum.1 + c.1));
    (hits / runs, share_interval(hits.round() as usize, runs.round() as usize, CONFIDENCE))
}

/// The coordinates of a point in which a law is a line.
fn straight(law: Law, (x, y): (f64, f64)) -> (f64, f64) {
    match law {
        Law::Power => (x.ln(), y.ln()),
        Law::Exponential => (x, y.ln()),
        Law::Line => (x, y),
    }
}

/// The least-squares fit of a law to the points of a curve where it can hold.
///
/// **Errors** fewer than three such points.
fn fitted(points: &[PlotPoint], law: Law) -> Result<LineFit> {
    let seen = points.iter().map(|p| straight(law, (p.x, p.y)));
    let seen: Vec<(f64, f64)> = seen.filter(|p| (p.0 + p.1).is_finite()).collect();
    line_fit(&seen).ok_or_else(|| {
        let positive = match law {
            Law::Power => " with positive x and y",
            Law::Exponential => " with positive y",
            Law::Line => "",
        };
        let found = format!("a curve with {} points{positive}", seen.len());
        Error::parameter("--fit", found, "at least three, at different x")
    })
}

/// The points of a fit over the points of its curve.
fn drawn_fit(curve: &Curve, fit: &LineFit, law: Law) -> Vec<(f64, f64)> {
    let xs = curve.points.iter().filter(|p| law != Law::Power || p.x > 0.0).map(|p| p.x);
    let (low, high) = xs.fold((f64::INFINITY, f64::NEG_INFINITY), |r, x| (r.0.min(x), r.1.max(x)));
    let at = |k: usize| {
        let s = k as f64 / (FIT_POINTS - 1) as f64;
        let between = |a: f64, b: f64| (1.0 - s) * a + s * b;
        match law {
            Law::Power => {
                let x = between(low.ln(), high.ln());
                (x.exp(), (fit.intercept + fit.slope * x).exp())
            }
            Law::Exponential => {
                let x = between(low, high);
                (x, (fit.intercept + fit.slope * x).exp())
            }
            Law::Line => {
                let x = between(low, high);
                (x, fit.intercept + fit.slope * x)
            }
        }
    };
    (0..FIT_POINTS).map(at).collect()
}

/// The law with the fitted slope and its standard error: `x^b with b = 0.499 +- 0.003`.
pub fn fit_text(fit: &LineFit, law: Law, x: &str) -> String {
    // Points that lie on the law leave rounding errors only.
    let slope = with_error(fit.slope, fit.error.max(16.0 * f64::EPSILON * fit.slope.abs()));
    let x = axis_label(x);
    match law {
        Law::Power => format!("{x}^b with b = {slope}"),
        Law::Exponential => format!("exp(b {x}) with b = {slope}"),
        Law::Line => format!("slope {slope}"),
    }
}

/// The label of a curve, for a caption or JSON.
pub fn label(curve: &Curve) -> &str {
    &curve.label
}

/// The largest number of values at one x.
pub fn max_values_per_point(curves: &[Curve]) -> usize {
    curves.iter().flat_map(|c| &c.points).map(|p| p.values).max().unwrap_or(0)
}

/// A panel with these curves, and the number of points and ends of intervals that a logarithmic
/// axis cannot show.
///
/// **Errors** a logarithmic axis without positive values.
pub fn panel(curves: &[Curve], settings: &PlotSettings, y: &str) -> Result<(Panel, usize)> {
    let points = || curves.iter().flat_map(|c| &c.points);
    let xs: Vec<f64> = points().map(|p| p.x).collect();
    let theory = curves.iter().flat_map(|c| &c.theory).map(|p| p.1);
    let ys: Vec<f64> = points()
        .flat_map(|p| [p.y, p.interval[0], p.interval[1]])
        .chain(theory)
        .filter(|v| v.is_finite())
        .collect();
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
    // Markers and bars at the ends of an axis need a margin.
    let bars = settings.band.is_none() && points().any(|p| p.interval[0].is_finite());
    let wide = settings.points || settings.fit.is_some() || bars;
    let across = if wide { MARGIN } else { 0.0 };
    let mut panel =
        Panel::new("", axis(&settings.x, &xs, logs[0], across)?, axis(y, &ys, logs[1], MARGIN)?);
    let outside = |x: f64, y: f64| (logs[0] && x <= 0.0) || (logs[1] && y <= 0.0);
    let hidden = points()
        .flat_map(|p| [p.y, p.interval[0], p.interval[1]].map(|y| outside(p.x, y)))
        .filter(|out| *out)
        .count();
    // A logarithmic axis draws an interval that reaches 0 down to its end.
    let lowest = |v: f64| if logs[1] && v <= 0.0 { f64::MIN_POSITIVE } else { v };
    let filled = settings.band.is_some();
    let intervals = |curve: &Curve| -> Vec<(f64, [f64; 2])> {
        let seen = curve.points.iter().filter(|p| !outside(p.x, p.interval[1]));
        let ends = seen.map(|p| (p.x, p.interval.map(lowest)));
        ends.filter(|p| p.1[0].is_finite() && p.1[1].is_finite()).collect()
    };
    // Grey, the last colour, is for reference lines.
    let colour = |k: usize| k % 7;
    // Bands come first, so that no band hides a curve.
    for (k, curve) in curves.iter().enumerate() {
        let ends = intervals(curve);
        if !ends.is_empty() {
            panel.intervals(ends, colour(k), filled);
        }
    }
    let shown = |(x, y): (f64, f64)| (x, if outside(x, y) { f64::NAN } else { y });
    for (k, curve) in curves.iter().enumerate() {
        let line = curve.points.iter().filter(|p| !logs[0] || p.x > 0.0);
        let mut line: Vec<(f64, f64)> = line.map(|p| shown((p.x, p.y))).collect();
        let fit = settings.fit.zip(curve.fit.as_ref());
        let mut label = curve.label.clone();
        if let Some((law, fit)) = &fit {
            let gap = if label.is_empty() { "" } else { ": " };
            label.push_str(&format!("{gap}{}", fit_text(fit, *law, &settings.x)));
        }
        // A fit is seen only beside markers.
        if settings.points || fit.is_some() {
            line.retain(|p| p.1.is_finite());
            panel.points(line, colour(k), 1.6, label);
        } else {
            panel.line(line, colour(k), Dash::for_series(k), label);
        }
        if let Some((law, fit)) = fit {
            let line = drawn_fit(curve, fit, law).into_iter().map(shown).collect();
            panel.line(line, colour(k), PlotSettings::FIT, "");
        }
    }
    let mut named = false;
    for (k, curve) in curves.iter().enumerate() {
        if let (Some(name), false) = (&settings.theory, curve.theory.is_empty()) {
            let label = if named { String::new() } else { axis_label(name) };
            let line = curve.theory.iter().copied().map(shown).collect();
            panel.line(line, colour(k), PlotSettings::THEORY, label);
            named = true;
        }
    }
    let labelled = settings.by.is_some() || settings.fit.is_some() || settings.theory.is_some();
    panel.legend = labelled.then_some(Corner::TopRight);
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

/// The name of a column as a label: Greek letters, and the words of frequent columns.
pub fn axis_label(name: &str) -> String {
    let known = LABELS.iter().find(|(column, _)| *column == name);
    if let Some((_, label)) = known {
        return (*label).to_owned();
    }
    let word = |word: &str| letter(word).map_or_else(|| word.to_owned(), str::to_owned);
    name.split('_').map(word).collect::<Vec<_>>().join(" ")
}

/// Labels of columns whose names are abbreviated.
const LABELS: [(&str, &str); 8] = [
    ("t_one_cluster", "time to one cluster"),
    ("predicted_t", "predicted time to one cluster"),
    ("median_t_one_cluster", "median time to one cluster"),
    ("median_predicted_t", "median predicted time"),
    ("one_cluster", "share of runs in one cluster"),
    ("proved_share", "share of starts proved"),
    ("inner_min", "smallest inner product"),
    ("worst_inner_min", "smallest inner product"),
];
