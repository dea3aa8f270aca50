//! The prefix property.

use crate::theorem::prelude::*;

/// Under a causal mask the first tokens do not depend on the later ones, bit for bit as long as n
/// is fixed. The order of summation depends on n, so removing later tokens (instead of replacing
/// them) changes roundings, from about n = 256 on.
///
/// # Derivation
///
/// Token k is moved by `sum_{j <= k} A_kj V x_j` with weights that are normalised over `j <= k`:
/// the later tokens do not enter. The first token has one weight, 1, and `P_{x_1} x_1 = 0`.
pub static ENTRY: Claim = Claim {
    name: "causal-prefix",
    title: "Causal attention: the prefix property",
    then: "Under a causal mask, the velocities of x_1, ..., x_k do not depend on x_{k+1}, ..., \
           x_n and their masses, and the first token does not move.",
    tested: "bit for bit if the later tokens are replaced, and to 16 eps (n + d + |beta|) of \
             sum_{j <= i} A_ij |P_i x_j| if they are removed",
    domain: Domain {
        n: Sizes::Range(2, 300),
        d: Sizes::Range(2, 32),
        beta: Betas::Signed(0.01, 300.0),
        dynamics: &["causal-sa", "causal-usa"],
        laws: &["uniform", "cap:radius=0.3"],
        corners: &[(2, 2, 0.0), (256, 8, 5.0), (6, 3, 2.0)],
        ..Domain::ATTENTION
    },
    narrower: "Q = K = V = I",
    source: "arXiv:2411.04990, section 2",
    trials: (40, 200),
    trial: differing,
    control: Control {
        what: "SA without a mask",
        trial: |ctx| differing(&Case::with_random_masses(6, 3, 2.0, "sa"), ctx),
    },
    ..Claim::IDENTITY
};

fn differing(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let (n, d, beta) = (case.n, case.d, case.beta);
    let (x, other) = (ctx.tokens(case)?, ctx.tokens(case)?);
    let k = 1 + ctx.index(n - 1);
    // The masses of the prefix are kept and not renormalised.
    let parts = |a: &Tokens, from: usize, to: usize| {
        (a.coordinates()[from * d..to * d].to_vec(), a.masses()[from..to].to_vec())
    };
    let ((rows, masses), (more, heavier)) = (parts(&x, 0, k), parts(&other, k, n));
    let replaced =
        Tokens::from_parts(d, [&rows[..], &more].concat(), [&masses[..], &heavier].concat());
    let prefix = Tokens::from_parts(d, rows, masses);
    let long = ctx.velocity(case, &x)?;
    let bits = ctx.velocity(case, &replaced)?[..k * d]
        .iter()
        .zip(&long)
        .filter(|(a, b)| a.to_bits() != b.to_bits())
        .count();
    let still = long[..d].iter().filter(|v| **v != 0.0).count();
    let short = ctx.velocity(case, &prefix)?;
    let exponential = case.row_weights()? == RowWeights::Exponential;
    let mut worst: f64 = 0.0;
    for i in 0..k {
        let weights: Vec<f64> = (0..=i)
            .map(|j| prefix.masses()[j] * (beta * prefix.inner(i, j) - beta.abs()).exp())
            .collect();
        let total = if exponential { (-beta.abs()).exp() } else { weights.iter().sum() };
        let size: f64 =
            weights.iter().enumerate().map(|(j, w)| w * sine(&prefix, i, j)).sum::<f64>() / total;
        let allowed = 16.0 * f64::EPSILON * ((n + d) as f64 + beta.abs()) * (size + TINY);
        worst =
            (i * d..(i + 1) * d).map(|c| (short[c] - long[c]).abs() / allowed).fold(worst, nan_max);
    }
    Ok(Finding::identity(worst + (bits + still) as f64 * 2.0, 1.0))
}
