//! The smallest inner product increases once all inner products are nonnegative.

use super::setting::{product, random_head, with_head};
use crate::attention::Variant;
use crate::num::dense;
use crate::theorem::prelude::*;

const ROUNDINGS: f64 = 64.0;

/// `min_ij G_ij` is nondecreasing while it is nonnegative.
///
/// # Derivation
///
/// At the minimising pair, `m = G_ij >= 0`: `G_ij' = sum_k A_ik (G_kj - G_ik m) + (i <-> j)`, every
/// term is at least `A_ik (m - G_ik m) >= 0`, and the terms `k = j` and `k = i` add up to `(A_ij +
/// A_ji) (1 - m^2)`. For `n = 2` and for orthogonal tokens the other terms vanish.
///
/// The folklore: three independent vectors always lie in an open hemisphere. At `beta = 0`, with
/// `G_12 = -0.5`, `G_13 = G_23 = -0.4` and masses 1/5, 1/5, 3/5, `G_12' = 2 sum_k m_k (G_k2 - G_1k
/// G_12)`: `k = 2` gives `0.2 (1 - 0.25) = 0.15` and `k = 3` gives `0.6 (-0.4 - 0.2) = -0.36`, so
/// `G_12' = -0.42`. A heavy token pulls the two others apart.
pub static ENTRY: Claim = Claim {
    name: "min-inner",
    title: "`min <x_i, x_j>` increases while it is nonnegative",
    lets: "`V = I`, with any positive weights `A_ij` (SA, USA, causal; any `Q`, `K`), and let `m = \
           min_ij <x_i, x_j> >= 0`",
    then: "The derivative of `<x_i, x_j>` at every minimising pair is at least `(A_ij + A_ji) (1 - \
           m^2)`.",
    tested: "to `{ROUNDINGS} eps (1 + beta |Q| |K|) (sum_k A_ik + sum_k A_jk)`, with Frobenius \
             norms, which bounds the rounding of the weights",
    numbers: &[("ROUNDINGS", ROUNDINGS)],
    domain: Domain {
        n: Sizes::Range(2, 16),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.01, 4.0),
        dynamics: &["sa", "usa", "causal-sa"],
        laws: &["cap:radius=0.785398"],
        ..Domain::ATTENTION
    },
    narrower: "tokens in a cap of radius `pi/4` or in the nonnegative orthant; `Q` and `K` are `I` \
               plus at most a normalised Gaussian matrix",
    source: "derived from the Gram equation",
    trials: (100, 1000),
    trial: |case, ctx| {
        let mut x = ctx.tokens(case)?;
        if ctx.index(2) == 0 {
            x = orthant_tokens(case, ctx)?.with_masses(x.masses())?;
        }
        let head = random_head(case.d, 1.0, ctx)?;
        let factor = ctx.claimed_constant(1.0);
        rises(case, &x, head, factor)
    },
    constant: "the factor of `(A_ij + A_ji) (1 - m^2)`",
    control: Control {
        what: "tokens in a hemisphere whose smallest inner product is negative",
        trial: |_| obtuse_example(),
    },
    variants: &[&FOLKLORE],
    ..Claim::INEQUALITY
};

static FOLKLORE: Claim = Claim {
    name: "min-inner-folklore",
    title: "`min <x_i, x_j>` increases in every hemisphere (folklore)",
    then: "If all tokens lie in an open hemisphere, `min_ij <x_i, x_j>` is nondecreasing.",
    domain: Domain {
        n: Sizes::Range(2, 12),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.01, 10.0),
        laws: &["hemisphere"],
        ..Domain::ATTENTION
    },
    narrower: "`Q = K = I`",
    source: "derived (a counterexample)",
    status: Status::Folklore,
    trials: (400, 1000),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        derivative(case, &x, Head::default())
    },
    control: Control {
        what: "tokens in a cap of radius `pi/4`, where all inner products are nonnegative",
        trial: |ctx| {
            let case = Case::with_random_masses(6, 3, 1.0, "sa").with_law("cap:radius=0.785398");
            let x = ctx.tokens(&case)?;
            derivative(&case, &x, Head::default())
        },
    },
    ..Claim::INEQUALITY
};

/// Tokens in the nonnegative orthant; small coordinates are set to 0 so that orthogonal pairs
/// occur.
fn orthant_tokens(case: &Case, ctx: &mut Context) -> Result<Tokens> {
    let cut = ctx.uniform_in(0.0, 1.0);
    let mut x = ctx.normals(case.n * case.d);
    for row in x.chunks_exact_mut(case.d) {
        let most = max_abs(row);
        row.iter_mut().for_each(|v| *v = if v.abs() < cut * most { 0.0 } else { v.abs() });
        if most == 0.0 {
            row[0] = 1.0;
        }
    }
    Tokens::normalised(case.d, x)
}

