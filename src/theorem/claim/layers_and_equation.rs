//! Layers as a discretisation of the continuity equation.

use super::{Case, Claim, Context, Control, Expected, Finding, always, plain, usa_entropy};
use crate::attention::layer::Layer;
use crate::continuity::{Medium, circle::Circle, density::Density, lagrangian::Lagrangian};
use crate::error::Result;
use crate::sphere::Tokens;

/// The flow map of measures, two ways.
pub static ENTRY: Claim = Claim {
    name: "layers-and-equation",
    title: "A measure through residual layers of step eta and through the equation: error of order eta",
    statement: "The same initial density through 1/eta layers x <- normalise(x + eta a) and through the continuity equation to t = 1: the moments 1..4 differ by O(eta), the difference halves with eta within a tenth.",
    hypotheses: "circle, SA, eta = 1/40 against 1/80, densities with up to 3 modes",
    applies: always,
    citation: "arXiv:2312.10794, Section 2 (layers as time steps)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(256, 2, 3.0, "sa"), Case::new(256, 2, 1.0, "sa"), Case::new(256, 2, 6.0, "sa")],
    quick: 2,
    trials: (2, 8),
    trial: |case, ctx| order(case, ctx, 2),
    control: Control { what: "a quarter instead of a half", trial: |ctx| order(&Case::new(256, 2, 3.0, "sa"), ctx, 4) },
};

fn order(case: &Case, ctx: &mut Context, ratio: usize) -> Result<Finding> {
    let a = usa_entropy::coefficients(ctx, 3);
    let start = Circle::from_density(&Density::parse(&format!("cos:1={},2={}+sin:3={}", a[0], a[1], a[2]))?, 32)?;
    let exact = start.clone().evolve(&Medium::new("sa", case.beta, 0.0)?, 1.0, 512, |_, _| true)?.reached()?;
    // A weighted grid: sums over it are spectrally exact, so the error left is that of the layers.
    let grid = Lagrangian::on_circle(&start, case.n)?.x;
    let error = |layers: usize| -> Result<f64> {
        let (mut x, mut scratch) = (grid.clone(), vec![0.0; 2 * grid.n()]);
        let (flow, layer) = (plain("sa", case.beta, grid.n())?, Layer::new(1.0 / layers as f64)?);
        (0..layers).for_each(|_| layer.step(flow.as_ref(), &mut x, &mut scratch));
        Ok((1..=4).map(|k| (moment(&x, k).0 - exact.c[k].re).hypot(moment(&x, k).1 + exact.c[k].im)).fold(0.0, f64::max))
    };
    Ok(Finding::at_most((ratio as f64 * error(80)? / error(40)? - 1.0).abs(), 0.1))
}

/// Means of `cos k theta` and `sin k theta`.
fn moment(x: &Tokens, k: usize) -> (f64, f64) {
    x.angles().iter().zip(x.masses()).fold((0.0, 0.0), |(c, s), (t, m)| (c + m * (k as f64 * t).cos(), s + m * (k as f64 * t).sin()))
}
