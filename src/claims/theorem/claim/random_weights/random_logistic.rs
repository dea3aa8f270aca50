//! Random values at beta = 0: the logistic law.

use crate::theorem::prelude::*;
use crate::theory::random_weights::logistic;

const TOKENS: usize = 16;
const WIDTH: usize = 256;
/// Step of a layer: `t / ETA^2` layers make up the time t.
const ETA: f64 = 0.1;
const PAIRS_OF_RUNS: usize = 12;
const ERRORS: f64 = 4.0;
/// The relative error of finite d, times d.
const REMAINDER: f64 = 3.0;

/// All tokens receive `V xbar`, a normal vector of length about `|xbar|`, so no matrix needs to be
/// formed.
///
/// # Derivation
///
/// All tokens add the same `eta V xbar`, a normal vector of variance `eta^2 rho/d` per coordinate,
/// `rho = |xbar|^2`. By `random-value-drift` with all means equal to `xbar`, an inner product `R`
/// changes in the mean by `eta^2 rho (1 - R) (1 - (2 + R)/d)`. The mean of all `R` is `rho`, so
/// `rho' = rho (1 - rho)` in the time `t = layers eta^2`, up to a relative `3/d`. The fluctuations
/// of `rho` have a variance of order `1/d`, which changes the mean of `rho (1 - rho)` by as much.
///
/// Runs are made in pairs with `V` and `-V`, so that the part of `rho` that is linear in `V`
/// cancels.
pub static ENTRY: Claim = Claim {
    name: "random-logistic",
    title: "Random values, `beta = 0`: the squared mean follows `u' = u (1 - u)`",
    lets: "`x+ = N(x + eta V xbar)`, where `V` is drawn anew in every layer with normal entries of \
           variance `1/d` and `xbar` is the mean of `n = {TOKENS}` tokens near a common direction",
    then: "In the time `t` = layers `eta^2`, `|xbar|^2` follows `u' = u (1 - u)`, so it is `u0/(u0 \
           + (1-u0) e^{-t})`.",
    tested: "with `d = {WIDTH}`, `eta = 1/{PARTS}` and `t` in {1/2, 1}: the mean over \
             {PAIRS_OF_RUNS} pairs of runs with `V` and `-V` agrees to {ERRORS} standard errors \
             plus `{REMAINDER}/d`",
    numbers: &[
        ("TOKENS", TOKENS as f64),
        ("WIDTH", WIDTH as f64),
        ("PARTS", 1.0 / ETA),
        ("PAIRS_OF_RUNS", PAIRS_OF_RUNS as f64),
        ("ERRORS", ERRORS),
        ("REMAINDER", REMAINDER),
    ],
    domain: Domain {
        n: Sizes::Fixed(TOKENS),
        d: Sizes::Fixed(WIDTH),
        draws: "tokens near a common direction, and new weights in every layer",
        ..Domain::FREE
    },
    narrower: "equal weights `(beta = 0)`; `u0` about 0.3",
    source: "arXiv:2604.01978 (clustering at small beta); derived at d = infinity",
    trials: (2, 10),
    trial: |case, ctx| mean(case, ctx, 1.0),
    constant: "the time",
    control: Control {
        what: "the law at twice the time",
        trial: |ctx| mean(&Case::new(TOKENS, WIDTH, 0.0, ""), ctx, 2.0),
    },
    ..Claim::LAW
};

fn mean(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let t = [0.5, 1.0][ctx.index(2)];
    let layers = (t / (ETA * ETA)).round() as usize;
    let claimed = ctx.claimed_constant(factor * t);
    let square = |x: &[f64]| {
        let mut centre = vec![0.0; d];
        x.chunks_exact(d).for_each(|row| axpy(1.0 / n as f64, row, &mut centre));
        dot(&centre, &centre)
    };
    let mut noise = vec![0.0; d];
    let mut differences = Vec::new();
    for _ in 0..PAIRS_OF_RUNS {
        let spread = Law::parse("uniform")?.sample(n, d, ctx.method_rng())?;
        let rows = spread
            .coordinates()
            .iter()
            .enumerate()
            .map(|(k, v)| v + if k % d == 0 { 0.6 } else { 0.0 })
            .collect();
        let start = Tokens::normalised(d, rows)?.coordinates().to_vec();
        let stated = logistic(square(&start), claimed)?;
        let mut runs = [(1.0, start.clone()), (-1.0, start)];
        for _ in 0..layers {
            ctx.method_rng().normals(&mut noise);
            for (sign, x) in &mut runs {
                let size = *sign * ETA * (square(x) / d as f64).sqrt();
                for row in x.chunks_exact_mut(d) {
                    axpy(size, &noise, row);
                    retract(row);
                }
            }
        }
        differences.push(0.5 * (square(&runs[0].1) + square(&runs[1].1)) - stated);
    }
    let (found, error) = mean_and_error(&differences);
    Ok(Finding::law(found, 0.0, ERRORS * error + REMAINDER / d as f64, 0.0))
}
