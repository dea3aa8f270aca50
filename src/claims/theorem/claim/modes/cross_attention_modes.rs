//! Cross-attention to a fixed memory.

use crate::attention::multi_head::{MultiHead, Sources};
use crate::num::softmax::log_sum_exp;
use crate::theorem::prelude::*;

/// The tokens of a decoder do not interact here: each one ascends the same landscape.
///
/// # Derivation
///
/// `y' = P_y sum_j softmax_j(beta <y, e_j>) e_j` is the gradient on the sphere of
/// `(1/beta) log sum_j e^{beta <y, e_j>}`, which is analytic: every path ends at one critical
/// point. For almost every memory, changes of the e_j move the gradient at a critical point y in
/// every direction (unless all e_j have one angle to y with cos = beta sin^2), so no critical point
/// is degenerate (transversality). Then only starts on the stable manifolds of saddles and at
/// minima do not end at a maximum: a set of measure zero.
pub static ENTRY: Claim = Claim {
    name: "cross-attention-modes",
    title: "Cross-attention to a fixed memory: almost every token ends at a local maximum of a \
            fixed function",
    lets: "y' = P_y sum_j softmax_j(beta <y, e_j>) e_j with fixed e_j",
    then: "For almost every memory (e_j) and almost every start, y tends to a local maximum of \
           (1/beta) log sum_j e^{beta <y, e_j>}.",
    tested: "as: at t = 1e6 the gradient is below 1e-6, and no sampled point at distance 1e-3 is \
             higher by more than 1e-3 times the gradient plus 1e-13",
    domain: Domain {
        n: Sizes::Range(2, 8),
        d: Sizes::Range(2, 4),
        beta: Betas::Linear(0.5, 4.0),
        dynamics: &["sa"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "V = I, 8 tokens and 8 points near each (the limit is derived; the time 1e6 and the \
               bound 1e-6 are observed)",
    source: "derived; encoder and decoder: Vaswani et al. 2017",
    trials: (6, 60),
    trial: |case, ctx| ends_at_maximum(case, ctx, false),
    control: Control {
        what: "the local maxima of another memory",
        trial: |ctx| ends_at_maximum(&Case::new(6, 3, 3.0, "sa"), ctx, true),
    },
    ..Claim::INEQUALITY
};

fn ends_at_maximum(case: &Case, ctx: &mut Context, other: bool) -> Result<Finding> {
    let (d, beta) = (case.d, case.beta);
    let (memory, y) = (ctx.tokens(case)?, ctx.tokens_with_law(8, d, "uniform")?);
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
    let height = |y: &[f64]| {
        log_sum_exp(&memory.rows().map(|e| beta * dot(y, e)).collect::<Vec<_>>()) / beta
    };
    let mut worst = f64::INFINITY;
    for y in end.clusters.rows() {
        let weights: Vec<f64> =
            memory.rows().map(|e| (beta * (dot(y, e) - height(y))).exp()).collect();
        let mut pull = vec![0.0; d];
        memory.rows().zip(&weights).for_each(|(e, w)| axpy(*w, e, &mut pull));
        let along = dot(&pull, y);
        let slope = pull.iter().zip(y).map(|(p, y)| (p - along * y).powi(2)).sum::<f64>().sqrt();
        worst = worst.min(1.0 - slope / 1e-6);
        for _ in 0..8 {
            let mut near: Vec<f64> = ctx.normals(d);
            let length = norm(&near);
            near.iter_mut().zip(y).for_each(|(v, y)| *v = y + 1e-3 * *v / length);
            if retract(&mut near) {
                // Heights have rounding errors of 1e-15; the remaining gradient allows a small
                // increase.
                worst = worst.min(if height(&near) > height(y) + 1e-3 * slope + 1e-13 {
                    -1.0
                } else {
                    1.0
                });
            }
        }
    }
    Ok(Finding::nonnegative(worst, 1.0))
}
