//! Two equal antipodal clusters `x_i = +-xi` of SA with `Q^T K = V = S` symmetric,
//! `S xi = lambda xi` (arXiv:2604.26085, 2511.11553; spectrum derived).

/// Growth rates of the linearised flow at the two clusters, `m = tanh(beta lambda)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// `-lambda m`: within a cluster.
    pub within: f64,
    /// `mu - lambda m`: both clusters move in the same direction, so they stop being antipodal.
    pub tilt: f64,
    /// `m (mu - lambda)`: the pair of clusters rotates.
    pub turn: f64,
}

/// The rates along an eigenvector of S other than xi, with eigenvalue `mu`.
///
/// ```
/// // V = I, the borderline: unstable at the rate 2/(1 + e^{2 beta}).
/// let rates = metastable::theory::bipartite::rates(1.0, 1.0, 2.0);
/// assert!((rates.tilt - 2.0 / (1.0 + 4f64.exp())).abs() < 1e-15 && rates.turn.abs() < 1e-15);
/// ```
pub fn rates(lambda: f64, mu: f64, beta: f64) -> Rates {
    let m = (beta * lambda).tanh();
    // mu - lambda m = mu - lambda + lambda (1 - m): accurate to rounding also for large beta.
    let tilt = (mu - lambda) + lambda * 2.0 / (1.0 + (2.0 * beta * lambda).exp());
    Rates { within: -lambda * m, tilt, turn: m * (mu - lambda) }
}

/// The eigenvalue `mu = lambda tanh(beta lambda)` above which another direction of S makes the two
/// clusters unstable.
pub fn threshold(lambda: f64, beta: f64) -> f64 {
    lambda * (beta * lambda).tanh()
}

/// True when both clusters are stable against every other eigenvalue of S.
pub fn is_stable(lambda: f64, others: &[f64], beta: f64) -> bool {
    others.iter().all(|mu| {
        let Rates { within, tilt, turn } = rates(lambda, *mu, beta);
        within < 0.0 && tilt < 0.0 && turn < 0.0
    })
}
