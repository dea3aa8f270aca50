//! The Jacobian of causal attention. Token i sees tokens `j <= i` only, so the Jacobian is block
//! lower triangular: its spectrum is that of its n diagonal blocks, and a linear system with it
//! costs n systems of size d.
//!
//! Notation: `s_ij = 1` if the angle between x_i and x_j is at most 90 degrees and `-1` otherwise,
//! `y_ij = P_{x_i} (x_j - s_ij x_i)`, the absolute weights `A_ij` and `f_i = sum_j A_ij y_ij`. In
//! tangent vectors u_j at x_j (gnomonic coordinates about the current tokens, so that there is no
//! radial component)
//!
//! `J_ij u_j = A_ij (P_{x_i} u_j + beta <x_i, u_j> (y_ij - f_i))` for `j < i`, and
//! `J_ii u = -c_i u + beta (sum_j A_ij y_ij <y_ij, u> - f_i <f_i, u>)`,
//! `c_i = sum_{j<i} A_ij <x_i, x_j>`;
//!
//! the terms with f_i come from the softmax and are absent for unnormalised weights.

use super::kernel::{Attention, Weights};
use crate::num::sum::dot;
use crate::num::vector::axpy;
use crate::sphere::{
    Tokens,
    geometry::{chord2, project},
};

/// The Jacobian of a velocity for which token i depends on tokens `j <= i` only.
pub trait TriangularJacobian {
    /// Linearises at `x`. **Cost** about one velocity.
    fn linearise(&mut self, x: &Tokens);

    /// The symmetric d x d block `J_ii`, which vanishes on `x_i` itself.
    fn diagonal_block(&self, i: usize, out: &mut [f64]);

    /// Adds `sum_{j<i} J_ij u_j` to `out`, for tangent rows `u_j` at `x_j`. **Cost** O(i d).
    fn add_off_diagonal(&self, i: usize, u: &[f64], out: &mut [f64]);
}

/// The Jacobian of causal attention with one identity head.
///
/// **Accuracy** every term has the relative accuracy of its weight, down to velocities of 1e-300.
/// **Cost** memory for n(n+1)/2 weights.
pub(crate) struct CausalJacobian<'a> {
    attention: &'a Attention,
    x: Tokens,
    /// Absolute weights of row i, `j <= i`, at `i (i + 1) / 2`.
    weights: Vec<f64>,
    /// `s_ij`, stored as the weights.
    sides: Vec<f64>,
    /// `f_i`, without the sign of the flow.
    drift: Vec<f64>,
}

impl<'a> CausalJacobian<'a> {
    /// `None` for attention that is not causal or has Q, K, V or several heads.
    pub(crate) fn new(attention: &'a Attention) -> Option<Self> {
        let plain = attention.heads.len() == 1 && attention.heads[0].is_identity();
        let placeholder = Tokens::from_parts(2, vec![1.0, 0.0], vec![1.0]);
        (plain && attention.causal).then(|| Self {
            attention,
            x: placeholder,
            weights: vec![],
            sides: vec![],
            drift: vec![],
        })
    }

    fn row(&self, i: usize) -> (&[f64], &[f64]) {
        let first = i * (i + 1) / 2;
        (&self.weights[first..=first + i], &self.sides[first..=first + i])
    }

    fn is_softmax(&self) -> bool {
        self.attention.weights == Weights::Softmax
    }
}

impl TriangularJacobian for CausalJacobian<'_> {
    fn linearise(&mut self, x: &Tokens) {
        self.x = x.clone();
        self.weights.clear();
        self.sides.clear();
        self.drift.clear();
        self.drift.resize(x.coordinates().len(), 0.0);
        for (i, (xi, drift)) in x.rows().zip(self.drift.chunks_exact_mut(x.d())).enumerate() {
            let weights = self.attention.row_weights(x, 0, i);
            for (w, xj) in weights[..=i].iter().zip(x.rows()) {
                let side = if chord2(xi, xj) <= 2.0 { 1.0 } else { -1.0 };
                drift
                    .iter_mut()
                    .zip(xj.iter().zip(xi))
                    .for_each(|(f, (a, b))| *f += w * (a - side * b));
                self.sides.push(side);
            }
            self.weights.extend_from_slice(&weights[..=i]);
            project(xi, drift);
        }
    }

    fn diagonal_block(&self, i: usize, out: &mut [f64]) {
        let (x, d, beta, sign) = (&self.x, self.x.d(), self.attention.beta, self.attention.sign);
        let (xi, (weights, sides)) = (x.row(i), self.row(i));
        out.fill(0.0);
        let mut y = vec![0.0; d];
        let mut add = |factor: f64, y: &[f64]| {
            for (row, a) in out.chunks_exact_mut(d).zip(y) {
                axpy(factor * a, y, row);
            }
        };
        let mut weighted_cosines = 0.0;
        for ((w, side), xj) in weights.iter().zip(sides).zip(x.rows()).take(i) {
            weighted_cosines += w * dot(xi, xj);
            y.iter_mut().zip(xj.iter().zip(xi)).for_each(|(y, (a, b))| *y = a - side * b);
            project(xi, &mut y);
            add(sign * beta * w, &y);
        }
        if self.is_softmax() {
            add(-sign * beta, &self.drift[i * d..(i + 1) * d]);
        }
        add(sign * weighted_cosines, xi);
        (0..d).for_each(|c| out[c * d + c] -= sign * weighted_cosines);
    }

    fn add_off_diagonal(&self, i: usize, u: &[f64], out: &mut [f64]) {
        let (x, d, beta) = (&self.x, self.x.d(), self.attention.beta);
        let (xi, (weights, sides)) = (x.row(i), self.row(i));
        let (mut sum, mut total) = (vec![0.0; d], 0.0);
        for (((w, side), xj), u) in
            weights.iter().zip(sides).zip(x.rows()).zip(u.chunks_exact(d)).take(i)
        {
            // u is tangent at x_j: <x_i, u> = <x_i - s x_j, u>, a form without cancellation.
            let along = beta
                * u.iter()
                    .zip(xi.iter().zip(xj))
                    .map(|(u, (a, b))| u * (a - side * b))
                    .sum::<f64>();
            sum.iter_mut()
                .zip(u.iter().zip(xj.iter().zip(xi)))
                .for_each(|(s, (u, (a, b)))| *s += w * (u + along * (a - side * b)));
            total += w * along;
        }
        if self.is_softmax() {
            axpy(-total, &self.drift[i * d..(i + 1) * d], &mut sum);
        }
        project(xi, &mut sum);
        axpy(self.attention.sign, &sum, out);
    }
}
