//! Time reversal.

use super::rotation::{ALLOWED, SHARE, deviation};
use crate::attention::Variant;
use crate::theorem::prelude::*;

/// V = -I runs the flow backwards.
///
/// # Derivation
///
/// The velocity is linear in V and the weights do not depend on it, so with V = -I it is the negative: solutions run backwards.
pub static ENTRY: Claim = Claim {
    name: "time-reversal",
    title: "V = -I is the reversed flow",
    statement: "Flowing with V = I and then as long with V = -I returns to the start: deviation after one Lipschitz time of the velocity there and back, t = 1/L, at most 8e-13.",
    domain: Domain { dynamics: &["sa", "usa"], ..Domain::SYMMETRY },
    narrower: "Q = K = I",
    citation: "arXiv:2312.10794, section 9.1",
    trials: (30, 200),
    trial: |case, ctx| {
        let back = Variant { repulsive: true, ..case.variant()? };
        there_and_back(case, ctx, dynamics::of_variant(back)?.name)
    },
    perturbed: "the time of the way back",
    control: Control { what: "going back with USA", trial: |ctx| there_and_back(&Case::weighted(6, 3, 2.0, "sa"), ctx, "repulsive-usa") },
    ..Claim::IDENTITY
};

fn there_and_back(case: &Case, ctx: &mut Context, back: &'static str) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let t = 1.0 / case.lipschitz()?;
    let there = ctx.flowed_within(&case.build()?, &x, t, SHARE)?;
    let again = ctx.stated(t);
    let home = ctx.flowed_within(&Case { dynamics: back, ..*case }.build()?, &there, again, SHARE)?;
    Ok(Finding::identity(deviation(&x, &home), ALLOWED))
}
