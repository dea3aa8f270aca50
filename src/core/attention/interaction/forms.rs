//! The forms in which kernels evaluate an interaction: powers, Chebyshev sums, exponentials.

use super::built_in::Form;
use crate::attention::kernel::{
    Arcs, ArcsProfile, CELLS, Cells, Closed, MAX_DEGREE, MAX_ORDER, PairSeries, Piece, PieceForm,
    Powers, Series, SeriesProfile, WeightProfile,
};
use crate::error::Result;
use crate::num::chebyshev_series::ChebyshevSeries;
use crate::num::dd::Dd;
use crate::num::formula::{Compiled, Formula, Number};
use crate::num::interval::Interval;

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
    /// The largest absolute value of `(r - s) phi'(s) / phi(s)`: by this multiple of a relative
    /// change of `r - s`, phi changes.
    pub condition: f64,
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

/// Short series on sixteen equal cells of a piece, ascending in s.
pub type CellSeries = Vec<ChebyshevSeries>;

/// The series by pieces (ascending in s) as a function of `z = reach - s`. Long pieces have short
/// series on cells.
pub fn pair_series(
    series: &[ChebyshevSeries],
    cells: &[Option<CellSeries>],
    reach: f64,
) -> PairSeries {
    let piece = |(p, cells): (&ChebyshevSeries, &Option<CellSeries>)| {
        let (low, high) = p.interval();
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        Piece {
            from: if high >= reach { f64::NEG_INFINITY } else { reach - high },
            shift: (reach - middle) / half,
            slope: 1.0 / half,
            form: form(p, cells.as_deref()),
        }
    };
    PairSeries { pieces: series.iter().zip(cells).rev().map(piece).collect(), factor: 1.0 }
}

/// The form of a named interaction that keeps small values relatively accurate.
pub fn closed(form: Form, reach: f64) -> PairSeries {
    let piece = |closed: Closed| Piece {
        from: f64::NEG_INFINITY,
        shift: reach,
        slope: 1.0,
        form: PieceForm::Closed(closed),
    };
    let pieces = match form {
        Form::Whole(closed) => vec![piece(closed)],
        // 1 + c - s = z + c + (1 - reach)
        Form::Inverse { c } => {
            vec![Piece { shift: c + (1.0 - reach), slope: -1.0, ..piece(Closed::Inverse) }]
        }
        Form::Positive(closed) => {
            let zero = PieceForm::Powers(Powers::new(&[0.0]));
            vec![piece(closed), Piece { from: reach, form: zero, ..piece(closed) }]
        }
    };
    PairSeries { pieces, factor: 1.0 }
}

