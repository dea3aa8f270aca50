//! Settings of a plot.

use crate::draw::Dash;

/// Which axes are logarithmic.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum LogAxes {
    /// Neither.
    None,
    /// The horizontal axis.
    X,
    /// The vertical axis.
    Y,
    /// Both.
    Xy,
}

/// The law that a fit determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Law {
    /// y = a x^b.
    Power,
    /// y = a e^(b x).
    Exponential,
    /// y = a + b x.
    Line,
}

/// Which columns of a table are drawn, and how.
pub struct PlotSettings {
    /// Column of the horizontal axis.
    pub x: String,
    /// Column with one curve for each of its values.
    pub by: Option<String>,
    /// Means with their standard error instead of medians.
    pub mean: bool,
    /// Two percentiles, ascending.
    pub band: Option<(f64, f64)>,
    /// Column of what the theory says about the vertical axis.
    pub theory: Option<String>,
    /// Law that is fitted to every curve.
    pub fit: Option<Law>,
    /// Logarithmic axes; without this flag an axis is logarithmic if its values span more than
    /// three decades.
    pub log: Option<LogAxes>,
    /// Markers instead of lines.
    pub points: bool,
}

impl PlotSettings {
    /// The pattern of theories.
    pub const THEORY: Dash = Dash::Dotted;
    /// The pattern of fits.
    pub const FIT: Dash = Dash::ShortDashed;
}
