//! Spectra of the linearised flow at consensus and at regular polygons (derived; for consensus the
//! linearisation of arXiv:2312.10794, (2.3)).

use crate::attention::{RowWeights, TimeScale, Variant, circle::hessian_kernel};
use crate::error::{Error, Result, in_range};
use std::f64::consts::TAU;

/// Eigenvalues of the SA flow at consensus: -1 with multiplicity `(n-1)(d-1)` and 0 with
/// multiplicity d - 1, ascending. USA (U1): these values times `e^beta`.
pub fn consensus_sa(n: usize, d: usize) -> Vec<f64> {
    let mut values = vec![-1.0; (n - 1) * (d - 1)];
    values.extend(vec![0.0; d - 1]);
    values
}

/// Eigenvalues at consensus, ascending; `scale` applies to USA. Repulsive attention has the
/// opposite signs.
///
/// **Errors** Sinkhorn attention, for which there is no formula; `|beta|` above 1e6 (USA); a rate
/// that exceeds f64.
///
/// ```
/// use metastable::{attention::{RowWeights, TimeScale, Variant}, theory::spectra::consensus};
/// let usa = Variant::mutual(RowWeights::Exponential);
/// // Token k of n has the rate -(k - 1)/n e^beta: the k - 1 tokens before it attract it.
/// let found = consensus(Variant { causal: true, ..usa }, 2, 2, 1.0, TimeScale::U1)?;
/// assert!((found[0] + 0.5 * 1f64.exp()).abs() < 1e-15 && found[1] == 0.0);
/// let found = consensus(Variant { repulsive: true, ..usa }, 2, 2, 0.0, TimeScale::U1)?;
/// assert_eq!(found, [0.0, 1.0]);
/// # Ok::<(), metastable::error::Error>(())
/// ```
pub fn consensus(
    variant: Variant,
    n: usize,
    d: usize,
    beta: f64,
    scale: TimeScale,
) -> Result<Vec<f64>> {
    // Rates of SA do not depend on beta; those of USA are e^beta times a factor.
    let limit = if variant.weights == RowWeights::Exponential { 1e6 } else { 1e30 };
    let beta = in_range("beta", beta, -limit, limit)?;
    let rate = match variant.weights {
        _ if !has_consensus(variant) => return Err(super::no_formula_error(variant.weights)),
        RowWeights::Exponential => (beta + scale.log_factor(beta, n)).exp(),
        RowWeights::Softmax | RowWeights::Sinkhorn => 1.0,
    };
    if !rate.is_finite() {
        return Err(Error::Beyond {
            quantity: format!("e^beta at beta = {beta}"),
            hint: "use --time-scale u2".into(),
        });
    }
    let mut values = match (variant.weights, variant.causal) {
        (RowWeights::Exponential, true) => {
            (0..n).rev().flat_map(|k| vec![-(k as f64) / n as f64; d - 1]).collect()
        }
        (_, true) => consensus_causal(n, d),
        (_, false) => consensus_sa(n, d),
    };
    if variant.repulsive {
        values.reverse();
    }
    let sign = if variant.repulsive { -rate } else { rate };
    // No negative zeros.
    values.iter_mut().for_each(|v| *v = *v * sign + 0.0);
    Ok(values)
}

/// Whether [`consensus`] has a formula for this variant.
pub fn has_consensus(variant: Variant) -> bool {
    variant.weights != RowWeights::Sinkhorn
}

/// Eigenvalues of causal SA at consensus: 0 and `-(1 - 1/k)`, k = 2..=n, each d - 1 times,
/// ascending.
///
/// ```
/// assert_eq!(metastable::theory::spectra::consensus_causal(2, 2), vec![-0.5, 0.0]);
/// ```
pub fn consensus_causal(n: usize, d: usize) -> Vec<f64> {
    (1..=n).rev().flat_map(|k| vec![-(1.0 - 1.0 / k as f64) + 0.0; d - 1]).collect()
}

/// The growth rates of [`polygon_sa`] or [`polygon_usa`]. **Errors** Sinkhorn attention, for which
/// there is no formula.
pub fn polygon(weights: RowWeights, m: usize, beta: f64) -> Result<Vec<f64>> {
    match weights {
        RowWeights::Softmax => Ok(polygon_sa(m, beta)),
        RowWeights::Exponential => Ok(polygon_usa(m, beta)),
        RowWeights::Sinkhorn => Err(super::no_formula_error(weights)),
    }
}

/// The rounding error of each rate of [`polygon`], to first order: that of m terms, each known to
/// `8 (1 + beta) eps` of itself. **Errors** as [`polygon`].
pub fn polygon_error(weights: RowWeights, m: usize, beta: f64) -> Result<f64> {
    let terms = (0..m).map(|q| {
        let t = TAU * q as f64 / m as f64;
        let weight = match weights {
            RowWeights::Exponential => (beta * t.cos()).exp(),
            _ => (-2.0 * beta * (0.5 * t).sin().powi(2)).exp(),
        };
        // The token itself has no part in a rate.
        let size = if q == 0 { 0.0 } else { (1.0 + beta * t.sin().powi(2)) * weight };
        [weight, size]
    });
    let [mass, size] = terms.fold([0.0; 2], |sum, term| [sum[0] + term[0], sum[1] + term[1]]);
    let relative = (m as f64 + 16.0 * (1.0 + beta)) * f64::EPSILON;
    match weights {
        RowWeights::Softmax => Ok(4.0 * relative * size / mass),
        RowWeights::Exponential => Ok(2.0 * relative * size / m as f64),
        RowWeights::Sinkhorn => Err(super::no_formula_error(weights)),
    }
}

