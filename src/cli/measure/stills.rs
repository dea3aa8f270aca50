//! A film of a density: what it looked like at the ends of steps.

use crate::cli::film::Reel;
use crate::cli::output::{note, rounded};
use crate::cli::progress;
use crate::draw::{Axis, Dash, Mark, Panel, Picture};
use crate::error::Result;
use std::f64::consts::TAU;

/// Frames of a film.
const FRAMES: usize = 120;

/// Values on equispaced angles (one ring) or on rings of latitude, north first.
pub(super) struct Still {
    pub(super) t: f64,
    pub(super) values: Vec<f64>,
    pub(super) rings: usize,
}

/// Stills at equal distances in time: `next` gives the one at t, moves on by dt, and says whether it got there.
pub(super) fn stills(t_end: f64, mut next: impl FnMut(f64, f64) -> Result<(Still, bool)>) -> Result<Vec<Still>> {
    let (dt, mut out) = (t_end / (FRAMES - 1) as f64, Vec::new());
    for k in 0..FRAMES {
        progress::report(Some(k as f64 / FRAMES as f64), || format!("still {k} of {FRAMES} for the film"));
        let (still, reached) = next(dt * k as f64, dt)?;
        out.push(still);
        if !reached {
            break;
        }
    }
    Ok(out)
}

/// Writes the film.
pub(super) fn write(stills: &[Still], reel: &Reel, beta: f64, t_end: f64) -> Result<()> {
    let top = stills.iter().flat_map(|s| &s.values).copied().fold(0.0, f64::max);
    reel.write("movie of a density", stills.len(), |k| picture(&stills[k], top, beta))?;
    note(&format!("{} frames of the density", stills.len()));
    if let Some(last) = stills.last().filter(|_| stills.len() < FRAMES) {
        note(&format!("the film ends at t = {} of {t_end}: there the series was given up", last.t));
    }
    Ok(())
}

fn picture(still: &Still, top: f64, beta: f64) -> Picture {
    let panels = if still.rings == 1 { vec![ring(still, top), profile(still, top, beta)] } else { vec![map(still, beta)] };
    let columns = panels.len();
    Picture { panels, columns, aspect: if columns == 2 { 0.8 } else { 0.5 }, caption: String::new() }
}

/// The density as a hill around the circle.
fn ring(still: &Still, top: f64) -> Panel {
    let mut panel = Panel::new(format!("t = {}", rounded(still.t, 4)), Axis::linear("", -1.55, 1.55), Axis::linear("", -1.55, 1.55));
    panel.bare = true;
    panel.marks.push(Mark::Circle);
    let n = still.values.len();
    let point = |k: usize| {
        let (angle, r) = (TAU * (k % n) as f64 / n as f64, 1.0 + 0.5 * still.values[k % n] / top);
        (r * angle.cos(), r * angle.sin())
    };
    panel.line((0..=n).map(point).collect(), 0, Dash::Solid, "");
    panel
}

/// The density against the angle, relative to the uniform one.
fn profile(still: &Still, top: f64, beta: f64) -> Panel {
    let title = format!("\u{3b2} = {beta}");
    let mut panel = Panel::new(title, Axis::linear("angle", 0.0, TAU), Axis::linear("density (uniform: 1)", 0.0, 1.05 * top));
    let n = still.values.len();
    panel.line((0..=n).map(|k| (TAU * k as f64 / n as f64, still.values[k % n])).collect(), 0, Dash::Solid, "");
    panel
}

/// The density on S^2 by longitude and height, a map that keeps areas.
fn map(still: &Still, beta: f64) -> Panel {
    let columns = still.values.len() / still.rings;
    let heights = crate::num::quadrature::gauss_legendre(still.rings);
    let mut edges: Vec<f64> = vec![1.0];
    heights.iter().for_each(|(_, w)| edges.push(edges[edges.len() - 1] - w));
    edges.reverse();
    let rows: Vec<Vec<f64>> = still.values.chunks(columns).rev().map(<[f64]>::to_vec).collect();
    let x: Vec<f64> = (0..=columns).map(|k| TAU * k as f64 / columns as f64).collect();
    let title = format!("t = {}, \u{3b2} = {beta}", rounded(still.t, 4));
    let mut panel = Panel::new(title, Axis::linear("longitude", 0.0, TAU), Axis::linear("height", -1.0, 1.0));
    panel.marks.push(Mark::Heat { x, y: edges, values: rows, shade: Axis::saturating("density (uniform: 1)") });
    panel
}
