//! Growth of the modes of the uniform measure.

use crate::continuity::{
    lagrangian::Lagrangian, probability_flow::ProbabilityFlow, sphere2::Sphere2, zonal::Zonal,
};
use crate::num::gegenbauer::zonal_polynomials;
use crate::theorem::prelude::*;
use crate::theory::growth::{laplacian_eigenvalue, rates};

const AMPLITUDE: f64 = 1e-3;
const DEGREES: usize = 6;
const DENSITY_ERROR: f64 = 1e-5;
const PARTICLE_D: usize = 3;
const PARTICLE_BETAS: (f64, f64) = (0.1, 10.0);
const PARTICLE_DEGREES: usize = 4;
const PARTICLE_ERROR: f64 = 2e-5;
const DIFFUSION: f64 = 0.3;

/// Linearisation at the uniform measure (Funk-Hecke).
///
/// # Derivation
///
/// The velocities are `v = (1/beta) grad W` (USA) and `(1/beta) grad log W` (SA) with `W(x) = int
/// e^{beta <x, y>} d mu(y)`. By Funk and Hecke convolution with `e^{beta s}` multiplies a spherical
/// harmonic of degree `k` by `lambda_k = Gamma(d/2) (2/beta)^{d/2-1} I_{k+d/2-1}(beta)`. For `mu =
/// 1 + a Y_k` thus `W = lambda_0 + a lambda_k Y_k`, and to first order in a the continuity equation
/// reads `d_t (a Y_k) = -div v = -(a lambda_k/beta) Lap Y_k = a (k (k+d-2) lambda_k/beta) Y_k`,
/// over `lambda_0` for SA. Terms of second order in a cancel in the difference of the runs with a
/// and `-a`. With noise particles follow `v - grad log rho / kappa`, which subtracts `k
/// (k+d-2)/kappa`.
///
/// Particles: on a grid whose quadrature is exact for these modes, the sums over particles equal
/// the integrals, and a displacement along the gradient of a harmonic is the same perturbation of
/// the measure.
///
/// Sinkhorn attention on the circle: `K = f k f` with `f(x) int k f d mu = 1`. With `f = f_0 (1 +
/// phi)`, `mu = 1 + delta` and `q = I_k/I_0` mode `k` of the condition is `phi + q (phi + delta) =
/// 0`, so `phi = -q delta/(1 + q)`. The velocity is `(1/beta) grad log int k f d mu = -(1/beta)
/// grad log f`, so mode `k` grows at `(k^2/beta) q/(1 + q)`.
///
/// As plotted: the kernel `-(1/n) sum e^{beta cos} sin` of the code has the rates `k^2
/// I_k(beta)/beta` `(d = 2)`. The plotted `k^2 I_k(beta)/(pi beta)` is smaller by the factor `pi`
/// at every `k`; the fastest mode is the same.
pub static ENTRY: Claim = Claim {
    name: "mode-growth",
    title: "Modes of the uniform measure grow at the rates `r_k = k (k + d - 2) lambda_k / beta` \
            (USA) and `r_k / lambda_0` (SA), also under Sinkhorn attention and with noise",
    lets: "`lambda_k` are the Funk-Hecke coefficients of `e^{beta s}`, and let `r_k = k (k + d - \
           2) lambda_k / beta` for USA, this over `lambda_0` for SA, this minus `k (k + d - \
           2)/kappa` for USA with noise, and `(k^2/beta) I_k/(I_0 + I_k)` for Sinkhorn attention \
           on the circle",
    then: "A small wave of degree `k` on the uniform measure grows like `e^{r_k t}`, for densities \
           under the continuity equation and for particles on a grid.",
    tested: "by the k-th coefficient of the difference of two runs with amplitudes {AMPLITUDE} and \
             -{AMPLITUDE} at `t = 1/(2 max |r|)`: for densities and `k <= {DEGREES}` to \
             {DENSITY_ERROR} of the exponent, ten times the squared amplitude; for particles `(d \
             <= {PARTICLE_D}, {LEAST_BETA} <= beta <= {MOST_BETA}, k <= {PARTICLE_DEGREES}, \
             1/kappa = {DIFFUSION})` to {PARTICLE_ERROR}",
    numbers: &[
        ("AMPLITUDE", AMPLITUDE),
        ("DEGREES", DEGREES as f64),
        ("DENSITY_ERROR", DENSITY_ERROR),
        ("PARTICLE_D", PARTICLE_D as f64),
        ("LEAST_BETA", PARTICLE_BETAS.0),
        ("MOST_BETA", PARTICLE_BETAS.1),
        ("PARTICLE_DEGREES", PARTICLE_DEGREES as f64),
        ("DIFFUSION", DIFFUSION),
        ("PARTICLE_ERROR", PARTICLE_ERROR),
    ],
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Range(2, 32),
        beta: Betas::Linear(0.0, 60.0),
        dynamics: &[ATTENTIONS[0].name, ATTENTIONS[1].name, ATTENTIONS[2].name, ATTENTIONS[3].name],
        laws: &[],
        draws: "the degree",
        condition: Some(Condition {
            text: "Sinkhorn attention and noise on the circle at `{LEAST_BETA} <= beta <= \
                   {MOST_BETA}`",
            holds: |c| {
                c.variant().is_ok()
                    || (c.d == 2 && (PARTICLE_BETAS.0..=PARTICLE_BETAS.1).contains(&c.beta))
            },
        }),
        corners: &[
            (2, 2, 5.0),
            (2, 2, 1.0),
            (2, 2, 4.0),
            (2, 2, 0.1),
            (2, 3, 1.0),
            (2, 3, 10.0),
            (2, 2, 10.0),
            (2, 2, 0.5),
        ],
        ..Domain::EQUAL_MASSES
    },
    narrower: "zonal harmonics; particles at `d = 2` and {PARTICLE_D}, Sinkhorn attention and \
               noise only as particles on the circle",
    source: "derived (Funk-Hecke; Sinkhorn: linearised scaling); arXiv:2410.23228 for the circle, \
             up to the time scale",
    trials: (16, 120),
    trial: |case, ctx| {
        let particles =
            case.d <= PARTICLE_D && (PARTICLE_BETAS.0..=PARTICLE_BETAS.1).contains(&case.beta);
        let density = if case.variant().is_ok() {
            of_density(case, ctx, 1.0)?
        } else {
            Finding::answer(true)
        };
        if particles { Ok(density.and(of_particles(case, ctx)?)) } else { Ok(density) }
    },
    constant: "the rate `r_k`",
    control: Control {
        what: "rates increased by a thousandth",
        trial: |ctx| of_density(&Case::new(1, 2, 5.0, "usa"), ctx, 1.001),
    },
    variants: &[&PRINTED],
    ..Claim::IDENTITY
};

