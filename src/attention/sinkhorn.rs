//! Doubly stochastic weights (Sinkformers, arXiv:2110.11773): `x_i' = P_{x_i} sum_j f_i k_ij f_j m_j x_j`.

use super::kernel::{Form, Workspace};
use super::kernel_width;
use super::sublayer::{At, Facts, Sublayer};
use crate::error::{Error, Result};
use crate::num::aligned::Aligned;
use crate::num::loops::exponentials;
use crate::num::simd::{Lanes, Level, Task};
use crate::num::stats::nan_max;
use crate::sphere::{Tokens, geometry::chord2};

/// Attention whose weights `A_ij = f_i e^{beta (G_ij - 1)} f_j m_j` sum to 1 over j, so that `m_i A_ij` is symmetric and doubly stochastic.
///
/// The scaling solves `f_i sum_j k_ij f_j m_j = 1` by the symmetric iteration with momentum: in `u = log f` the linearisation is `1 + A`, whose spectrum
/// lies in [1, 2] for a positive definite kernel, so that each of its steps takes `(sqrt 2 - 1) / (sqrt 2 + 1) = 0.17` of the error. **Cost**
/// `n^2/2` exponentials, about 20 products with an n x n matrix, which is kept (8 n^2 bytes), and `2 n^2 d` operations.
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
        (buffers.log_scale.iter().map(|u| u.exp()).collect(), residual, rounds)
    }

    fn scale(&self, x: &Tokens, b: &mut Buffers) -> (f64, usize) {
        let n = x.n();
        self.fill(x, b);
        let stride = b.stride;
        b.weighted.reset(stride);
        b.sums.resize(n, 0.0);
        let Buffers { kernel, weighted, sums, log_scale, before, .. } = b;
        // The sums of the plain kernel: exact when all rows have the same.
        weighted[..n].copy_from_slice(x.masses());
        self.level.run(Product { kernel, stride, v: weighted, out: sums });
        log_scale.clear();
        log_scale.extend(sums.iter().map(|z| -0.5 * z.ln()));
        before.clear();
        before.extend_from_slice(log_scale);
        let root = 2f64.sqrt();
        let (step, momentum) = (4.0 / (root + 1.0).powi(2), ((root - 1.0) / (root + 1.0)).powi(2));
        let mut last = f64::INFINITY;
        for round in 1..=MOST {
            weighted.iter_mut().zip(log_scale.iter().zip(x.masses())).for_each(|(w, (u, m))| *w = m * u.exp());
            self.level.run(Product { kernel, stride, v: weighted, out: sums });
            let residual = log_scale.iter().zip(&*sums).map(|(u, z)| (u.exp() * z - 1.0).abs()).fold(0.0, nan_max);
            if residual <= self.tolerance {
                return (residual, round);
            }
            // Without momentum where it leads astray, far from the solution.
            let (step, momentum) = if residual < last { (step, momentum) } else { (0.5, 0.0) };
            last = residual;
            for ((u, old), z) in log_scale.iter_mut().zip(before.iter_mut()).zip(&*sums) {
                let next = *u - step * (*u + z.ln()) + momentum * (*u - *old);
                (*old, *u) = (*u, next);
            }
        }
        (last, MOST)
    }

    /// `k_ij = e^{-beta |x_i - x_j|^2 / 2}`, in rows of whole vectors.
    fn fill(&self, x: &Tokens, b: &mut Buffers) {
        let n = x.n();
        b.stride = n.next_multiple_of(16);
        let stride = b.stride;
        b.kernel.reset(n * stride);
        let rate = -0.5 * self.beta * std::f64::consts::LOG2_E;
        for i in 0..n {
            let xi = x.row(i);
            b.kernel[i * stride..][..i + 1].iter_mut().zip(x.rows()).for_each(|(k, xj)| *k = rate * chord2(xi, xj));
            exponentials(self.level, &mut b.kernel[i * stride..][..(i + 1).next_multiple_of(16).min(stride)]);
            b.kernel[i * stride + i + 1..(i + 1) * stride].fill(0.0);
        }
        for i in 0..n {
            for j in 0..i {
                b.kernel[j * stride + i] = b.kernel[i * stride + j];
            }
        }
    }

    /// Row i in a form, from the factors.
    fn row(&self, x: &Tokens, b: &Buffers, i: usize, form: Form, out: &mut [f64]) {
        let xi = x.row(i);
        out.fill(0.0);
        let factor = b.log_scale[i].exp();
        let row = &b.kernel[i * b.stride..][..x.n()];
        for ((xj, k), w) in x.rows().zip(row).zip(&b.weighted[..x.n()]) {
            let a = factor * k * w;
            let own = if form == Form::Sum { 0.0 } else { 1.0 };
            out.iter_mut().zip(xj.iter().zip(xi)).for_each(|(o, (y, x))| *o += a * (y - own * x));
        }
        if form == Form::Tangent {
            crate::sphere::geometry::project(xi, out);
        }
    }
}

/// The matrix and the iterates.
#[derive(Default)]
struct Buffers {
    stride: usize,
    kernel: Aligned<f64>,
    /// `m_j f_j`, with zeros up to whole vectors.
    weighted: Aligned<f64>,
    sums: Vec<f64>,
    log_scale: Vec<f64>,
    before: Vec<f64>,
}

impl Sublayer for Sinkhorn {
    fn evaluate(&self, at: &At, form: Form, work: &mut Workspace, out: &mut [f64]) {
        let x = at.tokens;
        if self.algorithm(x, form).is_err() {
            return out.fill(f64::NAN);
        }
        let buffers: &mut Buffers = work.of();
        let (residual, _) = self.scale(x, buffers);
        if residual > self.tolerance || residual.is_nan() {
            return out.fill(f64::NAN);
        }
        out.chunks_exact_mut(x.d()).enumerate().for_each(|(i, row)| self.row(x, buffers, i, form, row));
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

/// `out = K v` for rows of whole vectors.
struct Product<'a> {
    kernel: &'a [f64],
    stride: usize,
    v: &'a [f64],
    out: &'a mut [f64],
}

impl Task for Product<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let (v, _) = L::view(self.v).as_chunks::<2>();
        for (row, out) in self.kernel.chunks_exact(self.stride).zip(self.out) {
            let (row, _) = L::view(row).as_chunks::<2>();
            let mut sums = [l.zero(); 2];
            for (k, v) in row.iter().zip(v) {
                sums[0] = l.fma(k[0], v[0], sums[0]);
                sums[1] = l.fma(k[1], v[1], sums[1]);
            }
            *out = l.sum(l.add(sums[0], sums[1]));
        }
    }
}
