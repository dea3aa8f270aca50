//! Rotary positions on a ring.

use crate::attention::multi_head::MultiHead;
use crate::attention::pattern::{BiasForm, Pattern};
use crate::num::dense::eigenvalues;
use crate::theorem::prelude::*;

/// The step of the differences of [`measured_gap`].
pub const STEP: f64 = 1e-5;

/// Position i rotates by the angle `w i`.
struct Ring {
    w: f64,
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
pub fn ring(n: usize, p: i64, beta: f64) -> Result<Dynamics> {
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
pub fn turning(dynamics: &Dynamics, angles: &[f64]) -> Result<Vec<f64>> {
    let v = dynamics.velocity(&Tokens::from_angles(angles)?);
    Ok(v.chunks_exact(2).zip(angles).map(|(v, t)| t.cos() * v[1] - t.sin() * v[0]).collect())
}

/// The largest real part of the eigenvalues of the linearisation at these angles, apart from the
/// rotation of all tokens.
pub fn measured_gap(dynamics: &Dynamics, angles: &[f64]) -> Result<f64> {
    let n = angles.len();
    let mut jacobian = vec![0.0; n * n];
    for j in 0..n {
        let at = |sign: f64| {
            let mut moved = angles.to_vec();
            moved[j] += sign * STEP;
            turning(dynamics, &moved)
        };
        let (up, down) = (at(1.0)?, at(-1.0)?);
        (0..n).for_each(|i| jacobian[i * n + j] = (up[i] - down[i]) / (2.0 * STEP));
    }
    let mut spectrum =
        eigenvalues(&jacobian, n).ok_or_else(|| Error::Numerical { what: "no spectrum".into() })?;
    // The rotation of all tokens belongs to the eigenvalue nearest to 0.
    spectrum.sort_by(|a, b| a.0.hypot(a.1).total_cmp(&b.0.hypot(b.1)));
    Ok(spectrum[1..].iter().map(|z| z.0).fold(f64::NEG_INFINITY, nan_max))
}
