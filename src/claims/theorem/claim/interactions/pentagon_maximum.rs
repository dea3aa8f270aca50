//! A maximum on the circle other than consensus under a positive, increasing interaction.

use super::setting::{polygon, steep_sigmoid};
use crate::attention::interaction::{Interaction, InteractionEnergy};
use crate::landscape::interaction::InteractionSpectrum;
use crate::num::interval::Interval;
use crate::theorem::prelude::*;

/// The counterexample with the smallest number of tokens; `few-clusters` excludes four.
///
/// # Derivation
///
/// At the regular pentagon of equal masses the displacement `cos(2 pi r j/5)` has the rate
/// `l_r = (2/5) [f'(a) (cos(r a) - 1) + f'(2a) (cos(2 r a) - 1)]` with `a = 2 pi/5` and
/// `f' = phi(cos) cos - phi'(cos) sin^2`. A steep sigmoid about -1/4 is nearly 1 at
/// `cos a = 0.309` and nearly 0 at `cos 2a = -0.809`: `f'(a) = 0.274` and `f'(2a) = -0.016`. Hence
/// `l_1 = -0.06438` and `l_2 = -0.194`. Tokens of one corner return to each other at the rate
/// `-phi(1)/5 - (2/5)(f'(a) + f'(2a)) = -0.303`. All rates but that of rotations are negative.
///
/// In words: neighbours attract each other as if the three other corners did not exist, and a ring
/// of attracting neighbours is stable if their angle is acute. For four corners it is not.
pub static ENTRY: Claim = Claim {
    name: "pentagon-maximum",
    title: "Circle: five tokens have a spurious maximum under an increasing interaction",
    lets: "`phi(s) = 1/(1 + e^{-10 (s + 1/4)})`, which is positive and increasing, and let equal \
           clusters of any number of tokens be at the corners of a regular pentagon",
    then: "This is a strict local maximum of `E` modulo rotation: all eigenvalues of the Hessian \
           in the metric `sum_i m_i |u_i|^2`, but one 0 for the rotation, are at most {BOUND}. An \
           increasing, convex `W` is not enough on the circle.",
    numbers: &[("BOUND", BOUND)],
    domain: Domain {
        n: Sizes::List(&[5, 10, 15, 20, 30, 60]),
        d: Sizes::Fixed(2),
        draws: "clusters at a regular pentagon",
        ..Domain::FREE
    },
    source: "arXiv:2405.18273, as quoted in a public summary, has spurious maxima for every n >= 5 \
             by a real-analytic phi; ours, for n = 5k, is explicit and has a bound (derived)",
    trials: (6, 12),
    trial: |case, ctx| second_eigenvalue(case.n / 5, steep_sigmoid()?, ctx),
    constant: "the bound -0.0643",
    control: Control {
        what: "`phi = e^s`, whose Taylor coefficients decrease",
        trial: |ctx| second_eigenvalue(1, Interaction::parse("exp(s)", &[])?, ctx),
    },
    proof: Some(Proof {
        whole: true,
        what: "the rates of the pentagon, by interval arithmetic",
        holds: pentagon_rates_are_negative,
    }),
    ..Claim::INEQUALITY
};

/// The bound on the eigenvalues; the largest is -0.06438.
const BOUND: f64 = -0.0643;

/// The second largest eigenvalue of a pentagon of equal clusters; the largest belongs to rotations.
fn second_eigenvalue(size: usize, phi: Interaction, ctx: &mut Context) -> Result<Finding> {
    let energy = InteractionEnergy::new(phi);
    let spectrum = InteractionSpectrum::of_clusters(&energy, &polygon(5)?, &[size; 5])?;
    let mut values = spectrum.values;
    // The eigenvalue of rotations is the one nearest to zero.
    let rotation = (0..values.len()).min_by(|a, b| values[*a].abs().total_cmp(&values[*b].abs()));
    rotation.map(|k| values.remove(k));
    let second = values.last().copied().unwrap_or(f64::INFINITY);
    Ok(Finding::at_most(second, ctx.claimed_constant(BOUND))
        .with_evaluation_error(spectrum.rounding / BOUND.abs()))
}

/// Encloses the rates of the pentagon.
fn pentagon_rates_are_negative() -> Result<bool> {
    let phi = steep_sigmoid()?;
    let number = Interval::exact;
    let root = number(5.0).sqrt();
    // cos(2 pi/5) and cos(4 pi/5).
    let near = (root - number(1.0)) * number(0.25);
    let far = (number(-1.0) - root) * number(0.25);
    let slope = |c: Interval| -> Result<Interval> {
        let at = phi.enclosure(c)?;
        Ok(at.value * c - at.first * (number(1.0) - c.sqr()))
    };
    let (a, b) = (slope(near)?, slope(far)?);
    let (one, share) = (number(1.0), number(2.0) / number(5.0));
    let own = phi.enclosure(one)?.value / number(5.0);
    let rates = [
        share * (a * (near - one) + b * (far - one)),
        share * (a * (far - one) + b * (near - one)),
        number(0.0) - own - share * (a + b),
    ];
    Ok(rates.iter().all(|r| r.hi() < BOUND))
}
