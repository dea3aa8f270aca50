//! The prover: Krawczyk's test on the Lagrange equations, and signs of eigenvalues by congruence
//! with approximate eigenvectors (faer).
//!
//! The unknowns are `y_q`, the multipliers `lambda_q` and one `mu_a` per rotation; the equations
//! are `sum_{p != q} s_p w_qp y_p - lambda_q y_q + sum_a mu_a A_a y_q = 0`, `|y_q|^2 = 1` and
//! `sum_q s_q <A_a p_q, y_q - p_q> = 0` with the points p. The product of the first with
//! `s_q A_b y_q` shows that mu = 0 at a solution, so solutions are critical points. Each row is
//! scaled by `e^{tau_q}`, which only changes the size of the numbers. The radius and the signs
//! found here are a proposal: the checker decides.

use super::Certificate;
use super::pairs::Pairs;
use crate::error::{Error, Result};
use crate::num::vector::{divide, norm};
use crate::num::{
    dense,
    interval::{Interval, check_fp_environment},
};
use crate::sphere::Tokens;
use metastable_core::attention::interaction::Interaction;
use metastable_core::landscape::CriticalPoint;

/// Proves a computed critical point. The certificate has passed [`check`](super::check).
///
/// **Cost** cubic in K (d + 1); half a second for 60 clusters on the circle. **Errors** the test
/// that failed (degenerate points always fail one); more clusters or unknowns than
/// [`check_size`](super::check_size) allows; a processor that breaks the arithmetic
/// ([`check_fp_environment`]).
///
/// ```
/// use metastable::{landscape::CriticalPoint, proofs::critical_point, sphere::Tokens};
/// let pair = Tokens::from_angles(&[0.0, std::f64::consts::PI]).unwrap();
/// let saddle = CriticalPoint::near(5.0, &pair, &[1, 1]).unwrap();
/// let proof = critical_point::prove(&saddle).unwrap();
/// assert_eq!((proof.unstable, proof.morse_index), (1, 0)); // one way to fall, and the rotation
/// assert!(critical_point::check(&proof).is_ok());
/// ```
pub fn prove(point: &CriticalPoint) -> Result<Certificate> {
    prove_near(unproved(&point.clusters, &point.sizes, point.beta))
}

/// Proves a computed critical point of the energy of an interaction, as [`prove`]. Rows of
/// `clusters` are clusters of `sizes` tokens.
///
/// **Errors** as [`prove`]; an interaction that is not differentiable at an inner product of the
/// clusters; inner products beyond [-1, 1] by rounding where the formula has no value there.
///
/// ```
/// use metastable::attention::interaction::Interaction;
/// use metastable::{proofs::critical_point, sphere::Tokens};
/// // Under s^2 three equal clusters at a regular triangle are a maximum.
/// let triangle = Tokens::from_angles(&[0.0, 1.0, 2.0].map(|k| k * std::f64::consts::TAU / 3.0))?;
/// let square = Interaction::parse("power:p=2", &[])?;
/// let proof = critical_point::prove_interaction(&square, &triangle, &[1, 1, 1])?;
/// assert_eq!((proof.unstable, proof.morse_index), (0, 2));
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn prove_interaction(
    interaction: &Interaction,
    clusters: &Tokens,
    sizes: &[usize],
) -> Result<Certificate> {
    super::check_size(clusters.n(), clusters.d())?;
    if sizes.len() != clusters.n() {
        let expected = format!("one number for each of the {} clusters", clusters.n());
        return Err(Error::parameter("sizes", format!("{sizes:?}"), expected));
    }
    if interaction.formula().is_series() {
        return Err(Error::parameter(
            "interaction",
            interaction.name(),
            "a formula: a certificate holds its text, and a sampled function has none",
        ));
    }
    let formula = Some(interaction.formula().clone().without_other_parameters());
    prove_near(Certificate { formula, ..unproved(clusters, sizes, 0.0) })
}

/// A certificate without a radius.
fn unproved(clusters: &Tokens, sizes: &[usize], beta: f64) -> Certificate {
    let (d, points) = (clusters.d(), clusters.coordinates());
    Certificate {
        beta,
        formula: None,
        d,
        sizes: sizes.to_vec(),
        points: points.to_vec(),
        radius: 0.0,
        rotations: independent_rotations(points, d),
        unstable: 0,
        morse_index: 0,
    }
}

