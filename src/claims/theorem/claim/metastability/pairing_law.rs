//! The last stage of metastability: two clusters after a change of time.

use crate::num::ode::advance;
use crate::theorem::prelude::*;

/// The corrected statement, with an error bound.
///
/// # Derivation
///
/// With `a = (1-alpha)/alpha` and `w = e^{-beta (1 - rho)}` the exact equation in the new time s is
/// `rho' = (1 - rho^2) (a/(1 + a w) + (1/a)/(1 + w/a))`, so `u = artanh rho` is below `c s` by at
/// most `int (a^2/(1 + a w) + a^{-2}/(1 + w/a)) w ds <= (c^2 - 2) e^{-0.4 beta} s` while
/// `rho <= 0.6`, and rho is below by no more.
pub static ENTRY: Claim = Claim {
    name: "pairing-law",
    title: "Two SA clusters in the time s with dt = e^{beta (1 - rho)} ds: rho(s) = tanh(c_alpha s \
            + artanh rho_0)",
    lets: "two clusters have masses alpha and 1 - alpha and initial cosine rho_0 in [-0.95, 0.5]",
    then: "Change time by dt = e^{beta (1 - rho(t))} ds and let c = (1-alpha)/alpha + \
           alpha/(1-alpha). While rho <= 0.6, rho(s) differs from tanh(c s + artanh rho_0) by at \
           most (c^2 - 2) e^{-0.4 beta} s.",
    tested: "at 16 times s <= (artanh 0.6 - artanh rho_0)/c, with 1e-8 added for the integration \
             error",
    domain: DOMAIN,
    source: "corrected from the pairing theorem of arXiv:2512.01868; derived",
    status: Status::Corrected,
    trials: (48, 400),
    trial: |case, ctx| deviation(case, ctx, PairingLaw::Corrected),
    constant: "the factor c",
    control: Control {
        what: "the factor 2 of equal masses, used for masses 1/4 and 3/4",
        trial: |ctx| {
            deviation(&Case::new(2, 2, 40.0, "sa").with_law("placed"), ctx, PairingLaw::Two)
        },
    },
    ..Claim::INEQUALITY
};

const DOMAIN: Domain = Domain {
    n: Sizes::Fixed(2),
    beta: Betas::Log(2.0, 200.0),
    dynamics: &["sa"],
    laws: &["placed"],
    ..Domain::ATTENTION
};

/// The time change and the constant that are tested.
#[derive(Clone, Copy, PartialEq)]
pub enum PairingLaw {
    /// Time change by the current rho, constant `c_alpha`.
    Corrected,
    /// Time change by the current rho, constant 2, masses 1/4 and 3/4.
    Two,
    /// Time change by the initial rho, constant 2.
    Printed,
    /// Time change by the current rho, constant 2, equal masses.
    Equal,
}

/// Largest deviation of rho from the law until it predicts rho = 0.6; for the corrected law,
/// relative to the bound at the same time.
pub fn deviation(case: &Case, ctx: &mut Context, law: PairingLaw) -> Result<Finding> {
    let (beta, d) = (case.beta, case.d);
    let drawn = ctx.masses(2);
    let alpha = match law {
        PairingLaw::Two => 0.25,
        PairingLaw::Equal => 0.5,
        PairingLaw::Corrected | PairingLaw::Printed => drawn[0] / (drawn[0] + drawn[1]),
    };
    let start = ctx.uniform_in(-0.95, 0.5);
    let c = (1.0 - alpha) / alpha + alpha / (1.0 - alpha);
    let rate = if law == PairingLaw::Corrected { ctx.claimed_constant(c) } else { 2.0 };
    let flow = build_dynamics("sa", beta, 2)?;
    let mut x = vec![0.0; 2 * d];
    x[0] = 1.0;
    (x[d], x[d + 1]) = (start, (1.0 - start * start).sqrt());
    let velocity = |y: &[f64], out: &mut [f64]| {
        match Tokens::normalised(d, y.to_vec()).and_then(|x| x.with_masses(&[alpha, 1.0 - alpha])) {
            Ok(x) => out.copy_from_slice(&flow.velocity(&x)),
            Err(_) => out.fill(f64::NAN),
        }
        let clock = (beta
            * (1.0 - if law == PairingLaw::Printed { start } else { dot(&y[..d], &y[d..]) }))
        .exp();
        scale(clock, out);
    };
    let mut end =
        (0.6f64.atanh() - start.atanh()) / if law == PairingLaw::Corrected { c } else { 2.0 };
    if law == PairingLaw::Printed {
        // With the time change by the initial rho a pair collapses at s = 1/(beta c (1 - rho^2)),
        // where the integration ends. It has left the law before.
        end = end.min(0.9 / (beta * c * (1.0 - start * start)));
    }
    let (mut worst, pieces, accuracy) = (0.0f64, 16, 1e-2 * ctx.rtol());
    for k in 1..=pieces {
        let s = end * f64::from(k) / f64::from(pieces);
        x = advance(velocity, &x, end / f64::from(pieces), (accuracy, accuracy), 20_000)?;
        let off = (dot(&x[..d], &x[d..]) - (rate * s + start.atanh()).tanh()).abs();
        // 1e-8: a thousand times the tolerance of the integration.
        let derived = (c * c - 2.0) * (-0.4 * beta).exp() * s + 1e3 * accuracy;
        worst = nan_max(worst, if law == PairingLaw::Corrected { off / derived } else { off });
        // The false laws are compared with 1e-3 only; later times are not needed and may end in a
        // collapse.
        if law != PairingLaw::Corrected && worst > 0.05 {
            break;
        }
    }
    Ok(Finding::at_most(worst, if law == PairingLaw::Corrected { 1.0 } else { 1e-3 }))
}
