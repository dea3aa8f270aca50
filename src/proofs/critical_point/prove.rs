//! The prover: it chooses the planes of rotations and a radius. The tests of `check.rs` accept the
//! box and count the signs.

use super::Certificate;
use super::check::{KrawczykTest, count_signs};
use super::pairs::Pairs;
use crate::error::{Error, Result};
use crate::num::vector::{divide, norm};
use crate::num::{dense, interval::check_fp_environment};
use crate::sphere::Tokens;
use metastable_core::attention::interaction::Interaction;
use metastable_core::landscape::CriticalPoint;

/// Proves a computed critical point. The certificate passes [`check`](super::check).
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
    let pairs = Pairs::new(&centre)?;
    pairs.check_smooth(&centre)?;
    let test = KrawczykTest::new(&centre, &pairs).map_err(failed)?;
    // Start with a few times the Newton step at the points.
    let mut radius = 8.0 * test.newton_step() + 4e-16;
    while !test.holds(radius) {
        radius *= 16.0;
        if radius.is_nan() || radius > 1e-4 {
            return Err(failed(NO_BOX));
        }
    }
    // A larger box than needed, so that another arithmetic can confirm it as well.
    certificate.radius = 4.0 * radius;
    certificate.validate().map_err(|e| failed(&format!("the statement is refused ({e})")))?;
    if !test.holds(certificate.radius) {
        return Err(failed(NO_BOX));
    }
    let signs = count_signs(&certificate, &pairs).map_err(failed)?;
    (certificate.unstable, certificate.morse_index) = signs;
    Ok(certificate)
}

/// Why no radius is found.
const NO_BOX: &str = "Newton's map does not contract on any box about the point (degenerate, or \
                      beyond double precision)";

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
