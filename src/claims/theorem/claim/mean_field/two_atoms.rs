//! Large beta: a density whose limit has two atoms.

use crate::continuity::lagrangian::Lagrangian;
use crate::theorem::prelude::*;

/// This shows that the small-beta theorem needs its bound on beta. An invariance argument shows
/// that the two atoms persist for ever.
///
/// # Derivation
///
/// By symmetry the mass in `[pi - w, pi + w]`, M in total, is symmetric about pi. With
/// `f(x) = e^{beta cos x} sin x`, concave on `[0, 2w]`, a pair at pi - x and pi + x pulls the end
/// pi - w inwards with `(f(w - x) + f(w + x))/2 >= f(2w)/2` per unit of mass (concavity and f(0) =
/// 0), together at least `M f(2w)/2`. The mass A within w of 0 is at least `pi - 2w` away from that
/// end and pulls outwards with at most `e^{-beta cos 2w} sin 2w` per unit of mass; the remaining
/// mass u pulls with at most max f. If the first term exceeds the sum of the others, the field
/// points inwards at both ends.
///
/// The same holds at the other atom with A and M exchanged. While both conditions hold no mass
/// leaves either interval, so A and M do not decrease, u does not increase, and the conditions hold
/// for ever. SA divides the field by a positive number, which does not change its sign.
pub static ENTRY: Claim = Claim {
    name: "two-atoms",
    title: "Large beta: two opposite bumps collapse to two atoms although the mean is not 0",
    lets: "two von Mises bumps of masses alpha in [0.56, 0.95] and 1 - alpha lie at opposite \
           points of the circle, with concentration kappa between max(50, 2 beta) and four times \
           this number, symmetric about their axis (so that the mean has length at least 0.1)",
    then: "After 12 times the time in which the smaller bump contracts by a factor e, at least 95 \
           % of its mass 1 - alpha lies within w = 0.05 of its centre. No mass leaves this \
           interval afterwards: with masses M and A in the intervals at the two atoms and the \
           rest u, M f(2w)/2 > A e^{-beta cos 2w} sin 2w + u max f, and the same with M and A \
           exchanged, where f(x) = e^{beta cos x} sin x.",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Fixed(2),
        beta: Betas::Log(6.0, 299.0),
        ..Domain::EQUAL_MASSES
    },
    narrower: "von Mises bumps on the circle, no wider than the kernel (wider ones break into \
               several atoms); the time of collapse is observed, the invariance of the intervals \
               is derived",
    source: "arXiv:2504.14697, Example 2.6 (parameters not printed); this instance derived",
    trials: (6, 40),
    trial: |case, ctx| {
        let (alpha, kappa) = (
            ctx.uniform_in(0.56, 0.95),
            ctx.log_uniform_in(1.0, 4.0) * (2.0 * case.beta).max(50.0),
        );
        mass_stays(case, ctx, alpha, kappa)
    },
    constant: "the share of 95 %",
    control: Control {
        what: "beta = 0.1",
        trial: |ctx| mass_stays(&Case::new(1, 2, 0.1, "sa"), ctx, 0.7, 50.0),
    },
    ..Claim::INEQUALITY
};

/// Half width of the two intervals: 2 w below the inflection of f for beta <= 300.
const WIDTH: f64 = 0.05;

fn mass_stays(case: &Case, ctx: &mut Context, alpha: f64, kappa: f64) -> Result<Finding> {
    let text = format!(
        "vmf:kappa={kappa},at=0,mass={alpha}+vmf:kappa={kappa},at={PI},mass={}",
        1.0 - alpha
    );
    let start = Circle::from_density(&Density::parse(&text)?, 96)?;
    let clock = match case.row_weights()? {
        RowWeights::Exponential => (-case.beta).exp() / (1.0 - alpha),
        RowWeights::Softmax | RowWeights::Sinkhorn => 1.0,
    };
    let x = Lagrangian::on_circle(&start, 2 * start.modes() + 3)?.x;
    let end = ctx.flow_to(&build_dynamics(case.dynamics, case.beta, x.n())?, &x, 12.0 * clock)?;
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
    Ok(Finding::at_least(trapped_mass / (1.0 - alpha), ctx.claimed_constant(0.95)))
}
