//! Hardmax with a negative form is the Frank-Wolfe method while the hull contains the origin.

use crate::theorem::prelude::*;

/// The vertex `s = argmin_K <B x, s>` has `<B x, s> <= 0` while 0 lies in K. So
/// `J(x+) <= (1 - 2g) J(x) + g^2 lambda d^2/2`, as in the usual proof for a fixed hull. Pairs x, -x
/// keep 0 in the hull.
///
/// # Derivation
///
/// With `s = argmin <B x, s>` over the tokens, `<B x, s> <= 0` while 0 lies in their hull, and
/// `<B x, x> = 2 J(x)`. So `J(x + g (s - x)) <= (1 - 2 g) J(x) + g^2 C/2` with
/// `C = lambda_max(B) diam^2`. For `g = 2/(t+2)`: `J(x^1) <= C/2`, `J(x^2) <= 2 C/9`, and from
/// `J(x^t) <= 2 C/t`, t >= 2, follows
/// `J(x^{t+1}) <= 2 C ((t-2)/(t (t+2)) + 1/(t+2)^2) <= 2 C/(t+1)`. The diameter does not grow.
/// Without 0 in the hull at every t the first inequality fails (`fw-negative-printed`); pairs x, -x
/// keep it there.
pub static ENTRY: Claim = Claim {
    name: "fw-negative",
    title: "Hardmax, B < 0: J <= 2 lambda_max diam^2/(t+1) while the hull contains the origin",
    lets: "x+ = x + 2/(t+2) (argmax_j <-B x, x_j> - x) with B > 0, let J(x) = <B x, x>/2, and let \
           0 lie in the hull of the tokens at every t",
    then: "Then J(x^{t+1}) <= 2 lambda_max(B) diam^2/(t+1) for all tokens, where diam is the \
           diameter of the start.",
    tested: "for t = 0..59",
    domain: Domain { n: Sizes::List(&[2, 4, 6, 12, 20]), laws: &["normal"], ..Domain::HARDMAX },
    narrower: "B = R R^T with normal R; tokens in pairs x, -x, which keep the origin in the hull",
    source: "arXiv:2508.09628, Theorem on B < 0, with the hypothesis at every t",
    status: Status::Corrected,
    trials: (20, 200),
    trial: |case, ctx| {
        let half = ctx.normals(case.n / 2 * case.d);
        let mirrored = half.iter().map(|v| -v);
        let x = Tokens::flat(case.d, half.iter().copied().chain(mirrored).collect())?;
        let root = ctx.normals(case.d * case.d);
        bound(&x, &root, 60)
    },
    control: Control {
        what: "the tokens 3 and -1, whose hull loses the origin",
        trial: |_| bound(&Tokens::flat(1, vec![3.0, -1.0])?, &[1.0], 1000),
    },
    ..Claim::INEQUALITY
};

/// The smallest distance of J from its bound over tokens and layers, with `B = R R^T`.
pub(crate) fn bound(x: &Tokens, root: &[f64], layers: usize) -> Result<Finding> {
    let d = x.d();
    let b: Vec<f64> =
        (0..d * d).map(|k| dot(&root[k / d * d..][..d], &root[k % d * d..][..d])).collect();
    let largest = crate::num::dense::symmetric_eigenvalues(&b, d)
        .and_then(|v| v.last().copied())
        .unwrap_or(f64::NAN);
    let size = largest * x.diameter().powi(2);
    let dynamics = Dynamics::single(Hardmax::new(Some(b.iter().map(|v| -v).collect()), 1e-12)?)
        .with_normalisation(Rescaled);
    let (mut z, mut worst) = (x.clone(), f64::INFINITY);
    for t in 0..layers {
        Layer::new(2.0 / (t as f64 + 2.0))?.apply(&dynamics, &mut z);
        let j = z.rows().map(|r| 0.5 * dot(r, &mul(&b, r, 1))).fold(0.0, f64::max);
        let bound = 2.0 * size / (t as f64 + 1.0);
        worst = worst.min((bound - j) / bound);
    }
    Ok(Finding::nonnegative(worst, 1.0).with_evaluation_error(1e-12))
}
