//! Layers as Euler steps.

use super::setting::{BIASES, LEAST_DENSITY, MODES, WEIGHTS, block, density};
use crate::attention::normalisation::Unnormalised;
use crate::continuity::lagrangian::Lagrangian;
use crate::num::fft::Complex64;
use crate::num::linearised::Linearised;
use crate::recurrent::{
    linearise_layer,
    residual::{Nonlinearity, ResidualNet, WeightSchedule},
};
use crate::theorem::prelude::*;
use crate::transformer::field::BlockField;

const TOLERANCE: f64 = 0.1;
const MOMENTS: usize = 8;
const LAYERS: usize = 40;
const DEPTH: usize = 128;
const CONTROL_ORDER: f64 = 2.0;
/// Draws of which the median is taken.
const DRAWS: usize = 7;

/// Three kinds of layers and the equations that they approximate.
///
/// # Derivation
///
/// A layer of step `eta` is `x + eta F(s, x) + O(eta^2)`, one Euler step of `x' = F(s, x)`, where
/// `F` is smooth in `x` and in the depth `s`. Its error at a fixed depth is `e eta + O(eta^2)`,
/// where the vector `e` solves a linear equation, so half the step gives half the error unless `e`
/// is 0.
///
/// Density: a layer `normalise(x + eta a)` is `x + eta P_x a + O(eta^2)` for every particle, and
/// the field is Lipschitz in the measure (`dobrushin`), so moments have an error of order `eta`.
///
/// Network: `x + (1/L) V(k/L) tanh(W(k/L) x)` is Euler's method, and `x_L - x_2L = e/(2L) +
/// O(1/L^2)`. Blocks: attention and then the feed-forward layer are a Lie splitting of
/// `x' = F(N x) + G(N x)`, of order 1. Half steps of attention around a whole one of the
/// feed-forward layer are a Strang splitting, of order 2 if each step itself is of order 2:
/// midpoint steps.
pub static ENTRY: Claim = Claim {
    name: "layers-and-equation",
    title: "Layers of step `eta` are Euler steps: densities, networks with smooth weights and \
            blocks follow their equation to order `eta`, symmetrised blocks to order `eta^2`",
    lets: "`1/eta` layers of step `eta` act `(a)` on a density on the circle, as `x <- normalise(x \
           + eta a)` with the output a of SA; `(b)` on a row, as `x <- x + eta V(s) tanh(W(s) x)` \
           with weights `A cos 2 pi s + B sin 2 pi s` at depth `s`; `(c)` on tokens, as a pre-norm \
           block",
    then: "The states approach the solution at time 1 to first order in `eta`: `(a)` of the \
           continuity equation, `(b)` of `x' = V(s) tanh(W(s) x)`, `(c)` of `x' = F(N x) + G(N x)` \
           with attention `F` and feed-forward layer `G`. A symmetrised block of midpoint steps \
           approaches it to second order.",
    tested: "by the logarithm to base 2 of the ratio of the errors at `eta` and `eta/2`, which is \
             the order to {TOLERANCE}: `(a)` of the moments 1 to {MOMENTS} at `eta = 1/{LAYERS}`; \
             `(b)` of `x_L - x_2L` at `L = {DEPTH}`; `(c)` at `eta = 1/{LAYERS}`. In `(b)` and \
             `(c)` it is the median of {DRAWS} draws",
    numbers: &[
        ("TOLERANCE", TOLERANCE),
        ("MOMENTS", MOMENTS as f64),
        ("LAYERS", LAYERS as f64),
        ("DEPTH", DEPTH as f64),
        ("DRAWS", DRAWS as f64),
        ("LEAST_MODES", MODES.0 as f64),
        ("MOST_MODES", MODES.1 as f64),
        ("PARTS", 1.0 / LEAST_DENSITY),
        ("WEIGHTS", WEIGHTS),
        ("BIASES", BIASES),
        ("CONTROL_ORDER", CONTROL_ORDER),
    ],
    domain: Domain {
        n: Sizes::Range(2, 6),
        d: Sizes::Fixed(4),
        beta: Betas::Log(0.1, 10.0),
        dynamics: &["sa"],
        laws: &[],
        draws: "a density of {LEAST_MODES} to {MOST_MODES} modes and values of at least 1/{PARTS}, \
                normal weights of a network, or those of a block with two heads and `n` normal \
                tokens",
        ..Domain::EQUAL_MASSES
    },
    narrower: "in blocks, weights of size {WEIGHTS} over the root of the number of inputs and \
               biases of size {BIASES}; `beta` is that of SA on the circle. The orders are \
               derived, the tolerance is observed: where `e` nearly vanishes the ratio at a given \
               step is another one, so medians are tested",
    source: "arXiv:2312.10794, Section 2 (layers as time steps); E, Commun. Math. Stat. 5 (2017); \
             Strang 1968; derived",
    trials: (12, 80),
    trial: |case, ctx| match ctx.index(3) {
        0 => density_order(case, ctx, 1.0),
        1 => {
            let found = median(ctx, |ctx| network_order(ctx, case.d))?;
            Ok(Finding::law(found, ctx.claimed_constant(1.0), TOLERANCE, 0.0))
        }
        _ => {
            let symmetric = ctx.index(2) == 1;
            let found = median(ctx, |ctx| block_order(case, ctx, symmetric))?;
            let order = if symmetric { 2.0 } else { 1.0 };
            Ok(Finding::law(found, ctx.claimed_constant(order), TOLERANCE, 0.0))
        }
    },
    constant: "the order",
    control: Control {
        what: "the order {CONTROL_ORDER} for a density",
        trial: |ctx| density_order(&Case::new(2, 4, 3.0, "sa"), ctx, CONTROL_ORDER),
    },
    ..Claim::LAW
};

