//! A picture laid out: shapes and boxes of type in points, the origin at the top left. Every format is written from this.

use super::metrics::{ABOVE, BELOW, width};
use plotters::style::RGBColor;

/// A place in points, y downwards.
pub type Spot = (f64, f64);

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

    /// The rectangle with a rim of `pad` around it.
    pub fn grown(&self, pad: f64) -> Self {
        Self { left: self.left - pad, top: self.top - pad, right: self.right + pad, bottom: self.bottom + pad }
    }

    /// True when the two share inner points.
    pub fn meets(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    /// True when `other` lies inside.
    pub fn holds(&self, other: &Self) -> bool {
        self.left <= other.left && self.top <= other.top && other.right <= self.right && other.bottom <= self.bottom
    }

    /// The part of the segment from `a` to `b` inside, as shares of it (Liang and Barsky 1984); `None` outside.
    pub fn clip(&self, a: Spot, b: Spot) -> Option<(f64, f64)> {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        for (p, q) in [(-dx, a.0 - self.left), (dx, self.right - a.0), (-dy, a.1 - self.top), (dy, self.bottom - a.1)] {
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

    fn moved(&self, by: Spot) -> Self {
        Self { left: self.left + by.0, top: self.top + by.1, right: self.right + by.0, bottom: self.bottom + by.1 }
    }
}

/// What a shape shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Axes, ticks, rims.
    Border,
    /// A line or an area of the k-th mark of its panel.
    Curve(usize),
    /// A marker of the k-th mark of its panel.
    Marker(usize),
    /// A cell of a raster: type may stand on it.
    Raster,
    /// A sample in a legend, a colour bar.
    Key,
}

/// Outlines.
#[derive(Clone, Debug, PartialEq)]
pub enum Outline {
    /// An open path.
    Path(Vec<Spot>),
    /// A closed one.
    Polygon(Vec<Spot>),
    /// A disc: centre and radius.
    Disc(Spot, f64),
    /// A rectangle.
    Box(Rect),
}

/// Something drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Its outline.
    pub form: Outline,
    /// Its colour.
    pub colour: RGBColor,
    /// Width of the stroke in points; `None` where it is filled.
    pub stroke: Option<f64>,
    /// What it shows.
    pub ink: Ink,
}

/// Which end of a line of type its place is.
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
    pub at: Spot,
    /// Which one.
    pub anchor: Anchor,
    /// Size of the type in points.
    pub size: f64,
    /// Reads upwards.
    pub upwards: bool,
}

impl Text {
    /// A level line of type.
    pub fn level(text: impl Into<String>, at: Spot, anchor: Anchor, size: f64) -> Self {
        Self { text: text.into(), at, anchor, size, upwards: false }
    }

    /// The box it fills.
    pub fn bounds(&self) -> Rect {
        let length = width(&self.text, self.size);
        let before = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5 * length,
            Anchor::End => length,
        };
        let (x, y, above, below) = (self.at.0, self.at.1, ABOVE * self.size, BELOW * self.size);
        if self.upwards {
            return Rect { left: x - above, right: x + below, top: y + before - length, bottom: y + before };
        }
        Rect { left: x - before, right: x - before + length, top: y - above, bottom: y + below }
    }
}

/// A panel laid out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Laid {
    /// Shapes in drawing order.
    pub shapes: Vec<Shape>,
    /// Lines of type.
    pub texts: Vec<Text>,
}

impl Laid {
    /// Moves everything.
    pub fn moved(mut self, by: Spot) -> Self {
        let shift = |p: &mut Spot| *p = (p.0 + by.0, p.1 + by.1);
        for shape in &mut self.shapes {
            match &mut shape.form {
                Outline::Path(points) | Outline::Polygon(points) => points.iter_mut().for_each(shift),
                Outline::Disc(centre, _) => shift(centre),
                Outline::Box(r) => *r = r.moved(by),
            }
        }
        self.texts.iter_mut().for_each(|t| shift(&mut t.at));
        self
    }

    /// A filled rectangle.
    pub fn fill(&mut self, r: Rect, colour: RGBColor, ink: Ink) {
        self.shapes.push(Shape { form: Outline::Box(r), colour, stroke: None, ink });
    }

    /// A stroke.
    pub fn path(&mut self, points: Vec<Spot>, colour: RGBColor, stroke: f64, ink: Ink) {
        if points.len() > 1 {
            self.shapes.push(Shape { form: Outline::Path(points), colour, stroke: Some(stroke), ink });
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
    /// Colour of the ground.
    pub ground: RGBColor,
    /// Colour of the type.
    pub ink: RGBColor,
    /// What is drawn, panel by panel; the last one holds colour bars.
    pub panels: Vec<Laid>,
}

/// The box moved to where its middle is `centre`.
pub fn centred(r: &Rect, centre: Spot) -> Rect {
    r.moved((centre.0 - 0.5 * (r.left + r.right), centre.1 - 0.5 * (r.top + r.bottom)))
}
