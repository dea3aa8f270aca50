//! The derivative of `sum_j phi(<x, x_j>)` on the circle, for an interaction phi without kinks.
//!
//! With the Chebyshev coefficients c of phi and `A_k = sum_j e^{-i k theta_j}` the estimate is
//! `sum_k c_k Re(A_k e^{i k theta})`, up to the distance between phi and its series, whose first
//! two derivatives have proved bounds. On a bin it is a Taylor polynomial, enclosed in interval
//! arithmetic. Bins are so short that its next term is below 1e-18 of the sum of the coefficients.

use super::angular;
use super::bounds::{BIN_WIDTH, TERMS, radian, round_up};
use super::derivative::{Derivative, Polynomial, candidate_bins, centre};
use super::kernel::MAX_POSITION_ERROR;
use crate::attention::interaction::Interaction;
use crate::error::{Error, Result};
use crate::landscape::refuse_kinks;
use crate::num::formula::Compiled;
use crate::num::interval::Interval;
use crate::num::number::Number;

/// Longest series. More terms need more boxes than the proof of their distance has.
pub(super) const MAX_TERMS: usize = 800;

/// Number of angles in one partial sum.
const BLOCK: usize = 256;

/// Largest number of boxes of a proof of convexity.
const MAX_BOXES: usize = 1000;

/// Largest distance of a point of a bin from its centre, in units.
const HALF: f64 = 0.5 * BIN_WIDTH * (1.0 + 1e-9);

/// The kernel `phi(cos theta)`.
pub(super) struct AnyKernel {
    coefficients: Vec<f64>,
    /// Bounds of the differences of `phi(cos theta)` and its series in the first and second
    /// derivative.
    distance: [f64; 2],
    pub bins: usize,
    /// Number of bins on each side of a sample outside which the kernel is convex.
    pub nonconvex_bins: i64,
}

fn real(x: f64) -> Interval {
    Interval::exact(x)
}

impl AnyKernel {
    /// **Errors** kinks, more than [`MAX_TERMS`] terms, a distance without a proof.
    pub fn new(phi: &Interaction) -> Result<Self> {
        let refused = |found: String| {
            let expected =
                "a function with two derivatives on [-1, 1] and a series of at most 800 terms";
            Err(Error::parameter("interaction", found, expected))
        };
        refuse_kinks(phi)?;
        let [series] = phi.series() else {
            return refused("a function in pieces".into());
        };
        if series.degree() >= MAX_TERMS {
            return refused(format!("a series of {} terms", series.degree() + 1));
        }
        let (coefficients, distance) = match phi.formula().series_coefficients() {
            Some(own) => (own.to_vec(), [0.0; 2]),
            None => {
                let own = series.coefficients();
                let distance = angular::distances(phi.formula(), &own)?;
                (own, distance)
            }
        };
        // The length of a bin times the degree is at most 2.
        let bins = ((std::f64::consts::PI * coefficients.len() as f64).ceil()).max(16.0) as usize;
        let formula = phi.formula().compile::<Interval>()?;
        let at = formula.at(Interval::new(-1.0, 1.0))?;
        let is_constant = [at.first, at.second].iter().all(|d| *d == Interval::default());
        let distance = if is_constant { [0.0; 2] } else { distance };
        let nonconvex_bins = nonconvex_bins(&formula, bins)?;
        Ok(Self { coefficients, distance, bins, nonconvex_bins })
    }

    /// True if phi is constant: then every estimate is.
    pub fn is_constant(&self) -> bool {
        self.coefficients[1..].iter().all(|c| *c == 0.0) && self.distance.iter().all(|d| *d == 0.0)
    }

    /// Units per radian.
    pub fn unit(&self) -> f64 {
        self.bins as f64 * BIN_WIDTH / std::f64::consts::TAU
    }
}

