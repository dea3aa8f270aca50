//! Causal attention with time-dependent keys and queries collapses onto the first token.

use super::causal_limit::ends_at;
use crate::attention::scheduled::{Schedule, Scheduled};
use crate::theorem::prelude::*;

/// The weights may be any functions of time between two positive constants.
///
/// # Derivation
///
/// The proof of `causal-limit` uses the scores only through `A_kj(t) >= c > 0`, with c from
/// `|<x_k, A(t) x_j>| <= |A(t)|`. Where A(t) is bounded, so are the scores; c_k(t) is then a
/// measurable function between two positive constants, which changes the speed along
/// `<x_k, x_1>' = c_k(t) (1 - <x_k, x_1>^2) + o(1)` and along its linearisation at -x_1, not the
/// directions.
pub static ENTRY: Claim = Claim {
    name: "causal-limit-in-time",
    title: "Causal attention with time-dependent keys and queries: every token converges to x_1(0)",
    lets: "V = I, Q^T K = A(t) = A_0 cos wt + A_1 sin wt with w in [0.1, 2], beta >= 0 and d >= 2",
    then: "Under causal SA, x_k(t) tends to x_1(0) for all k, from almost every start.",
    tested: "as: a run that lasts as long as necessary ends with all tokens within 1e-6 of x_1(0)",
    domain: Domain {
        n: Sizes::Range(2, 12),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.01, 1.5),
        dynamics: &["causal-sa", "causal-usa"],
        corners: &[(8, 3, 1.0), (12, 2, 0.5)],
        ..Domain::ATTENTION
    },
    narrower: "A_0 and A_1 of Frobenius norm 1 (beta sets the size of the scores), one frequency \
               for all entries; beta <= 1.5",
    source: "arXiv:2412.02682 (consensus of causal attention with weights that depend on time); \
               derived",
    trials: (72, 300),
    trial: |case, ctx| collapses(case, ctx, 0),
    control: Control {
        what: "the limit x_2(0) instead",
        trial: |ctx| collapses(&Case::new(8, 3, 1.0, "causal-sa"), ctx, 1),
    },
    ..Claim::EVERY
};

/// `A_0 cos wt + A_1 sin wt` as the matrix of queries.
struct Turning {
    d: usize,
    ends: [Vec<f64>; 2],
    frequency: f64,
}

impl Schedule for Turning {
    fn heads(&self, t: f64) -> Vec<Head> {
        let (sin, cos) = (self.frequency * t).sin_cos();
        let now = self.ends[0].iter().zip(&self.ends[1]).map(|(a, b)| a * cos + b * sin).collect();
        // A square matrix by construction.
        Head::new(self.d, Some((self.d, now)), None, None).into_iter().collect()
    }

    fn has_identity_values(&self) -> bool {
        true
    }
}

fn collapses(case: &Case, ctx: &mut Context, target: usize) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let ends =
        [unit_matrix(ctx, case.d), unit_matrix(ctx, case.d)].map(|m| m.map_or(vec![], |m| m.1));
    let schedule = Turning { d: case.d, ends, frequency: ctx.log_uniform_in(0.1, 2.0) };
    let weights = if case.row_weights()? == RowWeights::Exponential {
        Weights::Exponential { log_factor: 0.0 }
    } else {
        Weights::Softmax
    };
    let attention = Attention { causal: true, weights, ..Attention::new(case.beta) };
    ends_at(&Dynamics::single(Scheduled { attention, schedule }), &x, target, ctx)
}
