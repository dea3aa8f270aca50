//! The forms in which kernels evaluate an interaction: powers, Chebyshev sums, exponentials.

use crate::attention::kernel::{PairSeries, Piece, PieceForm, Powers};
use crate::error::Result;
use crate::num::chebyshev_series::ChebyshevSeries;
use crate::num::dd::Dd;
use crate::num::formula::{Compiled, Number};

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
            from: reach - high,
            shift: (reach - middle) / half,
            slope: 1.0 / half,
            form: form(p),
        }
    };
    PairSeries { pieces: series.iter().rev().map(piece).collect(), factor: 1.0 }
}

fn form(p: &ChebyshevSeries) -> PieceForm {
    match powers(p) {
        Some(powers) => PieceForm::Powers(powers),
        None => PieceForm::Chebyshev(p.coefficients()),
    }
}

/// The powers of a series, if they are harmless.
fn powers(p: &ChebyshevSeries) -> Option<Powers> {
    if p.degree() > MAX_POWERS {
        return None;
    }
    let (low, high) = p.interval();
    let size = (0..=64)
        .fold(0.0, |m: f64, k| m.max(p.value(low + (high - low) * f64::from(k) / 64.0).abs()));
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
    let piece = Piece { from: 0.0, shift: -1.0, slope: -1.0 / reach, form };
    Ok(Some(PairSeries { pieces: vec![piece], factor: factor.to_f64() }))
}

/// `phi' / phi` of a positive interaction.
pub fn ratio(phi: &Compiled<Dd>, reach: f64) -> Result<PairSeries> {
    let ratio = |s: Dd| phi.at(s).map(|at| at.first / at.value);
    Ok(pair_series(&[ChebyshevSeries::fit(ratio, -reach, reach)?], reach))
}
