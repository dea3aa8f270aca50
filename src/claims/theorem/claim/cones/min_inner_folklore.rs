//! The folklore version of the increasing minimum.

use super::min_inner;
use crate::theorem::prelude::*;

/// "In a hemisphere min_ij G_ij is nondecreasing." This is false: a heavy token can pull the two
/// others apart if their inner product is negative, for example at beta = 0 with inner products
/// -0.5, -0.4, -0.4 and masses 1/5, 1/5, 3/5.
///
/// # Derivation
///
/// With `beta = 0` the Gram equation gives `G_12' = 2 sum_k m_k (G_k2 - G_1k G_12)` for this
/// symmetric example, inner products `G_12 = -0.5`, `G_13 = G_23 = -0.4`, masses 1/5, 1/5, 3/5: k =
/// 2 gives `0.2 (1 - 0.25) = 0.15`, k = 3 gives `0.6 (-0.4 - 0.2) = -0.36`, so `G_12' = -0.42`.
/// Three independent vectors always lie in an open hemisphere.
pub static ENTRY: Claim = Claim {
    name: "min-inner-folklore",
    title: "min <x_i, x_j> increases in every hemisphere (folklore)",
    then: "If all tokens lie in an open hemisphere, min_ij <x_i, x_j> is nondecreasing.",
    domain: Domain {
        n: Sizes::Range(2, 12),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.01, 10.0),
        laws: &["hemisphere"],
        ..Domain::ATTENTION
    },
    narrower: "Q = K = I",
    source: "folklore; corrected by the claim min-inner",
    status: Status::Folklore,
    trials: (400, 1000),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        min_inner::derivative(case, &x, Head::default())
    },
    control: Control {
        what: "tokens in a cap of radius pi/4, where all inner products are nonnegative",
        trial: |ctx| {
            let case = Case::with_random_masses(6, 3, 1.0, "sa").with_law("cap:radius=0.785398");
            let x = ctx.tokens(&case)?;
            min_inner::derivative(&case, &x, Head::default())
        },
    },
    ..Claim::INEQUALITY
};
