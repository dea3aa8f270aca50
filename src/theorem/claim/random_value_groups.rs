//! Random values: many tokens end in two antipodal groups where antipodes attract.

use super::random_value_antipodal::LAYERS;
use super::{Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Sizes, Status};
use crate::attention::random_values::RandomValues;
use crate::error::Result;

/// For two tokens this is `random-value-antipodal`; for many it is seen, not proved.
///
/// # Derivation
///
/// Not a proof. At a configuration of two opposite groups the distance of a token from its group, and that of the groups from being opposite, are pairs near consensus and near antipodes: both decay in the mean of their logarithms above
/// the threshold (`random-value-consensus`, `random-value-antipodal`, with the weights of the groups). That all starts come near one is what is counted here.
pub static ENTRY: Claim = Claim {
    name: "random-value-groups",
    title: "Random values above the antipodal threshold: all tokens end on one axis",
    statement: "n = 8 uniform tokens of S^2, x_i+ = N(x_i + eta V m_i), V fresh with normal entries of variance 1/3, m_i the softmax mean at beta >= 1 (threshold 0 for d = 3), eta = 1/4: after 800 layers (t = 50) all |<x_i, x_j>| are at least 0.99, in 2 of 5 starts at least.",
    domain: Domain { n: Sizes::Fixed(8), d: Sizes::Fixed(3), beta: Betas::Linear(1.0, 3.0), corners: &[], ..LAYERS },
    narrower: "n = 8, d = 3",
    citation: "arXiv:2601.21942 (abstract; many tokens observed)",
    status: Status::Observation,
    kind: Kind::Share(0.4),
    trials: (48, 300),
    trial: |case, ctx| on_one_axis(case, ctx, 800),
    perturbed: "",
    control: Control { what: "after 20 layers", trial: |ctx| on_one_axis(&Case::new(8, 3, 1.0, "random layers"), ctx, 20) },
    proof: None,
};

fn on_one_axis(case: &Case, ctx: &mut Context, layers: usize) -> Result<Finding> {
    let (mut x, layer) = (ctx.tokens(case)?, RandomValues::new(case.beta, 0.25)?);
    (0..layers).for_each(|_| layer.apply(&mut x, ctx.chance()));
    let apart = |i: usize| (0..i).all(|j| x.inner(i, j).abs() >= 0.99);
    Ok(Finding::yes((0..case.n).all(apart)))
}
