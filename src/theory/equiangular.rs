//! Equiangular tokens: the gamma curve, its level times, and the layer map (theory 1.10, 1.12, 6.4).

use crate::attention::TimeScale;
use crate::error::{Error, Result, in_range};
use crate::flow::second;
use crate::num::quadrature::{Integral, integrate};

/// The reduced equation of n equiangular tokens.
///
/// With `y = -log(1 - gamma)`: SA `y' = 2((n-1) gamma + 1) / (e^{beta(1-gamma)} + n - 1)`, USA
/// `y' = (2/n) e^{beta gamma} ((n-1) gamma + 1)` times the factor of the time scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equiangular {
    n: f64,
    beta: f64,
    /// `None` for SA, the log factor of the time scale for USA.
    usa: Option<f64>,
}

impl Equiangular {
    /// SA.
    pub fn sa(n: usize, beta: f64) -> Self {
        Self { n: n as f64, beta, usa: None }
    }

    /// USA in a time scale.
    ///
    /// **Errors** a rate beyond f64.
    pub fn usa(n: usize, beta: f64, scale: TimeScale) -> Result<Self> {
        let log_factor = scale.log_factor(beta, n);
        if beta.max(0.0) + log_factor > 700.0 {
            let quantity = format!("the USA rate at beta = {beta} in normalisation {}", scale.describe());
            return Err(Error::Beyond { quantity, hint: "use --time-scale u2".into() });
        }
        Ok(Self { n: n as f64, beta, usa: Some(log_factor) })
    }

    /// `y'` at `gamma = 1 - e^{-y}`.
    fn rate(&self, y: f64) -> f64 {
        let gamma = -(-y).exp_m1();
        let size = (self.n - 1.0) * gamma + 1.0;
        match self.usa {
            None => 2.0 * size / ((self.beta * (-y).exp()).exp() + self.n - 1.0),
            Some(log_factor) => 2.0 / self.n * (self.beta * gamma + log_factor).exp() * size,
        }
    }

    /// `gamma'`.
    pub fn velocity(&self, gamma: f64) -> f64 {
        if gamma >= 1.0 { 0.0 } else { (1.0 - gamma) * self.rate(-(-gamma).ln_1p()) }
    }

    /// `gamma(t)` from `gamma(0) = start`, by `ode_solvers`.
    ///
    /// **Accuracy** 1e-11. **Errors** `start` outside `(-1/(n-1), 1)` or a negative time.
    ///
    /// ```
    /// use metastable::theory::equiangular::Equiangular;
    /// // n = 2, beta = 0: gamma = tanh t
    /// let g = Equiangular::sa(2, 0.0).at(0.0, 0.7).unwrap();
    /// assert!((g - 0.7f64.tanh()).abs() < 1e-11);
    /// ```
    pub fn at(&self, start: f64, t: f64) -> Result<f64> {
        Ok(-(-self.depth(start, t)?).exp_m1())
    }

    /// `y(t) = -log(1 - gamma(t))`: keeps its digits when gamma is 1 to rounding.
    pub fn depth(&self, start: f64, t: f64) -> Result<f64> {
        in_range("t", t, 0.0, 1e300)?;
        self.check_start(start)?;
        let start = -(-start).ln_1p();
        // Beyond gamma = 1 - 1e-16 the depth grows at the constant rate of consensus: no integrator is needed for long times.
        let deep = 40.0;
        let settled = integrate(|y| 1.0 / self.rate(y), start, deep, 1e-13);
        if start < deep && settled.value < t && settled.error.is_finite() {
            return Ok(deep + (t - settled.value) * self.rate(deep));
        }
        second::scalar(|y| self.rate(y), start, t, 1e-13)
    }

    /// Time from `gamma = from` to `gamma = to`, by quadrature of `dy / y'`.
    ///
    /// **Accuracy** 1e-12 relative, for times up to 1e300. **Errors** levels outside `(-1/(n-1), 1)` or in the wrong order.
    pub fn level_time(&self, from: f64, to: f64) -> Result<Integral> {
        self.check_start(from)?;
        in_range("level", to, from, 1.0 - f64::EPSILON)?;
        if to <= from {
            return Ok(Integral { value: 0.0, error: 0.0 });
        }
        let time = integrate(|y| 1.0 / self.rate(y), -(-from).ln_1p(), -(-to).ln_1p(), 1e-13);
        if time.value.is_finite() && time.error.is_finite() {
            return Ok(time);
        }
        Err(Error::Beyond { quantity: format!("the level time at beta = {}", self.beta), hint: "use a smaller beta".into() })
    }

    fn check_start(&self, start: f64) -> Result<()> {
        let lowest = -1.0 / (self.n - 1.0).max(1.0);
        if start > lowest && start < 1.0 {
            return Ok(());
        }
        Err(Error::parameter("gamma", start, format!("a value in ({lowest}, 1)")))
    }
}

/// Layer map of equiangular tokens: `x' = (x + eta y)/|x + eta y|` sends the common inner product `rho` to this (theory 6.4), exactly;
/// `eta = inf` is one attention layer without residual.
///
/// ```
/// use metastable::theory::equiangular::layer_map;
/// assert!((layer_map(4, 1.0, 0.5, f64::INFINITY) - layer_map(4, 1.0, 0.5, 1e12)).abs() < 1e-11);
/// ```
pub fn layer_map(n: usize, beta: f64, rho: f64, eta: f64) -> f64 {
    let n = n as f64;
    let cross = (-beta * (1.0 - rho)).exp();
    let z = 1.0 + (n - 1.0) * cross;
    let (a, b) = (1.0 / z, cross / z);
    let numerator = rho + (1.0 - rho) * (2.0 * a * b + (n - 2.0) * b * b);
    let norm = rho + (1.0 - rho) * (a * a + (n - 1.0) * b * b);
    if eta.is_infinite() {
        return numerator / norm;
    }
    (rho + 2.0 * eta * (a * rho + b * (1.0 + (n - 2.0) * rho)) + eta * eta * numerator)
        / (1.0 + 2.0 * eta * (a + (n - 1.0) * b * rho) + eta * eta * norm)
}
