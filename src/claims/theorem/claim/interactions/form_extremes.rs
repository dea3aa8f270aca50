//! Extremes of the energy with a symmetric matrix.

use super::setting::{DRAWN, symmetric};
use crate::attention::interaction::{Interaction, InteractionEnergy};
use crate::sphere::geometry::retract;
use crate::theorem::prelude::*;

const LARGEST_NORM: f64 = 2.0;
const ROUNDINGS: f64 = 256.0;

/// # Derivation
///
/// Let `L` be the norm of `D`, so `|<x, D y>| <= L` for unit vectors, and `W` increases: all terms
/// of `E` are between `W(-L)` and `W(L)`. `<x, D y> = L` for all pairs, also `x = y`, if and only
/// if all tokens are at one unit eigenvector of the eigenvalue `L`. So the upper bound is attained
/// if and only if `L` is an eigenvalue, and the lower one if and only if `-L` is.
///
/// Let `D` be negative semidefinite and `W(s) = sum_k w_k s^k` with `w_k >= 0` for `k >= 1`. Then
/// `sum_ij m_i m_j <x_i, D x_j>^k` is at most `L^k` for even `k`. For odd `k` it is `-|sum_i m_i (P
/// x_i)^{(k)}|^2 <= 0` with `P = (-D)^{1/2}` and tensor powers. So `2 E` is at most the sum of `w_k
/// L^k` over even `k`, which is `(W(L) + W(-L))/2`. Half of the mass at `v` and half at `-v`, with
/// `D v = -L v`, attains it.
pub static ENTRY: Claim = Claim {
    name: "form-extremes",
    title: "Extremes of the energy with a symmetric matrix `D`",
    lets: "`D` be symmetric with the norm `L`, `W' = phi > 0`, and `E = (1/2) sum_ij m_i m_j \
           W(<x_i, D x_j>)`",
    then: "`W(-L)/2 <= E <= W(L)/2`. If `L` is an eigenvalue of `D`, the maximum is attained \
           exactly by all tokens at one of its unit eigenvectors; if `-L` is one, so is the \
           minimum. If `D` is negative semidefinite and the Taylor coefficients of `phi` are \
           nonnegative, `E <= (W(L) + W(-L))/4`, attained by half of the mass at `v` and half at \
           `-v` with `D v = -L v`.",
    tested: "the distances to the bounds as shares of `(W(L) - W(-L))/2`; the tokens are near an \
             eigenvector in half of the trials, and the attained values are compared to `{TWICE} \
             eps (|W(L)| + |W(-L)|)`",
    numbers: &[("LARGEST_NORM", LARGEST_NORM), ("TWICE", 2.0 * ROUNDINGS)],
    domain: Domain {
        n: Sizes::Range(2, 16),
        d: Sizes::Range(2, 8),
        laws: &["uniform"],
        draws: "`phi`, `D` with `L <= {LARGEST_NORM}`, distances",
        ..DRAWN
    },
    source: "derived; arXiv:2501.03096 for e^{<x, D y>}",
    trials: (40, 300),
    trial: |case, ctx| {
        let kind = ctx.index(3);
        extremes(case, ctx, kind, kind)
    },
    constant: "the bounds, measured from the other end",
    control: Control {
        what: "the bound for negative semidefinite `D` at a `D` with the eigenvalue `L`",
        trial: |ctx| extremes(&Case::with_random_masses(4, 3, 0.0, ""), ctx, 0, 2),
    },
    ..Claim::INEQUALITY
};

/// Tokens near an extreme of a matrix of kind `of`, against the bound of kind `bound`: 0 for the
/// eigenvalue L, 1 for -L, 2 for negative semidefinite matrices.
fn extremes(case: &Case, ctx: &mut Context, of: usize, bound: usize) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let norm_of_form = ctx.log_uniform_in(0.1, LARGEST_NORM);
    let sign = if of == 0 { 1.0 } else { -1.0 };
    let basis = ctx.rotation(d);
    let values: Vec<f64> = (0..d)
        .map(|k| {
            let share = if k == 0 { 1.0 } else { ctx.uniform_in(-0.99, 0.99) };
            let share = if of == 2 { share.abs() } else { share };
            sign * norm_of_form * share
        })
        .collect();
    let phi = positive_coefficients(ctx)?;
    let energy = InteractionEnergy::new(phi).with_form(d, (d, symmetric(&values, &basis)))?;
    let potential = |s: f64| energy.interaction().potential(s);
    let (low, high) = (potential(-norm_of_form), potential(norm_of_form));
    let range = 0.5 * (high - low);
    let best = &basis[..d];
    // Both ends of the line for the third kind.
    let at = |spread: f64, offsets: &[f64]| -> Result<Tokens> {
        let mut rows = Vec::with_capacity(n * d);
        for (i, offset) in offsets.chunks_exact(d).enumerate() {
            let end = if of == 2 && i % 2 == 1 { -1.0 } else { 1.0 };
            let mut row: Vec<f64> =
                best.iter().zip(offset).map(|(b, o)| end * b + spread * o).collect();
            if !retract(&mut row) {
                row.copy_from_slice(best);
            }
            rows.extend(row);
        }
        Tokens::normalised(d, rows)
    };
    let x = if ctx.index(2) == 0 {
        let spread = ctx.log_uniform_in(1e-3, 1.0);
        let offsets = ctx.normals(n * d);
        at(spread, &offsets)?
    } else {
        ctx.tokens(case)?
    };
    // Distances from the end that is not claimed, as shares of the range.
    let share =
        |e: f64| if bound == 1 { (0.5 * high - e) / range } else { (e - 0.5 * low) / range };
    let claimed = if bound == 2 { share(0.25 * (low + high)) } else { 1.0 };
    let found = share(energy.value(&x));
    let limit = ctx.claimed_constant(claimed);
    let rounding = ROUNDINGS * f64::EPSILON * (high.abs() + low.abs()) / range;
    let inside = Finding::nonnegative(limit - found, 1.0).with_evaluation_error(rounding);
    if of != bound {
        // The maximum itself.
        let value = share(energy.value(&at(0.0, &vec![0.0; n * d])?));
        return Ok(Finding::nonnegative(limit - value, 1.0).with_evaluation_error(rounding));
    }
    if of == 2 && n % 2 == 1 {
        return Ok(inside);
    }
    let attained = share(energy.value(&at(0.0, &vec![0.0; n * d])?));
    Ok(inside.and(Finding::identity((attained - limit).abs(), 2.0 * rounding)))
}

/// A positive interaction on [-2, 2] with nonnegative Taylor coefficients.
fn positive_coefficients(ctx: &mut Context) -> Result<Interaction> {
    let k = ctx.log_uniform_in(0.1, 3.0);
    match ctx.index(4) {
        0 => Interaction::parse("exp(k*s)", &[("k", k)]),
        1 => Interaction::parse("cosh(k*s)", &[("k", k)]),
        2 => Interaction::parse("1/(3 - s)", &[]),
        _ => {
            // a^2 + 2 a s + s^2 + c > 0.
            let a = ctx.uniform_in(0.0, 2.0);
            Interaction::parse("a^2 + 0.1 + 2*a*s + s^2", &[("a", a)])
        }
    }
}
