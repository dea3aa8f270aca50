//! The nearest token and the largest product.

use crate::theorem::prelude::*;

/// |a - b|^2 = |a|^2 + |b|^2 - 2 <a, b>, so for equal lengths both rankings agree.
pub static ENTRY: Claim = Claim {
    name: "nearest-by-dot",
    title: "Equal lengths: the largest inner product belongs to the smallest distance",
    then: "For n unit tokens, the order of the others by inner product with token 1 is their \
           order by distance.",
    tested: "unless two of them differ by less than 1e-12",
    domain: Domain { n: Sizes::Range(3, 16), beta: Betas::Unused, ..Domain::SCORED },
    source: "elementary",
    trials: (10, 100),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        let n = count_rank_exchanges(&rows(&x), by_dot, by_square);
        Ok(Finding::nonnegative(0.5 - n, 1.0))
    },
    control: Control {
        what: "1, 1, 3 on the line",
        trial: |_| {
            Ok(Finding::nonnegative(
                0.5 - count_rank_exchanges(&[vec![1.0], vec![1.0], vec![3.0]], by_dot, by_square),
                1.0,
            ))
        },
    },
    ..Claim::INEQUALITY
};

pub(crate) fn rows(x: &Tokens) -> Vec<Vec<f64>> {
    x.rows().map(<[f64]>::to_vec).collect()
}

/// Larger is nearer, by inner product.
pub(crate) fn by_dot(x: &[f64], y: &[f64]) -> f64 {
    dot(x, y)
}

/// Larger is nearer, by the square of the distance.
pub(crate) fn by_square(x: &[f64], y: &[f64]) -> f64 {
    -x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
}

/// The number of pairs of the tokens after the first that `f` and `g` rank differently.
pub(crate) fn count_rank_exchanges(
    x: &[Vec<f64>],
    f: fn(&[f64], &[f64]) -> f64,
    g: fn(&[f64], &[f64]) -> f64,
) -> f64 {
    let against = |j: usize, k: usize| {
        let (a, b) = (f(&x[0], &x[j]) - f(&x[0], &x[k]), g(&x[0], &x[j]) - g(&x[0], &x[k]));
        a * b < 0.0 && a.abs().min(b.abs()) > 1e-12
    };
    let pairs = (1..x.len()).flat_map(|j| (1..j).map(move |k| (j, k)));
    pairs.filter(|(j, k)| against(*j, *k)).count() as f64
}
