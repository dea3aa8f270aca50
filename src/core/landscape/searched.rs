//! What a search needs to know of an energy and of its critical points.

use super::critical::{self, CriticalPoint};
use super::interaction::{self, InteractionCriticalPoint};
use super::spectrum;
use crate::attention::interaction::{InteractionAttention, InteractionEnergy, RowSum};
use crate::attention::{Dynamics, Energy, EnergyScale, Spec, dynamics, kernel::Workspace};
use crate::error::{Error, Result};
use crate::sphere::{Tokens, geometry::dist};

/// An energy whose critical points can be searched.
pub trait SearchedEnergy: Clone + Send + Sync {
    /// Its critical points.
    type Point: FoundPoint;
    /// **Errors** an energy that cannot be searched.
    fn check(&self) -> Result<()>;
    /// The critical point that Newton's method finds from clusters of `sizes` tokens.
    ///
    /// **Errors** no convergence.
    fn near(&self, start: &Tokens, sizes: &[usize]) -> Result<Self::Point>;
    /// The gradient, n x d.
    fn grad(&self, x: &Tokens, work: &mut Workspace, out: &mut [f64]);
    /// The Hessian times a tangent vector, n x d.
    fn hess_vec(&self, x: &Tokens, u: &[f64], work: &mut Workspace, out: &mut [f64]);
    /// The Hessian in tangent bases and the mass metric, `M^{-1/2} H M^{-1/2}`.
    ///
    /// **Errors** an energy that is not twice differentiable there.
    fn mass_hessian(&self, x: &Tokens) -> Result<Vec<f64>>;
    /// A gradient norm relative to its largest possible value: small near critical points.
    fn relative_gradient_norm(&self, x: &Tokens) -> f64;
    /// A gradient flow of n tokens that increases the energy, or decreases it, and its duration.
    ///
    /// **Errors** as its dynamics.
    fn flow(&self, n: usize, down: bool) -> Result<(Dynamics, f64)>;
    /// The gradient flow of n times the energy in the metric `sum_i |u_i|^2`, for n tokens of equal
    /// masses, and its duration. **Errors** as its dynamics.
    fn gradient_flow(&self, n: usize) -> Result<(Dynamics, f64)> {
        self.flow(n, false)
    }
    /// True if forces can be so small that Newton's method fails in a plane where the energy has a
    /// minimum.
    fn is_steep(&self) -> bool;
}

/// A critical point of an energy.
pub trait FoundPoint: Clone + Send + Sync {
    /// One row per cluster.
    fn clusters(&self) -> &Tokens;
    /// Tokens per cluster.
    fn sizes(&self) -> &[usize];
    /// Number of unstable directions.
    fn unstable(&self) -> usize;
    /// The energy, or an increasing function of it.
    fn height(&self) -> f64;
    /// True if both points agree up to rotation, reflection and permutation.
    fn is_same(&self, other: &Self) -> bool;
    /// The same point with its distance from other tokens: row i of them belongs to row `merged[i]`
    /// of the tokens from which Newton's method began.
    #[must_use]
    fn measured_from(self, start: &Tokens, merged: &[usize]) -> Self;
}

/// The energy `E_beta` of the exponential.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential {
    /// Inverse temperature.
    pub beta: f64,
}

impl SearchedEnergy for Exponential {
    type Point = CriticalPoint;

    fn check(&self) -> Result<()> {
        crate::error::in_range("beta", self.beta.abs(), 0.0, 1e4).map(|_| ())
    }

    fn near(&self, start: &Tokens, sizes: &[usize]) -> Result<CriticalPoint> {
        CriticalPoint::near(self.beta, start, sizes)
    }

    fn grad(&self, x: &Tokens, work: &mut Workspace, out: &mut [f64]) {
        Energy::new(self.beta, EnergyScale::Mean).scaled_grad(x, work, out);
    }

    fn hess_vec(&self, x: &Tokens, u: &[f64], work: &mut Workspace, out: &mut [f64]) {
        Energy::new(self.beta, EnergyScale::Mean).scaled_hess_vec(x, u, work, out);
    }

