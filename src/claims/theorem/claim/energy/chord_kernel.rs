//! Inner products of unit vectors and distances.

use crate::theorem::prelude::*;

/// On the unit sphere |x - y|^2 = 2 - 2 <x, y>.
pub static ENTRY: Claim = Claim {
    name: "chord-kernel",
    title: "e^{beta <x, y>} = e^beta e^{-beta |x - y|^2/2} on the unit sphere",
    then: "e^{beta <x, y>} = e^beta e^{-beta |x - y|^2/2} for unit vectors x, y of R^d.",
    tested: "to a relative (8 + 2 d) eps (1 + beta)",
    domain: Domain { n: Sizes::Fixed(2), beta: Betas::Log(0.01, 100.0), ..Domain::SCORED },
    source: "arXiv:2312.10794, section 3.2",
    trials: (10, 100),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        Ok(kernel(x.row(0), x.row(1), case.beta))
    },
    control: Control {
        what: "vectors of length 2",
        trial: |ctx| {
            let x = ctx.tokens(&Case::new(2, 3, 1.0, "softmax weights"))?;
            let longer = |r: &[f64]| r.iter().map(|v| 2.0 * v).collect::<Vec<f64>>();
            Ok(kernel(&longer(x.row(0)), &longer(x.row(1)), 1.0))
        },
    },
    ..Claim::IDENTITY
};

fn kernel(x: &[f64], y: &[f64], beta: f64) -> Finding {
    let square: f64 = x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum();
    let off = (beta * dot(x, y) - beta + 0.5 * beta * square).exp_m1();
    // |x| = 1 to 2 u, <x, y> and |x - y|^2/2, at most 1 and 2, are sums of d terms.
    Finding::identity(off.abs(), (8.0 + 2.0 * x.len() as f64) * f64::EPSILON * (1.0 + beta))
}
