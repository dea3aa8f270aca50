//! Noise: correlations of particles below the threshold.

use super::setting::{TIMES, pair_mean};
use crate::num::gegenbauer::scaled_funk_hecke;
use crate::theorem::prelude::*;
use crate::theory::noise::threshold;

const PARTICLES: usize = 8;
const ERRORS: f64 = 4.0;
/// Length of a run in units of kappa.
const LENGTH: f64 = 20.0;
const PERCENT: f64 = 5.0;
const RATIOS: (f64, f64) = (0.15, 0.3);

/// The pair correlation of n particles to the second order in 1/n. At the threshold of the density
/// it diverges.
///
/// # Derivation
///
/// The stationary density `e^{n kappa E_beta}` is `exp(sum_k r_k sum_m A_km^2/2)` relative to
/// independent uniform tokens, with `A_km = n^{-1/2} sum_i Y_km(x_i)`, real spherical harmonics
/// `Y_km` of degree `k >= 1` and mean square 1, and `r_k = kappa lambda_k/beta`, `r_1 = r`. For
/// independent tokens the `A_km` have variance 1, third cumulants of size `n^{-1/2}`, fourth ones
/// of size `1/n`. So to leading order `G = E A_1m^2 = 1/(1 - r)`, and in general `G = P/(1 - r P)`,
/// where `P = 1 + p/n + O(1/n^2)` sums the diagrams that no line `r_1` cuts in two. Other lines are
/// `D_k = r_k/(1 - r_k)`. Two diagrams have the order `1/n`.
///
/// One fourth cumulant and a line: `sum_k (D_k/2) sum_m c(Y_1, Y_1, Y_km, Y_km)`. By the addition
/// theorem `sum_m Y_km^2` is constant, so the cumulants add up to -2 for `k = 1` and to 0
/// otherwise: `-D_1`. Two third cumulants and two lines: `(1/2) sum_{k,l} D_k D_l sum_{m,m'} (E Y_1
/// Y_km Y_lm')^2`. With zonal polynomials `P_k` and `N_k` harmonics of degree `k` the inner sum is
/// `N_k N_l E P_1 P_k P_l`, and `t P_k = ((k+d-2) P_{k+1} + k P_{k-1})/(2k+d-2)`, `E P_l^2 = 1/N_l`
/// leave `sum_k C(k+d-2, k) D_k D_{k+1}`. Finally `(n-1) <x_i, x_j>` has the mean `G - 1`.
pub static ENTRY: Claim = Claim {
    name: "noisy-fluctuations",
    title: "Noisy USA below the threshold: `(n-1) <x_i, x_j>` has mean `r/(1 - r) + c/n`, `r = \
            kappa/kappa_c`",
    lets: "`n` particles of noisy USA be in their stationary law, of density `e^{n kappa E_beta}`, \
           where `kappa = r kappa_c`, `r < 1` and `beta <= beta_*`. Let `D_k = r_k/(1 - r_k)` with \
           `r_k = r lambda_k/lambda_1`",
    then: "For `n -> infinity`, `(n-1) E <x_i, x_j> = r/(1 - r) + c/n + O(1/n^2)` with `c = \
           (sum_{k >= 1} C(k+d-2, k) D_k D_{k+1} - D_1)/(1 - r)^2`.",
    tested: "for {PARTICLES} particles, from {DRAWS} draws of uniform tokens weighted by the \
             density, to {ERRORS} standard errors plus `r/(n^2 (1 - r)^5)` (the constant 1 is \
             observed); and from {RUNS} runs of noisy USA, by Strang steps over {TIMES} times up \
             to `{LENGTH} kappa`, to {ERRORS} standard errors plus that and {PERCENT} % for the \
             steps",
    numbers: &[
        ("PARTICLES", PARTICLES as f64),
        ("DRAWS", DRAWS as f64),
        ("ERRORS", ERRORS),
        ("RUNS", RUNS as f64),
        ("TIMES", TIMES as f64),
        ("LENGTH", LENGTH),
        ("PERCENT", PERCENT),
        ("LEAST", RATIOS.0),
        ("MOST", RATIOS.1),
    ],
    domain: Domain {
        n: Sizes::Fixed(PARTICLES),
        d: Sizes::List(&[2, 3, 5]),
        beta: Betas::Linear(0.25, 1.25),
        dynamics: &["usa"],
        draws: "`r` in [{LEAST}, {MOST}]",
        ..Domain::EQUAL_MASSES
    },
    narrower: "`r` at most {MOST}, so that the weights vary little",
    source: "derived by diagrams; that the remainder is O(1/n^2) is observed",
    status: Status::Observation,
    trials: (4, 20),
    trial: |case, ctx| {
        let r = ctx.uniform_in(RATIOS.0, RATIOS.1);
        Ok(correlation(case, ctx, r, second_order)?.and(by_steps(case, ctx, r)?))
    },
    constant: "the mean",
    control: Control {
        what: "the first order alone",
        trial: |ctx| correlation(&Case::new(PARTICLES, 2, 1.0, "usa"), ctx, RATIOS.1, |_, _| 0.0),
    },
    ..Claim::LAW
};

