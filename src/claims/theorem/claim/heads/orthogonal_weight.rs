//! The weight of an orthogonal token.

use super::temperature_limits::row;
use crate::theorem::prelude::*;

/// An inner product of 0 is not a weight of 0.
pub static ENTRY: Claim = Claim {
    name: "orthogonal-weight",
    title: "Two orthogonal tokens: A_12 = 1/(1 + e^beta)",
    lets: "x_1 and x_2 be orthonormal in R^d",
    then: "Softmax gives A_12 = 1/(1 + e^beta), which is 1/2 at beta = 0.",
    tested: "to a relative 1e-14 (1 + beta)",
    domain: Domain {
        n: Sizes::Fixed(2),
        beta: Betas::Log(0.01, 30.0),
        laws: &["orthonormal"],
        ..Domain::SCORED
    },
    source: "arXiv:2312.10794, (2.3)",
    trials: (8, 60),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        let stated = 1.0 / (1.0 + case.beta.exp());
        Ok(Finding::identity(
            (row(&x, 0, case.beta)[1] / stated - 1.0).abs(),
            1e-14 * (1.0 + case.beta),
        ))
    },
    control: Control {
        what: "the weight 0",
        trial: |ctx| {
            let x = ctx.tokens(&Case::new(2, 3, 1.0, "softmax weights").with_law("orthonormal"))?;
            Ok(Finding::identity(row(&x, 0, 1.0)[1], 1e-14))
        },
    },
    ..Claim::IDENTITY
};
