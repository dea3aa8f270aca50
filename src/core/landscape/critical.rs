//! Critical points: Newton's method modulo rotations, and what is said of the result.

use super::spectrum::{Spectrum, ambient, bordered, equilibrated, mass_hessian, rotations, row_scales};
use crate::attention::{Energy, EnergyScale, kernel::Workspace, kernel::log_kernel};
use crate::error::{Error, Result};
use crate::num::{dense, pairs, sum::dot, vector::norm};
use crate::sphere::{
    Tokens,
    geometry::{chord2, dist, exp, tangent_basis, tangent_towards},
};

/// A critical point of `E_beta` on clusters of tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalPoint {
    /// Inverse temperature.
    pub beta: f64,
    /// One row per cluster.
    pub clusters: Tokens,
    /// Tokens per cluster.
    pub sizes: Vec<usize>,
    /// `log sum_ij m_i m_j e^{beta (G_ij - 1)}`, at most 0 for positive beta.
    pub log_energy: f64,
    /// How far off the numbers may be.
    pub errors: Errors,
    /// [`unrest`]: the gradient over the weights at work.
    pub residual: f64,
    /// Spectrum of the Hessian for all tokens.
    pub spectrum: Spectrum,
    /// Geodesic distances of all pairs of clusters, ascending.
    pub angles: Vec<f64>,
    /// Number of permutations of clusters that keep masses and angles.
    pub symmetry: usize,
    /// Cluster of each row that the search started from: more rows than clusters means that some merged.
    pub labels: Vec<usize>,
    /// Largest geodesic distance in radians between a row that the search started from and its cluster, nothing turned: Newton's steps have no
    /// component along rotations, and the distance up to rotation is at most this.
    pub moved: f64,
}

/// Estimates of the errors of a critical point's numbers: to first order bounds, up to the constants of rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Of every cluster, geodesic, modulo rotations: the Newton step that is left, and the rounding of the gradient over the least eigenvalue.
    pub position: f64,
    /// Of an angle between two clusters.
    pub angle: f64,
    /// Of `log_energy`: its rounding, and the gradient along the error of the position.
    pub log_energy: f64,
    /// Of every eigenvalue: the rounding of the Hessian and of its iteration, and the change of the Hessian along the error of the position.
    pub eigenvalue: f64,
}

/// Angle below which clusters of a critical point are one cluster.
const COINCIDENT: f64 = 1e-6;
/// Agreement of angles and energies of equal critical points.
const SAME: f64 = 1e-7;

impl CriticalPoint {
    /// The critical point that Newton's method finds from clusters of `sizes` tokens.
    ///
    /// **Errors** masses that are not those of the sizes, no convergence to a residual of 1e-12 (the residual is named).
    ///
    /// ```
    /// use metastable::{landscape::CriticalPoint, sphere::Tokens};
    /// // Near the regular triangle: unstable in the two pairing directions, for every beta > 0.
    /// let near = Tokens::from_angles(&[0.01, 2.1, 4.2]).unwrap();
    /// let saddle = CriticalPoint::near(8.0, &near, &[1, 1, 1]).unwrap();
    /// assert!(saddle.residual < 1e-12 && saddle.spectrum.unstable == 2 && saddle.symmetry == 6);
    /// ```
    pub fn near(beta: f64, start: &Tokens, sizes: &[usize]) -> Result<Self> {
        let n = sizes.iter().sum::<usize>() as f64;
        if sizes.len() != start.n() || sizes.iter().zip(start.masses()).any(|(s, m)| (*s as f64 / n - m).abs() > 1e-12) {
            return Err(Error::parameter("sizes", format!("{sizes:?}"), "tokens per cluster, in proportion to the masses"));
        }
        let (mut x, mut sizes) = (start.clone(), sizes.to_vec());
        let mut labels: Vec<usize> = (0..x.n()).collect();
        loop {
            x = newton(beta, &x)?;
            let before = x.n();
            let joined;
            (x, sizes, joined) = join(&x, &sizes);
            labels.iter_mut().for_each(|l| *l = joined[*l]);
            if x.n() == before {
                break;
            }
        }
        let residual = unrest(beta, &x);
        if residual > 1e-12 {
            return Err(Error::Numerical {
                what: format!("Newton's method stopped at a relative residual of {residual:.1e}, above 1e-12"),
            });
        }
        let spectrum = Spectrum::of_clusters(beta, &x, &sizes)?;
        let log_energy = Energy::new(beta, EnergyScale::Unit).log_value(&x)?;
        let mut angles: Vec<f64> = pairs(x.n()).map(|(i, j)| dist(x.row(i), x.row(j))).collect();
        angles.sort_by(f64::total_cmp);
        let symmetry = automorphisms(&x, &sizes);
        let errors = errors(beta, &x, &spectrum);
        let moved = start.rows().zip(&labels).map(|(r, l)| dist(r, x.row(*l))).fold(0.0, f64::max);
        Ok(Self { beta, clusters: x, sizes, log_energy, errors, residual, spectrum, angles, symmetry, labels, moved })
    }