fn form(p: &ChebyshevSeries, cells: Option<&[ChebyshevSeries]>) -> PieceForm {
    let powers = powers(p);
    // Operations per weight: one a power, two a Chebyshev coefficient or a coefficient of a cell.
    let cost = p.degree() * if powers.is_some() { 1 } else { 2 };
    if cost > MIN_CELLS
        && let Some(cells) = cells.and_then(|c| powers_of_cells(c, largest_sample(p)))
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

/// A long piece of a function by short series on cells; `None` if it is not long.
pub fn cells(p: &ChebyshevSeries, f: impl Fn(Dd) -> Result<Dd>) -> Option<CellSeries> {
    if 2 * p.degree() <= MIN_CELLS {
        return None;
    }
    let (low, high) = p.interval();
    let (size, points) = (largest_sample(p), CELLS as f64);
    let end = |k: usize| low + (high - low) * (k as f64 / points);
    // The outermost cell takes an eighth of all Chebyshev points, or less.
    let least = (p.degree() / 8).next_power_of_two().max(16);
    (0..CELLS)
        .map(|k| ChebyshevSeries::fit_within(&f, (end(k), end(k + 1)), least, size).ok())
        .collect()
}

/// The integrals of the series on cells, continuous, with this value at the lower end.
pub fn integrated(cells: &[ChebyshevSeries], at_low: Dd) -> CellSeries {
    let mut start = at_low;
    cells
        .iter()
        .map(|cell| {
            let own = cell.integral().plus(start);
            start = own.value_at(Dd::from(own.interval().1));
            own
        })
        .collect()
}

/// Powers on cells, if they are harmless.
fn powers_of_cells(cells: &[ChebyshevSeries], size: f64) -> Option<Cells> {
    let mut all: [Vec<f64>; CELLS] = Default::default();
    for (powers, cell) in all.iter_mut().zip(cells) {
        // The whole series is exact to this part of its largest value.
        *powers = cell.clone().shortened(1e-17 * size).powers();
        let growth: f64 = powers.iter().map(|c| c.abs()).sum();
        // Powers of long series overflow.
        let harmless = growth <= MAX_GROWTH * size && powers.len() <= 4 * MAX_POWERS;
        if !harmless {
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

/// Longer proofs are of logarithms with more than [`MAX_LOGARITHM`] terms.
const MAX_INTERVALS: usize = 512;

/// A positive interaction of large variation as `factor 2^{exponent - z p(z)}`, which keeps small
/// weights relatively accurate and costs one exponential and a short series: for `e^{beta s}` p is
/// a number. With it the series of `phi' / phi`.
pub fn logarithmic(
    formula: &Formula,
    phi: &Compiled<Dd>,
    pieces: usize,
    reach: f64,
    (least, most): (f64, f64),
) -> Result<Option<(PairSeries, PairSeries)>> {
    if pieces > 1 || least <= 0.0 || most <= MAX_VARIATION * least {
        return Ok(None);
    }
    let size = least.ln().abs().max(most.ln().abs());
    let intervals = formula.chebyshev_points((-reach, reach), (1e-17 * size, size), true);
    let Some(n) = intervals.ok().filter(|n| *n <= MAX_INTERVALS) else { return Ok(None) };
    let log2 = |s: Dd| -> Result<Dd> { Ok(Number::ln(phi.value(s)?) / Number::ln(Dd::from(2.0))) };
    let top = log2(Dd::from(reach))?;
    // No exponent may be above 0: the largest value may lie between samples.
    let at_top = is_largest_at_top(formula, reach)?;
    let highest =
        if at_top { top } else { Dd::from(least.log2() + 1.1 * (most / least).log2() + 0.01) };
    let slope = |z: Dd| -> Result<Dd> {
        if z.is_zero() {
            let at = phi.at(Dd::from(reach))?;
            return Ok(at.first / at.value / Number::ln(Dd::from(2.0)));
        }
        Ok((top - log2(Dd::from(reach) - z)?) / z)
    };
    // A divided difference of log phi is a polynomial of one degree less.
    let fitted = ChebyshevSeries::fit_within(slope, (0.0, 2.0 * reach), n, 0.0);
    let Ok(fitted) = fitted else { return Ok(None) };
    let Some(slope) = powers(&fitted).filter(|_| fitted.degree() <= MAX_LOGARITHM) else {
        return Ok(None);
    };
    let form = PieceForm::Exponential { exponent: (top - highest).to_f64(), slope };
    let factor = if at_top {
        phi.value(Dd::from(reach))?
    } else {
        Number::exp(highest * Number::ln(Dd::from(2.0)))
    };
    let piece = Piece { from: f64::NEG_INFINITY, shift: -1.0, slope: -1.0 / reach, form };
    let ratio = |s: Dd| phi.at(s).map(|at| at.first / at.value);
    let fitted = ChebyshevSeries::fit_within(ratio, (-reach, reach), n, 0.0)?;
    let ratio = pair_series(&[fitted], &[None], reach);
    Ok(Some((PairSeries { pieces: vec![piece], factor: factor.to_f64() }, ratio)))
}

/// Whether phi is proved to be largest at the largest inner product: from there on down, every box
/// has smaller values, or phi grows on it.
fn is_largest_at_top(formula: &Formula, reach: f64) -> Result<bool> {
    let phi = formula.compile::<Interval>()?;
    let top = phi.at(Interval::exact(reach))?.value.lo();
    let mut boxes = vec![(-reach, reach)];
    for _ in 0..MAX_INTERVALS {
        let Some((a, b)) = boxes.pop() else { return Ok(true) };
        let on = phi.at(Interval::new(a, b))?;
        if !(on.value.hi() <= top || on.first.lo() >= 0.0) {
            let middle = 0.5 * (a + b);
            boxes.extend([(a, middle), (middle, b)]);
        }
    }
    Ok(false)
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
        let continued = formula.branch(0.5 * (low + high)).ok()?;
        let branch = continued.compile::<Dd>().ok()?;
        let n = continued.chebyshev_points((-1.0, 1.0), (1e-17 * size, size), false).ok()?;
        if n > MAX_INTERVALS {
            return None;
        }
        let whole =
            ChebyshevSeries::interpolate(|s| branch.value(s), (-1.0, 1.0), n, 1e-17 * size).ok()?;
        if whole.degree() >= MAX_PIECE {
            return None;
        }
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
    let relative = match &weights.pieces[..] {
        [Piece { form: PieceForm::Closed(closed), .. }] => !matches!(closed, Closed::Power { .. }),
        [Piece { form: PieceForm::Exponential { .. }, .. }] => true,
        _ => false,
    };
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
            PieceForm::Closed(Closed::Power { p }) => {
                (2.0 * f64::from(*p), 0.1 + 0.016 * f64::from(p.ilog2()))
            }
            PieceForm::Closed(closed) => {
                let time = if matches!(closed, Closed::Softplus { .. }) { 0.6 } else { 0.35 };
                (16.0 + 4.0 * reach * range.log_slope, time)
            }
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
