//! Padding.

use super::block_collapse::{allowed, heads, tokens};
use crate::attention::pattern::{BiasTable, Everything};
use crate::theorem::prelude::*;

/// A row that is masked as a whole gets the output bias alone: no 0/0.
///
/// # Derivation
///
/// `e^{-infinity} = 0`: masked sources are in neither sum of the softmax. `e^{-1e9}` is 0 in double precision, beside any logit of a model.
/// A row without sources has no weights at all: its sum is empty, 0, and what stands after the output matrix is `b_o`.
pub static ENTRY: Claim = Claim {
    name: "pad-mask",
    title: "Padding that is masked is padding that is not there",
    statement: "Outputs of n tokens beside 3 padded ones that nobody sees (a mask, or a bias of -1e9) are those of the n tokens alone, \
                to what rounding allows (twice the bound of block-collapse); a query that sees nothing gets b_o.",
    domain: Domain { laws: &["normal"], ..Domain::BLOCKS },
    narrower: "normal weights, two heads, padding of zeros",
    citation: "Vaswani et al. 2017; derived",
    trials: (8, 60),
    trial: |case, ctx| padded(case, ctx, true),
    control: Control { what: "padding that is seen", trial: |ctx| padded(&Case::new(6, 4, 1.0, "sa"), ctx, false) },
    ..Claim::IDENTITY
};

const PADS: usize = 3;

fn padded(case: &Case, ctx: &mut Context, masked: bool) -> Result<Finding> {
    let (n, d, all) = (case.n, case.d, case.n + PADS);
    let mut of = heads(ctx, d, 1.0, Arc::new(Everything))?;
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
        worst = nan_max(worst, worst_share(&of.attend(&x, &x, false)?.out[..n * d], &alone, &both));
    }
    of.pattern = Arc::new(BiasTable::mask(all, all, &vec![false; all * all])?);
    let blind = of.attend(&x, &x, false)?.out;
    let nothing = blind.iter().enumerate().filter(|(k, v)| (**v - of.output.bias()[k % d]).abs() > 0.0 || v.is_nan()).count();
    // One that is not b_o to the bit is a failure.
    Ok(Finding::identity(worst + 2.0 * nothing as f64, 1.0))
}
