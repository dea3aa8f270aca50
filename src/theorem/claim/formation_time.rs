//! How long clusters take to form.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::attention::TimeScale;
use crate::continuity::{Medium, circle::Circle, density::Density};
use crate::error::Result;
use crate::theory::growth::{fastest_mode, rates_sa, rates_usa};

/// The linear phase of arXiv:2410.23228, on the continuity equation with fluctuations of n tokens.
pub static ENTRY: Claim = Claim {
    name: "formation-time",
    title: "Clusters form after log(0.3 / |c_k(0)|) / r_k, about log(n) / (2 r_max)",
    statement: "From fluctuations of size n^{-1/2}, n = 10^4, in the twelve lowest modes, the fastest mode k reaches |c_k| = 0.3 after log(0.3 / |c_k(0)|) / r_k, within 20 %.",
    hypotheses: "circle; by then no other mode has grown to 0.18 (else they compete)",
    applies: |case| case.d == 2,
    citation: "arXiv:2410.23228 (phases); linearisation at the uniform measure",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(10_000, 2, 5.0, "usa"), Case::new(10_000, 2, 5.0, "sa"), Case::new(10_000, 2, 7.0, "usa")],
    quick: 2,
    trials: (30, 120),
    trial: |case, ctx| {
        let size = 1.0 / (case.n as f64).sqrt();
        // c_k = (a - i b)/2 of an iid sample has E|c_k|^2 = 1/n: a and b have variance 2/n.
        let terms = |ctx: &mut Context| {
            (1..=12).map(|k| format!("{k}={:e}", size * 2f64.sqrt() * ctx.stream.normal())).collect::<Vec<_>>().join(",")
        };
        deviation(case, &format!("cos:{}+sin:{}", terms(ctx), terms(ctx)), 1.0)
    },
    control: Control {
        what: "half of the time, from 1 + 0.01 cos 3 theta",
        trial: |_| deviation(&Case::new(10_000, 2, 5.0, "usa"), "cos:3=0.01", 0.5),
    },
};

fn deviation(case: &Case, text: &str, factor: f64) -> Result<Finding> {
    let rates = if case.dynamics == "usa" { rates_usa(2, case.beta, 12, TimeScale::U1, 2)? } else { rates_sa(2, case.beta, 12)? };
    let k = fastest_mode(&rates);
    let start = Circle::from_density(&Density::parse(text)?, 48)?;
    let first = start.c[k].norm();
    let expected = (0.3 / first).ln() / rates[k];
    // Another mode that is large by then competes with it.
    if (1..=12).any(|j| j != k && start.c[j].norm() * (rates[j] * expected).exp() > 0.18) {
        return Ok(Finding::Missed);
    }
    let mut reached = None;
    let end = start.evolve(&Medium::new(case.dynamics, case.beta, 0.0)?, 2.0 * expected, 512, |t, c| {
        if reached.is_none() && c.c[k].norm() >= 0.3 {
            reached = Some(t);
        }
        reached.is_none()
    })?;
    match reached {
        Some(t) => Ok(Finding::at_most((t / (factor * expected) - 1.0).abs(), 0.2)),
        None => Ok(Finding::Unfinished(format!("the fastest mode did not reach 0.3: {}", end.end().name()))),
    }
}
