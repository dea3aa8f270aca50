//! Draws a scene on a plotters backend, in pixels.

use super::metrics::FAMILY;
use super::scene::{Anchor, Outline, Scene, Shape, Spot, Text};
use plotters::coord::Shift;
use plotters::prelude::{
    Circle, DrawingArea, DrawingAreaErrorKind, DrawingBackend, FontTransform, IntoFont, PathElement, Polygon, Rectangle, ShapeStyle,
    Text as Words,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Pixels per point, and how a backend sizes and places type.
#[derive(Clone, Copy)]
pub struct Grain {
    /// Pixels per point.
    pub scale: f64,
    /// The base line lies this share of the size of type below the top that the backend is told.
    pub base: f64,
    /// The size that the backend is told, over the size of type.
    pub em: f64,
}

/// Draws everything.
pub fn draw<DB: DrawingBackend>(
    scene: &Scene,
    root: &DrawingArea<DB, Shift>,
    grain: Grain,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    root.fill(&scene.ground)?;
    for panel in &scene.panels {
        panel.shapes.iter().try_for_each(|s| shape(s, root, grain))?;
        panel.texts.iter().try_for_each(|t| words(t, scene, root, grain))?;
    }
    root.present()
}

fn shape<DB: DrawingBackend>(s: &Shape, root: &DrawingArea<DB, Shift>, grain: Grain) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let at = |p: &Spot| ((p.0 * grain.scale).round() as i32, (p.1 * grain.scale).round() as i32);
    let style = match s.stroke {
        Some(width) => ShapeStyle::from(&s.colour).stroke_width((width * grain.scale).round().max(1.0) as u32),
        None => ShapeStyle::from(&s.colour).filled(),
    };
    let pixels = |points: &[Spot]| {
        let mut out: Vec<(i32, i32)> = points.iter().map(at).collect();
        out.dedup();
        out
    };
    match (&s.form, s.stroke) {
        (Outline::Path(points), _) => root.draw(&PathElement::new(pixels(points), style)),
        (Outline::Polygon(points), None) => root.draw(&Polygon::new(pixels(points), style)),
        (Outline::Polygon(points), Some(_)) => {
            let mut ring = pixels(points);
            ring.extend(ring.first().copied());
            root.draw(&PathElement::new(ring, style))
        }
        (Outline::Box(r), _) => root.draw(&Rectangle::new([at(&(r.left, r.top)), at(&(r.right, r.bottom))], style)),
        (Outline::Disc(centre, radius), _) => root.draw(&Circle::new(at(centre), (radius * grain.scale).round().max(1.0) as i32, style)),
    }
}

fn words<DB: DrawingBackend>(
    t: &Text,
    scene: &Scene,
    root: &DrawingArea<DB, Shift>,
    grain: Grain,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let along = match t.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let font = (FAMILY, t.size * grain.scale * grain.em).into_font();
    let font = if t.upwards { font.transform(FontTransform::Rotate270) } else { font };
    let style = font.color(&scene.ink).pos(Pos::new(along, VPos::Top));
    let lift = grain.base * t.size;
    let (x, y) = if t.upwards { (t.at.0 - lift, t.at.1) } else { (t.at.0, t.at.1 - lift) };
    root.draw(&Words::new(t.text.clone(), ((x * grain.scale).round() as i32, (y * grain.scale).round() as i32), style))
}