/// Number of weighted draws of all particles.
const DRAWS: usize = 40_000;
/// Number of runs of the noisy flow.
const RUNS: usize = 80;
/// Degrees of the series of c.
const DEGREES: usize = 12;

/// Compares the mean at `kappa = r kappa_c` with `r/(1 - r)` plus a second order.
fn correlation(
    case: &Case,
    ctx: &mut Context,
    r: f64,
    second_order: fn(&Case, f64) -> f64,
) -> Result<Finding> {
    let kappa = r * threshold(case.d, 1, case.beta)?;
    let law = Law::parse("uniform")?;
    let n = case.n as f64;
    // log of the density up to a constant, and (n-1) times the mean inner product.
    let mut draws = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let x = law.sample(case.n, case.d, ctx.method_rng())?;
        let (energy, inner) = pairs(case.n).fold((0.0, 0.0), |(e, s), (i, j)| {
            let g = x.inner(i, j);
            (e + (case.beta * g).exp(), s + g)
        });
        draws.push((kappa * energy / (case.beta * n), 2.0 * inner / n));
    }
    let top = draws.iter().map(|d| d.0).fold(f64::NEG_INFINITY, nan_max);
    let weights: Vec<f64> = draws.iter().map(|d| (d.0 - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    let found = weights.iter().zip(&draws).map(|(w, d)| w * d.1).sum::<f64>() / total;
    let error =
        norm(&weights.iter().zip(&draws).map(|(w, d)| w * (d.1 - found)).collect::<Vec<_>>())
            / total;
    let claimed = ctx.claimed_constant(r / (1.0 - r) + second_order(case, r));
    let remainder = r / (n * n * (1.0 - r).powi(5));
    Ok(Finding::law(found, claimed, ERRORS * error + remainder, 0.0))
}

/// The same mean from runs that start at uniform tokens, over times at which these are forgotten.
fn by_steps(case: &Case, ctx: &mut Context, r: f64) -> Result<Finding> {
    let kappa = r * threshold(case.d, 1, case.beta)?;
    let (law, n) = (Law::parse("uniform")?, case.n as f64);
    let starts = (0..RUNS)
        .map(|_| law.sample(case.n, case.d, ctx.method_rng()))
        .collect::<Result<Vec<_>>>()?;
    let (found, error) = pair_mean(case.beta, kappa, &starts, LENGTH, ctx.method_rng())?;
    let claimed = r / (1.0 - r) + second_order(case, r);
    let remainder = r / (n * n * (1.0 - r).powi(5));
    let allowed = ERRORS * (n - 1.0) * error + PERCENT / 100.0 * claimed + remainder;
    Ok(Finding::law((n - 1.0) * found, claimed, allowed, 0.0))
}

/// `c/n`.
fn second_order(case: &Case, r: f64) -> f64 {
    let lambda = scaled_funk_hecke(case.d, DEGREES, case.beta);
    let line = |k: usize| {
        let r = r * lambda[k] / lambda[1];
        r / (1.0 - r)
    };
    let (mut binomial, mut sum) = (1.0, 0.0);
    for k in 1..DEGREES {
        binomial *= (k + case.d - 2) as f64 / k as f64;
        sum += binomial * line(k) * line(k + 1);
    }
    (sum - line(1)) / (case.n as f64 * (1.0 - r).powi(2))
}
