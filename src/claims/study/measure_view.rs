//! The measure view: growth rates, entropy over time, density with particles, distance to the mean
//! field.

use super::{LabelledTable, Parameter, Part, Study, Tables, Values, table};
use crate::attention::{Spec, TimeScale, dynamics};
use crate::continuity::{
    MeasureDynamics,
    circle::Circle,
    density::Density,
    flow_map::{FlowMap, Resolution},
    transport::w1,
};
use crate::error::Result;
use crate::flow::observable::{RunParameters, find, linear_times};
use crate::flow::{Options, Recorder, solve};
use crate::num::{bessel::scaled_bessel_i, stream::Stream};
use crate::sphere::Tokens;
use crate::theory::growth::{fastest_mode, rates_sa, rates_usa};
use std::f64::consts::TAU;

/// Tables: rates, kmax, entropy, entropy-ends, entropy-clusters, raster, particles, distance.
pub static ENTRY: Study = Study {
    name: "measure-view",
    title: "Growth rates, entropy over time, density with particles, distance to the mean field",
    citation: "arXiv:2410.23228 (growth), arXiv:2312.10794, Remark 3.3 (mean field); entropy \
        production derived",
    parts: &[&RATES, &ENTROPY, &RASTER, &DISTANCE],
};

/// Growth rates and the fastest mode.
pub static RATES: Part = Part {
    parameters: &[Parameter::real(
        "beta",
        &[5.0, 7.0],
        (0.1, 100.0),
        "inverse temperatures, one panel each",
    )],
    run: rates,
};

/// Negentropy over time.
pub static ENTROPY: Part = Part {
    parameters: &[
        Parameter::real("beta", &[5.0], (2.0, 8.0), "inverse temperature"),
        Parameter::count("seed", &[2.0], (0.0, 9e15), "seed of the noise"),
    ],
    run: entropy,
};

/// Density and particles over time.
pub static RASTER: Part = Part {
    parameters: &[
        Parameter::real("beta", &[7.0], (1.0, 12.0), "inverse temperature"),
        Parameter::real("t_end", &[14.0], (0.1, 100.0), "end time"),
        Parameter::count("seed", &[3.0], (0.0, 9e15), "seed of the noise"),
    ],
    run: raster,
};

