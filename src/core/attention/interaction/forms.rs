//! The forms in which kernels evaluate an interaction: powers, Chebyshev sums, exponentials.

use crate::attention::kernel::{
    Arcs, ArcsProfile, CELLS, Cells, MAX_DEGREE, MAX_ORDER, PairSeries, Piece, PieceForm, Powers,
    Series, SeriesProfile, WeightProfile,
};
use crate::error::Result;
use crate::num::chebyshev_series::ChebyshevSeries;
use crate::num::dd::Dd;
use crate::num::formula::{Compiled, Formula, Number};

/// Extreme values at sampled points.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extremes {
    /// Where phi is smallest, and its value.
    pub least: (f64, f64),
    /// The largest value of phi.
    pub most: f64,
    /// The largest absolute value of phi.
    pub size: f64,
    /// The largest absolute value of its derivative.
    pub slope: f64,
    /// The largest absolute value of the derivative of `log |phi|`.
    pub log_slope: f64,
}

/// The derivative of an interaction in lanes.
#[derive(Clone, Debug)]
pub(crate) enum Slopes {
    /// `phi'`.
    Values(PairSeries),
    /// `phi' / phi`, where phi is the exponential of a series.
    Ratio(PairSeries),
}

/// Powers are used if their coefficients sum to at most this multiple of the largest value; the
/// rounding error grows with the sum, and stays below 1e-14 of the largest value. Powers cost half
/// as much as Chebyshev sums.
const MAX_GROWTH: f64 = 32.0;

/// Longer series are summed by Clenshaw's recurrence.
const MAX_POWERS: usize = 64;

/// A positive interaction that varies by more than this factor is represented by its logarithm.
const MAX_VARIATION: f64 = 64.0;

/// A longer logarithm would cost more than the function itself.
const MAX_LOGARITHM: usize = 40;

/// The series by pieces (ascending in s) as a function of `z = reach - s`.
pub fn pair_series(series: &[ChebyshevSeries], reach: f64) -> PairSeries {
    let piece = |p: &ChebyshevSeries| {
        let (low, high) = p.interval();
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        Piece {
            from: if high >= reach { f64::NEG_INFINITY } else { reach - high },
            shift: (reach - middle) / half,
            slope: 1.0 / half,
            form: form(p),
        }
    };
    PairSeries { pieces: series.iter().rev().map(piece).collect(), factor: 1.0 }
}

fn form(p: &ChebyshevSeries) -> PieceForm {
    let powers = powers(p);
    // Operations per weight: one a power, two a Chebyshev coefficient or a coefficient of a cell.
    let cost = p.degree() * if powers.is_some() { 1 } else { 2 };
    if cost > MIN_CELLS
        && let Some(cells) = cells(p)
        && 5 * (2 * cells.terms() + 5) < 4 * cost
    {
        return PieceForm::Cells(cells);
    }
    match powers {
        Some(powers) => PieceForm::Powers(powers),
        None => PieceForm::Chebyshev(p.coefficients()),
    }
}

/// Series of fewer operations are evaluated as they are.
const MIN_CELLS: usize = 48;

/// A long series by powers on cells, if these are harmless.
fn cells(p: &ChebyshevSeries) -> Option<Cells> {
    let (low, high) = p.interval();
    let size = largest_sample(p);
    let end = |k: usize| low + (high - low) * (k as f64 / CELLS as f64);
    let mut all: [Vec<f64>; CELLS] = Default::default();
    for (k, powers) in all.iter_mut().enumerate() {
        let cell = ChebyshevSeries::fit(|s| Ok(p.value_at(s)), end(k), end(k + 1)).ok()?;
        // p itself is exact to this part of its largest value.
        *powers = cell.shortened(1e-17 * size).powers();
        let growth: f64 = powers.iter().map(|c| c.abs()).sum();
        if growth > MAX_GROWTH * size {
            return None;
        }
    }
    Some(Cells::new(&all))
}

