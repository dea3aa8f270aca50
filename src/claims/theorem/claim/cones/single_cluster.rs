//! One cluster from almost every start.

use super::setting::{narrowing_time, plain_slowness};
use crate::flow::{Frame, Observer, Outcome};
use crate::sphere::cap::cap_radius;
use crate::theorem::prelude::*;

const LEAST_BETA: f64 = -0.16;
const LARGEST_D: usize = 16;
const MERGE_RADIUS: f64 = 1e-10;
const CONTROL_BETA: f64 = -1.0;

/// The clustering theorems of the literature as one statement: 0 <= beta < C/n (arXiv:2312.10794,
/// Theorem 4.3), beta > C n^2 (Theorem 5.1), beta in between for d >= 3 (Theorem 6.1), and d = 2
/// with beta >= -0.16 (arXiv:2507.22857). Since one cluster forms at every beta >= 0, a simulation
/// cannot show the thresholds C/n and C n^2; the statements that their proofs need are
/// `small-beta-blocks` and `large-beta-chains`.
///
/// # Derivation
///
/// SA and USA increase `E` in a metric (`gradient-structure`), `E` is analytic and the sphere
/// compact, so by Lojasiewicz every trajectory converges to one critical point. If that is not
/// consensus it has an unstable direction (`saddles-unstable`; for `-0.16 <= beta < 0` on the
/// circle the cited paper), and the starts that converge to such points lie in countably many
/// centre-stable manifolds of lower dimension: measure 0. So almost every start ends in consensus.
/// When all tokens are in an open hemisphere, the radius `s` of their smallest cap obeys `(log tan
/// s)' <= -c(s)` with the least weight `c(s)` of a token of mass 1 within the cap
/// (`cone-collapse`): `T` is the time until the cap has the radius `r/2`, when all tokens are
/// within `r`.
pub static ENTRY: Claim = Claim {
    name: "single-cluster",
    title: "One cluster from almost every start",
    then: "Under SA and USA, for `beta >= 0` and on the circle for `beta >= {LEAST_BETA}`, almost \
           every start converges to one point. Once all tokens are in an open hemisphere, with a \
           smallest cap of radius `rho`, all are within `r` after at most the time `T`, the \
           integral of `ds/(c(s) sin s cos s)` from `r/2` to `rho`. Here `c(s) = e^{-2 |beta| \
           sin^2 s}` for SA, `c(s) = e^{beta cos 2s}` for USA with `beta >= 0`, and `c(s) = \
           e^{-|beta|}` for USA with `beta < 0`.",
    tested: "for one cluster of radius `r = {MERGE_RADIUS}`, within the time `T` from the first \
             step in a hemisphere on, with `r/4` in place of `r/2`, since clusters are noticed at \
             the end of a step, and to a relative {INTEGRATION}",
    numbers: &[
        ("LEAST_BETA", LEAST_BETA),
        ("MERGE_RADIUS", MERGE_RADIUS),
        ("INTEGRATION", INTEGRATION),
        ("LARGEST_D", LARGEST_D as f64),
        ("CONTROL_BETA", CONTROL_BETA),
    ],
    domain: Domain {
        n: Sizes::Range(2, 32),
        d: Sizes::Range(2, LARGEST_D),
        beta: Betas::List(&[
            0.0, LEAST_BETA, -0.05, 0.003, 0.02, 0.1, 0.5, 1.5, 4.0, 9.0, 20.0, 60.0,
        ]),
        laws: &["uniform", "clusters:k=2,spread=0.2"],
        masses: Masses::Equal,
        condition: Some(Condition {
            text: "`beta >= 0` or `d = 2`",
            holds: |c| c.beta >= 0.0 || c.d == 2,
        }),
        // Values near beta = 1/n, near the sharp threshold of the large-beta proof, and between
        // them.
        corners: &[
            (8, 2, 0.1),
            (8, 2, 1.5),
            (8, 2, 4.0),
            (8, 2, 9.0),
            (16, 2, 20.0),
            (32, 3, 0.02),
            (32, 3, 60.0),
            (12, 3, 9.0),
        ],
        ..Domain::ATTENTION
    },
    narrower: "`Q = K = V = I`; `d` up to {LARGEST_D}",
    source: "arXiv:2312.10794, Theorems 4.1, 4.3, 5.1, 6.1; arXiv:2405.18273; Polyanskiy, \
               Rigollet, Yao, arXiv:2507.22857",
    kind: Kind::Every(0.05),
    trials: (136, 600),
    trial: |case, ctx| collapse(case, ctx, FOREVER),
    constant: "the time `T`",
    control: Control {
        what: "`beta = {CONTROL_BETA} < -2/3` on the circle: three tokens near a regular triangle \
               stay apart",
        trial: |ctx| {
            let case = Case::new(3, 2, CONTROL_BETA, "sa").with_law("polygon:noise=0.05");
            collapse(&case, ctx, 2000.0)
        },
    },
    ..Claim::EVERY
};

/// Records the first time at which all tokens are in an open hemisphere, with the radius of their
/// smallest cap.
struct HemisphereEntry(Option<(f64, f64)>);

impl Observer for HemisphereEntry {
    fn every_step(&self) -> bool {
        self.0.is_none()
    }

    fn observe(&mut self, frame: &Frame) {
        if self.0.is_none()
            && let Some(radius) = cap_radius(frame.tokens)
        {
            self.0 = Some((frame.t, radius));
        }
    }
}

/// Allowed for the integration error: the tolerance 1e-9 changes the radius of the first cap, and T
/// by at most some beta / cos(radius) <= 1e4 times that, relative to T.
const INTEGRATION: f64 = 1e-5;

/// Integrates until one cluster is left. The answer is yes if it forms within the time T.
fn collapse(case: &Case, ctx: &mut Context, horizon: f64) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    ctx.asserts_convergence(case, &x);
    let options = Options {
        rtol: ctx.rtol(),
        merge_radius: MERGE_RADIUS,
        stop_at_one_cluster: true,
        max_steps: 40_000,
        ..Options::default()
    };
    let mut watch = HemisphereEntry(None);
    let end = solve(&case.build()?, &x, horizon, &options, &mut [&mut watch])?;
    Ok(match (end.outcome, watch.0) {
        (Outcome::OneCluster { t }, Some((since, radius))) => {
            // After a step in which tokens merge, the cap may be smaller than the last radius.
            let last = (0.25 * MERGE_RADIUS).min(radius);
            let slowness = plain_slowness(case.row_weights()?, case.beta);
            let allowed = narrowing_time(radius, last, slowness);
            // Two tokens under USA attain T.
            Finding::answer(t - since <= (1.0 + INTEGRATION) * ctx.claimed_constant(allowed))
        }
        // Merged within the first step: the tokens nearly coincided at the start.
        (Outcome::OneCluster { .. }, None) => Finding::answer(true),
        (o, _) if o.end_state_is_known() => Finding::answer(false),
        (other, _) => Finding::Unfinished(other.to_string()),
    })
}
