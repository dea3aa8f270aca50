//! Rotary positions depend only on distances.

use super::super::trained::block_collapse::{allowed, heads, tokens};
use crate::attention::pattern::{Pairs, Rotary};
use crate::theorem::prelude::*;

/// Both ways of pairing coordinates are tested.
///
/// # Derivation
///
/// `<R(p_i) q, R(p_j) k> = <q, R(p_j - p_i) k>`, as rotations of a pair commute.
pub static ENTRY: Claim = Claim {
    name: "rope-shift",
    title: "Rotary positions: a shift of all positions does not change the output",
    then: "Attention under rotary positions (base 100; adjacent pairs or halves) does not change \
           if all positions increase by c, 1 <= c <= 10000.",
    tested: "to twice the bound of block-collapse; cosines and sines have an error of 2^-52 at \
             every position",
    domain: Domain { laws: &["normal"], ..Domain::BLOCKS },
    narrower: "normal weights, two heads",
    source: "Su et al. 2021 (arXiv:2104.09864)",
    trials: (8, 60),
    trial: |case, ctx| shifted(case, ctx, true),
    control: Control {
        what: "positions in reverse order",
        trial: |ctx| shifted(&Case::new(6, 8, 1.0, "sa"), ctx, false),
    },
    ..Claim::IDENTITY
};

fn shifted(case: &Case, ctx: &mut Context, shift: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let pairs = [Pairs::Adjacent, Pairs::Halves][ctx.index(2)];
    let rotary = Rotary::new(100.0, pairs, d / 2)?;
    let mut of = heads(ctx, d, 1.0, Arc::new(rotary.clone()))?;
    let (x, c) = (tokens(ctx, n, d), 1 + ctx.index(10_000));
    let out = of.attend(&x, &x, false)?.out;
    let reversed = |x: &[f64]| -> Vec<f64> { x.chunks_exact(d).rev().flatten().copied().collect() };
    let other = if shift {
        of.pattern = Arc::new(rotary.starting_at(c as u64));
        of.attend(&x, &x, false)?.out
    } else {
        let y = reversed(&x);
        reversed(&of.attend(&y, &y, false)?.out)
    };
    // Rotation of a pair of coordinates preserves its length, so the norms of queries and keys are
    // unchanged.
    let both: Vec<f64> = allowed(&of, &x).iter().map(|a| 2.0 * a).collect();
    Ok(Finding::identity(max_relative_deviation(&other, &out, &both), 1.0))
}
