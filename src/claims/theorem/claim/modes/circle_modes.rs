//! Expected number of modes on the circle; it has no logarithm.

use crate::proofs::modes;
use crate::theorem::prelude::*;
use crate::theory::kac_rice::expected_modes_circle;

const COUNT_ERROR: f64 = 0.0115;
const PERCENT: f64 = 8.0;
const PER_BANDWIDTH: f64 = 20.0;

/// The limit is a stationary Gaussian field.
///
/// # Derivation
///
/// For `n` uniform angles the estimate `F(t) = sum_i e^{beta cos(t - t_i)}`, minus its mean and
/// divided by `sqrt n`, tends to a stationary Gaussian field; its k-th Fourier mode has the
/// variance `I_k(beta)^2` up to a constant. Rice's formula gives `F'` on average `(1/pi) sqrt(Var
/// F'' / Var F')` zeros per unit of length, and every second one is a mode: `sqrt(sum k^4 I_k^2 /
/// sum k^2 I_k^2)` of them on the circle of length `2 pi`.
///
/// The sums in closed form: `sum_k I_k(beta)^2 cos(k x) = I_0(2 beta cos(x/2))`. Its expansion to
/// `x^4` gives `sum k^2 I_k^2 = (beta/2) I_1` and
/// `sum k^4 I_k^2 = (3 beta^2/4) I_0 - (beta/4) I_1`, all at `2 beta`. The quotient is
/// `(3 beta/2) I_0/I_1 - 1/2 = 1 + (3 beta/2) I_2/I_1`, because
/// `I_0(2 beta) = I_2(2 beta) + I_1(2 beta)/beta`. No logarithm appears, unlike on the line,
/// because a stationary field has no edge.
pub static ENTRY: Claim = Claim {
    name: "circle-modes",
    title: "Expected number of modes on the circle: `sqrt(1 + (3 beta/2) I_2(2 beta)/I_1(2 beta))`",
    lets: "`n` angles be uniform and use the kernel `e^{beta cos}`",
    then: "As `n` tends to `infinity`, the expected number of modes of the density estimate tends \
           to `sqrt(1 + (3 beta/2) I_2(2 beta)/I_1(2 beta))`, without a factor `log n`.",
    tested: "by the mean of certified counts, over as many draws as give a standard error of \
             {ERROR_PERCENT} %, to {PERCENT} %",
    numbers: &[
        ("ERROR_PERCENT", 100.0 * COUNT_ERROR),
        ("PERCENT", PERCENT),
        ("PER_BANDWIDTH", PER_BANDWIDTH),
    ],
    domain: Domain {
        n: Sizes::Range(300, 800),
        d: Sizes::Fixed(2),
        beta: Betas::Log(0.1, 400.0),
        draws: "`n` uniform angles",
        condition: Some(Condition {
            text: "`{PER_BANDWIDTH} sqrt(beta) <= n`",
            holds: |c| PER_BANDWIDTH * c.beta.sqrt() <= c.n as f64,
        }),
        ..Domain::FREE
    },
    narrower: "finite `n` with `{PER_BANDWIDTH} sqrt(beta) <= n`; the tolerance of {PERCENT} % \
               there is measured",
    source: "derived: Kac-Rice for the field of arXiv:2412.09080 on the circle. That the \
             expectations converge with the fields (uniform integrability) is observed",
    status: Status::Observation,
    trials: (4, 30),
    trial: |case, ctx| deviation(case, ctx, expected_modes_circle(case.beta)?),
    constant: "the expected number",
    control: Control {
        what: "the formula `2 sqrt(beta)`",
        trial: |ctx| deviation(&Case::new(800, 2, 50.0, ""), ctx, 200f64.sqrt()),
    },
    ..Claim::LAW
};

fn deviation(case: &Case, ctx: &mut Context, expected: f64) -> Result<Finding> {
    // The variance of the count is about a fifth of its mean, and less if it is nearly always 1.
    // With 96 draws a second mode in two of them does not hide the result.
    let variance = (expected - 1.0).min(0.2 * expected);
    let draws = ((variance / (COUNT_ERROR * expected).powi(2)).ceil() as usize).max(96);
    let mut counts = Vec::with_capacity(draws);
    for _ in 0..draws {
        ctx.check_stop()?;
        let angles: Vec<f64> = (0..case.n).map(|_| ctx.method_rng().uniform_in(0.0, TAU)).collect();
        counts.push(modes::circle(&angles, case.beta)?.count()? as f64);
    }
    let (mean, error) = mean_and_error(&counts);
    Ok(Finding::law(mean, ctx.claimed_constant(expected), PERCENT / 100.0 * expected, error))
}
