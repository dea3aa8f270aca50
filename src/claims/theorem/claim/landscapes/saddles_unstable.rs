//! Consensus is the only stable critical point.

use super::large_beta_chains;
use crate::landscape::Spectrum;
use crate::theorem::prelude::*;

/// arXiv:2507.22857 and arXiv:2312.10794, Theorem 6.1. Critical points are found by a search, not
/// by the flow, which would not find unstable ones.
///
/// # Derivation
///
/// d >= 3. Move all tokens along u_i = P_i v for a unit vector v. Along geodesics
/// `G_ij' = <u_i, x_j> + <x_i, u_j>` and `G_ij'' = 2 <u_i, u_j> - (|u_i|^2 + |u_j|^2) G_ij`, so E''
/// = (1/2) sum_ij m_i m_j e^{beta G} (beta G'^2 + G''). Averaging over v replaces `<v, a> <v, b>`
/// by `<a, b>/d`:
/// `mean G'^2 = 2 (1 - G)^2 (1 + G)/d, mean G'' = 2 (1 - (2 - G^2)/d) - 2 (1 - 1/d) G = (2/d) (1 -
/// G) (d - 2 - G)`, `mean E'' = (1/d) sum_ij m_i m_j e^{beta G_ij} (1 - G_ij) (beta (1 - G_ij^2) +
/// d - 2 - G_ij)`.
/// For beta >= 0 and d >= 3 a term is at least `m_i m_j e^{beta G_ij} (1 - G_ij)^2`: the mean is
/// positive unless all tokens agree, so some v is a direction of ascent. The flow increases E, so
/// this is an unstable direction.
/// d = 2. The last factor is negative near G = 1, so this argument fails; see arXiv:2507.22857 for
/// a proof.
pub static ENTRY: Claim = Claim {
    name: "saddles-unstable",
    title: "Every critical point other than consensus is unstable, beta > 0",
    then: "For d >= 2 and beta > 0, every critical point of E_beta with at least two clusters has \
           an unstable direction.",
    tested: "as: critical points are searched from four starts per trial (squared gradient with \
             deflation, eigenvector following, slow states of flows), and the answer is yes if \
             all of them are unstable",
    domain: Domain {
        n: Sizes::Range(3, 20),
        d: Sizes::Range(2, 4),
        beta: Betas::Log(0.05, 60.0),
        corners: &[(9, 2, 7.0), (12, 4, 9.0)],
        ..large_beta_chains::DOMAIN
    },
    narrower: "beta > 0 (on the circle the theorem holds for beta >= -0.16); critical points found \
               by a search, residual 1e-12",
    source: "Polyanskiy, Rigollet, Yao, arXiv:2507.22857 (d = 2); arXiv:2312.10794, Theorem 6.1 \
               (d >= 3)",
    trials: (70, 300),
    trial: |case, ctx| {
        let points = large_beta_chains::search_critical_points(case, ctx)?;
        if points.is_empty() {
            return Ok(Finding::HypothesesMissed);
        }
        let answers: Result<Vec<bool>> = points
            .iter()
            .map(|(x, sizes)| Ok(Spectrum::of_clusters(case.beta, x, sizes)?.unstable > 0))
            .collect();
        Ok(Finding::answer(answers?.into_iter().all(|yes| yes)))
    },
    control: Control {
        what: "beta = -1 < -2/3: the regular triangle",
        trial: |ctx| {
            let x = ctx.tokens_with_law(3, 2, "polygon")?;
            let case = Case::new(3, 2, -1.0, "usa");
            Ok(Finding::answer(Spectrum::of_clusters(case.beta, &x, &[1, 1, 1])?.unstable > 0))
        },
    },
    ..Claim::EVERY
};
