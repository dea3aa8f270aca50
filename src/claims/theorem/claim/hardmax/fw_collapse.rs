//! Attention layers in R^d at finite beta: all tokens tend to one point.

use super::setting::{TOKENS, hardmax, softmax};
use crate::theorem::prelude::*;

const DIRECTIONS: usize = 8;
const WIDEST: f64 = 20.0;
const ROUNDINGS: f64 = 16.0;
const ORIGIN_LAYERS: usize = 400;
const SIDE: f64 = 0.3;
const SPEED_LAYERS: i32 = 60;

/// Convex layers in R^d: any two rows of weights overlap, so the width in every direction shrinks.
///
/// # Derivation
///
/// Let `p` and `q` be the rows of two tokens `x` and `y`. Their logarithms differ by `beta <x - y,
/// x_j> + const`, whose range over `j` is at most `w = |beta| D^2`. For a set of tokens the
/// log-odds under `p` and `q` differ by at most `w`, so its probabilities differ by at most `max_s
/// (sigma(s + w) - sigma(s)) = tanh(w/4)`, with the logistic function `sigma`: this bounds the
/// total variation of `p` and `q`. So in any direction the averages of two tokens differ by at most
/// `tanh(w/4)` times the width, and after the layer the width is at most `(1 - g) + g tanh(w/4) =
/// 1 - g c` times its previous value. Layers stay in the hull, so `D` does not grow and `c` does
/// not decrease; widths in all directions tend to 0 if the sum of the steps is infinite, and nested
/// hulls to one point.
///
/// It is sharp: two tokens of the same length have `w = beta D^2` and log-odds `+-w/2`, so for
/// `beta >= 0` the width is multiplied by exactly `1 - g c`.
///
/// The limit lies in the hull of the start, and need not be the origin: if the first coordinate of
/// all tokens is 1, it remains 1. For (1, 0) and (1, 0.2) at `beta = 2`, `g = 1/2` the limit is (1,
/// 0.101351). By the symmetry `x -> -x` it is the origin for `+-e_1`.
///
/// In hardmax layers a token `x` keeps its vertex `v`: if `<x, v> >= <x, v'>` for all vertices
/// `v'`, unit vectors, the same holds for `x+ = (1-g) x + g v`. So `x+ - v = (1-g) (x - v)`, and
/// what remains of the distance is the product of all `1 - g_t`. It tends to 0 iff the sum of the
/// steps is infinite, and exponentially if they are bounded below. For `g_t = 2^{-t-1}` the product
/// is 0.288788.
///
/// Rounding: coordinates have an error of some `eps R`, an average of `n` of some `n eps R`; scores
/// have an error of some `d eps |beta| R^2`, and so have the weights, relatively. A width is a
/// difference of `<w, x>`, each of the size `|w| R`.
pub static ENTRY: Claim = Claim {
    name: "fw-collapse",
    title: "Convex attention layers: widths shrink by the factor `1 - g c`, and all tokens tend to \
            one point",
    lets: "`x_i+ = (1-g) x_i + g sum_j softmax_j(beta <x_i, x_j>) x_j` in `R^d` with `g` in (0, \
           1], and let `c = 1 - tanh(|beta| D^2/4)` with `D` the diameter of the tokens",
    then: "For any number of tokens and any vector `w`, a layer multiplies the width `max_i <w, \
           x_i> - min_i <w, x_i>` by at most `1 - g c`. So all tokens tend to one point of their \
           convex hull. For two tokens of one length, `beta >= 0` and `w = x_1 - x_2` the factor \
           is `1 - g c`.",
    tested: "in {DIRECTIONS} directions for `|beta| D^2 <= {WIDEST}` (larger tokens are scaled \
             down, since then `c` is lost in rounding), to `{ROUNDINGS} eps (n + d)(1 + |beta| \
             R^2) |w| R` with `R = max_i |x_i|`; in one of four cases all tokens have the same \
             length; two tokens of one length to four times this rounding",
    numbers: &[("DIRECTIONS", DIRECTIONS as f64), ("WIDEST", WIDEST), ("ROUNDINGS", ROUNDINGS)],
    domain: CONVEX,
    source: "arXiv:2508.09628 v1, proposition on the limit (prop: origin, section 5, as quoted in \
             a formal statement; beta > 0, small step); the factor derived",
    trials: (60, 400),
    trial: |case, ctx| {
        let (mut x, g) = (ctx.normals(case.n * case.d), ctx.uniform_in(0.05, 1.0));
        if ctx.index(4) == 0 {
            for row in x.chunks_exact_mut(case.d) {
                let length = norm(row).max(f64::MIN_POSITIVE);
                divide(row, length);
            }
        }
        Ok(width_bound(case, ctx, (x, g), 0.25)?.and(exact_factor(case, ctx, g)?))
    },
    constant: "the constant `c`",
    control: Control {
        what: "`tanh(|beta| D^2/8)`, for the tokens 1 and -1",
        trial: |ctx| width_bound(&Case::new(2, 1, 1.0, "sa"), ctx, (vec![1.0, -1.0], 0.5), 0.125),
    },
    variants: &[&ORIGIN, &SPEED],
    ..Claim::INEQUALITY
};