/// The least number of bins on each side of that of a sample outside which `phi(cos theta)` is
/// proved to be convex, with any error of the position up to [`MAX_POSITION_ERROR`].
fn nonconvex_bins(formula: &Compiled<Interval>, bins: usize) -> Result<i64> {
    let (mut convex, mut unknown) = (bins as i64 / 2 + 1, 1);
    while unknown < convex {
        let middle = (unknown + convex) / 2;
        let distance = real(BIN_WIDTH * middle as f64) - real(MAX_POSITION_ERROR);
        if is_convex_beyond(formula, distance * radian(bins))? {
            convex = middle;
        } else {
            unknown = middle + 1;
        }
    }
    Ok(convex)
}

/// True if `(d/d theta)^2 phi(cos theta) = (1 - s^2) phi''(s) - s phi'(s)` is proved to be positive
/// for all angles from this one to pi.
fn is_convex_beyond(formula: &Compiled<Interval>, angle: Interval) -> Result<bool> {
    if angle.hi() >= std::f64::consts::PI {
        return Ok(true);
    }
    let mut boxes = vec![(-1.0, Number::sin_cos(angle).1.hi())];
    for _ in 0..MAX_BOXES {
        let Some((a, b)) = boxes.pop() else { return Ok(true) };
        let s = Interval::new(a, b);
        let at = formula.at(s)?;
        // 1 - s^2 is not negative.
        let square = real(1.0) - s.sqr();
        let square = Interval::new(square.lo().max(0.0), square.hi().max(0.0));
        let curvature = square * at.second - s * at.first;
        if curvature.is_positive() {
            continue;
        }
        let middle = 0.5 * (a + b);
        if !curvature.is_finite() && b - a < 1e-3 || curvature.hi() <= 0.0 || b - a < 1e-9 {
            return Ok(false);
        }
        boxes.extend([(a, middle), (middle, b)]);
    }
    Ok(false)
}

/// The derivative of the estimate of samples on the circle.
pub(super) struct AnyDerivative<'a> {
    kernel: &'a AnyKernel,
    /// Bins with samples, ascending.
    sources: Vec<i64>,
    position_error: f64,
    /// Enclosures of `c_k A_k`, real and imaginary parts, from k = 1.
    terms: Vec<[Interval; 2]>,
    /// Bounds of the errors of value and slope by the series and by the Taylor polynomials.
    rest: (f64, f64),
}

impl<'a> AnyDerivative<'a> {
    /// From angles, and their positions in units, ascending. `turns` is the largest number of full
    /// turns of an angle.
    ///
    /// **Cost** n K operations for a series of K terms.
    pub fn new(kernel: &'a AnyKernel, angles: &[f64], positions: &[f64], turns: f64) -> Self {
        let last = kernel.bins as i64 - 1;
        let mut sources: Vec<i64> =
            positions.iter().map(|s| ((s / BIN_WIDTH).floor() as i64).min(last)).collect();
        sources.dedup();
        let length = BIN_WIDTH * kernel.bins as f64;
        let position_error = length * (4.0 * f64::EPSILON + turns * 1e-31);
        let moments = moments(angles, kernel.coefficients.len());
        let terms: Vec<[Interval; 2]> = moments
            .iter()
            .zip(&kernel.coefficients[1..])
            .map(|(moment, c)| moment.map(|part| part * real(*c)))
            .collect();
        let radian = radian(kernel.bins);
        // sum_k |c_k A_k| (k radian)^21 HALF^20/20! and the same with HALF^19/19!.
        let (mut value, mut slope) = (real(0.0), real(0.0));
        for (k, [re, im]) in terms.iter().enumerate() {
            let step = real((k + 1) as f64) * radian;
            let size = (real(re.mag()).sqr() + real(im.mag()).sqr()).sqrt();
            let lower =
                (1..TERMS).fold(size * step.sqr(), |p, l| p * step * real(HALF) / real(l as f64));
            value = value + lower * real(HALF) / real(TERMS as f64);
            slope = slope + lower;
        }
        let count = real(angles.len() as f64);
        let [first, second] = kernel.distance.map(real);
        let value = value + count * first * radian;
        let slope = slope + count * second * radian.sqr();
        Self { kernel, sources, position_error, terms, rest: (value.hi(), slope.hi()) }
    }
}

