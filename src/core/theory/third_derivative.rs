//! A condition on an interaction under which, on the circle, every maximum of E is one cluster: for
//! any number of tokens with any masses.
//!
//! **Theorem** (arXiv:2507.22857, Theorem 2.1) Let `f(x) = phi(cos x) sin x` be the force at the
//! angle x, with `f'(0) > 0` and `f' < 0` beyond the angle tau, up to pi. If
//! `tau integral |f'''|_+ dx <= 4 (1 + tau / 2 pi) f'(0)` over the circle, then every critical
//! point of E with several clusters has a direction of ascent.
//!
//! **Proof** (found here; the paper was not seen) Let the clusters at `x_1 < ... < x_k` have masses
//! m_i of sum 1, `V(x) = sum_j m_j f(x_j - x)` and `g = -V' = sum_j m_j f'(x_j - x)`. At a critical
//! point all `V(x_i) = 0`, so g has the integral 0 over every gap between neighbours. If turning
//! cluster i alone does not increase E, then `sum_{j != i} m_j f'(x_j - x_i) >= 0`, that is
//! `g(x_i) >= m_i f'(0)`. Over a gap from a to b of length L,
//! `0 = integral g = L (g(a) + g(b)) / 2 - (1/2) integral (x - a)(b - x) g''(x) dx`, and
//! `(x - a)(b - x) <= L^2 / 4`. So the integral of `|g''|_+` over the gap is at least
//! `4 f'(0) (m_a + m_b) / L`. The sum over all gaps is at most the integral of `|f'''|_+`. If both
//! gaps of a cluster were longer than tau, all others would repel it: the sum above would be
//! negative. So one of them is at most tau, the other one is shorter than `2 pi`, and
//! `integral |f'''|_+ > 4 f'(0) sum_i m_i (1/tau + 1/(2 pi))`.

use crate::error::{Error, Result};
use crate::num::formula::{Formula, Number, Series};
use crate::num::interval::{Interval, check_fp_environment};
use std::f64::consts::PI;

/// The two sides of the condition, in interval arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThirdDerivative {
    /// An upper bound of the angle beyond which forces shrink.
    pub tau: f64,
    /// An upper bound of `tau integral |f'''|_+ dx / (4 (1 + tau / 2 pi) f'(0))`.
    pub ratio: f64,
}

impl ThirdDerivative {
    /// Whether the condition is proved.
    pub fn holds(&self) -> bool {
        self.ratio <= 1.0
    }
}

/// Taylor coefficients of degree 0 to 3.
type Coefficients = Series<4>;

/// Pieces shorter than this angle, or of a smaller share of `f'(0)` than this, count with their
/// largest third derivative.
const SHORTEST: f64 = 1e-7;
const SMALLEST: f64 = 1e-10;

/// Largest number of pieces.
const MOST: usize = 200_000;

/// The condition for an interaction.
///
/// **Cost** milliseconds. **Errors** a force that does not attract at 0 or does not shrink just
/// before pi (`phi(-1) > 0` is needed), kinks, too steep an interaction, arithmetic that is not
/// IEEE.
///
/// ```
/// use metastable::theory::third_derivative::of_interaction;
/// use metastable::num::formula::Formula;
/// let gauss = of_interaction(&Formula::parse("exp(8*s)", &[])?)?;
/// assert!(gauss.holds() && gauss.ratio > 0.8);
/// let repulsive = of_interaction(&Formula::parse("exp(-0.3*s)", &[])?)?;
/// assert!(!repulsive.holds());
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn of_interaction(phi: &Formula) -> Result<ThirdDerivative> {
    let compiled = phi.compile::<Coefficients>()?;
    let force = |x: Coefficients| -> Result<Coefficients> {
        let (sin, cos) = x.sin_cos();
        Ok(compiled.value(cos)? * sin)
    };
    of_force(&force, &|x| derivatives(&force, x).map(|d| d[0]))
}

/// The condition for `phi(s) = s^p` with an odd p, `p = 2 q + 1`: E depends on the doubled angles x
/// only, with the force `f(x) = ((1 + cos x)/2)^q sin x`. For q > 0 its derivative is 0 at pi, two
/// lines at right angles, and negative just before.
///
/// **Errors** as [`of_interaction`].
///
/// ```
/// use metastable::theory::third_derivative::of_odd_power;
/// for q in [0, 1, 2, 50] {
///     assert!(of_odd_power(q)?.holds());
/// }
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn of_odd_power(q: i32) -> Result<ThirdDerivative> {
    let half = Coefficients::constant(Interval::exact(0.5));
    let force = |x: Coefficients| -> Result<Coefficients> {
        // (1 + cos x)/2 = cos^2(x/2)
        let (sin, _) = x.sin_cos();
        let (_, cos) = (half * x).sin_cos();
        Ok(cos.power(2 * q) * sin)
    };
    // f'(x) = cos(x/2)^{2q} (cos x - q (1 - cos x)): the second factor has the sign.
    let q = Interval::exact(f64::from(q));
    let sign = |x: Interval| {
        let cos = Number::sin_cos(x).1;
        Ok(cos - q * (Interval::exact(1.0) - cos))
    };
    of_force(&force, &sign)
}

