//! Dissipation identities.

use crate::num::quadrature::gauss_legendre;
use crate::theorem::prelude::*;

/// arXiv:2312.10794, (3.6) and Lemma 3.7, integrated over time.
///
/// # Derivation
///
/// With masses `m_i x_i' = grad_i E` for USA and `m_i Z_i x_i' = grad_i E` for SA
/// (`gradient-structure`), so `dE/dt = sum_i <grad_i E, x_i'>` is `sum_i m_i |x_i'|^2` and
/// `sum_i m_i Z_i |x_i'|^2`.
pub static ENTRY: Claim = Claim {
    name: "dissipation",
    title: "Dissipation identities of SA and USA",
    lets: "Z_i = sum_j m_j e^{beta G_ij}",
    then: "Then dE_beta/dt = sum_i m_i |x_i'|^2 for USA and dE_beta/dt = sum_i m_i Z_i |x_i'|^2 \
           for SA. Tested as: along the flow over half a Lipschitz time of the velocity, the \
           change of log |E| is the integral of the right-hand side divided by E, to 4e-12 (1 + \
           |beta|). At beta = 0, where E_beta is not defined, both sides are multiplied by 2 \
           beta, and the identity is 0 = 0.",
    domain: Domain { dynamics: &["sa", "usa"], ..Domain::SYMMETRY },
    narrower: "Q = K = V = I",
    source: "arXiv:2312.10794, (3.6), Lemma 3.7",
    trials: (30, 200),
    trial: |case, ctx| identity(case, ctx, false),
    constant: "the right-hand side",
    control: Control {
        what: "the identity of USA for the flow of SA",
        trial: |ctx| identity(&Case::with_random_masses(5, 3, 2.0, "sa"), ctx, true),
    },
    ..Claim::IDENTITY
};

fn identity(case: &Case, ctx: &mut Context, without_z: bool) -> Result<Finding> {
    let mut x = ctx.tokens(case)?;
    let (dynamics, energy) = (case.build()?, Energy::new(case.beta, EnergyScale::Mean));
    let (n, d, beta) = (case.n, case.d, case.beta);
    let length = 0.5 / case.lipschitz()?;
    let before = energy.log_unit(&x);
    let softmax = case.row_weights()? == RowWeights::Softmax;
    // Ten Gauss points on half the time in which the velocity can change by its own size give an
    // error below 1e-15. The error of a run, 1.4e-13, changes log E by 2 |beta| times as much, at
    // both ends and in the integral; log E itself has the error 4 eps (1 + |beta|).
    let (mut integral, mut now) = (0.0, 0.0);
    for (node, share) in gauss_legendre(10).into_iter().rev() {
        let t = 0.5 * length * (1.0 + node);
        x = ctx.flow_to_with_tolerance(&dynamics, &x, t - now, SYMMETRY_TOLERANCE)?;
        now = t;
        let v = ctx.velocity(case, &x)?;
        // d log E/dt = 2 beta sum_i factor_i |x_i'|^2 / sum_ij m_i m_j e^{beta G_ij}; all sums are
        // divided by e^|beta|.
        let (mut rate, mut total) = (0.0, 0.0);
        for (i, row) in v.chunks_exact(d).enumerate() {
            let z: f64 = (0..n).map(|j| weight(beta, &x, i, j)).sum();
            total += z;
            rate += dot(row, row)
                * if softmax && !without_z { z } else { x.masses()[i] * (-beta.abs()).exp() };
        }
        integral += 0.5 * length * share * 2.0 * beta * rate / total;
    }
    x = ctx.flow_to_with_tolerance(&dynamics, &x, length - now, SYMMETRY_TOLERANCE)?;
    let stated = ctx.claimed_constant(integral);
    Ok(Finding::identity((energy.log_unit(&x) - before - stated).abs(), 4e-12 * (1.0 + beta.abs())))
}