    /// Number of tokens.
    pub fn n(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// True when the other is the same up to rotation, reflection and permutation: equal sizes, index, energy and angles.
    pub fn is_same(&self, other: &Self) -> bool {
        let sorted = |sizes: &[usize]| {
            let mut s = sizes.to_vec();
            s.sort_unstable();
            s
        };
        sorted(&self.sizes) == sorted(&other.sizes)
            && self.spectrum.unstable == other.spectrum.unstable
            && (self.log_energy - other.log_energy).abs() < SAME * (1.0 + self.log_energy.abs())
            && self.angles.iter().zip(&other.angles).all(|(a, b)| (a - b).abs() < 100.0 * SAME)
    }
}

/// See [`Errors`].
fn errors(beta: f64, x: &Tokens, spectrum: &Spectrum) -> Errors {
    let (n, m, u) = (x.n(), x.masses(), 0.5 * f64::EPSILON);
    // Per cluster the sizes of the terms of its force, and of the third derivatives, which are at most w (beta^2 s^3 + 3 |beta| s + 1) for every pair.
    let (mut forces, mut bends) = (vec![0.0; n], vec![0.0; n]);
    for (i, j) in (0..n).flat_map(|i| (0..n).filter(move |j| *j != i).map(move |j| (i, j))) {
        let (g, w) = (x.inner(i, j), m[j] * log_kernel(beta, x.row(i), x.row(j)).exp());
        let s = (1.0 - g * g).max(0.0).sqrt();
        forces[i] += w * s;
        bends[i] += 2.0 * w * (beta * beta * s.powi(3) + 3.0 * beta.abs() * s + 1.0);
    }
    // A weight errs by 4u of its exponent, which is at most 2 |beta|, a sum like a walk.
    let rounding = u * (16.0 + 2.0 * (n as f64).sqrt() + 8.0 * beta.abs().min(5.0));
    let step = newton_step(beta, x);
    let left = step.chunks_exact(x.d()).map(norm).fold(0.0, f64::max);
    let scales = row_scales(beta, x);
    let noise = (0..n).map(|i| (rounding * scales[i] * forces[i]).powi(2) * m[i]).sum::<f64>().sqrt();
    let reach = (0..n).map(|i| scales[i] / m[i].sqrt()).fold(0.0, f64::max);
    let position = left + reach * noise / spectrum.least + 4.0 * u;
    let mut gradient = vec![0.0; x.coordinates().len()];
    let energy = Energy::new(beta, EnergyScale::Unit);
    energy.scaled_grad(x, &mut Workspace::default(), &mut gradient);
    let slope: f64 = gradient.chunks_exact(x.d()).map(norm).sum();
    let climb = 2.0 * beta.abs() * slope * position / energy.log_scaled(x).exp().max(f64::MIN_POSITIVE);
    let bend = bends.iter().copied().fold(0.0, f64::max);
    Errors {
        position,
        angle: 2.0 * position + 4.0 * u,
        log_energy: 4.0 * u * (4.0 + beta.abs()) + climb,
        eigenvalue: spectrum.rounding + bend * position,
    }
}

/// Largest `|sum_j m_j w_ij P_i x_j|` over `sum_{j != i} m_j w_ij`: how far from rest, on each cluster's own scale. It vanishes at critical points and is
/// accurate for forces of any size.
pub fn unrest(beta: f64, x: &Tokens) -> f64 {
    let mut worst = 0.0f64;
    for i in 0..x.n() {
        let logs: Vec<f64> = (0..x.n()).map(|j| if j == i { f64::NEG_INFINITY } else { log_kernel(beta, x.row(i), x.row(j)) }).collect();
        let top = logs.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let (mut sum, mut weight) = (vec![0.0; x.d()], 0.0);
        for (j, log) in logs.iter().enumerate().filter(|(j, _)| *j != i) {
            let w = x.masses()[j] * (log - top).exp();
            sum.iter_mut().zip(tangent_towards(x.row(i), x.row(j))).for_each(|(s, f)| *s += w * f);
            weight += w;
        }
        if weight > 0.0 {
            worst = worst.max(norm(&sum) / weight);
        }
    }
    worst
}

/// Newton's method for `grad E = 0` modulo rotations, steps at most 0.2; ends when the residual does not fall any more.
fn newton(beta: f64, start: &Tokens) -> Result<Tokens> {
    Energy::check_hessian_size(start)?;
    let mut x = start.clone();
    let mut best = (unrest(beta, &x), x.clone());
    let mut idle = 0;
    for _ in 0..60 {
        let step = newton_step(beta, &x);
        let largest = step.chunks_exact(x.d()).map(norm).fold(0.0f64, f64::max);
        if !largest.is_finite() || largest == 0.0 {
            break;
        }
        x = moved(&x, &step, (0.2 / largest).min(1.0));
        let residual = unrest(beta, &x);
        idle = if residual < 0.5 * best.0 { 0 } else { idle + 1 };
        if residual < best.0 {
            best = (residual, x.clone());
        }
        if idle >= 8 {
            break;
        }
    }
    Ok(best.1)
}

/// The solution, up to rotation, of `[[H, R^T], [R, 0]] p = -grad`, as ambient rows.
fn newton_step(beta: f64, x: &Tokens) -> Vec<f64> {
    let (d, t) = (x.d(), x.d() - 1);
    let size = x.n() * t;
    let bases: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
    let border = rotations(x);
    let all = size + border.len();
    let (h, s) = equilibrated(beta, x, &mass_hessian(beta, x));
    let a = bordered(&h, &border);
    let mut gradient = vec![0.0; x.coordinates().len()];
    Energy::new(beta, EnergyScale::Mean).scaled_grad(x, &mut Workspace::default(), &mut gradient);
    let mut rhs = vec![0.0; all];
    for i in 0..x.n() {
        let root = x.masses()[i].sqrt();
        for (k, e) in bases[i].chunks_exact(d).enumerate() {
            rhs[i * t + k] = -s[i * t + k] * dot(e, &gradient[i * d..(i + 1) * d]) / root;
        }
    }
    let p = dense::solve(&a, &rhs);
    let scaled: Vec<f64> = s.iter().zip(&p).map(|(s, p)| s * p).collect();
    ambient(x, &bases, &scaled)
}

/// Every row moved along its geodesic by `scale` times its tangent.
pub(super) fn moved(x: &Tokens, step: &[f64], scale: f64) -> Tokens {
    let rows = x.rows().zip(step.chunks_exact(x.d()));
    let y = rows.flat_map(|(r, u)| exp(r, &u.iter().map(|v| scale * v).collect::<Vec<_>>())).collect();
    Tokens::from_parts(x.d(), y, x.masses().to_vec())
}

/// Clusters that coincide become one; with the new cluster of each old one.
pub(super) fn join(x: &Tokens, sizes: &[usize]) -> (Tokens, Vec<usize>, Vec<usize>) {
    let (mut keep, mut labels): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let (mut masses, mut counts): (Vec<f64>, Vec<usize>) = (Vec::new(), Vec::new());
    for (i, size) in sizes.iter().enumerate() {
        match keep.iter().position(|&k| chord2(x.row(k), x.row(i)) < COINCIDENT * COINCIDENT) {
            Some(k) => {
                masses[k] += x.masses()[i];
                counts[k] += size;
                labels.push(k);
            }
            None => {
                labels.push(keep.len());
                keep.push(i);
                masses.push(x.masses()[i]);
                counts.push(*size);
            }
        }
    }
    let y = keep.iter().flat_map(|&i| x.row(i).iter().copied()).collect();
    (Tokens::from_parts(x.d(), y, masses), counts, labels)
}

/// Permutations of clusters that keep sizes and inner products, counted by extension of partial ones; `usize::MAX` above a million.
fn automorphisms(x: &Tokens, sizes: &[usize]) -> usize {
    const LIMIT: usize = 1_000_000;
    fn extend(x: &Tokens, sizes: &[usize], image: &mut Vec<usize>, count: &mut usize) {
        let i = image.len();
        if i == x.n() {
            *count += 1;
            return;
        }
        for candidate in 0..x.n() {
            let fits = sizes[candidate] == sizes[i]
                && !image.contains(&candidate)
                && (0..i).all(|k| (dist(x.row(i), x.row(k)) - dist(x.row(candidate), x.row(image[k]))).abs() < 10.0 * COINCIDENT);
            if fits && *count < LIMIT {
                image.push(candidate);
                extend(x, sizes, image, count);
                image.pop();
            }
        }
    }
    let mut count = 0;
    extend(x, sizes, &mut Vec::new(), &mut count);
    if count >= LIMIT { usize::MAX } else { count }
}
