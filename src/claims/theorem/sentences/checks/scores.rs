//! Checks about inner products, distances, weights and energies.

use super::setting::{
    by_distance, by_dot, by_square, count_exchanges, images, line, normal_rows, own_weights, rows,
    softmax_row, uniform, weights,
};
use crate::num::dense::exponential;
use crate::num::softmax::log_sum_exp;
use crate::sphere::cap::{Hemisphere, hemisphere};
use crate::sphere::geometry::project;
use crate::theorem::prelude::*;

pub fn chord_kernel(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (x, n) = (uniform(case, ctx)?, case.n);
    let beta = if wrong { 2.0 } else { 1.0 } * case.beta;
    let term = |k: usize| (beta * (x.inner(k / n, k % n) - 1.0)).exp() / (n * n) as f64;
    let by_dots = (0..n * n).map(term).sum::<f64>().ln();
    // The library sums e^{-beta |x - y|^2/2}.
    let by_chords = Energy::new(case.beta, EnergyScale::Unit).log_unit(&x);
    Ok(Finding::identity((by_dots - by_chords).abs(), 1e-13 * (1.0 + case.beta)))
}

pub fn score_is_distance(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (x, c) = (uniform(case, ctx)?, ctx.log_uniform_in(0.1, 10.0));
    let mut w = identity(case.d);
    scale(c, &mut w);
    w[0] *= if wrong { 4.0 } else { 1.0 };
    let score = dot(x.row(0), &images(x.row(1), &w, case.d));
    let stated = c * (1.0 - 0.5 * chord2(x.row(0), x.row(1)));
    Ok(Finding::identity((score - stated).abs(), 1e-13 * c))
}

pub fn nearest_by_dot(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let x = if wrong { line() } else { rows(&uniform(case, ctx)?) };
    Ok(Finding::exact(count_exchanges(&x, by_dot, by_square), 0))
}

pub fn root_matters(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let x = if wrong { line() } else { rows(&uniform(case, ctx)?) };
    let without_root = if wrong { by_dot } else { by_square };
    Ok(Finding::exact(count_exchanges(&x, without_root, by_distance), 0))
}

pub fn self_weight_largest(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let mut x = uniform(case, ctx)?.coordinates().to_vec();
    if wrong {
        let twice: Vec<f64> = x[..d].iter().map(|v| 2.0 * v).collect();
        x[d..2 * d].copy_from_slice(&twice);
    }
    let all = own_weights(d, case.beta, &x)?;
    Ok(Finding::all((0..n * n).map(|k| all[k] <= all[k / n * (n + 1)] * (1.0 + 1e-12))))
}

pub fn orthogonal_weight(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let x = ctx.tokens_with_law(2, case.d, "orthonormal")?;
    let weight = own_weights(case.d, case.beta, x.coordinates())?[1];
    let stated = 1.0 / (1.0 + (if wrong { 2.0 } else { 1.0 } * case.beta).exp());
    Ok(Finding::identity((weight / stated - 1.0).abs(), 1e-13 * (1.0 + case.beta)))
}

pub fn orthogonal_unrelated(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let x = ctx.tokens_with_law(2, case.d, "orthonormal")?;
    let beta = if wrong { 30.0 } else { case.beta.min(4.0) };
    Ok(Finding::answer(own_weights(case.d, beta, x.coordinates())?[1] > 0.01))
}

pub fn nearest_at_small_beta(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (x, beta) = if wrong {
        (Tokens::from_angles(&[0.0, 0.5, 2.0, 4.0])?, 100.0)
    } else {
        (ctx.tokens_with_law(case.n.max(4), case.d, "uniform")?, ctx.log_uniform_in(1e-4, 0.1))
    };
    let of_first = &own_weights(x.d(), beta, x.coordinates())?[1..x.n()];
    Ok(Finding::answer(vector::max(of_first) < 0.5 * of_first.iter().sum::<f64>()))
}

