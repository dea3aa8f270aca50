//! V with a spectrum: "tokens align when one positive eigenvalue dominates".

use super::bipartite_spectrum::{SYMMETRIC, with_diagonal};
use crate::theorem::prelude::*;

/// Starts on both sides end as two antipodal clusters, which are stable; with all `<x_i, xi> > 0` the words hold.
///
/// # Derivation
///
/// With S = diag(1, 1/5) let shares p and 1 - p of the tokens be near e_1 and -e_1, at angles phi_i and psi_j from them. To first order
/// the weights of a token near e_1 are those of the two clusters, a = p e^beta/(p e^beta + (1-p) e^{-beta}) in all for its own side and b
/// = 1 - a for the other, and
/// `phi_i' = -(a - b) phi_i + (a mean(phi) - b mean(psi))/5`,
/// alike for psi. The matrix is diagonally dominant, so stable, if a - b > 1/5: at beta = 2 for all shares p and 1 - p from 1/14 on (a -
/// b >= 0.61). Two antipodal clusters therefore attract an open set of starts, whose inner products tend to +-1.
/// Where all `<x_i, e_1>` > 0 that stays so: at `<x_i, e_1>` = 0 its derivative is `sum_j A_ij <x_j, e_1>` > 0. Such tokens cannot split
/// over both sides (the control).
pub static ENTRY: Claim = Claim {
    name: "homogeneous-alignment-as-said",
    title: "V with a spectrum: tokens align when one positive eigenvalue dominates in modulus (as said)",
    statement: "SA with Q^T K = V = diag(1, 1/5), beta = 2, tokens anywhere on the circle: at t = 60 all inner products are positive.",
    domain: Domain { n: Sizes::Range(8, 14), d: Sizes::Fixed(2), beta: Betas::List(&[2.0]), ..SYMMETRIC },
    narrower: "one S and beta; the exact theorem of the source was not seen, only its abstract",
    citation: "arXiv:2604.26085 (abstract, without a hypothesis on the start)",
    status: Status::Folklore,
    trials: (6, 40),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        aligned(ctx, &x)
    },
    control: Control {
        what: "tokens with <x_i, e_1> > 0",
        trial: |ctx| {
            let case = Case::new(10, 2, 2.0, "sa");
            let mut x = ctx.tokens(&case)?.coordinates().to_vec();
            x.chunks_exact_mut(2).for_each(|row| row[0] = row[0].abs() + 1e-3);
            aligned(ctx, &Tokens::normalised(2, x)?)
        },
    },
    ..Claim::INEQUALITY
};

fn aligned(ctx: &mut Context, x: &Tokens) -> Result<Finding> {
    let dynamics = with_diagonal(2.0, &[1.0, 0.2], &[1.0, 0.0, 0.0, 1.0])?;
    let end = solve(&dynamics, x, 60.0, &Options { rtol: ctx.rtol(), ..Options::default() }, &mut [])?;
    if !end.outcome.lasts() {
        return Err(Error::Numerical { what: end.outcome.to_string() });
    }
    let all = &end.clusters;
    let least = pairs(all.n()).map(|(i, j)| all.inner(i, j)).fold(1.0, f64::min);
    Ok(Finding::nonnegative(least, 1.0))
}
