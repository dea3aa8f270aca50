//! Layers `x_i <- N(x_i + eta V m_i)` with a new random V in every layer (arXiv:2601.21942,
//! 2604.01978), computed without the matrix V.

use crate::error::{Error, Result};
use crate::num::vector::axpy;
use crate::num::{stream::Stream, sum::dot};
use crate::sphere::{Tokens, geometry::retract};

/// `m_i` is the softmax mean of token i at beta with Q = K = I; V has independent normal entries of
/// variance 1/d, drawn anew in every layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomValues {
    beta: f64,
    eta: f64,
}

impl RandomValues {
    /// Layers with inverse temperature `beta` and step `eta`. **Errors** numbers that are not
    /// finite, a negative step.
    pub fn new(beta: f64, eta: f64) -> Result<Self> {
        if !beta.is_finite() {
            return Err(Error::parameter(
                "beta",
                crate::error::format_number(beta),
                "a finite number",
            ));
        }
        crate::error::in_range("eta", eta, 0.0, 1e6)?;
        Ok(Self { beta, eta })
    }

    /// Applies one layer.
    ///
    /// The n vectors `V m_i` are jointly normal with covariance `<m_i, m_j>/d` in every coordinate.
    /// They are the rows of `L G / sqrt d`, with the Cholesky factor L of the Gram matrix of the
    /// means and a normal n x d matrix G. **Accuracy** exact in law, to rounding. **Cost** n d
    /// normal numbers and `3 n^2 d` operations, instead of `d^2` and `n d^2` with the matrix.
    ///
    /// ```
    /// use metastable::{attention::random_values::RandomValues, num::stream::Stream, sphere::Tokens};
    /// let mut x = Tokens::from_angles(&[0.0, 0.4]).unwrap();
    /// let (layer, mut stream) = (RandomValues::new(1.0, 0.1).unwrap(), Stream::new(1, &["layers"]));
    /// (0..3000).for_each(|_| layer.apply(&mut x, &mut stream));
    /// assert!(x.inner(0, 1).abs() > 0.999); // d = 2: equal or opposite
    /// ```
    pub fn apply(&self, x: &mut Tokens, stream: &mut Stream) {
        let mut normals = vec![0.0; x.coordinates().len()];
        stream.normals(&mut normals);
        self.apply_with_normals(x, &normals);
    }

    /// Applies one layer with the given n d standard normal numbers; their negatives correspond to
    /// the matrix -V.
    pub fn apply_with_normals(&self, x: &mut Tokens, normals: &[f64]) {
        let (n, d) = (x.n(), x.d());
        let means = self.means(x);
        let factor = cholesky(&means, n, d);
        let size = self.eta / (d as f64).sqrt();
        for (row, l) in x.coordinates_mut().chunks_exact_mut(d).zip(factor.chunks_exact(n)) {
            for (l, g) in l.iter().zip(normals.chunks_exact(d)).filter(|(l, _)| **l != 0.0) {
                axpy(size * l, g, row);
            }
            retract(row);
        }
    }

    /// Softmax means of all tokens.
    fn means(&self, x: &Tokens) -> Vec<f64> {
        let (n, d) = (x.n(), x.d());
        let gram = x.gram();
        let mut out = vec![0.0; n * d];
        for (i, (mean, scores)) in out.chunks_exact_mut(d).zip(gram.chunks_exact(n)).enumerate() {
            let top = scores.iter().map(|g| self.beta * g).fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = scores
                .iter()
                .zip(x.masses())
                .map(|(g, m)| m * (self.beta * g - top).exp())
                .collect();
            let total: f64 = weights.iter().sum();
            debug_assert!(total > 0.0, "row {i}");
            for (w, y) in weights.iter().zip(x.rows()) {
                mean.iter_mut().zip(y).for_each(|(m, y)| *m += w / total * y);
            }
        }
        out
    }
}

/// The lower triangular L such that `L L^T` is the Gram matrix of n rows. The column of a row that
/// depends linearly on earlier rows, up to rounding, is 0.
fn cholesky(rows: &[f64], n: usize, d: usize) -> Vec<f64> {
    let row = |i: usize| &rows[i * d..(i + 1) * d];
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let known = dot(&l[i * n..i * n + j], &l[j * n..j * n + j]);
            let (whole, pivot) = (dot(row(i), row(j)), l[j * n + j]);
            let rest = whole - known;
            l[i * n + j] = match i == j {
                // Smaller remainders are rounding errors.
                true if rest > 100.0 * f64::EPSILON * whole => rest.sqrt(),
                false if pivot > 0.0 => rest / pivot,
                _ => 0.0,
            };
        }
    }
    l
}