/// Scores lie in [-beta, beta], so `e^{-2 beta}/n <= A_ij <= e^{2 beta}/n`. The sum of n
/// exponentials lies between its largest term and n times that. If the first token occurs twice and
/// all other scores are lower by at least `gap`, the others have at most `n e^{-beta gap}` of it.
pub fn temperature_limits(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (x, beta, exponent) = if wrong {
        (Tokens::from_angles(&[PI, PI, PI, PI, PI, PI, PI, 0.0])?, 0.1, 1.0)
    } else {
        (uniform(case, ctx)?, case.beta, 2.0)
    };
    let (n, d) = (x.n() as f64, x.d());
    let mut excess = 0.0;
    for (i, row) in own_weights(d, beta, x.coordinates())?.chunks_exact(x.n()).enumerate() {
        let off = row.iter().map(|a| (a - 1.0 / n).abs()).fold(0.0, nan_max);
        excess = nan_max(excess, off - (exponent * beta).exp_m1() / n);
        let scores: Vec<f64> = (0..x.n()).map(|j| beta * x.inner(i, j)).collect();
        let above = log_sum_exp(&scores) - vector::max(&scores);
        excess = nan_max(excess, nan_max(-above, above - n.ln()) / (1.0 + beta));
    }
    let next = (1..x.n()).map(|j| x.inner(0, j)).fold(-1.0, nan_max);
    let twice = [x.row(0), x.coordinates()].concat();
    let tied = &own_weights(d, beta, &twice)?[..2];
    let apart = nan_max((tied[0] - 0.5).abs(), (tied[1] - 0.5).abs());
    excess = nan_max(excess, apart - n * (-beta * (1.0 - next)).exp());
    Ok(Finding::identity(nan_max(excess, 0.0), 1e-12))
}

pub fn cross_entropy(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, scores) = (case.n, ctx.normals(case.n));
    let (p, q) = (softmax_row(ctx.normals(n)), softmax_row(scores.clone()));
    let sum = |f: &dyn Fn(f64, f64) -> f64| p.iter().zip(&q).map(|(p, q)| f(*p, *q)).sum::<f64>();
    let (cross, entropy) = (sum(&|p, q| -p * q.ln()), sum(&|p, _| -p * p.ln()));
    let divergence = sum(&|p, q| p * (p / q).ln());
    let off = cross - divergence - if wrong { 0.0 } else { entropy };
    // A one-hot p has entropy 0, and both sides are -log q_k.
    let k = ctx.index(n);
    let one_hot = -q[k].ln() - (log_sum_exp(&scores) - scores[k]);
    Ok(Finding::identity(largest([off.abs(), one_hot.abs()]), 1e-12))
}

pub fn dimension_at_least_n(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (d, few) = (case.d, case.n.min(case.d));
    let (n, law) = if wrong { (d + 1, "simplex") } else { (few, "uniform") };
    let x = ctx.tokens_with_law(n, d, law)?;
    let least = symmetric_eigenvalues(&x.gram(), n).map_or(f64::NAN, |v| v[0]);
    Ok(match hemisphere(&x) {
        // Two tokens with a negative product attain the bound.
        Hemisphere::Open { margin, .. } => {
            Finding::at_least(margin + 1e-9, (nan_max(least, 0.0) / n as f64).sqrt())
        }
        Hemisphere::None { .. } => Finding::answer(false),
    })
}

/// The number of different inner products below 1, with three tokens at each of these points.
fn count_peaks(places: &Tokens) -> usize {
    let k = 3 * places.n();
    let inner = |e: usize| places.inner(e / k / 3, e % k / 3);
    let mut all: Vec<f64> = (0..k * k).map(inner).filter(|g| *g < 1.0 - 1e-9).collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
    all.len()
}

pub fn peaks_to_clusters(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let k = case.n;
    let bound = k * (k - 1) / if wrong { 4 } else { 2 };
    Ok(Finding::answer(count_peaks(&uniform(case, ctx)?) <= bound))
}

pub fn peaks_count_clusters(_: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let s = ctx.uniform_in(0.1, 0.7);
    let angles = if wrong { vec![0.0, 1.0, 2.5] } else { vec![s, -s, PI - s, PI + s] };
    let peaks = count_peaks(&Tokens::from_angles(&angles)?);
    // k clusters with different distances have k (k - 1)/2 peaks.
    Ok(Finding::answer(peaks != angles.len() * (angles.len() - 1) / 2))
}

/// The largest difference between the difference quotient of `-sum w_ij |x_i - x_j|^2`, which is
/// exact for a quadratic form, and `2 sum_j u_ij (x_j - x_i)`, relative to the size of the terms.
/// `half` sums over i < j.
fn force_error(case: &Case, ctx: &mut Context, both: bool, half: bool) -> f64 {
    let (n, d) = (case.n, case.d);
    let (x, mut w) = (ctx.normals(n * d), ctx.normals(n * n));
    if half {
        w = (0..n * n).map(|k| w[k] + w[k % n * n + k / n]).collect();
    }
    let energy = |x: &[f64]| -> f64 {
        let terms = (0..n * n).filter(|k| !half || k / n < k % n);
        -terms.map(|k| w[k] * chord2(&x[k / n * d..][..d], &x[k % n * d..][..d])).sum::<f64>()
    };
    let weight = |i: usize, j: usize| w[i * n + j] + if both { w[j * n + i] } else { 0.0 };
    let error = |k: usize| {
        let term = |j: usize| weight(k / d, j) * (x[j * d + k % d] - x[k]);
        let at = |h: f64| energy(&[&x[..k], &[x[k] + h], &x[k + 1..]].concat());
        (0.5 * (at(1.0) - at(-1.0)) - 2.0 * (0..n).map(term).sum::<f64>()).abs()
    };
    let size: f64 = w.iter().map(|w| w.abs()).sum::<f64>() * (1.0 + max_abs(&x)).powi(2);
    (0..n * d).map(error).fold(0.0, nan_max) / (size * d as f64)
}

