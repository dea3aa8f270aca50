//! A movie of a density.

use super::writer::MovieWriter;
use crate::cli::output::{note, rounded};
use crate::cli::progress;
use crate::draw::{Axis, Dash, Mark, Panel, Picture};
use crate::error::Result;
use std::f64::consts::TAU;

const FRAMES: usize = 120;

/// Values of a density at equispaced angles: on the circle (one ring), or on circles of latitude,
/// north first.
pub struct DensityFrame {
    pub t: f64,
    pub values: Vec<f64>,
    pub rings: usize,
}

/// Frames at equidistant times. `next(t, dt)` yields the frame at t, integrates to t + dt, and says
/// whether it got there.
pub fn density_frames(
    t_end: f64,
    mut next: impl FnMut(f64, f64) -> Result<(DensityFrame, bool)>,
) -> Result<Vec<DensityFrame>> {
    let (dt, mut out) = (t_end / (FRAMES - 1) as f64, Vec::new());
    for k in 0..FRAMES {
        progress::report(Some(k as f64 / FRAMES as f64), || {
            format!("frame {k} of {FRAMES} of the movie")
        });
        let (frame, reached) = next(dt * k as f64, dt)?;
        out.push(frame);
        if !reached {
            break;
        }
    }
    Ok(out)
}

/// Writes the movie.
pub fn write(frames: &[DensityFrame], writer: &MovieWriter, title: &str, t_end: f64) -> Result<()> {
    let top = frames.iter().flat_map(|s| &s.values).copied().fold(0.0, f64::max);
    writer.write(frames.len(), |k| picture(&frames[k], top, title))?;
    note(&format!("{} frames of the density", frames.len()));
    if let Some(last) = frames.last().filter(|_| frames.len() < FRAMES) {
        note(&format!(
            "the movie ends at t = {} of {t_end}: the series needed too many modes there",
            last.t
        ));
    }
    Ok(())
}

fn picture(frame: &DensityFrame, top: f64, title: &str) -> Picture {
    let panels = if frame.rings == 1 {
        vec![ring(frame, top), profile(frame, top, title)]
    } else {
        vec![map(frame, title)]
    };
    let columns = panels.len();
    Picture {
        panels,
        columns,
        aspect: if columns == 2 { 0.8 } else { 0.5 },
        caption: String::new(),
    }
}

/// The density as height above the circle.
fn ring(frame: &DensityFrame, top: f64) -> Panel {
    let mut panel = Panel::new(
        format!("t = {}", rounded(frame.t, 4)),
        Axis::linear("", -1.55, 1.55),
        Axis::linear("", -1.55, 1.55),
    );
    panel.hides_axes = true;
    panel.marks.push(Mark::Circle);
    let n = frame.values.len();
    let point = |k: usize| {
        let (angle, r) = (TAU * (k % n) as f64 / n as f64, 1.0 + 0.5 * frame.values[k % n] / top);
        (r * angle.cos(), r * angle.sin())
    };
    panel.line((0..=n).map(point).collect(), 0, Dash::Solid, "");
    panel
}

/// The density over the angle, relative to the uniform density.
fn profile(frame: &DensityFrame, top: f64, title: &str) -> Panel {
    let mut panel = Panel::new(
        title,
        Axis::linear("angle", 0.0, TAU),
        Axis::linear("density (uniform: 1)", 0.0, 1.05 * top),
    );
    let n = frame.values.len();
    panel.line(
        (0..=n).map(|k| (TAU * k as f64 / n as f64, frame.values[k % n])).collect(),
        0,
        Dash::Solid,
        "",
    );
    panel
}

/// The density on S^2 over longitude and height: this map preserves areas.
fn map(frame: &DensityFrame, title: &str) -> Panel {
    let columns = frame.values.len() / frame.rings;
    let heights = crate::num::quadrature::gauss_legendre(frame.rings);
    let mut edges: Vec<f64> = vec![1.0];
    heights.iter().for_each(|(_, w)| edges.push(edges[edges.len() - 1] - w));
    edges.reverse();
    let rows: Vec<Vec<f64>> = frame.values.chunks(columns).rev().map(<[f64]>::to_vec).collect();
    let x: Vec<f64> = (0..=columns).map(|k| TAU * k as f64 / columns as f64).collect();
    let title = format!("t = {}, {title}", rounded(frame.t, 4));
    let mut panel =
        Panel::new(title, Axis::linear("longitude", 0.0, TAU), Axis::linear("height", -1.0, 1.0));
    panel.marks.push(Mark::Heat {
        x,
        y: edges,
        values: rows,
        shade: Axis::saturating("density (uniform: 1)"),
    });
    panel
}