/// Growth rates of m equal clusters at the vertices of a regular m-gon on the circle:
/// USA (U1) `Lambda_p = (1/m) sum_q g(2 pi q/m) (cos(2 pi p q/m) - 1)`, p = 0..m-1.
///
/// ```
/// // m = 2: the antipodal pair escapes at rate e^{-beta}
/// let rates = metastable::theory::spectra::polygon_usa(2, 6.0);
/// assert!((rates[1] / (-6f64).exp() - 1.0).abs() < 1e-13);
/// ```
pub fn polygon_usa(m: usize, beta: f64) -> Vec<f64> {
    let mf = m as f64;
    let rate = |p: usize| -> f64 {
        (1..m)
            .map(|q| {
                // cos(2 pi p q / m) - 1 = -2 sin^2(pi p q / m), with p q reduced mod m so that
                // symmetric modes agree to the last bit.
                let half = std::f64::consts::PI * ((p * q) % m) as f64 / mf;
                hessian_kernel(beta, TAU * q as f64 / mf) * -2.0 * half.sin().powi(2)
            })
            .sum::<f64>()
            / mf
    };
    (0..m).map(rate).collect()
}

/// The growth rates of SA: those of USA divided by `Z = (1/m) sum_q e^{beta cos(2 pi q/m)}`; finite
/// for every beta.
pub fn polygon_sa(m: usize, beta: f64) -> Vec<f64> {
    let mf = m as f64;
    let shifted: f64 = (0..m)
        .map(|q| (-2.0 * beta * (0.5 * TAU * q as f64 / mf).sin().powi(2)).exp())
        .sum::<f64>()
        / mf;
    // Lambda / Z, with the factor e^{beta} of g cancelled.
    let g =
        |t: f64| (t.cos() - beta * t.sin().powi(2)) * (-2.0 * beta * (0.5 * t).sin().powi(2)).exp();
    let rate = |p: usize| -> f64 {
        let half = |q: usize| std::f64::consts::PI * ((p * q) % m) as f64 / mf;
        (1..m).map(|q| g(TAU * q as f64 / mf) * -2.0 * half(q).sin().powi(2)).sum::<f64>()
            / mf
            / shifted
    };
    (0..m).map(rate).collect()
}

/// Rates of the m-gon of equal clusters for displacements out of its plane, in one of the d - 2
/// further directions:
/// `(1/m) sum_{q=1}^{m-1} e^{beta cos(2 pi q/m)} (cos(2 pi p q/m) - cos(2 pi q/m))`, times
/// `e^{-beta}`, p = 0..m-1. Rotations out of the plane are p = 1 and m - 1.
///
/// ```
/// let rates = metastable::theory::spectra::polygon_out_of_plane(4, 3.0);
/// assert!(rates[1].abs() < 1e-17 && rates[0] > 0.0);
/// ```
pub fn polygon_out_of_plane(m: usize, beta: f64) -> Vec<f64> {
    let angle = |q: usize| TAU * (q % m) as f64 / m as f64;
    let weight = |q: usize| (-2.0 * beta * (0.5 * angle(q)).sin().powi(2)).exp();
    (0..m)
        .map(|p| {
            (1..m).map(|q| weight(q) * (angle(p * q).cos() - angle(q).cos())).sum::<f64>()
                / m as f64
        })
        .collect()
}

/// Spectrum of the Hessian at the regular simplex (n = d + 1 tokens, inner products `-1/d`), metric
/// `sum m_i |u_i|^2`, times `e^{-beta}`, as (value, multiplicity): with `w = e^{-beta (1 + 1/d)}/d`
/// the values 0 (rotations), `2 beta w` and `(d - 1 + beta (1 + 1/d)) w`.
///
/// Derivation: the Hessian acts as `w m [beta n/d u_i + P_i (S + beta T x_i)]`, `S = sum u_j`,
/// `T = sum x_j u_j^T`; skew, doubly traceless symmetric and translation fields `u_i = P_i B x_i`,
/// `P_i a` are its eigenspaces.
pub fn simplex(d: usize, beta: f64) -> [(f64, usize); 3] {
    let f = d as f64;
    let w = (-beta * (1.0 + 1.0 / f)).exp() / f;
    [
        (0.0, d * (d - 1) / 2),
        (2.0 * beta * w, (d + 1) * (d - 2) / 2),
        ((f - 1.0 + beta * (1.0 + 1.0 / f)) * w, d),
    ]
}

/// Spectrum of the Hessian at the cross-polytope (tokens `+-e_k`), metric `sum m_i |u_i|^2`, times
/// `e^{-beta}`, as (value, multiplicity): with `m = 1/2d`, `w = e^{-beta}` between neighbours and
/// `v = e^{-2 beta}` between antipodes: 0 (rotations), `4 beta m w`,
/// `m (2 (d - 2) w + 2 beta w + 2 v)`, `m ((2 beta - 2) w + 2 v)`. Sums and differences of
/// antipodal displacements decouple.
pub fn cross_polytope(d: usize, beta: f64) -> [(f64, usize); 4] {
    let (m, w, v) = (0.5 / d as f64, (-beta).exp(), (-2.0 * beta).exp());
    [
        (0.0, d * (d - 1) / 2),
        (4.0 * beta * m * w, d * (d - 1) / 2),
        (m * (2.0 * (d as f64 - 2.0) * w + 2.0 * beta * w + 2.0 * v), d),
        (m * ((2.0 * beta - 2.0) * w + 2.0 * v), d * (d - 2)),
    ]
}
