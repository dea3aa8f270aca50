//! The gradient of a pairwise energy of embeddings.

use crate::theorem::prelude::*;

/// Both w_ij and w_ji contribute, each with a factor 2.
///
/// # Derivation
///
/// x_i occurs in the terms (i, j) and (j, i) of the double sum, each with the derivative -2 w
/// (x_i - x_j). For symmetric w this is 4 sum_j w_ij (x_j - x_i): twice the printed form, which is
/// correct for the sum over i < j.
pub static ENTRY: Claim = Claim {
    name: "force-field",
    title: "E = -sum w_ij |x_i - x_j|^2: grad_i E = 2 sum_j (w_ij + w_ji)(x_j - x_i)",
    lets: "E = -sum_ij w_ij |x_i - x_j|^2 with n normal rows and normal weights w_ij",
    then: "Then grad_i E = 2 sum_j (w_ij + w_ji)(x_j - x_i).",
    tested: "along every coordinate with the central difference of step 1 (exact, since E is \
             quadratic), to 4 eps (n^2 + d) of the size of the terms, sum_ij |w_ij| sum_c \
             (|x_i|_c + |x_j|_c + 1)^2",
    domain: Domain { n: Sizes::Range(2, 6), ..Domain::MAPS },
    source: "derived; an essay on attention as energy prints 2 sum_j w_ij (x_j - x_i)",
    status: Status::Corrected,
    trials: (10, 80),
    trial: |case, ctx| gradient(ctx, case, Form::Both),
    control: Control {
        what: "the printed form",
        trial: |ctx| gradient(ctx, &Case::new(4, 3, 0.0, "maps of rows"), Form::Printed),
    },
    ..Claim::IDENTITY
};

/// The formula that is compared with the difference quotient of the energy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `2 sum_j (w_ij + w_ji)(x_j - x_i)`.
    Both,
    /// `2 sum_j w_ij (x_j - x_i)`.
    Printed,
    /// The printed form, for the sum over i < j and symmetric weights.
    HalfSum,
}

pub(crate) fn gradient(ctx: &mut Context, case: &Case, form: Form) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let (x, mut w) = (ctx.normals(n * d), ctx.normals(n * n));
    if form == Form::HalfSum {
        w = (0..n * n).map(|k| w[k / n * n + k % n] + w[k % n * n + k / n]).collect();
    }
    let energy = |x: &[f64]| -> f64 {
        let square =
            |i: usize, j: usize| (0..d).map(|c| (x[i * d + c] - x[j * d + c]).powi(2)).sum::<f64>();
        let pairs = (0..n * n).filter(|k| form != Form::HalfSum || k / n < k % n);
        -pairs.map(|k| w[k] * square(k / n, k % n)).sum::<f64>()
    };
    let weight = |i: usize, j: usize| {
        if form == Form::Both { w[i * n + j] + w[j * n + i] } else { w[i * n + j] }
    };
    let stated =
        |k: usize| 2.0 * (0..n).map(|j| weight(k / d, j) * (x[j * d + k % d] - x[k])).sum::<f64>();
    // E is a quadratic form, so central differences are exact up to rounding.
    let quotient = |k: usize| {
        let moved = |h: f64| {
            let mut y = x.clone();
            y[k] += h;
            energy(&y)
        };
        0.5 * (moved(1.0) - moved(-1.0))
    };
    // E adds n^2 products of a weight and d squares, of numbers that are rounded when they change
    // by 1. This sum of absolute values bounds the terms of the gradient, too.
    let reach = |i: usize, j: usize| {
        (0..d).map(|c| (x[i * d + c].abs() + x[j * d + c].abs() + 1.0).powi(2)).sum::<f64>()
    };
    let size = (0..n * n).map(|k| w[k].abs() * reach(k / n, k % n)).sum::<f64>() + TINY;
    let off = (0..n * d).map(|k| (quotient(k) - stated(k)).abs()).fold(0.0, nan_max);
    Ok(Finding::identity(off, 4.0 * f64::EPSILON * (n * n + d) as f64 * size))
}
