//! The symmetries of attention.

use super::setting::{ALLOWED, deviation, step};
use crate::attention::Variant;
use crate::num::dense::mat_vec;
use crate::theorem::prelude::*;

const LENGTH_ROUNDINGS: f64 = 8.0;
const RADIAL_ROUNDINGS: f64 = 32.0;
const VELOCITY_ERROR: f64 = 4e-13;
const TERM_ROUNDINGS: f64 = 16.0;

/// # Derivation
///
/// `O(d)` and `X -> -X`: `<R x_i, R x_j> = <x_i, x_j>` for `R` orthogonal, so no weight changes,
/// and `P_{Rx} R y = R P_x y`. With any `Q`, `K` and `V` this remains true of `R = -1`, since
/// `V(-x) = -V x`. Floating-point numbers round symmetrically about 0, so both sides then agree bit
/// for bit.
///
/// Permutations and coincident tokens: without a mask the sum over `j` does not depend on the order
/// of its terms, and `k` coincident tokens of mass `m/k` add up to the term of one token of mass
/// `m`.
///
/// Masks: token `k` is moved by a sum over `j <= k` with weights that are normalised over `j <= k`.
/// The first token has one term, `P_{x_1} x_1 = 0`. The order of summation depends on `n`, so
/// removing later tokens changes roundings; replacing them does not.
///
/// Subspaces: with `V = I` or `-I` the velocity is a combination of tokens, whatever the weights.
/// In coordinates every term of the other coordinates is a product with 0.
///
/// The sphere: `<x_i, P_{x_i} y> = 0` there, and a layer divides by the length. With at most 256
/// entries added in 32 lanes the squared length has an error of `13 u`, the length `8 u` and the
/// quotient `10 u = 5 eps`; the check itself has `8 u = 4 eps`. These are worst cases, with all
/// roundings of one sign; `8 eps` are allowed for their sum.
///
/// Time: the velocity is linear in `V` and the weights do not depend on `V`, so `V -> -V` reverses
/// it. The four time scales multiply it by 1, `e^{-beta}`, `e^{-beta}/n` and `n`, which are
/// constant along a run.
///
/// By uniqueness, solutions correspond where velocities do. In particular, tokens that a reflection
/// exchanges in pairs of equal masses remain mirror images.
pub static ENTRY: Claim = Claim {
    name: "symmetries",
    title: "The symmetries of attention",
    lets: "`Q = K = I` and `V = I` or `-I`, for SA and USA with or without a causal mask",
    then: "The flow commutes with `O(d)`. For any `Q`, `K` and `V`, velocities commute with `X -> \
           -X`. Without a mask, the flow commutes with permutations, `k` coincident tokens of mass \
           `m/k` are one token of mass `m`, and `V -> -V` reverses time. Under a mask, the \
           velocities of `x_1`, ..., `x_k` do not depend on later tokens, and `x_1` does not move. \
           For any `Q` and `K`, tokens stay in every subspace that contains them. They stay on the \
           sphere. The time scales of USA are one flow: `t_U2 = e^beta t_U1`, `t_U3 = n e^beta \
           t_U1` and `t_U4 = t_U1/n`.",
    tested: "on runs over the time `1/L`, where `L` is the Lipschitz constant of the velocity, to \
             {ALLOWED}. Under `X -> -X` and where later tokens are replaced, results agree bit for \
             bit; coordinates that are 0 stay 0. Lengths are 1 to `{LENGTH_ROUNDINGS} eps`, also \
             after layers of any step, and `<x_i, x_i'>` is 0 to `{RADIAL_ROUNDINGS} eps` of \
             `sum_j A_ij`. Velocities for coincident or removed tokens agree to `{VELOCITY_ERROR} \
             |x_i'|` plus `{TERM_ROUNDINGS} eps (n + d + |beta|)` of `sum_j A_ij |P_i x_j|`",
    numbers: &[
        ("ALLOWED", ALLOWED),
        ("LENGTH_ROUNDINGS", LENGTH_ROUNDINGS),
        ("RADIAL_ROUNDINGS", RADIAL_ROUNDINGS),
        ("VELOCITY_ERROR", VELOCITY_ERROR),
        ("TERM_ROUNDINGS", TERM_ROUNDINGS),
    ],
    domain: Domain::SYMMETRY,
    narrower: "`Q = K = I` where the statement does not say otherwise",
    source: "arXiv:2312.10794, (2.3), sections 3.1, 3.4, 9.1; arXiv:2411.04990, section 2",
    trials: (40, 240),
    trial: |case, ctx| all(case, ctx, None),
    constant: "the time of the second run",
    control: Control {
        what: "the key matrix `K = diag(2, 1, 1)`, for which rotations are no symmetry",
        trial: |ctx| {
            let key = vec![2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
            all(&Case::with_random_masses(6, 3, 2.0, "sa"), ctx, Some((3, key)))
        },
    },
    ..Claim::IDENTITY
};

/// All symmetries that the case has. The margin is that of the runs.
fn all(case: &Case, ctx: &mut Context, key: Option<(usize, Vec<f64>)>) -> Result<Finding> {
    let (variant, d) = (case.variant()?, case.d);
    let heads = match key {
        Some(key) => vec![Head::new(d, None, Some(key), None)?],
        None => Vec::new(),
    };
    let build = |name: &str, time_scale: TimeScale| {
        let spec = Spec { heads: heads.clone(), time_scale, ..Spec::new(case.beta, case.n) };
        dynamics::build(name, false, &spec)
    };
    let dynamics = build(case.dynamics, TimeScale::U1)?;
    let (x, t) = (ctx.tokens(case)?, 1.0 / case.lipschitz()?);
    let again = ctx.claimed_constant(t);
    let end = run(ctx, &dynamics, &x, t)?;

    let q = ctx.rotation(d);
    let turned = run(ctx, &dynamics, &turn(&q, &x)?, again)?;
    let mut worst = deviation(&turn(&q, &end)?, &turned);
    if !variant.causal {
        let mut order: Vec<usize> = (0..case.n).collect();
        for i in (1..case.n).rev() {
            order.swap(i, ctx.index(i + 1));
        }
        let shuffled = run(ctx, &dynamics, &shuffle(&order, &x), again)?;
        worst = nan_max(worst, deviation(&shuffle(&order, &end), &shuffled));
        let back = dynamics::find_variant(Variant { repulsive: !variant.repulsive, ..variant })?;
        let returned = run(ctx, &build(back.name, TimeScale::U1)?, &end, again)?;
        worst = nan_max(worst, deviation(&x, &returned));
    }
    if variant.weights == RowWeights::Exponential {
        let (n, factor) = (case.n as f64, case.beta.exp());
        let scales =
            [(TimeScale::U2, factor), (TimeScale::U3, n * factor), (TimeScale::U4, 1.0 / n)];
        let (scale, factor) = scales[ctx.index(3)];
        let scaled = run(ctx, &build(case.dynamics, scale)?, &x, again * factor)?;
        worst = nan_max(worst, deviation(&scaled, &end));
    }
    Ok(Finding::identity(worst, ALLOWED).and(Finding::all([
        is_odd(case, ctx, &dynamics, (&x, &end))?,
        d < 3 || stays_in_span(case, ctx)?,
        stays_on_the_sphere(ctx, &dynamics, &x, &end)?,
        has_symmetric_velocities(case, ctx, &x)?,
    ])))
}

/// The tokens after this time.
fn run(ctx: &mut Context, dynamics: &Dynamics, x: &Tokens, t: f64) -> Result<Tokens> {
    ctx.flow_to_with_tolerance(dynamics, x, t, SYMMETRY_TOLERANCE)
}

fn turn(q: &[f64], x: &Tokens) -> Result<Tokens> {
    let mut y = vec![0.0; x.coordinates().len()];
    x.rows().zip(y.chunks_exact_mut(x.d())).for_each(|(r, o)| mat_vec(q, r, o));
    Tokens::normalised(x.d(), y)?.with_masses(x.masses())
}

fn shuffle(order: &[usize], x: &Tokens) -> Tokens {
    let rows = order.iter().flat_map(|&i| x.row(i).to_vec()).collect();
    Tokens::from_parts(x.d(), rows, order.iter().map(|&i| x.masses()[i]).collect())
}

/// True if the flow, and the velocity for random Q, K and V, commute with `X -> -X` to the last
/// bit.
fn is_odd(
    case: &Case,
    ctx: &mut Context,
    dynamics: &Dynamics,
    (x, end): (&Tokens, &Tokens),
) -> Result<bool> {
    let minus = x.coordinates().iter().map(|v| -v).collect();
    let minus = Tokens::from_parts(case.d, minus, x.masses().to_vec());
    let mut matrix = || unit_matrix(ctx, case.d);
    let heads = vec![Head::new(case.d, matrix(), matrix(), matrix())?];
    let general =
        dynamics::build(case.dynamics, false, &Spec { heads, ..Spec::new(case.beta, case.n) })?;
    let other_end = run(ctx, dynamics, &minus, 1.0 / case.lipschitz()?)?;
    // Adding 0.0 turns -0.0 into 0.0.
    let opposite = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).all(|(a, b)| (0.0 - a).to_bits() == (b + 0.0).to_bits())
    };
    Ok(opposite(end.coordinates(), other_end.coordinates())
        && opposite(&general.velocity(x), &general.velocity(&minus)))
}

