//! Large beta at fixed density: attention becomes local.

use super::setting::{LEAST_DENSITY, MODES, density};
use crate::num::bessel::scaled_bessel_i;
use crate::num::fft::Complex64;
use crate::theorem::prelude::*;

/// The regime of moderate interaction: the backward heat equation (SA) and the backward porous
/// medium equation (USA), with an explicit remainder.
///
/// # Derivation
///
/// Let `W(x) = int e^{beta <x,y>} rho(y) dy` and `lambda_0` its value for `rho = 1`. Mode `k` of
/// `W` is that of `lambda_0 rho` times `q_k = I_k/I_0 = E cos k t` over the kernel's law of `t`.
/// With `eps = E(1 - cos t)` and `eps_2 = E(1 - cos t)^2`, `0 <= k^2 eps - (1 - q_k) <= k^2 (k^2 -
/// 1)/6 eps_2`, because the derivatives of the Chebyshev polynomial `T_k` are largest at 1. So
/// `W/lambda_0 = rho + eps rho'' + R` with `|R| <= N_4 = eps_2 (M_4 - M_2)/6`, `|R'| <= N_5 = eps_2
/// (M_5 - M_3)/6`, `M_j = sum k^j a_k` over the amplitudes. This is the result for USA. For SA,
/// with `u = (eps rho'' + R)/rho`, `(log W)' - (log rho)' = u' - u u'/(1 + u)`, `|u| <= eps
/// M_2/rho_min`, `|u'| <= eps (M_3/rho_min + M_1 M_2/rho_min^2)` and `1/(1 + u) <=
/// rho_max/rho_min`.
pub static ENTRY: Claim = Claim {
    name: "local-limit",
    title: "`beta -> infinity`: `beta v` tends to `grad log rho` (SA) and, divided by the integral \
            of `e^{beta <x,y>} dy`, to `grad rho` (USA)",
    lets: "the density `rho` on the circle has modes `k` of amplitudes `a_k`, and let `eps = 1 - \
           I_1/I_0 ~ 1/(2 beta)`, `M_j = sum_k k^j a_k` and `N_j = (M_j - M_{j-2}) E(1 - cos \
           t)^2/6 ~ (M_j - M_{j-2})/(8 beta^2)`, where `t` has the density `e^{beta cos t}/(2 pi \
           I_0)`",
    then: "For SA, `beta v - (log rho)' = eps (rho''/rho)' + r` with `|r| <= N_5/rho_min + N_4 \
           M_1/rho_min^2 + eps^2 (M_2/rho_min) (M_3/rho_min + M_1 M_2/rho_min^2) rho_max/rho_min`, \
           so the measure follows the heat equation backwards. For USA, `beta v/lambda_0 - rho' = \
           eps rho''' + r` with `|r| <= N_5`, so it follows a porous medium equation backwards.",
    numbers: &[
        ("POINTS", POINTS as f64),
        ("LEAST_MODES", MODES.0 as f64),
        ("MOST_MODES", MODES.1 as f64),
        ("PARTS", 1.0 / LEAST_DENSITY),
    ],
    domain: DOMAIN,
    tested: "on {POINTS} points of the circle",
    narrower: "`d = 2`; {LEAST_MODES} to {MOST_MODES} modes, `rho_min >= 1/{PARTS}`",
    source: "derived; the limit: arXiv:2110.11773 (small bandwidth), arXiv:2509.25040 (abstract)",
    trials: (60, 600),
    trial: |case, ctx| {
        let rho = density(ctx)?;
        remainder(case, ctx, &rho, case.row_weights()?)
    },
    constant: "the leading terms `eps (rho''/rho)'` and `eps rho'''`",
    control: Control {
        what: "the velocity of USA against the limit of SA",
        trial: |ctx| {
            let case = Case::new(1, 2, 300.0, "usa");
            remainder(
                &case,
                ctx,
                &Circle { c: [1.0, 0.2, 0.1].map(|c| Complex64::new(c, 0.0)).to_vec() },
                RowWeights::Softmax,
            )
        },
    },
    ..Claim::INEQUALITY
};

/// A trial draws a density.
const DOMAIN: Domain = Domain {
    n: Sizes::Unused,
    d: Sizes::Fixed(2),
    beta: Betas::Log(0.1, 300.0),
    laws: &[],
    draws: "a density 1 plus {LEAST_MODES} to {MOST_MODES} random modes",
    ..Domain::EQUAL_MASSES
};

/// Grid points at which the remainder is compared with its bound.
const POINTS: usize = 256;

fn remainder(case: &Case, ctx: &mut Context, rho: &Circle, limit: RowWeights) -> Result<Finding> {
    let i = scaled_bessel_i(2, case.beta);
    let (q1, q2) = (i[1] / i[0], i[2] / i[0]);
    let (eps, eps2) = (1.0 - q1, 1.5 - 2.0 * q1 + 0.5 * q2);
    let moment = |j: i32| {
        rho.c
            .iter()
            .enumerate()
            .skip(1)
            .map(|(k, c)| 2.0 * c.norm() * (k as f64).powi(j))
            .sum::<f64>()
    };
    let [m1, m2, m3, m4, m5] = [1, 2, 3, 4, 5].map(moment);
    let derivative = |order: u32| -> Vec<f64> {
        let wave = |(k, c): (usize, &Complex64)| c * (Complex64::i() * k as f64).powu(order);
        Circle { c: rho.c.iter().enumerate().map(wave).collect() }.values(POINTS)
    };
    let [r0, r1, r2, r3] = [0, 1, 2, 3].map(derivative);
    // Between two grid points the density differs by at most M_2 (pi/256)^2/2.
    let between = 0.5 * m2 * (std::f64::consts::PI / POINTS as f64).powi(2);
    let low = r0.iter().copied().fold(f64::INFINITY, nan_min) - between;
    let high = nan_max(r0.iter().copied().fold(f64::NEG_INFINITY, nan_max) + between, 0.0);
    let (n4, n5) = (eps2 * (m4 - m2) / 6.0, eps2 * (m5 - m3) / 6.0);
    let usa = case.row_weights()? == RowWeights::Exponential;
    let bound = if usa {
        n5
    } else {
        n5 / low
            + n4 * m1 / (low * low)
            + eps * eps * m2 / low * (m3 / low + m1 * m2 / (low * low)) * high / low
    };
    let v = rho.velocity(&MeasureDynamics::new(case.dynamics, case.beta, 0.0)?, POINTS)?;
    let scale = if usa { case.beta / i[0] / case.beta.exp() } else { case.beta };
    let lead = ctx.claimed_constant(eps);
    let at = |j: usize| match limit {
        RowWeights::Exponential => scale * v[j] - r1[j] - lead * r3[j],
        RowWeights::Softmax | RowWeights::Sinkhorn => {
            scale * v[j] - r1[j] / r0[j] - lead * (r3[j] / r0[j] - r2[j] * r1[j] / (r0[j] * r0[j]))
        }
    };
    let worst = largest((0..POINTS).map(|j| at(j).abs()));
    let rounding = 64.0 * f64::EPSILON * (m1 + m3) * (1.0 + m1 / low) / low;
    // USA attains its bound in the limit, so rounding errors must be allowed.
    let bound = bound + 4.0 * rounding;
    Ok(Finding::at_most(worst, bound).with_evaluation_error(rounding / bound))
}
