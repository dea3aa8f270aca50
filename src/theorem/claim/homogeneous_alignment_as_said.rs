//! V with a spectrum: "tokens align when one positive eigenvalue dominates".

use super::bipartite_spectrum::{SYMMETRIC, with_diagonal};
use super::{Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Sizes, Status};
use crate::error::{Error, Result};
use crate::flow::{Options, solve};
use crate::sphere::Tokens;

/// Starts on both sides end as two antipodal clusters, which are stable; with all `<x_i, xi> > 0` the words hold.
pub static ENTRY: Claim = Claim {
    name: "homogeneous-alignment-as-said",
    title: "V with a spectrum: tokens align when one positive eigenvalue dominates in modulus (as said)",
    statement: "SA with Q^T K = V = diag(1, 1/5), beta = 2, tokens anywhere on the circle: at t = 60 all inner products are positive.",
    domain: Domain { n: Sizes::Range(8, 14), d: Sizes::Fixed(2), beta: Betas::List(&[2.0]), ..SYMMETRIC },
    narrower: "one S and beta; the exact theorem of the source was not seen, only its abstract",
    citation: "arXiv:2604.26085 (abstract, without a hypothesis on the start)",
    status: Status::Folklore,
    kind: Kind::Inequality,
    trials: (6, 40),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        aligned(ctx, &x)
    },
    perturbed: "",
    control: Control {
        what: "tokens with <x_i, e_1> > 0",
        trial: |ctx| {
            let case = Case::new(10, 2, 2.0, "sa");
            let mut x = ctx.tokens(&case)?.coordinates().to_vec();
            x.chunks_exact_mut(2).for_each(|row| row[0] = row[0].abs() + 1e-3);
            aligned(ctx, &Tokens::normalised(2, x)?)
        },
    },
    proof: None,
};

fn aligned(ctx: &mut Context, x: &Tokens) -> Result<Finding> {
    let dynamics = with_diagonal(2.0, &[1.0, 0.2], &[1.0, 0.0, 0.0, 1.0])?;
    let end = solve(&dynamics, x, 60.0, &Options { rtol: ctx.rtol(), ..Options::default() }, &mut [])?;
    if !end.outcome.lasts() {
        return Err(Error::Numerical { what: end.outcome.to_string() });
    }
    let all = &end.clusters;
    let least = (0..all.n()).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| all.inner(i, j)).fold(1.0, f64::min);
    Ok(Finding::nonnegative(least, 1.0))
}
