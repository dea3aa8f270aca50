//! The rank of softmax.

use crate::num::dd::Dd;
use crate::num::dense::transpose_mul;
use crate::num::softmax::softmax;
use crate::theorem::prelude::*;

const COUNT: usize = 8;
const STEPS: (f64, f64) = (0.25, 0.5);
const TOLERANCE: f64 = 1e-9;
const LEAST_RATIO: f64 = 1e-7;

/// The exponential of a matrix of rank 1 is strictly totally positive.
///
/// # Derivation
///
/// For `x_j = h j - 1` the entries `e^{x_i x_j} = e^{-x_i} y_i^j` with `y_i = e^{h x_i}` are a
/// Vandermonde matrix with scaled rows, and softmax divides row `i` by its sum `Z_i`. The `y_i`
/// increase, so every factor of the determinant is positive. (For any distinct reals `e^{x_i x_j}`
/// is strictly totally positive.)
pub static ENTRY: Claim = Claim {
    name: "softmax-full-rank",
    title: "`d_head = 1`: the softmax of `x_i x_j` has full rank, with `det = prod_{i<k} (y_k - \
            y_i) prod_i e^{..}/Z_i > 0`",
    lets: "`x_i` be `n` equally spaced reals from -1, with step `h`",
    then: "The determinant of `softmax_j(x_i x_j)` is the Vandermonde determinant of `y_i = e^{h \
           x_i}` times `prod_i e^{-x_i}/Z_i`, which is positive.",
    tested: "at `n = {COUNT}`, `h` in [{LEAST_H}, {MOST_H}], with elimination in double-double \
             arithmetic, to a relative {TOLERANCE}",
    numbers: &[
        ("COUNT", COUNT as f64),
        ("LEAST_H", STEPS.0),
        ("MOST_H", STEPS.1),
        ("TOLERANCE", TOLERANCE),
    ],
    domain: Domain { n: Sizes::Fixed(COUNT), d: Sizes::Fixed(1), draws: "`h`", ..Domain::FREE },
    source: "Polya and Szego, part V; the formula derived",
    trials: (4, 30),
    trial: |_, ctx| {
        let h = ctx.uniform_in(STEPS.0, STEPS.1);
        determinants(ctx, h, 1.0)
    },
    constant: "the determinant",
    control: Control {
        what: "the formula without the sums `Z_i`",
        trial: |ctx| determinants(ctx, 0.25, 0.0),
    },
    variants: &[&PRINTED],
    ..Claim::IDENTITY
};

static PRINTED: Claim = Claim {
    name: "softmax-rank-printed",
    title: "Softmax of scores of rank `d_head` has rank at most `d_head` (as printed)",
    lets: "`n` rows of `R^d`, `d < n`, and `Q` and `K` be given",
    then: "The matrix of weights `softmax_j(<Q x_i, K x_j>)` has rank at most `d`.",
    tested: "with normal rows and matrices: the singular value number `d + 1` is at most \
             {LEAST_RATIO} of the first",
    numbers: &[("LEAST_RATIO", LEAST_RATIO)],
    domain: Domain {
        n: Sizes::Range(6, 12),
        d: Sizes::Range(1, 4),
        draws: "rows, `Q` and `K`",
        ..Domain::FREE
    },
    source: "sentence-41 of the sheet",
    status: Status::Misprinted,
    trials: (6, 40),
    trial: |case, ctx| rank(ctx, case, true),
    control: Control {
        what: "the scores",
        trial: |ctx| rank(ctx, &Case::new(8, 3, 0.0, ""), false),
    },
    ..Claim::INEQUALITY
};

/// The determinant of softmax of `x_i x_j`, `x_i = h i - 1`, i < n, in closed form.
///
/// ```
/// let det = metastable::theorem::claim::heads::softmax_full_rank::determinant(8, 0.25);
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

fn determinants(ctx: &mut Context, h: f64, with_sums: f64) -> Result<Finding> {
    let n = COUNT;
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
    let stated = ctx.claimed_constant(determinant(n, h));
    Ok(Finding::identity((log - stated.ln()).abs(), TOLERANCE))
}

/// Compares the singular value number d + 1 of the scores, or of their softmax, with the first. It
/// is computed from the Gram matrix, so its error is 1e-8.
fn rank(ctx: &mut Context, case: &Case, weights: bool) -> Result<Finding> {
    let (n, d, size) = (case.n, case.d, (case.d as f64).sqrt().recip());
    let x = ctx.normals(n * d);
    let form = mul(&normals(ctx, d * d, size), &normals(ctx, d * d, size), d);
    let images = mul(&x, &form, d);
    let mut matrix: Vec<f64> =
        (0..n * n).map(|k| dot(&images[k / n * d..][..d], &x[k % n * d..][..d])).collect();
    if weights {
        matrix.chunks_exact_mut(n).for_each(|row| {
            softmax(row, &vec![1.0; n]);
        });
    }
    let Some(values) = symmetric_eigenvalues(&transpose_mul(&matrix, &matrix, n), n) else {
        return Ok(Finding::HypothesesMissed);
    };
    let ratio = (nan_max(values[n - 1 - d], 0.0) / values[n - 1]).sqrt();
    Ok(Finding::at_most(ratio, LEAST_RATIO))
}
