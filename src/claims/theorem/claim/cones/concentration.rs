//! In high dimension inner products follow gamma, with Gaussian fluctuations of order d^{-1/2}.

use crate::theorem::prelude::*;
use crate::theory::equiangular::Equiangular;

const GAMMAS: (f64, f64) = (0.1, 0.6);
const PERCENT: f64 = 1.0;

/// arXiv:2312.10794, Theorem 6.9 bounds the deviation from gamma by a constant times
/// `sqrt(log d / d)`, with probability at least `1 - 2 n^2 d^{-1/64}`: a statement for d above
/// `(2 n^2)^{64}`. Here is the size of the deviation.
///
/// # Derivation
///
/// The Gram matrix obeys a closed equation that does not depend on `d (gram-equation`) and whose
/// flow is smooth. The `G_ij(0)` of uniform tokens are uncorrelated, of mean 0 and variance `1/d`,
/// and `sqrt(d) G(0)` tends to independent standard normals; so `sqrt(d) delta(t)` tends to their
/// image under the derivative of the flow at the orthonormal start. Second moments converge, too,
/// because `|delta(t)| <= C |G(0)|` and the moments of `sqrt(d) G(0)` are bounded.
///
/// The derivative. Let `G_ij = gamma + delta_ij`, `r_i = sum_j delta_ij`, and let `s = 1` for SA
/// and `s = 0` for USA. To first order `delta_ij' = 2 P delta_ij + R (r_i + r_j)` with `P = a (beta
/// (1 - gamma) - 1 - (n-1) gamma)` and `R = a (1 - gamma) (1 + beta (gamma - s a (1 + (n-1)
/// gamma)))`, a the off-diagonal weight (`gamma-curve`). It has three eigenspaces: equal `delta
/// (`rate `2P + 2(n-1)R`), `delta_ij = c_i + c_j` with `sum c_i = 0` `(n - 1` dimensions, rate
/// `2P + (n-2)R`), and `r = 0` (`n(n-3)/2` dimensions, rate `2P)`. The first rate is the derivative
/// of `gamma'` with respect to `gamma`: its factor is `E_0 = gamma'(t)/gamma'(0)`. By `2P/gamma' =
/// beta/(1 + (n-1) gamma) - 1/(1 - gamma)` the last is `E_2 = (1 - gamma) (1 + (n-1)
/// gamma)^{beta/(n-1)}`. The middle rate is the mean of the two with the weights `q` and `1 - q`,
/// `q = (n-2)/(2(n-1))`: `E_1 = E_2^{1-q} E_0^q`. For `n = 2` and `n = 3` the dimensions -1 and 0
/// give the right sums.
pub static ENTRY: Claim = Claim {
    name: "concentration",
    title: "High dimension: inner products follow `gamma`, with fluctuations of order `d^{-1/2}`",
    lets: "`n` uniform tokens of `R^d` with equal masses move under SA or USA (U1), and let \
           `delta_ij(t) = <x_i, x_j>(t) - gamma(t)` with the curve `gamma` of an orthonormal start \
           (gamma-curve)",
    then: "As `d` tends to `infinity`, `sqrt(d) delta(t)` tends to a Gaussian law, and the mean of \
           `d delta_ij^2` over all pairs tends to `(E_0^2 + (n-1) E_1^2 + (n(n-3)/2) E_2^2) / \
           (n(n-1)/2)`. Here `E_0 = gamma'(t)/gamma'(0)`, `E_2 = (1 - gamma) (1 + (n-1) \
           gamma)^{beta/(n-1)}`, `E_1 = E_2^{1-q} E_0^q`, and `q = (n-2)/(2(n-1))`.",
    tested: "at `d = 10^6`, at a time with `{LEAST} <= gamma <= {MOST}`, to {PERCENT} %, by \
             {STARTS} starts; the linear image of `G(0)` is a control variate with the exact mean",
    numbers: &[
        ("LEAST", GAMMAS.0),
        ("MOST", GAMMAS.1),
        ("PERCENT", PERCENT),
        ("STARTS", STARTS as f64),
    ],
    domain: Domain {
        n: Sizes::Range(2, 12),
        d: Sizes::Unused,
        beta: Betas::Linear(0.0, 2.0),
        laws: &["uniform"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "one dimension, one time; the second moment of the law",
    source: "arXiv:2312.10794, Theorem 6.9; the size of the deviation is derived",
    trials: (6, 60),
    trial: |case, ctx| fluctuation(case, ctx, 1.0),
    constant: "the limit of the mean",
    control: Control {
        what: "half of the limit",
        trial: |ctx| fluctuation(&Case::new(8, 2, 2.0, "sa"), ctx, 0.5),
    },
    ..Claim::LAW
};

/// The dimension.
const DIMENSION: f64 = 1e6;
/// Random starts.
const STARTS: usize = 64;

/// The factors `E_0, E_1, E_2`.
fn factors(curve: &Equiangular, n: f64, beta: f64, gamma: f64) -> [f64; 3] {
    let equal = curve.velocity(gamma) / curve.velocity(0.0);
    let last = (1.0 - gamma) * (1.0 + (n - 1.0) * gamma).powf(beta / (n - 1.0));
    let q = 0.5 * (n - 2.0) / (n - 1.0);
    [equal, last.powf(1.0 - q) * equal.powf(q), last]
}

/// The measured mean of d delta^2 over pairs and starts against `times` its limit. The starts are
/// drawn from the method's random stream, since the claim is about their law.
fn fluctuation(case: &Case, ctx: &mut Context, times: f64) -> Result<Finding> {
    let n = case.n as f64;
    let gamma = ctx.uniform_in(GAMMAS.0, GAMMAS.1);
    let curve = Equiangular::new(case.row_weights()?, case.n, case.beta, TimeScale::U1)?;
    let t = curve.level_time(0.0, gamma)?.value;
    let e = factors(&curve, n, case.beta, gamma);
    let pairs_of = 0.5 * n * (n - 1.0);
    let limit = (e[0] * e[0] + (n - 1.0) * e[1] * e[1] + (pairs_of - n) * e[2] * e[2]) / pairs_of;
    let dynamics = case.build()?;
    let mut found = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let x = uniform_in_span(case.n, ctx.method_rng())?;
        let end = ctx.flow_to(&dynamics, &x, t)?;
        let linear = image(&x, &e);
        let squares = pairs(case.n).zip(linear).map(|((i, j), first_order)| {
            (end.inner(i, j) - gamma).powi(2) - first_order * first_order
        });
        found.push(limit + DIMENSION * squares.sum::<f64>() / pairs_of);
    }
    let (mean, error) = mean_and_error(&found);
    let claimed = ctx.claimed_constant(times * limit);
    Ok(Finding::law(mean, claimed, PERCENT / 100.0 * limit, error))
}

/// The image of G(0) under the derivative of the flow, pair by pair: G(0) is split into its mean,
/// the part `c_i + c_j`, and the rest.
fn image(x: &Tokens, e: &[f64; 3]) -> Vec<f64> {
    let n = x.n();
    let g: Vec<f64> = pairs(n).map(|(i, j)| x.inner(i, j)).collect();
    let mean = g.iter().sum::<f64>() / g.len() as f64;
    let mut sums = vec![0.0; n];
    pairs(n).zip(&g).for_each(|((i, j), g)| {
        sums[i] += g - mean;
        sums[j] += g - mean;
    });
    let part = |(i, j): (usize, usize)| (sums[i] + sums[j]) / (n as f64 - 2.0).max(1.0);
    pairs(n)
        .zip(&g)
        .map(|(pair, g)| e[0] * mean + e[1] * part(pair) + e[2] * (g - mean - part(pair)))
        .collect()
}

/// n uniform tokens of high dimension, in an orthonormal basis of their span: the rows of a lower
/// triangular matrix of independent entries, normal below the diagonal and chi on it (Bartlett
/// 1933), divided by their lengths.
fn uniform_in_span(n: usize, stream: &mut Stream) -> Result<Tokens> {
    let mut rows = vec![0.0; n * n];
    for i in 0..n {
        stream.normals(&mut rows[i * n..i * n + i]);
        rows[i * n + i] = chi2(DIMENSION - i as f64, stream).sqrt();
    }
    Tokens::normalised(n, rows)
}

/// A chi-square variable with many degrees of freedom: twice a gamma variable (Marsaglia and Tsang
/// 2000).
fn chi2(degrees: f64, stream: &mut Stream) -> f64 {
    let shape = 0.5 * degrees - 1.0 / 3.0;
    loop {
        let z = stream.normal();
        let cube = (1.0 + z / (9.0 * shape).sqrt()).powi(3);
        let u = stream.uniform();
        if cube > 0.0 && u.ln() < 0.5 * z * z + shape * (1.0 - cube + cube.ln()) {
            return 2.0 * shape * cube;
        }
    }
}
