//! The rank of softmax.

use crate::num::dd::Dd;
use crate::theorem::prelude::*;

/// The exponential of a matrix of rank 1 is strictly totally positive.
///
/// # Derivation
///
/// For x_j = h j - 1 the entries e^{x_i x_j} = e^{-x_i} y_i^j with y_i = e^{h x_i} are a
/// Vandermonde matrix with scaled rows, and softmax divides row i by its sum Z_i. The y_i increase,
/// so every factor of the determinant is positive. (For any distinct reals e^{x_i x_j} is strictly
/// totally positive.)
pub static ENTRY: Claim = Claim {
    name: "softmax-full-rank",
    title: "d_head = 1: the softmax of x_i x_j has full rank, with det = prod_{i<k} (y_k - y_i) \
            prod_i e^{..}/Z_i > 0",
    lets: "x_i be n = 8 equally spaced reals from -1, with step h in [0.25, 0.5]",
    then: "The determinant of softmax_j(x_i x_j) is the Vandermonde determinant of y_i = e^{h \
           x_i} times prod_i e^{-x_i}/Z_i, which is positive.",
    tested: "with elimination in double-double arithmetic, to a relative 1e-9",
    domain: Domain { n: Sizes::Fixed(8), d: Sizes::Fixed(1), laws: &["placed"], ..Domain::MAPS },
    source: "Polya and Szego, part V; the formula derived",
    trials: (4, 30),
    trial: |_, ctx| {
        let h = ctx.uniform_in(0.25, 0.5);
        determinants(h, 1.0)
    },
    control: Control {
        what: "the formula without the sums Z_i",
        trial: |_| determinants(0.25, 0.0),
    },
    ..Claim::IDENTITY
};

/// The determinant of softmax of `x_i x_j`, `x_i = h i - 1`, i < n, in closed form.
///
/// ```
/// let det = metastable::theorem::claim::softmax_full_rank::determinant(8, 0.25);
/// assert!((det / 9.774_766_7e-31 - 1.0).abs() < 1e-6);
/// ```
pub fn determinant(n: usize, h: f64) -> f64 {
    let x = |i: usize| h * i as f64 - 1.0;
    let mut product = 1.0;
    for i in 0..n {
        let total: f64 = (0..n).map(|j| (x(i) * x(j)).exp()).sum();
        // e^{x_i x_j} = e^{-x_i} y_i^j with y_i = e^{h x_i}, and y_k - y_i = y_i (e^{h (x_k - x_i)}
        // - 1).
        product *= (-x(i)).exp() / total;
        product *=
            (i + 1..n).map(|k| (h * x(i)).exp() * (h * (x(k) - x(i))).exp_m1()).product::<f64>();
    }
    product
}

fn determinants(h: f64, with_sums: f64) -> Result<Finding> {
    let n = 8;
    let x: Vec<Dd> = (0..n).map(|i| Dd::from(h * i as f64) - Dd::from(1.0)).collect();
    let mut a: Vec<Vec<Dd>> =
        x.iter().map(|x_i| x.iter().map(|x_j| (*x_i * *x_j).exp()).collect()).collect();
    let mut log = 0.0;
    for row in &mut a {
        let total = row.iter().fold(Dd::from(0.0), |s, v| s + *v);
        row.iter_mut().for_each(|v| *v = *v / total);
        log -= (1.0 - with_sums) * total.to_f64().ln();
    }
    // No pivoting is needed, since all minors are positive.
    for k in 0..n {
        let pivot = a[k][k];
        log += pivot.to_f64().ln();
        let top = a[k].clone();
        for row in &mut a[k + 1..] {
            let factor = row[k] / pivot;
            row.iter_mut().zip(&top).for_each(|(v, t)| *v = *v - factor * *t);
        }
    }
    Ok(Finding::identity((log - determinant(n, h).ln()).abs(), 1e-9))
}
