//! Number and places of the clusters that form from noise.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::clusters::linkage::linkage;
use crate::continuity::{Medium, circle::Circle, density::Density, lagrangian::Lagrangian};
use crate::error::Result;
use std::f64::consts::TAU;

/// When one mode leads.
pub static ENTRY: Claim = Claim {
    name: "cluster-positions",
    title: "USA from a perturbation led by mode k: k clusters at delta_j = (2 pi j - arg mu_k)/k",
    statement: "Uniform density plus mode k = k_max of size 0.01 and the other modes up to 10 of a tenth of that: by t = 0.3 (beta = 5, k = 3) or 0.045 (beta = 7, k = 4) there are k clusters, each within 0.1 of its delta_j.",
    hypotheses: "circle, beta = 5 and 7",
    applies: |case| case.d == 2,
    citation: "arXiv:2410.23228 and its code; the size of the other modes derived",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(1, 2, 5.0, "usa"), Case::new(1, 2, 7.0, "usa")],
    quick: 2,
    trials: (2, 10),
    trial: |case, ctx| {
        let start = led(published(case.beta).0, ctx);
        Ok(Finding::exact(if met(case.beta, &start?, 0.0)? { 1.0 } else { -1.0 }))
    },
    control: Control {
        what: "positions moved by half a spacing",
        trial: |ctx| {
            let start = led(3, ctx);
            Ok(Finding::exact(if met(5.0, &start?, 0.5)? { 1.0 } else { -1.0 }))
        },
    },
};

/// Fastest mode and time of the published experiment.
pub fn published(beta: f64) -> (usize, f64) {
    if beta < 6.0 { (3, 0.3) } else { (4, 0.045) }
}

/// Mode k with a random phase, the others a tenth of it.
fn led(k: usize, ctx: &mut Context) -> Result<Circle> {
    let phase = ctx.stream.uniform_in(0.0, TAU);
    let seed = ctx.stream.next_u64() >> 12;
    let text = format!("noise:amplitude=0.0007,modes=10,seed={seed}+cos:{k}={}+sin:{k}={}", 0.01 * phase.cos(), 0.01 * phase.sin());
    Circle::from_density(&Density::parse(&text)?, 16)
}

/// True when the published time finds k clusters (masses above 0.05), one within 0.1 of every predicted place moved by `shift` spacings.
pub fn met(beta: f64, start: &Circle, shift: f64) -> Result<bool> {
    let (k, t) = published(beta);
    let end = Lagrangian::on_circle(start, 128)?.evolve(&Medium::new("usa", beta, 0.0)?, t, |_, _| true)?.reached()?;
    let found = linkage(&end.x, 0.05)?.centres;
    let large: Vec<f64> = found.angles().iter().zip(found.masses()).filter(|(_, m)| **m > 0.05).map(|(t, _)| *t).collect();
    let near = |a: f64| large.iter().any(|t| (t - a - TAU * ((t - a) / TAU).round()).abs() < 0.1);
    let predicted = |j: usize| (TAU * (j as f64 + shift) - start.c[k].arg()) / k as f64;
    Ok(large.len() == k && (0..k).all(|j| near(predicted(j))))
}
