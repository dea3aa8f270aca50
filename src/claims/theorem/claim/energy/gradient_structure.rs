//! SA and USA are gradient flows.

use crate::sphere::geometry::exp;
use crate::theorem::prelude::*;

/// arXiv:2312.10794, Lemma 3.6 and section 3.4, for tokens with masses.
///
/// # Derivation
///
/// In `E = (1/2beta) sum_ij m_i m_j e^{beta <x_i, x_j>}` the token x_i occurs in both arguments,
/// and both contribute the same: the derivative with respect to x_i is m_i sum_j m_j e^{beta G_ij}
/// x_j (for j = i: (1/2beta) m_i^2 2 beta e^beta x_i, the same formula). Its tangential part is
/// grad_i E = m_i sum_j m_j e^{beta G_ij} P_i x_j.
/// For USA in U1 the sum is x_i'; for SA it is Z_i x_i'. So USA is the gradient flow in the metric
/// sum_i m_i |u_i|^2, SA in sum_i m_i Z_i(x) |u_i|^2, which depends on the point; in the round
/// metric SA is not a gradient flow (the control).
pub static ENTRY: Claim = Claim {
    name: "gradient-structure",
    title: "SA and USA are gradient flows of E_beta",
    lets: "G_ij = <x_i, x_j>, Z_i = sum_j m_j e^{beta G_ij} and E_beta = (1/(2 beta)) sum_ij m_i \
           m_j e^{beta G_ij}",
    then: "Then grad_i E_beta = m_i x_i' for USA (U1) and grad_i E_beta = m_i Z_i x_i' for SA. \
           Tested to 16 eps (n + d + |beta|) of sum_j m_i m_j e^{beta G_ij} |P_i x_j|. Central \
           differences of 2 beta E_beta along geodesics agree with 2 beta grad E_beta to 16 \
           eps^{2/3} (1 + |beta|)^2 of 2 beta E_beta.",
    domain: Domain { n: Sizes::Range(1, 48), d: Sizes::Range(2, 48), ..PAIRS },
    narrower: "Q = K = V = I",
    source: "arXiv:2312.10794, Lemma 3.6, Remark 3.8, section 3.4",
    trials: (60, 400),
    trial: |case, ctx| gradient_identity(case, ctx, false),
    constant: "the exponent of Z_i (for USA, of m_i)",
    control: Control {
        what: "SA treated as the gradient flow in the round metric",
        trial: |ctx| gradient_identity(&Case::with_random_masses(6, 3, 2.0, "sa"), ctx, true),
    },
    ..Claim::IDENTITY
};

fn gradient_identity(case: &Case, ctx: &mut Context, round: bool) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let (n, d, beta) = (case.n, case.d, case.beta);
    let energy = Energy::new(beta, EnergyScale::Mean);
    // All sums are divided by e^|beta|.
    let mut grad = vec![0.0; x.coordinates().len()];
    energy.scaled_grad(&x, &mut Workspace::default(), &mut grad);
    let (flow, exponent) = (ctx.velocity(case, &x)?, ctx.claimed_constant(1.0));
    let (softmax, unit) = (case.row_weights()? == RowWeights::Softmax, (-beta.abs()).exp());
    let mut worst: f64 = 0.0;
    for (i, (v, g)) in flow.chunks_exact(d).zip(grad.chunks_exact(d)).enumerate() {
        let z: f64 = (0..n).map(|j| weight(beta, &x, i, j)).sum();
        let size: f64 = (0..n).map(|j| weight(beta, &x, i, j) * sine(&x, i, j)).sum();
        let factor =
            if softmax && !round { z.powf(exponent) } else { x.masses()[i].powf(exponent) * unit };
        let allowed = 16.0 * f64::EPSILON * ((n + d) as f64 + beta.abs()) * (size + TINY);
        worst = v.iter().zip(g).map(|(v, g)| (factor * v - g).abs() / allowed).fold(worst, nan_max);
    }
    let u = ctx.tangent(&x);
    Ok(Finding::identity(worst, 1.0).and(difference_quotient(case, &x, &u, dot(&grad, &u))?))
}

/// Compares the slope of `U = sum_ij m_i m_j e^{beta G_ij - |beta|}` along u, by a central
/// difference, with `2 beta <grad, u>`. The relative error of U is `12 eps (1 + |beta|)` (displaced
/// tokens contribute 3 eps, inner products 8, exponents and the logarithm 2 |beta| each), and its
/// third derivative is at most `(sqrt 2 (1 + |beta|))^3 U`: the step `eps^{1/3} / (1 + |beta|)`
/// balances the two errors.
fn difference_quotient(case: &Case, x: &Tokens, u: &[f64], slope: f64) -> Result<Finding> {
    let scale = 1.0 + case.beta.abs();
    let h = f64::EPSILON.cbrt() / scale;
    let energy = Energy::new(case.beta, EnergyScale::Mean);
    let along = |h: f64| -> Result<f64> {
        let move_by =
            |(x, u): (&[f64], &[f64])| exp(x, &u.iter().map(|v| h * v).collect::<Vec<_>>());
        let moved = x.rows().zip(u.chunks_exact(case.d)).flat_map(move_by).collect();
        Ok(energy.log_scaled(&Tokens::new(case.d, moved)?.with_masses(x.masses())?).exp())
    };
    let found = (along(h)? - along(-h)?) / (2.0 * h);
    let allowed = 16.0 * f64::EPSILON.powf(2.0 / 3.0) * scale.powi(2) * energy.log_scaled(x).exp();
    Ok(Finding::identity((found - 2.0 * case.beta * slope).abs(), allowed))
}
