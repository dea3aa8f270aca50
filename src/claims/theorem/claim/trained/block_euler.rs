//! The depth limit of whole blocks.

use super::block_collapse::{block, relative_difference, tokens};
use crate::attention::normalisation::Unnormalised;
use crate::attention::pattern::FullAttention;
use crate::theorem::prelude::*;
use crate::transformer::field::BlockField;

/// Trained models have steps of 1, which is far from this limit.
///
/// # Derivation
///
/// A layer of step eta is an Euler step of attention and then one of the feed-forward layer: a Lie
/// splitting of `x' = F(N x) + G(N x)`, which is of order 1. Half steps of attention around a whole
/// one of the feed-forward layer are a Strang splitting, of order 2 where each step itself is of
/// order 2: midpoint steps. With Euler steps inside it would be of order 1.
pub static ENTRY: Claim = Claim {
    name: "block-euler",
    title: "Pre-norm blocks: L layers of step 1/L approach the flow like C/L, symmetrised ones \
            like C/L^2",
    then: "Apply x <- x + eta F(N x) for attention and then for the feed-forward layer, 1/eta \
           times. The distance from the flow of x' = F(N x) + G(N x) at t = 1 is of order eta, \
           and of order eta^2 for the symmetrised block of midpoint steps.",
    tested: "as: from eta = 1/40 to 1/80 it is divided by 2 and by 4, to a tenth, in at least 90 \
             % of draws",
    domain: Domain {
        n: Sizes::Range(2, 6),
        d: Sizes::Fixed(4),
        laws: &["normal"],
        ..Domain::BLOCKS
    },
    narrower: "weights of size 0.5 / sqrt d, two heads, GELU; the orders are derived, the \
               tolerance of a tenth is observed; in a few draws the leading error nearly cancels",
    source: "arXiv:2312.10794, Section 2 (layers as time steps); Strang 1968",
    kind: Kind::Share(0.9),
    trials: (200, 600),
    trial: |case, ctx| order(case, ctx, [0.5, 0.25]),
    control: Control {
        what: "the two orders exchanged",
        trial: |ctx| order(&Case::new(4, 4, 1.0, "sa"), ctx, [0.25, 0.5]),
    },
    ..Claim::INEQUALITY
};

fn order(case: &Case, ctx: &mut Context, ratios: [f64; 2]) -> Result<Finding> {
    let block = Arc::new(block(ctx, case.d, 0.5, Arc::new(FullAttention))?);
    let x = tokens(ctx, case.n, case.d);
    let flow = Dynamics::single(BlockField::new(Arc::clone(&block), None))
        .with_normalisation(Unnormalised);
    let options = Options { rtol: 1e-11, merge_radius: 0.0, ..Options::default() };
    let end = solve(&flow, &Tokens::flat(case.d, x.clone())?, 1.0, &options, &mut [])?;
    if !end.outcome.end_state_is_known() {
        return Err(Error::Numerical { what: end.outcome.to_string() });
    }
    let exact = end.clusters.coordinates();
    let error = |layers: usize, symmetric: bool| -> Result<f64> {
        let (mut x, eta) = (x.clone(), 1.0 / layers as f64);
        for _ in 0..layers {
            x = if symmetric {
                block.symmetric_step(&x, None, eta)?
            } else {
                block.step(&x, None, eta)?
            };
        }
        Ok(relative_difference(&x, exact))
    };
    let [plain, symmetric] =
        [error(80, false)? / error(40, false)?, error(80, true)? / error(40, true)?];
    let worst = (plain / ratios[0] - 1.0).abs().max((symmetric / ratios[1] - 1.0).abs());
    Ok(Finding::answer(worst <= 0.1))
}
