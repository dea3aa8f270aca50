//! "Tokens align when one positive eigenvalue dominates."

use super::bipartite_spectrum::{SYMMETRIC, with_diagonal};
use crate::theorem::prelude::*;

/// Starts on both sides end as two antipodal clusters, which are stable. If all `<x_i, xi> > 0`,
/// the statement holds.
///
/// # Derivation
///
/// With S = diag(1, 1/5) let fractions p and 1 - p of the tokens be near e_1 and -e_1, at angles
/// phi_i and psi_j from them. To first order the weights of a token near e_1 are those of the two
/// clusters, a = p e^beta/(p e^beta + (1-p) e^{-beta}) for its own cluster and b = 1 - a for the
/// other, and `phi_i' = -(a - b) phi_i + (a mean(phi) - b mean(psi))/5`,
/// and likewise for psi. The matrix is diagonally dominant, so stable, if a - b > 1/5: which holds
/// at beta = 2 if p and 1 - p are at least 1/14 (a - b >= 0.61). Two antipodal clusters therefore
/// attract an open set of starts, whose inner products tend to +-1.
/// If all `<x_i, e_1>` > 0, they remain positive: at `<x_i, e_1>` = 0 its derivative is
/// `sum_j A_ij <x_j, e_1>` > 0. Such tokens cannot form two antipodal clusters (the control).
pub static ENTRY: Claim = Claim {
    name: "homogeneous-alignment-as-said",
    title: "General V: tokens align when one positive eigenvalue dominates in modulus (as said)",
    lets: "Q^T K = V = diag(1, 1/5) and beta = 2, with tokens anywhere on the circle",
    then: "Under SA, all inner products are positive at t = 60.",
    domain: Domain {
        n: Sizes::Range(8, 14),
        d: Sizes::Fixed(2),
        beta: Betas::List(&[2.0]),
        ..SYMMETRIC
    },
    narrower: "one S and beta; of the source we have seen only the abstract, not the exact theorem",
    source: "arXiv:2604.26085 (abstract, without a hypothesis on the start)",
    status: Status::Folklore,
    correct: "The words hold for starts with all <x_i, xi> > 0. Starts on both sides may end as \
               two antipodal clusters, which are stable below a threshold.",
    trials: (6, 40),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        all_aligned(ctx, &x)
    },
    control: Control {
        what: "tokens with <x_i, e_1> > 0",
        trial: |ctx| {
            let case = Case::new(10, 2, 2.0, "sa");
            let mut x = ctx.tokens(&case)?.coordinates().to_vec();
            x.chunks_exact_mut(2).for_each(|row| row[0] = row[0].abs() + 1e-3);
            all_aligned(ctx, &Tokens::normalised(2, x)?)
        },
    },
    ..Claim::INEQUALITY
};

fn all_aligned(ctx: &mut Context, x: &Tokens) -> Result<Finding> {
    let dynamics = with_diagonal(2.0, &[1.0, 0.2], &[1.0, 0.0, 0.0, 1.0])?;
    let end =
        solve(&dynamics, x, 60.0, &Options { rtol: ctx.rtol(), ..Options::default() }, &mut [])?;
    if !end.outcome.end_state_is_known() {
        return Err(Error::Numerical { what: end.outcome.to_string() });
    }
    let all = &end.clusters;
    let least = pairs(all.n()).map(|(i, j)| all.inner(i, j)).fold(1.0, f64::min);
    Ok(Finding::nonnegative(least, 1.0))
}