fn prove_near(mut certificate: Certificate) -> Result<Certificate> {
    check_fp_environment()?;
    super::check_size(certificate.sizes.len(), certificate.d)?;
    let centre = certificate.clone();
    let system = LagrangeSystem::new(&centre)?;
    let inverse =
        system.inverse().ok_or_else(|| failed("the equations are singular at the point"))?;
    // Start with a few times the Newton step at the point.
    let mut radius = 8.0 * system.newton_step(&inverse) + 4e-16;
    while let Err(e) = system.krawczyk(&inverse, radius) {
        radius *= 16.0;
        if radius.is_nan() || radius > 1e-4 {
            return Err(e);
        }
    }
    // A larger box than needed, so that another arithmetic can confirm it as well.
    radius *= 4.0;
    system.krawczyk(&inverse, radius)?;
    certificate.radius = radius;
    let inertia = system.inertia(radius)?;
    (certificate.unstable, certificate.morse_index) = inertia;
    let n: usize = certificate.sizes.iter().sum();
    if inertia.0 + inertia.1 + certificate.rotations.len() != n * (certificate.d - 1) {
        return Err(failed("the signs found do not add up to the dimension"));
    }
    match super::check(&certificate) {
        Ok(()) => Ok(certificate),
        Err(e) => Err(failed(&format!("the checker refuses it ({e})"))),
    }
}

fn failed(what: &str) -> Error {
    Error::Numerical { what: format!("no certificate: {what}") }
}

/// Coordinate planes whose rotations move the points independently, by Gram-Schmidt on the
/// displacements.
fn independent_rotations(y: &[f64], d: usize) -> Vec<(usize, usize)> {
    let (mut basis, mut out): (Vec<Vec<f64>>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
    for a in 0..d {
        for b in 0..a {
            let mut v: Vec<f64> = y.chunks_exact(d).flat_map(|r| rotated(r, a, b)).collect();
            dense::project_out(&basis, &mut v);
            let norm = norm(&v);
            if norm > 1e-6 {
                divide(&mut v, norm);
                basis.push(v);
                out.push((a, b));
            }
        }
    }
    out
}

/// `A y` for the rotation of the plane (a, b).
fn rotated(y: &[f64], a: usize, b: usize) -> Vec<f64> {
    let mut v = vec![0.0; y.len()];
    (v[a], v[b]) = (-y[b], y[a]);
    v
}

struct LagrangeSystem<'a> {
    c: &'a Certificate,
    pairs: Pairs,
    k: usize,
    /// Logarithms of the row scales: minus the largest exponent of the row.
    tau: Vec<f64>,
    lambda: Vec<f64>,
    /// beta, or the largest relative slope of a pair.
    steepness: f64,
}

/// A box of the unknowns.
struct UnknownBox {
    y: Vec<Interval>,
    lambda: Vec<Interval>,
    mu: Vec<Interval>,
}

fn real(v: f64) -> Interval {
    Interval::exact(v)
}

impl<'a> LagrangeSystem<'a> {
    fn new(c: &'a Certificate) -> Result<Self> {
        let k = c.sizes.len();
        let pairs = Pairs::new(c)?;
        pairs.check_smooth(c)?;
        let chord2 = |q: usize, p: usize| -> f64 {
            let pair =
                c.points[q * c.d..(q + 1) * c.d].iter().zip(&c.points[p * c.d..(p + 1) * c.d]);
            pair.map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
        };
        let exponent = |q: usize, p: usize| pairs.size(chord2(q, p)).0;
        let tau: Vec<f64> = (0..k)
            .map(|q| {
                -(0..k)
                    .filter(|p| *p != q)
                    .map(|p| exponent(q, p))
                    .fold(f64::NEG_INFINITY, f64::max)
            })
            .map(|t| if t.is_finite() { t } else { 0.0 })
            .collect();
        let lambda = (0..k)
            .map(|q| {
                let others = (0..k).filter(|p| *p != q);
                others
                    .map(|p| {
                        let inner: f64 =
                            (0..c.d).map(|a| c.points[q * c.d + a] * c.points[p * c.d + a]).sum();
                        c.sizes[p] as f64 * pairs.at(real(chord2(q, p)), tau[q]).0.mid() * inner
                    })
                    .sum()
            })
            .collect();
        let relative = |q: usize, p: usize| match &pairs {
            Pairs::Exponential(beta) => beta.abs(),
            Pairs::Formula(_) => pairs.size(chord2(q, p)).1 * tau[q].exp(),
        };
        let others = (0..k).flat_map(|q| (0..k).filter(move |p| *p != q).map(move |p| (q, p)));
        let steepness = others.map(|(q, p)| relative(q, p)).fold(0.0, f64::max);
        Ok(Self { c, k, tau, lambda, steepness, pairs })
    }

