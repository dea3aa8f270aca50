//! A scene: a picture laid out as shapes and lines of type, in points with the origin at the top
//! left. All formats are written from it.

use super::metrics::{ABOVE, BELOW, width};
use plotters::style::RGBColor;

/// A point of the sheet in points (1/72 inch), y downwards.
pub type Point = (f64, f64);

/// A rectangle in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Lower edge.
    pub bottom: f64,
}

impl Rect {
    /// Width.
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Height.
    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The rectangle grown by `pad` on all sides.
    pub fn grown(&self, pad: f64) -> Self {
        Self {
            left: self.left - pad,
            top: self.top - pad,
            right: self.right + pad,
            bottom: self.bottom + pad,
        }
    }

    /// True if the interiors intersect.
    pub fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// True if `other` lies inside.
    pub fn holds(&self, other: &Self) -> bool {
        self.left <= other.left
            && self.top <= other.top
            && other.right <= self.right
            && other.bottom <= self.bottom
    }

    /// The part of the segment from `a` to `b` inside the rectangle, as two parameters in [0, 1]
    /// (Liang and Barsky 1984); `None` if it lies outside.
    pub fn clip(&self, a: Point, b: Point) -> Option<(f64, f64)> {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        for (p, q) in [
            (-dx, a.0 - self.left),
            (dx, self.right - a.0),
            (-dy, a.1 - self.top),
            (dy, self.bottom - a.1),
        ] {
            if p.abs() < 1e-12 {
                if q < 0.0 {
                    return None;
                }
            } else if p < 0.0 {
                enter = enter.max(q / p);
            } else {
                leave = leave.min(q / p);
            }
        }
        (enter <= leave).then_some((enter, leave))
    }

    fn moved(&self, by: Point) -> Self {
        Self {
            left: self.left + by.0,
            top: self.top + by.1,
            right: self.right + by.0,
            bottom: self.bottom + by.1,
        }
    }
}

/// The role of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeRole {
    /// Axes, ticks, borders.
    Border,
    /// A line or an area of the k-th mark of its panel.
    Curve(usize),
    /// A marker of the k-th mark of its panel.
    Marker(usize),
    /// A cell of a raster; text may overlap it.
    Raster,
    /// A sample in a legend, a colour bar.
    Key,
}

/// Outlines.
#[derive(Clone, Debug, PartialEq)]
pub enum Outline {
    /// An open path.
    Path(Vec<Point>),
    /// A closed one.
    Polygon(Vec<Point>),
    /// A disc: centre and radius.
    Disc(Point, f64),
    /// A rectangle.
    Box(Rect),
}

/// A shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Its outline.
    pub form: Outline,
    /// Its colour.
    pub colour: RGBColor,
    /// Width of the stroke in points; `None` where it is filled.
    pub stroke: Option<f64>,
    /// Its role.
    pub role: ShapeRole,
}

/// The reference point of a line of type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A line of type.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The words.
    pub text: String,
    /// A point of the base line.
    pub at: Point,
    /// Which point of the line `at` is.
    pub anchor: Anchor,
    /// Size of the type in points.
    pub size: f64,
    /// Reads upwards.
    pub upwards: bool,
}

impl Text {
    /// A horizontal line of type.
    pub fn level(text: impl Into<String>, at: Point, anchor: Anchor, size: f64) -> Self {
        Self { text: text.into(), at, anchor, size, upwards: false }
    }

    /// Its bounding box.
    pub fn bounds(&self) -> Rect {
        let length = width(&self.text, self.size);
        let before = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5 * length,
            Anchor::End => length,
        };
        let (x, y, above, below) = (self.at.0, self.at.1, ABOVE * self.size, BELOW * self.size);
        if self.upwards {
            return Rect {
                left: x - above,
                right: x + below,
                top: y + before - length,
                bottom: y + before,
            };
        }
        Rect { left: x - before, right: x - before + length, top: y - above, bottom: y + below }
    }
}

/// The layout of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanelLayout {
    /// Shapes in drawing order.
    pub shapes: Vec<Shape>,
    /// Lines of type.
    pub texts: Vec<Text>,
}

impl PanelLayout {
    /// The layout moved by a vector.
    pub fn moved(mut self, by: Point) -> Self {
        let shift = |p: &mut Point| *p = (p.0 + by.0, p.1 + by.1);
        for shape in &mut self.shapes {
            match &mut shape.form {
                Outline::Path(points) | Outline::Polygon(points) => {
                    points.iter_mut().for_each(shift)
                }
                Outline::Disc(centre, _) => shift(centre),
                Outline::Box(r) => *r = r.moved(by),
            }
        }
        self.texts.iter_mut().for_each(|t| shift(&mut t.at));
        self
    }

    /// Adds a filled rectangle.
    pub fn fill(&mut self, r: Rect, colour: RGBColor, role: ShapeRole) {
        self.shapes.push(Shape { form: Outline::Box(r), colour, stroke: None, role });
    }

    /// Adds a stroke.
    pub fn path(&mut self, points: Vec<Point>, colour: RGBColor, stroke: f64, role: ShapeRole) {
        if points.len() > 1 {
            self.shapes.push(Shape {
                form: Outline::Path(points),
                colour,
                stroke: Some(stroke),
                role,
            });
        }
    }
}

/// A picture laid out.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Width in points.
    pub width: f64,
    /// Height in points.
    pub height: f64,
    /// Background colour.
    pub background: RGBColor,
    /// Colour of the type.
    pub foreground: RGBColor,
    /// The layouts of the panels; the last one holds the colour bars.
    pub panels: Vec<PanelLayout>,
}

/// The rectangle moved so that its centre is `centre`.
pub fn centred(r: &Rect, centre: Point) -> Rect {
    r.moved((centre.0 - 0.5 * (r.left + r.right), centre.1 - 0.5 * (r.top + r.bottom)))
}
