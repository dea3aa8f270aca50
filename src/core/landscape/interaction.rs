//! Critical points and spectra of the energy of any interaction.

use super::newton::{
    Equilibrium, angles, count_automorphisms, distance_from_start, same_sizes, tangent_step,
};
use super::spectrum::{bordered, in_mass_metric, rotations, scaled_by_rows};
use crate::attention::Energy;
use crate::attention::interaction::{Interaction, InteractionEnergy};
use crate::error::{Error, Result};
use crate::num::stats::nan_max;
use crate::num::vector::{max_abs, norm};
use crate::num::{dense, sum::dot};
use crate::sphere::{
    Tokens,
    geometry::{chord2, project, tangent_basis},
};

/// The spectrum of the Hessian at clusters of tokens, in the metric `sum_i m_i |u_i|^2`: growth
/// rates of the gradient flow.
#[derive(Clone, Debug, PartialEq)]
pub struct InteractionSpectrum {
    /// All `n (d-1)` eigenvalues, ascending.
    pub values: Vec<f64>,
    /// Negative eigenvalues.
    pub stable: usize,
    /// Positive eigenvalues: unstable directions of the ascending flow.
    pub unstable: usize,
    /// Zero eigenvalues that do not belong to rotations.
    pub nullity: usize,
    /// Dimension of the orbit under rotations (0 with a matrix D).
    pub rotations: usize,
    /// Rounding error of an eigenvalue. Signs of smaller ones are determined from the equilibrated
    /// Hessian.
    pub rounding: f64,
}

/// A critical point of the energy on clusters of tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct InteractionCriticalPoint {
    /// One row per cluster.
    pub clusters: Tokens,
    /// Tokens per cluster.
    pub sizes: Vec<usize>,
    /// The energy.
    pub energy: f64,
    /// Largest norm of a force, relative to the sum of the norms of its terms.
    pub residual: f64,
    /// The spectrum.
    pub spectrum: InteractionSpectrum,
    /// Angles between clusters, ascending.
    pub angles: Vec<f64>,
    /// Number of permutations of clusters that preserve masses and angles.
    pub symmetry: usize,
    /// Cluster of each row of the start. If there are more rows than clusters, some rows merged.
    pub labels: Vec<usize>,
    /// Largest geodesic distance in radians between a row of the start and its cluster.
    pub distance_from_start: f64,
}

/// Largest force at a critical point, relative to its own terms.
const LARGEST_SHARE: f64 = 1e-6;

/// Largest Newton step at a critical point, beyond which signs of small eigenvalues stay open.
const LARGEST_STEP: f64 = 1e-6;

/// The Hessian in tangent bases and the mass metric, `M^{-1/2} H M^{-1/2}`.
pub(super) fn mass_hessian(energy: &InteractionEnergy, x: &Tokens) -> Result<Vec<f64>> {
    Ok(in_mass_metric(x, energy.hessian(x)?))
}

/// Rotations that leave the energy unchanged: all without a matrix, none with one (a matrix with
/// equal eigenvalues commutes with some, which then count as zero eigenvalues).
fn symmetries(energy: &InteractionEnergy, x: &Tokens) -> Vec<Vec<f64>> {
    if energy.form().is_some() { Vec::new() } else { rotations(x) }
}

impl InteractionSpectrum {
    /// The spectrum at `x`, whose rows are clusters of `sizes` tokens (mass of a row = sum over its
    /// tokens).
    ///
    /// **Accuracy** values: [`InteractionSpectrum::rounding`]. Signs are determined from the
    /// equilibrated matrix, too: a rate of 1e-30 has the right sign also if phi(1) = 1. **Cost**
    /// `O((K d)^3)`.
    /// **Errors** more than 6000 unknowns, an inner product at a kink, a failed iteration; clusters
    /// of several tokens with a matrix D.
    ///
    /// ```
    /// use metastable::attention::interaction::{Interaction, InteractionEnergy};
    /// use metastable::{landscape::interaction::InteractionSpectrum, sphere::Tokens};
    /// let energy = InteractionEnergy::new(Interaction::parse("power:p=1", &[])?);
    /// // phi(s) = s draws a token to the axis of another: opposite tokens are a maximum.
    /// let x = Tokens::new(2, vec![1.0, 0.0, -1.0, 0.0])?;
    /// let spectrum = InteractionSpectrum::of_clusters(&energy, &x, &[1, 1])?;
    /// assert_eq!((spectrum.rotations, spectrum.stable), (1, 1));
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn of_clusters(energy: &InteractionEnergy, x: &Tokens, sizes: &[usize]) -> Result<Self> {
        Self::within(energy, x, sizes, 0.0)
    }

