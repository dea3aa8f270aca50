//! The data of a picture. Colour alone never carries meaning: every line has a dash pattern, every
//! set of points a marker.

use super::Axis;

/// Line patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// Solid.
    Solid,
    /// Dashes.
    Dashed,
    /// Dotted: reference lines.
    Dotted,
    /// Dash, dot.
    DashDot,
    /// Long dashes.
    LongDashed,
    /// Dash, dot, dot.
    DashDotDot,
    /// Short dashes.
    ShortDashed,
}

impl Dash {
    /// The pattern of the k-th series; dotted lines are reserved for reference.
    pub fn for_series(k: usize) -> Self {
        [
            Self::Solid,
            Self::Dashed,
            Self::DashDot,
            Self::LongDashed,
            Self::DashDotDot,
            Self::ShortDashed,
        ][k % 6]
    }

    /// Lengths of strokes and gaps in units; empty for a solid line.
    pub(super) fn lengths(self) -> &'static [f64] {
        match self {
            Self::Solid => &[],
            Self::Dashed => &[5.0, 2.6],
            Self::Dotted => &[1.0, 2.2],
            Self::DashDot => &[5.0, 2.0, 1.2, 2.0],
            Self::LongDashed => &[9.0, 2.6],
            Self::DashDotDot => &[5.0, 1.8, 1.2, 1.8, 1.2, 1.8],
            Self::ShortDashed => &[2.8, 2.0],
        }
    }
}

/// Preferred corner of a legend; if something is drawn there, it goes to a free place or above the
/// panel.
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
    /// Markers: discs, squares, triangles, diamonds by category, filled (even) or open (odd).
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
    /// A raster: `values[r][c]` in the cell between the c-th and next x edge, r-th and next y edge.
    Heat {
        /// Ascending edges.
        x: Vec<f64>,
        /// Ascending edges.
        y: Vec<f64>,
        /// Rows.
        values: Vec<Vec<f64>>,
        /// The colour scale, drawn as a colour bar.
        shade: Axis,
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
    /// Intervals at positions: a filled band between their ends, or a vertical bar at each.
    Intervals {
        /// Position, lower and upper end; a NaN breaks a band.
        points: Vec<(f64, [f64; 2])>,
        /// Category.
        colour: usize,
        /// True for a band.
        filled: bool,
    },
    /// The unit circle.
    Circle,
    /// A text in the middle of the panel.
    Middle(String),
    /// A text at a position, or next to it if something else is drawn there.
    Text {
        /// The position of its left end.
        at: (f64, f64),
        /// The text.
        text: String,
    },
}

/// One pair of axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Title above the panel.
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
    pub hides_axes: bool,
}

impl Panel {
    /// An empty panel.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, marks: Vec::new(), legend: None, hides_axes: false }
    }

    /// Adds a line.
    pub fn line(
        &mut self,
        points: Vec<(f64, f64)>,
        colour: usize,
        dash: Dash,
        label: impl Into<String>,
    ) {
        self.marks.push(Mark::Line { points, colour, dash, label: label.into() });
    }

    /// Adds steps: edges, and the values between them.
    pub fn steps(
        &mut self,
        (edges, values): (Vec<f64>, Vec<f64>),
        colour: usize,
        filled: bool,
        label: impl Into<String>,
    ) {
        self.marks.push(Mark::Steps { edges, values, colour, filled, label: label.into() });
    }

    /// Adds intervals: positions with a lower and an upper end.
    pub fn intervals(&mut self, points: Vec<(f64, [f64; 2])>, colour: usize, filled: bool) {
        self.marks.push(Mark::Intervals { points, colour, filled });
    }

    /// Adds points.
    pub fn points(
        &mut self,
        points: Vec<(f64, f64)>,
        colour: usize,
        radius: f64,
        label: impl Into<String>,
    ) {
        self.marks.push(Mark::Points { points, colour, radius, label: label.into() });
    }
}

/// Panels on a grid with a caption, which is written to a file beside the figure.
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
