//! SA and negentropy: an open conjecture, searched for counterexamples.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin, usa_entropy};
use crate::error::Result;

/// Open: no proof is known; the upper bound d - 1 is proved.
pub static ENTRY: Claim = Claim {
    name: "sa-entropy",
    title: "SA: 0 <= production of negentropy <= d - 1 (lower bound: open conjecture)",
    statement: "SA produces negentropy at a rate in [0, d-1] for every density and beta > 0. The upper bound is proved; the lower one is open: each trial takes a random density and descends the rate for 60 random \
                steps in its coefficients.",
    hypotheses: "beta > 0; circle, up to 8 modes",
    applies: |case| case.beta > 0.0 && case.d == 2,
    citation: "derived upper bound; the lower bound is a numerical conjecture",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(1, 2, 1.0, "sa"), Case::new(1, 2, 5.0, "sa"), Case::new(1, 2, 20.0, "sa"), Case::new(1, 2, 60.0, "sa")],
    quick: 3,
    trials: (4, 40),
    trial: |case, ctx| descend(case.beta, ctx),
    control: Control {
        what: "beta = -3 and the density 1 + 0.5 cos 2 theta",
        trial: |_| bounds(usa_entropy::rate(2, -3.0, "sa", &[0.0, 0.5])?, 0.25),
    },
};

/// Random descent of the rate over the squared size of the density's deviation.
fn descend(beta: f64, ctx: &mut Context) -> Result<Finding> {
    let count = 1 + ctx.stream.index(8);
    let mut a = usa_entropy::coefficients(ctx, count);
    let score = |a: &[f64]| -> Result<(f64, f64)> {
        let size: f64 = a.iter().map(|v| v * v).sum();
        let rate = usa_entropy::rate(2, beta, "sa", a)?;
        Ok((rate, size))
    };
    let mut best = score(&a)?;
    let mut step = 0.2;
    for _ in 0..60 {
        let mut next: Vec<f64> = a.iter().map(|v| v + step * ctx.stream.normal()).collect();
        let total: f64 = next.iter().map(|v| v.abs()).sum();
        if total > 0.99 {
            next.iter_mut().for_each(|v| *v *= 0.99 / total);
        }
        let found = score(&next)?;
        if found.0 / found.1 < best.0 / best.1 {
            (a, best) = (next, found);
        } else {
            step *= 0.95;
        }
    }
    bounds(best.0, best.1)
}

fn bounds(rate: f64, size: f64) -> Result<Finding> {
    let value = rate.min(1.0 - rate);
    Ok(Finding::Margin(Margin { value, evaluation: 256.0 * f64::EPSILON * size.sqrt(), ..Margin::default() }))
}
