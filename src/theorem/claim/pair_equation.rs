//! Pairs: the first equation of the BBGKY hierarchy.

use super::{Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Masses, Sizes, Status};
use crate::error::Result;
use crate::num::stats::mean_and_error;
use crate::sphere::Tokens;
use std::f64::consts::TAU;

/// The equation in weak form: with `x = theta_2 - theta_1` and the drift v it says
/// `E cos(k x(t)) - E cos(k x(0)) = -int_0^t E[k sin(k x) v] ds`, and as g is a conditional mean given x, `E[sin(k x) g] = -E[sin(k x) h'(theta_3 - theta_1)]`: no
/// density is estimated. One ordered pair is followed (over both orders the equation is an identity for every start). The average over
/// uniform starts is taken on lattices turned at random, eight of them, whose differences are its sampling error.
pub static ENTRY: Claim = Claim {
    name: "pair-equation",
    title: "USA on the circle: the law of the difference of two tokens follows its transport equation",
    statement: "iid uniform starts: psi(t, x), the law of theta_2 - theta_1, is transported by (2/(beta n)) h'(x) - (2 (n-2)/(beta n)) g(t, x), h = e^{beta cos}, g the mean of -h'(theta_3 - theta_1) given x: the change of its \
                Fourier coefficients k = 1 and 2 up to t = 1.5 e^{-0.8 beta} is that of the equation within 0.02.",
    domain: Domain {
        n: Sizes::Range(2, 5),
        d: Sizes::Fixed(2),
        beta: Betas::Log(0.1, 4.0),
        dynamics: &["usa"],
        masses: Masses::Equal,
        ..Domain::ATTENTION
    },
    narrower: "n <= 5; two Fourier coefficients; one time",
    citation: "arXiv:2312.10794, Section 8",
    status: Status::Theorem,
    kind: Kind::Law,
    trials: (6, 40),
    trial: |case, ctx| {
        let third = ctx.stated(1.0);
        distance(case, ctx, third)
    },
    perturbed: "the force of the third token",
    control: Control { what: "n = 4 without the third token's force", trial: |ctx| distance(&Case::new(4, 2, 1.0, "usa"), ctx, 0.0) },
    proof: None,
};

/// Points of a lattice, and lattices.
const POINTS: usize = 128;
const LATTICES: usize = 8;
/// A generator of lattices of 128 points in up to four dimensions (Korobov's powers of 47).
const GENERATOR: [usize; 4] = [1, 47, 33, 15];
/// Nodes and weights of Gauss and Legendre on [0, 1].
const NODES: [(f64, f64); 3] = [(0.112_701_665_379_258_31, 5.0 / 18.0), (0.5, 4.0 / 9.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];

fn distance(case: &Case, ctx: &mut Context, third: f64) -> Result<Finding> {
    let (n, beta) = (case.n, case.beta);
    let (flow, end) = (case.build()?, 1.5 * (-0.8 * beta).exp());
    let slope = |x: f64| -beta * x.sin() * (beta * x.cos()).exp();
    let mut errors = [Vec::new(), Vec::new()];
    for _ in 0..LATTICES {
        let shift: Vec<f64> = (1..n).map(|_| ctx.chance().uniform()).collect();
        let mut sums = [0.0; 2];
        for p in 0..POINTS {
            // The first token stands at 0: only differences matter.
            let coordinate = |k: usize| (p * GENERATOR[k] % POINTS) as f64 / POINTS as f64 + shift[k];
            let angles: Vec<f64> = std::iter::once(0.0).chain((0..n - 1).map(|k| TAU * coordinate(k))).collect();
            let mut x = Tokens::from_angles(&angles)?;
            let difference = |x: &Tokens, j: usize| {
                let a = x.angles();
                a[j] - a[0]
            };
            let start = difference(&x, 1);
            let mut t = 0.0;
            for (node, weight) in NODES {
                x = ctx.flowed_within(flow.as_ref(), &x, node * end - t, 1e4)?;
                t = node * end;
                let others: f64 = (2..n).map(|j| slope(difference(&x, j))).sum();
                let drift = 2.0 / (beta * n as f64) * (slope(difference(&x, 1)) + third * others);
                for (k, sum) in [1.0, 2.0].into_iter().zip(&mut sums) {
                    *sum += weight * end * k * (k * difference(&x, 1)).sin() * drift;
                }
            }
            x = ctx.flowed_within(flow.as_ref(), &x, end - t, 1e4)?;
            for (k, sum) in [1.0, 2.0].into_iter().zip(&mut sums) {
                *sum += (k * difference(&x, 1)).cos() - (k * start).cos();
            }
        }
        errors.iter_mut().zip(sums).for_each(|(list, sum)| list.push(sum / POINTS as f64));
    }
    let finding = |list: &[f64]| {
        let (mean, error) = mean_and_error(list);
        Finding::law(mean, 0.0, 0.02, error)
    };
    Ok(finding(&errors[0]).and(finding(&errors[1])))
}
