//! All branches of critical points on the circle over an interval of beta, with all bifurcations.
//!
//! **Parameters** A parameter of an interaction or the mass of one token can take the place of beta
//! ([`Parameter`](super::Parameter)); then `beta` is its value in everything below and in all
//! results.
//!
//! **What is proved** Every box of gaps and beta in the tree of a stratum has a reason: no critical
//! point, a regular derivative, or a regular derivative in the coordinates of a blow-up, in which
//! two clusters at a small distance g are described by their centre of mass and g, or `t = g^2` for
//! equal masses. So the critical points with k clusters are graphs over beta, except in boxes
//! around folds, where they are one curve. A graph ends at an end of the interval, at a fold, or
//! where g reaches 0. There two clusters become one, and the second derivative for splitting this
//! cluster is 0 (Lemma 2 of [`landscape`](super)). So all graphs are found from the critical points
//! at the largest beta, from the folds, and from the zeros of these second derivatives along the
//! graphs with fewer clusters.
//!
//! **Chains** A graph is followed by boxes in each of which Krawczyk's test proves exactly one
//! critical point for every beta of an interval. Neighbouring boxes share a critical point, so the
//! chain is one graph. The number of directions of ascent is constant between bifurcations: the
//! derivative is regular in the boxes, and the second derivatives for splitting clusters have
//! signs.
//!
//! **Bifurcations** Where the second derivative of a cluster is 0, the equations of equilibrium and
//! this one, with beta as an unknown, have exactly one zero in a box (Krawczyk). At a bifurcation
//! of a cluster of two tokens, a box around it has exactly one zero of the blown-up equations for
//! every beta, and g or t is monotone. So exactly one branch begins there in each order of the
//! tokens, on the side where g or t is positive. Two equal tokens can be exchanged, and two
//! opposite clusters are their own mirror image: both are pitchforks. At other bifurcations the two
//! orders exist on different sides. Two different tokens opposite to all others have coordinates of
//! their own, in which the equations are divided by g (`opposite.rs`).
//!
//! **Folds** Where no box over an interval of beta is found, an unknown of the equations takes the
//! place of beta: one box contains a curve with one fold, and both chains end in it (`fold.rs`).
//! Boxes of the tree beside it have no zero of a combination of the equations.
//!
//! **Three equal tokens** opposite to all others split in any direction at second order, and also
//! at fourth order. The sixth order decides: two branches begin, one with clusters of two and one
//! tokens, and one with three clusters at equal distances (`triple.rs`).
//!
//! **Small beta** Boxes have order parameters as further unknowns (`order_parameter.rs`).
//!
//! **Limits** Elsewhere, the terms of third order of three equal tokens are a multiple of
//! `x_1 x_2 x_3` for places x with the sum 0, so only splits into two and one tokens are expected,
//! in one order on each side. Both are proved, but not that there are no others. Where four or more
//! tokens or three different ones begin to split, no branch is proved.

mod birth;
mod blow_up;
mod even;
mod fold;
mod jet;
mod one_branch;
mod opposite;
mod order_parameter;
mod point;
mod result;
mod shape;
mod solve;
mod splits;
mod system;
mod track;
mod tree;
mod triple;
mod work;

pub use one_branch::one_branch;
pub use point::Piece;
pub use result::{Bifurcation, Branch, Continuation, End, Kind, Sample};

use super::kernel::Law;
use super::strata::strata;
use super::{Report, Tokens};
use crate::error::Result;
pub use work::BETA_RANGE;

use work::Work;

/// The part of the work of a stratum that the search at the largest beta takes.
const SEARCH: f64 = 0.1;

/// All branches over the interval of beta of the tokens, and all bifurcations.
///
/// **Accuracy** enclosures of beta at bifurcations are narrower than 1e-11.
/// **Cost** with two threads: see the guide, `bifurcations`.
/// **Errors** an interval that is a point or leaves [`BETA_RANGE`]; a proof that would take longer
/// than a day, with the estimate; arithmetic that is not IEEE.
///
/// ```
/// use metastable::proofs::landscape::{Tokens, branches::all_branches};
/// let tokens = Tokens::new(&[1.0; 3], (0.5, 2.0)).unwrap();
/// let found = all_branches(&tokens, &|_, _| true).unwrap();
/// assert!(found.complete && found.bifurcations.is_empty());
/// assert_eq!(found.branches.len(), 3);
/// ```
pub fn all_branches(tokens: &Tokens, report: Report) -> Result<Continuation> {
    let mut work = Work::new(tokens, seconds(tokens), report)?;
    work.strata = strata(tokens.masses());
    let shares = super::shares(&work.strata, tokens.fewest());
    for (stratum, share) in shares.into_iter().enumerate() {
        work.branches_of(stratum, SEARCH * share);
        if work.strata[stratum].len() > 2 {
            work.cover(stratum, (1.0 - SEARCH) * share);
        }
    }
    Ok(work.finish())
}

/// As [`all_branches`], without the search that shows that there are no others: the branches that
/// reach the largest beta, and those that begin at their bifurcations. Each branch and each
/// bifurcation is proved; the result is not complete.
///
/// **Cost** seconds for n = 7.
/// **Errors** as [`all_branches`].
///
/// ```
/// use metastable::proofs::landscape::{Tokens, branches::followed_branches};
/// let tokens = Tokens::new(&[1.0; 4], (0.5, 2.0)).unwrap();
/// let found = followed_branches(&tokens, &|_, _| true).unwrap();
/// assert!(!found.complete && found.branches.len() == 5);
/// ```
pub fn followed_branches(tokens: &Tokens, report: Report) -> Result<Continuation> {
    let mut work = Work::new(tokens, seconds_followed(tokens), report)?;
    work.strata = strata(tokens.masses());
    let shares = super::shares(&work.strata, tokens.fewest());
    for (stratum, share) in shares.into_iter().enumerate() {
        work.branches_of(stratum, share);
    }
    work.miss("other branches were not searched".into());
    Ok(work.finish())
}

/// Estimated seconds of [`all_branches`] with two threads: of the search at the largest beta, and
/// of the boxes over the interval. Measured with masses 1 for n = 6: 1.5e6 boxes for `beta < 1` and
/// 2.3e5 beyond, for an interval of length 1 of `ln beta`; 15 times as many for each further token.
/// Intervals of other parameters had 2.5e6, with boxes that cost five times as much for
/// interactions.
pub fn seconds(tokens: &Tokens) -> f64 {
    let n = tokens.n() as f64;
    let orders: f64 = if tokens.masses().windows(2).all(|m| m[0] == m[1]) {
        1.0
    } else {
        (1..tokens.n()).map(|k| k as f64).product::<f64>() / 2.0
    };
    let (low, high) = (tokens.beta.0.max(1e-3), tokens.beta.1.max(1e-3));
    let (density, cost) = match tokens.law {
        Law::Exponential => {
            let below = high.min(1.0).ln() - low.min(1.0).ln();
            (1.5e6 * below + 2.3e5 * (high.max(1.0) / low.max(1.0)).ln(), 4e-5)
        }
        Law::Family(_) => (2.5e6, 2e-4),
        _ => (2.5e6, 4e-5),
    };
    let boxes = density * 15f64.powf(n - 6.0) * orders;
    seconds_followed(tokens) + boxes * cost * (n / 6.0).powi(3)
}

/// Estimated seconds of [`followed_branches`] with two threads: those of the search at the largest
/// beta.
pub fn seconds_followed(tokens: &Tokens) -> f64 {
    super::seconds_complete(&Tokens { beta: (tokens.beta.1, tokens.beta.1), ..tokens.clone() })
}
