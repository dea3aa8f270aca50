//! Stability in the Wasserstein distance.

use crate::theorem::prelude::*;

const LONGEST: f64 = 2.0;
const EARLY: f64 = 0.01;
const SMALL: f64 = 1e-4;
const PERCENT: f64 = 2.0;

/// The estimate with its sharp constant.
///
/// # Derivation
///
/// Let `pi` couple `mu` and `nu`, and let both ends of every pair move. For two pairs joined by
/// unit-speed geodesics with directions `e` and `f`, half the sum of the effects of each pair on
/// the other is at most `(|delta| + |epsilon|)/2` times the largest of `e^{beta s} (beta <e,y>^2 -
/// s + <e,f> + beta <e,y> <f,x>)`, which is `2 m(beta)`, attained in the plane of `x` and `y`. The
/// average over pairs of pairs gives `d/dt C <= 2 m C` for the cost `C` of every coupling, the
/// optimal one in particular.
///
/// Equality holds in the limit for a light token at the angle `arccos s` where `m` is attained,
/// displaced outwards from a heavy one: with masses `M` and `1 - M` the displacement grows at the
/// rate `M m`, and the heavy token moves by `(1 - M)/M` times as much, which costs the same again.
/// So the rate is `2 M m` at the start.
pub static ENTRY: Claim = Claim {
    name: "dobrushin",
    title: "USA: `W1(mu(t), nu(t)) <= e^{2 m t} W1(mu(0), nu(0))`, `m = max_s (beta (1 - s^2) - s) \
            e^{beta s}`",
    lets: "two measures move by USA (U1), and let `m = max` over `s` in [-1, 1] of `(beta (1 - \
           s^2) - s) e^{beta s}`, which is about `0.45 e^beta` for large `beta`, and `e^{-beta}` \
           for `beta <= 1/3`",
    then: "The cost `int dist(x, y) d pi` of every coupling `pi` grows at most like `e^{2 m t}`. \
           So the Wasserstein distance W1 does, too. The constant `2 m` is sharp: for a light \
           token at the angle where `m` is attained, beside a heavy one of mass `M`, the rate at \
           the start is `2 M m`.",
    tested: "at a time up to `{LONGEST}/m` for two measures, one of which is the other with every \
             token displaced; in half of the trials at `t = 1/({PARTS} m)`, where they differ in \
             one light token at the angle where `m` is attained, and for a displacement of {SMALL} \
             widths of the kernel there the growth is `2 M m t` to {PERCENT} %",
    numbers: &[
        ("LONGEST", LONGEST),
        ("PARTS", 1.0 / EARLY),
        ("SMALL", SMALL),
        ("PERCENT", PERCENT),
    ],
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.01, 50.0),
        dynamics: &["usa"],
        draws: "in half of the trials `n - 1` tokens at one point and a lighter one",
        ..Domain::ATTENTION
    },
    narrower: "`Q = K = V = I`; both measures have the same masses, coupled one to one; `t <= \
               {LONGEST}/m`",
    source: "arXiv:2312.10794, Remark 3.3 (e^{O(1) t}); the constant derived",
    trials: (24, 200),
    trial: |case, ctx| {
        if ctx.index(2) == 0 {
            let step = ctx.log_uniform_in(0.02, 1.0);
            return Ok(sharp(case, ctx, step, 2.0)?.and(attained(case, ctx)?));
        }
        let x = ctx.tokens(case)?;
        let (size, times) = (ctx.log_uniform_in(1e-2, 1.0), ctx.log_uniform_in(0.05, LONGEST));
        let moved = x
            .coordinates()
            .iter()
            .zip(ctx.normals(x.coordinates().len()))
            .map(|(x, z)| x + size * z)
            .collect();
        let y = Tokens::normalised(case.d, moved)?.with_masses(x.masses())?;
        growth(case, ctx, (&x, &y), times, 2.0)
    },
    constant: "the exponent `2 m t`",
    control: Control {
        what: "the exponent `m t`, for a light token at the angle where `m` is attained",
        trial: |ctx| {
            let step = ctx.log_uniform_in(0.02, 1.0);
            sharp(&Case::new(2, 2, 3.0, "usa"), ctx, step, 1.0)
        },
    },
    ..Claim::INEQUALITY
};

