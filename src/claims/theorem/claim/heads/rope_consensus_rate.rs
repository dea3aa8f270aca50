//! Rotary positions on a ring: the rate of consensus.

use crate::attention::multi_head::MultiHead;
use crate::attention::pattern::{BiasForm, Pattern};
use crate::num::dense::eigenvalues;
use crate::theorem::prelude::*;
use crate::theory::rotary::{largest_growth_rate, rates};

/// At consensus the linearisation is a weighted graph Laplacian, for all positions.
///
/// # Derivation
///
/// At consensus `d theta_i' = (1/n) sum_j e^{beta cos(w (i - j))} (d theta_j - d theta_i)`: a
/// circulant matrix, whose eigenvalues are sums over the ring (`theory::rotary`).
pub static ENTRY: Claim = Claim {
    name: "rope-consensus-rate",
    title: "Rotary positions on a ring: the rate of consensus is the gap of a circulant Laplacian",
    then: "Consider USA in d = 2 with scores beta cos(theta_i - theta_j + w (i - j)), w = 2 pi p \
           / n. Apart from rotations of all tokens, the largest real part of the eigenvalues of \
           the linearisation at consensus is that of Lambda_m = -(1/n) sum_k e^{beta cos(2 pi p k \
           / n)} (1 - e^{-2 pi i m k / n}).",
    tested: "to a relative 1e-5",
    domain: Domain {
        n: Sizes::Range(3, 16),
        d: Sizes::Fixed(2),
        beta: Betas::Linear(0.1, 3.0),
        dynamics: &["usa"],
        laws: &["placed"],
        ..Domain::BLOCKS
    },
    narrower: "p from 0 to n - 1, central differences with step 1e-5",
    source: "derived; rotary positions: arXiv:2104.09864",
    trials: (8, 60),
    trial: |case, ctx| gap(case, ctx, false),
    constant: "the gap",
    control: Control {
        what: "the gap without positions",
        trial: |ctx| gap(&Case::new(12, 2, 2.0, "usa"), ctx, true),
    },
    ..Claim::IDENTITY
};

/// Position i rotates by the angle `w i`.
pub(crate) struct Ring {
    pub w: f64,
}

impl Pattern for Ring {
    fn bias_form(&self, _: usize) -> BiasForm {
        BiasForm::Absent
    }

    fn is_rotary(&self) -> bool {
        true
    }

    fn rotate(&self, i: usize, image: &mut [f64]) {
        let (sin, cos) = (self.w * i as f64).sin_cos();
        (image[0], image[1]) = (cos * image[0] - sin * image[1], sin * image[0] + cos * image[1]);
    }
}

/// USA in d = 2 under positions on a ring.
pub(crate) fn ring(n: usize, p: i64, beta: f64) -> Result<Dynamics> {
    let w = TAU * p as f64 / n as f64;
    let identity = || Some((2, vec![1.0, 0.0, 0.0, 1.0]));
    let head = Head::new(2, identity(), identity(), None)?;
    Ok(Dynamics::single(
        MultiHead::new(beta, vec![head])?
            .with_pattern(Ring { w })
            .with_weights(Weights::Exponential { log_factor: 0.0 }),
    ))
}

/// The velocities of the angles.
pub(crate) fn turning(dynamics: &Dynamics, angles: &[f64]) -> Result<Vec<f64>> {
    let v = dynamics.velocity(&Tokens::from_angles(angles)?);
    Ok(v.chunks_exact(2).zip(angles).map(|(v, t)| t.cos() * v[1] - t.sin() * v[0]).collect())
}

/// The largest real part of the eigenvalues of the linearisation at these angles, apart from the
/// rotation of all tokens.
pub(crate) fn measured_gap(dynamics: &Dynamics, angles: &[f64]) -> Result<f64> {
    let (n, step) = (angles.len(), 1e-5);
    let mut jacobian = vec![0.0; n * n];
    for j in 0..n {
        let at = |sign: f64| {
            let mut moved = angles.to_vec();
            moved[j] += sign * step;
            turning(dynamics, &moved)
        };
        let (up, down) = (at(1.0)?, at(-1.0)?);
        (0..n).for_each(|i| jacobian[i * n + j] = (up[i] - down[i]) / (2.0 * step));
    }
    let mut spectrum =
        eigenvalues(&jacobian, n).ok_or_else(|| Error::Numerical { what: "no spectrum".into() })?;
    // The rotation of all tokens belongs to the eigenvalue nearest to 0.
    spectrum.sort_by(|a, b| a.0.hypot(a.1).total_cmp(&b.0.hypot(b.1)));
    Ok(spectrum[1..].iter().map(|z| z.0).fold(f64::NEG_INFINITY, f64::max))
}

fn gap(case: &Case, ctx: &mut Context, plain: bool) -> Result<Finding> {
    let p = if plain { 1 } else { ctx.index(case.n) as i64 };
    let found = measured_gap(&ring(case.n, p, case.beta)?, &vec![0.3; case.n])?;
    let stated = ctx.claimed_constant(largest_growth_rate(&rates(
        case.n,
        if plain { 0 } else { p },
        0,
        case.beta,
    )));
    Ok(Finding::identity((found - stated).abs(), 1e-5 * stated.abs()))
}
