//! Small beta: the flow stays close to that of equal weights.

use super::setting::{product, random_head, with_head};
use crate::num::dense;
use crate::theorem::prelude::*;

const TIMES: (f64, f64) = (0.02, 2.0);
const SPEED_ERROR: f64 = 1e-12;

/// # Derivation
///
/// Let `D(t)` be the largest distance of a token from the same token at `beta = 0`. At one
/// configuration the velocities differ by `P sum_j (A_ij - m_j) x_j`, at most twice the total
/// variation of the rows. Scores lie in `[-beta q, beta q]`, `q = |Q^T K|`, so the log-odds of a
/// set of tokens under the two rows differ by at most `2 beta q`, and the total variation is at
/// most `tanh(beta q/2)`: the velocities differ by at most `beta q`. The velocity at `beta = 0` is
/// `P y` with the mean `y`, `|y| <= 1`. The mean changes by at most `D`, and the projection of `y`
/// by at most `|y| D`. So `D' <= 2 D + beta q`, and `D(t) <= (beta q/2) (e^{2t} - 1)` (Gronwall).
///
/// The bound is attained to first order in `beta` and `t`: with `Q^T K = q J`, `J` the rotation by
/// a right angle, and a light token at `e_1` between two equal ones at `e_2` and `-e_2` of mass
/// `1/2 - m/2`, the scores of the light token are `q`, `-q` and 0. It moves at the speed `(1-m)
/// sinh(beta q)/(m + (1-m) cosh(beta q))`, and not at all at `beta = 0`.
pub static ENTRY: Claim = Claim {
    name: "small-beta-flow",
    title: "Small `beta`: tokens stay within `(beta |Q^T K|/2)(e^{2t} - 1)` of their paths at \
            `beta = 0`",
    lets: "tokens follow SA with any `Q` and `K`, `V = I`, and any masses, and let `|Q^T K|` be \
           the largest singular value",
    then: "At time `t` every token is within `(beta |Q^T K|/2) (e^{2t} - 1)` of where it is with \
           the same start at `beta = 0`. The bound is attained to first order in `beta` and `t`.",
    tested: "at a time up to {LATEST}; and the speed at the start at which it is attained, to \
             {SPEED_ERROR}",
    numbers: &[("LATEST", TIMES.1), ("SPEED_ERROR", SPEED_ERROR)],
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(1e-3, 1.0),
        dynamics: &["sa"],
        ..Domain::ATTENTION
    },
    narrower: "`Q` and `K` are `I` plus at most three times a normalised Gaussian matrix",
    source: "arXiv:2312.10794, Theorem 4.2 (C beta e^{3t}); the constant and the exponent 2 are \
             derived",
    trials: (40, 300),
    trial: |case, ctx| Ok(closeness(case, ctx, 1.0)?.and(attained(case, ctx)?)),
    constant: "the bound",
    control: Control {
        what: "half of the bound, at the start at which it is attained",
        trial: |_| {
            let (x, head) = crossed(1e-3, 1.0)?;
            let case = Case::new(3, 2, 0.05, "sa");
            let speed = norm(&with_head(&case, head)?.velocity(&x)[..2]);
            Ok(Finding::at_most(speed, 0.5 * case.beta))
        },
    },
    ..Claim::INEQUALITY
};

fn closeness(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (x, head) = (ctx.tokens(case)?, random_head(case.d, 3.0, ctx)?);
    let t = ctx.log_uniform_in(TIMES.0, TIMES.1);
    let a = product(&head, case.d);
    let squares = symmetric_eigenvalues(&dense::transpose_mul(&a, &a, case.d), case.d);
    let q = squares.unwrap_or_default().iter().copied().fold(0.0, nan_max).sqrt();
    let flow = with_head(case, head)?;
    let equal = build_dynamics("sa", 0.0, case.n)?;
    let moved = ctx.flow_to_with_tolerance(&flow, &x, t, 1e-2)?;
    let plain = ctx.flow_to_with_tolerance(&equal, &x, t, 1e-2)?;
    let apart = moved.rows().zip(plain.rows()).map(|(a, b)| chord2(a, b)).fold(0.0, nan_max);
    let bound = factor * 0.5 * case.beta * q * (2.0 * t).exp_m1();
    Ok(Finding::at_most(apart.sqrt(), ctx.claimed_constant(bound)))
}

/// A light token between two others at right angles, and the head of scores q, -q and 0.
fn crossed(mass: f64, q: f64) -> Result<(Tokens, Head)> {
    let other = 0.5 * (1.0 - mass);
    let x = Tokens::normalised(2, vec![1.0, 0.0, 0.0, 1.0, 0.0, -1.0])?;
    // Q^T K = q J with K = I.
    let turned = vec![0.0, -q, q, 0.0];
    Ok((x.with_masses(&[mass, other, other])?, Head::new(2, Some((2, turned)), None, None)?))
}

/// The speed of the light token, which is known.
fn attained(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let (mass, q) = (ctx.log_uniform_in(1e-6, 0.3), ctx.log_uniform_in(0.1, 3.0));
    let (x, head) = crossed(mass, q)?;
    let v = with_head(&Case::new(3, 2, case.beta, "sa"), head)?.velocity(&x);
    let logit = case.beta * q;
    let known = (1.0 - mass) * logit.sinh() / (mass + (1.0 - mass) * logit.cosh());
    let off = nan_max((v[1] / known - 1.0).abs(), (v[0] / known).abs());
    Ok(Finding::identity(off, SPEED_ERROR / nan_min(logit, 1.0)))
}