    /// The spectrum at a critical point whose clusters lie within a distance of x, to first order.
    /// A sign that could be another one there counts as zero.
    fn within(
        energy: &InteractionEnergy,
        x: &Tokens,
        sizes: &[usize],
        distance: f64,
    ) -> Result<Self> {
        Energy::check_hessian_size(x)?;
        if sizes.len() != x.n() {
            let expected = format!("one number for each of the {} clusters", x.n());
            return Err(Error::parameter("sizes", format!("{sizes:?}"), expected));
        }
        let h = mass_hessian(energy, x)?;
        let symmetry = symmetries(energy, x);
        let (size, r) = (x.n() * (x.d() - 1), symmetry.len());
        let failed = || Error::Numerical {
            what: format!("the eigenvalues of a {size} x {size} Hessian did not converge"),
        };
        let mut values = dense::symmetric_eigenvalues(&h, size).ok_or_else(failed)?;
        let (phi, scale) = (energy.interaction(), energy.interaction().sizes());
        let rounding = 8.0
            * f64::EPSILON
            * ((size + r) as f64).sqrt()
            * (scale.0 + scale.1 + max_abs(&values));
        // The border adds r eigenvalues of each sign, of modulus 1 on rotations.
        let signs = |h: &[f64], noise: f64| -> Result<[usize; 2]> {
            let between = dense::symmetric_eigenvalues(&bordered(h, &symmetry), size + r)
                .ok_or_else(failed)?;
            let count = |sign: f64| between.iter().filter(|v| sign * **v > noise).count();
            Ok([count(1.0), count(-1.0)].map(|all| all.saturating_sub(r)))
        };
        let [mut unstable, mut stable] = signs(&h, rounding)?;
        let mut thresholds = vec![rounding; x.n()];
        if energy.form().is_none() && distance <= LARGEST_STEP {
            // Entries of the equilibrated matrix are at most about 1.
            let noise = 64.0 * (f64::EPSILON * (size + r) as f64 + distance);
            let sums = row_sums(phi, x)?;
            if unstable + stable + r < size {
                let [more_unstable, more_stable] = signs(&scaled_by_rows(&h, &sums).0, noise)?;
                (unstable, stable) = (unstable.max(more_unstable), stable.max(more_stable));
            }
            let own = phi.value(1.0)?.abs();
            for ((threshold, sum), m) in thresholds.iter_mut().zip(&sums).zip(x.masses()) {
                *threshold = threshold.min(noise * (sum + m * own));
            }
        }
        for (q, &tokens) in sizes.iter().enumerate().filter(|(_, s)| **s > 1) {
            let own = within_cluster(energy, x, q)?.ok_or_else(failed)?;
            unstable += (tokens - 1) * own.iter().filter(|v| **v > thresholds[q]).count();
            stable += (tokens - 1) * own.iter().filter(|v| **v < -thresholds[q]).count();
            (1..tokens).for_each(|_| values.extend(&own));
        }
        values.sort_by(f64::total_cmp);
        let nullity = values.len() - (unstable + stable + r).min(values.len());
        Ok(Self { values, stable, unstable, nullity, rotations: r, rounding })
    }

    /// The spectrum of separate tokens.
    pub fn of_tokens(energy: &InteractionEnergy, x: &Tokens) -> Result<Self> {
        Self::of_clusters(energy, x, &vec![1; x.n()])
    }
}

/// The sums `e_q = sum_{p != q} M_p (|phi| + |phi'| + |phi''|)` of all clusters. An entry of the
/// mass Hessian between q and p has a rounding error of some eps times `sqrt(e_q e_p)`, because
/// inner products are known to some eps.
fn row_sums(phi: &Interaction, x: &Tokens) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; x.n()];
    for (q, p) in crate::num::pairs(x.n()) {
        let s = 1.0 - 0.5 * chord2(x.row(q), x.row(p));
        let (value, slope) = phi.pair(s)?;
        let size = value.abs() + slope.abs() + phi.steepness(s);
        sums[q] += x.masses()[p] * size;
        sums[p] += x.masses()[q] * size;
    }
    Ok(sums)
}

