//! Draws a picture on any plotters backend, in pixels of a given resolution.

use super::axis::Axis;
use super::palette::{category, sequential};
use super::picture::{Corner, Dash, Mark, Panel, Picture};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The family name under which the embedded font is registered.
pub const FAMILY: &str = "metastable-sans";

type Area<'a, DB> = DrawingArea<DB, Shift>;
type Drawn<E> = Result<(), DrawingAreaErrorKind<E>>;

/// Geometry of one rendering: pixels per point.
#[derive(Clone, Copy)]
pub struct Unit(pub f64);

impl Unit {
    /// Points to whole pixels.
    fn px(self, points: f64) -> i32 {
        (points * self.0).round() as i32
    }

    fn stroke(self, colour: RGBColor, points: f64) -> ShapeStyle {
        ShapeStyle::from(&colour).stroke_width(self.px(points).max(1) as u32)
    }

    fn font(self, points: f64) -> TextStyle<'static> {
        // plotters sizes a font by its ascent minus descent, 1.24 times the nominal size.
        (FAMILY, points * self.0 * 1.24).into_font().color(&BLACK)
    }
}

/// Pixel height of a picture of the given pixel width.
pub fn height(picture: &Picture, width: u32, unit: Unit) -> u32 {
    let columns = picture.columns.max(1);
    let rows = picture.panels.len().div_ceil(columns).max(1);
    let cell = f64::from(width) / columns as f64;
    let panel = if picture.panels.iter().all(|p| p.bare) {
        cell + unit.0 * TOP
    } else {
        (cell - unit.0 * (LEFT + RIGHT)) * picture.aspect + unit.0 * (TOP + BOTTOM)
    };
    (panel * rows as f64).round() as u32
}

const LEFT: f64 = 38.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 26.0;

/// Draws all panels.
pub fn draw<DB: DrawingBackend>(picture: &Picture, root: &Area<DB>, unit: Unit) -> Drawn<DB::ErrorType> {
    root.fill(&WHITE)?;
    let columns = picture.columns.max(1);
    let rows = picture.panels.len().div_ceil(columns).max(1);
    let cells = root.split_evenly((rows, columns));
    for (k, (panel, area)) in picture.panels.iter().zip(&cells).enumerate() {
        let letter = if picture.panels.len() > 1 { format!("({}) ", char::from(b'a' + (k % 26) as u8)) } else { String::new() };
        draw_panel(panel, area, unit, &letter)?;
    }
    root.present()
}

/// Pixel frame of the data region.
struct Frame<'p> {
    x: &'p Axis,
    y: &'p Axis,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame<'_> {
    fn at(&self, p: (f64, f64)) -> Option<(i32, i32)> {
        let (u, v) = (self.x.position(p.0), self.y.position(p.1));
        // Far outside points would overflow pixel coordinates; lines are cut at a margin instead.
        (u.is_finite() && v.is_finite()).then(|| {
            let (u, v) = (u.clamp(-0.002, 1.002), v.clamp(-0.002, 1.002));
            ((self.left + u * (self.right - self.left)).round() as i32, (self.bottom - v * (self.bottom - self.top)).round() as i32)
        })
    }
}

fn draw_panel<DB: DrawingBackend>(panel: &Panel, area: &Area<DB>, unit: Unit, letter: &str) -> Drawn<DB::ErrorType> {
    let (w, h) = area.dim_in_pixel();
    let mut frame = Frame {
        x: &panel.x,
        y: &panel.y,
        left: unit.0 * LEFT,
        right: f64::from(w) - unit.0 * RIGHT,
        top: unit.0 * TOP,
        bottom: f64::from(h) - unit.0 * BOTTOM,
    };
    if panel.bare {
        // No axes: the largest square below the title.
        let (room, floor) = (f64::from(w) - 6.0 * unit.0, f64::from(h) - 3.0 * unit.0);
        let side = room.min(floor - frame.top);
        let (cx, cy) = (0.5 * f64::from(w), 0.5 * (frame.top + floor));
        (frame.left, frame.right, frame.top, frame.bottom) = (cx - side / 2.0, cx + side / 2.0, cy - side / 2.0, cy + side / 2.0);
    }
    for mark in &panel.marks {
        draw_mark(mark, &frame, area, unit)?;
    }
    if !panel.bare {
        draw_axes(panel, &frame, area, unit)?;
    }
    let title = unit.font(8.0).pos(Pos::new(HPos::Left, VPos::Bottom));
    let start = if panel.bare { unit.px(4.0) } else { frame.left as i32 };
    area.draw(&Text::new(format!("{letter}{}", panel.title), (start, unit.px(TOP - 3.0)), title))?;
    match panel.legend {
        Some(corner) => draw_legend(panel, corner, &frame, area, unit),
        None => Ok(()),
    }
}

