//! USA produces negentropy, at a bounded rate.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin};
use crate::continuity::{Medium, circle::Circle, density::Density, zonal::Zonal};
use crate::error::Result;

/// Derived: the kernel `-(1/beta) Lap e^{beta s}` is positive definite and at most `(d-1) e^beta`.
pub static ENTRY: Claim = Claim {
    name: "usa-entropy",
    title: "USA: 0 <= production of negentropy <= (d-1) e^beta, for every density",
    statement: "For every density and beta > 0 USA produces negentropy at a rate in [0, (d-1) e^beta], zero only at the uniform density.",
    hypotheses: "beta > 0; densities 1 + sum a_k cos k theta + b_k sin k theta (d = 2), 1 + sum a_k P_k (d >= 3), nonnegative",
    applies: |case| case.beta > 0.0,
    citation: "derived (kernel formula of the production); a precise form of \"entropy decreases at a linear rate\"",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(1, 2, 0.5, "usa"),
        Case::new(1, 2, 8.0, "usa"),
        Case::new(1, 3, 4.0, "usa"),
        Case::new(1, 16, 20.0, "usa"),
        Case::new(1, 2, 40.0, "usa"),
    ],
    quick: 4,
    trials: (20, 200),
    trial: |case, ctx| within(case.d, case.beta, ctx),
    control: Control {
        what: "beta = -3 and the density 1 + 0.5 cos 2 theta",
        trial: |_| bounds(2, -3.0, rate(2, -3.0, "usa", &[0.0, 0.5])?),
    },
};

/// Random coefficients that keep the density positive.
pub fn coefficients(ctx: &mut Context, count: usize) -> Vec<f64> {
    let raw: Vec<f64> = (0..count).map(|_| ctx.stream.normal()).collect();
    let total: f64 = raw.iter().map(|v| v.abs()).sum();
    let size = ctx.stream.uniform_in(0.05, 0.95);
    raw.iter().map(|v| size * v / total).collect()
}

/// The production for cosine coefficients (d = 2) or zonal ones.
pub fn rate(d: usize, beta: f64, law: &str, a: &[f64]) -> Result<f64> {
    let terms: Vec<String> = a.iter().enumerate().map(|(k, a)| format!("{}={a:e}", k + 1)).collect();
    let density = Density::parse(&format!("cos:{}", terms.join(",")))?;
    let medium = Medium::new(law, beta, 0.0)?;
    if d == 2 {
        Ok(Circle::from_density(&density, 64)?.negentropy_rate(&medium))
    } else {
        Zonal::from_density(&density, d, 48)?.negentropy_rate(&medium)
    }
}

fn within(d: usize, beta: f64, ctx: &mut Context) -> Result<Finding> {
    let count = 1 + ctx.stream.index(8);
    let a = coefficients(ctx, count);
    bounds(d, beta, rate(d, beta, "usa", &a)?)
}

/// Distance to the nearer end of the interval, over its length.
fn bounds(d: usize, beta: f64, rate: f64) -> Result<Finding> {
    let share = rate / ((d as f64 - 1.0) * beta.abs().exp());
    Ok(Finding::Margin(Margin { value: share.min(1.0 - share), evaluation: 64.0 * f64::EPSILON * d as f64, ..Margin::default() }))
}
