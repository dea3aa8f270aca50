//! Turns marks into shapes: data become points of the sheet, lines get their dashes, categories
//! their markers.

use super::axis::Axis;
use super::palette::sequential;
use super::picture::{Dash, Mark, Panel};
use super::scene::{Outline, PanelLayout, Point, Rect, Shape, ShapeRole};
use super::sheet::Sheet;
use plotters::style::RGBColor;

/// The data region of a panel with the map from data to the sheet.
pub struct DataRegion<'p> {
    /// Horizontal axis.
    pub x: &'p Axis,
    /// Vertical axis.
    pub y: &'p Axis,
    /// The region.
    pub area: Rect,
}

impl DataRegion<'_> {
    /// The position of a pair of values; NaN outside the domain of an axis.
    pub fn position(&self, p: (f64, f64)) -> Point {
        let (u, v) = (self.x.position(p.0), self.y.position(p.1));
        (self.area.left + u * self.area.width(), self.area.bottom - v * self.area.height())
    }

    /// The position of a pair of values, or `None` outside the region.
    fn inside(&self, p: (f64, f64)) -> Option<Point> {
        let at = self.position(p);
        let rim = self.area.grown(1.0);
        (at.0 >= rim.left && at.0 <= rim.right && at.1 >= rim.top && at.1 <= rim.bottom)
            .then_some(at)
    }
}

/// Draws a mark into the layout of its panel, clipped at the axes.
pub fn draw(panel: &Panel, k: usize, frame: &DataRegion, sheet: &Sheet, out: &mut PanelLayout) {
    let (unit, theme) = (sheet.unit(), sheet.theme);
    let weight = unit * theme.stroke_scale();
    match &panel.marks[k] {
        Mark::Line { points, colour, dash, label } => {
            let strength = if *dash == Dash::Dotted { 0.8 } else { 1.0 };
            let mut pattern = DashPattern::new(*dash, unit);
            for piece in pieces(points, frame) {
                pattern.walk(&piece, |path| {
                    out.path(path, theme.category(*colour), strength * weight, ShapeRole::Curve(k))
                });
                if has_markers(panel, *colour, label) {
                    points_along(&piece, 12.0 + 5.0 * *colour as f64, 46.0, unit)
                        .into_iter()
                        .for_each(|at| {
                            out.shapes.push(marker(
                                *colour,
                                at,
                                1.7 * unit,
                                sheet,
                                ShapeRole::Curve(k),
                            ))
                        });
                }
            }
        }
        Mark::Points { points, colour, radius, .. } => {
            let places = points.iter().filter_map(|p| frame.inside(*p));
            out.shapes.extend(
                places.map(|p| marker(*colour, p, radius * unit, sheet, ShapeRole::Marker(k))),
            );
        }
        Mark::Heat { x, y, values, shade } => raster((x, y), values, shade, frame, out),
        Mark::Steps { edges, values, colour, filled, .. } => {
            let mut outline = Vec::new();
            let floor = frame.area.bottom;
            for (v, side) in values.iter().zip(edges.windows(2)) {
                let (a, b) = (frame.position((side[0], *v)), frame.position((side[1], *v)));
                let top = if a.1.is_finite() { a.1.clamp(frame.area.top, floor) } else { floor };
                let (left, right) = (a.0.max(frame.area.left), b.0.min(frame.area.right));
                if right <= left {
                    continue;
                }
                if *filled && top < floor {
                    out.fill(
                        Rect { left, top, right, bottom: floor },
                        theme.tint(*colour),
                        ShapeRole::Curve(k),
                    );
                }
                outline.extend([(left, top), (right, top)]);
            }
            out.path(outline, theme.category(*colour), 0.9 * weight, ShapeRole::Curve(k));
        }
        Mark::Intervals { points, colour, filled } => {
            let ink = theme.category(*colour);
            if *filled {
                for piece in points.split(|p| !(p.0 + p.1[0] + p.1[1]).is_finite()) {
                    band(piece, frame, theme.tint(*colour), out);
                    for end in 0..2 {
                        let edge: Vec<_> = piece.iter().map(|p| (p.0, p.1[end])).collect();
                        for path in pieces(&edge, frame) {
                            out.path(path, ink, 0.4 * weight, ShapeRole::Curve(k));
                        }
                    }
                }
            } else {
                for (x, [low, high]) in points {
                    for path in pieces(&[(*x, *low), (*x, *high)], frame) {
                        out.path(path, ink, 0.8 * weight, ShapeRole::Curve(k));
                    }
                }
            }
        }
        Mark::Circle => {
            let (centre, rim) = (frame.position((0.0, 0.0)), frame.position((1.0, 0.0)));
            let form = Outline::Disc(centre, rim.0 - centre.0);
            out.shapes.push(Shape {
                form,
                colour: theme.category(7),
                stroke: Some(0.6 * weight),
                role: ShapeRole::Border,
            });
        }
        Mark::Middle(_) | Mark::Text { .. } => {}
    }
}

