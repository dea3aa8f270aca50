//! The entropy of the rows of attention weights.

use crate::theorem::prelude::*;

const LATEST: f64 = 2.0;
const TOLERANCE: f64 = 1e-6;
const LEAST_BETA: f64 = 0.1;
const UNIFORM_N: usize = 6;
const UNIFORM_BETA: f64 = 4.0;
const DRAWS: usize = 2000;
const PERCENTS: (usize, usize) = (2, 6);

/// Rows of equiangular tokens are `(a, b, ..., b)`, whose entropy increases with b/a.
///
/// # Derivation
///
/// Row `i` has `p_j = e^{beta s_j}/Z` with `s_j = <x_i, x_j>`, and its entropy is `H = log Z - beta
/// sum_j p_j s_j`. As `(log Z)' = beta sum_j p_j s_j'`, `H' = -beta sum_j p_j' s_j`, and `p_j' =
/// beta p_j (s_j' - E_p s')`: so `H' = -beta^2 Cov_p(s, s')`.
///
/// Orthonormal tokens remain equiangular under SA, and the inner product `gamma` grows like
/// `gamma' = 2 b (1 - gamma) ((n-1) gamma + 1)`. A row has `s = 1`, `s' = 0` with the weight a and
/// `gamma`, `gamma'` with the weight `1 - a`, so `Cov_p(s, s') = -a (1 - a) (1 - gamma) gamma'`.
/// This is negative, so `H` increases, to `log n`.
///
/// From other starts `H'` has either sign. With most of the weight on the token itself it is about
/// `beta^2 sum_{j != i} p_j (1 - s_j) s_j'`, which is negative if the tokens near `i` move away
/// from it: for a token that moves from one group to another. The gain of the other rows need not
/// be larger.
pub static ENTRY: Claim = Claim {
    name: "row-entropy",
    title: "From orthonormal tokens the row entropy of attention increases along SA",
    lets: "`n` orthonormal tokens move by SA with `Q = K = V = I`, let `gamma` be their inner \
           product, `b = 1/(e^{beta (1 - gamma)} + n - 1)` and `a = 1 - (n-1) b`",
    then: "The mean `H` over `i` of `-sum_j A_ij log A_ij` increases at all times: `H' = 2 beta^2` \
           a `(1 - a) b (1 - gamma)^2 ((n-1) gamma + 1)`.",
    tested: "at a time in [0, {LATEST}], to a relative {TOLERANCE}",
    numbers: &[("LATEST", LATEST), ("TOLERANCE", TOLERANCE), ("LEAST_BETA", LEAST_BETA)],
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(2, 24),
        beta: Betas::Linear(LEAST_BETA, 8.0),
        dynamics: &["sa"],
        laws: &["orthonormal"],
        condition: Some(Condition { text: "`d >= n`", holds: |c| c.d >= c.n }),
        ..Domain::EQUAL_MASSES
    },
    narrower: "`t <= {LATEST}`, `beta >= {LEAST_BETA}`",
    source: "derived",
    trials: (20, 100),
    trial: along_the_curve,
    constant: "the factor 2",
    control: Control {
        what: "the repulsive flow",
        trial: |ctx| {
            let case = Case::new(6, 6, 4.0, "repulsive-sa").with_law("orthonormal");
            along_the_curve(&case, ctx)
        },
    },
    variants: &[&UNIFORM],
    ..Claim::IDENTITY
};

/// The monotone increase needs the special start.
static UNIFORM: Claim = Claim {
    name: "row-entropy-uniform",
    title: "From uniform tokens the row entropy may decrease at the start",
    lets: "{TOKENS} uniform tokens of the circle move by SA with `Q = K = V = I` and `beta = \
           {BETA}`",
    then: "The mean row entropy decreases at the start for {LEAST} to {MOST} % of all draws (3.7 \
           %).",
    tested: "on {DRAWS} draws",
    numbers: &[
        ("TOKENS", UNIFORM_N as f64),
        ("BETA", UNIFORM_BETA),
        ("LEAST", PERCENTS.0 as f64),
        ("MOST", PERCENTS.1 as f64),
        ("DRAWS", DRAWS as f64),
    ],
    domain: Domain {
        n: Sizes::Fixed(UNIFORM_N),
        d: Sizes::Fixed(2),
        beta: Betas::List(&[UNIFORM_BETA]),
        dynamics: &["sa"],
        draws: "{DRAWS} configurations",
        ..Domain::EQUAL_MASSES
    },
    source: "observed here; arXiv:2605.04279 (abstract: \"increases monotonically toward \
             equilibrium as clustering progresses\", after a sentence on equiangular tokens, for \
             which row-entropy proves it)",
    status: Status::Observation,
    trials: (3, 10),
    trial: share_of_decrease,
    no_constant: "a share between two bounds",
    control: Control {
        what: "orthonormal tokens",
        trial: |ctx| {
            let case = Case::new(UNIFORM_N, UNIFORM_N, UNIFORM_BETA, "sa").with_law("orthonormal");
            share_of_decrease(&case, ctx)
        },
    },
    ..Claim::EXACT
};

/// `d/dt` of the mean row entropy.
fn rise(beta: f64, x: &Tokens, v: &[f64]) -> f64 {
    let (n, d) = (x.n(), x.d());
    let mut total = 0.0;
    for i in 0..n {
        let own = &v[i * d..(i + 1) * d];
        let weights: Vec<f64> = (0..n).map(|j| (beta * (x.inner(i, j) - 1.0)).exp()).collect();
        let z: f64 = weights.iter().sum();
        let change: Vec<f64> =
            (0..n).map(|j| dot(own, x.row(j)) + dot(x.row(i), &v[j * d..(j + 1) * d])).collect();
        let mean = |f: &dyn Fn(usize) -> f64| (0..n).map(|j| weights[j] / z * f(j)).sum::<f64>();
        let (s, r) = (mean(&|j| x.inner(i, j)), mean(&|j| change[j]));
        total -= mean(&|j| (x.inner(i, j) - s) * (change[j] - r));
    }
    beta * beta * total / n as f64
}

fn along_the_curve(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let (start, t) = (ctx.tokens(case)?, ctx.uniform_in(0.0, LATEST));
    let x = ctx.flow_to(&case.build()?, &start, t)?;
    let found = rise(case.beta, &x, &ctx.velocity(case, &x)?);
    let (others, beta) = (case.n as f64 - 1.0, case.beta);
    // 1 - gamma.
    let gap = 0.5 * chord2(x.row(0), x.row(1));
    let b = 1.0 / ((beta * gap).exp() + others);
    let stated = ctx.claimed_constant(2.0)
        * (beta * gap).powi(2)
        * ((1.0 - others * b) * others * b * b)
        * (others * (1.0 - gap) + 1.0);
    Ok(Finding::identity((found / stated - 1.0).abs(), TOLERANCE))
}

fn share_of_decrease(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let (law, flow) = (Law::parse(case.law)?, case.build()?);
    let mut decreases = 0;
    for _ in 0..DRAWS {
        let x = law.sample(case.n, case.d, ctx.method_rng())?;
        decreases += usize::from(rise(case.beta, &x, &flow.velocity(&x)) < 0.0);
    }
    let (least, most) = (PERCENTS.0 * DRAWS / 100, PERCENTS.1 * DRAWS / 100);
    Ok(Finding::answer((least..=most).contains(&decreases)))
}
