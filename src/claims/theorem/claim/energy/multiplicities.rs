//! Repeated tokens are masses.

use crate::theorem::prelude::*;

/// A prompt is the empirical measure of its tokens: a word that occurs twice has twice the mass.
pub static ENTRY: Claim = Claim {
    name: "multiplicities",
    title: "Tokens at the same point are one token of their total mass",
    then: "Under SA and USA, n tokens with multiplicities 1 to 4 have the same velocities as n \
           tokens with masses in the same proportions.",
    tested: "to 1e-13 e^beta",
    domain: Domain {
        n: Sizes::Range(2, 8),
        d: Sizes::Range(2, 6),
        beta: Betas::Log(0.01, 5.0),
        ..Domain::EQUAL_MASSES
    },
    source: "arXiv:2312.10794, section 3.1 (the empirical measure)",
    trials: (20, 120),
    trial: |case, ctx| velocity_difference(case, ctx, true),
    control: Control {
        what: "every token taken once",
        trial: |ctx| velocity_difference(&Case::new(4, 3, 2.0, "sa"), ctx, false),
    },
    ..Claim::IDENTITY
};

fn velocity_difference(case: &Case, ctx: &mut Context, counted: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.tokens(case)?;
    // One token has multiplicity 1 and one at least 2, since equal multiplicities would test
    // nothing.
    let counts: Vec<usize> = (0..n).map(|i| if i == 0 { 1 } else { 2 + ctx.index(3) }).collect();
    let rows: Vec<f64> = counts.iter().enumerate().flat_map(|(i, k)| x.row(i).repeat(*k)).collect();
    let long = Tokens::normalised(d, rows)?;
    let masses: Vec<f64> = counts.iter().map(|k| if counted { *k as f64 } else { 1.0 }).collect();
    let short = x.with_masses(&masses)?;
    let many = build_dynamics(case.dynamics, case.beta, long.n())?.velocity(&long);
    let few = build_dynamics(case.dynamics, case.beta, n)?.velocity(&short);
    let mut at = 0;
    let mut off = 0.0;
    for (i, k) in counts.iter().enumerate() {
        off = (0..d).map(|c| (many[at * d + c] - few[i * d + c]).abs()).fold(off, nan_max);
        at += k;
    }
    Ok(Finding::identity(off, 1e-13 * case.beta.exp()))
}
