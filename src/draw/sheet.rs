//! The sheet of a picture: width, height, font size, colours.

use super::palette::Theme;
use crate::error::{Error, Result};

/// Sizes of venues, and custom sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// SIAM text width.
    Siam,
    /// AMS text width.
    Ams,
    /// NeurIPS text width.
    Neurips,
    /// ICML, one column.
    Icml,
    /// JMLR text width.
    Jmlr,
    /// PNAS, one column.
    Pnas,
    /// PNAS, two columns.
    Pnas2,
    /// Physical Review, one column.
    Physrev,
    /// Physical Review, two columns.
    Physrev2,
    /// Nature, one column.
    Nature1,
    /// Nature, two columns.
    Nature2,
    /// Slides, 4:3.
    Beamer,
    /// A custom size in millimetres. Without a height, the height follows from the proportions of
    /// the panels.
    Custom {
        /// Width in millimetres.
        width: f64,
        /// Height in millimetres.
        height: Option<f64>,
    },
}

/// Names, sizes, widths in millimetres, and the font size in points that the venue requires.
const VENUES: [(&str, Size, f64, f64); 12] = [
    ("siam", Size::Siam, 130.2, 8.0),
    ("ams", Size::Ams, 127.0, 8.0),
    ("neurips", Size::Neurips, 139.7, 8.0),
    ("icml", Size::Icml, 82.6, 8.0),
    ("jmlr", Size::Jmlr, 152.4, 8.0),
    ("pnas", Size::Pnas, 87.0, 7.0),
    ("pnas2", Size::Pnas2, 178.0, 7.0),
    ("physrev", Size::Physrev, 86.0, 8.0),
    ("physrev2", Size::Physrev2, 178.0, 8.0),
    ("nature1", Size::Nature1, 89.0, 7.0),
    ("nature2", Size::Nature2, 183.0, 7.0),
    ("beamer", Size::Beamer, 108.0, 8.0),
];

/// Narrowest and widest picture in millimetres.
const WIDTH_RANGE: (f64, f64) = (40.0, 1000.0);

impl Size {
    /// Names of the venues' sizes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        VENUES.iter().map(|n| n.0)
    }

    /// Parses the name of a venue, or `WIDTH` or `WIDTHxHEIGHT` in millimetres.
    ///
    /// **Errors** an unknown name, with the nearest one; a width outside 40 to 1000 mm, a height
    /// outside 20 to 1000 mm.
    pub fn parse(text: &str) -> Result<Self> {
        if let Some(named) = VENUES.iter().find(|n| n.0 == text) {
            return Ok(named.1);
        }
        if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-') {
            return Err(Error::unknown(
                "figure size (or WIDTHxHEIGHT in millimetres)",
                text,
                Self::names(),
            ));
        }
        let length = |part: &str, low: f64| {
            let value = part
                .trim()
                .trim_end_matches("mm")
                .parse::<f64>()
                .ok()
                .filter(|v| *v >= low && *v <= WIDTH_RANGE.1);
            let expected = "WIDTH or WIDTHxHEIGHT in millimetres, 40 to 1000 wide and 20 to 1000 \
                high";
            value.ok_or_else(|| Error::parameter("figure size", text, expected))
        };
        let (width, height) = text.split_once('x').map_or((text, None), |(w, h)| (w, Some(h)));
        Ok(Self::Custom {
            width: length(width, WIDTH_RANGE.0)?,
            height: height.map(|h| length(h, 20.0)).transpose()?,
        })
    }

    /// Width in millimetres.
    pub fn width(self) -> f64 {
        match self {
            Self::Custom { width, .. } => width,
            named => VENUES.iter().find(|n| n.1 == named).map_or(WIDTH_RANGE.0, |n| n.2),
        }
    }
}

/// A size with font size and theme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sheet {
    /// Width in points (1/72 inch).
    pub width: f64,
    /// Height in points, if it is given.
    pub height: Option<f64>,
    /// Font size of titles and labels in points; ticks and legends are an eighth smaller.
    pub font: f64,
    /// Colours and stroke widths.
    pub theme: Theme,
}

/// Points in a millimetre.
const POINTS_PER_MM: f64 = 72.0 / 25.4;

impl From<Size> for Sheet {
    fn from(size: Size) -> Self {
        let font = VENUES.iter().find(|n| n.1 == size).map_or(8.0, |n| n.3);
        let height = if let Size::Custom { height, .. } = size { height } else { None };
        Self {
            width: size.width() * POINTS_PER_MM,
            height: height.map(|h| h * POINTS_PER_MM),
            font,
            theme: Theme::Print,
        }
    }
}

impl Sheet {
    /// The sheet with this theme, which may enlarge the type.
    pub fn with_theme(self, theme: Theme) -> Self {
        Self { theme, font: self.font * theme.type_scale(), ..self }
    }

    /// The unit of all distances: an eighth of the font size, 1 point at 8 points.
    pub fn unit(&self) -> f64 {
        self.font / 8.0
    }

    /// Font size of ticks and legends.
    pub fn small(&self) -> f64 {
        0.875 * self.font
    }
}
