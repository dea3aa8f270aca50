//! Random values: the drift of an inner product among many tokens.

use crate::theorem::prelude::*;

/// Only two of the n tokens are followed; the others enter through the softmax means.
///
/// # Derivation
///
/// `u = V m_x` and `w = V m_y` are normal with `E u_a w_b = S_xy 1(a = b)/d`. Expand
/// `<x + eta u, y + eta w> / (|x + eta u| |y + eta w|)`, `R = <x, y>`, to `eta^2` in the mean:
/// `<u, w>` gives `S_xy`; the squared lengths `-R (S_xx + S_yy)/2`; squares of `<x, u>` and
/// `<y, w>` `3 R (S_xx + S_yy)/(2d)`; their product `R^2 S_xy/d`; first orders of the product times
/// those of the lengths `-(2 S_xy + R (S_xx + S_yy))/d`. Together
/// `[(d - 2 + R^2) S_xy - (d-1) R (S_xx + S_yy)/2]/d`.
pub static ENTRY: Claim = Claim {
    name: "random-value-drift",
    title: "Random values, n tokens: the mean change of an inner product in one layer",
    lets: "x_i+ = N(x_i + eta V m_i), where V has independent normal entries of variance 1/d and \
           m_i is the softmax mean of token i at beta among n uniform tokens; let S_ij = <m_i, \
           m_j> and R = <x_1, x_2>",
    then: "To leading order, E R+ - R = eta^2 [(d - 2 + R^2) S_12 - (d-1) R (S_11 + S_22)/2]/d.",
    tested: "with 1500 pairs of layers +V and -V at eta = 1/20, to 4 standard errors plus 0.01",
    domain: Domain {
        n: Sizes::Range(2, 12),
        d: Sizes::List(&[3, 8, 16]),
        beta: Betas::Linear(0.0, 3.0),
        corners: &[],
        ..Domain::LAYERS
    },
    source: "arXiv:2604.01978, Section 2 (printed at d = infinity); derived",
    trials: (8, 60),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        drift(case, ctx, &x, true)
    },
    control: Control {
        what: "the formula for d = infinity, used at d = 3",
        trial: |ctx| {
            let x = Tokens::normalised(3, vec![1.0, 0.0, 0.0, 0.7, 0.7, 0.0])?;
            drift(&Case::new(2, 3, 0.5, "random layers"), ctx, &x, false)
        },
    },
    ..Claim::LAW
};

fn drift(case: &Case, ctx: &mut Context, x: &Tokens, finite: bool) -> Result<Finding> {
    /// Step of a layer. The mean over V and -V has no odd powers of the step.
    const ETA: f64 = 0.05;
    let (d, size) = (case.d, case.d as f64);
    let mean = |i: usize| -> Vec<f64> {
        let weights: Vec<f64> =
            (0..x.n()).map(|j| (case.beta * (x.inner(i, j) - 1.0)).exp()).collect();
        let total: f64 = weights.iter().sum();
        (0..d).map(|c| x.rows().zip(&weights).map(|(r, w)| w / total * r[c]).sum()).collect()
    };
    let (a, b) = (mean(0), mean(1));
    let (s11, s12, s22, r) = (dot(&a, &a), dot(&a, &b), dot(&b, &b), x.inner(0, 1));
    // V a and V b: two normal vectors with these inner products.
    let (first, along) = (s11.sqrt(), s12 / s11.sqrt());
    let rest = (s22 - along * along).max(0.0).sqrt();
    let mut draws = vec![0.0; 2 * d];
    let changes: Vec<f64> = (0..1500)
        .map(|_| {
            ctx.method_rng().normals(&mut draws);
            let (g, h) = draws.split_at(d);
            let after = |sign: f64| {
                let step = sign * ETA / size.sqrt();
                let mut y: Vec<f64> =
                    x.row(0).iter().zip(g).map(|(x, g)| x + step * first * g).collect();
                let mut z: Vec<f64> = x
                    .row(1)
                    .iter()
                    .zip(g.iter().zip(h))
                    .map(|(x, (g, h))| x + step * (along * g + rest * h))
                    .collect();
                retract(&mut y);
                retract(&mut z);
                dot(&y, &z)
            };
            (0.5 * (after(1.0) + after(-1.0)) - r) / (ETA * ETA)
        })
        .collect();
    let (found, error) = mean_and_error(&changes);
    let exact = ((size - 2.0 + r * r) * s12 - 0.5 * (size - 1.0) * r * (s11 + s22)) / size;
    let stated = if finite { exact } else { s12 - 0.5 * r * (s11 + s22) };
    Ok(Finding::law(found, stated, 4.0 * error + 0.01, 0.0))
}
