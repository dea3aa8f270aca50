//! Rows that are divided by positive weights: the metric in which the flow is a gradient.

use super::setting::{DRAWN, any_interaction, positive_interaction, symmetric};
use crate::attention::interaction::{Interaction, InteractionAttention, InteractionEnergy, RowSum};
use crate::num::dense;
use crate::num::quadrature::gauss_legendre;
use crate::theorem::prelude::*;

const LARGEST_NORM: f64 = 0.99;
const CHANGE_ERROR: f64 = 1e-12;

/// # Derivation
///
/// By `interaction-gradient`, `grad_i E = m_i P_i sum_j m_j phi(<x_i, D x_j>) D x_j`, which is `m_i
/// Z_i x_i'`. So `x'` is the gradient in the metric `sum_i m_i Z_i(x) |u_i|^2`, which depends on
/// the point, and `dE/dt = sum_i m_i Z_i |x_i'|^2`, positive except at steady states. Only the sign
/// of `kappa` enters: `phi` may have any sign, and `kappa` need not be related to it.
///
/// In the round metric `sum_i m_i |u_i|^2` the flow is a gradient flow of some function only if the
/// form `sum_i m_i <x_i', dx_i>` is closed. It is for constant `kappa`, and for two tokens of equal
/// masses with `D = I`: there `Z_1 = Z_2` is a function of `s`, and so is the potential. For two
/// tokens of other masses closedness asks for `Z_1 = Z_2`, that is, for `kappa(s) = kappa(1)`.
pub static ENTRY: Claim = Claim {
    name: "interaction-dissipation",
    title: "Rows divided by any positive weights climb the energy of the interaction",
    lets: "`W' = phi` of any sign, `D` be symmetric, `kappa > 0`, `E = (1/2) sum_ij m_i m_j \
           W(<x_i, D x_j>)`, `Z_i = sum_j m_j kappa(<x_i, D x_j>)`, and `x_i' = (1/Z_i) P_i sum_j \
           m_j phi(<x_i, D x_j>) D x_j`",
    then: "`dE/dt = sum_i m_i Z_i |x_i'|^2`: the flow is the gradient flow of `E` in the metric \
           `sum_i m_i Z_i |u_i|^2`. In particular `kappa = phi > 0` are the normalised rows of SA.",
    tested: "by the change of `E` along the flow for the time `min kappa / (2 max |phi| + 4 max \
             |phi'| + 4 max |phi| max |kappa'/kappa|)`, against the integral of its rate, to \
             `{CHANGE_ERROR} (max |phi| + max |phi'|)`",
    numbers: &[("CHANGE_ERROR", CHANGE_ERROR), ("LARGEST_NORM", LARGEST_NORM)],
    domain: Domain {
        n: Sizes::Range(2, 16),
        d: Sizes::Range(2, 8),
        draws: "`phi`, `kappa` (a third of them `phi`), `D` of norm up to {LARGEST_NORM} (or `I`)",
        ..DRAWN
    },
    narrower: "interactions without kinks",
    source: "derived; arXiv:2312.10794, section 3.4, for the exponential",
    trials: (30, 200),
    trial: |case, ctx| along_the_flow(case, ctx, false),
    constant: "the exponent of `Z_i`",
    control: Control {
        what: "the rate `sum_i m_i |x_i'|^2` of the round metric, times the mean of `Z_i`",
        trial: |ctx| along_the_flow(&Case::with_random_masses(6, 3, 0.0, ""), ctx, true),
    },
    ..Claim::IDENTITY
};

/// What a trial draws.
struct Drawn {
    phi: Interaction,
    kappa: Interaction,
    /// D, the identity where there is none.
    form: Vec<f64>,
    energy: InteractionEnergy,
    flow: InteractionAttention,
}

fn draw(d: usize, ctx: &mut Context) -> Result<Drawn> {
    let kappa = positive_interaction(ctx)?;
    let (phi, flow) = if ctx.index(3) == 0 {
        (kappa.clone(), InteractionAttention::new(kappa.clone(), RowSum::Normalised)?)
    } else {
        let phi = any_interaction(ctx)?;
        (phi.clone(), InteractionAttention::with_row_weights(phi, kappa.clone())?)
    };
    let energy = InteractionEnergy::new(phi.clone());
    if ctx.index(3) == 0 {
        return Ok(Drawn { phi, kappa, form: dense::identity(d), energy, flow });
    }
    let values: Vec<f64> = (0..d).map(|_| ctx.uniform_in(-LARGEST_NORM, LARGEST_NORM)).collect();
    let form = symmetric(&values, &ctx.rotation(d));
    let energy = energy.with_form(d, (d, form.clone()))?;
    let flow = flow.with_form(d, (d, form.clone()))?;
    Ok(Drawn { phi, kappa, form, energy, flow })
}

/// A time in which velocities and row sums change by a factor of about 2: they change at most at
/// the rate `(max |phi| + 2 max |phi'|)/min kappa + 2 max |phi|/min kappa max |kappa'/kappa|`.
fn duration(phi: &Interaction, kappa: &Interaction) -> Result<f64> {
    let (size, slope) = phi.sizes();
    let (mut least, mut steepness) = (f64::INFINITY, 0.0f64);
    for k in 0..=64 {
        let s = f64::from(k) / 32.0 - 1.0;
        let value = kappa.value(s)?;
        least = nan_min(least, value);
        steepness = nan_max(steepness, (kappa.derivative(s)? / value).abs());
    }
    Ok(0.5 * least / (size + 2.0 * slope + 2.0 * size * steepness))
}

fn along_the_flow(case: &Case, ctx: &mut Context, is_round: bool) -> Result<Finding> {
    let (mut x, d) = (ctx.tokens(case)?, case.d);
    let Drawn { phi, kappa, form, energy, flow } = draw(d, ctx)?;
    let (flow, length) = (Dynamics::single(flow), duration(&phi, &kappa)?);
    let exponent = ctx.claimed_constant(1.0);
    let before = energy.value(&x);
    let (mut work, mut now) = (0.0, 0.0);
    for (node, weight) in gauss_legendre(10).into_iter().rev() {
        let t = 0.5 * length * (1.0 + node);
        x = ctx.flow_to_with_tolerance(&flow, &x, t - now, SYMMETRY_TOLERANCE)?;
        now = t;
        let mut image = vec![0.0; d];
        let mut row_sum = |own: &[f64]| -> Result<f64> {
            dense::mat_vec(&form, own, &mut image);
            let inner = |other: &[f64]| dot(&image, other).clamp(-1.0, 1.0);
            let terms =
                x.rows().zip(x.masses()).map(|(other, m)| Ok(m * kappa.value(inner(other))?));
            terms.sum()
        };
        let sums = x.rows().map(&mut row_sum).collect::<Result<Vec<f64>>>()?;
        let mean = dot(&sums, x.masses());
        let velocity = flow.velocity(&x);
        let rows = velocity.chunks_exact(d).zip(&sums).zip(x.masses());
        let rate: f64 = rows
            .map(|((v, z), m)| m * if is_round { mean } else { z.powf(exponent) } * dot(v, v))
            .sum();
        work += 0.5 * length * weight * rate;
    }
    x = ctx.flow_to_with_tolerance(&flow, &x, length - now, SYMMETRY_TOLERANCE)?;
    let change = energy.value(&x) - before;
    // A run has an error of 1e-13 at each of its ten ends; series have 1e-14 of the largest value.
    let (size, slope) = phi.sizes();
    Ok(Finding::identity((change - work).abs(), CHANGE_ERROR * (size + slope)))
}
