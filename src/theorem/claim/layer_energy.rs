//! The discrete layer map climbs the energy for every step size.

use super::unit_norm::step;
use super::{Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Sizes, Status};
use crate::attention::{Head, Spec, dynamics, layer::Layer};
use crate::error::Result;
use crate::num::{dense::mat_vec, sum::dot};
use crate::sphere::Tokens;

/// `E(X') >= E(X)` for `x' = normalise(x + eta a)`, every eta in (0, inf].
///
/// The kernel `k(x, y) = e^{beta <x, y>}` is positive definite and convex in x. With `Z(x) = sum_j m_j k(x, x_j)` the first gives
/// `E(X') - E(X) >= (1/beta) sum_i m_i (Z(x_i') - Z(x_i))` for any move, the second `>= sum_i m_i <b_i, x_i' - x_i>`, `b_i = grad Z(x_i)/beta`, which is
/// `Z_i a_i` for softmax and `a_i` without; and `x_i'` lies on the arc from `x_i` towards `a_i`, so every term is at least 0.
pub static ENTRY: Claim = Claim {
    name: "layer-energy",
    title: "A layer climbs the energy for every step size",
    statement: "For V = Q^T K = I the map x_i <- normalise(x_i + eta a_i), a_i = sum_j A_ij x_j (softmax or unnormalised), has E(X') - E(X) >= sum_i m_i <b_i, x_i' - x_i> >= 0 with \
                b_i = sum_j m_j e^{beta G_ij} x_j, for every eta in (0, inf] and beta >= 0; to 8 eps (1 + beta) (E(X) + E(X')).",
    domain: CLIMB,
    narrower: "",
    citation: "convexity of z -> sum_j m_j e^{beta <z, x_j>} on R^d; mean shift: Cheng 1995",
    status: Status::Theorem,
    kind: Kind::Inequality,
    trials: (60, 400),
    trial: |case, ctx| climb(case, ctx, None, 1.0),
    perturbed: "the first-order gain sum_i m_i <b_i, x_i' - x_i>",
    control: Control { what: "the repulsive layer (V = -I)", trial: |ctx| climb(&Case::weighted(6, 3, 2.0, "sa"), ctx, None, -1.0) },
    proof: None,
};

/// Where layers climb.
pub const CLIMB: Domain = Domain {
    n: Sizes::Range(1, 32),
    d: Sizes::Range(2, 32),
    beta: Betas::Log(1e-3, 300.0),
    laws: &["uniform", "cap:radius=0.3"],
    corners: &[(2, 2, 1.0), (6, 2, 4.0), (12, 3, 50.0)],
    ..Domain::ATTENTION
};

/// Ten layers with `Q^T K = form` and `V = sign * form` (`None` is the identity): the smallest margin of the two inequalities.
pub fn climb(case: &Case, ctx: &mut Context, form: Option<&[f64]>, sign: f64) -> Result<Finding> {
    let (d, beta) = (case.d, case.beta);
    let scaled = |factor: f64| form.map(|b| (d, b.iter().map(|v| factor * v).collect::<Vec<f64>>()));
    let value = if sign < 0.0 && form.is_none() { Some((d, crate::num::dense::identity(d).iter().map(|v| -v).collect())) } else { scaled(sign) };
    let head = Head::new(d, None, scaled(1.0), value)?;
    let dynamics = dynamics::build(case.dynamics, false, &Spec { heads: vec![head], ..Spec::new(beta, case.n) })?;
    let images = |x: &Tokens| -> Vec<f64> {
        let mut out = x.coordinates().to_vec();
        form.iter().for_each(|b| x.rows().zip(out.chunks_exact_mut(d)).for_each(|(r, o)| mat_vec(b, r, o)));
        out
    };
    // m_i m_j e^{beta (<x_i, B x_j> - 1)}.
    let weight = |x: &Tokens, y: &[f64], i: usize, j: usize| x.masses()[i] * x.masses()[j] * (beta * (dot(x.row(i), &y[j * d..(j + 1) * d]) - 1.0)).exp();
    let total = |x: &Tokens, y: &[f64]| -> f64 { (0..case.n * case.n).map(|p| weight(x, y, p / case.n, p % case.n)).sum() };
    let mut x = ctx.tokens(case)?;
    let (mut scratch, mut worst) = (vec![0.0; x.coordinates().len()], Finding::nonnegative(1.0, 1.0));
    let mut y = images(&x);
    let mut before = total(&x, &y);
    for _ in 0..10 {
        let old = x.clone();
        Layer::new(step(ctx))?.step(dynamics.as_ref(), &mut x, &mut scratch);
        let mut first = 0.0;
        for i in 0..case.n {
            let moved: Vec<f64> = x.row(i).iter().zip(old.row(i)).map(|(a, b)| a - b).collect();
            first += (0..case.n).map(|j| weight(&old, &y, i, j) * dot(&moved, &y[j * d..(j + 1) * d])).sum::<f64>();
        }
        // Both sides over e^beta / (2 beta).
        let first = 2.0 * beta * first;
        y = images(&x);
        let after = total(&x, &y);
        let rounding = 8.0 * f64::EPSILON * (1.0 + beta) * (before + after);
        let (gain, stated) = (after - before, ctx.stated(first));
        let size = gain.abs() + first.abs() + rounding;
        worst = worst.and(Finding::nonnegative(gain - stated + rounding, size)).and(Finding::nonnegative(first + rounding, size));
        before = after;
    }
    Ok(worst)
}