/// The largest absolute value at 65 points.
fn largest_sample(p: &ChebyshevSeries) -> f64 {
    let (low, high) = p.interval();
    (0..=64).fold(0.0, |m: f64, k| m.max(p.value(low + (high - low) * f64::from(k) / 64.0).abs()))
}

/// The powers of a series, if they are harmless.
fn powers(p: &ChebyshevSeries) -> Option<Powers> {
    if p.degree() > MAX_POWERS {
        return None;
    }
    let size = largest_sample(p);
    let powers = p.powers();
    let growth: f64 = powers.iter().map(|c| c.abs()).sum();
    // Coefficients far below the rounding error of the largest value change nothing.
    let cleaned: Vec<f64> =
        powers.iter().map(|c| if c.abs() < 1e-19 * size { 0.0 } else { *c }).collect();
    (growth <= MAX_GROWTH * size).then(|| Powers::new(&cleaned))
}

/// A positive interaction of large variation as `factor 2^{exponent - z p(z)}`, which keeps small
/// weights relatively accurate and costs one exponential and a short series: for `e^{beta s}` p is
/// a number.
pub fn logarithmic(
    phi: &Compiled<Dd>,
    series: &[ChebyshevSeries],
    reach: f64,
    (least, most): (f64, f64),
) -> Result<Option<PairSeries>> {
    if series.len() > 1 || least <= 0.0 || most <= MAX_VARIATION * least {
        return Ok(None);
    }
    let log2 =
        |s: Dd| -> Result<Dd> { Ok(Number::ln(phi.at(s)?.value) / Number::ln(Dd::from(2.0))) };
    let top = log2(Dd::from(reach))?;
    // The largest value may lie between samples.
    let at_top = phi.at(Dd::from(reach))?.value.to_f64() >= most;
    let highest = if at_top { top } else { Dd::from(most.log2() + 0.01) };
    let slope = |z: Dd| -> Result<Dd> {
        if z.is_zero() {
            let at = phi.at(Dd::from(reach))?;
            return Ok(at.first / at.value / Number::ln(Dd::from(2.0)));
        }
        Ok((top - log2(Dd::from(reach) - z)?) / z)
    };
    let Ok(fitted) = ChebyshevSeries::fit(slope, 0.0, 2.0 * reach) else { return Ok(None) };
    let Some(slope) = powers(&fitted).filter(|_| fitted.degree() <= MAX_LOGARITHM) else {
        return Ok(None);
    };
    let form = PieceForm::Exponential { exponent: (top - highest).to_f64(), slope };
    let factor = if at_top {
        phi.at(Dd::from(reach))?.value
    } else {
        Number::exp(highest * Number::ln(Dd::from(2.0)))
    };
    let piece = Piece { from: f64::NEG_INFINITY, shift: -1.0, slope: -1.0 / reach, form };
    Ok(Some(PairSeries { pieces: vec![piece], factor: factor.to_f64() }))
}

/// `phi' / phi` of a positive interaction.
pub fn ratio(phi: &Compiled<Dd>, reach: f64) -> Result<PairSeries> {
    let ratio = |s: Dd| phi.at(s).map(|at| at.first / at.value);
    Ok(pair_series(&[ChebyshevSeries::fit(ratio, -reach, reach)?], reach))
}

/// A bound of the largest value, which may lie between samples.
fn bound(size: f64) -> f64 {
    1.01 * size.max(f64::MIN_POSITIVE)
}

/// The tails of the series for fast sums, as for the exponential: below the rounding of the sums.
const TAIL: f64 = 1e-15;

/// Longer pieces on the circle are not used.
const MAX_PIECE: usize = 64;

