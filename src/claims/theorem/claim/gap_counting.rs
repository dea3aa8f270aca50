//! Long context: the inverse temperature at which a row attends to two keys.

use crate::theorem::prelude::*;
use crate::theory::long_context::two_scores;

/// The scale of the critical inverse temperature, from a row alone.
///
/// # Derivation
///
/// The gaps `1 - <q, y_j>` of n uniform keys are a Poisson process with `n kappa_d (2t)^{(d-1)/2}` points below t, for t to 0. Scaled by `n^{2/(d-1)}` its law does not depend on n, and neither does that of the differences to the least gap. The
/// beta with `sum_j e^{-beta (s_max - s_j)} = 2` is a function of these differences, of degree -1: so `beta/n^{2/(d-1)}` has a limit law. At finite n the share below t is that of `t (1 - (d-3) t/(2d+2))` to next order: the keys that count at n = 250 have t < 0.2, which moves the logarithm by less than 0.034 (d = 5; d = 3: not at all). The general statement by gap-counting functions was seen in its abstract only.
pub static ENTRY: Claim = Claim {
    name: "gap-counting",
    title: "Long context: a row attends to two keys at beta of the order n^{2/(d-1)}",
    statement: "n independent uniform keys on S^{d-1}, d in {3, 4, 5}, a fixed query: log beta_2, beta_2 the solution of sum_j e^{-beta (s_max - s_j)} = 2, grows in the mean of 200 draws by (2/(d-1)) log 16 from n = 250 to n = 4000, within 4 standard errors and 0.05.",
    domain: Domain { n: Sizes::Unused, d: Sizes::List(&[3, 4, 5]), beta: Betas::Unused, ..Domain::EQUAL_MASSES },
    narrower: "uniform keys; the general law was seen in the abstract only",
    citation: "derived for uniform keys; arXiv:2605.08505 (abstract); Hayase and Karakida 2026 (abstract: gap-counting functions)",
    trials: (3, 20),
    trial: |case, ctx| growth(case, ctx, 2.0 / (case.d as f64 - 1.0)),
    perturbed: "the exponent",
    control: Control { what: "the exponent 1/(d-1)", trial: |ctx| growth(&Case::new(2, 3, 0.0, "keys"), ctx, 0.5) },
    ..Claim::LAW
};

fn growth(case: &Case, ctx: &mut Context, exponent: f64) -> Result<Finding> {
    let mut logs = |n: usize| {
        let mut key = vec![0.0; case.d];
        let draws: Vec<f64> = (0..200)
            .map(|_| {
                let mut score = || {
                    ctx.chance().normals(&mut key);
                    key[0] / norm(&key)
                };
                let scores: Vec<f64> = (0..n).map(|_| score()).collect();
                two_scores(&scores).map_or(f64::NAN, f64::ln)
            })
            .collect();
        mean_and_error(&draws)
    };
    let (few, many) = (logs(250), logs(4000));
    let error = few.1.hypot(many.1);
    let stated = ctx.stated(exponent * 16f64.ln());
    Ok(Finding::law(many.0 - few.0, stated, 4.0 * error + 0.05, 0.0))
}
