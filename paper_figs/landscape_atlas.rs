//! An atlas of a landscape on the circle: every critical point as a picture, and where its unstable
//! directions lead.

use super::connections::{Graph, connected, links};
use super::{PaperFigure, columns};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::error::Result;
use crate::study::{Parameter, Part, Tables, Values, table};
use std::f64::consts::TAU;

/// Critical points on the circle with the places of their clusters, and their connections.
pub static PART: Part = Part {
    parameters: &[
        Parameter::real("beta", &[6.0], (0.5, 50.0), "inverse temperature"),
        Parameter::count("n", &[5.0], (3.0, 6.0), "tokens"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the search"),
    ],
    run: atlas,
};

/// Critical points, their clusters by angle from the largest one at the top, and connections.
fn atlas(values: &Values) -> Result<Tables> {
    let (found, edges) = connected(values)?;
    let mut points = table(&["point", "log_energy", "unstable", "clusters"]);
    let mut places = table(&["point", "angle", "size"]);
    for (k, p) in found.points.iter().enumerate() {
        let unstable = p.spectrum.unstable as f64;
        points.rows.push(vec![k as f64, p.log_energy, unstable, p.clusters.n() as f64]);
        let angles = p.clusters.angles();
        let largest = (0..angles.len()).rev().max_by_key(|q| p.sizes[*q]).unwrap_or_default();
        for (angle, size) in angles.iter().zip(&p.sizes) {
            places.rows.push(vec![
                k as f64,
                angle - angles[largest] + std::f64::consts::FRAC_PI_2,
                *size as f64,
            ]);
        }
    }
    Ok(vec![("points".into(), points), ("places".into(), places), ("links".into(), links(&edges))])
}

/// Radius of the circles, in units of the distance of rows.
const RADIUS: f64 = 0.27;

/// How far a line over several rows bends towards the middle, so that it passes beside the circles
/// between, in the same unit.
const BEND: f64 = 0.7;

/// All critical points of five tokens on the circle.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "landscape-atlas",
    title: "All critical points of five tokens on the circle, as pictures",
    study: Some(&PART),
    draw: |inputs| {
        let graph = Graph::read(inputs)?;
        let (level, most) = (&graph.level, graph.most);
        // Both axes have the same scale.
        let place = |k: usize| (most * graph.across[k], level[k]);
        let axis = || Axis::linear("", -0.5, most + 0.5);
        let mut panel = Panel::new("", axis(), axis());
        panel.hides_axes = true;
        graph.draw_links(&mut panel, |a, b, far| {
            between(place(a), place(b), if far { BEND } else { 0.0 }, 0.5 * most)
        });
        let tokens = columns(inputs.table("places")?, ["point", "angle", "size"])?;
        for (k, log_energy) in graph.log_energy.iter().enumerate() {
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
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 1.0, caption })
    },
    ..PaperFigure::EMPTY
};

/// A line from a to b, bent by a distance towards a vertical line, without the parts near its ends.
fn between(a: (f64, f64), b: (f64, f64), bend: f64, middle: f64) -> Vec<(f64, f64)> {
    let towards = if 0.5 * (a.0 + b.0) > middle { -1.0 } else { 1.0 };
    let at = |k: i32| {
        let t = f64::from(k) / 48.0;
        let x = a.0 + t * (b.0 - a.0) + 4.0 * t * (1.0 - t) * towards * bend;
        (x, a.1 + t * (b.1 - a.1))
    };
    let free = |p: &(f64, f64), end: (f64, f64)| (p.0 - end.0).hypot(p.1 - end.1) > 1.2 * RADIUS;
    (0..=48).map(at).filter(|p| free(p, a) && free(p, b)).collect()
}
