//! Small |beta|: the measure collapses to a point, and how fast.

use super::{Case, Claim, Control, Expected, Finding};
use crate::continuity::{Medium, rings::Rings};
use crate::error::Result;

/// With the rate that the antipode of the limit dictates.
pub static ENTRY: Claim = Claim {
    name: "mean-field-collapse",
    title: "Small |beta|: USA collapses a density to a point, W2 at the rate min(e^beta, (d-1) e^{-beta} / 2)",
    statement: "From the density 1 + a x_1, a in [0.3, 0.9], W2 to the limit point decays over 8 <= t <= 11 at 95 % of min(e^beta, (d-1) e^{-beta}/2) at least: the first is the rate near the point, the second \
                that of the mass e^{-(d-1) e^{-beta} t} which has not yet left its antipode. In particular faster than e^{-t/100}.",
    hypotheses: "|beta| <= 0.2, a density in L2 with mean not 0",
    applies: |case| case.beta.abs() <= 0.2,
    citation: "Chen, Lin, Polyanskiy, Rigollet, arXiv:2504.14697 (rate t/100); the rate derived",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(1, 2, 0.2, "usa"),
        Case::new(1, 3, -0.05, "usa"),
        Case::new(1, 2, -0.05, "usa"),
        Case::new(1, 4, 0.05, "usa"),
        Case::new(1, 3, 0.2, "usa"),
    ],
    quick: 3,
    trials: (1, 4),
    trial: |case, ctx| {
        let a = ctx.stream.uniform_in(0.3, 0.9);
        rate(case, &cells(case.d, a))
    },
    control: Control {
        what: "no density: masses 2/3 and 1/3 at opposite points",
        trial: |_| {
            let theta = vec![0.0, std::f64::consts::PI];
            rate(&Case::new(1, 3, 0.1, "usa"), &Rings { d: 3, theta, masses: vec![2.0 / 3.0, 1.0 / 3.0], log_density: vec![0.0; 2] })
        },
    },
};

/// Rings for `1 + a cos theta`, refined geometrically towards the antipode, where mass lingers.
fn cells(d: usize, a: f64) -> Rings {
    let pi = std::f64::consts::PI;
    let edges: Vec<f64> = (0..=130).map(|j| pi * 0.9f64.powi(j)).collect();
    let mut out = Rings { d, theta: Vec::new(), masses: Vec::new(), log_density: Vec::new() };
    for pair in edges.windows(2) {
        let from_antipode = 0.5 * (pair[0] + pair[1]);
        let density = 1.0 - a * from_antipode.cos();
        out.theta.push(pi - from_antipode);
        out.masses.push(density * from_antipode.sin().powi(d as i32 - 2) * (pair[0] - pair[1]));
        out.log_density.push(density.ln());
    }
    let total: f64 = out.masses.iter().sum();
    out.masses.iter_mut().for_each(|m| *m /= total);
    out
}

fn rate(case: &Case, start: &Rings) -> Result<Finding> {
    let medium = Medium::new("usa", case.beta, 0.0)?;
    let spread = |r: &Rings| 0.5 * r.masses.iter().zip(&r.theta).map(|(m, t)| m * t * t).sum::<f64>().ln();
    let middle = start.clone().evolve(&medium, 8.0, |_, _| true)?.reached()?;
    let end = middle.clone().evolve(&medium, 3.0, |_, _| true)?.reached()?;
    let found = (spread(&middle) - spread(&end)) / 3.0;
    let expected = case.beta.exp().min(0.5 * (case.d as f64 - 1.0) * (-case.beta).exp());
    Ok(Finding::exact(found - 0.95 * expected))
}
