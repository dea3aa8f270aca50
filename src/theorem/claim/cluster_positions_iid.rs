//! The published prediction at the published number of tokens, over many seeds.

use super::{Case, Claim, Context, Control, Expected, Finding, cluster_positions};
use crate::continuity::{circle::Circle, density::Density};
use crate::error::Result;

/// Violated: at n = 20000 the neighbouring modes are not yet outgrown.
pub static ENTRY: Claim = Claim {
    name: "cluster-positions-iid",
    title: "The prediction drawn for one seed holds for at least 80 % of seeds at n = 20000",
    statement: "The moments of n = 20000 iid tokens as noise on the uniform density, USA: k_max clusters, each within 0.1 of its delta_j, for at least 80 % of ten seeds. (The leading mode outgrows mode j only by \
                n^{(1 - r_j/r_max)/2}, a factor 1.9 here.)",
    hypotheses: "circle, beta = 5 and 7",
    applies: |case| case.d == 2,
    citation: "code of arXiv:2410.23228 draws the prediction at this n; its theorem is for n -> infinity, the share of seeds is ours",
    expected: Expected::Violated,
    almost_sure: false,
    cases: &[Case::new(20_000, 2, 5.0, "usa"), Case::new(20_000, 2, 7.0, "usa")],
    quick: 1,
    trials: (1, 5),
    trial: |case, ctx| share(case, ctx, 0.0),
    control: Control { what: "positions moved by half a spacing", trial: |ctx| share(&Case::new(20_000, 2, 5.0, "usa"), ctx, 0.5) },
};

fn share(case: &Case, ctx: &mut Context, shift: f64) -> Result<Finding> {
    let mut met = 0u32;
    for _ in 0..10 {
        let seed = ctx.stream.next_u64() >> 12;
        let text = format!("noise:amplitude={},modes=10,seed={seed}", (2.0 / case.n as f64).sqrt());
        met += u32::from(cluster_positions::met(case.beta, &Circle::from_density(&Density::parse(&text)?, 16)?, shift)?);
    }
    Ok(Finding::exact((f64::from(met) - 7.5) / 10.0))
}
