//! Random values: how the inner product of two tokens moves, among many tokens and near its ends.

use super::setting::LAYERS;
use crate::theorem::prelude::*;
use crate::theory::random_weights::exponents;

/// Step of a layer. The mean over V and -V has no odd powers of the step.
const ETA: f64 = 0.02;
/// Number of pairs of layers.
const PAIRS_OF_LAYERS: usize = 3000;
/// Distance of one token from the other or from its antipode.
const GAP: f64 = 1e-4;
const ERRORS: f64 = 4.0;
const ALLOWED: f64 = 0.002;

/// Only two of the n tokens are followed; the others enter through the softmax means.
///
/// # Derivation
///
/// `u = V m_x` and `w = V m_y` are normal with `E u_a w_b = S_xy 1(a = b)/d`. Expand `<x + eta u,
/// y + eta w> / (|x + eta u| |y + eta w|)`, `R = <x, y>`, to `eta^2` in the mean: `<u, w>` gives
/// `S_xy`; the squared lengths `-R (S_xx + S_yy)/2`; squares of `<x, u>` and `<y, w>` `3 R (S_xx +
/// S_yy)/(2d)`; their product `R^2 S_xy/d`; first orders of the product times those of the lengths
/// `-(2 S_xy + R (S_xx + S_yy))/d`. Together `[(d - 2 + R^2) S_xy - (d-1) R (S_xx + S_yy)/2]/d`.
/// The part of order `eta` is `<u, y - R x> + <w, x - R y>`. As `|y - R x|^2 = |x - R y|^2 = 1 -
/// R^2` and `<y - R x, x - R y> = -R (1 - R^2)`, its variance is `(1 - R^2)(S_xx + S_yy - 2 R
/// S_xy)/d`.
///
/// Two tokens have `m_x = a x + b y`, `a + b = 1`, `a - b = tanh(beta (1 - R)/2)`. Near antipodes
/// let `delta = x + y` and `T = tanh beta`: then `m_x + m_y = delta`, and with `u = x + eta T V x`
/// the next sum is `P_u (delta + eta V delta)/|u|` to first order in `delta`. To second order in
/// `eta` the means are: `log |delta + eta V delta|^2` gains `1 - 2/d`; `log |u|^2` is `T^2 (1 -
/// 2/d)`; the projection removes the squared component along `u`, `(1 + T^2)/d`. Together `(1 -
/// T^2)(1 - 2/d) - (1 + T^2)/d = ((d-1)/cosh^2 beta - 2)/d`, the growth of `log |delta|^2 = log(1 +
/// R) + log 2`. Near consensus `m_x - m_y` is of third order in `delta = x - y`, so that both
/// tokens add the same `eta V m`, `m = x`, and the next difference is `P_u delta/|u|`, `u = x + eta
/// V x`: `-(1 - 2/d) - 1/d = -(d-1)/d`.
pub static ENTRY: Claim = Claim {
    name: "random-value-drift",
    title: "Random values: drift and variance of an inner product; antipodal pairs attract iff \
            `cosh 2 beta > d - 2`",
    lets: "`x_i+ = N(x_i + eta V m_i)`, where `V` has independent normal entries of variance `1/d` \
           and `m_i` is the softmax mean of token `i` at `beta` among `n` tokens; let `S_ij = \
           <m_i, m_j>` and `R = <x_1, x_2>`",
    then: "To leading order in `eta`, `R+ - R` has the mean `eta^2 [(d - 2 + R^2) S_12 - (d-1) R \
           (S_11 + S_22)/2]/d` and the variance `eta^2 (1 - R^2)(S_11 + S_22 - 2 R S_12)/d`. For \
           two tokens `log(1 + R)` changes near antipodes by `eta^2 ((d-1)/cosh^2 beta - 2)/d` in \
           the mean, which is negative iff `cosh 2 beta > d - 2`. Near consensus `log(1 - R)` \
           changes by `-eta^2 (d-1)/d`, for every `beta`.",
    tested: "for uniform tokens and for two tokens at the distance {GAP} from antipodes and from \
             consensus, with {PAIRS_OF_LAYERS} pairs of layers `+V` and `-V` each at `eta = \
             1/{PARTS}`, to {ERRORS} standard errors plus {ALLOWED} in units of `eta^2`",
    numbers: &[
        ("GAP", GAP),
        ("PAIRS_OF_LAYERS", PAIRS_OF_LAYERS as f64),
        ("PARTS", 1.0 / ETA),
        ("ERRORS", ERRORS),
        ("ALLOWED", ALLOWED),
    ],
    domain: Domain {
        n: Sizes::Range(2, 12),
        d: Sizes::List(&[2, 3, 8, 16]),
        beta: Betas::Linear(0.0, 5.0),
        laws: &["uniform"],
        corners: &[(2, 8, 1.0), (2, 8, 1.5)],
        ..LAYERS
    },
    source: "drift: arXiv:2604.01978, Section 2 (printed at d = infinity); cosh 2 beta against d - \
             2: arXiv:2601.21942 (abstract); all derived",
    trials: (8, 60),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        Ok(moments(case.beta, ctx, &x, true)
            .and(exponent(case.d, case.beta, ctx, Pair::NearAntipodes))
            .and(exponent(case.d, case.beta, ctx, Pair::NearConsensus)))
    },
    constant: "the four changes",
    control: Control {
        what: "the drift for `d = infinity`, used at `d = 3`",
        trial: |ctx| {
            let x = Tokens::normalised(3, vec![1.0, 0.0, 0.0, 0.7, 0.7, 0.0])?;
            Ok(moments(0.5, ctx, &x, false))
        },
    },
    ..Claim::LAW
};

