//! Kernel sums of many particles on the circle: masses are handed to Chebyshev nodes of panels so short that the kernel is a polynomial on them, summed node by
//! node, and handed back. Every sum keeps its relative accuracy, also far from all mass.

use super::{Medium, sinkhorn_scaling};
use crate::attention::RowWeights;
use crate::error::Result;
use crate::num::threads::parallel_allowed;
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};

/// Nodes per panel. A panel reaches at most `3/|beta|` from its middle, so the kernel is `e^{a x}`, `|a| <= 3`, times a flatter function: the polynomial of degree
/// 23 misses it by `2 (3/2)^24 / 24! = 5e-20` of its largest, `1e-17` of its smallest value.
const NODES: usize = 24;

/// Sums at a place: `sum q k`, `sum q k sin(phi - theta)`, `sum q k (cos - beta sin^2)`, of `k = e^{beta cos(phi - theta) - |beta|}`.
type Sums = [f64; 3];

/// Panels and the kernel between their nodes.
pub(super) struct KernelPanels {
    count: usize,
    nodes: [f64; NODES],
    barycentric: [f64; NODES],
    /// By panels from target to source, node of the target, node of the source.
    table: Vec<[[Sums; NODES]; NODES]>,
}

/// A particle in its panel: the values of the Lagrange polynomials of the nodes there.
struct Place {
    panel: usize,
    basis: [f64; NODES],
}

impl KernelPanels {
    pub(super) fn new(beta: f64) -> Self {
        let count = 4.max((TAU * beta.abs() / 6.0).ceil() as usize);
        let half = PI / count as f64;
        let angle = |j: usize| PI * (j as f64 + 0.5) / NODES as f64;
        let nodes: [f64; NODES] = std::array::from_fn(|j| angle(j).cos());
        let barycentric = std::array::from_fn(|j| if j.is_multiple_of(2) { angle(j).sin() } else { -angle(j).sin() });
        let sums = |shift: usize, i: usize, j: usize| {
            let ahead = half * (2.0 * shift as f64 + nodes[j] - nodes[i]);
            let (s, c) = (0.5 * ahead).sin_cos();
            let far = if beta >= 0.0 { s } else { c };
            let (sine, cosine) = ahead.sin_cos();
            let k = (-2.0 * beta.abs() * far * far).exp();
            [k, k * sine, k * (cosine - beta * sine * sine)]
        };
        let table = (0..count).map(|p| std::array::from_fn(|i| std::array::from_fn(|j| sums(p, i, j)))).collect();
        Self { count, nodes, barycentric, table }
    }

    fn place(&self, theta: f64) -> Place {
        let panels = theta.rem_euclid(TAU) / TAU * self.count as f64;
        let panel = (panels as usize).min(self.count - 1);
        let x = 2.0 * (panels - panel as f64) - 1.0;
        if let Some(hit) = self.nodes.iter().position(|n| (x - n).abs() < 1e-300) {
            return Place { panel, basis: std::array::from_fn(|j| f64::from(u8::from(j == hit))) };
        }
        let raw: [f64; NODES] = std::array::from_fn(|j| self.barycentric[j] / (x - self.nodes[j]));
        let total: f64 = raw.iter().sum();
        Place { panel, basis: raw.map(|v| v / total) }
    }

    /// Sums at the nodes of all panels that hold particles, of these masses; the first `wanted` of the three.
    fn at_nodes(&self, places: &[Place], q: impl Fn(usize) -> f64, wanted: usize) -> Vec<[Sums; NODES]> {
        let mut sources = vec![[0.0; NODES]; self.count];
        let mut held = vec![false; self.count];
        for (i, place) in places.iter().enumerate() {
            let m = q(i);
            sources[place.panel].iter_mut().zip(&place.basis).for_each(|(s, b)| *s += m * b);
            held[place.panel] = true;
        }
        let one = |target: usize| {
            let mut out = [[0.0; 3]; NODES];
            if !held[target] {
                return out;
            }
            for source in (0..self.count).filter(|s| held[*s]) {
                let block = &self.table[(source + self.count - target) % self.count];
                for (out, row) in out.iter_mut().zip(block) {
                    for (q, k) in sources[source].iter().zip(row) {
                        (0..wanted).for_each(|c| out[c] += q * k[c]);
                    }
                }
            }
            out
        };
        if self.count >= 32 && parallel_allowed() {
            (0..self.count).into_par_iter().map(one).collect()
        } else {
            (0..self.count).map(one).collect()
        }
    }

    fn sums(place: &Place, nodes: &[[Sums; NODES]]) -> Sums {
        let mut out = [0.0; 3];
        for (b, s) in place.basis.iter().zip(&nodes[place.panel]) {
            (0..3).for_each(|c| out[c] += b * s[c]);
        }
        out
    }

    /// Angular velocities (n) and `-div v` (n) of particles under the measure they are. **Errors** a Sinkhorn scaling that does not converge.
    pub(super) fn rates(&self, medium: &Medium, masses: &[f64], theta: &[f64], out: &mut [f64]) -> Result<()> {
        let places: Vec<Place> = each(theta, |t| self.place(*t));
        let mut weights = vec![1.0; masses.len()];
        if medium.weights == RowWeights::Sinkhorn {
            // Sums of a few thousand terms.
            weights = sinkhorn_scaling(masses.len(), 1e-13, |f| {
                let nodes = self.at_nodes(&places, |i| masses[i] * f[i], 1);
                each(&places, |p| Self::sums(p, &nodes)[0])
            })?;
        }
        let nodes = self.at_nodes(&places, |i| masses[i] * weights[i], 3);
        let (velocity, fall) = out.split_at_mut(theta.len());
        let one = |place: &Place| {
            let [total, sine, fall] = Self::sums(place, &nodes);
            if medium.weights == RowWeights::Exponential {
                let scale = medium.beta.abs().exp();
                return (scale * sine, scale * fall);
            }
            let v = sine / total;
            (v, fall / total + medium.beta * v * v)
        };
        for ((v, f), (a, b)) in velocity.iter_mut().zip(fall).zip(each(&places, one)) {
            (*v, *f) = (a, b);
        }
        Ok(())
    }
}

/// A map over particles, on all threads where there are many; the order of the results does not depend on it.
fn each<A: Sync, B: Send>(items: &[A], f: impl Fn(&A) -> B + Sync) -> Vec<B> {
    if items.len() >= 1024 && parallel_allowed() { items.par_iter().map(&f).collect() } else { items.iter().map(f).collect() }
}
