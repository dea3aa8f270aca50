//! Cross-attention to a fixed memory.

use crate::attention::multi_head::{MultiHead, Sources};
use crate::num::softmax::log_sum_exp;
use crate::sphere::geometry::project;
use crate::theorem::prelude::*;

const STARTS: usize = 8;
const SMALL: f64 = 1e-6;

/// The tokens of a decoder do not interact here: each one ascends the same landscape.
///
/// # Derivation
///
/// `y' = P_y sum_j softmax_j(beta <y, e_j>) e_j` is the gradient on the sphere of `h(y) = (1/beta)
/// log sum_j e^{beta <y, e_j>}`, which is analytic: every path ends at one critical point. For
/// almost every memory, changes of the `e_j` move the gradient at a critical point `y` in every
/// direction (unless all `e_j` have one angle to `y` with `cos = beta sin^2`), so no critical point
/// is degenerate (transversality). Then only starts on the stable manifolds of saddles and at
/// minima do not end at a maximum: a set of measure zero. With the weights `w`, the Hessian along a
/// tangent vector `u` is `beta Var_w <u, e_j> - |u|^2 sum_j w_j <y, e_j>`.
pub static ENTRY: Claim = Claim {
    name: "cross-attention-modes",
    title: "Cross-attention to a fixed memory: almost every token ends at a local maximum of a \
            fixed function",
    lets: "`y' = P_y sum_j softmax_j(beta <y, e_j>) e_j` with fixed `e_j`",
    then: "For almost every memory `(e_j)` and almost every start, `y` tends to a local maximum of \
           `(1/beta) log sum_j e^{beta <y, e_j>}`.",
    tested: "at `t = 1e6` for {STARTS} starts: the gradient is below {SMALL}, and the Hessian is \
             negative",
    numbers: &[("STARTS", STARTS as f64), ("SMALL", SMALL)],
    domain: Domain {
        n: Sizes::Range(2, 8),
        d: Sizes::Range(2, 4),
        beta: Betas::Linear(0.5, 4.0),
        dynamics: &[],
        laws: &["uniform"],
        draws: "a memory of `n` points, {STARTS} starts",
        ..Domain::EQUAL_MASSES
    },
    narrower: "`V = I` (the limit is derived; the time `1e6` and the bound {SMALL} are observed)",
    source: "derived",
    trials: (6, 60),
    trial: |case, ctx| ends_at_maximum(case, ctx, false),
    constant: "the `beta` of the function",
    control: Control {
        what: "the local maxima of another memory",
        trial: |ctx| ends_at_maximum(&Case::new(6, 3, 3.0, ""), ctx, true),
    },
    ..Claim::INEQUALITY
};

fn ends_at_maximum(case: &Case, ctx: &mut Context, other: bool) -> Result<Finding> {
    let (d, beta) = (case.d, case.beta);
    let (memory, y) = (ctx.tokens(case)?, ctx.tokens_with_law(STARTS, d, "uniform")?);
    let head = MultiHead::new(beta, vec![Head::default()])?.with_weights(Weights::Softmax);
    let dynamics = Dynamics::single(head.with_sources(Sources::Memory(Arc::new(memory.clone()))));
    let end = solve(
        &dynamics,
        &y,
        1e6,
        &Options { rtol: ctx.rtol(), merge_radius: 0.0, ..Options::default() },
        &mut [],
    )?;
    if !end.outcome.end_state_is_known() {
        return Err(Error::Numerical { what: end.outcome.to_string() });
    }
    let memory = if other { ctx.tokens(case)? } else { memory };
    let stated = ctx.claimed_constant(beta);
    let at = |y: &[f64]| -> Result<Finding> {
        let (gradient, largest) = derivatives(&memory, stated, y)?;
        Ok(Finding::at_most(gradient, SMALL).and(Finding::answer(largest < 0.0)))
    };
    end.clusters.rows().map(at).try_fold(Finding::answer(true), |all, one| Ok(all.and(one?)))
}

/// The length of the gradient of h at y, and the largest eigenvalue of its Hessian.
fn derivatives(memory: &Tokens, beta: f64, y: &[f64]) -> Result<(f64, f64)> {
    let d = y.len();
    let logits: Vec<f64> = memory.rows().map(|e| beta * dot(y, e)).collect();
    let total = log_sum_exp(&logits);
    let weights: Vec<f64> = logits.iter().map(|l| (l - total).exp()).collect();
    let mut mean = vec![0.0; d];
    memory.rows().zip(&weights).for_each(|(e, w)| axpy(*w, e, &mut mean));
    let height = dot(&mean, y);
    // The y direction gets the eigenvalue -1 in place of 0.
    let mut hessian: Vec<f64> = (0..d * d)
        .map(|k| {
            let along = y[k / d] * y[k % d];
            -along - height * (f64::from(u8::from(k % (d + 1) == 0)) - along)
        })
        .collect();
    for (e, w) in memory.rows().zip(&weights) {
        let mut off: Vec<f64> = e.iter().zip(&mean).map(|(e, m)| e - m).collect();
        project(y, &mut off);
        hessian.iter_mut().enumerate().for_each(|(k, h)| *h += beta * w * off[k / d] * off[k % d]);
    }
    project(y, &mut mean);
    let values = symmetric_eigenvalues(&hessian, d)
        .ok_or_else(|| Error::Numerical { what: "the eigenvalues did not converge".into() })?;
    Ok((norm(&mean), values.iter().copied().fold(f64::NEG_INFINITY, nan_max)))
}
