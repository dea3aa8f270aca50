//! Pairs: the first equation of the BBGKY hierarchy.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::error::Result;
use crate::num::stream::Stream;
use std::f64::consts::TAU;

/// n = 2 closes; n = 3, 4 need the conditional force of a third token, which the particles supply.
pub static ENTRY: Claim = Claim {
    name: "pair-equation",
    title: "USA on the circle: the law of the difference of two tokens follows its transport equation",
    statement: "iid uniform starts: psi(t, x), the law of theta_j - theta_i, is transported by (2/(beta n)) h'(x) - (2 (n-2)/(beta n)) g(t, x), h = e^{beta cos}, g the mean of -h'(theta_k - theta_i) given x: \
                total variation distance from 30000 runs at most 0.02 (24 bins, t = 1.5).",
    hypotheses: "circle, USA, n = 2, 3, 4",
    applies: |case| (2..=4).contains(&case.n) && case.d == 2,
    citation: "arXiv:2312.10794, Section 8",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(2, 2, 1.0, "usa"), Case::new(3, 2, 1.0, "usa"), Case::new(4, 2, 1.0, "usa")],
    quick: 2,
    trials: (1, 3),
    trial: |case, ctx| distance(case, ctx, 1.0),
    control: Control { what: "n = 4 without the third token's force", trial: |ctx| distance(&Case::new(4, 2, 1.0, "usa"), ctx, 0.0) },
};

const BINS: usize = 24;
const RUNS: usize = 30_000;
const STEPS: usize = 30;
const END: f64 = 1.5;

/// `-h'(x) = beta sin x e^{beta cos x}`.
fn force(beta: f64, x: f64) -> f64 {
    let (s, c) = x.sin_cos();
    beta * s * (beta * c).exp()
}

/// Velocities of one system, and its ordered triples `(theta_j - theta_i, -h'(theta_k - theta_i))` into `seen`.
fn velocities(beta: f64, theta: &[f64], out: &mut [f64], mut seen: impl FnMut(f64, f64)) {
    let n = theta.len();
    for i in 0..n {
        let mut pull = [0.0; 4];
        pull.iter_mut().zip(theta).for_each(|(p, t)| *p = force(beta, t - theta[i]));
        out[i] = pull[..n].iter().sum::<f64>() / (beta * n as f64);
        for j in (0..n).filter(|j| *j != i) {
            (0..n).filter(|k| *k != i && *k != j).for_each(|k| seen(theta[j] - theta[i], pull[k]));
        }
    }
}

fn bin(x: f64) -> usize {
    ((x.rem_euclid(TAU) / TAU * BINS as f64) as usize).min(BINS - 1)
}

/// `g` at x from bin means, linear between the centres.
fn interpolated(g: &[f64], x: f64) -> f64 {
    let place = x.rem_euclid(TAU) / TAU * BINS as f64 - 0.5 + BINS as f64;
    let (low, share) = (place.floor() as usize, place.fract());
    (1.0 - share) * g[low % BINS] + share * g[(low + 1) % BINS]
}

/// Heun's method for all systems, and for the transported differences with the force that the systems show; `third` scales that force.
fn distance(case: &Case, ctx: &mut Context, third: f64) -> Result<Finding> {
    let (n, beta, dt) = (case.n, case.beta, END / STEPS as f64);
    let mut systems: Vec<f64> = uniform(&mut ctx.stream, RUNS * n);
    let points = 100 * BINS;
    let mut pairs: Vec<f64> = (0..points).map(|j| TAU * (j as f64 + 0.5) / points as f64).collect();
    let drift = |x: f64, g: &[f64]| {
        let own = -2.0 / (beta * n as f64) * force(beta, x);
        own - third * 2.0 * (n as f64 - 2.0) / (beta * n as f64) * interpolated(g, x)
    };
    for _ in 0..STEPS {
        let (first, g) = all_velocities(beta, n, &systems);
        let ahead: Vec<f64> = systems.iter().zip(&first).map(|(x, v)| x + dt * v).collect();
        let (second, g_ahead) = all_velocities(beta, n, &ahead);
        systems.iter_mut().zip(first.iter().zip(&second)).for_each(|(x, (a, b))| *x += 0.5 * dt * (a + b));
        for x in &mut pairs {
            let a = drift(*x, &g);
            *x += 0.5 * dt * (a + drift(*x + dt * a, &g_ahead));
        }
    }
    let (mut seen, mut predicted) = (vec![0.0; BINS], vec![0.0; BINS]);
    for system in systems.chunks_exact(n) {
        for i in 0..n {
            (0..n).filter(|j| *j != i).for_each(|j| seen[bin(system[j] - system[i])] += 1.0 / (RUNS * n * (n - 1)) as f64);
        }
    }
    pairs.iter().for_each(|x| predicted[bin(*x)] += 1.0 / points as f64);
    let total: f64 = seen.iter().zip(&predicted).map(|(a, b)| 0.5 * (a - b).abs()).sum();
    Ok(Finding::at_most(total, 0.02))
}

fn uniform(stream: &mut Stream, count: usize) -> Vec<f64> {
    (0..count).map(|_| stream.uniform_in(0.0, TAU)).collect()
}

/// Velocities of all systems and the bin means of the third token's force.
fn all_velocities(beta: f64, n: usize, systems: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut out = vec![0.0; systems.len()];
    let mut sums = vec![(0.0, 0.0); BINS];
    for (theta, v) in systems.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
        velocities(beta, theta, v, |x, f| {
            let sum = &mut sums[bin(x)];
            *sum = (sum.0 + f, sum.1 + 1.0);
        });
    }
    (out, sums.iter().map(|(f, count)| if *count > 0.0 { f / count } else { 0.0 }).collect())
}
