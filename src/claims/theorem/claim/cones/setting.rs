//! What several claims of the topic use: heads near the identity, the time in which a cap narrows,
//! and the linearisation at consensus.

use crate::attention::Variant;
use crate::num::{dense, quadrature::integrate};
use crate::sphere::geometry::{exp, project};
use crate::theorem::prelude::*;

/// Factor of `eps^{4/5}` in the tolerance of [`linearised`].
pub const LINEARISED: f64 = 256.0;

/// A head with random Q and K (identity plus Gaussian noise of random size up to `most`) and V = I.
pub fn random_head(d: usize, most: f64, ctx: &mut Context) -> Result<Head> {
    let spread = ctx.log_uniform_in(1e-3, most) / (d as f64).sqrt();
    let mut matrix = || {
        let noise = ctx.normals(d * d);
        Some((
            d,
            (0..d * d).map(|k| f64::from(u8::from(k % (d + 1) == 0)) + spread * noise[k]).collect(),
        ))
    };
    Head::new(d, matrix(), matrix(), None)
}

/// `Q^T K`, row-major.
pub fn product(head: &Head, d: usize) -> Vec<f64> {
    let identity = dense::identity(d);
    let [q, k, _] = head.matrices();
    dense::transpose_mul(q.unwrap_or(&identity), k.unwrap_or(&identity), d)
}

/// The dynamics of a case with a head.
pub fn with_head(case: &Case, head: Head) -> Result<Dynamics> {
    dynamics::build(
        case.dynamics,
        false,
        &Spec { heads: vec![head], ..Spec::new(case.beta, case.n) },
    )
}

/// The longest time in which a cap narrows from the radius `from` to the smaller radius `to`, if
/// `-(log tan r)' >= 1/slowness(sin^2 r)`.
pub fn narrowing_time(from: f64, to: f64, slowness: impl Fn(f64) -> f64) -> f64 {
    // With v = log tan r, sin^2 r = 1/(1 + e^{-2v}).
    let at = |v: f64| slowness(1.0 / (1.0 + (-2.0 * v).exp()));
    integrate(at, to.tan().ln(), from.tan().ln(), 1e-12).value
}

/// The reciprocal of the rate in a cap of radius r for Q = K = I, as a function of `sin^2 r`: the
/// least weight of a token is its mass times `e^{-2 |beta| sin^2 r}` under SA and, for
/// `beta >= 0`, times `e^{beta cos 2r}` under USA.
pub fn plain_slowness(weights: RowWeights, beta: f64) -> impl Fn(f64) -> f64 {
    move |sin2| {
        let log = match weights {
            RowWeights::Exponential if beta < 0.0 => -beta,
            RowWeights::Exponential => beta * (2.0 * sin2 - 1.0),
            RowWeights::Softmax | RowWeights::Sinkhorn => 2.0 * beta.abs() * sin2,
        };
        log.exp()
    }
}

/// Let `V xi = lambda xi`. Compares the derivative of the velocity at consensus in xi along a
/// random direction u with `r (P V mean_i(u) - lambda u_i)`, where r belongs to `beta`, and the
/// velocity at consensus with 0.
pub fn linearised(
    case: &Case,
    ctx: &mut Context,
    head: &Head,
    xi: &[f64],
    beta: f64,
) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let (variant, masses) = (case.variant()?, ctx.masses(n));
    let point = |rows: Vec<f64>| Tokens::normalised(d, rows)?.with_masses(&masses);
    let mut u = ctx.normals(n * d);
    u.chunks_exact_mut(d).for_each(|row| project(xi, row));
    let largest = u.chunks_exact(d).map(norm).fold(f64::MIN_POSITIVE, nan_max);
    divide(&mut u, largest);
    let dynamics = with_head(case, head.clone())?;
    let product = product(head, d);
    let size = 1.0 + case.beta * norm(&product);
    // eps^{1/5} balances the rounding eps/h of displaced coordinates against the remainder h^4 of
    // one extrapolation.
    let h = f64::EPSILON.powf(0.2) / size;
    let difference = |h: f64| -> Result<Vec<f64>> {
        let at = |s: f64| -> Result<Vec<f64>> {
            let rows = u
                .chunks_exact(d)
                .flat_map(|r| exp(xi, &r.iter().map(|v| s * v).collect::<Vec<_>>()))
                .collect();
            Ok(dynamics.velocity(&point(rows)?))
        };
        Ok(at(h)?.iter().zip(at(-h)?).map(|(a, b)| (a - b) / (2.0 * h)).collect())
    };
    let mut found: Vec<f64> =
        difference(h)?.iter().zip(difference(0.5 * h)?).map(|(a, b)| (4.0 * b - a) / 3.0).collect();
    found.chunks_exact_mut(d).for_each(|row| project(xi, row));
    let mut image = vec![0.0; d];
    dense::mat_vec(&product, xi, &mut image);
    let rate =
        ctx.claimed_constant(variant.weights.log_consensus_row_sum(beta * dot(xi, &image)).exp());
    let expected = expected(variant, head, &masses, xi, &u);
    let true_rate = variant.weights.log_consensus_row_sum(case.beta * dot(xi, &image)).exp();
    let strength = head.matrices()[2].map_or(1.0, |v| 1.0 + norm(v));
    let still =
        dynamics.velocity(&point(xi.repeat(n))?).iter().fold(0.0, |m, v| nan_max(m, v.abs()));
    let worst = found.iter().zip(&expected).map(|(f, e)| (f - rate * e).abs()).fold(still, nan_max);
    Ok(Finding::identity(worst, LINEARISED * f64::EPSILON.powf(0.8) * size * true_rate * strength))
}

/// `P V mean_i(u) - lambda u_i`.
fn expected(variant: Variant, head: &Head, masses: &[f64], xi: &[f64], u: &[f64]) -> Vec<f64> {
    let (n, d) = (masses.len(), xi.len());
    let image = |v: &[f64]| match head.matrices()[2] {
        None => v.to_vec(),
        Some(m) => {
            let mut out = vec![0.0; d];
            dense::mat_vec(m, v, &mut out);
            out
        }
    };
    let lambda = dot(xi, &image(xi));
    let mut out = Vec::with_capacity(u.len());
    for (i, own) in u.chunks_exact(d).enumerate() {
        let seen = variant.visible_count(i, n);
        let total: f64 = masses[..seen].iter().sum();
        let mut mean = vec![0.0; d];
        u.chunks_exact(d)
            .zip(&masses[..seen])
            .for_each(|(r, m)| mean.iter_mut().zip(r).for_each(|(a, v)| *a += m / total * v));
        let mut row = image(&mean);
        project(xi, &mut row);
        out.extend(row.iter().zip(own).map(|(a, v)| a - lambda * v));
    }
    out
}