/// The smallest inner product, with its derivative.
struct Slope {
    /// Its derivative.
    whole: f64,
    /// The part of the derivative due to the attraction of the pair itself.
    own: f64,
    /// Rounding error of the derivative.
    error: f64,
    /// The sum of all weights of the two tokens.
    weights: f64,
}

/// The derivative of the smallest inner product, relative to the attraction of the pair itself,
/// against 0.
fn derivative(case: &Case, x: &Tokens, head: Head) -> Result<Finding> {
    Ok(slope(case, x, head)?.map_or(Finding::HypothesesMissed, |s| {
        Finding::nonnegative(s.whole, s.own).with_evaluation_error(s.error / s.own)
    }))
}

/// The derivative against the attraction of its own pair. Lengths are 1 to an eps, so inner
/// products with weighted sums of tokens have the relative error of the weights. A logit has an
/// error of some `d eps beta |Q| |K|`, and so have the weights, relatively.
fn rises(case: &Case, x: &Tokens, head: Head, factor: f64) -> Result<Finding> {
    let norm = |m: Option<&[f64]>| m.map_or((x.d() as f64).sqrt(), norm);
    let [q, k, _] = head.matrices();
    let rounding = ROUNDINGS * f64::EPSILON * (1.0 + case.beta * norm(q) * norm(k));
    Ok(slope(case, x, head)?.map_or(Finding::HypothesesMissed, |s| {
        Finding::at_least(s.whole, factor * s.own - rounding * s.weights)
    }))
}

fn slope(case: &Case, x: &Tokens, head: Head) -> Result<Option<Slope>> {
    let d = x.d();
    let pairs = pairs(x.n());
    let Some((i, j)) = pairs.min_by(|a, b| x.inner(a.0, a.1).total_cmp(&x.inner(b.0, b.1))) else {
        return Ok(None);
    };
    let product = product(&head, d);
    let v = with_head(case, head)?.velocity(x);
    let (v_i, v_j) = (&v[i * d..(i + 1) * d], &v[j * d..(j + 1) * d]);
    let m = x.inner(i, j);
    let variant = case.variant()?;
    let weight = |a: usize, b: usize| weight((variant, case.beta), x, &product, a, b);
    let rest = 0.5 * chord2(x.row(i), x.row(j));
    let own = (weight(i, j) + weight(j, i)) * rest * (2.0 - rest);
    let whole = dot(v_i, x.row(j)) + dot(v_j, x.row(i));
    let error = 64.0 * f64::EPSILON * (norm(v_i) + norm(v_j));
    let weights = (0..x.n()).map(|k| weight(i, k) + weight(j, k)).sum();
    Ok((own > 0.0 && !(m < 0.0 && m > -1e-14)).then_some(Slope { whole, own, error, weights }))
}

/// The weight `A_ab` that attention of this variant and beta gives token b at token a.
fn weight((variant, beta): (Variant, f64), x: &Tokens, product: &[f64], a: usize, b: usize) -> f64 {
    let visible = variant.visible_count(a, x.n());
    if b >= visible {
        return 0.0;
    }
    let mut image = vec![0.0; x.d()];
    let logit = |c: usize, image: &mut [f64]| {
        dense::mat_vec(product, x.row(c), image);
        beta * dot(x.row(a), image)
    };
    let logits: Vec<f64> = (0..visible).map(|c| logit(c, &mut image)).collect();
    if variant.weights == RowWeights::Exponential {
        return x.masses()[b] * logits[b].exp();
    }
    let total: f64 = logits.iter().zip(x.masses()).map(|(l, m)| m * (l - logits[b]).exp()).sum();
    x.masses()[b] / total
}

/// Three tokens with inner products -0.5, -0.4, -0.4 and masses 1/5, 1/5, 3/5: independent, hence
/// in a hemisphere.
fn obtuse_example() -> Result<Finding> {
    let side = 0.75f64.sqrt();
    let x = Tokens::normalised(3, vec![1.0, 0.0, 0.0, -0.5, side, 0.0, -0.4, -0.6 / side, 0.6])?
        .with_masses(&[0.2, 0.2, 0.6])?;
    rises(&Case { masses: Masses::Random, ..Case::new(3, 3, 0.0, "sa") }, &x, Head::default(), 1.0)
}