/// Distance to the mean field.
pub static DISTANCE: Part = Part {
    parameters: &[
        Parameter::real("beta", &[3.0], (0.1, 6.0), "inverse temperature"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the draws"),
    ],
    run: distance,
};

/// Growth rates of SA, USA (in the time scale U2, so that all fit one axis) and Sinkhorn attention,
/// and the fastest mode.
fn rates(values: &Values) -> Result<Tables> {
    let mut out = table(&["beta", "k", "sa", "usa", "sinkhorn"]);
    for &beta in values.list("beta")? {
        // The fastest mode is near sqrt(2 beta).
        let most = 10.max(4 + (2.0 * beta.sqrt()).ceil() as usize);
        let (sa, usa) = (rates_sa(2, beta, most)?, rates_usa(2, beta, most, TimeScale::U2, 2)?);
        let i = scaled_bessel_i(most, beta);
        for k in 0..=most {
            let ratio = i[k] / i[0];
            out.rows.push(vec![
                beta,
                k as f64,
                sa[k],
                usa[k],
                (k * k) as f64 / beta * ratio / (1.0 + ratio),
            ]);
        }
    }
    Ok(vec![("rates".into(), out), ("kmax".into(), kmax()?)])
}

/// The fastest mode against beta for four dimensions.
fn kmax() -> Result<LabelledTable> {
    let mut out = table(&["d", "beta", "k"]);
    for d in [2usize, 3, 8, 64] {
        for j in 0..400 {
            let beta = 0.5 * 1000f64.powf(f64::from(j) / 399.0);
            let rates = rates_sa(d, beta, 60)?;
            out.rows.push(vec![d as f64, beta, fastest_mode(&rates[1..]) as f64 + 1.0]);
        }
    }
    Ok(out)
}

/// The dynamics whose entropy is followed.
pub const DYNAMICS: [&str; 2] = ["sa", "usa"];

/// Negentropy over time from a noisy start by the flow map, and its final value with that of a
/// coarser run. The time of USA is in U2.
fn entropy(values: &Values) -> Result<Tables> {
    let (beta, seed) = (values.one("beta")?, values.one("seed")? as u64);
    let (mut out, mut ends) = (
        table(&["dynamics", "t", "negentropy"]).with_labels("dynamics", DYNAMICS),
        table(&["dynamics", "negentropy", "coarser"]).with_labels("dynamics", DYNAMICS),
    );
    let mut clusters = table(&["dynamics", "mass"]).with_labels("dynamics", DYNAMICS);
    for (usa, law, end) in [(0.0, "sa", 16.0), (1.0, "usa", 90.0)] {
        let medium = MeasureDynamics::new(law, beta, 0.0)?;
        let clock = if usa > 0.5 { beta.exp() } else { 1.0 };
        let start = Circle::from_density(
            &Density::parse(&format!("noise:amplitude=0.005,modes=12,seed={seed}"))?,
            64,
        )?;
        let fine = FlowMap::from_series(&start, Resolution::FINE)?;
        out.rows.push(vec![usa, 0.0, fine.negentropy()]);
        let fine = fine.evolve(&medium, end / clock, |t, f| {
            out.rows.push(vec![usa, t * clock, f.negentropy()]);
            true
        })?;
        let coarse = FlowMap::from_series(&start, Resolution::COARSE)?.evolve(
            &medium,
            end / clock,
            |_, _| true,
        )?;
        let fine = fine.reached()?;
        clusters
            .rows
            .extend(masses(&fine.volume_averages(128)).into_iter().map(|mass| vec![usa, mass]));
        ends.rows.push(vec![usa, fine.negentropy(), coarse.reached()?.negentropy()]);
    }
    Ok(vec![
        ("entropy".into(), out),
        ("entropy-ends".into(), ends),
        ("entropy-clusters".into(), clusters),
    ])
}

/// Masses of the arcs on which averages over equal cells exceed the uniform density.
fn masses(averages: &[f64]) -> Vec<f64> {
    // Start outside every arc, so that none is cut.
    let first = averages.iter().position(|a| *a <= 1.0).unwrap_or(0);
    let around: Vec<f64> = averages[first..].iter().chain(&averages[..first]).copied().collect();
    let arcs = around.chunk_by(|a, b| (*a > 1.0) == (*b > 1.0)).filter(|arc| arc[0] > 1.0);
    arcs.map(|arc| arc.iter().sum::<f64>() / averages.len() as f64).collect()
}

/// Density over time and angle, and forty particles started at its quantiles.
fn raster(values: &Values) -> Result<Tables> {
    let (beta, end) = (values.one("beta")?, values.one("t_end")?);
    let text = format!("noise:amplitude=0.01,modes=10,seed={}", values.count("seed")?);
    let medium = MeasureDynamics::new("sa", beta, 0.0)?;
    let start = Circle::from_density(&Density::parse(&text)?, 64)?;
    let (rows, columns) = (100usize, 128usize);
    let mut raster = table(&["t", "theta", "density"]);
    let mut map = FlowMap::from_series(&start, Resolution::COARSE)?;
    for r in 0..rows {
        for (c, average) in map.volume_averages(columns).into_iter().enumerate() {
            raster.rows.push(vec![
                end * r as f64 / rows as f64,
                TAU * c as f64 / columns as f64,
                average,
            ]);
        }
        map = map.evolve(&medium, end / rows as f64, |_, _| true)?.reached()?;
    }
    let x = Tokens::from_angles(&quantiles(&start, 40))?;
    let flow = dynamics::build("sa", false, &Spec::new(beta, 40))?;
    let setting = RunParameters { n: 40, d: 2, beta };
    let mut recorder =
        Recorder::new(setting, linear_times(end, 101), false, vec![find("positions")?]);
    solve(
        &flow,
        &x,
        end,
        &Options { merge_radius: 0.0, rtol: 1e-8, ..Options::default() },
        &mut [&mut recorder],
    )?;
    let mut particles = table(&["i", "t", "theta"]);
    for i in 0..40 {
        for row in &recorder.table.rows {
            particles.rows.push(vec![
                i as f64,
                row[0],
                row[2 + 2 * i].atan2(row[1 + 2 * i]).rem_euclid(TAU),
            ]);
        }
    }
    Ok(vec![("raster".into(), raster), ("particles".into(), particles)])
}

/// Angles at the levels `(i + 1/2)/n` of the distribution function.
fn quantiles(density: &Circle, n: usize) -> Vec<f64> {
    let values = density.values(1 << 16);
    let total: f64 = values.iter().sum();
    let (mut below, mut out) = (0.0, Vec::with_capacity(n));
    for (j, v) in values.iter().enumerate() {
        let level = |k: usize| (k as f64 + 0.5) / n as f64;
        let next = below + v / total;
        while out.len() < n && level(out.len()) <= next {
            out.push(
                TAU * (j as f64 + (level(out.len()) - below) / (next - below))
                    / values.len() as f64,
            );
        }
        below = next;
    }
    out
}

/// W1 between n tokens and the density after t = 1 under SA, for random and quantile starts.
fn distance(values: &Values) -> Result<Tables> {
    let (beta, seed) = (values.one("beta")?, values.one("seed")? as u64);
    let start = Circle::from_density(&Density::parse("cos:1=0.5,2=0.2")?, 64)?;
    let end = start
        .clone()
        .evolve(&MeasureDynamics::new("sa", beta, 0.0)?, 1.0, 1024, |_, _| true)?
        .reached()?;
    let mut out = table(&["start", "n", "w1"]).with_labels("start", ["quantiles", "random"]);
    for n in [30usize, 100, 300, 1000, 3000] {
        for draw in 0..13usize {
            let mut stream =
                Stream::new(seed, &["measure-view", &n.to_string(), &draw.to_string()]);
            let angles: Vec<f64> = if draw == 0 {
                quantiles(&start, n)
            } else {
                // Rejection from the density, whose maximum is 1.7.
                let mut angles = Vec::with_capacity(n);
                while angles.len() < n {
                    let (t, u) = (stream.uniform_in(0.0, TAU), stream.uniform_in(0.0, 1.7));
                    if u < 1.0 + 0.5 * t.cos() + 0.2 * (2.0 * t).cos() {
                        angles.push(t);
                    }
                }
                angles
            };
            let flow =
                dynamics::build("sa", false, &Spec { accuracy: 1e-9, ..Spec::new(beta, n) })?;
            let tokens = solve(
                &flow,
                &Tokens::from_angles(&angles)?,
                1.0,
                &Options { merge_radius: 0.0, rtol: 1e-7, ..Options::default() },
                &mut [],
            )?;
            out.rows.push(vec![
                f64::from(u8::from(draw > 0)),
                n as f64,
                w1(&tokens.clusters.angles(), &end, 100_000),
            ]);
        }
    }
    Ok(vec![("distance".into(), out)])
}
