//! Tokens in R^d: the equation of the rescaled tokens.

use crate::attention::{Matrix, model::Model};
use crate::num::dense::exponential;
use crate::theorem::prelude::*;

/// x and z = e^{-tV} x are integrated independently and compared.
///
/// # Derivation
///
/// z' = -V z + e^{-tV} x'. The matrices V and e^{-tV} commute, so e^{-tV} sum_j A_ij V x_j = sum_j
/// A_ij V z_j, and as the rows of A sum to one V z_i = sum_j A_ij V z_i. Together z_i' = sum_j A_ij
/// V (z_j - z_i). The scores are those of x = e^{tV} z, `beta <e^{tV} z_i, e^{tV} z_j>`.
pub static ENTRY: Claim = Claim {
    name: "rd-rescaling",
    title: "R^d: e^{-tV} x solves the rescaled equation",
    lets: "x_i' = sum_j A_ij V x_j in R^d with scores beta <x_i, x_j>",
    then: "Then z = e^{-tV} x solves z_i' = sum_j A_ij V (z_j - z_i) with scores beta <e^{tV} \
           z_i, e^{tV} z_j>.",
    tested: "as: both equations, integrated to t <= 3 for normal tokens and a normal V of norm \
             about 1/2, agree to 1e-8 of the largest token",
    domain: Domain::FLAT,
    narrower: "Q = K = I",
    source: "arXiv:2305.05465, Section 2",
    trials: (10, 60),
    trial: |case, ctx| deviation(case, ctx, 1.0),
    constant: "the time in e^{-tV}",
    control: Control {
        what: "e^{tV} instead of e^{-tV}",
        trial: |ctx| deviation(&Case::with_random_masses(5, 2, 1.0, "sa"), ctx, -1.0),
    },
    ..Claim::IDENTITY
};

/// Points of R^d from normal numbers, with the masses of the case.
pub(crate) fn points(case: &Case, ctx: &mut Context) -> Result<Tokens> {
    let x = Tokens::flat(case.d, ctx.normals(case.n * case.d))?;
    match case.masses {
        Masses::Equal => Ok(x),
        Masses::Random => x.with_masses(&ctx.masses(case.n)),
    }
}

/// Attention in R^d with these Q and V, for x or (if `rescaled`) for z.
pub(crate) fn attention(
    beta: f64,
    n: usize,
    d: usize,
    q: Option<Matrix>,
    v: Option<Matrix>,
    rescaled: bool,
) -> Result<Dynamics> {
    let model = Model {
        normalisation: (!rescaled).then(|| "none".into()),
        rescaled,
        heads: vec![[q, None, v, None]],
        ..Model::default()
    };
    model.build("sa", false, &Spec::new(beta, n), d)
}

/// Tokens of R^d after time t, at a multiple of the context's tolerance.
pub(crate) fn evolve(
    ctx: &mut Context,
    dynamics: &Dynamics,
    x: &Tokens,
    t: f64,
    share: f64,
) -> Result<Tokens> {
    let options = Options { rtol: ctx.rtol() * share, merge_radius: 0.0, ..Options::default() };
    let end = solve(dynamics, x, t, &options, &mut [])?;
    if end.outcome.end_state_is_known() {
        Ok(end.clusters)
    } else {
        Err(Error::Numerical { what: end.outcome.to_string() })
    }
}

fn deviation(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = points(case, ctx)?;
    let v: Vec<f64> = ctx.normals(d * d).iter().map(|g| 0.5 * g / (d as f64).sqrt()).collect();
    let t = ctx.uniform_in(0.5, 3.0);
    let plain =
        evolve(ctx, &attention(case.beta, n, d, None, Some((d, v.clone())), false)?, &x, t, 1e-3)?;
    let rescaled =
        evolve(ctx, &attention(case.beta, n, d, None, Some((d, v.clone())), true)?, &x, t, 1e-3)?;
    let t = sign * ctx.claimed_constant(t);
    let growth = exponential(&v.iter().map(|v| -t * v).collect::<Vec<_>>(), d);
    let size = x.numbers().iter().chain(rescaled.numbers()).fold(0.0f64, |m, v| m.max(v.abs()));
    let off = (0..n)
        .flat_map(|i| mul(&growth, plain.row(i), 1))
        .zip(rescaled.numbers())
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, nan_max);
    Ok(Finding::identity(off, 1e-8 * size))
}
