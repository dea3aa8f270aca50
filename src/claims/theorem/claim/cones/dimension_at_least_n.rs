//! d >= n: uniform tokens lie in a hemisphere.

use crate::num::dense;
use crate::sphere::cap::{Hemisphere, hemisphere};
use crate::theorem::prelude::*;

/// arXiv:2312.10794, Theorem 6.3, with an explicit bound.
///
/// # Derivation
///
/// The best `min_i <x_i, w>` over unit w is, by duality, the distance of the origin from the convex
/// hull: the least `|sum c_i x_i|` over `c >= 0` with `sum c_i = 1`. There
/// `|X^T c|^2 = <c, G c> >= lambda_min |c|^2 >= lambda_min / n`, because
/// `|c|^2 >= (sum c_i)^2 / n`. For `n <= d` uniform tokens are linearly independent with
/// probability 1, so `lambda_min > 0` and the hemisphere is open.
pub static ENTRY: Claim = Claim {
    name: "dimension-at-least-n",
    title: "d >= n: uniform tokens lie almost surely in a hemisphere",
    then: "If d >= n, iid uniform tokens lie almost surely in an open hemisphere, so cone \
           collapse applies: the maximum over unit vectors w of min_i <x_i, w> is at least \
           sqrt(lambda_min/n) > 0, where lambda_min is the smallest eigenvalue of the Gram \
           matrix.",
    domain: Domain {
        n: Sizes::Range(3, 64),
        d: Sizes::Range(3, 128),
        beta: Betas::Unused,
        dynamics: &["sa"],
        condition: Some(Condition { text: "d >= n", holds: |c| c.d >= c.n }),
        corners: &[(4, 4, 0.0), (8, 8, 0.0), (64, 64, 0.0)],
        ..Domain::EQUAL_MASSES
    },
    narrower: "n >= 3 (two tokens that are not antipodal always lie in one)",
    source: "arXiv:2312.10794, Theorem 6.3; the bound is derived here",
    trials: (100, 1000),
    trial: |case, ctx| margin(case, ctx, "uniform"),
    constant: "sqrt(lambda_min/n)",
    control: Control {
        what: "n = d + 1 at the vertices of the regular simplex",
        trial: |ctx| margin(&Case::new(5, 4, 0.0, "sa"), ctx, "simplex"),
    },
    ..Claim::INEQUALITY
};

fn margin(case: &Case, ctx: &mut Context, law: &str) -> Result<Finding> {
    let x: Tokens = ctx.tokens_with_law(case.n, case.d, law)?;
    let n = case.n as f64;
    let Some(values) = dense::symmetric_eigenvalues(&x.gram(), case.n) else {
        return Ok(Finding::Unfinished("the eigenvalues did not converge".into()));
    };
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    match hemisphere(&x) {
        // The error of an eigenvalue is a few n eps, that of the margin d eps.
        Hemisphere::Open { margin, .. } if least > 0.0 => {
            let error = 8.0 * f64::EPSILON * (n / least + case.d as f64 / margin);
            Ok(Finding::at_least(margin, ctx.claimed_constant((least / n).sqrt()))
                .with_evaluation_error(error))
        }
        Hemisphere::None { .. } if x.n() > x.d() => Ok(Finding::nonnegative(-1.0, 1.0)),
        _ => Ok(Finding::Unfinished("the tokens are dependent to rounding".into())),
    }
}
