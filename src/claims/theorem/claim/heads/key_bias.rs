//! Biases of keys have no effect, biases of values shift the outputs.

use super::super::trained::block_collapse::{allowed, heads, tokens};
use crate::attention::pattern::FullAttention;
use crate::theorem::prelude::*;
use crate::transformer::{AttentionLayer, Linear};

/// This follows from the shift invariance of softmax and from rows that sum to 1.
///
/// # Derivation
///
/// A change c of `b_k` adds `<q_i, c>` to all logits of row i, which the softmax does not change
/// under. A change c of `b_v` adds `sum_j P_ij c = c` to every mean of values.
pub static ENTRY: Claim = Claim {
    name: "key-bias",
    title: "Trained heads: biases of keys have no effect, biases of values shift all outputs alike",
    then: "Adding any vector to b_k changes no output, and adding c to b_v changes every output \
           by W_o c.",
    tested: "to twice the rounding bound of block-collapse, before and after the change",
    domain: Domain { laws: &["normal"], ..Domain::BLOCKS },
    narrower: "normal weights and biases, two heads",
    source: "derived; Vaswani et al. 2017",
    trials: (8, 60),
    trial: |case, ctx| shifted(case, ctx, 1),
    control: Control {
        what: "the bias of queries",
        trial: |ctx| shifted(&Case::new(6, 4, 1.0, "sa"), ctx, 0),
    },
    ..Claim::IDENTITY
};

fn shifted(case: &Case, ctx: &mut Context, which: usize) -> Result<Finding> {
    let of = heads(ctx, case.d, 1.0, Arc::new(FullAttention))?;
    let (x, by, value) = (tokens(ctx, case.n, case.d), ctx.normals(case.d), ctx.normals(case.d));
    let before = of.attend(&x, &x, false)?.out;
    let moved = |l: &Linear, by: &[f64]| {
        let bias = l.bias().iter().zip(by).map(|(b, c)| b + c).collect();
        Linear::new("map", case.d, l.weight(), bias)
    };
    let other = AttentionLayer {
        query: if which == 0 { moved(&of.query, &by)? } else { of.query.clone() },
        key: if which == 1 { moved(&of.key, &by)? } else { of.key.clone() },
        value: moved(&of.value, &value)?,
        ..of.clone()
    };
    let shift = of.output.jvp(&value);
    let expected: Vec<f64> =
        before.iter().enumerate().map(|(k, v)| v + shift[k % case.d]).collect();
    // The shift is the difference of the values after and before, so that the two bounds also cover
    // its rounding.
    let both: Vec<f64> =
        allowed(&of, &x).iter().zip(allowed(&other, &x)).map(|(a, b)| a + b).collect();
    Ok(Finding::identity(
        max_relative_deviation(&other.attend(&x, &x, false)?.out, &expected, &both),
        1.0,
    ))
}
