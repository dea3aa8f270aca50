//! Biases of keys do nothing, biases of values shift.

use super::block_collapse::{allowed, heads, tokens};
use crate::attention::pattern::Everything;
use crate::theorem::prelude::*;
use crate::transformer::{Linear, Projected};

/// Both of the softmax and of its rows' sums.
///
/// # Derivation
///
/// A change c of `b_k` adds `<q_i, c>` to all logits of row i: the softmax does not see it. A change c of `b_v` adds `sum_j P_ij c = c` to every value's mean.
pub static ENTRY: Claim = Claim {
    name: "key-bias",
    title: "Trained heads: biases of keys do nothing, biases of values shift all tokens alike",
    statement: "Adding any vector to b_k changes no output, and adding c to b_v changes every output by W_o c, \
                both to what rounding allows before and after (twice the bound of block-collapse, of which the sizes know what cancels).",
    domain: Domain { laws: &["normal"], ..Domain::BLOCKS },
    narrower: "normal weights and biases, two heads",
    citation: "derived; Vaswani et al. 2017",
    trials: (8, 60),
    trial: |case, ctx| shifted(case, ctx, 1),
    control: Control { what: "the bias of queries", trial: |ctx| shifted(&Case::new(6, 4, 1.0, "sa"), ctx, 0) },
    ..Claim::IDENTITY
};

fn shifted(case: &Case, ctx: &mut Context, which: usize) -> Result<Finding> {
    let of = heads(ctx, case.d, 1.0, Arc::new(Everything))?;
    let (x, by, value) = (tokens(ctx, case.n, case.d), ctx.normals(case.d), ctx.normals(case.d));
    let before = of.attend(&x, &x, false)?.out;
    let moved = |l: &Linear, by: &[f64]| {
        let bias = l.bias().iter().zip(by).map(|(b, c)| b + c).collect();
        Linear::new("map", case.d, l.weight(), bias)
    };
    let other = Projected {
        query: if which == 0 { moved(&of.query, &by)? } else { of.query.clone() },
        key: if which == 1 { moved(&of.key, &by)? } else { of.key.clone() },
        value: moved(&of.value, &value)?,
        ..of.clone()
    };
    let shift = of.output.jvp(&value);
    let expected: Vec<f64> = before.iter().enumerate().map(|(k, v)| v + shift[k % case.d]).collect();
    // The shift is the difference of the values after and before, so that both bounds cover its rounding too.
    let both: Vec<f64> = allowed(&of, &x).iter().zip(allowed(&other, &x)).map(|(a, b)| a + b).collect();
    Ok(Finding::identity(worst_share(&other.attend(&x, &x, false)?.out, &expected, &both), 1.0))
}
