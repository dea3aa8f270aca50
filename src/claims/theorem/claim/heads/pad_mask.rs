//! Padding.

use super::super::trained::block_collapse::{allowed, heads, tokens};
use crate::attention::pattern::{BiasTable, FullAttention};
use crate::theorem::prelude::*;

/// If all keys of a row are masked, its output is the output bias, without 0/0.
///
/// # Derivation
///
/// `e^{-infinity} = 0`: masked keys contribute to neither sum of the softmax. `e^{-1e9}` is 0 in
/// double precision, compared with any logit of a model. A row without visible keys has an empty
/// sum, 0, so the output is `b_o`.
pub static ENTRY: Claim = Claim {
    name: "pad-mask",
    title: "Masked padding has the effect of no padding",
    then: "The outputs of n tokens together with 3 padding tokens that are not visible (by a \
           mask, or a bias of -1e9) are those of the n tokens alone, tested to twice the bound of \
           block-collapse. A query without visible keys has the output b_o.",
    domain: Domain { laws: &["normal"], ..Domain::BLOCKS },
    narrower: "normal weights, two heads, padding of zeros",
    source: "Vaswani et al. 2017; derived",
    trials: (8, 60),
    trial: |case, ctx| change_by_padding(case, ctx, true),
    control: Control {
        what: "visible padding",
        trial: |ctx| change_by_padding(&Case::new(6, 4, 1.0, "sa"), ctx, false),
    },
    ..Claim::IDENTITY
};

/// Number of appended padding tokens.
const PADS: usize = 3;

fn change_by_padding(case: &Case, ctx: &mut Context, masked: bool) -> Result<Finding> {
    let (n, d, all) = (case.n, case.d, case.n + PADS);
    let mut of = heads(ctx, d, 1.0, Arc::new(FullAttention))?;
    let mut x = tokens(ctx, n, d);
    let alone = of.attend(&x, &x, false)?.out;
    let both: Vec<f64> = allowed(&of, &x).iter().map(|a| 2.0 * a).collect();
    x.extend(vec![0.0; PADS * d]);
    let mut worst = 0.0f64;
    for low in [f64::NEG_INFINITY, -1e9] {
        if masked {
            let biases = (0..all * all).map(|k| if k % all < n { 0.0 } else { low }).collect();
            of.pattern = Arc::new(BiasTable::biases(all, all, biases)?);
        }
        worst = nan_max(
            worst,
            max_relative_deviation(&of.attend(&x, &x, false)?.out[..n * d], &alone, &both),
        );
    }
    of.pattern = Arc::new(BiasTable::mask(all, all, &vec![false; all * all])?);
    let blind = of.attend(&x, &x, false)?.out;
    let nothing = blind
        .iter()
        .enumerate()
        .filter(|(k, v)| (**v - of.output.bias()[k % d]).abs() > 0.0 || v.is_nan())
        .count();
    // It must equal b_o bit for bit.
    Ok(Finding::identity(worst + 2.0 * nothing as f64, 1.0))
}
