//! Linear theory of any interaction: rates at consensus, spectra of polygons, growth of modes.

use super::growth::laplacian_eigenvalue;
use crate::attention::interaction::{Interaction, RowSum};
use crate::error::{Error, Result};
use crate::num::gegenbauer::zonal_polynomials;
use crate::num::interval::Interval;
use crate::num::quadrature::gauss_legendre;
use crate::num::sum::Compensated;
use std::f64::consts::{PI, TAU};

/// The rate at which n equal tokens near one point approach their mean: `phi(1)`, or 1 with
/// normalised rows. Negative rates are repulsion. (For an energy with the pair potential W this is
/// `W'(1)`, the condition of arXiv:2405.18273.)
///
/// **Errors** a formula without a value at 1; normalised weights with `phi(1) <= 0`.
///
/// ```
/// use metastable::{attention::interaction::{Interaction, RowSum}, theory::interaction};
/// let cosh = Interaction::parse("cosh:k=2", &[])?;
/// assert_eq!(interaction::consensus_rate(&cosh, RowSum::Plain)?, 2f64.cosh());
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn consensus_rate(phi: &Interaction, row_sum: RowSum) -> Result<f64> {
    let value = phi.value(1.0)?;
    match row_sum {
        RowSum::Plain => Ok(value),
        RowSum::Normalised if value > 0.0 => Ok(1.0),
        RowSum::Normalised => Err(Error::parameter(
            "interaction",
            format!("phi(1) = {value}"),
            "phi(1) > 0, by which rows are divided",
        )),
    }
}

/// The rates `lambda_q`, q = 0..n-1, of small displacements `cos(2 pi q j / n)` of the regular
/// n-gon on the circle: `lambda_q = (1/n) sum_j f'(a_j) (cos(q a_j) - 1)` with `a_j = 2 pi j / n`
/// and `f(a) = phi(cos a) sin a`; divided by `(1/n) sum_j phi(cos a_j)` with normalised rows.
///
/// **Accuracy** `n u` of the largest term. **Cost** `n^2`.
/// **Errors** `n = 0` or above 100000, a corner at a kink of phi, a row sum that is not positive.
/// A kink of phi' does not matter: only the bound of the rounding error takes the steeper side.
pub fn polygon_rates(phi: &Interaction, row_sum: RowSum, n: usize) -> Result<Vec<f64>> {
    polygon_rates_with_error(phi, row_sum, n).map(|(rates, _)| rates)
}

/// The rates of [`polygon_rates`], and the rounding error of each to first order: corners are known
/// to `8 eps`, values and derivatives of phi to `8 eps` of themselves.
///
/// **Errors** as [`polygon_rates`].
pub fn polygon_rates_with_error(
    phi: &Interaction,
    row_sum: RowSum,
    n: usize,
) -> Result<(Vec<f64>, f64)> {
    if !(1..=100_000).contains(&n) {
        return Err(Error::parameter("n", n, "a number of tokens in [1, 100000]"));
    }
    let angle = |j: usize| TAU * j as f64 / n as f64;
    let mut slopes = Vec::with_capacity(n);
    let mut mass = Compensated::default();
    // Sum of the sizes of the terms, each with its sensitivity to the corner.
    let mut size = 0.0;
    for j in 0..n {
        // Half of the corners are mirror images.
        let j = j.min(n - j);
        let (sin, cos) = sin_cos(j, n);
        mass.add(phi.value(cos)? / n as f64);
        // At the token itself f' = phi(1), whatever phi'.
        let bend = if j == 0 { 0.0 } else { phi.derivative(cos)? * sin * sin };
        slopes.push(phi.value(cos)? * cos - bend);
        // The token itself has no part in a rate.
        if j > 0 {
            size += phi.value(cos)?.abs();
        }
        if sin != 0.0 {
            size += phi.derivative(cos)?.abs() + phi.steepness(cos);
        }
    }
    let divisor = match row_sum {
        RowSum::Plain => 1.0,
        RowSum::Normalised if mass.value() > 0.0 => mass.value(),
        RowSum::Normalised => {
            return Err(Error::parameter(
                "interaction",
                format!("the row sum {}", mass.value()),
                "a positive row sum at the polygon",
            ));
        }
    };
    let rate = |q: usize| {
        let mut sum = Compensated::default();
        for (j, slope) in slopes.iter().enumerate() {
            // cos - 1 = -2 sin^2 of the half angle, without cancellation.
            let half = (0.5 * angle(q * j % n)).sin();
            sum.add(-2.0 * slope * half * half);
        }
        sum.value() / n as f64 / divisor
    };
    let rates: Vec<f64> = (0..n).map(rate).collect();
    let largest = rates.iter().fold(0.0f64, |m, r| m.max(r.abs()));
    // The row sum has the errors of its terms, too.
    let relative = if row_sum == RowSum::Plain { 0.0 } else { largest };
    let error = 32.0 * f64::EPSILON * (1.0 + relative) * size / n as f64 / divisor;
    Ok((rates, error))
}