fn draw_axes<DB: DrawingBackend>(panel: &Panel, f: &Frame, area: &Area<DB>, unit: Unit) -> Drawn<DB::ErrorType> {
    let line = |a: (f64, f64), b: (f64, f64)| {
        PathElement::new(vec![(a.0.round() as i32, a.1.round() as i32), (b.0.round() as i32, b.1.round() as i32)], unit.stroke(BLACK, 0.5))
    };
    area.draw(&line((f.left, f.bottom), (f.right, f.bottom)))?;
    area.draw(&line((f.left, f.bottom), (f.left, f.top)))?;
    let tick = 2.5 * unit.0;
    let below = unit.font(7.0).pos(Pos::new(HPos::Center, VPos::Top));
    let beside = unit.font(7.0).pos(Pos::new(HPos::Right, VPos::Center));
    let room = ((f.right - f.left) / unit.0 / 34.0) as usize;
    for (v, label) in panel.x.ticks(room.clamp(2, 8)) {
        let x = f.left + panel.x.position(v) * (f.right - f.left);
        area.draw(&line((x, f.bottom), (x, f.bottom + tick)))?;
        area.draw(&Text::new(label, (x.round() as i32, (f.bottom + 1.4 * tick) as i32), below.clone()))?;
    }
    let room = ((f.bottom - f.top) / unit.0 / 20.0) as usize;
    for (v, label) in panel.y.ticks(room.clamp(2, 7)) {
        let y = f.bottom - panel.y.position(v) * (f.bottom - f.top);
        area.draw(&line((f.left, y), (f.left - tick, y)))?;
        area.draw(&Text::new(label, ((f.left - 1.6 * tick) as i32, y.round() as i32), beside.clone()))?;
    }
    let (_, h) = area.dim_in_pixel();
    let centre = (0.5 * (f.left + f.right)) as i32;
    let label = unit.font(8.0).pos(Pos::new(HPos::Center, VPos::Bottom));
    area.draw(&Text::new(panel.x.label.clone(), (centre, h as i32 - unit.px(2.0)), label))?;
    let label = unit.font(8.0).transform(FontTransform::Rotate270).pos(Pos::new(HPos::Center, VPos::Top));
    area.draw(&Text::new(panel.y.label.clone(), (unit.px(3.5), (0.5 * (f.top + f.bottom)) as i32), label))
}

fn draw_mark<DB: DrawingBackend>(mark: &Mark, f: &Frame, area: &Area<DB>, unit: Unit) -> Drawn<DB::ErrorType> {
    match mark {
        Mark::Line { points, colour, dash, .. } => {
            let style = unit.stroke(category(*colour), 1.0);
            for piece in points.split(|p| !(p.0.is_finite() && p.1.is_finite())) {
                let mut pixels: Vec<(i32, i32)> = piece.iter().filter_map(|p| f.at(*p)).collect();
                pixels.dedup();
                polyline(&pixels, *dash, style, area, unit)?;
            }
            Ok(())
        }
        Mark::Points { points, colour, radius, .. } => {
            let colour_of = category(*colour);
            let style = if colour % 2 == 0 { ShapeStyle::from(&colour_of).filled() } else { unit.stroke(colour_of, 0.8) };
            points.iter().filter_map(|p| f.at(*p)).try_for_each(|p| area.draw(&Circle::new(p, unit.px(*radius).max(1), style)))
        }
        Mark::Heat { x, y, values } => {
            for (row, edge) in values.iter().zip(y.windows(2)) {
                // Runs of one colour are one rectangle: smaller files, no seams.
                let mut start = 0;
                for c in 0..row.len() {
                    let colour = sequential(row[c]);
                    if c + 1 < row.len() && sequential(row[c + 1]) == colour {
                        continue;
                    }
                    if let (Some(a), Some(b)) = (f.at((x[start], edge[1])), f.at((x[c + 1], edge[0]))) {
                        area.draw(&Rectangle::new([a, b], ShapeStyle::from(&colour).filled()))?;
                    }
                    start = c + 1;
                }
            }
            Ok(())
        }
        Mark::Steps { edges, values, colour, filled, .. } => {
            let mut outline = Vec::new();
            for (v, side) in values.iter().zip(edges.windows(2)) {
                if let (true, Some(a), Some(b)) = (*filled, f.at((side[0], *v)), f.at((side[1], f.y.low))) {
                    area.draw(&Rectangle::new([a, b], ShapeStyle::from(&category(*colour).mix(0.25)).filled()))?;
                }
                outline.extend([(side[0], *v), (side[1], *v)]);
            }
            let pixels: Vec<(i32, i32)> = outline.iter().filter_map(|p| f.at(*p)).collect();
            polyline(&pixels, Dash::Solid, unit.stroke(category(*colour), 0.9), area, unit)
        }
        Mark::Circle => {
            let ring: Vec<(i32, i32)> =
                (0..=240).map(|k| std::f64::consts::TAU * f64::from(k) / 240.0).filter_map(|a| f.at((a.cos(), a.sin()))).collect();
            area.draw(&PathElement::new(ring, unit.stroke(RGBColor(150, 150, 150), 0.6)))
        }
        Mark::Text { at, text } => match f.at(*at) {
            Some(p) => area.draw(&Text::new(text.clone(), p, unit.font(7.0).pos(Pos::new(HPos::Left, VPos::Center)))),
            None => Ok(()),
        },
    }
}

