//! Attention without skip connection and normalisation, `X+ = P X W_V`, scores `X W X^T`: the
//! residual, the part of X that differs from a common row, shrinks cubically (arXiv:2103.03404;
//! constants derived).

use crate::num::{dense::mul, sum::dot};
use crate::num::{
    vector,
    vector::{axpy, divide, norm},
};

/// `X = 1 x^T + e^s Y`: a common row and a residual of any size, stored by its logarithm s. The
/// rows of Y have mean 0, and `|Y| = 1`.
#[derive(Clone, Debug, PartialEq)]
pub struct RankResidual {
    /// The mean row.
    pub common: Vec<f64>,
    /// `log |R|` (Frobenius).
    pub log_size: f64,
    /// `R / |R|`, row-major.
    pub shape: Vec<f64>,
}

/// `expm1(e^l y) / e^l` for any l; tends to y as `e^l` underflows.
fn scaled_expm1(log: f64, y: f64) -> f64 {
    if log < -40.0 { y } else { (log.exp() * y).exp_m1() / log.exp() }
}

impl RankResidual {
    /// Decomposes a matrix with rows of length d; `None` if all rows are equal.
    pub fn new(x: &[f64], d: usize) -> Option<Self> {
        Self::centred(vec![0.0; d], 0.0, x.to_vec())
    }

    /// Centres and normalises `1 x^T + e^s Y` for any Y.
    fn centred(mut common: Vec<f64>, log: f64, mut shape: Vec<f64>) -> Option<Self> {
        let (d, n) = (common.len(), shape.len() / common.len());
        for (c, common) in common.iter_mut().enumerate() {
            let mean = shape.iter().skip(c).step_by(d).sum::<f64>() / n as f64;
            shape.iter_mut().skip(c).step_by(d).for_each(|v| *v -= mean);
            *common += log.exp() * mean;
        }
        let size = norm(&shape);
        if size == 0.0 || !size.is_finite() {
            return None;
        }
        divide(&mut shape, size);
        Some(Self { common, log_size: log + size.ln(), shape })
    }

    /// The weights `q_j = softmax_j <W^T x, R_j>` that are common to all rows.
    fn common_weights(&self, w: &[f64]) -> Vec<f64> {
        let d = self.common.len();
        let direction = mul(&self.common, w, d);
        let scores: Vec<f64> =
            self.shape.chunks_exact(d).map(|y| self.log_size.exp() * dot(&direction, y)).collect();
        let top = vector::max(&scores);
        let all: Vec<f64> = scores.iter().map(|s| (s - top).exp()).collect();
        let total: f64 = all.iter().sum();
        all.into_iter().map(|v| v / total).collect()
    }

    /// One layer `X+ = P X W_V`, exactly: `r_i+ = sum_j q_j (e^{s_ij}/Z_i - 1) r_j W_V` with
    /// `s_ij = r_i W r_j^T`, by a formula without cancellation. `None` if the residual is 0 (W = 0,
    /// or `W_V` maps it to 0).
    ///
    /// **Accuracy** a few rounding units of the shape and of `log |R|`, for any size.
    ///
    /// ```
    /// use metastable::theory::rank_collapse::RankResidual;
    /// let one = [1.0, 0.0, 0.0, 1.0];
    /// let x = RankResidual::new(&[0.01, 0.0, 0.0, 0.02, 0.0, -0.01], 2).unwrap();
    /// let (y, z) = (x.layer(&one, &one).unwrap(), x.layer(&one, &one).unwrap().layer(&one, &one).unwrap());
    /// // The logarithm of the residual triples, up to a constant.
    /// assert!((z.log_size / y.log_size - 3.0).abs() < 0.2 && z.log_size < -30.0);
    /// ```
    #[must_use]
    pub fn layer(&self, w: &[f64], w_v: &[f64]) -> Option<Self> {
        let (d, s) = (self.common.len(), self.log_size);
        let q = self.common_weights(w);
        let rows = |m: &[f64]| m.chunks_exact(d).map(<[f64]>::to_vec).collect::<Vec<_>>();
        let (images, y) = (rows(&mul(&self.shape, w, d)), rows(&self.shape));
        let mut next = Vec::with_capacity(self.shape.len());
        for image in &images {
            // (e^{s_ij} - 1) e^{-2s}, and its mean, which gives Z_i.
            let excess: Vec<f64> = y.iter().map(|y| scaled_expm1(2.0 * s, dot(image, y))).collect();
            let mean = dot(&q, &excess);
            let z = 1.0 + (2.0 * s).exp() * mean;
            for c in 0..d {
                next.push((0..y.len()).map(|j| q[j] * (excess[j] - mean) / z * y[j][c]).sum());
            }
        }
        let mut common = self.common.clone();
        for (y, q) in y.iter().zip(&q) {
            axpy(s.exp() * q, y, &mut common);
        }
        Self::centred(mul(&common, w_v, d), 3.0 * s, mul(&next, w_v, d))
    }

