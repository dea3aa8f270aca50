//! Equiangular tokens: their inner product gamma(t), its level times, and the layer map
//! (arXiv:2312.10794, Theorem 6.8 and (6.12)).

use super::equiangular_time::EquiangularTime;
use crate::attention::{RowWeights, TimeScale};
use crate::error::{Error, Result, in_range};
use crate::num::{dd::Dd, quadrature::Integral};

/// Largest time.
const MAX_TIME: f64 = 1e300;

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
    /// The equation for these weights; `scale` applies to USA.
    ///
    /// **Errors** Sinkhorn attention, for which there is no equation; a rate that exceeds f64.
    pub fn new(weights: RowWeights, n: usize, beta: f64, scale: TimeScale) -> Result<Self> {
        match weights {
            RowWeights::Softmax => Ok(Self::sa(n, beta)),
            RowWeights::Exponential => Self::usa(n, beta, scale),
            RowWeights::Sinkhorn => Err(super::no_formula_error(weights)),
        }
    }

    /// The equation of SA.
    pub fn sa(n: usize, beta: f64) -> Self {
        Self { n: n as f64, beta, usa: None }
    }

    /// The equation of USA in a time scale.
    ///
    /// **Errors** a rate that exceeds f64.
    pub fn usa(n: usize, beta: f64, scale: TimeScale) -> Result<Self> {
        let log_factor = scale.log_factor(beta, n);
        if beta.max(0.0) + log_factor > 700.0 {
            let quantity =
                format!("the USA rate at beta = {beta} in normalisation {}", scale.describe());
            return Err(Error::Beyond { quantity, hint: "use --time-scale u2".into() });
        }
        Ok(Self { n: n as f64, beta, usa: Some(scale) })
    }

    /// `y'` at `gamma = 1 - e^{-y}`.
    fn rate(&self, y: f64) -> f64 {
        let gamma = -(-y).exp_m1();
        let size = (self.n - 1.0) * gamma + 1.0;
        match self.usa {
            None => 2.0 * size / ((self.beta * (-y).exp()).exp() + self.n - 1.0),
            Some(scale) => {
                2.0 / self.n
                    * (self.beta * gamma + scale.log_factor(self.beta, self.n as usize)).exp()
                    * size
            }
        }
    }

    /// `gamma'`.
    pub fn velocity(&self, gamma: f64) -> f64 {
        if gamma >= 1.0 { 0.0 } else { (1.0 - gamma) * self.rate(-(-gamma).ln_1p()) }
    }

    /// The time integral for starts from `gamma = start`.
    fn time_integral(&self, start: f64) -> EquiangularTime {
        let n = self.n;
        // 1/y' of USA is n/2 e^{-beta gamma} over the size, times the factor of the scale.
        let power = |k: usize| (0..k).fold(Dd::from(1.0), |p, _| p * Dd::from(n));
        let (shift, kernel_factor, constant_term) = match self.usa {
            None => (0.0, power(0), n - 1.0),
            Some(TimeScale::U1) => (1.0, power(1), 0.0),
            Some(TimeScale::U2) => (0.0, power(1), 0.0),
            Some(TimeScale::U3) => (0.0, power(2), 0.0),
            Some(TimeScale::U4) => (1.0, power(0), 0.0),
        };
        EquiangularTime::new(self.beta, shift, n, kernel_factor, constant_term, start)
    }

    /// `gamma(t)` from `gamma(0) = start`, the inverse of [`Equiangular::level_time`], in
    /// double-doubles.
    ///
    /// **Accuracy** 4 ulp, plus 1e-10 of the change between neighbouring doubles t. This holds also
    /// inside a jump that is shorter than the rounding of t. **Cost** a millisecond. **Errors**
    /// `start` outside `(-1/(n-1), 1)` or a time outside `[0, 1e300]`.
    ///
    /// ```
    /// use metastable::theory::equiangular::Equiangular;
    /// // n = 2, beta = 0: gamma = tanh t
    /// let g = Equiangular::sa(2, 0.0).gamma(0.0, 0.7).unwrap();
    /// assert!((g - 0.7f64.tanh()).abs() < 1e-15);
    /// ```
    pub fn gamma(&self, start: f64, t: f64) -> Result<f64> {
        Ok(-(-self.depth(start, t)?).exp_m1())
    }

    /// `gamma(t)` and its error: the change between neighbouring doubles t, plus rounding, plus
    /// the smallest normal double, since a smaller gamma is 0. The error is nearly 1 inside a jump
    /// that doubles cannot resolve. **Errors** as [`Equiangular::gamma`].
    ///
    /// ```
    /// use metastable::theory::equiangular::Equiangular;
    /// // gamma is e^-beta 2 t up to its square.
    /// let small = Equiangular::sa(4, 1000.0).gamma_with_error(0.0, 1e300).unwrap();
    /// let exact = (300.0 * 10f64.ln() + 2f64.ln() - 1000.0).exp();
    /// assert!((small.0 / exact - 1.0).abs() < 1e-12 && small.1 > 0.0 && small.1 < 1e-14 * exact);
    /// let lost = Equiangular::sa(4, 1000.0).gamma_with_error(0.0, 1.0).unwrap();
    /// assert!(lost.0 == 0.0 && lost.1 > 0.0);
    /// ```
    pub fn gamma_with_error(&self, start: f64, t: f64) -> Result<(f64, f64)> {
        let gamma = self.gamma(start, t)?;
        let (before, after) = (
            self.gamma(start, t.next_down().max(0.0))?,
            self.gamma(start, t.next_up().min(MAX_TIME))?,
        );
        let lost = if t > 0.0 { f64::MIN_POSITIVE } else { 0.0 };
        let rounding = 4.0 * f64::EPSILON * gamma.abs() + lost;
        Ok((gamma, (gamma - before).max(after - gamma) + rounding))
    }

    /// `y(t) = -log(1 - gamma(t))`, which is accurate also where gamma rounds to 1. **Errors** as
    /// [`Equiangular::gamma`].
    pub fn depth(&self, start: f64, t: f64) -> Result<f64> {
        in_range("t", t, 0.0, MAX_TIME)?;
        self.check_start(start)?;
        Ok(self.time_integral(start).depth(start, t))
    }

    /// Time from `gamma = from` to `gamma = to`: the integral of `dy / y'` in double-doubles,
    /// rounded once.
    ///
    /// **Accuracy** one ulp, for times up to 1e300. **Errors** levels outside `(-1/(n-1), 1)` or in
    /// the wrong order.
    pub fn level_time(&self, from: f64, to: f64) -> Result<Integral> {
        self.check_start(from)?;
        in_range("level", to, from, 1.0 - f64::EPSILON)?;
        if to <= from {
            return Ok(Integral { value: 0.0, error: 0.0 });
        }
        let value = self.time_integral(from).time(from, to);
        if value <= MAX_TIME {
            return Ok(Integral { value, error: f64::EPSILON * value });
        }
        Err(Error::Beyond {
            quantity: format!("the level time at beta = {}", self.beta),
            hint: "use a smaller beta".into(),
        })
    }

    fn check_start(&self, start: f64) -> Result<()> {
        let lowest = -1.0 / (self.n - 1.0).max(1.0);
        if start > lowest && start < 1.0 {
            return Ok(());
        }
        Err(Error::parameter("gamma", start, format!("a value in ({lowest}, 1)")))
    }
}

/// Layer map of equiangular tokens: the exact common inner product after the layer
/// `x' = (x + eta y)/|x + eta y|` if it was `rho` before; `eta = inf` is an attention layer without
/// residual.
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
