//! The lemma behind the large-beta theorem.

use crate::sphere::cap::cap_radius;
use crate::sphere::geometry::{exp, project};
use crate::theorem::prelude::*;

const ROUNDING: f64 = 1e-12;
/// The range of l/pi and of 1 - l/pi.
const SHARES: (f64, f64) = (0.1, 0.9);

/// In the proof of one cluster at large beta (`large-beta-chains`) the tree has steps of at most
/// tau* with (n-1) tau* < pi; the lemma then leads to `cone-collapse`.
///
/// # Derivation
///
/// A walk around the tree is a closed curve of length `2 l < 2 pi`. Let `p` and `q` halve it and
/// `w` be the middle of their short arc. A point `x` of the curve has `d(p, x) + d(x, q) <= l`;
/// with `x'` its mirror image in `w`, `2 d(w, x) = d(x, x') <= d(x, p) + d(p, x') = d(x, p) + d(q,
/// x) <= l`. The equality needs `d(w, x) <= pi/2`, which holds by continuity along the curve from
/// `p` on, since `d(w, p) <= l/2` and `d(w, x) <= l/2 < pi/2` wherever it holds.
pub static ENTRY: Claim = Claim {
    name: "chain-lemma",
    title: "Chains shorter than `pi` lie in a cap of half their length",
    lets: "points of the sphere be joined by a tree of geodesics of total length `l < pi`",
    then: "They lie in a cap of radius at most `l/2 < pi/2`, so in an open hemisphere. A straight \
           chain attains the bound.",
    tested: "with a factor 1 + {ROUNDING} for rounding",
    numbers: &[("ROUNDING", ROUNDING), ("LEAST", SHARES.0), ("MOST", SHARES.1)],
    domain: Domain {
        n: Sizes::Range(2, 32),
        d: Sizes::Range(2, 16),
        draws: "a tree: a chain with more or less turns and branches",
        ..Domain::FREE
    },
    narrower: "`{LEAST} pi <= l <= {MOST} pi` (rounding moves the centre of a cap of radius close \
               to `pi/2`)",
    source: "arXiv:2312.10794, appendix B, sharpened",
    trials: (100, 1000),
    trial: |case, ctx| {
        let length = PI * (1.0 - ctx.log_uniform_in(SHARES.0, SHARES.1));
        tree(case, ctx, length)
    },
    constant: "the length `l`",
    control: Control {
        what: "a tree of length `4 pi/3 >= pi`: three vertices of a regular triangle, joined by \
               two sides",
        trial: |ctx| Ok(inside(&ctx.tokens_with_law(3, 2, "polygon")?, 4.0 * PI / 3.0)),
    },
    ..Claim::INEQUALITY
};

/// A random tree: every new token is joined to a random earlier one, or continues a chain in a
/// direction that changes more or less.
fn tree(case: &Case, ctx: &mut Context, length: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let turn = ctx.log_uniform_in(1e-4, 10.0);
    let branching = ctx.uniform_in(0.0, 1.0);
    let steps = ctx.masses(n - 1);
    let total: f64 = steps.iter().sum();
    let mut x = ctx.tokens_with_law(1, d, "uniform")?.coordinates().to_vec();
    let mut direction = ctx.normals(d);
    for i in 1..n {
        let parent = if ctx.uniform_in(0.0, 1.0) < branching { ctx.index(i) } else { i - 1 };
        let from = x[parent * d..(parent + 1) * d].to_vec();
        axpy(turn, &ctx.normals(d), &mut direction);
        // Twice: after one projection the rounding error of the component along the
        // token may be larger than the rest.
        for _ in 0..2 {
            project(&from, &mut direction);
            if !retract(&mut direction) {
                return Ok(Finding::HypothesesMissed);
            }
        }
        let step = length * steps[i - 1] / total;
        let next = exp(&from, &direction.iter().map(|v| step * v).collect::<Vec<_>>());
        // The direction is transported along the chain, so that a chain without turns follows a
        // great circle.
        direction =
            direction.iter().zip(&from).map(|(v, f)| v * step.cos() - f * step.sin()).collect();
        x.extend(next);
    }
    Ok(inside(&Tokens::normalised(d, x)?, ctx.claimed_constant(length)))
}

/// Compares the radius of the cap with half the length; the radius is pi if there is no hemisphere.
fn inside(x: &Tokens, length: f64) -> Finding {
    Finding::at_most(cap_radius(x).unwrap_or(PI), 0.5 * length * (1.0 + ROUNDING))
}
