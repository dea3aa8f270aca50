//! Consensus is the only stable critical point.

use super::setting::{ENERGY, search_critical_points};
use crate::landscape::Spectrum;
use crate::theorem::prelude::*;

const CONTROL_BETA: f64 = -1.0;

/// The landscape part of the clustering theorems. Critical points are found by a search, not by the
/// flow, which would not find unstable ones.
///
/// # Derivation
///
/// `d >= 3`: by `strict-saddle` the mean curvature over the directions `U_v` is positive at every
/// configuration other than consensus, critical or not. So some direction has a positive curvature,
/// and the flow, which increases `E`, is unstable there. `d = 2`: this mean may be negative, and
/// the proof of arXiv:2507.22857 is another one.
pub static ENTRY: Claim = Claim {
    name: "saddles-unstable",
    title: "Every critical point other than consensus is unstable, `beta > 0`",
    then: "For `d >= 2` and `beta > 0`, every critical point of `E_beta` with at least two \
           clusters has an unstable direction.",
    tested: "at the critical points found from four starts (squared gradient with deflation, \
             eigenvector following, slow states of flows)",
    numbers: &[("CONTROL_BETA", CONTROL_BETA)],
    domain: Domain {
        n: Sizes::Range(3, 20),
        d: Sizes::Range(2, 4),
        beta: Betas::Log(0.05, 60.0),
        corners: &[(9, 2, 7.0), (12, 4, 9.0)],
        ..ENERGY
    },
    narrower: "`beta > 0` (on the circle the theorem holds for `beta >= -0.16`); critical points \
               found by a search, residual `1e-12`",
    source: "arXiv:2312.10794, Theorem 6.1 (d >= 3); Polyanskiy, Rigollet, Yao, arXiv:2507.22857 \
             (d = 2)",
    trials: (40, 300),
    trial: |case, ctx| {
        let points = search_critical_points(case, ctx)?;
        if points.is_empty() {
            return Ok(Finding::HypothesesMissed);
        }
        let answers: Result<Vec<bool>> = points
            .iter()
            .map(|(x, sizes)| Ok(Spectrum::of_clusters(case.beta, x, sizes)?.unstable > 0))
            .collect();
        Ok(Finding::all(answers?))
    },
    no_constant: "the sign of an eigenvalue decides",
    control: Control {
        what: "`beta = {CONTROL_BETA} < -2/3`: the regular triangle",
        trial: |ctx| {
            let x = ctx.tokens_with_law(3, 2, "polygon")?;
            let case = Case::new(3, 2, CONTROL_BETA, "usa");
            Ok(Finding::answer(Spectrum::of_clusters(case.beta, &x, &[1, 1, 1])?.unstable > 0))
        },
    },
    ..Claim::EXACT
};
