//! Kernel sums of many particles on the circle. The masses are interpolated to Chebyshev nodes of
//! panels, which are so short that the kernel is a polynomial on them; the kernel is summed node by
//! node, and the sums are interpolated back. Every sum keeps its relative accuracy, also far from
//! all mass.

use super::{MeasureDynamics, sinkhorn_scaling};
use crate::attention::RowWeights;
use crate::error::Result;
use crate::num::threads::parallel_allowed;
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};

/// Nodes per panel. A panel extends at most `3/|beta|` from its middle, so the kernel is `e^{a x}`,
/// `|a| <= 3`, times a flatter function: the error of the polynomial of degree 23 is
/// `2 (3/2)^24 / 24! = 5e-20` of its largest value, `1e-17` of its smallest.
const NODES: usize = 24;

/// Sums at a point: `sum q k`, `sum q k sin(phi - theta)`, `sum q k (cos - beta sin^2)`, with
/// `k = e^{beta cos(phi - theta) - |beta|}`.
type Sums = [f64; 3];

/// The panels, and the kernel between their nodes.
pub(super) struct KernelPanels {
    count: usize,
    nodes: [f64; NODES],
    barycentric: [f64; NODES],
    /// Indices: number of panels from target to source, node of the target, node of the source.
    table: Vec<[[Sums; NODES]; NODES]>,
}

/// Position of a particle: its panel, and the values of the Lagrange polynomials of the nodes
/// there.
struct PanelPosition {
    panel: usize,
    basis: [f64; NODES],
}

impl KernelPanels {
    pub(super) fn new(beta: f64) -> Self {
        let count = 4.max((TAU * beta.abs() / 6.0).ceil() as usize);
        let half = PI / count as f64;
        let angle = |j: usize| PI * (j as f64 + 0.5) / NODES as f64;
        let nodes: [f64; NODES] = std::array::from_fn(|j| angle(j).cos());
        let barycentric =
            std::array::from_fn(
                |j| if j.is_multiple_of(2) { angle(j).sin() } else { -angle(j).sin() },
            );
        let sums = |shift: usize, i: usize, j: usize| {
            let angle_difference = half * (2.0 * shift as f64 + nodes[j] - nodes[i]);
            let (s, c) = (0.5 * angle_difference).sin_cos();
            let half_distance = if beta >= 0.0 { s } else { c };
            let (sine, cosine) = angle_difference.sin_cos();
            let k = (-2.0 * beta.abs() * half_distance * half_distance).exp();
            [k, k * sine, k * (cosine - beta * sine * sine)]
        };
        let table = (0..count)
            .map(|p| std::array::from_fn(|i| std::array::from_fn(|j| sums(p, i, j))))
            .collect();
        Self { count, nodes, barycentric, table }
    }

    fn locate(&self, theta: f64) -> PanelPosition {
        let panels = theta.rem_euclid(TAU) / TAU * self.count as f64;
        let panel = (panels as usize).min(self.count - 1);
        let x = 2.0 * (panels - panel as f64) - 1.0;
        if let Some(hit) = self.nodes.iter().position(|n| (x - n).abs() < 1e-300) {
            return PanelPosition {
                panel,
                basis: std::array::from_fn(|j| f64::from(u8::from(j == hit))),
            };
        }
        let raw: [f64; NODES] = std::array::from_fn(|j| self.barycentric[j] / (x - self.nodes[j]));
        let total: f64 = raw.iter().sum();
        PanelPosition { panel, basis: raw.map(|v| v / total) }
    }

    /// Sums at the nodes of all panels that hold particles of masses `q`; only the first `wanted`
    /// of the three sums.
    fn node_sums(
        &self,
        positions: &[PanelPosition],
        q: impl Fn(usize) -> f64,
        wanted: usize,
    ) -> Vec<[Sums; NODES]> {
        let mut sources = vec![[0.0; NODES]; self.count];
        let mut occupied = vec![false; self.count];
        for (i, position) in positions.iter().enumerate() {
            let m = q(i);
            sources[position.panel].iter_mut().zip(&position.basis).for_each(|(s, b)| *s += m * b);
            occupied[position.panel] = true;
        }
        let one = |target: usize| {
            let mut out = [[0.0; 3]; NODES];
            if !occupied[target] {
                return out;
            }
            for source in (0..self.count).filter(|s| occupied[*s]) {
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

    fn sums(position: &PanelPosition, nodes: &[[Sums; NODES]]) -> Sums {
        let mut out = [0.0; 3];
        for (b, s) in position.basis.iter().zip(&nodes[position.panel]) {
            (0..3).for_each(|c| out[c] += b * s[c]);
        }
        out
    }

    /// Angular velocities (n) and `-div v` (n) of particles that move under their own measure.
    /// **Errors** a Sinkhorn scaling that does not converge.
    pub(super) fn rates(
        &self,
        dynamics: &MeasureDynamics,
        masses: &[f64],
        theta: &[f64],
        out: &mut [f64],
    ) -> Result<()> {
        let positions: Vec<PanelPosition> = par_map(theta, |t| self.locate(*t));
        let mut weights = vec![1.0; masses.len()];
        if dynamics.weights == RowWeights::Sinkhorn {
            // The tolerance is the rounding of sums of a few thousand terms.
            weights = sinkhorn_scaling(masses.len(), 1e-13, |f| {
                let nodes = self.node_sums(&positions, |i| masses[i] * f[i], 1);
                par_map(&positions, |p| Self::sums(p, &nodes)[0])
            })?;
        }
        let nodes = self.node_sums(&positions, |i| masses[i] * weights[i], 3);
        let (velocity, minus_divergence) = out.split_at_mut(theta.len());
        let one = |position: &PanelPosition| {
            let [total, sine, minus_divergence] = Self::sums(position, &nodes);
            if dynamics.weights == RowWeights::Exponential {
                let scale = dynamics.beta.abs().exp();
                return (scale * sine, scale * minus_divergence);
            }
            let v = sine / total;
            (v, minus_divergence / total + dynamics.beta * v * v)
        };
        for ((v, f), (a, b)) in
            velocity.iter_mut().zip(minus_divergence).zip(par_map(&positions, one))
        {
            (*v, *f) = (a, b);
        }
        Ok(())
    }
}

/// A map over particles, parallel if there are many; the order of the results is fixed.
fn par_map<A: Sync, B: Send>(items: &[A], f: impl Fn(&A) -> B + Sync) -> Vec<B> {
    if items.len() >= 1024 && parallel_allowed() {
        items.par_iter().map(&f).collect()
    } else {
        items.iter().map(f).collect()
    }
}
