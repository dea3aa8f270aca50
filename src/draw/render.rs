//! Draws a scene on a plotters backend, in pixels.

use super::metrics::FAMILY;
use super::scene::{Anchor, Outline, Point, Scene, Shape, Text};
use plotters::coord::Shift;
use plotters::prelude::{
    Circle, DrawingArea, DrawingAreaErrorKind, DrawingBackend, FontTransform, IntoFont,
    PathElement, Polygon, Rectangle, ShapeStyle, Text as Words,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The scale of a plotters backend, and its conventions for the size and position of type.
#[derive(Clone, Copy)]
pub struct BackendScale {
    /// Pixels per point.
    pub scale: f64,
    /// Distance of the base line from the top that the backend is given, as a multiple of the font
    /// size.
    pub base: f64,
    /// The size that the backend is given, as a multiple of the font size.
    pub em: f64,
}

/// Draws a scene.
pub fn draw<DB: DrawingBackend>(
    scene: &Scene,
    root: &DrawingArea<DB, Shift>,
    grain: BackendScale,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    root.fill(&scene.background)?;
    for panel in &scene.panels {
        panel.shapes.iter().try_for_each(|s| shape(s, root, grain))?;
        panel.texts.iter().try_for_each(|t| words(t, scene, root, grain))?;
    }
    root.present()
}

fn shape<DB: DrawingBackend>(
    s: &Shape,
    root: &DrawingArea<DB, Shift>,
    grain: BackendScale,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let at = |p: &Point| ((p.0 * grain.scale).round() as i32, (p.1 * grain.scale).round() as i32);
    let style = match s.stroke {
        Some(width) => {
            ShapeStyle::from(&s.colour).stroke_width((width * grain.scale).round().max(1.0) as u32)
        }
        None => ShapeStyle::from(&s.colour).filled(),
    };
    let pixels = |points: &[Point]| {
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
        (Outline::Box(r), _) => {
            root.draw(&Rectangle::new([at(&(r.left, r.top)), at(&(r.right, r.bottom))], style))
        }
        (Outline::Disc(centre, radius), _) => root.draw(&Circle::new(
            at(centre),
            (radius * grain.scale).round().max(1.0) as i32,
            style,
        )),
    }
}

fn words<DB: DrawingBackend>(
    t: &Text,
    scene: &Scene,
    root: &DrawingArea<DB, Shift>,
    grain: BackendScale,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let along = match t.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let font = (FAMILY, t.size * grain.scale * grain.em).into_font();
    let font = if t.upwards { font.transform(FontTransform::Rotate270) } else { font };
    let style = font.color(&scene.foreground).pos(Pos::new(along, VPos::Top));
    let lift = grain.base * t.size;
    let (x, y) = if t.upwards { (t.at.0 - lift, t.at.1) } else { (t.at.0, t.at.1 - lift) };
    root.draw(&Words::new(
        t.text.clone(),
        ((x * grain.scale).round() as i32, (y * grain.scale).round() as i32),
        style,
    ))
}
