//! Normalisation schemes: layers are steps of their flows.

use super::ln_curve::{SCHEMES, run};
use crate::attention::normalisation::Normalisation;
use crate::flow::apply_layers;
use crate::theorem::prelude::*;

/// Each trial tests one scheme.
///
/// # Derivation
///
/// Each layer is x -> x + eta f(t, x) + O(eta^2), f the field of its flow: normalising a vector x +
/// eta a gives x + eta P a + O(eta^2), addition gives r + eta `<x, a>` and x + eta P a/r in polar
/// form. Radii stay away from 0 and f is smooth there, so a layer is a consistent one-step method
/// of order 1: its error at depth T has an expansion eta e_1(T) + O(eta^2), with e_1 the solution
/// of the linear equation that the terms of order eta^2 drive.
/// Hence error(eta)/error(eta/2) = 2 + O(eta), and its logarithm to base 2 is 1 + O(eta); at eta =
/// 1/512 a deviation below 0.05 was observed unless e_1 almost vanishes, which the bound 1e-7
/// excludes.
pub static ENTRY: Claim = Claim {
    name: "ln-discrete",
    title: "Normalisation schemes: layers approach their flow at first order",
    then: "Layers of step eta of post, pre, peri, nGPT, CoD, LN scaling and mix, to depth 1/2, \
           differ from their flow by O(eta).",
    tested: "as: the order observed between eta = 1/512 and 1/1024 is 1 to 0.05, where the \
             differences exceed 1e-7",
    domain: Domain {
        n: Sizes::Range(2, 6),
        d: Sizes::Range(2, 4),
        beta: Betas::Linear(0.0, 3.0),
        ..Domain::LAYERED
    },
    narrower: "Q = K = V = I (the order is derived, the tolerance 0.05 is measured)",
    source: "arXiv:2510.22026, Section 2",
    trials: (8, 60),
    trial: |case, ctx| order(case, ctx, 1.0),
    constant: "the order",
    control: Control {
        what: "the order 2",
        trial: |ctx| order(&Case::new(4, 3, 1.0, "sa"), ctx, 2.0),
    },
    ..Claim::LAW
};

fn order(case: &Case, ctx: &mut Context, stated: f64) -> Result<Finding> {
    let scheme = SCHEMES[ctx.index(SCHEMES.len())];
    let x = ctx.tokens(case)?;
    let radii: Vec<f64> = (0..case.n).map(|_| ctx.log_uniform_in(0.7, 2.0)).collect();
    let flow = run(ctx, scheme, case.beta, x.clone(), &radii, 0.5)?;
    let start = if scheme.space().extra_per_token() > 0 { x.polar(&radii)? } else { x };
    let dynamics = Dynamics::single(Attention::new(case.beta)).with_normalisation(scheme);
    let off = |count: usize| -> Result<f64> {
        let eta = 0.5 / count as f64;
        let end = apply_layers(&dynamics, &start, Layer::new(eta)?, count, eta, None, &mut [])?.0;
        Ok(max_difference(end.numbers(), flow.numbers()))
    };
    let (coarse, fine) = (off(256)?, off(512)?);
    if fine < 1e-7 {
        return Ok(Finding::HypothesesMissed);
    }
    Ok(Finding::law((coarse / fine).log2(), ctx.claimed_constant(stated), 0.05, 0.0))
}