#[derive(Clone, Copy, PartialEq)]
enum Pair {
    NearAntipodes,
    NearConsensus,
}

/// Two tokens, and the lengths by which V times an orthonormal pair of vectors gives V times their
/// means.
struct PairLayer<'a> {
    tokens: [&'a [f64]; 2],
    first: f64,
    along: f64,
    rest: f64,
}

impl<'a> PairLayer<'a> {
    fn new(tokens: [&'a [f64]; 2], [a, b]: [&[f64]; 2]) -> Self {
        let first = norm(a);
        let along = if first > 0.0 { dot(a, b) / first } else { 0.0 };
        let mut rest = b.to_vec();
        axpy(-along / first.max(f64::MIN_POSITIVE), a, &mut rest);
        Self { tokens, first, along, rest: norm(&rest) }
    }

    /// The tokens after a layer with these 2 d normal numbers, for a step of either sign.
    fn apply(&self, normals: &[f64], eta: f64) -> [Vec<f64>; 2] {
        let d = normals.len() / 2;
        let (g, h) = normals.split_at(d);
        let step = eta / (d as f64).sqrt();
        let (mut x, mut y) = (self.tokens[0].to_vec(), self.tokens[1].to_vec());
        axpy(step * self.first, g, &mut x);
        axpy(step * self.along, g, &mut y);
        axpy(step * self.rest, h, &mut y);
        retract(&mut x);
        retract(&mut y);
        [x, y]
    }

    /// A quantity of the new tokens after layers +V and -V.
    fn sample(&self, ctx: &mut Context, of: impl Fn(&[Vec<f64>; 2]) -> f64) -> Vec<[f64; 2]> {
        let mut normals = vec![0.0; 2 * self.tokens[0].len()];
        (0..PAIRS_OF_LAYERS)
            .map(|_| {
                ctx.method_rng().normals(&mut normals);
                [ETA, -ETA].map(|eta| of(&self.apply(&normals, eta)))
            })
            .collect()
    }
}

fn law(values: &[f64], stated: f64) -> Finding {
    let (found, error) = mean_and_error(values);
    Finding::law(found, stated, ERRORS * error + ALLOWED, 0.0)
}

/// Mean and variance of the change of the first inner product.
fn moments(beta: f64, ctx: &mut Context, x: &Tokens, finite: bool) -> Finding {
    let (d, size) = (x.d(), x.d() as f64);
    let mean = |i: usize| -> Vec<f64> {
        let weights: Vec<f64> = (0..x.n()).map(|j| (beta * (x.inner(i, j) - 1.0)).exp()).collect();
        let total: f64 = weights.iter().sum();
        (0..d).map(|c| x.rows().zip(&weights).map(|(r, w)| w / total * r[c]).sum()).collect()
    };
    let (a, b) = (mean(0), mean(1));
    let (s11, s12, s22, r) = (dot(&a, &a), dot(&a, &b), dot(&b, &b), x.inner(0, 1));
    let after = PairLayer::new([x.row(0), x.row(1)], [&a, &b]).sample(ctx, |[y, z]| dot(y, z));
    let drifts: Vec<f64> = after.iter().map(|[p, m]| (0.5 * (p + m) - r) / (ETA * ETA)).collect();
    let squares: Vec<f64> = after.iter().map(|[p, m]| ((p - m) / (2.0 * ETA)).powi(2)).collect();
    let exact = ((size - 2.0 + r * r) * s12 - 0.5 * (size - 1.0) * r * (s11 + s22)) / size;
    let drift = if finite { exact } else { s12 - 0.5 * r * (s11 + s22) };
    let variance = (1.0 - r * r) * (s11 + s22 - 2.0 * r * s12) / size;
    law(&drifts, ctx.claimed_constant(drift)).and(law(&squares, ctx.claimed_constant(variance)))
}

/// The mean change of log(1 + R) near antipodes, or of log(1 - R) near consensus.
fn exponent(d: usize, beta: f64, ctx: &mut Context, pair: Pair) -> Finding {
    let (side, stated) = match pair {
        Pair::NearAntipodes => (-1.0, exponents(d, beta).0),
        Pair::NearConsensus => (1.0, exponents(d, beta).1),
    };
    let (mut x, mut y) = (vec![0.0; d], vec![0.0; d]);
    x[0] = 1.0;
    (y[0], y[1]) = (side * (1.0 - GAP * GAP).sqrt(), GAP);
    let own = 1.0 / (1.0 + (-beta * (1.0 - y[0])).exp());
    let mean = |of: &[f64], other: &[f64]| -> Vec<f64> {
        of.iter().zip(other).map(|(a, b)| own * a + (1.0 - own) * b).collect()
    };
    let (a, b) = (mean(&x, &y), mean(&y, &x));
    // |x -+ y|^2 = 2 (1 -+ R), without cancellation.
    let gap = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - side * y).powi(2)).sum::<f64>()
    };
    let start = gap(&x, &y);
    let changes: Vec<f64> = PairLayer::new([&x, &y], [&a, &b])
        .sample(ctx, |[x, y]| (gap(x, y) / start).ln())
        .iter()
        .map(|[p, m]| 0.5 * (p + m) / (ETA * ETA))
        .collect();
    law(&changes, ctx.claimed_constant(stated))
}
