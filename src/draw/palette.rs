//! Colours: Okabe-Ito for categories (safe for colour-blind readers, always together with a dash or
//! marker), viridis for magnitudes.

use crate::error::{Error, Result};
use plotters::style::RGBColor;

/// The palette of Okabe and Ito in fixed order, without its yellow, which is hardly visible on
/// paper; black, and grey for reference lines.
pub const CATEGORIES: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
    RGBColor(110, 110, 110),
];

/// The same hues, lighter, for a dark background.
pub const LIGHT: [RGBColor; 8] = [
    RGBColor(64, 156, 255),
    RGBColor(255, 128, 48),
    RGBColor(40, 200, 150),
    RGBColor(232, 150, 200),
    RGBColor(150, 215, 255),
    RGBColor(250, 200, 70),
    RGBColor(255, 255, 255),
    RGBColor(150, 150, 150),
];

/// The medium of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white, thin strokes.
    Print,
    /// Dark on white, larger type, strokes half as thick again.
    Slides,
    /// Light on dark.
    Dark,
}

impl Theme {
    /// Names of the themes.
    pub const NAMES: [&str; 3] = ["print", "slides", "dark"];

    /// Parses a name.
    ///
    /// **Errors** an unknown name, with the nearest one.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "print" => Ok(Self::Print),
            "slides" => Ok(Self::Slides),
            "dark" => Ok(Self::Dark),
            _ => Err(Error::unknown("theme", name, Self::NAMES)),
        }
    }

    /// Factor of the font size relative to print.
    pub fn type_scale(self) -> f64 {
        if self == Self::Slides { 1.25 } else { 1.0 }
    }

    /// Factor of the stroke width relative to print.
    pub fn stroke_scale(self) -> f64 {
        if self == Self::Slides { 1.5 } else { 1.0 }
    }

    /// The background colour.
    pub fn background(self) -> RGBColor {
        if self == Self::Dark { RGBColor(24, 26, 30) } else { RGBColor(255, 255, 255) }
    }

    /// The colour of axes and type.
    pub fn foreground(self) -> RGBColor {
        if self == Self::Dark { RGBColor(232, 232, 232) } else { RGBColor(0, 0, 0) }
    }

    /// The k-th category, cycling.
    pub fn category(self, k: usize) -> RGBColor {
        let all = if self == Self::Dark { LIGHT } else { CATEGORIES };
        all[k % all.len()]
    }

    /// The colour of a category mixed with the background.
    pub fn tint(self, k: usize) -> RGBColor {
        let (c, g) = (self.category(k), self.background());
        let mix = |c: u8, g: u8| (0.28 * f64::from(c) + 0.72 * f64::from(g)).round() as u8;
        RGBColor(mix(c.0, g.0), mix(c.1, g.1), mix(c.2, g.2))
    }
}

/// The colour map viridis at `s` in [0, 1].
pub fn sequential(s: f64) -> RGBColor {
    use plotters::style::colors::colormaps::{ColorMap, ViridisRGB};
    ViridisRGB.get_color(s.clamp(0.0, 1.0))
}