/// True if a line gets markers: it has a label, other lines have one too, and no other mark of its
/// panel has its category.
pub fn has_markers(panel: &Panel, category: usize, label: &str) -> bool {
    let named = panel.marks.iter().filter(|m| matches!(m, Mark::Line { label, dash, .. } if !label.is_empty() && *dash != Dash::Dotted));
    let points =
        panel.marks.iter().any(|m| matches!(m, Mark::Points { colour, .. } if *colour == category));
    let alone = panel
        .marks
        .iter()
        .filter(|m| matches!(m, Mark::Line { colour, .. } if *colour == category))
        .count()
        == 1;
    !label.is_empty() && category < 6 && !points && alone && named.count() > 1
}

/// Fills the area between the ends of these intervals, clipped at the axes.
fn band(points: &[(f64, [f64; 2])], frame: &DataRegion, tint: RGBColor, out: &mut PanelLayout) {
    let at = |p: &(f64, [f64; 2]), end: usize| {
        let (x, y) = frame.position((p.0, p.1[end]));
        let a = frame.area;
        (x.clamp(a.left, a.right), y.clamp(a.top, a.bottom))
    };
    let there = points.iter().map(|p| at(p, 0));
    let outline: Vec<Point> = there.chain(points.iter().rev().map(|p| at(p, 1))).collect();
    let seen = outline.iter().all(|p| (p.0 + p.1).is_finite());
    if points.len() > 1 && seen {
        // Text may overlap a band: only its edges are in the way of a legend.
        let form = Outline::Polygon(outline);
        out.shapes.push(Shape { form, colour: tint, stroke: None, role: ShapeRole::Raster });
    }
}

/// The parts of a polyline inside the region, without points closer than the eye can see.
fn pieces(points: &[(f64, f64)], frame: &DataRegion) -> Vec<Vec<Point>> {
    let mut out: Vec<Vec<Point>> = Vec::new();
    for side in points.windows(2) {
        let (a, b) = (frame.position(side[0]), frame.position(side[1]));
        if !(a.0 + a.1 + b.0 + b.1).is_finite() {
            out.push(Vec::new());
            continue;
        }
        let Some((s, t)) = frame.area.clip(a, b) else { continue };
        let on = |s: f64| (a.0 + s * (b.0 - a.0), a.1 + s * (b.1 - a.1));
        let (from, to) = (on(s), on(t));
        match out.last_mut().filter(|piece| piece.last().is_some_and(|p| near(*p, from, 0.12))) {
            Some(piece) if near(piece[piece.len() - 1], to, 0.1) => {}
            Some(piece) => piece.push(to),
            None => out.push(vec![from, to]),
        }
    }
    out.retain(|p| p.len() > 1);
    out
}

fn near(a: Point, b: Point, by: f64) -> bool {
    (a.0 - b.0).abs() < by && (a.1 - b.1).abs() < by
}

/// The state of a dash pattern along a line.
pub struct DashPattern {
    lengths: Vec<f64>,
    /// Index of the current stroke or gap, and its remaining length.
    state: (usize, f64),
}