/// Sine and cosine of `2 pi j / n`, exact at quarter turns.
fn sin_cos(j: usize, n: usize) -> (f64, f64) {
    match 4 * j {
        0 => (0.0, 1.0),
        q if q == n => (1.0, 0.0),
        q if q == 2 * n => (0.0, -1.0),
        _ => (TAU * j as f64 / n as f64).sin_cos(),
    }
}

/// The Fourier coefficients `a_0, a_1, ...` of `W(cos t) = sum_k a_k cos(k t)`. They are the
/// Chebyshev coefficients of W, so those of phi give them: `a_k = (c_{k-1} - c_{k+1}) / 2k`.
///
/// The rates of the n-gon follow by aliasing:
/// `lambda_q = sum_k k^2 a_k ([k = q] + [k = -q]) / 2 - sum_k k^2 a_k [k = 0]` modulo n.
///
/// **Accuracy** 1e-16 of the largest value. **Errors** an interaction with kinks.
pub fn fourier_coefficients(phi: &Interaction) -> Result<Vec<f64>> {
    match phi.series() {
        [one] if phi.reach() <= 1.0 => {
            let mut all = one.integral().coefficients();
            // The constant of W.
            all[0] += phi.potential(-1.0);
            Ok(all)
        }
        _ => Err(Error::parameter(
            "interaction",
            phi.name(),
            "a function that is analytic on [-1, 1], whose Fourier coefficients decay",
        )),
    }
}

/// A coefficient with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficient {
    /// The value.
    pub value: f64,
    /// Difference between two quadratures, plus rounding.
    pub error: f64,
}

/// Funk-Hecke coefficients `lambda_k`, k = 0..=kmax: the kernel `phi(<x, y>)` maps a harmonic of
/// degree k on `S^{d-1}` (uniform probability measure) to `lambda_k` times itself,
/// `lambda_k = C_d int_0^pi phi(cos t) P_k(cos t) sin(t)^{d-2} dt`, `P_k(1) = 1`.
///
/// **Accuracy** each with its error, from Gauss-Legendre rules of N and 2N points between the
/// kinks. **Cost** `2N (kmax + 1)`, with N of the order of kmax, the terms of phi and `sqrt d`.
/// **Errors** `d < 2` or above 10000, kmax above 10000.
///
/// ```
/// use metastable::{attention::interaction::Interaction, theory::interaction::funk_hecke};
/// // phi = s on S^2: 1/3 for degree 1, 0 for all others.
/// let linear = funk_hecke(&Interaction::parse("power:p=1", &[])?, 3, 2)?;
/// assert!((linear[1].value - 1.0 / 3.0).abs() < 1e-15 && linear[2].value.abs() < 1e-15);
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn funk_hecke(phi: &Interaction, d: usize, kmax: usize) -> Result<Vec<Coefficient>> {
    check_dimension(d)?;
    if kmax > 10_000 {
        return Err(Error::parameter("modes", kmax, "at most 10000 modes"));
    }
    let points = (48 + kmax + phi.terms() + 8 * d.isqrt()).min(20_000);
    let enclosing = phi.formula().compile::<Interval>()?;
    let value = |cos: f64, z: f64| {
        if phi.is_relative() {
            let value = phi.weights().value(z);
            return (value, 0.125 * phi.relative_rounding() * value.abs());
        }
        // A series would be accurate relative to the largest value only.
        let (low, high) = (cos - 2.0 * f64::EPSILON, cos + 2.0 * f64::EPSILON);
        let near = Interval::new(low.max(-1.0), high.min(1.0));
        let noise = enclosing.value(near).map_or(f64::INFINITY, Interval::width);
        (phi.value(cos).unwrap_or(f64::NAN), noise)
    };
    Ok(coefficients(phi, &value, (d, kmax), points))
}