pub fn force_field(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    Ok(Finding::identity(force_error(case, ctx, !wrong, false), 1e-12))
}

pub fn force_field_printed(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    Ok(Finding::answer(force_error(case, ctx, false, wrong) > 1e-9))
}

/// `x' = -2 L x` with the Laplacian L of the weights, which is symmetric and keeps the mean. On the
/// complement of the constants `L >= lambda_2`.
pub fn force_consensus(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d, x) = (case.n, case.d, ctx.normals(case.n * case.d));
    let draws: Vec<f64> = (0..n * n).map(|_| ctx.uniform_in(0.1, 1.0)).collect();
    let mut laplacian: Vec<f64> =
        (0..n * n).map(|k| -draws[(k / n).min(k % n) * n + (k / n).max(k % n)]).collect();
    for i in 0..n {
        laplacian[i * (n + 1)] -= laplacian[i * n..(i + 1) * n].iter().sum::<f64>();
    }
    let Some(values) = symmetric_eigenvalues(&laplacian, n) else {
        return Ok(Finding::HypothesesMissed);
    };
    let t = ctx.uniform_in(0.1, 3.0) / values[1];
    let rate = 2.0 * values[if wrong { n - 1 } else { 1 }];
    scale(-2.0 * t, &mut laplacian);
    let end = mul(&exponential(&laplacian, n), &x, d);
    let spread = |x: &[f64]| {
        let centred = (0..d).flat_map(|c| {
            let mean = x.iter().skip(c).step_by(d).sum::<f64>() / n as f64;
            x.iter().skip(c).step_by(d).map(move |v| v - mean)
        });
        norm(&centred.collect::<Vec<f64>>())
    };
    let rounding = 32.0 * f64::EPSILON * n as f64 * (1.0 + values[n - 1] * t) * norm(&x);
    Ok(Finding::at_most(spread(&end), (-rate * t).exp() * spread(&x) + rounding))
}

/// `<G Q x, G^{-T} K y> = x^T Q^T G^T G^{-T} K y`, for `G = R diag(g)` with a rotation R.
pub fn query_key_product(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.normals(n * d);
    let (q, k) = (normal_rows(ctx, d, d), normal_rows(ctx, d, d));
    let r = ctx.rotation(d);
    let stretch: Vec<f64> = (0..d).map(|_| ctx.log_uniform_in(0.5, 2.0)).collect();
    let g: Vec<f64> = (0..d * d).map(|e| r[e] * stretch[e % d]).collect();
    let dual = |e: usize| if wrong { 3.0 * g[e] } else { r[e] / stretch[e % d] };
    let h: Vec<f64> = (0..d * d).map(dual).collect();
    let moved = weights(d, &mul(&g, &q, d), &mul(&h, &k, d), &x)?;
    Ok(Finding::identity(max_difference(&weights(d, &q, &k, &x)?, &moved), 1e-10))
}

/// `E <q, k>^2 = d`, and `E <q, k>^4 = 3 d^2 + 6 d`: the d terms with four equal indices give 9
/// each, the 3 d (d - 1) pairs of pairs give 1. Given q, the product is normal of variance `|q|^2`,
/// so `E <q, k>^8 = 105 E |q|^8 = 105 d (d + 2)(d + 4)(d + 6)`: the standard errors are exact.
pub fn logit_variance(_: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let d = [16, 64][ctx.index(2)];
    let squares = squares(ctx, d, wrong);
    let size = d as f64;
    let second = size * size * (3.0 + 6.0 / size);
    let eighth = 105.0 * size * (size + 2.0) * (size + 4.0) * (size + 6.0);
    let compared = |values: &[f64], stated: f64, square: f64| {
        let error = ((square - stated * stated) / values.len() as f64).sqrt();
        Finding::law(mean_and_error(values).0, stated, 8.0 * error, 0.0)
    };
    let fourth: Vec<f64> = squares.iter().map(|s| s * s).collect();
    Ok(compared(&squares, size, second).and(compared(&fourth, second, eighth)))
}

