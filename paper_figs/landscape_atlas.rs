//! An atlas of a landscape on the circle: every critical point as a picture, and where its unstable
//! directions lead.

use super::connections::{covering, horizontal_positions};
use super::{PaperFigure, columns};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use std::f64::consts::TAU;

/// Radius of the circles, in units of the distance of rows.
const RADIUS: f64 = 0.27;
/// Width of the panel, in the same unit.
const WIDTH: f64 = 4.2;

/// All critical points of four or five tokens on the circle.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "landscape-atlas",
    title: "All critical points of five tokens on the circle, as pictures",
    study: Some(&crate::study::landscape_tour::ATLAS),
    draw: |inputs| {
        let points = inputs.table("points")?;
        let (level, energy) = (points.column("unstable"), points.column("log_energy"));
        let links = covering(&columns(inputs.table("links")?, ["from", "to"])?);
        let across = horizontal_positions(&level, &links);
        let most = level.iter().copied().fold(0.0, f64::max);
        let place = |k: usize| (WIDTH * across[k], level[k]);
        let mut panel =
            Panel::new("", Axis::linear("", -0.6, WIDTH + 0.6), Axis::linear("", -0.5, most + 0.5));
        panel.hides_axes = true;
        for (dash, label) in
            [(Dash::Solid, "one unstable direction fewer"), (Dash::Dotted, "two or more fewer")]
        {
            let far = dash == Dash::Dotted;
            let drawn = links.iter().filter(|(a, b)| (level[*a] - level[*b] > 1.5) == far);
            for (k, (a, b)) in drawn.enumerate() {
                let ends = between(place(*a), place(*b));
                panel.line(ends, 2, dash, if k == 0 { label } else { "" });
            }
        }
        let tokens = columns(inputs.table("places")?, ["point", "angle", "size"])?;
        for (k, log_energy) in energy.iter().enumerate() {
            let (x, y) = place(k);
            let on_circle = |angle: f64| (x + RADIUS * angle.cos(), y + RADIUS * angle.sin());
            let circle = (0..=72).map(|q| on_circle(TAU * f64::from(q) / 72.0)).collect();
            panel.line(circle, 7, Dash::Solid, "");
            for [_, angle, size] in tokens.iter().filter(|t| t[0] as usize == k) {
                // The area of a disc is proportional to its number of tokens.
                panel.points(vec![on_circle(*angle)], 0, 2.2 * size.sqrt(), "");
            }
            panel.marks.push(Mark::Text {
                at: (x + 1.25 * RADIUS, y),
                text: format!("{} ({:.3})", level[k], log_energy.exp()),
            });
        }
        panel.legend = Some(Corner::TopRight);
        let caption = format!(
            "All critical points of E_beta for {} tokens on the circle at beta = {}, in rows by \
            their unstable directions. The area of a disc is proportional to its number of tokens. \
            Beside each: its number of unstable directions, and in brackets its energy over that of \
            one cluster. Lines: both sides of each unstable direction followed by SA, downwards, to \
            a steady state (dotted: to a point with at least two unstable directions fewer); lines \
            that follow from others are left out. Positions within a row have no meaning.",
            inputs.values.count("n")?,
            inputs.values.one("beta")?
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.95, caption })
    },
    ..PaperFigure::EMPTY
};

/// The part of a line between the circles about its ends.
fn between(a: (f64, f64), b: (f64, f64)) -> Vec<(f64, f64)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx.hypot(dy).max(f64::MIN_POSITIVE);
    let cut = (1.2 * RADIUS / length).min(0.5);
    vec![(a.0 + cut * dx, a.1 + cut * dy), (b.0 - cut * dx, b.1 - cut * dy)]
}