/// True if tokens of the first k coordinates, `2 <= k < d`, stay there for random Q and K. Sums of
/// zeros are zero: even one subnormal number counts as a failure.
fn stays_in_span(case: &Case, ctx: &mut Context) -> Result<bool> {
    let (d, k) = (case.d, 2 + ctx.index(case.d - 2));
    let small = ctx.tokens(&Case { d: k, ..*case })?;
    let rows = small.rows().flat_map(|r| r.iter().copied().chain(vec![0.0; d - k])).collect();
    let x = Tokens::from_parts(d, rows, small.masses().to_vec());
    let heads = vec![Head::new(d, unit_matrix(ctx, d), unit_matrix(ctx, d), None)?];
    let dynamics =
        dynamics::build(case.dynamics, false, &Spec { heads, ..Spec::new(case.beta, case.n) })?;
    let end = run(ctx, &dynamics, &x, 1.0 / case.lipschitz()?)?;
    Ok(end.rows().all(|r| max_abs(&r[k..]) <= 0.0))
}

/// True if all lengths are 1 up to rounding, at the end of a run and after each of five layers.
fn stays_on_the_sphere(
    ctx: &mut Context,
    dynamics: &Dynamics,
    x: &Tokens,
    end: &Tokens,
) -> Result<bool> {
    let allowed = LENGTH_ROUNDINGS * f64::EPSILON;
    let on_sphere = |x: &Tokens| x.rows().all(|r| (norm(r) - 1.0).abs() <= allowed);
    let (mut layers, mut all) = (x.clone(), on_sphere(end));
    for _ in 0..5 {
        Layer::new(step(ctx))?.apply(dynamics, &mut layers);
        all &= on_sphere(&layers);
    }
    Ok(all)
}

