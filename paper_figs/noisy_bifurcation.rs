//! The bifurcation of noisy USA: mean against kappa, below and above beta_*.

use super::{PaperFigure, groups, only, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::study::noisy_branches::{MAX_MEAN, PARTICLES};

/// Smallest free energy drawn.
const MIN_FREE_ENERGY: f64 = -0.03;

/// Continuous below beta_* = 2.447, with a fold above.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "noisy-bifurcation",
    title: "Noisy USA: the mean against kappa, continuous below beta* = 2.447 and with a fold above",
    study: Some(&crate::study::noisy_branches::PART),
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