/// The pieces of a weight with kinks as trigonometric polynomials on the circle. Each is the branch
/// of the formula, continued to all of [-1, 1]; `None` if one of them is large or long there.
pub fn arcs(
    formula: &Formula,
    series: &[ChebyshevSeries],
    reach: f64,
    size: f64,
) -> Option<ArcsProfile> {
    if series.len() < 2 || reach > 1.0 {
        return None;
    }
    let size = bound(size);
    let (mut ends, mut pieces) = (Vec::new(), Vec::new());
    for piece in series.iter().rev() {
        let (low, high) = piece.interval();
        let branch = formula.branch(0.5 * (low + high)).ok()?.compile::<Dd>().ok()?;
        let value = |s: Dd| branch.at(s).map(|v| v.value);
        let whole = ChebyshevSeries::fit_within(value, -1.0, 1.0, MAX_PIECE).ok()?;
        let scaled: Vec<f64> = whole.coefficients().iter().map(|c| c / size).collect();
        if scaled.iter().map(|c| c.abs()).sum::<f64>() > MAX_GROWTH {
            return None;
        }
        ends.push(if low <= -1.0 { std::f64::consts::PI } else { low.acos() });
        pieces.push(Series::from_chebyshev(&scaled, TAIL, 2.0 * whole.error() / size));
    }
    Some(ArcsProfile::new(Arcs { ends, pieces }))
}

/// What fast sums need to know of the weights.
pub fn profile(
    series: &[ChebyshevSeries],
    weights: &PairSeries,
    reach: f64,
    range: &Extremes,
) -> WeightProfile {
    let u = 0.5 * f64::EPSILON;
    let size = bound(range.size);
    let relative =
        matches!(&weights.pieces[..], [Piece { form: PieceForm::Exponential { .. }, .. }]);
    let steepness = if relative { range.log_slope } else { 1.05 * range.slope / size };
    let error = series.iter().fold(0.0, |m: f64, p| m.max(p.error())) / size;
    let (mut rounding, mut cost) = (0.0f64, 0.2);
    for piece in &weights.pieces {
        let (errors, time) = match &piece.form {
            PieceForm::Powers(p) => (2.0 * MAX_GROWTH, 0.016 * p.degree() as f64),
            PieceForm::Chebyshev(c) => {
                let spread: f64 = c.iter().enumerate().map(|(k, c)| k as f64 * c.abs()).sum();
                (16.0 + 4.0 * spread / size, 0.034 * c.len() as f64)
            }
            PieceForm::Cells(cells) => (2.0 * MAX_GROWTH, 0.1 + 0.034 * cells.terms() as f64),
            // The rounding of the exponent, in units of ln 2, and the exponential.
            PieceForm::Exponential { slope, .. } => {
                (16.0 + 4.0 * reach * range.log_slope, 0.2 + 0.016 * slope.degree() as f64)
            }
        };
        (rounding, cost) = (rounding.max(errors * u), cost + time);
    }
    let jumps = series.windows(2).any(|w| {
        let at = w[0].interval().1;
        (w[0].value(at) - w[1].value(at)).abs() > 1e-12 * size
    });
    let whole = match series {
        [only] if reach <= 1.0 => Some(only),
        _ => None,
    };
    let tail = 2.0 * error;
    let scaled = |c: Vec<f64>| c.into_iter().map(|c| c / size).collect::<Vec<_>>();
    let circle = whole.filter(|s| s.degree() < MAX_ORDER).map(|s| {
        SeriesProfile::circle(Series::from_chebyshev(&scaled(s.coefficients()), TAIL, tail))
    });
    let sphere = whole
        .filter(|s| s.degree() < MAX_DEGREE)
        .map(|s| SeriesProfile::sphere(Series::from_legendre(&scaled(s.legendre()), TAIL, tail)));
    WeightProfile {
        size,
        steepness: if jumps { f64::INFINITY } else { steepness },
        relative,
        signed: range.least.1 < 0.0,
        rounding: rounding + error,
        cost,
        circle,
        sphere,
        arcs: None,
    }
}