    fn size(&self) -> usize {
        self.k * (self.c.d + 1) + self.c.rotations.len()
    }

    /// The box of this radius in y. Its boxes of multipliers contain `sum s_p w_qp <y_p, y_q>` for
    /// all y of the box: these vary at most beta times as much, in d coordinates of two clusters.
    fn box_around(&self, radius: f64) -> UnknownBox {
        let wide = |v: f64, r: f64| Interval::new(v - r, v + r);
        let spread = 4.0
            * self.c.d as f64
            * (1.0 + self.steepness)
            * radius
            * self.c.sizes.iter().sum::<usize>() as f64;
        UnknownBox {
            y: self.c.points.iter().map(|v| wide(*v, radius)).collect(),
            lambda: self.lambda.iter().map(|v| wide(*v, spread)).collect(),
            mu: self.c.rotations.iter().map(|_| wide(0.0, spread)).collect(),
        }
    }

    /// `s_p e^{shift}` times the weight of a pair, and times its slope.
    fn weight(&self, y: &[Interval], q: usize, p: usize, shift: f64) -> (Interval, Interval) {
        let d = self.c.d;
        let square = (0..d).fold(real(0.0), |s, a| s + (y[q * d + a] - y[p * d + a]).sqr());
        let tokens = real(self.c.sizes[p] as f64);
        let (w, slope) = self.pairs.at(square, shift);
        (tokens * w, tokens * slope)
    }

    /// The equations over a box (at its centre for Krawczyk's middle term).
    fn equations(&self, z: &UnknownBox) -> Vec<Interval> {
        let d = self.c.d;
        let mut out = vec![real(0.0); self.size()];
        for q in 0..self.k {
            for p in (0..self.k).filter(|p| *p != q) {
                let (w, _) = self.weight(&z.y, q, p, self.tau[q]);
                (0..d).for_each(|a| out[q * d + a] = out[q * d + a] + w * z.y[p * d + a]);
            }
            for a in 0..d {
                out[q * d + a] = out[q * d + a] - z.lambda[q] * z.y[q * d + a];
            }
            for (m, (a, b)) in z.mu.iter().zip(&self.c.rotations) {
                out[q * d + a] = out[q * d + a] - *m * z.y[q * d + b];
                out[q * d + b] = out[q * d + b] + *m * z.y[q * d + a];
            }
            let norm = (0..d).fold(real(-1.0), |s, a| s + z.y[q * d + a].sqr());
            out[self.k * d + q] = norm * real(0.5);
        }
        // The gauge equations vanish at the centre of the box, the only place where they are
        // evaluated.
        out
    }

    /// The Jacobian over a box, row-major.
    fn jacobian(&self, z: &UnknownBox) -> Vec<Interval> {
        let (d, k, size) = (self.c.d, self.k, self.size());
        let mut j = vec![real(0.0); size * size];
        for q in 0..k {
            for p in (0..k).filter(|p| *p != q) {
                let (w, slope) = self.weight(&z.y, q, p, self.tau[q]);
                for a in 0..d {
                    for b in 0..d {
                        let by_weight = slope * z.y[p * d + a] * (z.y[q * d + b] - z.y[p * d + b]);
                        let own = if a == b { w } else { real(0.0) };
                        j[(q * d + a) * size + p * d + b] = own + by_weight;
                        let at = (q * d + a) * size + q * d + b;
                        j[at] = j[at] - by_weight;
                    }
                }
            }
            for a in 0..d {
                let row = (q * d + a) * size;
                j[row + q * d + a] = j[row + q * d + a] - z.lambda[q];
                j[row + k * d + q] = -z.y[q * d + a];
                j[(k * d + q) * size + q * d + a] = z.y[q * d + a];
            }
            for (m, (a, b)) in self.c.rotations.iter().enumerate() {
                let (column, row) = (k * (d + 1) + m, k * (d + 1) + m);
                j[(q * d + a) * size + column] = -z.y[q * d + b];
                j[(q * d + b) * size + column] = z.y[q * d + a];
                let at = (q * d + a) * size + q * d + b;
                j[at] = j[at] - z.mu[m];
                let at = (q * d + b) * size + q * d + a;
                j[at] = j[at] + z.mu[m];
                let s = real(self.c.sizes[q] as f64);
                j[row * size + q * d + a] = -(s * real(self.c.points[q * d + b]));
                j[row * size + q * d + b] = s * real(self.c.points[q * d + a]);
            }
        }
        j
    }

