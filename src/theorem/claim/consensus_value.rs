//! Consensus under a general value matrix.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin};
use crate::attention::{Head, Spec, dynamics};
use crate::error::Result;
use crate::num::dense::{eigenvalues, solve};
use crate::num::stats::nan_max;
use crate::num::sum::dot;
use crate::sphere::{
    Tokens,
    geometry::{exp, retract, tangent_basis},
};
use crate::theorem::conformance::velocity;

/// At `x_i = xi`, `V xi = lambda xi`: eigenvalues `-lambda` and `mu_k - lambda`.
pub static ENTRY: Claim = Claim {
    name: "consensus-value",
    title: "Consensus at an eigenvector of V: spectrum -lambda, mu_k - lambda",
    statement: "For SA with any Q, K and a diagonalisable V, consensus at an eigenvector xi (V xi = lambda xi) is stationary, with eigenvalues -lambda, (n-1)(d-1) times, and \
                mu_k - lambda for the other eigenvalues mu_k of V. A difference Jacobian agrees to 1e-5.",
    hypotheses: "V with real distinct eigenvalues, random Q, K",
    applies: |case| case.n >= 2,
    citation: "linearisation of arXiv:2312.10794, (2.3) at consensus",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(3, 3, 1.0, "sa"), Case::new(4, 2, 2.0, "sa"), Case::new(4, 4, 0.5, "sa")],
    quick: 3,
    trials: (3, 15),
    trial: |case, ctx| spectrum(case, ctx, false),
    control: Control { what: "V transposed: its eigenvectors are others", trial: |ctx| spectrum(&Case::new(3, 3, 1.0, "sa"), ctx, true) },
};

fn spectrum(case: &Case, ctx: &mut Context, transposed: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    // V = P diag(mu) P^{-1} with a well-conditioned P = I + noise.
    let mut p = crate::num::dense::identity(d);
    p.iter_mut().for_each(|v| *v += 0.3 * (ctx.stream.uniform() - 0.5));
    let mu: Vec<f64> = (0..d).map(|k| 1.5 - 0.7 * k as f64).collect();
    let mut v = vec![0.0; d * d];
    for c in 0..d {
        let unit: Vec<f64> = (0..d).map(|a| f64::from(u8::from(a == c))).collect();
        let coordinates = solve(&p, &unit);
        (0..d).for_each(|r| v[r * d + c] = (0..d).map(|k| p[r * d + k] * mu[k] * coordinates[k]).sum());
    }
    let mut xi: Vec<f64> = (0..d).map(|r| p[r * d]).collect();
    retract(&mut xi);
    if transposed {
        v = (0..d * d).map(|k| v[(k % d) * d + k / d]).collect();
    }
    let mut random = || {
        let mut a = vec![0.0; d * d];
        ctx.stream.normals(&mut a);
        Some((d, a))
    };
    let head = Head::new(d, random(), random(), Some((d, v)))?;
    let dynamics = dynamics::build("sa", false, &Spec { heads: vec![head], ..Spec::new(case.beta, n) })?;
    let basis = tangent_basis(&xi);
    let (t, h) = (d - 1, 1e-5);
    let pushed = |j: usize, b: usize, s: f64| -> Result<Vec<f64>> {
        let mut rows = vec![xi.clone(); n];
        rows[j] = exp(&xi, &basis[b * d..(b + 1) * d].iter().map(|e| s * h * e).collect::<Vec<_>>());
        Ok(velocity(dynamics.as_ref(), &Tokens::new(d, rows.concat())?))
    };
    let still = velocity(dynamics.as_ref(), &Tokens::new(d, xi.repeat(n))?).iter().fold(0.0, |m, v| nan_max(m, v.abs()));
    let mut jacobian = vec![0.0; (n * t) * (n * t)];
    for (j, b) in (0..n).flat_map(|j| (0..t).map(move |b| (j, b))) {
        let (up, down) = (pushed(j, b, 1.0)?, pushed(j, b, -1.0)?);
        for (i, a) in (0..n).flat_map(|i| (0..t).map(move |a| (i, a))) {
            let (e, row) = (&basis[a * d..(a + 1) * d], i * d..(i + 1) * d);
            jacobian[(i * t + a) * n * t + j * t + b] = (dot(&up[row.clone()], e) - dot(&down[row], e)) / (2.0 * h);
        }
    }
    let Some(found) = eigenvalues(&jacobian, n * t) else { return Ok(Finding::Unfinished("the eigenvalues did not converge".into())) };
    let mut expected = vec![-mu[0]; (n - 1) * t];
    expected.extend(mu[1..].iter().map(|m| m - mu[0]));
    expected.sort_by(f64::total_cmp);
    let spread = found.iter().zip(&expected).map(|(f, e)| nan_max((f.0 - e).abs(), f.1.abs())).fold(0.0, nan_max);
    // The (n-1)(d-1)-fold eigenvalue amplifies the differences' error 1e-9 through the conditioning of the eigenvectors.
    Ok(Finding::Margin(Margin { value: 1e-5 - nan_max(spread, still), evaluation: 1e-9, ..Margin::default() }))
}
