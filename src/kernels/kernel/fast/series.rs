//! Series of the kernel on the circle and on S^2, such as
//! `e^{beta t - |beta|} = sum_l (2l+1) c_l P_l(t)`, with bounds of their tails.

use crate::num::bessel::{scaled_bessel_i, scaled_bessel_i_half};
use std::f64::consts::FRAC_PI_2;

/// Coefficients up to an order, and a bound of the tail.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Coefficients of the kernel.
    pub kernel: Vec<f64>,
    /// Coefficients of the kernel's primitive `e^{beta t - |beta|} / beta`, whose gradient is the
    /// drift.
    pub primitive: Vec<f64>,
    /// Sup norm of the truncation error of kernel and drift.
    pub tail: f64,
}

/// Largest order: the kernel would be narrower than `1e-2`.
pub const MAX_ORDER: usize = 1500;

impl Series {
    /// On the circle: `sum_k a_k cos k theta` with `a_0 = e^{-beta} I_0`, `a_k = 2 e^{-beta} I_k`,
    /// and `b_k = k a_k / beta = e^{-beta} (I_{k-1} - I_{k+1})`, which is finite at beta = 0. The
    /// order is the least one whose tails are below `tolerance`.
    ///
    /// ```
    /// use metastable::attention::kernel::Series;
    /// // A cosine series of the kernel to 1e-10 at beta = 9 needs K = 22.
    /// assert_eq!(Series::kernel_order(&Series::circle_magnitudes(9.0), 1e-10), 22);
    /// ```
    pub fn circle(beta: f64, tolerance: f64) -> Self {
        let size = beta.abs();
        let i = scaled_bessel_i(sufficient_order(size) + 1, size);
        let sign = |k: usize| if beta < 0.0 && k % 2 == 1 { -1.0 } else { 1.0 };
        let kernel: Vec<f64> =
            (0..i.len() - 1).map(|k| sign(k) * if k == 0 { i[0] } else { 2.0 * i[k] }).collect();
        // For beta < 0, I_{k-1} - I_{k+1} has the sign of I_{k-1}.
        let primitive: Vec<f64> = (0..i.len() - 1)
            .map(|k| if k == 0 { 0.0 } else { sign(k - 1) * (i[k - 1] - i[k + 1]) })
            .collect();
        let weight = |k: usize| kernel[k].abs().max(primitive[k].abs());
        Self::truncated(kernel.clone(), primitive.clone(), weight, tolerance)
    }

    /// On S^2: `c_l = e^{-beta} i_l(beta)` and
    /// `c_l / beta = e^{-beta} (i_{l-1} - i_{l+1}) / (2l+1)`; the tails use `|P_l| <= 1` and
    /// `|grad P_l| <= l(l+1)/2`.
    pub fn sphere(beta: f64, tolerance: f64) -> Self {
        let size = beta.abs();
        let i = scaled_spherical(sufficient_order(size) + 1, size);
        let sign = |l: usize| if beta < 0.0 && l % 2 == 1 { -1.0 } else { 1.0 };
        let kernel: Vec<f64> = (0..i.len() - 1).map(|l| sign(l) * i[l]).collect();
        let primitive: Vec<f64> = (0..i.len() - 1)
            .map(|l| {
                if l == 0 { 0.0 } else { sign(l - 1) * (i[l - 1] - i[l + 1]) / (2 * l + 1) as f64 }
            })
            .collect();
        let weight = |l: usize| {
            let l2 = (l * (l + 1)) as f64 / 2.0;
            (2 * l + 1) as f64 * kernel[l].abs().max(l2 * primitive[l].abs())
        };
        Self::truncated(kernel.clone(), primitive.clone(), weight, tolerance)
    }

    /// On the circle: `phi(cos theta) = sum_k c_k cos k theta` with the Chebyshev coefficients c
    /// of any weight phi, and `phi(cos theta) sin theta = sum_k b_k sin k theta` with
    /// `b_k = (c_{k-1} - c_{k+1}) / 2`, `b_1 = c_0 - c_2 / 2`. The order is the least one whose
    /// tails are below `tolerance`; `error` bounds the distance between phi and its series.
    ///
    /// ```
    /// use metastable::attention::kernel::Series;
    /// // s^2 = 1/2 + T_2/2, and cos^2 sin = (sin + sin 3)/4
    /// let square = Series::from_chebyshev(&[0.5, 0.0, 0.5], 1e-15, 0.0);
    /// assert_eq!(square.primitive, [0.0, 0.25, 0.0, 0.25]);
    /// ```
    pub fn from_chebyshev(coefficients: &[f64], tolerance: f64, error: f64) -> Self {
        let c = |k: usize| coefficients.get(k).copied().unwrap_or(0.0);
        let count = coefficients.len() + 1;
        let primitive = (0..count).map(|k| match k {
            0 => 0.0,
            1 => c(0) - 0.5 * c(2),
            _ => 0.5 * (c(k - 1) - c(k + 1)),
        });
        let (kernel, primitive): (Vec<f64>, Vec<f64>) =
            ((0..count).map(c).collect(), primitive.collect());
        let weights = kernel.iter().zip(&primitive).map(|(a, b)| a.abs().max(b.abs()));
        let weights: Vec<f64> = weights.collect();
        let mut out = Self::truncated(kernel, primitive, |k| weights[k], tolerance);
        out.tail += error;
        out
    }

