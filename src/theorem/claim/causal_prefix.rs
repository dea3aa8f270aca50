//! The prefix property.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::error::Result;
use crate::sphere::Tokens;
use crate::theorem::conformance::velocity;

/// Under a causal mask the first tokens do not see the later ones.
pub static ENTRY: Claim = Claim {
    name: "causal-prefix",
    title: "Causal attention: the prefix property",
    statement: "The velocities of x_1, ..., x_k do not depend on x_{k+1}, ..., x_n: bit for bit, and the first token stands still.",
    hypotheses: "causal mask, V = I",
    applies: |case| case.dynamics.starts_with("causal"),
    citation: "arXiv:2411.04990, section 2",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 3, 2.0, "causal-sa"), Case::new(6, 3, 1.0, "causal-usa"), Case::new(40, 8, 5.0, "causal-sa")],
    quick: 3,
    trials: (5, 40),
    trial: |case, ctx| differing(case, ctx),
    control: Control { what: "SA without mask", trial: |ctx| differing(&Case::new(6, 3, 2.0, "sa"), ctx) },
};

fn differing(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let x = ctx.tokens(case, "uniform")?;
    let k = 1 + ctx.stream.index(case.n - 1);
    let dynamics = case.build()?;
    // The masses of the prefix are kept, not renormalised: they belong to the tokens.
    let prefix = Tokens::from_parts(case.d, x.coordinates()[..k * case.d].to_vec(), x.masses()[..k].to_vec());
    let (long, short) = (velocity(dynamics.as_ref(), &x), velocity(dynamics.as_ref(), &prefix));
    let bits = short.iter().zip(&long).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
    let first = long[..case.d].iter().filter(|v| **v != 0.0).count();
    Ok(Finding::exact(0.5 - (bits + first) as f64))
}