/// Eigenvalues for directions in which the tokens of cluster q separate and their centre stays:
/// those of `P [sum_{p != q} M_p (phi' y_p y_p^T - phi s I)] P - M_q phi(1)`.
fn within_cluster(energy: &InteractionEnergy, x: &Tokens, q: usize) -> Result<Option<Vec<f64>>> {
    if energy.form().is_some() {
        return Err(Error::parameter(
            "sizes",
            "clusters of several tokens",
            "separate tokens with a matrix D",
        ));
    }
    let (d, t, phi) = (x.d(), x.d() - 1, energy.interaction());
    let basis = tangent_basis(x.row(q));
    let mut b = vec![0.0; t * t];
    let own = x.masses()[q] * phi.value(1.0)?;
    (0..t).for_each(|a| b[a * t + a] -= own);
    for p in (0..x.n()).filter(|p| *p != q) {
        let s = 1.0 - 0.5 * chord2(x.row(q), x.row(p));
        let (value, slope) = phi.pair(s)?;
        let m = x.masses()[p];
        let c: Vec<f64> = basis.chunks_exact(d).map(|e| dot(e, x.row(p))).collect();
        for k in 0..t * t {
            let radial = if k / t == k % t { value * s } else { 0.0 };
            b[k] += m * (slope * c[k / t] * c[k % t] - radial);
        }
    }
    Ok(dense::symmetric_eigenvalues(&b, t))
}

impl InteractionCriticalPoint {
    /// The critical point that Newton's method finds from clusters of `sizes` tokens; clusters that
    /// meet are merged.
    ///
    /// **Errors** masses that are not proportional to the sizes, an inner product at a kink of phi,
    /// no convergence to a residual of 1e-11, and to a millionth of the terms of each force.
    ///
    /// ```
    /// use metastable::attention::interaction::{Interaction, InteractionEnergy};
    /// use metastable::{landscape::interaction::InteractionCriticalPoint, sphere::Tokens};
    /// let energy = InteractionEnergy::new(Interaction::parse("exp:beta=8", &[])?);
    /// let near = Tokens::from_angles(&[0.01, 2.1, 4.2])?;
    /// let saddle = InteractionCriticalPoint::near(&energy, &near, &[1, 1, 1])?;
    /// assert!(saddle.residual < 1e-12 && saddle.spectrum.unstable == 2);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn near(energy: &InteractionEnergy, start: &Tokens, sizes: &[usize]) -> Result<Self> {
        let relative = |x: &Tokens| {
            let force = gradient(energy, x)?;
            Ok((relative_norm(energy, x, &force), force))
        };
        let step = |x: &Tokens, force: Vec<f64>| newton_step(energy, x, &force);
        let Equilibrium { x, sizes, labels } =
            Equilibrium::near(start, sizes, energy.form().is_none(), relative, step)?;
        let force = gradient(energy, &x)?;
        let residual = relative_norm(energy, &x, &force);
        if residual > 1e-11 {
            return Err(Error::Numerical {
                what: format!(
                    "Newton's method stopped at a relative residual of {residual:.1e}, above 1e-11"
                ),
            });
        }
        let own = relative_to_terms(energy, &x, &force)?;
        if own > LARGEST_SHARE {
            return Err(Error::Numerical {
                what: format!(
                    "Newton's method stopped at a force of {own:.1e} of its terms, above 1e-6"
                ),
            });
        }
        // The distance from the critical point is the Newton step there.
        let step = newton_step(energy, &x, &force)?;
        let distance = step.chunks_exact(x.d()).map(norm).fold(0.0, nan_max);
        let spectrum = InteractionSpectrum::within(energy, &x, &sizes, distance)?;
        let symmetry = count_automorphisms(&x, &sizes);
        Ok(Self {
            energy: energy.value(&x),
            angles: angles(&x),
            distance_from_start: distance_from_start(start, &labels, &x),
            clusters: x,
            sizes,
            residual,
            spectrum,
            symmetry,
            labels,
        })
    }

    /// True if both points agree up to rotation, reflection and permutation, judged by sizes,
    /// index, energy and angles. Newton's method finds nearly degenerate points less accurately,
    /// but with accurate energies: they are compared by sizes and energy. So the points of a
    /// continuum count as one.
    pub fn is_same(&self, other: &Self) -> bool {
        let energies = (self.energy - other.energy).abs() / (1.0 + self.energy.abs());
        let same = || {
            let (a, b) = (&self.spectrum, &other.spectrum);
            (a.unstable, a.nullity) == (b.unstable, b.nullity)
                && energies < 1e-7
                && self.angles.iter().zip(&other.angles).all(|(a, b)| (a - b).abs() < 1e-5)
        };
        let weak = || self.is_nearly_degenerate() && other.is_nearly_degenerate();
        same_sizes(&self.sizes, &other.sizes) && (same() || (energies < 1e-12 && weak()))
    }

    /// True if an eigenvalue modulo rotations is smaller than a millionth of the largest.
    pub fn is_nearly_degenerate(&self) -> bool {
        let mut sizes: Vec<f64> = self.spectrum.values.iter().map(|v| v.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let top = sizes.last().copied().unwrap_or_default();
        self.spectrum.nullity > 0
            || sizes.get(self.spectrum.rotations).is_some_and(|v| *v < 1e-6 * top)
    }
}

