//! The graph of connections between critical points.

use super::PaperFigure;
use crate::draw::{Axis, Dash, Mark, Panel, Picture};

/// Critical points of five tokens on the circle and who falls into whom.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "connections",
    title: "Critical points of five tokens on the circle and who falls into whom",
    redraws: &[],
    experiments: &[],
    full: &[],
    cells: None,
    study: Some(&crate::study::landscape_tour::GRAPH),
    parameters: &[],
    hidden: false,
    quick: false,
    draw: |inputs| {
        let points = inputs.table("points")?;
        let (level, energy) = (points.column("unstable"), points.column("log_energy"));
        let most = level.iter().copied().fold(0.0, f64::max);
        let place = |k: usize| (level[k], energy[k].exp());
        let mut panel = Panel::new("", Axis::whole("unstable directions", -0.5, most + 0.9), Axis::linear("energy / maximum", 0.0, 1.08));
        let links = inputs.table("links")?;
        let mut drawn: Vec<(usize, usize)> = Vec::new();
        for row in &links.rows {
            let (a, b) = (row[0] as usize, row[1] as usize);
            if !drawn.contains(&(a, b)) {
                panel.line(vec![place(a), place(b)], 2, if level[a] - level[b] > 1.5 { Dash::Dotted } else { Dash::Solid }, "");
                drawn.push((a, b));
            }
        }
        panel.marks.push(Mark::Points { points: (0..level.len()).map(place).collect(), colour: 0, radius: 3.0, label: String::new() });
        for k in 0..level.len() {
            let (x, y) = place(k);
            let sizes = (1..=7).map(|c| points.column(&format!("size_{c}"))[k]).filter(|s| *s > 0.0);
            let text = sizes.map(|s| s.to_string()).collect::<Vec<_>>().join("+");
            panel.marks.push(Mark::Text { at: (x, y), text });
        }
        let caption = format!(
            "Critical points of E_beta for {} tokens on the circle at beta = {}, with cluster sizes; lines: both ends of each unstable direction followed by SA to rest (dotted: more than one index down).",
            inputs.values.count("n")?,
            inputs.values.one("beta")?
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.6, caption })
    },
};