/// The identities between velocities: tangency, and coincident tokens or later tokens. A velocity
/// has a relative error of 1e-13, or of eps times the sizes of its terms where they cancel.
fn has_symmetric_velocities(case: &Case, ctx: &mut Context, x: &Tokens) -> Result<bool> {
    let (n, d, variant) = (case.n, case.d, case.variant()?);
    let v = ctx.velocity(case, x)?;
    let row = |i: usize| &v[i * d..(i + 1) * d];
    // The weights A_ij, and sum_j A_ij |P_i x_j|.
    let weights = |i: usize| -> Vec<f64> {
        let terms = |j: usize| x.masses()[j] * (case.beta * x.inner(i, j) - case.beta.abs()).exp();
        let mut a: Vec<f64> = (0..variant.visible_count(i, n)).map(terms).collect();
        let total = match variant.weights {
            RowWeights::Exponential => (-case.beta.abs()).exp(),
            _ => a.iter().sum(),
        };
        divide(&mut a, total);
        a
    };
    let size =
        |i: usize| -> f64 { weights(i).iter().enumerate().map(|(j, a)| a * sine(x, i, j)).sum() };
    let agrees = |i: usize, other: &[f64], total: usize| {
        let factor = TERM_ROUNDINGS * f64::EPSILON * ((total + d) as f64 + case.beta.abs());
        let allowed = VELOCITY_ERROR * norm(row(i)) + factor * (size(i) + TINY);
        max_difference(row(i), other) <= allowed
    };
    // Squared lengths have an error of some eps, and the radial part is at most the sum of weights.
    let radial = |i: usize| dot(x.row(i), row(i)).abs();
    let tangent = RADIAL_ROUNDINGS * f64::EPSILON;
    let mut all = (0..n).all(|i| radial(i) <= tangent * weights(i).iter().sum::<f64>());
    if !variant.causal {
        let copies: Vec<usize> = (0..n).map(|_| 1 + ctx.index(4)).collect();
        let owner: Vec<usize> = copies.iter().enumerate().flat_map(|(i, k)| vec![i; *k]).collect();
        let split = Tokens::from_parts(
            d,
            owner.iter().flat_map(|&i| x.row(i).to_vec()).collect(),
            owner.iter().map(|&i| x.masses()[i] / copies[i] as f64).collect(),
        );
        let many = ctx.velocity(case, &split)?;
        all &= many.chunks_exact(d).zip(&owner).all(|(copy, &i)| agrees(i, copy, owner.len()));
    } else if n > 1 {
        // The masses of the prefix are kept and not renormalised.
        let (other, k) = (ctx.tokens(case)?, 1 + ctx.index(n - 1));
        let (head, tail) = (&x.coordinates()[..k * d], &other.coordinates()[k * d..]);
        let masses = [&x.masses()[..k], &other.masses()[k..]].concat();
        let replaced = ctx.velocity(case, &Tokens::from_parts(d, [head, tail].concat(), masses))?;
        let removed =
            ctx.velocity(case, &Tokens::from_parts(d, head.to_vec(), x.masses()[..k].to_vec()))?;
        let same = |k: usize| replaced[k].to_bits() == v[k].to_bits();
        all &= max_abs(&v[..d]) <= 0.0
            && (0..k * d).all(same)
            && removed.chunks_exact(d).enumerate().all(|(i, other)| agrees(i, other, n));
    }
    Ok(all)
}
