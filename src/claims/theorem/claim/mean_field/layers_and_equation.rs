//! Layers as a discretisation of the continuity equation.

use super::local_limit;
use crate::continuity::lagrangian::Lagrangian;
use crate::num::fft::Complex64;
use crate::theorem::prelude::*;

/// The flow map of measures, computed in two ways.
///
/// # Derivation
///
/// A layer `normalise(x + eta a)` is `x + eta P_x a + O(eta^2)`: one Euler step of
/// `x' = P_x a(x, mu)` for every particle of the density. The field is smooth in x and Lipschitz in
/// mu (`dobrushin`), so after `1/eta` steps moments differ from those of the equation by
/// `C eta + O(eta^2)`: so half the step gives half the difference, unless C is 0 as for the uniform
/// density, which is stationary.
pub static ENTRY: Claim = Claim {
    name: "layers-and-equation",
    title: "A measure under residual layers of step eta and under the continuity equation: \
            difference of order eta",
    then: "Apply 1/eta layers x <- normalise(x + eta a) to a density that is not uniform, and \
           solve the continuity equation from it to t = 1. The difference is of order eta.",
    tested: "as: the largest difference of the moments 1..8 is halved from eta = 1/40 to 1/80, to \
             a twentieth",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Fixed(2),
        beta: Betas::Log(0.1, 10.0),
        dynamics: &["sa"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "SA on the circle, densities that are not uniform, with 2 to 6 modes and values of \
               at least 1/20 (the order is derived, the tolerance measured)",
    source: "arXiv:2312.10794, Section 2 (layers as time steps)",
    trials: (4, 40),
    trial: |case, ctx| order(case, ctx, 0.5),
    constant: "the factor 1/2",
    control: Control {
        what: "a factor of 1/4",
        trial: |ctx| order(&Case::new(1, 2, 3.0, "sa"), ctx, 0.25),
    },
    ..Claim::INEQUALITY
};

fn order(case: &Case, ctx: &mut Context, ratio: f64) -> Result<Finding> {
    let start = local_limit::density(ctx, 0.95)?.with_modes(32);
    let exact = start
        .clone()
        .evolve(&MeasureDynamics::new("sa", case.beta, 0.0)?, 1.0, 512, |_, _| true)?
        .reached()?;
    // Sums over a weighted grid are spectrally accurate, so the error is that of the layers.
    let grid = Lagrangian::on_circle(&start, 256)?.x;
    let flow = build_dynamics("sa", case.beta, grid.n())?;
    let error = |layers: usize| -> Result<f64> {
        let mut x = grid.clone();
        let layer = Layer::new(1.0 / layers as f64)?;
        (0..layers).for_each(|_| layer.apply(&flow, &mut x));
        let turn = |k: usize| {
            x.angles()
                .iter()
                .zip(x.masses())
                .map(|(t, m)| Complex64::from_polar(*m, -(k as f64) * t))
                .sum::<Complex64>()
        };
        Ok((1..=8).map(|k| (turn(k) - exact.c[k]).norm()).fold(0.0, f64::max))
    };
    Ok(Finding::at_most((error(80)? / error(40)? / ctx.claimed_constant(ratio) - 1.0).abs(), 0.05))
}
