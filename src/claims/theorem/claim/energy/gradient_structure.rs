//! SA and USA are gradient flows.

use crate::num::quadrature::gauss_legendre;
use crate::sphere::geometry::exp;
use crate::theorem::prelude::*;

const ROUNDINGS: f64 = 16.0;
const DIFFERENCE_ROUNDINGS: f64 = 16.0;
const CHANGE_ERROR: f64 = 4e-12;

/// # Derivation
///
/// In `E = (1/(2 beta)) sum_ij m_i m_j e^{beta <x_i, x_j>}` the token `x_i` occurs in both
/// arguments, and both contribute the same: the derivative with respect to `x_i` is `m_i sum_j m_j
/// e^{beta G_ij} x_j` (for `j = i`: `(1/(2 beta)) m_i^2 2 beta e^beta x_i`, the same formula). Its
/// tangential part is `grad_i E = m_i sum_j m_j e^{beta G_ij} P_i x_j`. For USA in U1 the sum is
/// `x_i'`; for SA it is `Z_i x_i'`. So USA is the gradient flow in the metric `sum_i m_i |u_i|^2`,
/// SA in `sum_i m_i Z_i(x) |u_i|^2`, which depends on the point; in the round metric SA is not a
/// gradient flow (the control). Along the flow `dE/dt = sum_i <grad_i E, x_i'>`.
pub static ENTRY: Claim = Claim {
    name: "gradient-structure",
    title: "SA and USA are gradient flows of `E_beta`",
    lets: "`E_beta = (1/(2 beta)) sum_ij m_i m_j e^{beta G_ij}` with `G_ij = <x_i, x_j>`, and `Z_i \
           = sum_j m_j e^{beta G_ij}` for SA, `Z_i = 1` for USA (U1)",
    then: "`grad_i E_beta = m_i Z_i x_i'`. So `dE_beta/dt = sum_i m_i Z_i |x_i'|^2`.",
    tested: "to `{ROUNDINGS} eps (n + d + |beta|)` of `sum_j m_i m_j e^{beta G_ij} |P_i x_j|`. \
             Central differences of `2 beta E_beta` along geodesics agree to \
             `{DIFFERENCE_ROUNDINGS} eps^{2/3} (1 + |beta|)^2` of `2 beta E_beta`. The rate of \
             `log |E_beta|`, integrated along the flow for half a Lipschitz time, agrees to \
             `{CHANGE_ERROR} (1 + |beta|)`. At `beta = 0`, where `E_beta` is not defined, both \
             sides are multiplied by `2 beta`",
    numbers: &[
        ("ROUNDINGS", ROUNDINGS),
        ("DIFFERENCE_ROUNDINGS", DIFFERENCE_ROUNDINGS),
        ("CHANGE_ERROR", CHANGE_ERROR),
    ],
    domain: Domain { n: Sizes::Range(1, 48), d: Sizes::Range(2, 48), ..PAIRS },
    narrower: "`Q = K = V = I`",
    source: "arXiv:2312.10794, Lemma 3.6, (3.6), Lemma 3.7, Remark 3.8, section 3.4",
    trials: (60, 400),
    trial: |case, ctx| gradient_flow(case, ctx, false),
    constant: "the exponent of `Z_i` (for USA, of `m_i`)",
    control: Control {
        what: "SA treated as the gradient flow in the round metric",
        trial: |ctx| gradient_flow(&Case::with_random_masses(6, 3, 2.0, "sa"), ctx, true),
    },
    ..Claim::IDENTITY
};

fn gradient_flow(case: &Case, ctx: &mut Context, round: bool) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let (n, d, beta) = (case.n, case.d, case.beta);
    let energy = Energy::new(beta, EnergyScale::Mean);
    // All sums are divided by e^|beta|.
    let mut grad = vec![0.0; x.coordinates().len()];
    energy.scaled_grad(&x, &mut Workspace::default(), &mut grad);
    let flow = ctx.velocity(case, &x)?;
    let softmax = case.row_weights()? == RowWeights::Softmax && !round;
    let factors = factors(&x, beta, softmax, ctx.claimed_constant(1.0));
    let mut worst: f64 = 0.0;
    for (i, (v, g)) in flow.chunks_exact(d).zip(grad.chunks_exact(d)).enumerate() {
        let size: f64 = (0..n).map(|j| weight(beta, &x, i, j) * sine(&x, i, j)).sum();
        let allowed = ROUNDINGS * f64::EPSILON * ((n + d) as f64 + beta.abs()) * (size + TINY);
        worst =
            v.iter().zip(g).map(|(v, g)| (factors[i] * v - g).abs() / allowed).fold(worst, nan_max);
    }
    let u = ctx.tangent(&x);
    Ok(Finding::identity(worst, 1.0)
        .and(difference_quotient(case, &x, &u, dot(&grad, &u))?)
        .and(dissipation(case, ctx, x, softmax)?))
}

/// `m_i Z_i` of SA, or `m_i` of USA, divided by `e^|beta|`.
fn factors(x: &Tokens, beta: f64, softmax: bool, exponent: f64) -> Vec<f64> {
    let factor = |i: usize| {
        if softmax {
            (0..x.n()).map(|j| weight(beta, x, i, j)).sum::<f64>().powf(exponent)
        } else {
            x.masses()[i].powf(exponent) * (-beta.abs()).exp()
        }
    };
    (0..x.n()).map(factor).collect()
}

/// Compares the change of `log |E|` over half a Lipschitz time with the integral of its rate. Ten
/// Gauss points on half the time in which the velocity can change by its own size give an error
/// below 1e-15. The error of a run, 1.4e-13, changes log E by 2 |beta| times as much, at both ends
/// and in the integral; log E itself has the error 4 eps (1 + |beta|).
fn dissipation(case: &Case, ctx: &mut Context, mut x: Tokens, softmax: bool) -> Result<Finding> {
    let (dynamics, energy) = (case.build()?, Energy::new(case.beta, EnergyScale::Mean));
    let (d, beta) = (case.d, case.beta);
    let (length, before) = (0.5 / case.lipschitz()?, energy.log_unit(&x));
    let (mut integral, mut now) = (0.0, 0.0);
    for (node, share) in gauss_legendre(10).into_iter().rev() {
        let t = 0.5 * length * (1.0 + node);
        x = ctx.flow_to_with_tolerance(&dynamics, &x, t - now, SYMMETRY_TOLERANCE)?;
        now = t;
        let v = ctx.velocity(case, &x)?;
        let factors = factors(&x, beta, softmax, ctx.claimed_constant(1.0));
        let rate: f64 = v.chunks_exact(d).zip(&factors).map(|(v, f)| f * dot(v, v)).sum();
        let total: f64 =
            (0..case.n).map(|i| (0..case.n).map(|j| weight(beta, &x, i, j)).sum::<f64>()).sum();
        integral += 0.5 * length * share * 2.0 * beta * rate / total;
    }
    x = ctx.flow_to_with_tolerance(&dynamics, &x, length - now, SYMMETRY_TOLERANCE)?;
    let change = energy.log_unit(&x) - before;
    Ok(Finding::identity((change - integral).abs(), CHANGE_ERROR * (1.0 + beta.abs())))
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
    let allowed = DIFFERENCE_ROUNDINGS
        * f64::EPSILON.powf(2.0 / 3.0)
        * scale.powi(2)
        * energy.log_scaled(x).exp();
    Ok(Finding::identity((found - 2.0 * case.beta * slope).abs(), allowed))
}
