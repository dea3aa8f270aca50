//! Watanabe-Strogatz constants at beta = 0.

use crate::theorem::prelude::*;

const TIME: f64 = 1.0;
const TOLERANCE: f64 = 1e-11;
const CONTROL_BETA: f64 = 1.0;

/// # Derivation
///
/// At `beta = 0` every token is moved by the same vector, `x_i' = b - <b, x_i> x_i` with `b` the
/// mean (or minus it). So `<x_i, x_j>' = (<b, x_i> + <b, x_j>) (1 - <x_i, x_j>)`, and with `|x_i -
/// x_j|^2 = 2 (1 - <x_i, x_j>)`: `d/dt log |x_i - x_j|^2 = -<b, x_i> - <b, x_j>`. In the
/// cross-ratio every index occurs once in the numerator and once in the denominator, so the sum is
/// 0, for every `b(t)` and in every dimension.
pub static ENTRY: Claim = Claim {
    name: "cross-ratios",
    title: "Cross-ratios are conserved at `beta = 0`",
    then: "At `beta = 0`, `|x_i - x_j| |x_k - x_l| / (|x_i - x_l| |x_k - x_j|)` is constant in \
           time, for all `d` and masses and for `V = I` or `-I`.",
    tested: "over a time of {TIME}: its logarithm changes by at most {TOLERANCE} divided by the \
             shortest of the four chords",
    numbers: &[("TIME", TIME), ("TOLERANCE", TOLERANCE), ("CONTROL_BETA", CONTROL_BETA)],
    domain: Domain {
        n: Sizes::Range(4, 64),
        beta: Betas::List(&[0.0]),
        dynamics: &["sa", "usa", "repulsive-sa", "repulsive-usa"],
        laws: &["uniform", "cap:radius=0.3"],
        corners: &[(5, 2, 0.0), (8, 3, 0.0)],
        ..Domain::ATTENTION
    },
    source: "Watanabe, Strogatz, Physica D 74 (1994) 197; Lohe, J. Phys. A 51 (2018) 225101",
    trials: (40, 300),
    trial: change,
    constant: "the exponent of `|x_i - x_l|`",
    control: Control {
        what: "`beta = {CONTROL_BETA}`",
        trial: |ctx| change(&Case::with_random_masses(6, 2, CONTROL_BETA, "sa"), ctx),
    },
    ..Claim::IDENTITY
};

fn change(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let y = ctx.flow_to_with_tolerance(&case.build()?, &x, TIME, SYMMETRY_TOLERANCE)?;
    let exponent = ctx.claimed_constant(1.0);
    let chord = |x: &Tokens, a: usize, b: usize| chord2(x.row(a % x.n()), x.row(b % x.n())).sqrt();
    let ratio = |x: &Tokens, i: usize| {
        let c = |a: usize, b: usize| chord(x, a, b).ln();
        c(i, i + 1) + c(i + 2, i + 3) - exponent * c(i, i + 3) - c(i + 2, i + 1)
    };
    let shortest = |x: &Tokens, i: usize| {
        [(i, i + 1), (i + 2, i + 3), (i, i + 3), (i + 2, i + 1)]
            .iter()
            .map(|&(a, b)| chord(x, a, b))
            .fold(2.0, nan_min)
    };
    // The error of a run is at most e^2 (Lipschitz constant 2) times 1e-13 times the path length;
    // it affects both ends of four chords.
    let scaled =
        |i: usize| (ratio(&x, i) - ratio(&y, i)).abs() * shortest(&x, i).min(shortest(&y, i));
    Ok(Finding::identity((0..case.n).map(scaled).fold(0.0, nan_max), TOLERANCE))
}