pub fn dimension_scale(_: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let d = [4, 16][ctx.index(2)];
    let (mean, error) = mean_and_error(&squares(ctx, d, false));
    let by = if wrong { d } else { d * d } as f64;
    Ok(Finding::answer((mean / by - 1.0).abs() > 6.0 * error / by))
}

/// Squares of 2000 products of normal vectors q and k; `same` takes k = q.
fn squares(ctx: &mut Context, d: usize, same: bool) -> Vec<f64> {
    let (mut q, mut k) = (vec![0.0; d], vec![0.0; d]);
    let draw = |_| {
        ctx.method_rng().normals(&mut q);
        ctx.method_rng().normals(&mut k);
        dot(&q, if same { &q } else { &k }).powi(2)
    };
    (0..2000).map(draw).collect()
}

pub fn seed_table(_: &Case, _: &mut Context, wrong: bool) -> Result<Finding> {
    let row = [0.05, 0.05, 0.1, 0.2, 0.3, if wrong { 0.3 } else { 0.5 }];
    Ok(Finding::answer((row.iter().sum::<f64>() - 1.0).abs() > 1e-12))
}

/// With `a = <x, v>` and `w = |P_x v|` the point N(x + h v) has the angle `h w/(1 + h a) + O(h^3)`
/// to x, so it is `-h^2 a P_x v - h^2 w^2 x/2 + O(h^3)` away from `x + h P_x v`: at most
/// `h^2 sqrt(a^2 w^2 + w^4/4) <= 0.6 h^2`, since `a^2 + w^2 = 1`.
pub fn tangent_step(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    const H: f64 = 1e-4;
    let x = uniform(case, ctx)?.row(0).to_vec();
    let mut v = ctx.tokens_with_law(1, case.d, "uniform")?.coordinates().to_vec();
    if wrong {
        v.copy_from_slice(&x);
    }
    let step = |v: &[f64]| -> Vec<f64> { x.iter().zip(v).map(|(x, v)| x + H * v).collect() };
    let mut moved = step(&v);
    if !retract(&mut moved) {
        return Ok(Finding::HypothesesMissed);
    }
    if !wrong {
        project(&x, &mut v);
    }
    Ok(Finding::at_most(chord2(&moved, &step(&v)).sqrt(), H * H))
}

/// Sums over tokens with masses: the masses of equal tokens add.
pub fn doubled_prompt(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (x, d, beta) = (uniform(case, ctx)?.coordinates().to_vec(), case.d, case.beta);
    let more = if wrong { x[..d].to_vec() } else { x.clone() };
    let twice = [&x[..], &more].concat();
    let means = |x: &[f64]| -> Result<Vec<f64>> { Ok(mul(&own_weights(d, beta, x)?, x, d)) };
    let sums = |x: &[f64]| -> Vec<f64> {
        let share = (d as f64) / x.len() as f64;
        let weights: Vec<f64> =
            images(x, x, d).iter().map(|s| share * (beta * (s - 1.0)).exp()).collect();
        mul(&weights, x, d)
    };
    let off = [
        max_difference(&means(&twice)?[..x.len()], &means(&x)?),
        max_difference(&sums(&twice)[..x.len()], &sums(&x)),
    ];
    Ok(Finding::identity(largest(off), 1e-13 * (1.0 + beta)))
}

/// Each of the n - 2 others has at most `e^{-beta gap}` times the weight of the nearest.
pub fn nearest_at_large_beta(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (x, beta, next) = if wrong {
        (Tokens::from_angles(&[0.0, 0.5, -0.5, 3.0])?, 10.0, 2)
    } else {
        (uniform(case, ctx)?, case.beta, 1)
    };
    let of_first = &own_weights(x.d(), beta, x.coordinates())?[1..x.n()];
    let mut inner: Vec<f64> = (1..x.n()).map(|j| x.inner(0, j)).collect();
    inner.sort_by(|a, b| b.total_cmp(a));
    let share = vector::max(of_first) / of_first.iter().sum::<f64>();
    let others = (x.n() as f64 - 2.0) * (-beta * (inner[0] - inner[next])).exp();
    Ok(Finding::at_least(share * (1.0 + 1e-12 * (1.0 + beta)), 1.0 / (1.0 + others)))
}

