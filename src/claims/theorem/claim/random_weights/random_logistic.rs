//! Random values at beta = 0: the logistic law.

use crate::theorem::prelude::*;
use crate::theory::random_weights::logistic;

/// All tokens receive `V xbar`, a normal vector of length about `|xbar|`, so no matrix needs to be
/// formed.
///
/// # Derivation
///
/// All tokens add the same `eta V xbar`, a normal vector of variance `eta^2 rho/d` per coordinate,
/// `rho = |xbar|^2`. For d = infinity this vector is orthogonal to all tokens and has the length
/// `eta sqrt(rho)`, so every inner product u becomes `(u + eta^2 rho)/(1 + eta^2 rho)`, and so does
/// their mean rho: `rho+ - rho = eta^2 rho (1 - rho)` to leading order. In the time
/// `t = layers * eta^2` this is the logistic equation. Finite d adds fluctuations of the order 1/d.
pub static ENTRY: Claim = Claim {
    name: "random-logistic",
    title: "Random values, beta = 0: the squared mean follows u' = u (1 - u)",
    lets: "x+ = N(x + eta V xbar), where V is drawn anew in every layer with normal entries of \
           variance 1/d and xbar is the mean of n = 16 tokens near a common direction",
    then: "In the time t = layers eta^2, |xbar|^2 follows u' = u (1 - u), so it is u0/(u0 + \
           (1-u0) e^{-t}).",
    tested: "with d = 256, eta = 1/20 and t in {1/2, 1}: the mean of 6 runs agrees to 4 standard \
             errors plus 3/d + 1/100",
    domain: Domain {
        n: Sizes::Fixed(16),
        d: Sizes::Fixed(256),
        beta: Betas::List(&[0.0]),
        corners: &[],
        ..Domain::LAYERS
    },
    narrower: "equal weights (beta = 0); u0 about 0.3 (the order 1/d is derived, the tolerance \
               observed)",
    source: "arXiv:2604.01978 (clustering at small beta); derived at d = infinity",
    trials: (2, 10),
    trial: |case, ctx| mean(case, ctx, 1.0),
    control: Control {
        what: "the law at twice the time",
        trial: |ctx| mean(&Case::new(16, 256, 0.0, "random layers"), ctx, 2.0),
    },
    ..Claim::LAW
};

fn mean(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    /// Step of a layer: `t / ETA^2` layers make up the time t.
    const ETA: f64 = 0.05;
    let (n, d) = (case.n, case.d);
    let t = [0.5, 1.0][ctx.index(2)];
    let layers = (t / (ETA * ETA)).round() as usize;
    let mut noise = vec![0.0; d];
    let mut differences = Vec::new();
    for _ in 0..6 {
        let spread = Law::parse("uniform")?.sample(n, d, ctx.method_rng())?;
        let rows = spread
            .coordinates()
            .iter()
            .enumerate()
            .map(|(k, v)| v + if k % d == 0 { 0.6 } else { 0.0 })
            .collect();
        let mut x = Tokens::normalised(d, rows)?.coordinates().to_vec();
        let centre = |x: &[f64]| -> Vec<f64> {
            (0..d).map(|c| x.iter().skip(c).step_by(d).sum::<f64>() / n as f64).collect()
        };
        let square = |m: &[f64]| crate::num::sum::dot(m, m);
        let before = square(&centre(&x));
        for _ in 0..layers {
            ctx.method_rng().normals(&mut noise);
            let size = ETA * (square(&centre(&x)) / d as f64).sqrt();
            for row in x.chunks_exact_mut(d) {
                axpy(size, &noise, row);
                crate::sphere::geometry::retract(row);
            }
        }
        differences.push(square(&centre(&x)) - logistic(before, factor * t)?);
    }
    let (found, error) = mean_and_error(&differences);
    Ok(Finding::law(found, 0.0, 4.0 * error + 3.0 / d as f64 + 0.01, 0.0))
}
