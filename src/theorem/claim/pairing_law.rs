//! The last stage of metastability: two clusters on their own clock.

use super::{Case, Claim, Context, Control, Expected, Finding, plain};
use crate::error::Result;
use crate::num::ode::advance;
use crate::sphere::Tokens;

/// The corrected statement.
pub static ENTRY: Claim = Claim {
    name: "pairing-law",
    title: "Two SA clusters on the clock dt = e^{beta (1 - rho)} ds: rho(s) = tanh(c_alpha s + artanh rho_0)",
    statement: "Clusters of masses alpha, 1 - alpha on the clock dt = e^{beta (1 - rho(t))} ds, c_alpha = (1-alpha)/alpha + alpha/(1-alpha): the cosine of their angle is tanh(c_alpha s + artanh rho_0) while \
                rho <= 0.6, deviation at most 1e-3.",
    hypotheses: "beta >= 40, alpha in [0.2, 0.8], rho_0 in [-0.3, 0.3]",
    applies: |case| case.beta >= 40.0 && case.n == 2,
    citation: "corrected from the pairing theorem of arXiv:2512.01868; derived",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(2, 2, 40.0, "sa"), Case::new(2, 5, 60.0, "sa"), Case::new(2, 3, 100.0, "sa")],
    quick: 2,
    trials: (3, 20),
    trial: |case, ctx| deviation(case, ctx, Law::Corrected),
    control: Control {
        what: "the factor 2 of equal masses for unequal ones",
        trial: |ctx| deviation(&Case::new(2, 2, 40.0, "sa"), ctx, Law::EqualMasses),
    },
};

/// Which clock and constant are tried.
#[derive(Clone, Copy, PartialEq)]
pub enum Law {
    /// State-dependent clock, `c_alpha`.
    Corrected,
    /// State-dependent clock, factor 2.
    EqualMasses,
    /// The clock of the start, factor 2.
    Printed,
}

/// Largest deviation of rho from the law until it predicts rho = 0.6.
pub fn deviation(case: &Case, ctx: &mut Context, law: Law) -> Result<Finding> {
    let (mut alpha, rho) = (ctx.stream.uniform_in(0.2, 0.8), ctx.stream.uniform_in(-0.3, 0.3));
    if law == Law::EqualMasses {
        alpha = 0.25;
    }
    let rate = if law == Law::Corrected { (1.0 - alpha) / alpha + alpha / (1.0 - alpha) } else { 2.0 };
    let (beta, d) = (case.beta, case.d);
    let flow = plain("sa", beta, 2)?;
    let mut x = vec![0.0; 2 * d];
    x[0] = 1.0;
    (x[d], x[d + 1]) = (rho, (1.0 - rho * rho).sqrt());
    let velocity = |y: &[f64], out: &mut [f64]| {
        let tokens = Tokens::normalised(d, y.to_vec()).and_then(|x| x.with_masses(&[alpha, 1.0 - alpha]));
        match tokens {
            Ok(x) => flow.velocity(&x, out),
            Err(_) => out.fill(f64::NAN),
        }
        let inner: f64 = y[..d].iter().zip(&y[d..]).map(|(a, b)| a * b).sum();
        let clock = (beta * (1.0 - if law == Law::Printed { rho } else { inner })).exp();
        out.iter_mut().for_each(|v| *v *= clock);
    };
    let end = (0.6f64.atanh() - rho.atanh()) / rate;
    let mut worst = 0.0f64;
    // On the clock of the start a pair collapses within 1/beta and then no step follows it: short pieces see it leave the law before.
    let pieces = if law == Law::Printed { 8192 } else { 16 };
    for k in 1..=pieces {
        let s = end * f64::from(k) / f64::from(pieces);
        x = advance(velocity, &x, end / f64::from(pieces), (1e-11, 1e-13), 20_000)?;
        let inner: f64 = x[..d].iter().zip(&x[d..]).map(|(a, b)| a * b).sum();
        worst = worst.max((inner - (rate * s + rho.atanh()).tanh()).abs());
        if worst > 0.05 {
            break;
        }
    }
    Ok(Finding::at_most(worst, 1e-3))
}
