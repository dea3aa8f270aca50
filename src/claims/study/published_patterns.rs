//! The published experiments on clusters from noise: 20000 iid tokens compared with the continuity
//! equation, USA at beta = 5 and 7.

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::attention::{Spec, dynamics};
use crate::clusters::linkage::linkage;
use crate::continuity::{
    MeasureDynamics,
    circle::Circle,
    density::Density,
    flow_map::{FlowMap, Resolution},
    lagrangian::Lagrangian,
};
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::num::{fft::Complex64, stream::Stream};
use crate::sphere::Tokens;
use crate::theory::growth::published_fastest_mode;
use std::f64::consts::TAU;

/// Tables: densities, predicted, counts.
pub static ENTRY: Study = Study {
    name: "published-patterns",
    title: "Clusters from 20000 iid tokens: particles, continuity equation, predicted places, \
        numbers over 50 seeds",
    citation: "arXiv:2410.23228 (figures and code)",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the tokens")],
    run,
};

/// Number of tokens, and bins of their densities on the circle.
const N: usize = 20_000;
const BINS: usize = 100;

fn run(values: &Values) -> Result<Tables> {
    let mut densities = table(&["beta", "theta", "particles", "equation"]);
    let (mut predicted, mut counts) =
        (table(&["beta", "theta"]), table(&["beta", "clusters", "seeds"]));
    let seed = values.one("seed")? as u64;
    for beta in [5.0, 7.0] {
        let (k, t) = published_fastest_mode(beta);
        let mut stream = Stream::new(seed, &["published-patterns", &beta.to_string()]);
        let angles: Vec<f64> = (0..N).map(|_| stream.uniform_in(0.0, TAU)).collect();
        let start = empirical(&angles, 16);
        let flow = dynamics::build("usa", false, &Spec { accuracy: 1e-9, ..Spec::new(beta, N) })?;
        let end = solve(
            &flow,
            &Tokens::from_angles(&angles)?,
            t,
            &Options { rtol: 1e-6, ..Options::default() },
            &mut [],
        )?;
        let mut bins = vec![0.0; BINS];
        for a in Tokens::normalised(2, end.tokens())?.angles() {
            bins[((a.rem_euclid(TAU) / TAU * BINS as f64) as usize).min(BINS - 1)] +=
                BINS as f64 / N as f64;
        }
        let map = FlowMap::from_series(&start, Resolution::COARSE)?
            .evolve(&MeasureDynamics::new("usa", beta, 0.0)?, t, |_, _| true)?
            .reached()?;
        for (b, (particles, equation)) in
            bins.into_iter().zip(map.volume_averages(BINS)).enumerate()
        {
            densities.rows.push(vec![
                beta,
                TAU * (b as f64 + 0.5) / BINS as f64,
                particles,
                equation,
            ]);
        }
        (0..k).for_each(|j| {
            predicted
                .rows
                .push(vec![beta, ((TAU * j as f64 - start.c[k].arg()) / k as f64).rem_euclid(TAU)])
        });
        counts.rows.extend(numbers(beta, t)?);
    }
    Ok(vec![
        ("densities".into(), densities),
        ("predicted".into(), predicted),
        ("counts".into(), counts),
    ])
}

/// The Fourier coefficients of tokens.
fn empirical(angles: &[f64], modes: usize) -> Circle {
    let coefficient = |k: usize| {
        angles
            .iter()
            .map(|a| Complex64::from_polar(1.0 / angles.len() as f64, -(k as f64) * a))
            .sum()
    };
    Circle { c: (0..=modes).map(coefficient).collect() }
}

/// The number of clusters of mass above 0.05, over 50 draws of the moments of N tokens.
fn numbers(beta: f64, t: f64) -> Result<Vec<Vec<f64>>> {
    let mut seeds = [0u32; 9];
    for seed in 0..50 {
        let text = format!("noise:amplitude={},modes=10,seed={seed}", (2.0 / N as f64).sqrt());
        let start = Circle::from_density(&Density::parse(&text)?, 16)?;
        let end = Lagrangian::on_circle(&start, 128)?
            .evolve(&MeasureDynamics::new("usa", beta, 0.0)?, t, |_, _| true)?
            .reached()?;
        let large = linkage(&end.x, 0.05)?.centres.masses().iter().filter(|m| **m > 0.05).count();
        seeds[large.min(8)] += 1;
    }
    Ok(seeds.iter().enumerate().map(|(k, s)| vec![beta, k as f64, f64::from(*s)]).collect())
}