/// Tokens of R^d under convex layers.
const CONVEX: Domain = Domain {
    n: Sizes::Range(2, 12),
    d: Sizes::Range(1, 4),
    beta: Betas::Signed(0.01, 2.0),
    dynamics: &["sa"],
    ..TOKENS
};

fn width_bound(
    case: &Case,
    ctx: &mut Context,
    (mut x, g): (Vec<f64>, f64),
    share: f64,
) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let wide = case.beta.abs() * Tokens::flat(d, x.clone())?.diameter().powi(2);
    scale((WIDEST / wide).sqrt().min(1.0), &mut x);
    let x = Tokens::flat(d, x)?;
    // 1 - tanh(y) = 2/(e^{2y} + 1), without cancellation.
    let y = share * case.beta.abs() * x.diameter().powi(2);
    let c = ctx.claimed_constant(2.0 / ((2.0 * y).exp() + 1.0));
    let mut z = x.clone();
    Layer::new(g)?.apply(&softmax(case.beta), &mut z);
    let far = x.rows().map(|r| dot(r, r)).fold(0.0, nan_max);
    let rounding = ROUNDINGS * f64::EPSILON * (n + d) as f64 * (1.0 + case.beta.abs() * far);
    let one = |w: &[f64]| {
        let range = |x: &Tokens| {
            let all = x.rows().map(|r| dot(r, w));
            all.clone().fold(f64::NEG_INFINITY, nan_max) - all.fold(f64::INFINITY, nan_min)
        };
        Finding::at_most(range(&z), (1.0 - g * c) * range(&x) + rounding * (dot(w, w) * far).sqrt())
    };
    // The direction that is closest to the bound.
    let found = ctx.normals(DIRECTIONS * d).chunks_exact(d).map(one).reduce(Finding::and);
    Ok(found.unwrap_or(Finding::HypothesesMissed))
}

/// Two tokens of one length: the factor is attained.
fn exact_factor(case: &Case, ctx: &mut Context, g: f64) -> Result<Finding> {
    let mut x = ctx.normals(2 * case.d);
    for row in x.chunks_exact_mut(case.d) {
        let length = norm(row).max(f64::MIN_POSITIVE);
        divide(row, length);
    }
    let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let (beta, gap) = (case.beta.abs(), square(&x[..case.d], &x[case.d..]).sqrt());
    // On a line both may be the same point.
    if gap < 1e-3 {
        return Ok(Finding::at_most(0.0, 1.0));
    }
    let size = (WIDEST / (beta * gap * gap)).sqrt().min(1.0);
    scale(size, &mut x);
    let width = size * gap;
    let c = ctx.claimed_constant(2.0 / ((0.5 * beta * width * width).exp() + 1.0));
    let mut z = Tokens::flat(case.d, x)?;
    Layer::new(g)?.apply(&softmax(beta), &mut z);
    let factor = square(z.row(0), z.row(1)).sqrt() / width;
    let rounding =
        4.0 * ROUNDINGS * f64::EPSILON * (2 + case.d) as f64 * (1.0 + beta * size * size);
    Ok(Finding::identity((factor - (1.0 - g * c)).abs(), rounding * size / width))
}