    fn inverse(&self) -> Option<Vec<f64>> {
        let size = self.size();
        let j: Vec<f64> = self.jacobian(&self.box_around(0.0)).iter().map(|v| v.mid()).collect();
        let inverse = dense::inverse(&j, size);
        inverse.iter().all(|v| v.is_finite()).then_some(inverse)
    }

    /// Largest coordinate of `C F(z)` in y.
    fn newton_step(&self, inverse: &[f64]) -> f64 {
        let size = self.size();
        let f = self.equations(&self.box_around(0.0));
        let step = |i: usize| {
            inverse[i * size..(i + 1) * size]
                .iter()
                .zip(&f)
                .fold(real(0.0), |s, (c, f)| s + real(*c) * *f)
                .mag()
        };
        (0..self.k * self.c.d).map(step).fold(0.0, f64::max)
    }

    /// Krawczyk's test: if `K(X) = z - C F(z) + (I - C F'(X)) (X - z)` lies in the interior of X,
    /// then X contains exactly one zero.
    fn krawczyk(&self, inverse: &[f64], radius: f64) -> Result<()> {
        let size = self.size();
        let (middle, wide) = (self.box_around(0.0), self.box_around(radius));
        let f = self.equations(&middle);
        let j = self.jacobian(&wide);
        let flat = |z: &UnknownBox| -> Vec<Interval> {
            z.y.iter().chain(&z.lambda).chain(&z.mu).copied().collect()
        };
        let (z, x) = (flat(&middle), flat(&wide));
        for i in 0..size {
            let row = &inverse[i * size..(i + 1) * size];
            let mut image = row.iter().zip(&f).fold(z[i], |s, (c, f)| s - real(*c) * *f);
            for l in 0..size {
                let start = if i == l { real(1.0) } else { real(0.0) };
                let entry = (0..size).fold(start, |s, m| s - real(row[m]) * j[m * size + l]);
                image = image + entry * (x[l] - z[l]);
            }
            if !image.inside(x[i]) {
                return Err(failed(
                    "Newton's map does not contract on any box about the point (degenerate, or beyond double precision)",
                ));
            }
        }
        Ok(())
    }

    /// Positive and negative eigenvalues for all tokens at every point of the box, modulo
    /// rotations.
    fn inertia(&self, radius: f64) -> Result<(usize, usize)> {
        let (d, k, r) = (self.c.d, self.k, self.c.rotations.len());
        let z = self.box_around(radius);
        let size = self.size();
        let mut h = vec![real(0.0); size * size];
        for q in 0..k {
            for p in (0..k).filter(|p| *p != q) {
                // Congruence by e^{tau_q / 2} keeps the blocks of one size.
                let tokens = real(self.c.sizes[q] as f64);
                let times = |(w, slope): (Interval, Interval)| (w * tokens, slope * tokens);
                let both = 0.5 * self.tau[q] + 0.5 * self.tau[p];
                let (w, slope) = times(self.weight(&z.y, q, p, both));
                let (_, own_slope) = times(self.weight(&z.y, q, p, self.tau[q]));
                for a in 0..d {
                    for b in 0..d {
                        let same = if a == b { w } else { real(0.0) };
                        h[(q * d + a) * size + p * d + b] =
                            same + slope * z.y[p * d + a] * z.y[q * d + b];
                        let at = (q * d + a) * size + q * d + b;
                        h[at] = h[at] + own_slope * z.y[p * d + a] * z.y[p * d + b];
                    }
                }
            }
            for a in 0..d {
                let at = (q * d + a) * size + q * d + a;
                h[at] = h[at] - z.lambda[q] * real(self.c.sizes[q] as f64);
                let border = k * d + q;
                h[(q * d + a) * size + border] = z.y[q * d + a];
                h[border * size + q * d + a] = z.y[q * d + a];
            }
            for (m, (a, b)) in self.c.rotations.iter().enumerate() {
                // A border of rotations: with any positive weights of the clusters it defines a
                // complement of the rotations.
                let border = k * (d + 1) + m;
                for (coordinate, entry) in [(*a, -z.y[q * d + b]), (*b, z.y[q * d + a])] {
                    h[(q * d + coordinate) * size + border] = entry;
                    h[border * size + q * d + coordinate] = entry;
                }
            }
        }
        let between = signature(&h, size)
            .ok_or_else(|| failed("the sign of an eigenvalue between clusters is not decided"))?;
        let (mut up, mut down) = (between.0.saturating_sub(k + r), between.1.saturating_sub(k + r));
        for q in (0..k).filter(|q| self.c.sizes[*q] > 1) {
            let own = self.within(&z, q).ok_or_else(|| {
                failed("the sign of an eigenvalue within a cluster is not decided")
            })?;
            up += (self.c.sizes[q] - 1) * (own.0 - 1);
            down += (self.c.sizes[q] - 1) * (own.1 - 1);
        }
        Ok((up, down))
    }