    fn mass_hessian(&self, x: &Tokens) -> Result<Vec<f64>> {
        Ok(spectrum::mass_hessian(self.beta, x))
    }

    fn relative_gradient_norm(&self, x: &Tokens) -> f64 {
        critical::relative_gradient_norm(self.beta, x)
    }

    fn flow(&self, n: usize, down: bool) -> Result<(Dynamics, f64)> {
        let name = if down { "repulsive-sa" } else { "sa" };
        Ok((dynamics::build(name, false, &Spec::new(self.beta, n))?, 1e300))
    }

    fn gradient_flow(&self, n: usize) -> Result<(Dynamics, f64)> {
        Ok((dynamics::build("usa", false, &Spec::new(self.beta, n))?, 1e300))
    }

    fn is_steep(&self) -> bool {
        self.beta > 0.0
    }
}

/// Time of a flow of any interaction, in units of the largest rate.
const FLOW_TIME: f64 = 1e4;

impl SearchedEnergy for InteractionEnergy {
    type Point = InteractionCriticalPoint;

    fn check(&self) -> Result<()> {
        match self.form() {
            Some(_) => Err(Error::parameter("D", "a matrix", "the identity in a search")),
            None => Ok(()),
        }
    }

    fn near(&self, start: &Tokens, sizes: &[usize]) -> Result<InteractionCriticalPoint> {
        InteractionCriticalPoint::near(self, start, sizes)
    }

    fn grad(&self, x: &Tokens, _: &mut Workspace, out: &mut [f64]) {
        out.copy_from_slice(&InteractionEnergy::grad(self, x));
    }

    fn hess_vec(&self, x: &Tokens, u: &[f64], _: &mut Workspace, out: &mut [f64]) {
        out.copy_from_slice(&InteractionEnergy::hess_vec(self, x, u));
    }

    fn mass_hessian(&self, x: &Tokens) -> Result<Vec<f64>> {
        interaction::mass_hessian(self, x)
    }

    fn relative_gradient_norm(&self, x: &Tokens) -> f64 {
        interaction::relative_gradient_norm(self, x).unwrap_or(f64::INFINITY)
    }

    fn flow(&self, _: usize, down: bool) -> Result<(Dynamics, f64)> {
        let phi = self.interaction();
        let rate = phi.sizes().0 + phi.sizes().1;
        let flow = InteractionAttention::new(phi.clone(), RowSum::Plain)?.repelling(down);
        Ok((Dynamics::single(flow), FLOW_TIME / rate.max(1e-300)))
    }

    fn is_steep(&self) -> bool {
        false
    }
}

/// A critical point as a [`FoundPoint`] with this field as its height.
macro_rules! found_point {
    ($point:ty, $height:ident) => {
        impl FoundPoint for $point {
            fn clusters(&self) -> &Tokens {
                &self.clusters
            }

            fn sizes(&self) -> &[usize] {
                &self.sizes
            }

            fn unstable(&self) -> usize {
                self.spectrum.unstable
            }

            fn height(&self) -> f64 {
                self.$height
            }

            fn is_same(&self, other: &Self) -> bool {
                <$point>::is_same(self, other)
            }

            fn measured_from(self, start: &Tokens, merged: &[usize]) -> Self {
                let (labels, distance_from_start) =
                    distance(start, merged, &self.labels, &self.clusters);
                Self { labels, distance_from_start, ..self }
            }
        }
    };
}

found_point!(CriticalPoint, log_energy);
found_point!(InteractionCriticalPoint, energy);

/// The cluster of every row of `start`, and the largest distance between both.
fn distance(
    start: &Tokens,
    merged: &[usize],
    labels: &[usize],
    clusters: &Tokens,
) -> (Vec<usize>, f64) {
    let labels: Vec<usize> = merged.iter().map(|l| labels[*l]).collect();
    let far = start.rows().zip(&labels).map(|(r, l)| dist(r, clusters.row(*l)));
    let far = far.fold(0.0, f64::max);
    (labels, far)
}