/// The rate that the figures of arXiv:2410.23228 plot.
static PRINTED: Claim = Claim {
    name: "mode-growth-printed",
    title: "Modes grow at `k^2 I_k(beta) / (pi beta)` (as plotted)",
    then: "Under USA on the circle, the k-th Fourier mode of the uniform measure grows like `e^{r \
           t}` with `r = k^2 I_k(beta)/(pi beta)`, `k <= {DEGREES}`.",
    tested: "at `t = 1/(2 pi max r)`, to {DENSITY_ERROR} of the exponent",
    numbers: &[("DEGREES", DEGREES as f64), ("DENSITY_ERROR", DENSITY_ERROR)],
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Fixed(2),
        beta: Betas::Log(0.1, 60.0),
        dynamics: &["usa"],
        laws: &[],
        draws: "the degree",
        ..Domain::EQUAL_MASSES
    },
    source: "arXiv:2410.23228, the authors' code of the figures, not the paper, whose formula was \
             not seen: the bars are a factor pi below the rate of the dynamics that the code \
             simulates",
    status: Status::Misprinted,
    trials: (8, 30),
    trial: |case, ctx| of_density(case, ctx, 1.0 / PI),
    control: Control {
        what: "`pi` times the plotted rate",
        trial: |ctx| of_density(&Case::new(1, 2, 5.0, "usa"), ctx, 1.0),
    },
    ..Claim::IDENTITY
};

