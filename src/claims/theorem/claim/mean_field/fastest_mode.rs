//! The fastest mode of the uniform measure, and the beta at which it changes.

use crate::theorem::prelude::*;
use crate::theory::growth::{rates_sa, switch_points};

const MODES: usize = 40;
const LARGEST_DEGREE: usize = 24;
const CONTROL_FACTOR: f64 = 1.2;
const CONTROL_D: usize = 2;
const CONTROL_DEGREE: usize = 3;

/// # Derivation
///
/// By `mode-growth` the rates of two neighbouring degrees have the quotient `r_{k+1}/r_k = (1/R)
/// I_{v+1}(beta)/I_v(beta)`, `v = k + d/2 - 1` and `R = k (k+d-2)/((k+1)(k+d-1))`, for SA and for
/// USA. The quotient of Bessel functions increases from 0 to 1 with `beta` and decreases with `v`,
/// and `1/R` decreases with `k`. So for every `beta` the rates grow up to one degree and then fall,
/// and the quotient is 1 at exactly one `beta`, `b_k`. By the bounds of Amos (1974), `x/(c + (x^2 +
/// c^2)^(1/2))` with `c = v + 1` is at most the quotient of Bessel functions, and with `c = v +
/// 1/2` at least; it is `R` at `x = 2 c R/(1 - R^2)`.
///
/// For large `k`, `1 - R` is about `2/k` and `b_k` about `k^2/2`; for `k = 1` and large `d`, `R` is
/// about 1/2 and `b_1` about `2 d/3`.
pub static ENTRY: Claim = Claim {
    name: "fastest-mode",
    title: "The fastest mode of the uniform measure: about `sqrt(2 beta)` on the circle, and 1 up \
            to `beta = 2d/3` in high dimension",
    lets: "`r_k` be the growth rates of mode-growth (SA or USA), and let `R = k \
           (k+d-2)/((k+1)(k+d-1))`",
    then: "For every `beta > 0`, `r_k` increases up to one degree and then decreases. The fastest \
           degree is at most `k` for `beta < b_k` and at least `k + 1` for `beta > b_k`, where \
           `b_k` lies between `2 R/(1 - R^2)` times `k + (d-1)/2` and `k + d/2`.",
    tested: "by the rates at both ends of this interval, by the root `b_k`, and by the signs of \
             `r_{k+1} - r_k` for all `k` below {MODES} at the drawn `beta`",
    numbers: &[
        ("MODES", MODES as f64),
        ("LARGEST_DEGREE", LARGEST_DEGREE as f64),
        ("CONTROL_FACTOR", CONTROL_FACTOR),
        ("CONTROL_D", CONTROL_D as f64),
        ("CONTROL_DEGREE", CONTROL_DEGREE as f64),
    ],
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Range(2, 256),
        beta: Betas::Log(0.05, 500.0),
        dynamics: &["sa"],
        laws: &[],
        draws: "the degree `k` in [1, {LARGEST_DEGREE}]",
        ..Domain::EQUAL_MASSES
    },
    source: "derived, with the bounds of D. E. Amos, Math. Comp. 28 (1974); sharpens the degree \
             k_max of arXiv:2410.23228",
    trials: (60, 400),
    trial: |case, ctx| {
        let k = 1 + ctx.index(LARGEST_DEGREE);
        Ok(bracket(case.d, k, ctx, 1.0)?.and(one_maximum(case.d, case.beta)?))
    },
    constant: "the interval",
    control: Control {
        what: "an interval that is {CONTROL_FACTOR} times as far up, `d = {CONTROL_D}` and `k = \
               {CONTROL_DEGREE}`",
        trial: |ctx| bracket(CONTROL_D, CONTROL_DEGREE, ctx, CONTROL_FACTOR),
    },
    ..Claim::INEQUALITY
};

/// The rates at both ends of the interval of b_k, times a factor, and the root.
fn bracket(d: usize, k: usize, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (size, dimension) = (k as f64, d as f64);
    let r = size * (size + dimension - 2.0) / ((size + 1.0) * (size + dimension - 1.0));
    let scale = factor * 2.0 * r / (1.0 - r * r);
    let lower = scale * (size + 0.5 * (dimension - 1.0));
    let upper = scale * (size + 0.5 * dimension);
    let quotient = |beta: f64| rates_sa(d, beta, k + 1).map(|r| r[k + 1] / r[k]);
    let root = *switch_points(d, k)?.last().unwrap_or(&f64::NAN);
    Ok(Finding::at_most(quotient(lower)?, 1.0)
        .and(Finding::at_least(quotient(upper)?, 1.0))
        .and(Finding::at_least(root, ctx.claimed_constant(lower)))
        .and(Finding::at_most(root, ctx.claimed_constant(upper))))
}

/// Yes if the rates increase up to one degree and decrease from there on.
fn one_maximum(d: usize, beta: f64) -> Result<Finding> {
    let rates = rates_sa(d, beta, MODES)?;
    // Rates below the range of doubles are 0.
    let known = rates[1..].windows(2).take_while(|r| r[1] > 0.0);
    let falls: Vec<bool> = known.map(|r| r[1] < r[0]).collect();
    Ok(Finding::answer(falls.windows(2).all(|f| f[1] || !f[0])))
}
