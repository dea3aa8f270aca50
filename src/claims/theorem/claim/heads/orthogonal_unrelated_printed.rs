//! "Orthogonal words are unrelated."

use super::temperature_limits::row;
use crate::theorem::prelude::*;

/// This is false: an orthogonal token has the weight 1/(1 + e^beta), in every dimension.
pub static ENTRY: Claim = Claim {
    name: "orthogonal-unrelated-printed",
    title: "Orthogonal tokens have no weight on each other (as printed)",
    lets: "x_1 and x_2 be orthonormal in R^d and beta <= 4",
    then: "Then A_12 <= 1/100.",
    domain: Domain {
        n: Sizes::Fixed(2),
        beta: Betas::Log(0.01, 4.0),
        laws: &["orthonormal"],
        ..Domain::SCORED
    },
    source: "a survey of sequence models",
    status: Status::Misprinted,
    trials: (4, 30),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        Ok(Finding::at_most(row(&x, 0, case.beta)[1], 0.01))
    },
    control: Control {
        what: "beta = 30",
        trial: |ctx| {
            let x =
                ctx.tokens(&Case::new(2, 3, 30.0, "softmax weights").with_law("orthonormal"))?;
            Ok(Finding::at_most(row(&x, 0, 30.0)[1], 0.01))
        },
    },
    ..Claim::INEQUALITY
};
