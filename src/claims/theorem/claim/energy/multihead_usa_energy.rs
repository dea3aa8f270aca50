//! Several heads: USA increases the sum of their energies.

use crate::attention::multi_head::MultiHead;
use crate::sphere::geometry::exp;
use crate::theorem::prelude::*;

/// The range for three heads with `Q^T K = V = B_h` symmetric.
pub(crate) const HEADS: Domain = Domain {
    n: Sizes::Range(3, 12),
    d: Sizes::Range(2, 5),
    beta: Betas::Log(0.2, 3.0),
    dynamics: &["usa"],
    ..Domain::ATTENTION
};

/// The gradient of `E_h` with respect to x_i is `m_i sum_j m_j e^{beta <x_i, B_h x_j>} B_h x_j`.
///
/// # Derivation
///
/// For symmetric `B_h` the derivative of `E_h` with respect to `x_i` is
/// `m_i sum_j m_j e^{beta <x_i, B_h x_j>} B_h x_j`: both occurrences of `x_i` in the double sum
/// contribute the same. This is `m_i` times the output of head h for token i. Summed over heads and
/// projected, `grad_i E = m_i x_i'`, so `dE/dt = sum_i m_i |x_i'|^2`. SA divides each head by its
/// own row sum, so there is no common factor (`multihead-sa-energy-folklore`).
pub static ENTRY: Claim = Claim {
    name: "multihead-usa-energy",
    title: "Several heads: dE/dt = sum_i m_i |x_i'|^2 for USA, with E the sum over heads",
    lets: "Q_h^T K_h = V_h = B_h be symmetric for three heads, and E = sum_h (1/(2 beta)) sum_ij \
           m_i m_j e^{beta <x_i, B_h x_j>}",
    then: "Under USA, dE/dt = sum_i m_i |x_i'|^2. Tested with central differences of E along \
           geodesics of lengths h = 1e-4 and 2e-4 (Richardson). The tolerance is the sum of 1e-6 \
           of dE/dt, 24 eps (1 + beta max |B_h|)/h of E max |x_i'| for rounding, and h^4/30 (2 (1 \
           + beta max |B_h|))^5 of E max |x_i'| for the fifth derivative, with Frobenius norms.",
    domain: HEADS,
    narrower: "normal B_h of size about 1",
    source: "derived (gradient flow of the total energy); arXiv:2605.04279 (abstract)",
    trials: (24, 200),
    trial: |case, ctx| {
        let b = random_forms(case, ctx, 3);
        dissipation(case, ctx, &b, 1.0)
    },
    constant: "sum m_i |x_i'|^2",
    control: Control {
        what: "V_h = 2 B_h",
        trial: |ctx| {
            let case = Case::with_random_masses(6, 3, 1.0, "usa");
            let b = random_forms(&case, ctx, 3);
            dissipation(&case, ctx, &b, 2.0)
        },
    },
    ..Claim::IDENTITY
};

/// Symmetric normal matrices.
pub(crate) fn random_forms(case: &Case, ctx: &mut Context, heads: usize) -> Vec<Vec<f64>> {
    let d = case.d;
    let draw = |ctx: &mut Context| {
        let g = ctx.normals(d * d);
        (0..d * d).map(|k| (g[k] + g[(k % d) * d + k / d]) / (2.0 * d as f64).sqrt()).collect()
    };
    (0..heads).map(|_| draw(ctx)).collect()
}

/// SA or USA with these heads, V_h a multiple of B_h.
pub(crate) fn heads(
    beta: f64,
    d: usize,
    b: &[Vec<f64>],
    weights: Weights,
    value: f64,
) -> Result<Dynamics> {
    let head = |b: &Vec<f64>| {
        Head::new(d, Some((d, b.clone())), None, Some((d, b.iter().map(|v| value * v).collect())))
    };
    let heads = b.iter().map(head).collect::<Result<Vec<_>>>()?;
    Ok(Dynamics::single(MultiHead::new(beta, heads)?.with_weights(weights)))
}

/// The energy of one head.
pub(crate) fn energy(beta: f64, b: &[f64], x: &Tokens) -> f64 {
    let images: Vec<Vec<f64>> = x.rows().map(|r| mul(b, r, 1)).collect();
    let m = x.masses();
    let pair = |i: usize, j: usize| m[i] * m[j] * (beta * dot(x.row(i), &images[j])).exp();
    (0..x.n()).map(|i| (0..x.n()).map(|j| pair(i, j)).sum::<f64>()).sum::<f64>() / (2.0 * beta)
}

/// The derivative of the energy of one head along velocities.
pub(crate) fn energy_derivative(beta: f64, b: &[f64], x: &Tokens, v: &[f64]) -> f64 {
    let d = x.d();
    let images: Vec<Vec<f64>> = x.rows().map(|r| mul(b, r, 1)).collect();
    let m = x.masses();
    let pair = |i: usize, j: usize| {
        m[i] * m[j]
            * (beta * dot(x.row(i), &images[j])).exp()
            * dot(&v[i * d..(i + 1) * d], &images[j])
    };
    (0..x.n()).map(|i| (0..x.n()).map(|j| pair(i, j)).sum::<f64>()).sum()
}

fn dissipation(case: &Case, ctx: &mut Context, b: &[Vec<f64>], value: f64) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let d = case.d;
    let v = heads(case.beta, d, b, Weights::Exponential { log_factor: 0.0 }, value)?.velocity(&x);
    let fastest = max_norm(&v, d);
    let step = 1e-4 / fastest;
    let total = |steps: f64| -> Result<f64> {
        let moved = x
            .rows()
            .zip(v.chunks_exact(d))
            .flat_map(|(x, v)| exp(x, &v.iter().map(|v| steps * step * v).collect::<Vec<_>>()))
            .collect();
        let moved = Tokens::normalised(d, moved)?.with_masses(x.masses())?;
        Ok(b.iter().map(|b| energy(case.beta, b, &moved)).sum())
    };
    let slope =
        |steps: f64| -> Result<f64> { Ok((total(steps)? - total(-steps)?) / (2.0 * steps * step)) };
    // The error of one difference is the third derivative times the squared step, which near a
    // critical point is not small against dE/dt.
    let found = (4.0 * slope(1.0)? - slope(2.0)?) / 3.0;
    let stated: f64 = v.chunks_exact(d).zip(x.masses()).map(|(v, m)| m * dot(v, v)).sum();
    let stated = ctx.claimed_constant(stated);
    // The differences have the weights 4/3 and 1/3; the relative error of E is some 16 eps (1 +
    // beta |B|).
    let strength = b.iter().map(|b| norm(b)).fold(0.0, f64::max);
    let scale = fastest * total(0.0)?;
    let rounding = 24.0 * f64::EPSILON * (1.0 + case.beta * strength) / 1e-4;
    // Richardson's rule has the error h^4/30 times the fifth derivative; each derivative of an
    // exponential along a path of unit speed multiplies it by at most 2 (1 + beta |B|).
    let bent = 1e-16 / 30.0 * (2.0 * (1.0 + case.beta * strength)).powi(5);
    Ok(Finding::identity((found - stated).abs(), 1e-6 * stated + (rounding + bent) * scale))
}
