//! Equiangular tokens: the gamma curve, its level times, and the layer map (arXiv:2312.10794, Theorem 6.8 and (6.12)).

use super::clock::Clock;
use crate::attention::{RowWeights, TimeScale};
use crate::error::{Error, Result, in_range};
use crate::num::{dd::Dd, quadrature::Integral};

/// The latest time.
const LATEST: f64 = 1e300;

/// The reduced equation of n equiangular tokens.
///
/// With `y = -log(1 - gamma)`: SA `y' = 2((n-1) gamma + 1) / (e^{beta(1-gamma)} + n - 1)`, USA
/// `y' = (2/n) e^{beta gamma} ((n-1) gamma + 1)` times the factor of the time scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equiangular {
    n: f64,
    beta: f64,
    /// `None` for SA, the time scale for USA.
    usa: Option<TimeScale>,
}

impl Equiangular {
    /// The equation for these weights, of USA in a time scale.
    ///
    /// **Errors** Sinkhorn attention, which has none here; a rate beyond f64.
    pub fn new(weights: RowWeights, n: usize, beta: f64, scale: TimeScale) -> Result<Self> {
        match weights {
            RowWeights::Softmax => Ok(Self::sa(n, beta)),
            RowWeights::Exponential => Self::usa(n, beta, scale),
            RowWeights::Sinkhorn => Err(super::only_sa_and_usa(weights)),
        }
    }

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
            return Err(Error::Beyond { quantity, hint: "use the time normalisation u2".into() });
        }
        Ok(Self { n: n as f64, beta, usa: Some(scale) })
    }

    /// `y'` at `gamma = 1 - e^{-y}`.
    fn rate(&self, y: f64) -> f64 {
        let gamma = -(-y).exp_m1();
        let size = (self.n - 1.0) * gamma + 1.0;
        match self.usa {
            None => 2.0 * size / ((self.beta * (-y).exp()).exp() + self.n - 1.0),
            Some(scale) => 2.0 / self.n * (self.beta * gamma + scale.log_factor(self.beta, self.n as usize)).exp() * size,
        }
    }

    /// `gamma'`.
    pub fn velocity(&self, gamma: f64) -> f64 {
        if gamma >= 1.0 { 0.0 } else { (1.0 - gamma) * self.rate(-(-gamma).ln_1p()) }
    }

    /// The clock of `y` for starts from `gamma = start`.
    fn clock(&self, start: f64) -> Clock {
        let n = self.n;
        // 1/y' of USA is n/2 e^{-beta gamma} over the size, times the factor of the scale.
        let power = |k: usize| (0..k).fold(Dd::from(1.0), |p, _| p * Dd::from(n));
        let (shift, front, rest) = match self.usa {
            None => (0.0, power(0), n - 1.0),
            Some(TimeScale::U1) => (1.0, power(1), 0.0),
            Some(TimeScale::U2) => (0.0, power(1), 0.0),
            Some(TimeScale::U3) => (0.0, power(2), 0.0),
            Some(TimeScale::U4) => (1.0, power(0), 0.0),
        };
        Clock::new(self.beta, shift, n, front, rest, start)
    }

    /// `gamma(t)` from `gamma(0) = start`, the inverse of [`Equiangular::level_time`], in double-doubles.
    ///
    /// **Accuracy** 4 ulp, and 1e-10 of the change from one double t to the next: also right inside a jump shorter than the rounding of t. **Cost** a millisecond. **Errors** `start` outside
    /// `(-1/(n-1), 1)` or a time outside `[0, 1e300]`.
    ///
    /// ```
    /// use metastable::theory::equiangular::Equiangular;
    /// // n = 2, beta = 0: gamma = tanh t
    /// let g = Equiangular::sa(2, 0.0).at(0.0, 0.7).unwrap();
    /// assert!((g - 0.7f64.tanh()).abs() < 1e-15);
    /// ```
    pub fn at(&self, start: f64, t: f64) -> Result<f64> {
        Ok(-(-self.depth(start, t)?).exp_m1())
    }

    /// `gamma(t)`, and by how much it changes when t moves to a neighbouring double, with its rounding: inside a jump that doubles cannot resolve,
    /// nearly 1. **Errors** as [`Equiangular::at`].
    pub fn resolved(&self, start: f64, t: f64) -> Result<(f64, f64)> {
        let gamma = self.at(start, t)?;
        let (before, after) = (self.at(start, t.next_down().max(0.0))?, self.at(start, t.next_up().min(LATEST))?);
        Ok((gamma, (gamma - before).max(after - gamma) + 4.0 * f64::EPSILON * gamma.abs()))
    }

    /// `y(t) = -log(1 - gamma(t))`: keeps its digits when gamma is 1 to rounding. **Errors** as [`Equiangular::at`].
    pub fn depth(&self, start: f64, t: f64) -> Result<f64> {
        in_range("t", t, 0.0, LATEST)?;
        self.check_start(start)?;
        Ok(self.clock(start).depth(start, t))
    }

    /// Time from `gamma = from` to `gamma = to`: the integral of `dy / y'` in double-doubles, rounded once.
    ///
    /// **Accuracy** one ulp, for times up to 1e300. **Errors** levels outside `(-1/(n-1), 1)` or in the wrong order.
    pub fn level_time(&self, from: f64, to: f64) -> Result<Integral> {
        self.check_start(from)?;
        in_range("level", to, from, 1.0 - f64::EPSILON)?;
        if to <= from {
            return Ok(Integral { value: 0.0, error: 0.0 });
        }
        let value = self.clock(from).time(from, to);
        if value <= LATEST {
            return Ok(Integral { value, error: f64::EPSILON * value });
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

/// Layer map of equiangular tokens: `x' = (x + eta y)/|x + eta y|` sends the common inner product `rho` to this exactly;
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
