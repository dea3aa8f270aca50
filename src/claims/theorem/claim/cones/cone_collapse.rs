//! Collapse of tokens in an open hemisphere, with an explicit time.

use crate::flow::Outcome;
use crate::num::dense;
use crate::sphere::cap::{Hemisphere, hemisphere};
use crate::theorem::prelude::*;

/// arXiv:2312.10794, Lemma 6.4, with the time that its proof gives.
///
/// # Derivation
///
/// Let `alpha(t) = max_w min_i <x_i, w> > 0` and w the maximiser, the centre of the smallest cap; w
/// lies in the conic hull, `w = sum c_j x_j`, `c_j >= 0`. At a token on the edge,
/// `d/dt <x_i, w> = sum_j A_ij (<x_j, w> - G_ij alpha)` with every term at least
/// `A_ij alpha (1 - G_ij) >= 0`. Because `sum c_j >= |w| = 1` and `sum c_j G_ij = alpha`, some j
/// has `G_ij <= alpha`, so `alpha' >= A_ij alpha (1 - alpha)`, and `A_ij >= m_min e^{-2 beta q}`
/// (SA; USA: the weight is at least `m_min e^{-beta q}`) with `q = |Q^T K|`. The logistic equation
/// gives the time. Two tokens in a cap of radius r/2 have distance at most r.
pub static ENTRY: Claim = Claim {
    name: "cone-collapse",
    title: "Tokens in an open hemisphere converge to one point, within an explicit time",
    lets: "V = I, let Q and K be any matrices, q = |Q^T K|, and let all tokens lie in an open \
           hemisphere",
    then: "Then they converge to one point, and the cosine alpha of the radius of their smallest \
           cap obeys alpha' >= c alpha (1 - alpha) with c = m_min e^{-2 beta q} for SA and c = \
           m_min e^{-beta q} for USA (U1), where m_min is the least mass.",
    tested: "as: one cluster with merge radius r = 1e-8 has formed by the time T = (L(cos r/2) - \
             L(alpha(0)))/c, where L(a) = log(a/(1 - a))",
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.01, 4.0),
        laws: &["hemisphere", "cap:radius=0.8"],
        corners: &[(2, 2, 1.0)],
        ..Domain::ATTENTION
    },
    narrower: "beta up to 4, Q and K are I plus at most three times a normalised Gaussian matrix",
    source: "arXiv:2312.10794, Lemma 6.4; the constant is that of its proof with the exponent of \
               (6.8) corrected",
    trials: (40, 300),
    trial: |case, ctx| collapse(case, ctx, 3.0),
    constant: "the time T",
    control: Control {
        what: "the repulsive flow, V = -I, with Q and K near I",
        trial: |ctx| {
            collapse(&Case::new(4, 3, 0.2, "repulsive-usa").with_law("hemisphere"), ctx, 0.1)
        },
    },
    ..Claim::INEQUALITY
};

/// The time that the proof gives to tokens whose cap has the cosine `alpha`, lightest mass
/// `lightest`, `exponent = beta |Q^T K|`, until all distances are at most `radius`.
pub(crate) fn time(
    weights: RowWeights,
    lightest: f64,
    exponent: f64,
    alpha: f64,
    radius: f64,
) -> f64 {
    // 1 - cos(r/2) = 2 sin^2(r/4) avoids cancellation.
    let rest = 2.0 * (0.25 * radius).sin().powi(2);
    let logit = ((1.0 - rest) / rest).ln() - (alpha / (1.0 - alpha).max(rest)).ln();
    let factor = if weights == RowWeights::Exponential { 1.0 } else { 2.0 };
    logit.max(0.0) / lightest * (factor * exponent).exp()
}

/// A head with random Q and K (identity plus Gaussian noise of random size up to `most`) and V = I.
pub(crate) fn random_head(d: usize, most: f64, ctx: &mut Context) -> Result<Head> {
    let spread = ctx.log_uniform_in(1e-3, most) / (d as f64).sqrt();
    let mut matrix = || {
        let noise = ctx.normals(d * d);
        Some((
            d,
            (0..d * d).map(|k| f64::from(u8::from(k % (d + 1) == 0)) + spread * noise[k]).collect(),
        ))
    };
    Head::new(d, matrix(), matrix(), None)
}

/// `Q^T K`, row-major.
pub(crate) fn product(head: &Head, d: usize) -> Vec<f64> {
    let identity = dense::identity(d);
    let [q, k, _] = head.matrices();
    dense::transpose_mul(q.unwrap_or(&identity), k.unwrap_or(&identity), d)
}

/// The dynamics of a case with a head.
pub(crate) fn with_head(case: &Case, head: Head) -> Result<Dynamics> {
    dynamics::build(
        case.dynamics,
        false,
        &Spec { heads: vec![head], ..Spec::new(case.beta, case.n) },
    )
}

fn collapse(case: &Case, ctx: &mut Context, most: f64) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let head = random_head(case.d, most, ctx)?;
    let a = product(&head, case.d);
    let squares = dense::symmetric_eigenvalues(&dense::transpose_mul(&a, &a, case.d), case.d)
        .unwrap_or_default();
    let q = squares.iter().copied().fold(0.0, nan_max).sqrt();
    let Hemisphere::Open { margin, .. } = hemisphere(&x) else {
        return Ok(Finding::HypothesesMissed);
    };
    ctx.asserts_convergence_for_any_scores(case, &x);
    let merge_radius = 1e-8;
    let lightest = x.masses().iter().copied().fold(f64::INFINITY, f64::min);
    let allowed = ctx.claimed_constant(time(
        case.row_weights()?,
        lightest,
        case.beta * q,
        margin,
        merge_radius,
    ));
    let options = Options {
        rtol: ctx.rtol(),
        merge_radius,
        stop_at_one_cluster: true,
        max_steps: 40_000,
        ..Options::default()
    };
    let end = solve(&with_head(case, head)?, &x, allowed.min(1e300), &options, &mut [])?;
    Ok(match end.outcome {
        Outcome::OneCluster { t } => Finding::at_most(t, allowed),
        o if o.end_state_is_known() => Finding::at_most(2.0 * allowed, allowed),
        other => Finding::Unfinished(other.to_string()),
    })
}
