//! Extremisers of the energy over all measures.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin};
use crate::attention::{Energy, EnergyScale};
use crate::error::Result;
use crate::theory::uniform::{log_energy_dirac, log_energy_uniform};

/// 2312.10794, Proposition 3.4.
pub static ENTRY: Claim = Claim {
    name: "energy-extremes",
    title: "The uniform measure minimises E_beta, Dirac masses maximise it",
    statement: "beta > 0: every measure has E_beta[sigma] < E_beta[mu] <= e^beta / (2 beta); tested on tokens with random masses.",
    hypotheses: "beta > 0",
    applies: |case| case.beta > 0.0,
    citation: "arXiv:2312.10794, Proposition 3.4",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(1, 2, 1.0, "usa"), Case::new(30, 3, 2.0, "usa"), Case::new(200, 2, 8.0, "usa"), Case::new(64, 16, 4.0, "usa")],
    quick: 4,
    trials: (20, 200),
    trial: |case, ctx| between(case, ctx, 0.0),
    control: Control {
        what: "a bound larger by a tenth of the way to the Dirac mass",
        trial: |ctx| between(&Case::new(200, 2, 8.0, "usa"), ctx, 0.1),
    },
};

/// Distance of the log energy to the nearer bound, over the distance of the bounds; a Dirac mass attains the upper one.
fn between(case: &Case, ctx: &mut Context, raise: f64) -> Result<Finding> {
    let x = ctx.weighted_tokens(case, "uniform")?;
    let log = Energy::new(case.beta, EnergyScale::Mean).log_value(&x)?;
    let (low, high) = (log_energy_uniform(case.d, case.beta), log_energy_dirac(case.beta));
    let share = (log - low) / (high - low) - raise;
    let evaluation = 64.0 * f64::EPSILON * (1.0 + case.beta) / (high - low);
    Ok(Finding::Margin(Margin { value: share.min(1.0 - share + 2.0 * evaluation), evaluation, ..Margin::default() }))
}
