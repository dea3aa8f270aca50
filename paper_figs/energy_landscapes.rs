//! The energies of three tokens on the circle under three interactions.

use super::PaperFigure;
use crate::attention::interaction::{Interaction, InteractionEnergy};
use crate::draw::{Axis, Mark, Panel, Picture, with_powers};
use crate::error::Result;
use crate::sphere::Tokens;
use crate::study::{Parameter, Part, Tables, Values, table};
use std::f64::consts::{PI, TAU};

/// The interactions whose energies are computed.
pub const INTERACTIONS: [&str; 3] = ["exp(4*s)", "s^2", "s^3"];

/// The energies of three tokens, one of them at the angle 0.
pub static PART: Part = Part {
    parameters: &[Parameter::count("grid", &[72.0], (8.0, 400.0), "angles in each direction")],
    run: landscapes,
};

fn landscapes(values: &Values) -> Result<Tables> {
    let grid = values.count("grid")?;
    let mut out = table(&["interaction", "second", "third", "energy"])
        .with_labels("interaction", INTERACTIONS);
    for (kind, text) in INTERACTIONS.into_iter().enumerate() {
        let energy = InteractionEnergy::new(Interaction::parse(text, &[])?);
        let angle = |k: usize| TAU * k as f64 / grid as f64 - PI;
        for (i, j) in (0..=grid).flat_map(|i| (0..=grid).map(move |j| (i, j))) {
            let (a, b) = (angle(i), angle(j));
            let value = energy.value(&Tokens::from_angles(&[0.0, a, b])?);
            out.rows.push(vec![kind as f64, a, b, value]);
        }
    }
    Ok(vec![("energies".into(), out)])
}

/// One panel for each interaction.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "energy-landscapes",
    title: "Energies of three tokens on the circle under three interactions",
    study: Some(&PART),
    draw: |inputs| {
        let all = inputs.table("energies")?;
        let mut panels = Vec::new();
        for name in INTERACTIONS {
            let rows = all.only("interaction", name);
            let found = rows.column("energy");
            let n = (found.len() as f64).sqrt().round() as usize;
            let least = found.iter().copied().fold(f64::INFINITY, f64::min);
            let most = found.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let step = 360.0 / (n as f64 - 1.0);
            let edges: Vec<f64> = (0..=n).map(|k| step * (k as f64 - 0.5) - 180.0).collect();
            let (first, last) = (edges[0], edges[n]);
            let share = |e: &f64| (e - least) / (most - least);
            let values = found.chunks(n).map(|row| row.iter().map(share).collect()).collect();
            let angle = |what: &str| Axis::linear(what, first, last);
            let mut panel = Panel::new(
                format!("\u{3c6}(s) = {}", with_powers(&name.replace('*', " "))),
                angle("angle 3 (degrees)"),
                angle("angle 2 (degrees)"),
            );
            panel.marks.push(Mark::Heat {
                x: edges.clone(),
                y: edges,
                values,
                shade: Axis::linear("energy, from least to largest", 0.0, 1.0),
            });
            panels.push(panel);
        }
        let caption = "Energies E = (1/2) sum_ij m_i m_j W(<x_i, x_j>), W' = phi, of three equal \
            tokens on the circle, the first one at the angle 0. Tokens under USA climb. exp(4s) \
            has one maximum, consensus, and saddles; s^2 has two more maxima, the regular triangle \
            and its mirror image; the energy of s^3 does not change if a token is replaced by its \
            opposite, so it has four maxima.";
        Ok(Picture { panels, columns: 3, aspect: 1.0, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};
