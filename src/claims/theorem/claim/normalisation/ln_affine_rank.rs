//! What LayerNorm does to the affine rank of tokens.

use crate::theorem::prelude::*;
use crate::transformer::{Centring, Norm};

/// Normalisation scales rows, so it preserves the rank of the matrix X C of centred rows.
///
/// # Derivation
///
/// `LN(X) = D X C` with the centring `C = I - 1 1^T/d` and a positive diagonal matrix `D`, so the
/// rank of `X C` is preserved. Let the tokens be `a + s b`. If `C` a and `C b` are independent, `X
/// C` has rank 2, and LN sends the tokens to points of a circle in the plane of `C` a and `C b`, at
/// distinct angles for distinct `s`. A line meets a circle at most twice, so at least three of them
/// have the affine rank 2. If the line passes through a multiple of 1 (the control), all images are
/// the two points `+-N(C b)`, which lie on a line.
pub static ENTRY: Claim = Claim {
    name: "ln-affine-rank",
    title: "LayerNorm keeps the rank of the centred rows, not the affine rank: three tokens of a \
            line go to an arc",
    lets: "`n >= 3` tokens `a + s b` lie on a line that misses the multiples of 1, and let `LN(x) \
           = sqrt(d) (x - mean(x))/|x - mean(x)|`",
    then: "LN keeps the rank 2 of the centred rows and changes the affine rank from 1 to 2.",
    tested: "by singular values, which are 0 if they are at most `1e-7` of the largest",
    domain: Domain {
        n: Sizes::Range(3, 8),
        d: Sizes::Range(3, 8),
        draws: "normal `a`, `b` and `s`",
        ..Domain::FREE
    },
    source: "derived; an observation about arXiv:2604.23681 (abstract), which says that LN \
             \"preserves affine rank exactly\" (hypotheses not seen)",
    trials: (12, 60),
    trial: |case, ctx| {
        let start = ctx.normals(case.d);
        ranks(case, ctx, &start)
    },
    no_constant: "ranks are counted",
    control: Control {
        what: "a line through a multiple of 1: the tokens go to two points",
        trial: |ctx| ranks(&Case::new(3, 4, 0.0, ""), ctx, &[0.7; 4]),
    },
    ..Claim::EXACT
};

fn ranks(case: &Case, ctx: &mut Context, start: &[f64]) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let (along, steps) = (ctx.normals(d), ctx.normals(n));
    let x: Vec<f64> =
        steps.iter().flat_map(|s| start.iter().zip(&along).map(move |(a, b)| a + s * b)).collect();
    let y = Norm::<f64>::plain(d, Centring::Mean, 0.0).apply(&x);
    let counts = [rank(&centred(&x, d), d)?, rank(&centred(&y, d), d)?];
    let affine = [rank(&differences(&x, d), d)?, rank(&differences(&y, d), d)?];
    Ok(Finding::all([counts == [2, 2], affine == [1, 2]]))
}

/// Rows minus the means of their coordinates.
fn centred(x: &[f64], d: usize) -> Vec<f64> {
    let row = |row: &[f64]| -> Vec<f64> {
        let mean = row.iter().sum::<f64>() / d as f64;
        row.iter().map(|v| v - mean).collect()
    };
    x.chunks_exact(d).flat_map(row).collect()
}

/// Rows minus the first row.
fn differences(x: &[f64], d: usize) -> Vec<f64> {
    x.chunks_exact(d).flat_map(|row| row.iter().zip(x).map(|(a, b)| a - b)).collect()
}

/// The number of singular values above 1e-7 of the largest.
fn rank(rows: &[f64], d: usize) -> Result<usize> {
    let n = rows.len() / d;
    let row = |i: usize| &rows[i * d..(i + 1) * d];
    let gram: Vec<f64> = (0..n * n).map(|k| dot(row(k / n), row(k % n))).collect();
    let squares = symmetric_eigenvalues(&gram, n)
        .ok_or_else(|| Error::Numerical { what: "no singular values".into() })?;
    let largest = squares.iter().copied().fold(0.0, nan_max);
    Ok(squares.iter().filter(|s| **s > 1e-14 * largest).count())
}
