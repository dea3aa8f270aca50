//! The circle theorem of arXiv:2405.18273.

use super::setting::{CIRCLE, critical_point, is_unstable, polygon, polynomial, steep_sigmoid};
use crate::attention::interaction::{Interaction, InteractionEnergy};
use crate::landscape::interaction::InteractionCriticalPoint;
use crate::theorem::prelude::*;

const STEEPEST: f64 = 1.0;

/// On the circle an increasing, convex W is not enough (`pentagon-maximum`); this is.
pub static ENTRY: Claim = Claim {
    name: "decreasing-coefficients",
    title: "Circle: every maximum is consensus if the Taylor coefficients of `phi` decrease",
    lets: "`phi(s) = sum_k a_k s^k` on [-1, 1] with `a_0 >= a_1 >= ... >= 0`, not all 0",
    then: "On the circle, every critical point of `E` other than consensus has a direction of \
           positive curvature.",
    tested: "at critical points that Newton's method finds from random clusters",
    numbers: &[("STEEPEST", STEEPEST)],
    domain: Domain { n: Sizes::Range(3, 12), draws: "`phi`, clusters", ..CIRCLE },
    narrower: "all tokens see each other; equal masses; polynomials, exponentials `e^{ks}` with `k \
               <= {STEEPEST}`, and `1/(1 + c - s)`",
    source: "arXiv:2405.18273, the theorem for d = 2",
    trials: (24, 160),
    trial: |case, ctx| {
        let energy = InteractionEnergy::new(drawn(ctx)?);
        let point = critical_point(&energy, (case.n, case.d), 7, ctx)?;
        Ok(point.as_ref().map_or(Finding::HypothesesMissed, is_unstable))
    },
    no_constant: "the sign of an eigenvalue decides",
    control: Control {
        what: "the pentagon under the sigmoid `1/(1 + e^{-10 (s + 1/4)})`, which increases and has \
               coefficients that do not decrease",
        trial: |_: &mut Context| {
            let energy = InteractionEnergy::new(steep_sigmoid()?);
            let point = InteractionCriticalPoint::near(&energy, &polygon(5)?, &[1; 5])?;
            Ok(is_unstable(&point))
        },
    },
    ..Claim::EXACT
};

/// A positive combination of `1 + s + ... + s^k`, an exponential or a geometric series.
fn drawn(ctx: &mut Context) -> Result<Interaction> {
    match ctx.index(4) {
        0 => {
            let k = ctx.uniform_in(0.0, STEEPEST);
            Interaction::parse("exp(k*s)", &[("k", k)])
        }
        1 => {
            // Coefficients (1 + c)^{-k-1}.
            let c = ctx.log_uniform_in(0.05, 3.0);
            Interaction::parse("1/(1 + c - s)", &[("c", c)])
        }
        _ => {
            let degree = 1 + ctx.index(12);
            let mut sum = 0.0;
            let mut coefficients: Vec<f64> = (0..=degree)
                .map(|_| {
                    sum += ctx.log_uniform_in(1e-3, 1.0);
                    sum
                })
                .collect();
            coefficients.reverse();
            polynomial(coefficients)
        }
    }
}