/// The mean of W over the sphere, `lambda_0(W)`: the energy of the uniform measure is half of it.
///
/// **Accuracy**, **Cost**, **Errors** as [`funk_hecke`].
///
/// ```
/// use metastable::{attention::interaction::Interaction, theory::interaction::mean_potential};
/// // W = s^4/4 on S^2: 1/20.
/// let cubic = Interaction::parse("power:p=3", &[])?;
/// assert!((mean_potential(&cubic, 3)?.value - 0.05).abs() < 1e-16);
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn mean_potential(phi: &Interaction, d: usize) -> Result<Coefficient> {
    check_dimension(d)?;
    let points = (48 + phi.terms() + 8 * d.isqrt()).min(20_000);
    let value =
        |cos: f64, z: f64| (phi.potential(cos), 4.0 * f64::EPSILON * phi.weights().value(z).abs());
    Ok(coefficients(phi, &value, (d, 0), points)[0])
}

fn check_dimension(d: usize) -> Result<()> {
    if (2..=10_000).contains(&d) {
        return Ok(());
    }
    Err(Error::parameter("d", d, "an ambient dimension in [2, 10000]"))
}

/// The coefficients of a function of the cosine s and of 1 - s, with its rounding error, between
/// the kinks of phi, by rules of `points` and of twice as many points.
fn coefficients(
    phi: &Interaction,
    value: &impl Fn(f64, f64) -> (f64, f64),
    (d, kmax): (usize, usize),
    points: usize,
) -> Vec<Coefficient> {
    let (coarse, _) = quadrature(phi, value, (d, kmax), points);
    let (fine, sizes) = quadrature(phi, value, (d, kmax), 2 * points);
    let error = |(k, Size { sum, weights, by_angle, noise }): (usize, &Size)| {
        // Powers of the sine and polynomials have up to one eps for each degree. Angles have the
        // rounding of pi/2 twice.
        let degree = (16 + d + k) as f64;
        let rounding = f64::EPSILON * (degree * sum + weights + 2.0 * by_angle) + noise;
        (coarse[k] - fine[k]).abs() + rounding
    };
    let errors = sizes.iter().enumerate().map(error);
    fine.iter().zip(errors).map(|(value, error)| Coefficient { value: *value, error }).collect()
}

/// Integrals of absolute values against the envelope of one polynomial: of the function, of the
/// errors of the weights of the rule in units of eps, of its change by that of the density with the
/// angle, and of rounding errors.
#[derive(Clone, Copy, Default)]
struct Size {
    sum: f64,
    weights: f64,
    by_angle: f64,
    noise: f64,
}

