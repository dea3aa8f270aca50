//! Doubly stochastic weights (Sinkformers, arXiv:2110.11773): `x_i' = P_{x_i} sum_j f_i k_ij f_j m_j x_j`.

mod matrix;

use super::kernel::{Form, Workspace};
use super::kernel_width;
use super::sublayer::{At, Facts, Sublayer};
use crate::error::{Error, Result};
use crate::num::vector::scale;
use crate::num::{aligned::Aligned, simd::Level, stats::nan_max, threads::inside_pool};
use crate::sphere::{Tokens, geometry::project};
use matrix::{Matrix, PARALLEL_PAIRS};

/// Attention whose weights `A_ij = f_i e^{beta (G_ij - 1)} f_j m_j` sum to 1 over j, so that `m_i
/// A_ij` is symmetric and doubly stochastic: its rows and its columns sum to the masses. The
/// columns of A itself sum to 1 where all masses are equal.
///
/// The scaling solves `f_i sum_j k_ij f_j m_j = 1` by the symmetric iteration with momentum: in `u = log f` the linearisation is `1 + A`, whose spectrum
/// lies in [1, 2] for a positive definite kernel, so that each of its steps leaves `(sqrt 2 - 1) / (sqrt 2 + 1) = 0.17` of the error. **Cost**
/// `n^2` exponentials, about 20 products with an n x n matrix, which is kept (8 n^2 bytes), and `5 n^2 d` operations.
#[derive(Clone, Debug)]
pub struct Sinkhorn {
    beta: f64,
    tolerance: f64,
    level: Level,
}

/// The most tokens: their matrix takes half a gigabyte.
const LARGEST_N: usize = 8192;
/// Rounds after which a scaling counts as not converging; at most 40 were seen.
const MOST: usize = 1000;

impl Sinkhorn {
    /// At an inverse temperature; row sums are within `tolerance` of 1.
    ///
    /// **Errors** a negative or infinite beta (the kernel would not be positive definite), a tolerance outside `[1e-14, 0.1]`.
    pub fn new(beta: f64, tolerance: f64) -> Result<Self> {
        if !(beta >= 0.0 && beta.is_finite()) {
            return Err(Error::parameter("beta", beta, "a finite number >= 0 with Sinkhorn weights"));
        }
        crate::error::in_range("tolerance", tolerance, 1e-14, 0.1)?;
        Ok(Self { beta, tolerance, level: Level::best() })
    }

    /// The factors `f`, the largest deviation of a row sum from 1, and the number of iterations.
    ///
    /// ```
    /// use metastable::{attention::sinkhorn::Sinkhorn, sphere::Tokens};
    /// let x = Tokens::from_angles(&[0.0, 0.5, 3.0]).unwrap();
    /// let (f, residual, rounds) = Sinkhorn::new(4.0, 1e-13).unwrap().scaling(&x);
    /// // The token alone keeps its own weight: f^2 m = 1 but for what it gives the others.
    /// assert!(residual < 1e-13 && rounds < 30 && (f[2] * f[2] / 3.0 - 1.0).abs() < 1e-2);
    /// ```
    pub fn scaling(&self, x: &Tokens) -> (Vec<f64>, f64, usize) {
        let mut buffers = Buffers::default();
        let (residual, rounds) = self.scale(x, &mut buffers);
        (buffers.factors, residual, rounds)
    }

    fn scale(&self, x: &Tokens, b: &mut Buffers) -> (f64, usize) {
        let Buffers { matrix, weighted, sums, factors, change } = b;
        matrix.fill(x, self.beta, self.level);
        weighted.reset(matrix.stride());
        sums.resize(x.n(), 0.0);
        // The sums of the plain kernel: exact when all rows have the same.
        weighted[..x.n()].copy_from_slice(x.masses());
        matrix.times(weighted, self.level, sums);
        factors.clear();
        factors.extend(sums.iter().map(|z| 1.0 / z.sqrt()));
        change.clear();
        change.resize(x.n(), 0.0);
        let root = 2f64.sqrt();
        let (step, momentum) = (4.0 / (root + 1.0).powi(2), ((root - 1.0) / (root + 1.0)).powi(2));
        let mut last = f64::INFINITY;
        for round in 1..=MOST {
            weighted.iter_mut().zip(factors.iter().zip(x.masses())).for_each(|(w, (f, m))| *w = m * f);
            matrix.times(weighted, self.level, sums);
            let residual = factors.iter().zip(&*sums).map(|(f, z)| (f * z - 1.0).abs()).fold(0.0, nan_max);
            if residual <= self.tolerance {
                return (residual, round);
            }
            // Without momentum where it leads astray, far from the solution.
            let (step, momentum) = if residual < last { (step, momentum) } else { (0.5, 0.0) };
            last = residual;
            for ((f, c), z) in factors.iter_mut().zip(change.iter_mut()).zip(&*sums) {
                // log s and e^c up to third order: the solution stays what it is, no change of a logarithm exceeds 2.
                let s = *f * z;
                *c = momentum * *c - step * 2.0 * (s - 1.0) / (s + 1.0);
                *f *= (2.0 + *c) / (2.0 - *c);
            }
        }
        (last, MOST)
    }
}

/// The matrix and the iterates.
#[derive(Default)]
struct Buffers {
    matrix: Matrix,
    /// `m_j f_j`, with zeros up to whole vectors.
    weighted: Aligned<f64>,
    sums: Vec<f64>,
    factors: Vec<f64>,
    /// Last changes of `log f`.
    change: Vec<f64>,
}

impl Sublayer for Sinkhorn {
    fn evaluate(&self, at: &At, form: Form, work: &mut Workspace, out: &mut [f64]) {
        let x = at.tokens;
        if self.algorithm(x, form).is_err() {
            return out.fill(f64::NAN);
        }
        inside_pool(x.n() * x.n() >= PARALLEL_PAIRS, || {
            let buffers: &mut Buffers = work.of();
            let (residual, _) = self.scale(x, buffers);
            if residual > self.tolerance || residual.is_nan() {
                return out.fill(f64::NAN);
            }
            buffers.matrix.moments(x, &buffers.weighted, form != Form::Sum, self.level, out);
            for ((out, f), xi) in out.chunks_exact_mut(x.d()).zip(&buffers.factors).zip(x.rows()) {
                scale(*f, out);
                if form == Form::Tangent {
                    project(xi, out);
                }
            }
        });
    }

    fn facts(&self) -> Facts {
        Facts {
            common_field: true,
            rotation_equivariant: true,
            permutation_equivariant: true,
            odd: true,
            autonomous: true,
            cone_invariant: true,
            speed_bound: Some(1.0),
            ..Facts::default()
        }
    }

    fn length_scale(&self) -> f64 {
        kernel_width(self.beta)
    }

    fn accuracy(&self) -> f64 {
        self.tolerance.max(super::kernel::EXACT)
    }

    fn algorithm(&self, x: &Tokens, _: Form) -> Result<&'static str> {
        if x.n() > LARGEST_N {
            return Err(Error::parameter("n", x.n(), format!("at most {LARGEST_N} tokens with Sinkhorn weights, whose matrix is kept")));
        }
        if !x.space().is_unit() {
            return Err(Error::parameter(
                "tokens",
                format!("tokens of the space `{}`", x.space().name()),
                "unit vectors with Sinkhorn weights",
            ));
        }
        Ok("sinkhorn")
    }
}