/// Draws a pixel path with a pattern measured along it.
fn polyline<DB: DrawingBackend>(pixels: &[(i32, i32)], dash: Dash, style: ShapeStyle, area: &Area<DB>, unit: Unit) -> Drawn<DB::ErrorType> {
    let (on, off) = match dash {
        Dash::Solid => return if pixels.len() > 1 { area.draw(&PathElement::new(pixels.to_vec(), style)) } else { Ok(()) },
        Dash::Dashed => (5.0 * unit.0, 3.0 * unit.0),
        Dash::Dotted => (1.2 * unit.0, 2.4 * unit.0),
    };
    let (mut travelled, mut current) = (0.0f64, Vec::new());
    for side in pixels.windows(2) {
        let (a, b) = ((f64::from(side[0].0), f64::from(side[0].1)), (f64::from(side[1].0), f64::from(side[1].1)));
        let length = (b.0 - a.0).hypot(b.1 - a.1);
        let pieces = (length / (0.6 * unit.0)).ceil().max(1.0);
        for k in 0..pieces as usize {
            let s = (k as f64 + 1.0) / pieces;
            let phase = (travelled + s * length) % (on + off);
            if phase < on {
                current.push(((a.0 + s * (b.0 - a.0)).round() as i32, (a.1 + s * (b.1 - a.1)).round() as i32));
            } else if !current.is_empty() {
                area.draw(&PathElement::new(std::mem::take(&mut current), style))?;
            }
        }
        travelled += length;
    }
    if current.is_empty() { Ok(()) } else { area.draw(&PathElement::new(current, style)) }
}

fn draw_legend<DB: DrawingBackend>(panel: &Panel, corner: Corner, f: &Frame, area: &Area<DB>, unit: Unit) -> Drawn<DB::ErrorType> {
    let named: Vec<&Mark> = panel.marks.iter().filter(|m| !label_of(m).is_empty()).collect();
    let (line, sample) = (10.0 * unit.0, 16.0 * unit.0);
    let font = unit.font(7.0).pos(Pos::new(HPos::Left, VPos::Center));
    let text = named.iter().filter_map(|m| area.estimate_text_size(label_of(m), &font).ok()).map(|s| f64::from(s.0)).fold(0.0, f64::max);
    let (w, h) = (sample + 4.0 * unit.0 + text, line * named.len() as f64);
    let left = if matches!(corner, Corner::TopLeft | Corner::BottomLeft) { f.left + 5.0 * unit.0 } else { f.right - w - 3.0 * unit.0 };
    let top = if matches!(corner, Corner::TopLeft | Corner::TopRight) { f.top + 2.0 * unit.0 } else { f.bottom - h - 4.0 * unit.0 };
    let pad = 2.0 * unit.0;
    let corners = [((left - pad) as i32, (top - pad) as i32), ((left + w + pad) as i32, (top + h + pad) as i32)];
    area.draw(&Rectangle::new(corners, ShapeStyle::from(&WHITE.mix(0.85)).filled()))?;
    for (k, mark) in named.iter().enumerate() {
        let y = (top + (k as f64 + 0.5) * line) as i32;
        let (a, b) = ((left as i32, y), ((left + sample) as i32, y));
        match mark {
            Mark::Line { colour, dash, .. } => polyline(&[a, b], *dash, unit.stroke(category(*colour), 1.0), area, unit)?,
            Mark::Steps { colour, .. } => polyline(&[a, b], Dash::Solid, unit.stroke(category(*colour), 0.9), area, unit)?,
            Mark::Points { colour, radius, .. } => {
                let style =
                    if colour % 2 == 0 { ShapeStyle::from(&category(*colour)).filled() } else { unit.stroke(category(*colour), 0.8) };
                area.draw(&Circle::new(((a.0 + b.0) / 2, y), unit.px(*radius).max(1), style))?;
            }
            _ => {}
        }
        area.draw(&Text::new(label_of(mark).to_owned(), ((left + sample + 4.0 * unit.0) as i32, y), font.clone()))?;
    }
    Ok(())
}

fn label_of(mark: &Mark) -> &str {
    match mark {
        Mark::Line { label, .. } | Mark::Points { label, .. } | Mark::Steps { label, .. } => label,
        _ => "",
    }
}
