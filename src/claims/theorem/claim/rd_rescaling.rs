//! Tokens in R^d: what `e^{-tV} x` does.

use crate::attention::{Matrix, model::Model};
use crate::num::dense::exponential;
use crate::theorem::prelude::*;

/// Two integrations, of x and of z.
///
/// # Derivation
///
/// z' = -V z + e^{-tV} x'. The matrices V and e^{-tV} commute, so e^{-tV} sum_j A_ij V x_j = sum_j A_ij V z_j, and as the rows of A sum
/// to one V z_i = sum_j A_ij V z_i. Together z_i' = sum_j A_ij V (z_j - z_i). The scores are those of x = e^{tV} z, `beta <e^{tV} z_i,
/// e^{tV} z_j>`.
pub static ENTRY: Claim = Claim {
    name: "rd-rescaling",
    title: "R^d: e^{-tV} x solves the rescaled equation",
    statement: "x_i' = sum_j A_ij V x_j with scores beta <x_i, x_j> in R^d: z = e^{-tV} x solves z_i' = sum_j A_ij V (z_j - z_i) with scores beta <e^{tV} z_i, e^{tV} z_j>. Both integrated to t <= 3, normal tokens, \
                normal V of norm about 1/2: they agree to 1e-8 of the largest token.",
    domain: Domain::FLAT,
    narrower: "Q = K = I",
    citation: "arXiv:2305.05465, Section 2",
    trials: (10, 60),
    trial: |case, ctx| deviation(case, ctx, 1.0),
    perturbed: "the time in e^{-tV}",
    control: Control { what: "e^{tV} in place of e^{-tV}", trial: |ctx| deviation(&Case::weighted(5, 2, 1.0, "sa"), ctx, -1.0) },
    ..Claim::IDENTITY
};

/// Points of R^d from normals, with the masses of the case.
pub(super) fn points(case: &Case, ctx: &mut Context) -> Result<Tokens> {
    let x = Tokens::flat(case.d, ctx.normals(case.n * case.d))?;
    match case.masses {
        Masses::Equal => Ok(x),
        Masses::Random => x.with_masses(&ctx.masses(case.n)),
    }
}

/// Attention of R^d with these Q and V, of x or (rescaled) of z.
pub(super) fn attention(beta: f64, n: usize, d: usize, q: Option<Matrix>, v: Option<Matrix>, rescaled: bool) -> Result<Dynamics> {
    let model = Model { normalisation: (!rescaled).then(|| "none".into()), rescaled, heads: vec![[q, None, v, None]], ..Model::default() };
    model.build("sa", false, &Spec::new(beta, n), d)
}

/// Tokens of R^d after time t at a share of the context's tolerance.
pub(super) fn flowed(ctx: &mut Context, dynamics: &Dynamics, x: &Tokens, t: f64, share: f64) -> Result<Tokens> {
    let options = Options { rtol: ctx.rtol() * share, merge_radius: 0.0, ..Options::default() };
    let end = solve(dynamics, x, t, &options, &mut [])?;
    if end.outcome.lasts() { Ok(end.clusters) } else { Err(Error::Numerical { what: end.outcome.to_string() }) }
}

fn deviation(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = points(case, ctx)?;
    let v: Vec<f64> = ctx.normals(d * d).iter().map(|g| 0.5 * g / (d as f64).sqrt()).collect();
    let t = ctx.uniform_in(0.5, 3.0);
    let plain = flowed(ctx, &attention(case.beta, n, d, None, Some((d, v.clone())), false)?, &x, t, 1e-3)?;
    let rescaled = flowed(ctx, &attention(case.beta, n, d, None, Some((d, v.clone())), true)?, &x, t, 1e-3)?;
    let t = sign * ctx.stated(t);
    let growth = exponential(&v.iter().map(|v| -t * v).collect::<Vec<_>>(), d);
    let size = x.numbers().iter().chain(rescaled.numbers()).fold(0.0f64, |m, v| m.max(v.abs()));
    let off = (0..n).flat_map(|i| mul(&growth, plain.row(i), 1)).zip(rescaled.numbers()).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max);
    Ok(Finding::identity(off, 1e-8 * size))
}
