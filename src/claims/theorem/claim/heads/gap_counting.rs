//! Long context: the inverse temperature at which a row attends to two keys.

use crate::theorem::prelude::*;
use crate::theory::long_context::two_key_beta;

const FEW: usize = 1000;
const MANY: usize = 8000;
const RATIO: usize = MANY / FEW;
const DRAWS: usize = 150;
const ERRORS: f64 = 4.0;
const ALLOWED: f64 = 0.02;

/// The critical inverse temperature, computed from one row.
///
/// # Derivation
///
/// The gaps `1 - <q, y_j>` of `n` uniform keys are a Poisson process with `n kappa_d
/// (2t)^{(d-1)/2}` points below `t`, for `t` to 0. Scaled by `n^{2/(d-1)}` its law does not depend
/// on `n`, and neither does that of the differences to the least gap. The `beta` with `sum_j
/// e^{-beta (s_max - s_j)} = 2` is a function of these differences, of degree -1: so
/// `beta/n^{2/(d-1)}` has a limit law. At finite `n` the fraction of keys with a gap below `t` is
/// that for `t (1 - (d-3) t/(2d+2))` to next order: the relevant keys at `n = 1000` have `t < 0.1`,
/// which changes the logarithm by less than 0.017 (`d = 5`; for `d = 3` it does not change). Of the
/// general statement, in terms of gap-counting functions, we know only the abstract.
///
/// The nearest keys of `n` are drawn by their order statistics: with independent exponential
/// numbers `e_j` the values `F(g_j) = (e_1 + .. + e_j)/(e_1 + .. + e_{n+1})`, `F` the law of one
/// gap, are those of `n` independent gaps in order. The same `e_j` for both `n` cancel most of the
/// sampling error. The 120 nearest determine the sum: in 240 rows the next one added at most `3e-5`
/// to it `(d = 5)`.
pub static ENTRY: Claim = Claim {
    name: "gap-counting",
    title: "Long context: a row attends to two keys at `beta` of the order `n^{2/(d-1)}`",
    lets: "`n` independent uniform keys `y_j` on `S^{d-1}` and a fixed query `q` give the scores \
           `s_j = <q, y_j>`, and let `beta_2` solve `sum_j e^{-beta (s_max - s_j)} = 2`",
    then: "The mean of `log beta_2` grows like `(2/(d-1)) log n`.",
    tested: "for `d` in {3, 4, 5}: from `n = {FEW}` to `n = {MANY}` the mean over {DRAWS} draws \
             grows by `(2/(d-1)) log {RATIO}`, to {ERRORS} standard errors plus {ALLOWED}",
    numbers: &[
        ("FEW", FEW as f64),
        ("MANY", MANY as f64),
        ("RATIO", RATIO as f64),
        ("DRAWS", DRAWS as f64),
        ("ERRORS", ERRORS),
        ("ALLOWED", ALLOWED),
    ],
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::List(&[3, 4, 5]),
        draws: "uniform keys, by their order statistics",
        ..Domain::FREE
    },
    narrower: "uniform keys; of the general law we have seen only the abstract",
    source: "derived for uniform keys; arXiv:2605.08505 (abstract)",
    trials: (3, 20),
    trial: |case, ctx| growth(case, ctx, 2.0 / (case.d as f64 - 1.0)),
    constant: "the exponent",
    control: Control {
        what: "the exponent `1/(d-1)`",
        trial: |ctx| growth(&Case::new(2, 3, 0.0, ""), ctx, 0.5),
    },
    ..Claim::LAW
};

/// Number of nearest keys.
const NEAREST: usize = 120;

fn growth(case: &Case, ctx: &mut Context, exponent: f64) -> Result<Finding> {
    let changes: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let stream = ctx.method_rng();
            let mut total = 0.0;
            let sums: Vec<f64> = (0..=MANY)
                .map(|_| {
                    total -= (1.0 - stream.uniform()).ln();
                    total
                })
                .collect();
            let log_beta = |n: usize| {
                let scores: Vec<f64> =
                    sums[..NEAREST].iter().map(|s| angle(case.d, s / sums[n]).cos()).collect();
                two_key_beta(&scores).map_or(f64::NAN, f64::ln)
            };
            log_beta(MANY) - log_beta(FEW)
        })
        .collect();
    let (mean, error) = mean_and_error(&changes);
    let stated = ctx.claimed_constant(exponent * (RATIO as f64).ln());
    Ok(Finding::law(mean, stated, ERRORS * error + ALLOWED, 0.0))
}

/// The angle within which a uniform point of `S^{d-1}` lies of another one with this probability,
/// for d = 3, 4, 5.
fn angle(d: usize, probability: f64) -> f64 {
    // The density of the angle is c sin^{d-2}.
    let c = [0.5, 2.0 / PI, 0.75][d - 3];
    let law = |t: f64| match d {
        3 => (0.5 * t).sin().powi(2),
        4 => (t - t.sin() * t.cos()) / PI,
        _ => (1.0 - t.cos()).powi(2) * (2.0 + t.cos()) / 4.0,
    };
    // Newton's method from the law for small angles, which is below the root.
    let mut t = (probability * (d as f64 - 1.0) / c).powf(1.0 / (d as f64 - 1.0)).min(1.5);
    for _ in 0..5 {
        t += (probability - law(t)) / (c * t.sin().powi(d as i32 - 2));
    }
    t
}
