//! Doubly stochastic weights (Sinkformers, arXiv:2110.11773):
//! `x_i' = P_{x_i} sum_j f_i k_ij f_j m_j x_j`.

mod matrix;

use super::kernel::{OutputForm, Workspace};
use super::kernel_width;
use super::sublayer::{Input, Properties, Sublayer};
use crate::error::{Error, Result};
use crate::num::vector::scale;
use crate::num::{aligned::AlignedVec, simd::Isa, stats::nan_max, threads::enter_pool};
use crate::sphere::{Tokens, geometry::project};
use matrix::{KernelMatrix, PARALLEL_PAIRS};

/// Attention whose weights `A_ij = f_i e^{beta (G_ij - 1)} f_j m_j` sum to 1 over j, so that
/// `m_i A_ij` is symmetric and doubly stochastic: its rows and its columns sum to the masses. If
/// all masses are equal, the columns of A also sum to 1.
///
/// The scaling solves `f_i sum_j k_ij f_j m_j = 1` by the symmetric iteration with momentum. In
/// `u = log f` the linearisation is `1 + A`, whose spectrum lies in [1, 2] for a positive definite
/// kernel. Each step therefore reduces the error by the factor
/// `(sqrt 2 - 1) / (sqrt 2 + 1) = 0.17`. **Cost** `n^2` exponentials, about 20 products with the n
/// x n kernel matrix (8 n^2 bytes), and `5 n^2 d` operations.
#[derive(Clone, Debug)]
pub struct Sinkhorn {
    beta: f64,
    tolerance: f64,
    isa: Isa,
}

/// Largest number of tokens: the matrix then takes half a gigabyte.
const MAX_TOKENS: usize = 8192;
/// Largest number of iterations of a scaling; at most 40 have been observed.
const MAX_ROUNDS: usize = 1000;

impl Sinkhorn {
    /// Sinkhorn attention at an inverse temperature, with row sums within `tolerance` of 1.
    ///
    /// **Errors** a negative or infinite beta (the kernel would not be positive definite), a
    /// tolerance outside `[1e-14, 0.1]`.
    pub fn new(beta: f64, tolerance: f64) -> Result<Self> {
        if !(beta >= 0.0 && beta.is_finite()) {
            return Err(Error::parameter(
                "beta",
                beta,
                "a finite number >= 0 with Sinkhorn weights",
            ));
        }
        crate::error::in_range("tolerance", tolerance, 1e-14, 0.1)?;
        Ok(Self { beta, tolerance, isa: Isa::best() })
    }

    /// The factors `f`, the largest deviation of a row sum from 1, and the number of iterations.
    ///
    /// ```
    /// use metastable::{attention::sinkhorn::Sinkhorn, sphere::Tokens};
    /// let x = Tokens::from_angles(&[0.0, 0.5, 3.0]).unwrap();
    /// let (f, residual, rounds) = Sinkhorn::new(4.0, 1e-13).unwrap().scaling(&x);
    /// // The isolated token attends almost only to itself: f^2 m = 1 up to the other weights.
    /// assert!(residual < 1e-13 && rounds < 30 && (f[2] * f[2] / 3.0 - 1.0).abs() < 1e-2);
    /// ```
    pub fn scaling(&self, x: &Tokens) -> (Vec<f64>, f64, usize) {
        let mut buffers = ScalingBuffers::default();
        let (residual, rounds) = self.scale(x, &mut buffers);
        (buffers.factors, residual, rounds)
    }

    fn scale(&self, x: &Tokens, b: &mut ScalingBuffers) -> (f64, usize) {
        let ScalingBuffers { matrix, weighted, sums, factors, change } = b;
        matrix.fill(x, self.beta, self.isa);
        weighted.reset(matrix.stride());
        sums.resize(x.n(), 0.0);
        // Initial factors from the row sums of the kernel: exact if all row sums are equal.
        weighted[..x.n()].copy_from_slice(x.masses());
        matrix.times(weighted, self.isa, sums);
        factors.clear();
        factors.extend(sums.iter().map(|z| 1.0 / z.sqrt()));
        change.clear();
        change.resize(x.n(), 0.0);
        let root = 2f64.sqrt();
        let (step, momentum) = (4.0 / (root + 1.0).powi(2), ((root - 1.0) / (root + 1.0)).powi(2));
        let mut previous = f64::INFINITY;
        for round in 1..=MAX_ROUNDS {
            weighted
                .iter_mut()
                .zip(factors.iter().zip(x.masses()))
                .for_each(|(w, (f, m))| *w = m * f);
            matrix.times(weighted, self.isa, sums);
            let residual =
                factors.iter().zip(&*sums).map(|(f, z)| (f * z - 1.0).abs()).fold(0.0, nan_max);
            if residual <= self.tolerance {
                return (residual, round);
            }
            // Far from the solution momentum may increase the residual: use a plain step then.
            let (step, momentum) = if residual < previous { (step, momentum) } else { (0.5, 0.0) };
            previous = residual;
            for ((f, c), z) in factors.iter_mut().zip(change.iter_mut()).zip(&*sums) {
                // Pade approximants of log s and e^c, correct to second order: the fixed point is
                // unchanged, and no logarithm changes by more than 2.
                let s = *f * z;
                *c = momentum * *c - step * 2.0 * (s - 1.0) / (s + 1.0);
                *f *= (2.0 + *c) / (2.0 - *c);
            }
        }
        (previous, MAX_ROUNDS)
    }
}

/// The kernel matrix and the iterates.
#[derive(Default)]
struct ScalingBuffers {
    matrix: KernelMatrix,
    /// `m_j f_j`, padded with zeros.
    weighted: AlignedVec<f64>,
    sums: Vec<f64>,
    factors: Vec<f64>,
    /// Last changes of `log f`.
    change: Vec<f64>,
}

impl Sublayer for Sinkhorn {
    fn evaluate(&self, input: &Input, form: OutputForm, work: &mut Workspace, out: &mut [f64]) {
        let x = input.tokens;
        if self.algorithm(x, form).is_err() {
            return out.fill(f64::NAN);
        }
        enter_pool(x.n() * x.n() >= PARALLEL_PAIRS, || {
            let buffers: &mut ScalingBuffers = work.buffers();
            let (residual, _) = self.scale(x, buffers);
            if residual > self.tolerance || residual.is_nan() {
                return out.fill(f64::NAN);
            }
            buffers.matrix.weighted_sums(
                x,
                &buffers.weighted,
                form != OutputForm::Sum,
                self.isa,
                out,
            );
            for ((out, f), xi) in out.chunks_exact_mut(x.d()).zip(&buffers.factors).zip(x.rows()) {
                scale(*f, out);
                if form == OutputForm::Tangent {
                    project(xi, out);
                }
            }
        });
    }

    fn properties(&self) -> Properties {
        Properties {
            common_field: true,
            rotation_equivariant: true,
            permutation_equivariant: true,
            odd: true,
            autonomous: true,
            cone_invariant: true,
            speed_bound: Some(1.0),
            ..Properties::default()
        }
    }

    fn length_scale(&self) -> f64 {
        kernel_width(self.beta)
    }

    fn accuracy(&self) -> f64 {
        self.tolerance.max(super::kernel::EXACT_ACCURACY)
    }

    fn algorithm(&self, x: &Tokens, _: OutputForm) -> Result<&'static str> {
        if x.n() > MAX_TOKENS {
            return Err(Error::parameter(
                "n",
                x.n(),
                format!(
                    "at most {MAX_TOKENS} tokens with Sinkhorn weights, whose n x n matrix is stored"
                ),
            ));
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