    /// The sum of two matrices: a skip connection.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let top = self.log_size.max(other.log_size);
        let (own, added) = ((self.log_size - top).exp(), (other.log_size - top).exp());
        let shape = self.shape.iter().zip(&other.shape).map(|(a, b)| own * a + added * b).collect();
        Self::centred(
            self.common.iter().zip(&other.common).map(|(a, b)| a + b).collect(),
            top,
            shape,
        )
    }

    /// Layer normalisation of every row, `sqrt d C x/|C x|` with C the centring of coordinates.
    /// `None` if a row is constant or the rows become equal.
    ///
    /// With the centred common row c and a centred residual row e, `(c + e)/|c + e| - c/|c|` is
    /// `e/|c + e| - c (2 <c, e> + |e|^2)/(|c| |c + e| (|c| + |c + e|))`: no difference of nearly
    /// equal numbers occurs.
    #[must_use]
    pub fn normalised(&self) -> Option<Self> {
        let root = (self.common.len() as f64).sqrt();
        let centred = |row: &[f64]| {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            row.iter().map(|v| v - mean).collect::<Vec<_>>()
        };
        let c = centred(&self.common);
        let (size, scale) = (norm(&c), self.log_size.exp());
        let mut shape = Vec::with_capacity(self.shape.len());
        for y in self.shape.chunks_exact(c.len()) {
            let e = centred(y);
            let (along, square) = (dot(&c, &e), dot(&e, &e));
            let moved = (size * size + scale * (2.0 * along + scale * square)).max(0.0).sqrt();
            let back = (2.0 * along + scale * square) / (size * moved * (size + moved));
            shape.extend(e.iter().zip(&c).map(|(e, c)| root * (e / moved - back * c)));
        }
        Self::centred(c.iter().map(|v| root * v / size).collect(), self.log_size, shape)
    }

    /// The leading order of [`RankResidual::layer`]: `r_i+ = r_i W C_q W_V`,
    /// `C_q = sum_j q_j (r_j - rbar)^T (r_j - rbar)`.
    #[must_use]
    pub fn leading(&self, w: &[f64], w_v: &[f64]) -> Option<Self> {
        let d = self.common.len();
        let q = self.common_weights(w);
        let mut centre = vec![0.0; d];
        self.shape.chunks_exact(d).zip(&q).for_each(|(y, q)| axpy(*q, y, &mut centre));
        let mut covariance = vec![0.0; d * d];
        for (y, q) in self.shape.chunks_exact(d).zip(&q) {
            let off = |c: usize| y[c] - centre[c];
            covariance.iter_mut().enumerate().for_each(|(k, v)| *v += q * off(k / d) * off(k % d));
        }
        let map = mul(&mul(w, &covariance, d), w_v, d);
        Self::centred(vec![0.0; d], 3.0 * self.log_size, mul(&self.shape, &map, d))
    }
}

/// `log |R_l|`, l = 0..=layers, by the recursion `log |R+| = 3 log |R| + log_factor`. The residual
/// tends to 0 iff `log |R_0| < -log_factor / 2`.
pub fn cubic_recursion(log_size: f64, log_factor: f64, layers: usize) -> Vec<f64> {
    let mut out = vec![log_size];
    (0..layers).for_each(|l| out.push(3.0 * out[l] + log_factor));
    out
}
