//! Growth of the modes of the uniform measure, by particles.

use super::{Also, Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Masses, Sizes, Status, plain};
use crate::attention::TimeScale;
use crate::continuity::{
    Medium, circle::Circle, density::Density, lagrangian::Lagrangian, probability_flow::ProbabilityFlow, sphere2::Sphere2,
};
use crate::error::Result;
use crate::num::gegenbauer::zonal_polynomials;
use crate::sphere::Tokens;
use crate::theory::growth::{degree, rates_sa, rates_sinkhorn, rates_usa};
use std::f64::consts::TAU;

/// The particle side of `mode-growth`.
pub static ENTRY: Claim = Claim {
    name: "particle-growth",
    title: "Particles: modes of the uniform measure grow at r_k, also under Sinkhorn attention and with noise",
    statement: "A grid of the circle displaced by (1e-3/k) sin k theta, weighted grids of S^2, of the circle for Sinkhorn attention and for noise (particles that follow v - grad log rho / kappa, 1/kappa = 0.3), of amplitudes 1e-3 and -1e-3 (their difference has no second order), k <= 4: \
                the k-th moment grows by e^{r_k t}, t = 1/(2 max |r|), within 2e-5 of the exponent (twenty squares of the amplitude: the next order).",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::List(&[2, 3]),
        beta: Betas::Log(0.1, 10.0),
        dynamics: &["usa", "sa", "sinkhorn", "noisy-usa"],
        masses: Masses::Equal,
        also: Some(Also { text: "Sinkhorn attention and noise on the circle", holds: |c| c.d == 2 || c.dynamics.len() < 4 }),
        ..Domain::ATTENTION
    },
    narrower: "d = 2, 3",
    citation: "derived (Funk-Hecke; Sinkhorn: linearised scaling)",
    status: Status::Theorem,
    kind: Kind::Identity,
    trials: (8, 60),
    trial: |case, ctx| deviation(case, ctx, 1.0),
    perturbed: "the rate r_k",
    control: Control { what: "rates larger by a thousandth", trial: |ctx| deviation(&Case::new(1, 2, 5.0, "usa"), ctx, 1.001) },
    proof: None,
};

/// The diffusion constant of the noisy case.
const NOISE: f64 = 0.3;

fn deviation(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let k = 1 + ctx.index(4);
    let rates = match case.dynamics {
        "usa" => rates_usa(case.d, case.beta, 4, TimeScale::U1, 2)?,
        "noisy-usa" => {
            let rates = rates_usa(case.d, case.beta, 4, TimeScale::U1, 2)?;
            rates.iter().enumerate().map(|(k, r)| r - NOISE * degree(case.d, k)).collect()
        }
        "sinkhorn" => rates_sinkhorn(case.d, case.beta, 4)?,
        _ => rates_sa(case.d, case.beta, 4)?,
    };
    let t = 0.5 / rates.iter().fold(0.1f64, |m, r| m.max(r.abs()));
    let (up, down) = (moments(case, ctx, k, 1e-3, t)?, moments(case, ctx, k, -1e-3, t)?);
    let grown = ((up.1 - down.1) / (up.0 - down.0)).ln();
    Ok(Finding::identity((grown - ctx.stated(factor * rates[k]) * t).abs(), 2e-5))
}

/// Moment k before and after time t, from a wave of this size.
fn moments(case: &Case, ctx: &mut Context, k: usize, size: f64, t: f64) -> Result<(f64, f64)> {
    let wavy = Density::parse(&format!("cos:{k}={size}"))?;
    match (case.d, case.dynamics) {
        (2, "sa" | "usa") => {
            let angle = |i: usize| TAU * i as f64 / GRID as f64;
            let moved = |i: usize| angle(i) + size / k as f64 * (k as f64 * angle(i)).sin();
            let x = Tokens::from_angles(&(0..GRID).map(moved).collect::<Vec<_>>())?;
            let end = ctx.flowed(&plain(case.dynamics, case.beta, GRID)?, &x, t)?;
            Ok((wave(&x, k), wave(&end, k)))
        }
        (2, "noisy-usa") => {
            let start = ProbabilityFlow::new(&Circle::from_density(&wavy, 16)?, 64)?;
            let end = start.clone().evolve(&Medium::new("usa", case.beta, NOISE)?, t)?;
            Ok((start.moment(k).0, end.moment(k).0))
        }
        (2, _) => grown(Lagrangian::on_circle(&Circle::from_density(&wavy, 32)?, 96)?, case, t, k),
        _ => grown(Lagrangian::on_sphere2(&Sphere2::from_density(&wavy, 16)?, 18)?, case, t, k),
    }
}

/// Tokens of the plain grid: its first alias is mode 160 - 4.
const GRID: usize = 160;

/// Moment k of weighted particles before and after time t.
fn grown(start: Lagrangian, case: &Case, t: f64, k: usize) -> Result<(f64, f64)> {
    let before = wave(&start.x, k);
    let end = start.evolve(&Medium::new(case.dynamics, case.beta, 0.0)?, t, |_, _| true)?.reached()?;
    Ok((before, wave(&end.x, k)))
}

/// The mean of `P_k`, about the first axis on the circle and the last on S^2.
fn wave(x: &Tokens, k: usize) -> f64 {
    let axis = if x.d() == 2 { 0 } else { 2 };
    x.rows().zip(x.masses()).map(|(row, m)| m * zonal_polynomials(x.d(), k, row[axis])[k]).sum()
}