    /// On S^2: `phi(t) = sum_l (2l+1) c_l P_l(t)` with the Legendre coefficients `a_l = (2l+1) c_l`
    /// of any weight phi; its integral has `(c_{l-1} - c_{l+1}) / (2l+1)`. As
    /// [`Series::from_chebyshev`].
    pub fn from_legendre(coefficients: &[f64], tolerance: f64, error: f64) -> Self {
        let odd = |l: usize| (2 * l + 1) as f64;
        let c = |l: usize| coefficients.get(l).map_or(0.0, |a| a / odd(l));
        let count = coefficients.len() + 1;
        // The gradient does not see the mean.
        let primitive =
            (0..count).map(|l| if l == 0 { 0.0 } else { (c(l - 1) - c(l + 1)) / odd(l) });
        let (kernel, primitive): (Vec<f64>, Vec<f64>) =
            ((0..count).map(c).collect(), primitive.collect());
        let weights = kernel.iter().zip(&primitive).enumerate();
        let weight = |(l, (a, b)): (usize, (&f64, &f64))| {
            odd(l) * a.abs().max((l * (l + 1)) as f64 / 2.0 * b.abs())
        };
        let weights: Vec<f64> = weights.map(weight).collect();
        let mut out = Self::truncated(kernel, primitive, |l| weights[l], tolerance);
        out.tail += error;
        out
    }

    fn truncated(
        mut kernel: Vec<f64>,
        mut primitive: Vec<f64>,
        weight: impl Fn(usize) -> f64,
        tolerance: f64,
    ) -> Self {
        let weights: Vec<f64> = (0..kernel.len()).map(weight).collect();
        let order = Self::kernel_order(&weights, tolerance).min(MAX_ORDER);
        let tail = weights[order + 1..].iter().rev().sum();
        kernel.truncate(order + 1);
        primitive.truncate(order + 1);
        Self { kernel, primitive, tail }
    }

    /// `|a_k|` on the circle, far beyond the order needed for any tolerance.
    pub fn circle_magnitudes(beta: f64) -> Vec<f64> {
        scaled_bessel_i(sufficient_order(beta.abs()), beta.abs())
            .iter()
            .enumerate()
            .map(|(k, i)| if k == 0 { *i } else { 2.0 * i })
            .collect()
    }

    /// `(2l+1) e^{-beta} i_l` on S^2, far beyond the order needed for any tolerance.
    pub fn sphere_magnitudes(beta: f64) -> Vec<f64> {
        scaled_spherical(sufficient_order(beta.abs()), beta.abs())
            .iter()
            .enumerate()
            .map(|(l, i)| (2 * l + 1) as f64 * i)
            .collect()
    }

    /// The smallest order for which the sum of the remaining magnitudes is below the tolerance.
    pub fn kernel_order(magnitudes: &[f64], tolerance: f64) -> usize {
        let mut tail = 0.0;
        for (k, m) in magnitudes.iter().enumerate().rev() {
            if tail + m > tolerance {
                return k;
            }
            tail += m;
        }
        0
    }
}

/// An order beyond which all coefficients are below 1e-17, from the Gaussian decay
/// `e^{-k^2 / 2 beta}` and the factorial decay.
fn sufficient_order(beta: f64) -> usize {
    let log = 42.0f64;
    ((2.0 * beta * log).sqrt() + log / 3.0 + 16.0).min(MAX_ORDER as f64 + 64.0).ceil() as usize
}

/// `e^{-x} i_l(x)`, `i_l = sqrt(pi / 2x) I_{l+1/2}`, `l = 0..=lmax`, `x >= 0`.
fn scaled_spherical(lmax: usize, x: f64) -> Vec<f64> {
    if x >= 1e-2 {
        let factor = (FRAC_PI_2 / x).sqrt();
        return scaled_bessel_i_half(lmax, x).iter().map(|i| factor * i).collect();
    }
    // i_l = x^l / (2l+1)!! (1 + y / (2l+3) + y^2 / (2 (2l+3)(2l+5)) + ...), y = x^2 / 2 <= 5e-5.
    let y = 0.5 * x * x;
    let mut leading = (-x).exp();
    (0..=lmax)
        .map(|l| {
            let odd = |k: usize| (2 * (l + k) + 1) as f64;
            if l > 0 {
                leading *= x / odd(0);
            }
            leading * (1.0 + y / odd(1) * (1.0 + y / (2.0 * odd(2)) * (1.0 + y / (3.0 * odd(3)))))
        })
        .collect()
}