fn median(ctx: &mut Context, mut order: impl FnMut(&mut Context) -> Result<f64>) -> Result<f64> {
    let mut found = (0..DRAWS).map(|_| order(ctx)).collect::<Result<Vec<f64>>>()?;
    found.sort_by(f64::total_cmp);
    Ok(found[DRAWS / 2])
}

fn density_order(case: &Case, ctx: &mut Context, stated: f64) -> Result<Finding> {
    let start = density(ctx)?.with_modes(32);
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
        Ok(largest((1..=MOMENTS).map(|k| (turn(k) - exact.c[k]).norm())))
    };
    let found = (error(LAYERS)? / error(2 * LAYERS)?).log2();
    Ok(Finding::law(found, ctx.claimed_constant(stated), TOLERANCE, 0.0))
}

fn network_order(ctx: &mut Context, d: usize) -> Result<f64> {
    let (start, seed) = (ctx.normals(d), ctx.seed());
    let end = |depth: usize| {
        let net = ResidualNet {
            d,
            depth,
            power: 1.0,
            gain: 1.0,
            weights: WeightSchedule::Smooth,
            nonlinearity: Nonlinearity::Tanh,
            seed,
        };
        (0..depth)
            .fold(start.clone(), |x, layer| linearise_layer(&net, layer, d, &x).value().to_vec())
    };
    let ends = [DEPTH, 2 * DEPTH, 4 * DEPTH].map(end);
    let gap = |a: usize, b: usize| {
        ends[a].iter().zip(&ends[b]).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    Ok((gap(0, 1) / gap(1, 2)).log2())
}

fn block_order(case: &Case, ctx: &mut Context, symmetric: bool) -> Result<f64> {
    let block = Arc::new(block(ctx, case.d)?);
    let x = ctx.normals(case.n * case.d);
    let flow = Dynamics::single(BlockField::new(Arc::clone(&block), None))
        .with_normalisation(Unnormalised);
    let options = Options { rtol: 1e-11, merge_radius: 0.0, ..Options::default() };
    let end = solve(&flow, &Tokens::flat(case.d, x.clone())?, 1.0, &options, &mut [])?;
    if !end.outcome.end_state_is_known() {
        return Err(Error::Numerical { what: end.outcome.to_string() });
    }
    let error = |layers: usize| -> Result<f64> {
        let (mut x, eta) = (x.clone(), 1.0 / layers as f64);
        for _ in 0..layers {
            x = if symmetric {
                block.symmetric_step(&x, None, eta)?
            } else {
                block.step(&x, None, eta)?
            };
        }
        Ok(max_difference(&x, end.clusters.coordinates()))
    };
    Ok((error(LAYERS)? / error(2 * LAYERS)?).log2())
}