impl DashPattern {
    /// The beginning of a pattern.
    pub fn new(dash: Dash, unit: f64) -> Self {
        let lengths: Vec<f64> = dash.lengths().iter().map(|l| l * unit).collect();
        let left = lengths.first().copied().unwrap_or(f64::INFINITY);
        Self { lengths, state: (0, left) }
    }

    /// Calls `stroke` for every stroke of a path.
    pub fn walk(&mut self, path: &[Point], mut stroke: impl FnMut(Vec<Point>)) {
        if self.lengths.is_empty() {
            return stroke(path.to_vec());
        }
        let mut current = vec![path[0]];
        for side in path.windows(2) {
            let (mut a, b) = (side[0], side[1]);
            loop {
                let rest = (b.0 - a.0).hypot(b.1 - a.1);
                if rest < self.state.1 {
                    self.state.1 -= rest;
                    current.push(b);
                    break;
                }
                let s = self.state.1 / rest;
                a = (a.0 + s * (b.0 - a.0), a.1 + s * (b.1 - a.1));
                current.push(a);
                let next = (self.state.0 + 1) % self.lengths.len();
                if self.state.0.is_multiple_of(2) {
                    stroke(std::mem::take(&mut current));
                }
                self.state = (next, self.lengths[next]);
                current = vec![a];
            }
        }
        if self.state.0.is_multiple_of(2) {
            stroke(current);
        }
    }
}

/// Points along a path: the first after `first` units, then one every `every` units.
fn points_along(path: &[Point], first: f64, every: f64, unit: f64) -> Vec<Point> {
    let (mut out, mut next) = (Vec::new(), first * unit);
    for side in path.windows(2) {
        let length = (side[1].0 - side[0].0).hypot(side[1].1 - side[0].1);
        while next < length {
            let s = next / length;
            out.push((
                side[0].0 + s * (side[1].0 - side[0].0),
                side[0].1 + s * (side[1].1 - side[0].1),
            ));
            next += every * unit;
        }
        next -= length;
    }
    out
}

/// The marker of a category: disc, square, triangle or diamond, alternately filled and open.
pub fn marker(category: usize, at: Point, radius: f64, sheet: &Sheet, role: ShapeRole) -> Shape {
    let corner = |x: f64, y: f64| (at.0 + radius * x, at.1 + radius * y);
    let form = match category % 8 / 2 {
        0 => Outline::Disc(at, radius),
        1 => Outline::Polygon(vec![
            corner(-0.89, -0.89),
            corner(0.89, -0.89),
            corner(0.89, 0.89),
            corner(-0.89, 0.89),
        ]),
        2 => Outline::Polygon(vec![corner(0.0, -1.2), corner(1.08, 0.75), corner(-1.08, 0.75)]),
        _ => Outline::Polygon(vec![
            corner(0.0, -1.25),
            corner(1.25, 0.0),
            corner(0.0, 1.25),
            corner(-1.25, 0.0),
        ]),
    };
    let stroke = (category % 2 == 1).then_some(0.8 * sheet.unit() * sheet.theme.stroke_scale());
    Shape { form, colour: sheet.theme.category(category), stroke, role }
}

/// Draws the cells of a raster. Adjacent cells of the same colour are one rectangle, which gives
/// smaller files without seams.
fn raster(
    (x, y): (&[f64], &[f64]),
    values: &[Vec<f64>],
    shade: &Axis,
    frame: &DataRegion,
    out: &mut PanelLayout,
) {
    let colour = |v: f64| -> RGBColor { sequential(shade.position(v)) };
    for (row, edge) in values.iter().zip(y.windows(2)) {
        let mut start = 0;
        for c in 0..row.len() {
            let own = colour(row[c]);
            if c + 1 < row.len() && colour(row[c + 1]) == own {
                continue;
            }
            let (a, b) = (frame.position((x[start], edge[1])), frame.position((x[c + 1], edge[0])));
            out.fill(Rect { left: a.0, top: a.1, right: b.0, bottom: b.1 }, own, ShapeRole::Raster);
            start = c + 1;
        }
    }
}
