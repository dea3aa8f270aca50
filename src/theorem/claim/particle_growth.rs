//! Growth of the modes of the uniform measure, by particles.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed, plain};
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
    statement: "Tokens on a grid of the circle displaced by 1e-5 sin k theta, weighted grids of S^2, of the circle for Sinkhorn attention and for noise (particles that follow v - grad log rho / kappa): the k-th moment grows at the rate of the mean-field theory, relative deviation at most 1e-4.",
    hypotheses: "beta > 0, k = 1..4",
    applies: |case| case.beta > 0.0,
    citation: "derived (Funk-Hecke; Sinkhorn: linearised scaling)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(240, 2, 5.0, "usa"),
        Case::new(240, 2, 7.0, "sa"),
        Case::new(128, 2, 4.0, "sinkhorn"),
        Case::new(64, 2, 3.0, "noisy-usa"),
        Case::new(1352, 3, 5.0, "sa"),
        Case::new(1352, 3, 3.0, "usa"),
    ],
    quick: 4,
    trials: (2, 6),
    trial: |case, ctx| deviation(case, ctx, 1.0),
    control: Control { what: "rates larger by a thousandth", trial: |ctx| deviation(&Case::new(240, 2, 5.0, "usa"), ctx, 1.001) },
};

/// The diffusion constant of the noisy case.
const NOISE: f64 = 0.3;

fn deviation(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let k = 1 + ctx.stream.index(4);
    let rates = match case.dynamics {
        "usa" => rates_usa(case.d, case.beta, 4, TimeScale::U1, 2)?,
        "noisy-usa" => {
            let rates = rates_usa(case.d, case.beta, 4, TimeScale::U1, 2)?;
            rates.iter().enumerate().map(|(k, r)| r - NOISE * degree(case.d, k)).collect()
        }
        "sinkhorn" => rates_sinkhorn(case.d, case.beta, 4)?,
        _ => rates_sa(case.d, case.beta, 4)?,
    };
    let t = 0.2 / rates.iter().fold(0.2f64, |m, r| m.max(*r));
    let (before, after) = match (case.d, case.dynamics) {
        (2, "sa" | "usa") => {
            let angle = |i: usize| TAU * i as f64 / case.n as f64;
            let x = Tokens::from_angles(&(0..case.n).map(|i| angle(i) + 1e-5 * (k as f64 * angle(i)).sin()).collect::<Vec<_>>())?;
            let end = flowed(plain(case.dynamics, case.beta, case.n)?.as_ref(), &x, t, ctx.rtol.min(1e-11))?;
            (wave(&x, k), wave(&end, k))
        }
        (2, "noisy-usa") => {
            let start = Circle::from_density(&Density::parse(&format!("cos:{k}=1e-5"))?, 16)?;
            let start = ProbabilityFlow::new(&start, case.n)?;
            let end = start.clone().evolve(&Medium::new("usa", case.beta, NOISE)?, t)?;
            (start.moment(k).0, end.moment(k).0)
        }
        (2, _) => {
            grown(Lagrangian::on_circle(&Circle::from_density(&Density::parse(&format!("cos:{k}=1e-5"))?, 32)?, case.n)?, case, t, k)?
        }
        _ => grown(Lagrangian::on_sphere2(&Sphere2::from_density(&Density::parse(&format!("cos:{k}=1e-5"))?, 16)?, 26)?, case, t, k)?,
    };
    Ok(Finding::at_most(((after / before).ln() / t / (factor * rates[k]) - 1.0).abs(), 1e-4))
}

/// Moment k of weighted particles before and after time t.
fn grown(start: Lagrangian, case: &Case, t: f64, k: usize) -> Result<(f64, f64)> {
    let before = wave(&start.x, k);
    let end = start.evolve(&Medium::new(case.dynamics, case.beta, 0.0)?, t, |_, _| true)?.reached()?;
    Ok((before, wave(&end.x, k)))
}

/// The mean of `P_k`, about the first axis on the circle and the last on S^2.
fn wave(x: &Tokens, k: usize) -> f64 {
    let axis = if x.d() == 2 { 0 } else { 2 };
    x.rows().zip(x.masses()).map(|(row, m)| m * zonal_polynomials(x.d(), k, row[axis])[k]).sum::<f64>().abs()
}
