//! A layer increases the energy, for every step size.

use super::setting::step;
use crate::num::dense::{mat_vec, transpose_mul};
use crate::num::sum::Compensated;
use crate::theorem::prelude::*;

const ROUNDINGS: f64 = 8.0;

/// # Derivation
///
/// `B = C^T C`, so the kernel `k(x, y) = e^{beta <x, B y>}` is that of `C x` and `C y`: positive
/// definite, and convex in `x`. With `Z(x) = sum_j m_j k(x, x_j)` positive definiteness gives
/// `E(X') - E(X) >= (1/beta) sum_i m_i (Z(x_i') - Z(x_i))` for any `X'`, and convexity gives `>=
/// sum_i m_i <b_i, x_i' - x_i>`, `b_i = grad Z(x_i)/beta`, which is `Z_i a_i` for softmax and `a_i`
/// without; and `x_i'` lies on the arc from `x_i` towards `a_i`, so every term is at least 0. For
/// `V` other than `Q^T K` the layer does not go along `b_i`, and for an indefinite `B` the kernel
/// is not positive definite.
pub static ENTRY: Claim = Claim {
    name: "layer-energy",
    title: "A layer increases the energy for every step size, if `V = Q^T K >= 0`",
    lets: "`V = Q^T K = B` be symmetric positive semidefinite, `E = (1/(2 beta)) sum_ij m_i m_j \
           e^{beta <x_i, B x_j>}`, `a_i = sum_j A_ij B x_j` (softmax or unnormalised) and `b_i = \
           sum_j m_j e^{beta <x_i, B x_j>} B x_j`",
    then: "The layer `x_i <- normalise(x_i + eta a_i)` takes `X` to `X'` with `E(X') - E(X) >= \
           sum_i m_i <b_i, x_i' - x_i> >= 0`, for every `eta` in `(0, inf]` and every `beta > 0`.",
    tested: "with `B = I` or a random `B` of any rank and of norm at most 1, to `{ROUNDINGS} eps \
             beta (1 + beta) (E(X) + E(X'))`",
    numbers: &[("ROUNDINGS", ROUNDINGS)],
    domain: Domain {
        n: Sizes::Range(1, 32),
        d: Sizes::Range(2, 32),
        beta: Betas::Log(1e-3, 300.0),
        laws: &["uniform", "cap:radius=0.3"],
        corners: &[(2, 2, 1.0), (6, 2, 4.0), (12, 3, 50.0)],
        ..Domain::ATTENTION
    },
    source: "derived; mean shift: Cheng, IEEE Trans. PAMI 17 (1995) 790",
    trials: (80, 500),
    trial: |case, ctx| {
        let form = if ctx.index(2) == 0 { None } else { Some(random_form(case.d, ctx)) };
        increases(case, ctx, form.as_deref(), 1.0)
    },
    constant: "the first-order gain `sum_i m_i <b_i, x_i' - x_i>`",
    control: Control {
        what: "`V = -Q^T K`",
        trial: |ctx| {
            let form = random_form(3, ctx);
            increases(&Case::with_random_masses(6, 3, 4.0, "sa"), ctx, Some(&form), -1.0)
        },
    },
    ..Claim::INEQUALITY
};

/// A random form `W^T W` of random rank, divided by its trace, which bounds its norm.
fn random_form(d: usize, ctx: &mut Context) -> Vec<f64> {
    let rank = 1 + ctx.index(d);
    let w = ctx.normals(rank * d);
    let mut b = transpose_mul(&w, &w, rank);
    let trace: f64 = (0..d).map(|a| b[a * d + a]).sum();
    divide(&mut b, trace.max(f64::MIN_POSITIVE));
    b
}

/// Ten layers with `Q^T K = form` and `V = sign * form` (`None` is the identity): the smallest
/// margin of the two inequalities.
fn increases(case: &Case, ctx: &mut Context, form: Option<&[f64]>, sign: f64) -> Result<Finding> {
    let d = case.d;
    let scaled =
        |factor: f64| form.map(|b| (d, b.iter().map(|v| factor * v).collect::<Vec<f64>>()));
    let head = Head::new(d, None, scaled(1.0), scaled(sign))?;
    let dynamics = dynamics::build(
        case.dynamics,
        false,
        &Spec { heads: vec![head], ..Spec::new(case.beta, case.n) },
    )?;
    let mut x = ctx.tokens(case)?;
    let mut worst = Finding::nonnegative(1.0, 1.0);
    for _ in 0..10 {
        let old = x.clone();
        Layer::new(step(ctx))?.apply(&dynamics, &mut x);
        let Gain { whole, first, size } = gain(case.beta, form, &old, &x);
        // Positions have an error of eps, so exponents of beta eps; the exponentials add up to at
        // most the energy before or after.
        let rounding = ROUNDINGS * f64::EPSILON * case.beta * (1.0 + case.beta) * size;
        let scale = whole.abs() + first.abs() + rounding;
        worst = worst
            .and(Finding::nonnegative(whole - ctx.claimed_constant(first) + rounding, scale))
            .and(Finding::nonnegative(first + rounding, scale));
    }
    Ok(worst)
}

/// Divided by `e^beta / (2 beta)`: `E(X') - E(X)`, its first-order part, `E(X) + E(X')`.
struct Gain {
    whole: f64,
    first: f64,
    size: f64,
}

/// The gain without cancellation: `<x', B y'> - <x, B y> = <x' - x, B y'> + <x, B (y' - y)>`, and
/// differences of exponentials by `expm1`.
fn gain(beta: f64, form: Option<&[f64]>, old: &Tokens, new: &Tokens) -> Gain {
    let d = old.d();
    let image = |x: &[f64]| {
        let mut y = x.to_vec();
        form.iter().for_each(|b| mat_vec(b, x, &mut y));
        y
    };
    let moves: Vec<f64> =
        new.coordinates().iter().zip(old.coordinates()).map(|(a, b)| a - b).collect();
    let images = |x: &[f64]| -> Vec<Vec<f64>> { x.chunks_exact(d).map(image).collect() };
    let (before, after, moved) =
        (images(old.coordinates()), images(new.coordinates()), images(&moves));
    let (mut whole, mut first, mut size) =
        (Compensated::default(), Compensated::default(), Compensated::default());
    for (i, move_i) in moves.chunks_exact(d).enumerate() {
        for j in 0..old.n() {
            let weight = old.masses()[i]
                * old.masses()[j]
                * (beta * (dot(old.row(i), &before[j]) - 1.0)).exp();
            let rise = beta * (dot(move_i, &after[j]) + dot(old.row(i), &moved[j]));
            whole.add(weight * rise.exp_m1());
            first.add(weight * 2.0 * beta * dot(move_i, &before[j]));
            size.add(weight * (1.0 + rise.exp()));
        }
    }
    Gain { whole: whole.value(), first: first.value(), size: size.value() }
}