/// `m / e^beta` and the s at which the maximum is attained: the root of
/// `beta^2 s^2 + 3 beta s + 1 - beta^2 = 0`, or -1.
fn max_rate(beta: f64) -> (f64, f64) {
    let s = (((5.0 + 4.0 * beta * beta).sqrt() - 3.0) / (2.0 * beta)).max(-1.0);
    ((beta * (1.0 - s * s) - s) * (beta * (s - 1.0)).exp(), s)
}

/// A light token at the angle of m from the other ones, and the same token farther away by a share
/// of the width of the kernel.
fn sharp(case: &Case, ctx: &mut Context, share: f64, constant: f64) -> Result<Finding> {
    let [x, y] = light_tokens(case, ctx, share)?;
    growth(case, ctx, (&x, &y), EARLY, constant)
}

/// The growth from a small displacement, which attains the constant.
fn attained(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let [x, y] = light_tokens(case, ctx, SMALL)?;
    let exponent = log_growth(case, ctx, (&x, &y), EARLY)?;
    let heavy = 1.0 - x.masses()[0];
    let allowed = PERCENT / 100.0 * 2.0 * EARLY * heavy;
    Ok(Finding::law(exponent, 2.0 * EARLY * heavy, allowed, 0.0))
}

/// The two measures of a light token, displaced by a share of the width of the kernel.
fn light_tokens(case: &Case, ctx: &mut Context, share: f64) -> Result<[Tokens; 2]> {
    let light = ctx.log_uniform_in(3e-3, 0.1);
    let step = share / (1.0 + case.beta).sqrt();
    let angle = max_rate(case.beta).1.acos();
    let place = |angle: f64| -> Result<Tokens> {
        let mut x = vec![0.0; case.n * case.d];
        for row in x.chunks_exact_mut(case.d).skip(1) {
            row[0] = 1.0;
        }
        (x[1], x[0]) = angle.sin_cos();
        let masses: Vec<f64> =
            (0..case.n).map(|i| if i == 0 { light } else { 1.0 / (case.n - 1) as f64 }).collect();
        Tokens::normalised(case.d, x)?.with_masses(&masses)
    };
    Ok([place(angle)?, place(angle + step)?])
}

/// Compares `log C(t)/C(0)` with `constant m t` at t = `times`/m.
fn growth(
    case: &Case,
    ctx: &mut Context,
    (x, y): (&Tokens, &Tokens),
    times: f64,
    constant: f64,
) -> Result<Finding> {
    let exponent = log_growth(case, ctx, (x, y), times)?;
    Ok(Finding::at_most(exponent, ctx.claimed_constant(constant * times)))
}

/// `log C(t)/C(0)` at t = `times`/m.
fn log_growth(
    case: &Case,
    ctx: &mut Context,
    (x, y): (&Tokens, &Tokens),
    times: f64,
) -> Result<f64> {
    let flow = build_dynamics("usa", case.beta, case.n)?;
    let t = times / (max_rate(case.beta).0 * case.beta.exp());
    let cost = |x: &Tokens, y: &Tokens| {
        x.rows().zip(y.rows()).zip(x.masses()).map(|((a, b), m)| m * dist(a, b)).sum::<f64>()
    };
    let before = cost(x, y);
    // The displacement of a light token costs as little as 1e-5.
    let mut end = |x: &Tokens| ctx.flow_to_with_tolerance(&flow, x, t, 0.1);
    let after = cost(&end(x)?, &end(y)?);
    Ok((after / before).ln())
}
