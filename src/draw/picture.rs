//! The data of a picture. No colour is ever the only carrier of meaning: every line has its dash, every point set its marker.

use super::Axis;

/// Size presets in millimetres: text widths of venues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// SIAM text width.
    Siam,
    /// AMS text width.
    Ams,
    /// NeurIPS text width.
    Neurips,
    /// Nature, one column.
    Nature1,
    /// Nature, two columns.
    Nature2,
    /// Slides, 4:3.
    Beamer,
}

impl Size {
    /// Parses a preset's name.
    pub fn parse(name: &str) -> crate::Result<Self> {
        match name {
            "siam" => Ok(Self::Siam),
            "ams" => Ok(Self::Ams),
            "neurips" => Ok(Self::Neurips),
            "nature1" => Ok(Self::Nature1),
            "nature2" => Ok(Self::Nature2),
            "beamer" => Ok(Self::Beamer),
            _ => Err(crate::Error::unknown("figure size", name, ["siam", "ams", "neurips", "nature1", "nature2", "beamer"])),
        }
    }

    /// Width in millimetres.
    pub fn width(self) -> f64 {
        match self {
            Self::Siam => 130.2,
            Self::Ams => 127.0,
            Self::Neurips => 139.7,
            Self::Nature1 => 89.0,
            Self::Nature2 => 183.0,
            Self::Beamer => 108.0,
        }
    }
}

/// Line patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// Unbroken.
    Solid,
    /// Dashes.
    Dashed,
    /// Dots.
    Dotted,
}

/// Where a legend goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corner {
    /// Top left.
    TopLeft,
    /// Top right.
    TopRight,
    /// Bottom left.
    BottomLeft,
    /// Bottom right.
    BottomRight,
}

/// Something drawn in a panel, in data coordinates.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A polyline.
    Line {
        /// Points; a NaN breaks the line.
        points: Vec<(f64, f64)>,
        /// Category.
        colour: usize,
        /// Pattern.
        dash: Dash,
        /// Legend entry; empty for none.
        label: String,
    },
    /// Filled discs (even categories) or open ones (odd).
    Points {
        /// Positions.
        points: Vec<(f64, f64)>,
        /// Category.
        colour: usize,
        /// Radius in points (1/72 inch).
        radius: f64,
        /// Legend entry; empty for none.
        label: String,
    },
    /// A raster of values in [0, 1]: `values[r][c]` in the cell between the c-th and next x edge, r-th and next y edge.
    Heat {
        /// Ascending edges.
        x: Vec<f64>,
        /// Ascending edges.
        y: Vec<f64>,
        /// Rows.
        values: Vec<Vec<f64>>,
    },
    /// A step outline (histogram) over edges.
    Steps {
        /// Ascending edges.
        edges: Vec<f64>,
        /// One value per interval.
        values: Vec<f64>,
        /// Category.
        colour: usize,
        /// Fill below the outline.
        filled: bool,
        /// Legend entry.
        label: String,
    },
    /// The unit circle.
    Circle,
    /// A word at a place.
    Text {
        /// Where its left end is.
        at: (f64, f64),
        /// The word.
        text: String,
    },
}

/// One pair of axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Printed above the panel.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Marks in drawing order.
    pub marks: Vec<Mark>,
    /// Legend, when marks have labels.
    pub legend: Option<Corner>,
    /// Draw no axes and keep the aspect ratio (circles).
    pub bare: bool,
}

impl Panel {
    /// An empty panel.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, marks: Vec::new(), legend: None, bare: false }
    }

    /// Adds a line.
    pub fn line(&mut self, points: Vec<(f64, f64)>, colour: usize, dash: Dash, label: impl Into<String>) {
        self.marks.push(Mark::Line { points, colour, dash, label: label.into() });
    }
}

/// Panels on a grid, with a caption that is written beside the figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Panels in reading order.
    pub panels: Vec<Panel>,
    /// Panels per row.
    pub columns: usize,
    /// Height of a panel over its width.
    pub aspect: f64,
    /// Caption generated from the configuration.
    pub caption: String,
}
