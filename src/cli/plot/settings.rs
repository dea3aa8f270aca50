//! Settings of a plot.

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

/// Which columns of a table are drawn, and how.
pub struct PlotSettings {
    /// Column of the horizontal axis.
    pub x: String,
    /// Column with one curve for each of its values.
    pub by: Option<String>,
    /// Two percentiles, ascending.
    pub band: Option<(f64, f64)>,
    /// Logarithmic axes; without this flag an axis is logarithmic if its values span more than
    /// three decades.
    pub log: Option<LogAxes>,
    /// Markers instead of lines.
    pub points: bool,
}