/// Deviation of the logarithm of the growth of a random mode from `factor` times the formula.
fn of_density(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (d, beta, k) = (case.d, case.beta, 1 + ctx.index(DEGREES));
    let rates = rates(case.row_weights()?, d, beta, DEGREES, TimeScale::U1, 2)?;
    let medium = MeasureDynamics::new(case.dynamics, beta, 0.0)?;
    let t = 0.5 / rates.iter().copied().fold(0.0, nan_max);
    // The difference of the coefficients for a and -a, at the start and at the end.
    let (mut before, mut after) = (0.0, 0.0);
    for sign in [1.0, -1.0] {
        let density = Density::parse(&format!("cos:{k}={}", sign * AMPLITUDE))?;
        let (start, end) = if d == 2 {
            let start = Circle::from_density(&density, 32)?;
            (start.c[k].re, start.evolve(&medium, t, 64, |_, _| true)?.reached()?.c[k].re)
        } else {
            let start = Zonal::from_density(&density, d, 20)?;
            (start.b[k], start.evolve(&medium, t, 40, |_, _| true)?.reached()?.b[k])
        };
        (before, after) = (before + sign * start, after + sign * end);
    }
    Ok(Finding::identity(
        ((after / before).ln() - ctx.claimed_constant(factor * rates[k]) * t).abs(),
        DENSITY_ERROR,
    ))
}

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
    Noisy { name: "noisy-usa", weights: RowWeights::Exponential, diffusion: DIFFUSION },
];

impl Noisy {
    fn of(case: &Case) -> Result<&'static Self> {
        let found = ATTENTIONS.iter().find(|a| a.name == case.dynamics);
        found.ok_or_else(|| {
            Error::unknown("dynamics", case.dynamics, ATTENTIONS.iter().map(|a| a.name))
        })
    }
}

/// As [`of_density`] for particles.
fn of_particles(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let k = 1 + ctx.index(PARTICLE_DEGREES);
    let Noisy { weights, diffusion, .. } = *Noisy::of(case)?;
    let mut rates = rates(weights, case.d, case.beta, PARTICLE_DEGREES, TimeScale::U1, 2)?;
    rates
        .iter_mut()
        .enumerate()
        .for_each(|(k, r)| *r -= diffusion * laplacian_eigenvalue(case.d, k));
    let t = 0.5 / max_abs(&rates);
    let (up, down) = (moments(case, ctx, k, AMPLITUDE, t)?, moments(case, ctx, k, -AMPLITUDE, t)?);
    let grown = ((up.1 - down.1) / (up.0 - down.0)).ln();
    Ok(Finding::identity((grown - ctx.claimed_constant(rates[k]) * t).abs(), PARTICLE_ERROR))
}

/// Moment k before and after time t, for a wave of this amplitude.
fn moments(case: &Case, ctx: &mut Context, k: usize, size: f64, t: f64) -> Result<(f64, f64)> {
    ctx.check_stop()?;
    let wavy = Density::parse(&format!("cos:{k}={size}"))?;
    let Noisy { weights, diffusion, .. } = *Noisy::of(case)?;
    let medium = MeasureDynamics::new(weights.name(), case.beta, diffusion)?;
    if diffusion > 0.0 {
        let start = ProbabilityFlow::new(&Circle::from_density(&wavy, 16)?, 64)?;
        let end = start.clone().evolve(&medium, t)?;
        return Ok((start.moment(k).0, end.moment(k).0));
    }
    if weights == RowWeights::Sinkhorn {
        let start = Lagrangian::on_circle(&Circle::from_density(&wavy, 32)?, 96)?;
        let before = wave(&start.x, k);
        let end = start.evolve(&medium, t, |_, _| ctx.check_stop().is_ok())?.reached()?;
        return Ok((before, wave(&end.x, k)));
    }
    let x = if case.d == 2 {
        let angle = |i: usize| TAU * i as f64 / GRID as f64;
        let moved = |i: usize| angle(i) + size / k as f64 * (k as f64 * angle(i)).sin();
        Tokens::from_angles(&(0..GRID).map(moved).collect::<Vec<_>>())?
    } else {
        Lagrangian::on_sphere2(&Sphere2::from_density(&wavy, 16)?, 18)?.x
    };
    let end = ctx.flow_to(&build_dynamics(case.dynamics, case.beta, x.n())?, &x, t)?;
    Ok((wave(&x, k), wave(&end, k)))
}

/// Number of tokens on the unweighted grid: its first alias is mode 160 - 4.
const GRID: usize = 160;

/// The mean of `P_k` with respect to the first axis on the circle and to the last axis on S^2.
fn wave(x: &Tokens, k: usize) -> f64 {
    let axis = if x.d() == 2 { 0 } else { 2 };
    x.rows().zip(x.masses()).map(|(row, m)| m * zonal_polynomials(x.d(), k, row[axis])[k]).sum()
}