/// The integrals with one rule between kinks, and those of absolute values.
fn quadrature(
    phi: &Interaction,
    value: &impl Fn(f64, f64) -> (f64, f64),
    (d, kmax): (usize, usize),
    points: usize,
) -> (Vec<f64>, Vec<Size>) {
    let rule = gauss_legendre(points);
    let mut sums = vec![Compensated::default(); kmax + 1];
    let mut measure = Compensated::default();
    // Of the sum of the measure itself, in units of eps.
    let mut measure_error = 0.0;
    let mut sizes = vec![Size::default(); kmax + 1];
    // Angles of the ends of the pieces, ascending in the angle.
    let inside = phi.series().iter().map(|p| p.interval().0).filter(|s| *s > -1.0 && *s < 1.0);
    let mut ends: Vec<f64> = inside.map(f64::acos).collect();
    ends.extend([0.0, PI]);
    ends.sort_by(f64::total_cmp);
    for piece in ends.windows(2) {
        let (middle, half) = (0.5 * (piece[0] + piece[1]), 0.5 * (piece[1] - piece[0]));
        for (node, weight) in &rule {
            let angle = middle + half * node;
            let ((sin, cos), near) = (angle.sin_cos(), (0.5 * angle).sin());
            let density = half * weight * sin.powi(d as i32 - 2);
            if density == 0.0 {
                continue;
            }
            measure.add(density);
            // The accuracy of gauss_legendre.
            let relative = (points as f64).sqrt() / (1.0 - node * node);
            measure_error += density * relative;
            let (w, noise) = value(cos, 2.0 * near * near);
            let w = density * w;
            let turn = (d - 2) as f64 * (cos / sin).abs();
            let polynomials = zonal_polynomials(d, kmax + 1, cos);
            for (k, (sum, size)) in sums.iter_mut().zip(&mut sizes).enumerate() {
                sum.add(w * polynomials[k]);
                let envelope = envelope(&polynomials, k);
                size.sum += w.abs() * envelope;
                size.weights += w.abs() * envelope * relative;
                size.by_angle += w.abs() * envelope * turn;
                size.noise += density * noise * envelope;
            }
        }
    }
    let total = measure.value();
    for Size { sum, weights, by_angle, noise } in &mut sizes {
        *weights += *sum * measure_error / total;
        [sum, weights, by_angle, noise].into_iter().for_each(|v| *v /= total);
    }
    (sums.into_iter().map(|s| s.value() / total).collect(), sizes)
}

/// Of what size `P_k` is around a point, also near its zeros: the root of
/// `max(P_k^2, P_k^2 - P_{k-1} P_{k+1})`, where the second, of Turan, is positive inside (-1, 1).
/// The recurrence has rounding errors relative to it.
fn envelope(polynomials: &[f64], k: usize) -> f64 {
    let below = if k == 0 { 0.0 } else { polynomials[k - 1] };
    (polynomials[k].powi(2) + (-below * polynomials[k + 1]).max(0.0)).sqrt()
}

/// Growth rates `r_k`, k = 0..=kmax, of the modes of the uniform density:
/// `r_k = (k (k + d - 2) / d) lambda_{k-1}` with the Funk-Hecke coefficient in dimension d + 2,
/// divided by `lambda_0` in dimension d with normalised rows. (By Rodrigues' formula
/// `lambda_k(W) = lambda_{k-1}(W') / d` with the second in dimension d + 2.)
///
/// **Accuracy**, **Cost** as [`funk_hecke`]; the errors are those of the coefficients.
/// **Errors** as [`funk_hecke`]; normalised weights with a mean that is not positive.
pub fn growth_rates(
    phi: &Interaction,
    row_sum: RowSum,
    d: usize,
    kmax: usize,
) -> Result<Vec<Coefficient>> {
    let raised = funk_hecke(phi, d + 2, kmax.max(1) - 1)?;
    let mean = match row_sum {
        RowSum::Plain => Coefficient { value: 1.0, error: 0.0 },
        RowSum::Normalised => funk_hecke(phi, d, 0)?[0],
    };
    if mean.value.is_nan() || mean.value <= mean.error {
        return Err(Error::parameter(
            "interaction",
            format!("the mean weight {}", mean.value),
            "a positive mean, by which rows are divided",
        ));
    }
    let rate = |k: usize| {
        if k == 0 {
            return Coefficient { value: 0.0, error: 0.0 };
        }
        let factor = laplacian_eigenvalue(d, k) / d as f64 / mean.value;
        let Coefficient { value, error } = raised[k - 1];
        let relative = mean.error / mean.value;
        Coefficient {
            value: factor * value,
            error: factor * (error + value.abs() * (relative + 4.0 * f64::EPSILON)),
        }
    };
    Ok((0..=kmax).map(rate).collect())
}
