//! Noise: strong order of paths.

use super::noise_step_mean::NOISE;
use crate::num::stats::slope;
use crate::sphere::geometry::{exp, project};
use crate::theorem::prelude::*;

/// The fields `P e_i` do not commute, not even on the circle, where noise in the angle alone would.
/// The laws agree, the couplings do not.
///
/// # Derivation
///
/// A coarse step uses the sum w of the increments, the fine steps follow the path. To second order
/// they differ in two ways. The flow of the sum of the fields differs from the path by the brackets
/// of the fields `P e_i` times the areas that the path encloses. And the geodesic along `P w`
/// differs from the flow of the field `P w` for constant w by `<x, w> P w/2`, with no bracket. On
/// the circle, at the angle t, the two are the area and
/// `(1/4) sin 2t (dW_1^2 - dW_2^2) - (1/2) cos 2t dW_1 dW_2`. Both are of the order h in a step of
/// length h, and their mean given the past is 0: areas are symmetric about 0, and `<x, w>` is
/// independent of `P w`. After 1/h such steps this adds up to `h^{1/2}`. The brackets are rotations
/// and do not vanish, not even on the circle, where the two components of dW enter; with a single
/// increment of the angle, steps are exact.
pub static ENTRY: Claim = Claim {
    name: "noise-strong-order",
    title: "Noise: geodesic steps of ambient Brownian motion have strong order 1/2",
    then: "Simulate pure noise on S^{d-1} by geodesic steps along P dW, W in R^d, where the \
           increments of coarse steps are sums of those of fine steps. The root mean square \
           distance to the path with 2048 steps over the time kappa/8 decreases like h^{1/2}.",
    tested: "as: the slope over 8..128 steps, from 300 paths, is 1/2 to 0.2",
    domain: Domain { d: Sizes::List(&[2, 3]), beta: Betas::List(&[1.0]), ..NOISE },
    narrower: "kappa = 1 (the order is derived, the tolerance observed)",
    source: "derived (commutators of the noise fields)",
    trials: (2, 10),
    trial: |case, ctx| order(case, ctx, 0.5),
    control: Control {
        what: "the order 1",
        trial: |ctx| order(&Case::new(2, 3, 1.0, "noise"), ctx, 1.0),
    },
    ..Claim::LAW
};

fn order(case: &Case, ctx: &mut Context, stated: f64) -> Result<Finding> {
    /// Steps of the reference path; the others have 8, 32 and 128.
    const FINE: usize = 2048;
    let (d, time) = (case.d, 0.125);
    let counts = [8, 32, 128];
    let mut squares = [0.0; 3];
    let mut w = vec![0.0; FINE * d];
    for _ in 0..300 {
        ctx.method_rng().normals(&mut w);
        let size = (2.0 * time / FINE as f64).sqrt();
        let path = |count: usize| {
            let mut x = vec![0.0; d];
            x[0] = 1.0;
            for chunk in w.chunks_exact(FINE / count * d) {
                let mut u: Vec<f64> =
                    (0..d).map(|c| size * chunk.iter().skip(c).step_by(d).sum::<f64>()).collect();
                project(&x, &mut u);
                x = exp(&x, &u);
            }
            x
        };
        let exact = path(FINE);
        for (square, count) in squares.iter_mut().zip(counts) {
            let gap: Vec<f64> = path(count).iter().zip(&exact).map(|(a, b)| a - b).collect();
            *square += dot(&gap, &gap);
        }
    }
    let points: Vec<(f64, f64)> =
        counts.iter().zip(squares).map(|(n, s)| (-(*n as f64).ln(), 0.5 * s.ln())).collect();
    Ok(Finding::law(slope(&points), stated, 0.2, 0.0))
}
