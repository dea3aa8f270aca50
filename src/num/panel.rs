//! A smooth function on an interval, represented by its values at Gauss-Legendre nodes: resolution
//! test, bisection, values and integrals at any point.

use super::gegenbauer::zonal_polynomials;
use super::quadrature::gauss_legendre;

/// Nodes per panel.
pub const NODES: usize = 16;

/// Values at the nodes of a panel, ascending.
pub type Values = [f64; NODES];

/// The Gauss-Legendre rule on `[-1, 1]` with its transforms.
pub struct LegendrePanel {
    /// Nodes, ascending.
    pub x: Values,
    /// Weights; their sum is 2.
    pub w: Values,
    /// Row k maps values to the coefficient of the Legendre polynomial of degree k.
    analysis: [Values; NODES],
    /// Rows map values to the values at the nodes of the left and of the right half.
    halves: [[Values; NODES]; 2],
}

fn row(matrix: &Values, values: &Values) -> f64 {
    matrix.iter().zip(values).map(|(m, v)| m * v).sum()
}

impl Default for LegendrePanel {
    fn default() -> Self {
        let mut nodes = gauss_legendre(NODES);
        nodes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (x, w): (Values, Values) =
            (std::array::from_fn(|i| nodes[i].0), std::array::from_fn(|i| nodes[i].1));
        let at: Vec<Vec<f64>> = x.iter().map(|x| zonal_polynomials(3, NODES, *x)).collect();
        let analysis: [Values; NODES] =
            std::array::from_fn(|k| std::array::from_fn(|i| (k as f64 + 0.5) * w[i] * at[i][k]));
        let half = |shift: f64| -> [Values; NODES] {
            std::array::from_fn(|i| {
                let p = zonal_polynomials(3, NODES, 0.5 * (x[i] + shift));
                std::array::from_fn(|j| (0..NODES).map(|k| p[k] * analysis[k][j]).sum())
            })
        };
        let halves = [half(-1.0), half(1.0)];
        Self { x, w, analysis, halves }
    }
}

impl LegendrePanel {
    /// Legendre coefficients of the values.
    pub fn coefficients(&self, values: &Values) -> Values {
        std::array::from_fn(|k| row(&self.analysis[k], values))
    }

    /// Sum of the absolute values of the three highest coefficients: an estimate of the
    /// interpolation error (the integral is much more accurate).
    ///
    /// ```
    /// use metastable::num::panel::LegendrePanel;
    /// let rule = LegendrePanel::default();
    /// // e^x: coefficients fall like 1/(2k - 1)!!, 1.3e-13 at k = 13; |x|'s do not.
    /// assert!(rule.tail(&rule.x.map(f64::exp)) < 2e-13 && rule.tail(&rule.x.map(f64::abs)) > 1e-3);
    /// ```
    pub fn tail(&self, values: &Values) -> f64 {
        (NODES - 3..NODES).map(|k| row(&self.analysis[k], values).abs()).sum()
    }

    /// Values at the nodes of the left half and of the right half.
    pub fn halves(&self, values: &Values) -> [Values; 2] {
        self.halves.each_ref().map(|half| std::array::from_fn(|i| row(&half[i], values)))
    }

    /// Value at `x` of the Legendre series with these coefficients.
    pub fn value(coefficients: &Values, x: f64) -> f64 {
        coefficients.iter().zip(zonal_polynomials(3, NODES, x)).map(|(c, p)| c * p).sum()
    }

    /// Integral from -1 to `x` of the Legendre series with these coefficients.
    ///
    /// ```
    /// use metastable::num::panel::LegendrePanel;
    /// let rule = LegendrePanel::default();
    /// let c = rule.coefficients(&rule.x.map(f64::cos));
    /// assert!((LegendrePanel::integral(&c, 0.3) - (0.3f64.sin() + 1f64.sin())).abs() < 1e-15);
    /// ```
    pub fn integral(coefficients: &Values, x: f64) -> f64 {
        let p = zonal_polynomials(3, NODES, x);
        // The integral of P_k is (P_{k+1} - P_{k-1}) / (2k + 1), that of P_0 is x + 1.
        let wave = |k: usize| {
            if k == 0 { x + 1.0 } else { (p[k + 1] - p[k - 1]) / (2.0 * k as f64 + 1.0) }
        };
        coefficients.iter().enumerate().map(|(k, c)| c * wave(k)).sum()
    }
}
