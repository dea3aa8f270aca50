//! Causal attention collapses onto the first token.

use crate::attention::scheduled::{Schedule, Scheduled};
use crate::theorem::prelude::*;

const NEAR: f64 = 1.1e-6;
const MERGE_RADIUS: f64 = 1e-6;
const FREQUENCIES: (f64, f64) = (0.1, 2.0);
const LARGEST_BETA: f64 = 8.0;
const LARGEST_TURNING_N: usize = 12;
const LARGEST_TURNING_BETA: f64 = 1.5;

/// # Derivation
///
/// Token 1 sees only itself, and `P_{x_1} x_1 = 0`: it does not move. Let tokens `1 ... k-1` tend
/// to `x_1`. In `x_k' = P_{x_k} sum_{j<=k} A_kj x_j` the term `j = k` vanishes, the other weights
/// are at least some `c > 0`, because the scores are bounded by `beta` sup `|A(t)|`, and so `x_k' =
/// c_k(t) P_{x_k} x_1 + o(1)` with `c_k >= c`. Hence `<x_k, x_1>' = c_k (1 - <x_k, x_1>^2) + o(1)`,
/// and `x_k` tends to `x_1` or to `-x_1`. At `-x_1` the linearised field is `c_k(t)` times the
/// identity plus `o(1)`, as `P_{x_k} x_1` vanishes there and the change of `c_k` drops out. Two
/// solutions that stay near `-x_1` for the same tokens before them would separate exponentially: at
/// most one start `x_k` leads there, a set of measure 0, and by Fubini so do almost no starts of
/// all tokens. The time enters only through `c_k(t)`, which changes speeds and not directions.
pub static ENTRY: Claim = Claim {
    name: "causal-limit",
    title: "Causal attention: every token converges to `x_1(0)`",
    lets: "`V = I`, `beta >= 0`, `d >= 2`, and let `Q^T K = A(t)` be any bounded function of time",
    then: "Under causal SA or USA, `x_k(t)` tends to `x_1(0)` for all `k`, from almost every \
           start.",
    tested: "with constant `Q` and `K`, and with `A(t) = A_0 cos wt + A_1 sin wt`, `w` in \
             [{LOWEST}, {HIGHEST}]: a run that lasts as long as necessary ends with all tokens \
             within {NEAR} of `x_1(0)`",
    numbers: &[
        ("LOWEST", FREQUENCIES.0),
        ("HIGHEST", FREQUENCIES.1),
        ("NEAR", NEAR),
        ("LARGEST_BETA", LARGEST_BETA),
        ("LARGEST_N", LARGEST_TURNING_N as f64),
        ("LARGEST_TURNING_BETA", LARGEST_TURNING_BETA),
    ],
    domain: Domain {
        n: Sizes::Range(2, 32),
        d: Sizes::Range(2, 16),
        beta: Betas::Log(0.01, LARGEST_BETA),
        dynamics: &["causal-sa", "causal-usa"],
        corners: &[(8, 3, 1.0), (12, 2, 0.5)],
        ..Domain::ATTENTION
    },
    narrower: "all matrices of Frobenius norm 1 (`beta` sets the size of the scores); `beta <= \
               {LARGEST_BETA}`, since the slowest starts take times of order `e^{2 beta}`; `n` cut \
               off at {LARGEST_N} and `beta` at {LARGEST_TURNING_BETA} if `A` depends on time",
    source: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990, Theorem 4.1 (constant A); \
             arXiv:2412.02682 (weights that depend on time); derived",
    trials: (72, 300),
    trial: |case, ctx| ends_at(case, ctx, 0),
    no_constant: "a run ends at x_1(0) or it does not",
    control: Control {
        what: "the limit `x_2(0)` instead",
        trial: |ctx| ends_at(&Case::with_random_masses(8, 3, 1.0, "causal-sa"), ctx, 1),
    },
    ..Claim::EVERY
};

/// `A_0 cos wt + A_1 sin wt` as the matrix of queries.
struct Turning {
    d: usize,
    ends: [Vec<f64>; 2],
    frequency: f64,
}

impl Schedule for Turning {
    fn heads(&self, t: f64) -> Vec<Head> {
        let (sin, cos) = (self.frequency * t).sin_cos();
        let now = self.ends[0].iter().zip(&self.ends[1]).map(|(a, b)| a * cos + b * sin).collect();
        // A square matrix by construction.
        Head::new(self.d, Some((self.d, now)), None, None).into_iter().collect()
    }

    fn has_identity_values(&self) -> bool {
        true
    }
}

/// True if all tokens end near the start of this token. Under a causal mask tokens never merge; the
/// run ends when all are within the merging radius of the first.
fn ends_at(case: &Case, ctx: &mut Context, target: usize) -> Result<Finding> {
    let (x, dynamics) = if ctx.index(2) == 0 {
        (ctx.tokens(case)?, with_constant_scores(case, ctx)?)
    } else {
        let case = Case {
            n: case.n.min(LARGEST_TURNING_N),
            beta: case.beta.min(LARGEST_TURNING_BETA),
            ..*case
        };
        (ctx.tokens(&case)?, with_turning_scores(&case, ctx)?)
    };
    // The limit attracts, so a coarse tolerance finds it.
    let options = Options {
        rtol: 100.0 * ctx.rtol(),
        merge_radius: MERGE_RADIUS,
        stop_at_one_cluster: true,
        ..Options::default()
    };
    let end = solve(&dynamics, &x, 1e9, &options, &mut [])?;
    if !end.outcome.is_success() {
        return Ok(Finding::Unfinished(end.outcome.to_string()));
    }
    let furthest = end.clusters.rows().map(|r| dist(r, x.row(target))).fold(0.0, nan_max);
    Ok(Finding::answer(furthest <= NEAR))
}

fn with_constant_scores(case: &Case, ctx: &mut Context) -> Result<Dynamics> {
    let head = Head::new(case.d, unit_matrix(ctx, case.d), unit_matrix(ctx, case.d), None)?;
    let spec = Spec { heads: vec![head], ..Spec::new(case.beta, case.n) };
    dynamics::build(case.dynamics, false, &spec)
}

fn with_turning_scores(case: &Case, ctx: &mut Context) -> Result<Dynamics> {
    let ends =
        [unit_matrix(ctx, case.d), unit_matrix(ctx, case.d)].map(|m| m.map_or(vec![], |m| m.1));
    let schedule =
        Turning { d: case.d, ends, frequency: ctx.log_uniform_in(FREQUENCIES.0, FREQUENCIES.1) };
    let weights = match case.row_weights()? {
        RowWeights::Exponential => Weights::Exponential { log_factor: 0.0 },
        _ => Weights::Softmax,
    };
    let attention = Attention { causal: true, weights, ..Attention::new(case.beta) };
    Ok(Dynamics::single(Scheduled { attention, schedule }))
}