static ORIGIN: Claim = Claim {
    name: "fw-origin-printed",
    title: "Convex attention layers: all tokens tend to the origin (words of the first abstract; \
            the paper proves one point of the hull)",
    lets: "`x_i+ = (x_i + sum_j softmax_j(beta <x_i, x_j>) x_j)/2` in `R^d`",
    then: "All tokens tend to the origin.",
    tested: "after {LAYERS} layers: `|x_i|` is at most a tenth of the largest `|x_j|` of the start",
    numbers: &[("LAYERS", ORIGIN_LAYERS as f64), ("SIDE", SIDE)],
    domain: Domain {
        n: Sizes::Range(2, 8),
        d: Sizes::Range(2, 4),
        beta: Betas::Log(0.5, 4.0),
        draws: "tokens `(1, s)` with `|s_k| <= {SIDE}`",
        ..CONVEX
    },
    source: "arXiv:2508.09628 v1, abstract (\"collapsing to the origin\"). The proposition of the \
             same paper (prop: origin, section 5, as quoted in a formal statement) is right: there \
             is x* in the hull of the start with x_i^t -> x*",
    status: Status::Misprinted,
    correct: "As the paper's own proposition says, the limit is one point of the convex hull of \
              the start. It is the origin only where a symmetry puts it there.",
    trials: (6, 40),
    trial: |case, ctx| {
        let side: Vec<f64> = (0..case.n * case.d).map(|_| ctx.uniform_in(-SIDE, SIDE)).collect();
        let x = (0..case.n * case.d).map(|k| if k % case.d == 0 { 1.0 } else { side[k] }).collect();
        size(&Tokens::flat(case.d, x)?, case.beta)
    },
    control: Control {
        what: "tokens `e_1` and `-e_1` at `beta = 1/2`, whose limit is the origin",
        trial: |_| size(&Tokens::flat(2, vec![1.0, 0.0, -1.0, 0.0])?, 0.5),
    },
    ..Claim::INEQUALITY
};

fn size(x: &Tokens, beta: f64) -> Result<Finding> {
    let mut z = x.clone();
    for _ in 0..ORIGIN_LAYERS {
        Layer::new(0.5)?.apply(&softmax(beta), &mut z);
    }
    let longest = |x: &Tokens| x.rows().map(norm).fold(0.0, nan_max);
    Ok(Finding::at_most(longest(&z), 0.1 * longest(x)))
}

static SPEED: Claim = Claim {
    name: "fw-speed-printed",
    title: "Hardmax layers, `B > 0`: tokens reach their vertices exponentially fast for any `g_t` \
            in (0, 1) (as printed)",
    lets: "`x+ = x + g_t` `(argmax_v <x, v> - x)` with `g_t` in (0, 1), where the vertices `v` are \
           unit vectors among the tokens",
    then: "For every sequence `g_t`, tokens tend to their vertices exponentially fast.",
    tested: "with `g_t = 2^{-t-1}`: after {LAYERS} layers at most a hundredth of the distance \
             remains",
    numbers: &[("LAYERS", SPEED_LAYERS as f64)],
    domain: Domain {
        n: Sizes::Range(3, 12),
        draws: "uniform unit vectors, and a token inside their hull",
        ..TOKENS
    },
    narrower: "one sequence `g_t`",
    source: "arXiv:2508.09628 v1, theorem on B > 0 (exp.fast, for gamma in (0, 1); as quoted in a \
             formal statement)",
    status: Status::Misprinted,
    correct: "The remaining distance is the product of all `1 - g_t`. It tends to 0 exponentially \
              if the steps are bounded below.",
    trials: (10, 60),
    trial: |case, ctx| remaining_distance(case, ctx, |t| 0.5f64.powi(t + 1)),
    control: Control {
        what: "`g_t = 1/2` for all `t`",
        trial: |ctx| remaining_distance(&Case::new(6, 3, 0.0, ""), ctx, |_| 0.5),
    },
    ..Claim::INEQUALITY
};

/// The share of the distance of a token from its vertex that remains.
fn remaining_distance(case: &Case, ctx: &mut Context, g: fn(i32) -> f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let mut x = ctx.tokens_with_law(n, d, "uniform")?.coordinates().to_vec();
    // The last token is inside, near the first vertex.
    let inside: Vec<f64> = x[..d].iter().map(|v| 0.5 * v).collect();
    x.splice((n - 1) * d.., inside);
    let start = Tokens::flat(d, x)?;
    if (1..n - 1).any(|j| dot(start.row(0), start.row(j)) > 1.0 - 1e-6) {
        return Ok(Finding::HypothesesMissed);
    }
    let (dynamics, mut z) = (hardmax(None)?, start.clone());
    for t in 0..SPEED_LAYERS {
        Layer::new(g(t))?.apply(&dynamics, &mut z);
    }
    let distance = |x: &Tokens| chord2(x.row(n - 1), x.row(0)).sqrt();
    Ok(Finding::at_most(distance(&z) / distance(&start), 1e-2))
}