/// The first three derivatives of the force on an interval.
fn derivatives(
    force: &impl Fn(Coefficients) -> Result<Coefficients>,
    x: Interval,
) -> Result<[Interval; 3]> {
    let Series([_, first, second, third]) = force(Coefficients::variable(x))?;
    Ok([first, Interval::exact(2.0) * second, Interval::exact(6.0) * third])
}

/// The condition for an odd force; a function has the sign of its derivative, except perhaps where
/// this is 0.
fn of_force(
    force: &impl Fn(Coefficients) -> Result<Coefficients>,
    sign: &impl Fn(Interval) -> Result<Interval>,
) -> Result<ThirdDerivative> {
    check_fp_environment()?;
    let refuse = |found: String, expected: &str| {
        Err(Error::parameter("interaction", found, expected.to_owned()))
    };
    let [start, ..] = derivatives(force, Interval::ZERO)?;
    if !start.is_positive() {
        return refuse(
            format!("a force with the derivative {:e} at 0", start.mid()),
            "phi(1) > 0: tokens that attract each other",
        );
    }
    let end = PI.next_up();
    let tau = last_growth(sign, end)?;
    if tau >= end {
        return refuse(
            "a force that may grow just before pi".into(),
            "phi(-1) > 0: opposite tokens that are nearer attract each other more",
        );
    }
    let half = rise(force, end, SMALLEST * start.lo())?;
    let two = Interval::exact(2.0);
    let pi = <Interval as Number>::pi();
    let angle = Interval::exact(tau);
    let right = Interval::exact(4.0) * (Interval::exact(1.0) + angle / (two * pi)) * start;
    let ratio = angle * two * half / right;
    if !ratio.is_finite() {
        return refuse(
            "no bound of the third derivative of the force".into(),
            "an interaction with three derivatives, less steep",
        );
    }
    Ok(ThirdDerivative { tau, ratio: ratio.hi() })
}

/// An upper bound of the angle beyond which a function is negative.
fn last_growth(sign: &impl Fn(Interval) -> Result<Interval>, end: f64) -> Result<f64> {
    let (mut edge, mut step) = (end, 0.1);
    while step > SHORTEST && edge > 0.0 {
        let low = (edge - step).max(0.0);
        if sign(Interval::new(low, edge))?.is_negative() {
            edge = low;
            step *= 1.5;
        } else {
            step *= 0.5;
        }
    }
    Ok(edge)
}

/// An upper bound of the integral of `|f'''|_+` from 0 to the end. Pieces below the smallest
/// size are not divided.
fn rise(
    force: &impl Fn(Coefficients) -> Result<Coefficients>,
    end: f64,
    smallest: f64,
) -> Result<Interval> {
    let mut pieces = vec![(0.0, end)];
    let (mut sum, mut count) = (Interval::ZERO, 0);
    while let Some((low, high)) = pieces.pop() {
        count += 1;
        let [_, _, third] = derivatives(force, Interval::new(low, high))?;
        if third.hi() <= 0.0 {
            continue;
        }
        if third.lo() >= 0.0 {
            let at = |x: f64| derivatives(force, Interval::exact(x)).map(|d| d[1]);
            sum = sum + (at(high)? - at(low)?);
        } else if high - low < SHORTEST || third.hi() * (high - low) < smallest || count > MOST {
            sum = sum + third * (Interval::exact(high) - Interval::exact(low));
        } else {
            let middle = 0.5 * (low + high);
            pieces.extend([(low, middle), (middle, high)]);
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::{of_interaction, of_odd_power};
    use crate::num::formula::Formula;

    /// By quadrature without intervals (a public audit of the paper, and own values): e^{beta s}
    /// for beta = 0 to infinity and at the limit -0.16, and odd powers.
    #[test]
    fn ratios_are_those_of_quadrature() {
        let near =
            |found: f64, right: f64| assert!((found - right).abs() < 2e-3, "{found} {right}");
        for (p, ratio) in
            [(5, 0.857), (7, 0.844), (13, 0.838), (21, 0.840), (63, 0.850), (201, 0.860)]
        {
            near(of_odd_power((p - 1) / 2).expect("a ratio").ratio, ratio);
        }
        let exp = |beta: f64| {
            let phi = Formula::parse("exp(b*s)", &[("b", beta)]).expect("a formula");
            of_interaction(&phi).expect("a ratio").ratio
        };
        near(exp(-0.16), 0.912);
        assert!(exp(-0.2) > 1.0);
        assert!(exp(300.0) < 0.87);
    }

    #[test]
    fn forces_that_repel_are_refused() {
        for text in ["-1 - 0.1*s", "s^2 - 2", "s", "s^3"] {
            let phi = Formula::parse(text, &[]).expect("a formula");
            assert!(of_interaction(&phi).is_err(), "{text}");
        }
    }
}
