//! Growth of the modes of the uniform measure, for particles.

use crate::continuity::{
    lagrangian::Lagrangian, probability_flow::ProbabilityFlow, sphere2::Sphere2,
};
use crate::num::gegenbauer::zonal_polynomials;
use crate::theorem::prelude::*;
use crate::theory::growth::{laplacian_eigenvalue, rates};

/// The counterpart of `mode-growth` for particles.
///
/// # Derivation
///
/// On a grid whose quadrature is exact for these modes, the sums over particles equal the integrals
/// of `mode-growth`, and a displacement along the gradient of a harmonic is the same perturbation
/// of the measure: the moment grows at the same rate. With noise the particles follow
/// `v - grad log rho / kappa`, which subtracts `k (k+d-2)/kappa`.
///
/// Sinkhorn attention on the circle: `K = f k f` with `f(x) int k f d mu = 1`. With
/// `f = f_0 (1 + phi)`, `mu = 1 + delta` and `q = I_k/I_0` mode k of the condition is
/// `phi + q (phi + delta) = 0`, so `phi = -q delta/(1 + q)`. The velocity is
/// `(1/beta) grad log int k f d mu = -(1/beta) grad log f`, so mode k grows at
/// `(k^2/beta) q/(1 + q)`.
pub static ENTRY: Claim = Claim {
    name: "particle-growth",
    title: "Particles: modes of the uniform measure grow at the rates r_k, also under Sinkhorn \
            attention and with noise",
    then: "Start from a grid on the circle displaced by (1e-3/k) sin k theta, or from weighted \
           grids (on S^2; on the circle for Sinkhorn attention, and for noise as particles that \
           follow v - grad log rho / kappa, 1/kappa = 0.3) of amplitudes 1e-3 and -1e-3. The k-th \
           moment, k <= 4, of the difference grows like e^{r_k t}.",
    tested: "at t = 1/(2 max |r|), to 2e-5 of the exponent, twenty times the squared amplitude",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::List(&[2, 3]),
        beta: Betas::Log(0.1, 10.0),
        dynamics: &[ATTENTIONS[0].name, ATTENTIONS[1].name, ATTENTIONS[2].name, ATTENTIONS[3].name],
        condition: Some(Condition {
            text: "Sinkhorn attention and noise on the circle",
            holds: |c| c.d == 2 || c.variant().is_ok(),
        }),
        ..Domain::EQUAL_MASSES
    },
    narrower: "d = 2, 3",
    source: "derived (Funk-Hecke; Sinkhorn: linearised scaling)",
    trials: (8, 60),
    trial: |case, ctx| deviation(case, ctx, 1.0),
    constant: "the rate r_k",
    control: Control {
        what: "rates increased by a thousandth",
        trial: |ctx| deviation(&Case::new(1, 2, 5.0, "usa"), ctx, 1.001),
    },
    ..Claim::IDENTITY
};

/// An attention and a diffusion constant.
struct Noisy {
    name: &'static str,
    weights: RowWeights,
    diffusion: f64,
}

/// The dynamics with these names in the domain.
const ATTENTIONS: [Noisy; 4] = [
    Noisy { name: "usa", weights: RowWeights::Exponential, diffusion: 0.0 },
    Noisy { name: "sa", weights: RowWeights::Softmax, diffusion: 0.0 },
    Noisy { name: "sinkhorn", weights: RowWeights::Sinkhorn, diffusion: 0.0 },
    Noisy { name: "noisy-usa", weights: RowWeights::Exponential, diffusion: 0.3 },
];

impl Noisy {
    fn of(case: &Case) -> Result<&'static Self> {
        let found = ATTENTIONS.iter().find(|a| a.name == case.dynamics);
        found.ok_or_else(|| {
            Error::unknown("dynamics", case.dynamics, ATTENTIONS.iter().map(|a| a.name))
        })
    }
}

fn deviation(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let k = 1 + ctx.index(4);
    let Noisy { weights, diffusion, .. } = *Noisy::of(case)?;
    let mut rates = rates(weights, case.d, case.beta, 4, TimeScale::U1, 2)?;
    rates
        .iter_mut()
        .enumerate()
        .for_each(|(k, r)| *r -= diffusion * laplacian_eigenvalue(case.d, k));
    let t = 0.5 / max_abs(&rates);
    let (up, down) = (moments(case, ctx, k, 1e-3, t)?, moments(case, ctx, k, -1e-3, t)?);
    let grown = ((up.1 - down.1) / (up.0 - down.0)).ln();
    Ok(Finding::identity((grown - ctx.claimed_constant(factor * rates[k]) * t).abs(), 2e-5))
}

/// Moment k before and after time t, for a wave of this amplitude.
fn moments(case: &Case, ctx: &mut Context, k: usize, size: f64, t: f64) -> Result<(f64, f64)> {
    ctx.check_stop()?;
    let wavy = Density::parse(&format!("cos:{k}={size}"))?;
    let Noisy { weights, diffusion, .. } = *Noisy::of(case)?;
    let medium = MeasureDynamics::new(weights.name(), case.beta, diffusion)?;
    match (case.d, weights) {
        (2, _) if diffusion > 0.0 => {
            let start = ProbabilityFlow::new(&Circle::from_density(&wavy, 16)?, 64)?;
            let end = start.clone().evolve(&medium, t)?;
            Ok((start.moment(k).0, end.moment(k).0))
        }
        (2, RowWeights::Softmax | RowWeights::Exponential) => {
            let angle = |i: usize| TAU * i as f64 / GRID as f64;
            let moved = |i: usize| angle(i) + size / k as f64 * (k as f64 * angle(i)).sin();
            let x = Tokens::from_angles(&(0..GRID).map(moved).collect::<Vec<_>>())?;
            let end = ctx.flow_to(&build_dynamics(case.dynamics, case.beta, GRID)?, &x, t)?;
            Ok((wave(&x, k), wave(&end, k)))
        }
        (2, RowWeights::Sinkhorn) => particle_moments(
            ctx,
            Lagrangian::on_circle(&Circle::from_density(&wavy, 32)?, 96)?,
            &medium,
            t,
            k,
        ),
        _ => particle_moments(
            ctx,
            Lagrangian::on_sphere2(&Sphere2::from_density(&wavy, 16)?, 18)?,
            &medium,
            t,
            k,
        ),
    }
}

/// Number of tokens on the unweighted grid: its first alias is mode 160 - 4.
const GRID: usize = 160;

/// Moment k of weighted particles before and after time t.
fn particle_moments(
    ctx: &Context,
    start: Lagrangian,
    medium: &MeasureDynamics,
    t: f64,
    k: usize,
) -> Result<(f64, f64)> {
    let before = wave(&start.x, k);
    let end = start.evolve(medium, t, |_, _| ctx.check_stop().is_ok())?.reached()?;
    Ok((before, wave(&end.x, k)))
}

/// The mean of `P_k` with respect to the first axis on the circle and to the last axis on S^2.
fn wave(x: &Tokens, k: usize) -> f64 {
    let axis = if x.d() == 2 { 0 } else { 2 };
    x.rows().zip(x.masses()).map(|(row, m)| m * zonal_polynomials(x.d(), k, row[axis])[k]).sum()
}
