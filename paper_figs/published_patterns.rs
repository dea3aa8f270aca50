//! Clusters that form from random tokens: particles, continuity equation, predicted positions.

use super::{FigureReference, PaperFigure, PublishedFigure, only, series};
use crate::attention::{Spec, dynamics};
use crate::clusters::linkage::linkage;
use crate::continuity::MeasureDynamics;
use crate::continuity::circle::Circle;
use crate::continuity::density::Density;
use crate::continuity::flow_map::{FlowMap, Resolution};
use crate::continuity::lagrangian::Lagrangian;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::num::fft::Complex64;
use crate::num::stream::Stream;
use crate::sphere::Tokens;
use crate::study::{Parameter, Part, Study, Tables, Values, table};
use crate::theory::growth::published_fastest_mode;
use std::f64::consts::TAU;

/// The published experiments on clusters from noise: 20000 iid tokens compared with the continuity
/// equation, USA at beta = 5 and 7.
///
/// Tables: densities, predicted, counts.
pub static STUDY: Study = Study {
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

/// Histograms at beta = 5 and 7 as published; below, how many clusters form.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "published-patterns",
    title: "Clusters from 20000 iid tokens: histogram, continuity equation, predicted places",
    redraws: &[PublishedFigure {
        paper: "2410.23228",
        place: FigureReference::Unnumbered("figures of particles (numbers not read)"),
        shows: "histograms of 20000 tokens at beta = 5 and 7",
        differs: "another random stream; the equation by a spectral method in place of \
            Lax-Friedrichs",
    }],
    study: Some(&PART),
    draw: |inputs| {
        let (densities, predicted, counts) =
            (inputs.table("densities")?, inputs.table("predicted")?, inputs.table("counts")?);
        let mut panels = Vec::new();
        for (beta, k, t) in [(5.0, 3, 0.3), (7.0, 4, 0.045)] {
            let rows = only(densities, "beta", beta);
            let bins: Vec<f64> =
                rows.column("particles").into_iter().map(|v| v.max(1e-2)).collect();
            let title = format!("\u{3b2} = {beta}, t = {t}, fastest mode {k}");
            let mut panel = Panel::new(
                title,
                Axis::linear("\u{3b8}", 0.0, TAU),
                Axis::log("density", 1e-2, 1e4),
            );
            let edges = (0..=bins.len()).map(|b| TAU * b as f64 / bins.len() as f64).collect();
            panel.steps((edges, bins), 0, true, "tokens");
            let equation = series(&rows, "theta", "equation")
                .into_iter()
                .map(|(t, v)| (t, v.max(1e-2)))
                .collect();
            panel.line(equation, 1, Dash::Solid, "equation");
            for (j, place) in only(predicted, "beta", beta).column("theta").into_iter().enumerate()
            {
                panel.line(
                    vec![(place, 1e-2), (place, 200.0)],
                    2,
                    Dash::Dashed,
                    if j == 0 { "predicted" } else { "" },
                );
            }
            panel.legend = Some(Corner::TopRight);
            panels.push(panel);
        }
        for beta in [5.0, 7.0] {
            let values = only(counts, "beta", beta).column("seeds");
            let mut panel = Panel::new(
                format!("\u{3b2} = {beta}, 50 seeds"),
                Axis::integer("number of clusters", -0.5, 8.5),
                Axis::linear("seeds", 0.0, 50.0),
            );
            let edges = (0..=values.len()).map(|k| k as f64 - 0.5).collect();
            panel.steps((edges, values), 0, true, "");
            panels.push(panel);
        }
        let caption = "USA on the circle from 20000 iid uniform tokens at the published times: \
            histogram of the tokens (100 bins), the continuity equation started from their own \
            first 16 moments, and the places (2 pi j - arg mu_k)/k of the fastest mode. Below: how \
            many clusters form over 50 draws of the moments. Neighbouring modes are outgrown by a \
            factor of two only, so places and numbers scatter.";
        Ok(Picture { panels, columns: 2, aspect: 0.75, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};
