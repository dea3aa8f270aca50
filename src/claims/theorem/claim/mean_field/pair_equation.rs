//! Pairs of tokens: the first equation of the BBGKY hierarchy.

use crate::theorem::prelude::*;
use crate::theory::growth::rates_usa;

const SHARE: f64 = 0.3;
const TOLERANCE: f64 = 0.05;

/// The equation in weak form, solved for the factor of the force of the third token.
///
/// # Derivation
///
/// Let `x = theta_2 - theta_1`. The flow is `theta_i' = (1/(beta n)) sum_j h'(theta_i - theta_j)`,
/// so `x'` is `(2/(beta n)) h'(x)` plus the forces of the other tokens, `(1/(beta n)) sum_j
/// (h'(theta_j - theta_1) - h'(theta_j - theta_2))`. Permutations and reflections change neither
/// the law of the start nor the flow. The reflection that exchanges the first two tokens, followed
/// by an exchange of their names, keeps `x` and exchanges the two terms. So given `x` the mean of
/// the forces is `(2 (n-2)/(beta n)) E h'(theta_3 - theta_1) = -(2 (n-2)/(beta n)) g`.
///
/// In weak form `d/dt E cos k x = -E[k sin(k x) v(x)]`; as `g` is a conditional mean given `x`,
/// `E[sin(k x) g] = -E[sin(k x) h'(theta_3 - theta_1)]`, so no density is estimated. The `n` cyclic
/// pairs are used, each in one order: over both orders of a pair the equation is an identity for
/// every start. For `n = 2` there is no third token, and the equation is the flow itself.
pub static ENTRY: Claim = Claim {
    name: "pair-equation",
    title: "USA on the circle: the law of the difference of two tokens obeys a transport equation",
    lets: "`n` tokens start iid uniform on the circle, let `h = e^{beta cos}`, and let `psi(t, x)` \
           be the law of `theta_2 - theta_1`",
    then: "`psi` is transported by the velocity `(2/(beta n)) h'(x) - (2 (n-2)/(beta n)) g(t, x)`, \
           where `g` is the mean of `-h'(theta_3 - theta_1)` given `x`.",
    tested: "for the mode `k` of `psi` that grows fastest: its rate of change at `t = \
             {SHARE}/max_k r_k` gives the factor of the term with `g`, which is 1 to {TOLERANCE}",
    numbers: &[("SHARE", SHARE), ("TOLERANCE", TOLERANCE), ("POINTS", POINTS as f64)],
    domain: Domain {
        n: Sizes::List(&[3, 4]),
        d: Sizes::Fixed(2),
        beta: Betas::Log(0.1, 2.0),
        dynamics: &["usa"],
        laws: &[],
        draws: "the average over the start is taken on eight lattices of {POINTS} points, shifted \
                at random",
        ..Domain::EQUAL_MASSES
    },
    narrower: "`n = 3` and 4; one Fourier coefficient; one time, before clusters form",
    source: "arXiv:2312.10794, Section 8",
    trials: (5, 40),
    trial: |case, ctx| third_token(case, ctx, 1.0),
    constant: "the force of the third token",
    control: Control {
        what: "four fifths of the force of the third token",
        trial: |ctx| third_token(&Case::new(4, 2, 1.0, "usa"), ctx, 0.8),
    },
    ..Claim::LAW
};

/// Number of points of a lattice, and of lattices.
const POINTS: usize = 128;
const LATTICES: usize = 8;
/// A generator of lattices of 128 points in up to three dimensions (powers of 47).
const GENERATOR: [usize; 3] = [1, 47, 33];

fn third_token(case: &Case, ctx: &mut Context, stated: f64) -> Result<Finding> {
    let (n, beta) = (case.n, case.beta);
    let rates = rates_usa(2, beta, 6, TimeScale::U1, 2)?;
    let fastest = (1..rates.len()).max_by(|a, b| rates[*a].total_cmp(&rates[*b])).unwrap_or(1);
    let (k, end, flow) = (fastest as f64, SHARE / rates[fastest], case.build()?);
    let slope = |x: f64| -beta * x.sin() * (beta * x.cos()).exp();
    // The part of the rate of change of the mode that own forces leave, and the term with g.
    let parts = |x: &Tokens| {
        let (angles, v) = (x.angles(), flow.velocity(x));
        let speed = |i: usize| angles[i].cos() * v[2 * i + 1] - angles[i].sin() * v[2 * i];
        let of = |i: usize| {
            let j = (i + 1) % n;
            let apart = angles[j] - angles[i];
            let others =
                (0..n).filter(|l| *l != i && *l != j).map(|l| slope(angles[l] - angles[i]));
            let (wave, factor) = (-k * (k * apart).sin(), 2.0 / (beta * n as f64));
            let left = speed(j) - speed(i) - factor * slope(apart);
            (wave * left, wave * factor * others.sum::<f64>())
        };
        (0..n).map(of).fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d))
    };
    let mut found = Vec::with_capacity(LATTICES);
    for _ in 0..LATTICES {
        let shift: Vec<f64> = (1..n).map(|_| ctx.method_rng().uniform()).collect();
        let mut sums = (0.0, 0.0);
        for p in 0..POINTS {
            // The first token is at 0, since only differences matter.
            let coordinate =
                |c: usize| (p * GENERATOR[c] % POINTS) as f64 / POINTS as f64 + shift[c];
            let start: Vec<f64> =
                std::iter::once(0.0).chain((0..n - 1).map(|c| TAU * coordinate(c))).collect();
            let x = ctx.flow_to_with_tolerance(&flow, &Tokens::from_angles(&start)?, end, 1e4)?;
            let (left, third) = parts(&x);
            sums = (sums.0 + left, sums.1 + third);
        }
        found.push(sums);
    }
    let (left, third) = found.iter().fold((0.0, 0.0), |(a, b), f| (a + f.0, b + f.1));
    let ratio = left / third;
    let residuals: Vec<f64> = found.iter().map(|f| f.0 - ratio * f.1).collect();
    let error = mean_and_error(&residuals).1 * LATTICES as f64 / third.abs();
    Ok(Finding::law(ratio, ctx.claimed_constant(stated), TOLERANCE, error))
}