/// The tangent part of `A_11 x_1 + A_12 x_2` is `A_12 x_2`. Two tokens have no critical point but
/// consensus and opposite places.
pub fn right_angle_speed(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (d, x) = (case.d, ctx.tokens_with_law(2, case.d, "orthonormal")?);
    let mut means = mul(&own_weights(d, case.beta, x.coordinates())?, x.coordinates(), d);
    let stated = 1.0 / (1.0 + (if wrong { 2.0 } else { 1.0 } * case.beta).exp());
    let speeds = means.chunks_exact_mut(d).enumerate().map(|(i, row)| {
        project(x.row(i), row);
        (norm(row) - stated).abs()
    });
    Ok(Finding::identity(largest(speeds), 1e-13))
}

/// Both have the differences 1, 1, 2, 3, 3, 4 of eighths. The widest gaps are 3 and 4 eighths, so
/// no rotation or reflection takes one to the other.
pub fn equal_inner_products(_: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let turn = ctx.uniform_in(0.0, TAU);
    let sorted = |steps: [f64; 4]| -> Result<Vec<f64>> {
        let x = Tokens::from_angles(&steps.map(|s| turn + 0.25 * PI * s))?;
        let mut all: Vec<f64> = pairs(4).map(|(i, j)| x.inner(i, j)).collect();
        all.sort_by(f64::total_cmp);
        Ok(all)
    };
    let last = if wrong { 5.0 } else { 4.0 };
    let off = max_difference(&sorted([0.0, 1.0, 2.0, 5.0])?, &sorted([0.0, 1.0, 3.0, last])?);
    Ok(Finding::identity(off, 1e-12))
}

pub fn self_weight_printed(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let a = ctx.uniform_in(0.5, 2.0);
    let b = if wrong { -a } else { 2.0 * a };
    let all = own_weights(1, case.beta, &[a, b])?;
    Ok(Finding::answer(all[1] > all[0]))
}

pub fn joint_probability(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let n = case.n;
    let p = if wrong { vec![1.0 / n as f64; n] } else { softmax_row(ctx.normals(n)) };
    let joint: Vec<f64> = (0..n * n).map(|k| p[k / n] * p[k % n]).collect();
    let single: Vec<f64> = joint.chunks_exact(n).map(|row| row.iter().sum::<f64>()).collect();
    let ratio = |k: usize| (joint[k] / (single[k / n] * single[k % n])).ln().abs();
    let most = (0..n * n).map(ratio).fold(0.0, nan_max);
    let least = joint.iter().copied().fold(f64::INFINITY, nan_min);
    Ok(Finding::answer(most <= 1e-12 && vector::max(&joint) > 1.001 * least))
}

pub fn factor_mask(_: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (s, visible) = (ctx.normals(2), [1.0, 0.0]);
    let mut masked: Vec<f64> = s.iter().zip(visible).map(|(s, v)| s * v).collect();
    if wrong {
        masked[1] = f64::NEG_INFINITY;
    }
    let stated = 1.0 / (1.0 + s[0].exp());
    Ok(Finding::identity((softmax_row(masked)[1] - stated).abs(), 1e-14))
}

/// `w_ij/w_il = e^{<s_i, h_j> - <s_i, h_l>}`, with j, l and k the first three rows.
pub fn weight_ratio(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let (n, d) = (case.n.max(3), case.d);
    let (s, mut h, other) = (normal_rows(ctx, 1, d), ctx.normals(n * d), ctx.normals(d));
    let before = softmax_row(images(&h, &s, d));
    let k = if wrong { 1 } else { 2 };
    h[k * d..(k + 1) * d].copy_from_slice(&other);
    let after = softmax_row(images(&h, &s, d));
    let off = (after[0] / after[1] * before[1] / before[0] - 1.0).abs();
    let changed = (after[0] / before[0] - 1.0).abs() > 1e-9;
    Ok(Finding::identity(off, 1e-12).and(Finding::answer(changed)))
}

/// Each of the n - k others has at most `e^{-gap}` times the weight of each of the k first. The
/// error is noticed at the scores 0, -2, .., -2.
pub fn tail_weight(case: &Case, ctx: &mut Context, wrong: bool) -> Result<Finding> {
    let n = case.n;
    let (mut scores, mut k) = (ctx.normals(n), 1 + ctx.index(n - 1));
    if wrong {
        scores = (0..n).map(|j| if j == 0 { 0.0 } else { -2.0 }).collect();
        k = 1;
    }
    scores.sort_by(|a, b| b.total_cmp(a));
    let gap = scores[k - 1] - scores[k];
    let bound = (n - k) as f64 / k as f64 * (if wrong { -2.0 * gap } else { -gap }).exp();
    let tail: f64 = softmax_row(scores)[k..].iter().sum();
    Ok(Finding::at_most(tail, bound))
}
