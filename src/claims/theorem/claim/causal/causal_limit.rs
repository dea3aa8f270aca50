//! Causal attention collapses onto the first token.

use crate::theorem::prelude::*;

/// arXiv:2411.04990, Theorem 4.1.
///
/// # Derivation
///
/// Token 1 sees only itself, and P_{x_1} x_1 = 0: it does not move. Let tokens 1 ... k-1 tend to
/// x_1. In `x_k' = P_{x_k} sum_{j<=k} A_kj x_j` the term j = k vanishes, the other weights are at
/// least some c > 0 (scores are bounded by beta |Q^T K|), and so x_k' = c_k(t) P_{x_k} x_1 + o(1)
/// with c_k >= c. Hence `<x_k, x_1>' = c_k (1 - <x_k, x_1>^2) + o(1)`, and x_k tends to x_1 or to
/// -x_1. At -x_1 the linearised field is c_k(t) times the identity plus o(1), as P_{x_k} x_1
/// vanishes there and the change of c_k drops out. Two solutions that stay near -x_1 for the same
/// tokens before them would separate exponentially: at most one start x_k leads there, a set of
/// measure 0, and by Fubini so do almost no starts of all tokens.
pub static ENTRY: Claim = Claim {
    name: "causal-limit",
    title: "Causal attention: every token converges to x_1(0)",
    lets: "V = I, beta >= 0, d >= 2, with any Q and K",
    then: "Under causal SA, x_k(t) tends to x_1(0) for all k, from almost every start.",
    tested: "as: a run that lasts as long as necessary ends with all tokens within 1e-6 of x_1(0)",
    domain: Domain {
        n: Sizes::Range(2, 32),
        d: Sizes::Range(2, 16),
        beta: Betas::Log(0.01, 8.0),
        dynamics: &["causal-sa", "causal-usa"],
        corners: &[(8, 3, 1.0), (12, 2, 0.5)],
        ..Domain::ATTENTION
    },
    narrower: "Q and K of Frobenius norm 1 (beta sets the size of the scores); beta <= 8, since \
               the slowest starts take times of order e^{2 beta}",
    source: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990, Theorem 4.1",
    trials: (72, 300),
    trial: |case, ctx| all_end_at(case, ctx, 0),
    control: Control {
        what: "the limit x_2(0) instead",
        trial: |ctx| all_end_at(&Case::with_random_masses(8, 3, 1.0, "causal-sa"), ctx, 1),
    },
    ..Claim::EVERY
};

fn all_end_at(case: &Case, ctx: &mut Context, target: usize) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let head = Head::new(case.d, unit_matrix(ctx, case.d), unit_matrix(ctx, case.d), None)?;
    let dynamics = dynamics::build(
        case.dynamics,
        false,
        &Spec { heads: vec![head], ..Spec::new(case.beta, case.n) },
    )?;
    ends_at(&dynamics, &x, target, ctx)
}

/// True if all tokens end within 1e-6 of the start of this token. Under a causal mask tokens never
/// merge; the run ends when all are within this radius of the first.
pub fn ends_at(
    dynamics: &Dynamics,
    x: &Tokens,
    target: usize,
    ctx: &mut Context,
) -> Result<Finding> {
    let options = Options {
        rtol: ctx.rtol(),
        merge_radius: 1e-6,
        stop_at_one_cluster: true,
        ..Options::default()
    };
    let end = solve(dynamics, x, 1e9, &options, &mut [])?;
    if !end.outcome.is_success() {
        return Ok(Finding::Unfinished(end.outcome.to_string()));
    }
    let furthest = end.clusters.rows().map(|r| dist(r, x.row(target))).fold(0.0, nan_max);
    Ok(Finding::answer(furthest <= 1.1e-6))
}
