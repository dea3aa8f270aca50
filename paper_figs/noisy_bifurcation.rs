//! The bifurcation of noisy USA: mean against kappa, below and above beta_*.

use super::{PaperFigure, groups, only, series};
use crate::continuity::stationary::branch;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::num::stream::Stream;
use crate::study::{Parameter, Part, Study, Tables, Values, table};
use crate::theorem::claim::noise::setting::{draw_tokens, pair_mean};
use crate::theory::noise::threshold;

/// Stationary measures of noisy USA on the circle: the branch that leaves the uniform measure,
/// below and above `beta_*`.
///
/// Tables: branches, particles, star.
pub static STUDY: Study = Study {
    name: "noisy-branches",
    title: "Stationary measures of noisy USA: continuous and discontinuous transition, and \
        particles",
    citation: "Mun, Rosenzweig, arXiv:2606.05140 (abstract); branches computed by a fixed point at \
        given mean",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[Parameter::real(
        "beta",
        &BETAS,
        (0.1, 8.0),
        "inverse temperatures, one branch each",
    )],
    run,
};

/// Default inverse temperatures.
pub const BETAS: [f64; 4] = [1.0, 2.0, 3.0, 4.0];

/// Largest mean to which branches are followed.
pub const MAX_MEAN: f64 = 0.9;

/// Means at which particles are simulated, if the branch is stable there.
const MEANS: [f64; 4] = [0.4, 0.55, 0.7, 0.85];

/// Number of particles and number of runs.
pub const PARTICLES: (usize, usize) = (150, 8);

/// Simulates particles for the time 10 kappa from stable stationary densities. Rows: beta, kappa
/// over its threshold, root of the mean inner product, its standard error, mean of the density.
fn particles(beta: f64, critical: f64) -> Result<Vec<Vec<f64>>> {
    let mut rows = Vec::new();
    for mean in MEANS {
        let (low, here, high) =
            (branch(beta, mean - 0.01)?, branch(beta, mean)?, branch(beta, mean + 0.01)?);
        // Beyond a fold kappa grows along the branch. Close to the fold, samples would leave the
        // branch.
        if high.kappa < 1.004 * low.kappa {
            continue;
        }
        let mut stream = Stream::new(1, &["noisy branches", &format!("{beta} {mean}")]);
        let starts = (0..PARTICLES.1)
            .map(|_| draw_tokens(&here, PARTICLES.0, &mut stream))
            .collect::<Result<Vec<_>>>()?;
        // A particle does not attract itself: correct kappa for finite n.
        let n = PARTICLES.0 as f64;
        let (square, error) =
            pair_mean(beta, here.kappa * n / (n - 1.0), &starts, 10.0, &mut stream)?;
        let found = square.max(0.0).sqrt();
        rows.push(vec![beta, here.kappa / critical, found, error / (2.0 * found), mean]);
    }
    Ok(rows)
}

fn run(values: &Values) -> Result<Tables> {
    let mut branches = table(&["beta", "mean", "kappa_over_critical", "free_energy"]);
    let mut sampled = table(&["beta", "kappa_over_critical", "mean", "error", "stated"]);
    for &beta in values.list("beta")? {
        let critical = threshold(2, 1, beta)?;
        sampled.rows.extend(particles(beta, critical)?);
        for k in 1..=60 {
            let s = branch(beta, MAX_MEAN * f64::from(k) / 60.0)?;
            branches.rows.push(vec![beta, s.mean, s.kappa / critical, s.free_energy]);
        }
    }
    let mut star = table(&["d", "beta_star"]);
    for d in [2usize, 3, 4, 8, 16, 64] {
        star.rows.push(vec![d as f64, crate::theory::noise::beta_star(d)?]);
    }
    Ok(vec![("branches".into(), branches), ("particles".into(), sampled), ("star".into(), star)])
}

/// Smallest free energy drawn.
const MIN_FREE_ENERGY: f64 = -0.03;

/// Continuous below beta_* = 2.447, with a fold above.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "noisy-bifurcation",
    title: "Noisy USA: the mean against kappa, continuous below beta* = 2.447 and with a fold above",
    study: Some(&PART),
    draw: |inputs| {
        let table = inputs.table("branches")?;
        let mut mean = Panel::new(
            "",
            Axis::linear("\u{3ba} over the linear threshold", 0.9, 1.2),
            Axis::linear("mean", -0.03, 0.9),
        );
        let shown = super::span(
            table.column("free_energy").into_iter().filter(|f| *f >= MIN_FREE_ENERGY),
            (0.0, 0.0),
        );
        let (low, high) =
            (shown.0.min(-1e-3) * 1.05, (1.2 * shown.1).max(-0.2 * shown.0).max(1e-3));
        let mut energy =
            Panel::new("", Axis::linear("mean", 0.0, 0.9), Axis::linear("free energy", low, high));
        for (colour, (beta, rows)) in groups(table, "beta").into_iter().enumerate() {
            let branch = series(&rows, "kappa_over_critical", "mean");
            // Stable where kappa grows along the branch.
            let turn = (1..branch.len()).find(|k| branch[*k].0 > branch[k - 1].0).unwrap_or(1) - 1;
            let shown = |points: &[(f64, f64)]| {
                points.iter().copied().filter(|p| p.0 <= 1.2).collect::<Vec<_>>()
            };
            mean.line(shown(&branch[..=turn]), colour, Dash::Dotted, "");
            mean.line(shown(&branch[turn..]), colour, Dash::Solid, format!("\u{3b2} = {beta}"));
            let sampled = only(inputs.table("particles")?, "beta", beta);
            mean.points(shown(&series(&sampled, "kappa_over_critical", "mean")), colour, 2.4, "");
            let depths = series(&rows, "mean", "free_energy")
                .into_iter()
                .filter(|p| p.1 >= MIN_FREE_ENERGY)
                .collect();
            energy.line(depths, colour, Dash::Solid, format!("\u{3b2} = {beta}"));
        }
        mean.line(vec![(0.9, 0.0), (1.0, 0.0)], 6, Dash::Solid, "uniform");
        mean.line(vec![(1.0, 0.0), (1.2, 0.0)], 6, Dash::Dotted, "");
        mean.legend = Some(Corner::BottomRight);
        energy.legend = Some(Corner::TopLeft);
        let caption = format!(
            "Left: stationary measures of noisy USA on the circle, their mean against kappa over \
            the threshold kappa_c of the first mode; dotted: unstable. The uniform measure (mean \
            0) is stable below the threshold. Branches are followed to mean {} and to kappa 1.2 \
            times the threshold, where the axis ends. Markers: {} particles sampled from the \
            density and simulated for the time 10 kappa, the root of their mean inner product in \
            {} runs (standard errors up to about the size of the markers). Above beta_* = 2.447 \
            the branch turns back and the transition is discontinuous. Right: free energy along \
            the branches at their own kappa, below 0 where the clustered measure is preferred.",
            MAX_MEAN, PARTICLES.0, PARTICLES.1
        );
        Ok(Picture { panels: vec![mean, energy], columns: 2, aspect: 0.8, caption })
    },
    ..PaperFigure::EMPTY
};
