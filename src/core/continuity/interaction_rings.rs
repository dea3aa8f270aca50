//! The means of an interaction over rings of equal polar angle: what a zonal density needs of it.

use super::zonal::nodes;
use crate::attention::interaction::Interaction;
use crate::error::{Error, Result};
use crate::num::aligned::AlignedVec;
use crate::num::simd::Isa;

/// Rings of `S^{d-1}` under an interaction without kinks.
///
/// Two points of rings with polar angles a and b have the inner product `cos a cos b + sin a sin b
/// u` with u distributed as a coordinate of a uniform point of `S^{d-2}`. Means are sums over Gauss
/// nodes of u: exact for the Chebyshev series of phi, times `u^2`.
pub(super) struct InteractionRings {
    phi: Interaction,
    d: usize,
    /// Nodes and weights of u.
    nodes: Vec<(f64, f64)>,
}

/// Means over a pair of rings: of phi, of `phi u`, of phi', `phi' u` and `phi' u^2`.
type Means = [f64; 5];

/// Buffers of one row of pairs.
#[derive(Default)]
struct Buffers {
    phi: AlignedVec<f64>,
    slope: AlignedVec<f64>,
}

impl InteractionRings {
    /// **Errors** an interaction with kinks, nodes that do not converge.
    pub fn new(phi: &Interaction, d: usize) -> Result<Self> {
        let [series] = phi.series() else {
            let found = format!("{} with a kink", phi.name());
            let expected = "a function without kinks for rings; or --method spectral";
            return Err(Error::parameter("interaction", found, expected));
        };
        let nodes = if d == 2 {
            // S^0: the two points of a ring on the circle.
            vec![(-1.0, 0.5), (1.0, 0.5)]
        } else {
            nodes(d - 1, series.degree() / 2 + 3)?
        };
        Ok(Self { phi: phi.clone(), d, nodes })
    }

    /// Writes `1 - <x, y>` for the nodes of the pairs of ring i with the first `count` rings:
    /// `2 sin^2((a - b)/2) + sin a sin b (1 - u)`, which does not cancel.
    fn distances(&self, theta: &[f64], i: usize, count: usize, out: &mut AlignedVec<f64>) {
        let q = self.nodes.len();
        out.reset((count * q).next_multiple_of(16));
        for (b, out) in theta[..count].iter().zip(out.chunks_exact_mut(q)) {
            let (half, sines) = ((0.5 * (theta[i] - b)).sin(), theta[i].sin() * b.sin());
            for (z, (u, _)) in out.iter_mut().zip(&self.nodes) {
                *z = 2.0 * half * half + sines * (1.0 - u);
            }
        }
    }

    /// The means of the pairs of ring i with the first `i + 1` rings.
    fn means(&self, theta: &[f64], i: usize, buffers: &mut Buffers, out: &mut Vec<Means>) {
        let (q, Buffers { phi, slope }) = (self.nodes.len(), buffers);
        self.distances(theta, i, i + 1, phi);
        self.phi.replace_with_slopes(Isa::best(), phi, slope);
        for (phi, slope) in phi.chunks_exact(q).zip(slope.chunks_exact(q)).take(i + 1) {
            let mut means = [0.0; 5];
            for ((phi, slope), (u, weight)) in phi.iter().zip(slope).zip(&self.nodes) {
                let (w, b) = (weight * phi, weight * slope);
                for (mean, term) in means.iter_mut().zip([w, w * u, b, b * u, b * u * u]) {
                    *mean += term;
                }
            }
            out.push(means);
        }
    }

    /// Writes angular velocities (n), then `-div v` (n). Rows are divided by their sums if
    /// `is_divided`. As for particles, `-div N = (d-1) sum m <phi s> - sum m <phi' (1 - s^2)>`.
    ///
    /// **Cost** `n^2/2` pairs of rings, K/2 values of phi and phi' for each.
    pub fn rates(&self, theta: &[f64], masses: &[f64], is_divided: bool, out: &mut [f64]) {
        let n = masses.len();
        let (mut pairs, mut buffers) = (Vec::with_capacity(n * (n + 1) / 2), Buffers::default());
        for i in 0..n {
            self.means(theta, i, &mut buffers, &mut pairs);
        }
        let trig: Vec<(f64, f64)> = theta.iter().map(|t| t.sin_cos()).collect();
        for i in 0..n {
            let (s, c) = trig[i];
            let [mut total, mut inner, mut tangent, mut square, mut gradient] = [0.0; 5];
            for (j, (m, (s2, c2))) in masses.iter().zip(&trig).enumerate() {
                let (low, high) = (i.min(j), i.max(j));
                let [w, wu, b, bu, buu] = pairs[high * (high + 1) / 2 + low];
                let (cosines, sines) = (c * c2, s * s2);
                total += m * w;
                inner += m * (cosines * w + sines * wu);
                tangent += m * (c * s2 * wu - s * c2 * w);
                gradient += m * (c * s2 * bu - s * c2 * b);
                let mixed = 2.0 * cosines * sines * bu;
                square += m * ((1.0 - cosines * cosines) * b - mixed - sines * sines * buu);
            }
            let minus_divergence = (self.d as f64 - 1.0) * inner - square;
            (out[i], out[n + i]) = if is_divided {
                let v = tangent / total;
                (v, (minus_divergence + v * gradient) / total)
            } else {
                (tangent, minus_divergence)
            };
        }
    }

    /// `sum_ij m_i m_j <W>` over all pairs of rings.
    pub fn potential(&self, theta: &[f64], masses: &[f64]) -> f64 {
        let (q, n) = (self.nodes.len(), theta.len());
        let mut z = AlignedVec::default();
        let mut sum = 0.0;
        for i in 0..n {
            self.distances(theta, i, n, &mut z);
            for (m, z) in masses.iter().zip(z.chunks_exact(q)) {
                let means = z.iter().zip(&self.nodes);
                let mean: f64 =
                    means.map(|(z, (_, weight))| weight * self.phi.potential(1.0 - z)).sum();
                sum += masses[i] * m * mean;
            }
        }
        sum
    }
}