    /// Inertia of `sum_p s_p (phi' y_p y_p^T - phi G_qp) - s_q phi(1)` bordered by `y_q`.
    fn within(&self, z: &UnknownBox, q: usize) -> Option<(usize, usize)> {
        let d = self.c.d;
        let shift = self.tau[q].min(0.0);
        let size = d + 1;
        let mut b = vec![real(0.0); size * size];
        let own = real(self.c.sizes[q] as f64) * self.pairs.at(real(0.0), shift).0;
        for p in (0..self.k).filter(|p| *p != q) {
            let (w, slope) = self.weight(&z.y, q, p, shift);
            let inner = (0..d).fold(real(0.0), |s, a| s + z.y[q * d + a] * z.y[p * d + a]);
            for a in 0..d {
                for e in 0..d {
                    let at = a * size + e;
                    b[at] = b[at] + slope * z.y[p * d + a] * z.y[p * d + e];
                }
                b[a * size + a] = b[a * size + a] - w * inner;
            }
        }
        for a in 0..d {
            b[a * size + a] = b[a * size + a] - own;
            b[a * size + d] = z.y[q * d + a];
            b[d * size + a] = z.y[q * d + a];
        }
        signature(&b, size)
    }
}

/// Numbers of positive and negative eigenvalues that all symmetric matrices in an interval matrix
/// share, or `None`: congruence with the eigenvectors of the middle, then strict diagonal
/// dominance.
fn signature(a: &[Interval], size: usize) -> Option<(usize, usize)> {
    let middle: Vec<f64> = (0..size * size)
        .map(|k| 0.5 * (a[k].mid() + a[(k % size) * size + k / size].mid()))
        .collect();
    let (values, v) = dense::symmetric_eigen(&middle, size)?;
    // Rows of v, scaled so that the diagonal becomes about +-1.
    let scale: Vec<f64> = values.iter().map(|l| l.abs().sqrt().recip()).collect();
    if scale.iter().any(|s| !s.is_finite()) {
        return None;
    }
    let row = |i: usize| (0..size).map(move |m| (i, m));
    let v: Vec<f64> = (0..size).flat_map(row).map(|(i, m)| v[i * size + m] * scale[i]).collect();
    let mut half = vec![real(0.0); size * size];
    for i in 0..size {
        for l in 0..size {
            half[i * size + l] =
                (0..size).fold(real(0.0), |s, m| s + real(v[i * size + m]) * a[m * size + l]);
        }
    }
    let (mut up, mut down) = (0, 0);
    for i in 0..size {
        let entry = |l: usize| {
            (0..size).fold(real(0.0), |s, m| s + half[i * size + m] * real(v[l * size + m]))
        };
        let diagonal = entry(i);
        let rest = (0..size).filter(|l| *l != i).fold(real(0.0), |s, l| s + real(entry(l).mag()));
        if diagonal.lo() > rest.hi() {
            up += 1;
        } else if -diagonal.hi() > rest.hi() {
            down += 1;
        } else {
            return None;
        }
    }
    Some((up, down))
}