/// The largest norm of a force, relative to the largest possible one: `max |phi|` times the mass.
pub fn relative_gradient_norm(energy: &InteractionEnergy, x: &Tokens) -> Result<f64> {
    Ok(relative_norm(energy, x, &energy.grad(x)))
}

/// [`relative_gradient_norm`] of this gradient.
fn relative_norm(energy: &InteractionEnergy, x: &Tokens, gradient: &[f64]) -> f64 {
    let scale = energy.interaction().sizes().0.max(f64::MIN_POSITIVE);
    let rows = gradient.chunks_exact(x.d()).zip(x.masses());
    rows.map(|(g, m)| norm(g) / (m * scale)).fold(0.0, nan_max)
}

/// The largest norm of a force, relative to its own terms with their derivatives ([`row_sums`]);
/// 0 with a matrix D. Far from equilibrium it is not small, also where phi is.
fn relative_to_terms(energy: &InteractionEnergy, x: &Tokens, gradient: &[f64]) -> Result<f64> {
    if energy.form().is_some() {
        return Ok(0.0);
    }
    let sums = row_sums(energy.interaction(), x)?;
    let rows = gradient.chunks_exact(x.d()).zip(x.masses()).zip(&sums);
    let shares = rows.filter(|(_, sum)| **sum > 0.0).map(|((g, m), sum)| norm(g) / (m * sum));
    Ok(shares.fold(0.0, nan_max))
}

/// The Riemannian gradient, n x d. Without a matrix D it is summed from the formula of phi, so that
/// forces far below the largest phi keep their digits.
fn gradient(energy: &InteractionEnergy, x: &Tokens) -> Result<Vec<f64>> {
    if energy.form().is_some() {
        return Ok(energy.grad(x));
    }
    let (d, m) = (x.d(), x.masses());
    let mut out = vec![0.0; x.n() * d];
    for (i, j) in crate::num::pairs(x.n()) {
        let w = m[i] * m[j] * energy.interaction().value(1.0 - 0.5 * chord2(x.row(i), x.row(j)))?;
        for k in 0..d {
            let change = w * (x.row(j)[k] - x.row(i)[k]);
            out[i * d + k] += change;
            out[j * d + k] -= change;
        }
    }
    out.chunks_exact_mut(d).zip(x.rows()).for_each(|(row, xi)| project(xi, row));
    Ok(out)
}

/// The Newton step p modulo rotations, from `[[H, R^T], [R, 0]] p = -grad`, as ambient rows.
fn newton_step(energy: &InteractionEnergy, x: &Tokens, gradient: &[f64]) -> Result<Vec<f64>> {
    let (h, ones) = (mass_hessian(energy, x)?, vec![1.0; x.n() * (x.d() - 1)]);
    Ok(tangent_step(x, (&h, &ones), &symmetries(energy, x), gradient))
}