/// Enclosures of `sum_j e^{-i k theta_j}`, k = 1, ..., terms - 1. Sums and powers are f64.
///
/// A product of complex numbers has a relative error of at most `sqrt 5 u < 1.2 eps` (Brent,
/// Percival, Zimmermann, Math. Comp. 76, 2007), and each factor one of `start`: the power k has the
/// error `k (start + 1.2 eps)` to first order, for which `1.1 k (start + 2 eps)` leaves room.
fn moments(angles: &[f64], terms: usize) -> Vec<[Interval; 2]> {
    let mut sums = vec![[0.0f64; 2]; terms.saturating_sub(1)];
    let mut start = 0.0f64;
    for block in angles.chunks(BLOCK) {
        let mut partial = vec![[0.0f64; 2]; sums.len()];
        for angle in block {
            let (sin, cos) = Number::sin_cos(real(*angle));
            start = start.max(cos.radius() + sin.radius());
            let [c, s] = [cos.mid(), -sin.mid()];
            let mut power = [1.0f64, 0.0];
            for sum in &mut partial {
                power = [power[0] * c - power[1] * s, power[0] * s + power[1] * c];
                (sum[0], sum[1]) = (sum[0] + power[0], sum[1] + power[1]);
            }
        }
        for (sum, part) in sums.iter_mut().zip(&partial) {
            (sum[0], sum[1]) = (sum[0] + part[0], sum[1] + part[1]);
        }
    }
    let n = angles.len() as f64;
    let additions = (BLOCK + angles.len() / BLOCK + 2) as f64 * f64::EPSILON;
    let enclosed = |(k, sum): (usize, [f64; 2])| {
        let power = 1.1 * (k + 1) as f64 * (start + 2.0 * f64::EPSILON);
        // The moduli of powers are below 1.1 as long as the bound is.
        let error = round_up(n * (power + 1.1 * additions), 8);
        let error = if power < 0.1 { error } else { f64::INFINITY };
        sum.map(|part| real(part) + Interval::symmetric(error))
    };
    sums.into_iter().enumerate().map(enclosed).collect()
}

impl Derivative for AnyDerivative<'_> {
    fn bounds_apply(&self) -> bool {
        self.position_error <= MAX_POSITION_ERROR && self.rest.0.is_finite()
    }

    fn bins(&self) -> Option<i64> {
        Some(self.kernel.bins as i64)
    }

    fn candidate_bins(&self) -> Vec<i64> {
        candidate_bins(self.sources.iter().copied(), self.kernel.nonconvex_bins, self.bins())
    }

    fn polynomial(&self, bin: i64) -> Polynomial {
        let radian = radian(self.kernel.bins);
        let angle = real(centre(bin)) * radian;
        let mut sums = [real(0.0); TERMS];
        for (k, [re, im]) in self.terms.iter().enumerate() {
            let degree = real((k + 1) as f64);
            let (sin, cos) = Number::sin_cos(degree * angle);
            let point = [*re * cos - *im * sin, *re * sin + *im * cos];
            let step = degree * radian;
            let mut factor = step;
            for (l, sum) in sums.iter_mut().enumerate() {
                // Derivative l + 1 of Re(A e^{i k theta}), divided by l!.
                let part = match l % 4 {
                    0 => -point[1],
                    1 => -point[0],
                    2 => point[1],
                    _ => point[0],
                };
                *sum = *sum + part * factor;
                factor = factor * step / real((l + 1) as f64);
            }
        }
        let (mut value, mut slope, mut lower) = (real(self.rest.0), real(self.rest.1), real(1.0));
        for (l, sum) in sums.iter().enumerate() {
            let middle = sum.mid();
            let radius = real((sum.hi() - middle).max(middle - sum.lo()).next_up());
            // lower is HALF^{l - 1} for l >= 1.
            if l > 0 {
                slope = slope + real(l as f64) * radius * lower;
                lower = lower * real(HALF);
            }
            value = value + radius * lower;
        }
        Polynomial { bin, c: sums.map(Interval::mid), error: (value.hi(), slope.hi()) }
    }
}
