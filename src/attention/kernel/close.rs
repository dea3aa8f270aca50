//! From sums to velocities and fields: `P_x drift`, or `drift + sigma z x`, times a factor, with the doubtful rows noted.

use super::workspace::Sums;
use crate::num::simd::{Lanes, Task};
use std::ops::Range;

/// What is made of sums.
pub struct Ending {
    /// Velocities are projected (`None`); fields get `sigma z_i x_i` back.
    pub sigma: Option<f64>,
    /// What is taken off a field summed as it is, in units of `z_i x_i`: nothing, or sigma to make it a drift.
    pub taken_off: f64,
    /// Divide by the mass (SA).
    pub softmax: bool,
    /// Two factors, so that neither overflows before the end.
    pub factors: [f64; 2],
    /// Largest relative error of a row.
    pub accuracy: f64,
}

impl Ending {
    /// The drifts of [`Sums`], every one of them believed.
    pub fn sums(beta: f64) -> Self {
        let sigma = if beta < 0.0 { -1.0 } else { 1.0 };
        Self { sigma: Some(sigma), taken_off: sigma, softmax: false, factors: [1.0, 1.0], accuracy: f64::INFINITY }
    }
}

/// Closes rows of plain attention.
pub(super) struct Close<'a> {
    pub rows: Range<usize>,
    pub d: usize,
    /// Tokens, n x d.
    pub x: &'a [f64],
    pub sums: &'a Sums,
    pub ending: &'a Ending,
    /// Of these rows alone.
    pub out: &'a mut [f64],
    /// Rows whose bound exceeds the accuracy or whose mass is below the floor.
    pub doubtful: &'a mut Vec<usize>,
}

impl Task for Close<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        match self.d {
            2 => self.rows::<L, 2>(l),
            3 => self.rows::<L, 3>(l),
            _ => self.rows::<L, 0>(l),
        }
    }
}

impl Close<'_> {
    /// `D` is the dimension, 0 for any.
    #[inline(always)]
    fn rows<L: Lanes<F = f64>, const D: usize>(self, l: L) {
        let d = if D > 0 { D } else { self.d };
        let ending = self.ending;
        let (per_mass, absolute) = (self.sums.per_mass, self.sums.absolute);
        for (i, out) in self.rows.zip(self.out.chunks_exact_mut(d)) {
            let (x, drift) = (&self.x[i * d..][..d], &self.sums.drift[i * d..][..d]);
            let mass = self.sums.mass[i];
            let radial = match ending.sigma {
                Some(sigma) => -sigma * mass,
                None if D > 0 => short_dot(x, drift),
                None => dot(l, x, drift),
            };
            let factor = if ending.softmax { ending.factors[0] / mass } else { ending.factors[0] };
            let error = per_mass * mass + absolute;
            let longest = if D > 0 {
                project(x, drift, radial, factor, ending.factors[1], out)
            } else {
                project_lanes(l, x, drift, [radial, factor, ending.factors[1]], out)
            };
            // A softmax divides by the mass: its relative error adds to that of the drift.
            // A field is as long as its mass.
            let length = if ending.sigma.is_some() { mass } else { longest };
            let kept = error <= ending.accuracy * length && absolute <= ending.accuracy * mass;
            if !(kept || error == 0.0) || mass < self.sums.floor || mass.is_nan() {
                self.doubtful.push(i);
            }
        }
    }
}

#[inline(always)]
fn short_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in a.iter().zip(b) {
        sum += a * b;
    }
    sum
}

#[inline(always)]
fn dot<L: Lanes<F = f64>>(l: L, a: &[f64], b: &[f64]) -> f64 {
    let whole = a.len() - a.len() % L::WIDTH;
    let mut sum = l.zero();
    for (a, b) in L::view(&a[..whole]).iter().zip(L::view(&b[..whole])) {
        sum = l.fma(*a, *b, sum);
    }
    l.sum(sum) + short_dot(&a[whole..], &b[whole..])
}

/// Writes `(drift - radial x)` times both factors and returns the largest entry before them.
#[inline(always)]
fn project(x: &[f64], drift: &[f64], radial: f64, factor: f64, second: f64, out: &mut [f64]) -> f64 {
    let mut longest = 0.0f64;
    for ((o, s), x) in out.iter_mut().zip(drift).zip(x) {
        let v = s - radial * x;
        longest = if v.abs() > longest { v.abs() } else { longest };
        *o = v * factor * second;
    }
    longest
}

/// The same in lanes.
#[inline(always)]
fn project_lanes<L: Lanes<F = f64>>(l: L, x: &[f64], drift: &[f64], factors: [f64; 3], out: &mut [f64]) -> f64 {
    let whole = x.len() - x.len() % L::WIDTH;
    let [radial, factor, second] = factors;
    let (minus, first, last) = (l.splat(-radial), l.splat(factor), l.splat(second));
    let mut longest = l.zero();
    let rows = L::view(&x[..whole]).iter().zip(L::view(&drift[..whole]));
    for (o, (x, s)) in L::view_mut(&mut out[..whole]).iter_mut().zip(rows) {
        let v = l.fma(minus, *x, *s);
        longest = l.max(longest, l.max(v, l.sub(l.zero(), v)));
        *o = l.mul(l.mul(v, first), last);
    }
    let rest = project(&x[whole..], &drift[whole..], radial, factor, second, &mut out[whole..]);
    rest.max(l.largest(longest))
}
