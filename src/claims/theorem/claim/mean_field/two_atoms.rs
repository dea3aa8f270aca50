//! Large beta: a density whose limit has two atoms.

use crate::theorem::prelude::*;

const ALPHAS: (f64, f64) = (0.56, 0.95);
const LEAST_KAPPA: f64 = 50.0;
const TIMES: f64 = 12.0;
const SHARE: f64 = 0.999;
const DEVIATIONS: f64 = 8.0;
const CONTROL_BETA: f64 = 0.1;

/// The small-beta theorem (`mean-field-collapse`) needs its bound on beta. An invariance argument
/// shows that the two atoms persist for ever.
///
/// # Derivation
///
/// By symmetry the mass in `[pi - w, pi + w]`, `M` in total, is symmetric about `pi`. With `f(x) =
/// e^{beta cos x} sin x`, concave on `[0, 2w]`, a pair at `pi - x` and `pi + x` pulls the end `pi -
/// w` inwards with `(f(w - x) + f(w + x))/2 >= f(2w)/2` per unit of mass (concavity and `f(0) =
/// 0`), together at least `M f(2w)/2`. The mass `A` within `w` of 0 is at least `pi - 2w` away from
/// that end and pulls outwards with at most `e^{-beta cos 2w} sin 2w` per unit of mass; the
/// remaining mass `u` pulls with at most `max f`. If the first term exceeds the sum of the others,
/// the field points inwards at both ends.
///
/// The same holds at the other atom with `A` and `M` exchanged. While both conditions hold no mass
/// leaves either interval, so `A` and `M` do not decrease, `u` does not increase, and the
/// conditions hold for ever. SA divides the field by a positive number, which does not change its
/// sign.
pub static ENTRY: Claim = Claim {
    name: "two-atoms",
    title: "Large `beta`: two opposite bumps collapse to two atoms although the mean is not 0",
    lets: "two von Mises bumps of masses `alpha` in [{LEAST_ALPHA}, {MOST_ALPHA}] and `1 - alpha` \
           lie at opposite points of the circle, with a concentration between `max({LEAST_KAPPA}, \
           2 beta)` and four times this number, and let `w = {WIDTH}`",
    then: "Observed: after {TIMES} times the time in which the smaller bump contracts by a factor \
           `e`, at least {PERCENT} % of its mass lies within `w` of its centre. Derived: no mass \
           leaves this interval afterwards, because, with masses `M` and `A` in the intervals at \
           the two atoms and the rest `u`, `M f(2w)/2 > A e^{-beta cos 2w} sin 2w + u max f`, and \
           the same with `M` and `A` exchanged, where `f(x) = e^{beta cos x} sin x`.",
    numbers: &[
        ("LEAST_ALPHA", ALPHAS.0),
        ("MOST_ALPHA", ALPHAS.1),
        ("LEAST_KAPPA", LEAST_KAPPA),
        ("WIDTH", WIDTH),
        ("TIMES", TIMES),
        ("PERCENT", 100.0 * SHARE),
        ("PARTICLES", PARTICLES as f64),
        ("DEVIATIONS", DEVIATIONS),
        ("CONTROL_BETA", CONTROL_BETA),
    ],
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Fixed(2),
        beta: Betas::Log(6.0, 299.0),
        laws: &[],
        draws: "`alpha` and the concentration",
        ..Domain::EQUAL_MASSES
    },
    narrower: "bumps no wider than the kernel (wider ones break into several atoms), as \
               {PARTICLES} particles each within {DEVIATIONS} standard deviations; the time of \
               collapse is observed, the invariance of the intervals is derived",
    source: "derived and observed; an instance of arXiv:2504.14697, Example 2.6 (not seen)",
    status: Status::Observation,
    trials: (8, 40),
    trial: mass_stays,
    constant: "the share of 99.9 %",
    control: Control {
        what: "`beta = {CONTROL_BETA}`",
        trial: |ctx| mass_stays(&Case::new(1, 2, CONTROL_BETA, "sa"), ctx),
    },
    ..Claim::INEQUALITY
};

/// Half width of the two intervals: 2 w below the inflection of f for beta <= 300.
const WIDTH: f64 = 0.05;

/// Particles of a bump. They are closer than half a standard deviation, so the sums over them are
/// integrals up to rounding.
const PARTICLES: usize = 40;

fn mass_stays(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let alpha = ctx.uniform_in(ALPHAS.0, ALPHAS.1);
    let kappa = ctx.log_uniform_in(1.0, 4.0) * (2.0 * case.beta).max(LEAST_KAPPA);
    let clock = match case.row_weights()? {
        RowWeights::Exponential => (-case.beta).exp() / (1.0 - alpha),
        RowWeights::Softmax | RowWeights::Sinkhorn => 1.0,
    };
    let reach = DEVIATIONS / kappa.sqrt();
    let place = |j: usize| reach * ((2 * j + 1) as f64 / PARTICLES as f64 - 1.0);
    let places: Vec<f64> = (0..PARTICLES).map(place).collect();
    let bump: Vec<f64> = places.iter().map(|x| (kappa * (x.cos() - 1.0)).exp()).collect();
    let angles: Vec<f64> = places.iter().copied().chain(places.iter().map(|x| PI + x)).collect();
    let masses: Vec<f64> =
        bump.iter().map(|b| alpha * b).chain(bump.iter().map(|b| (1.0 - alpha) * b)).collect();
    let x = Tokens::from_angles(&angles)?.with_masses(&masses)?;
    let flow = build_dynamics(case.dynamics, case.beta, x.n())?;
    let end = ctx.flow_to_with_tolerance(&flow, &x, TIMES * clock, 1e2)?;
    let near = |from_zero: bool| -> f64 {
        let distance = |t: f64| if from_zero { t.abs() } else { PI - t.abs() };
        end.angles()
            .iter()
            .zip(end.masses())
            .filter(|(t, _)| distance(**t) < WIDTH)
            .map(|(_, m)| m)
            .sum()
    };
    let (large, small) = (near(true), near(false));
    let rest = (1.0 - large - small).max(0.0);
    // All forces are divided by e^beta.
    let beta = case.beta;
    let pull = |x: f64| (beta * (x.cos() - 1.0)).exp() * x.sin();
    let steepest = pull((2.0 * beta / (1.0 + (1.0 + 4.0 * beta * beta).sqrt())).min(1.0).acos());
    let trapped = |own: f64, other: f64| {
        own * 0.5 * pull(2.0 * WIDTH) > other * pull(PI - 2.0 * WIDTH) + rest * steepest
    };
    let trapped_mass = if trapped(small, large) && trapped(large, small) { small } else { 0.0 };
    Ok(Finding::at_least(trapped_mass / (1.0 - alpha), ctx.claimed_constant(SHARE)))
}
