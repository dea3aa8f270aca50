//! What is to be drawn of a table.

/// Which axes are logarithmic.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum LogAxes {
    /// Neither.
    None,
    /// The horizontal one.
    X,
    /// The vertical one.
    Y,
    /// Both.
    Xy,
}

/// What is to be drawn of a table.
pub struct Wanted {
    /// Column of the horizontal axis.
    pub x: String,
    /// Column whose values are told apart by curves.
    pub by: Option<String>,
    /// Two percentiles, ascending.
    pub band: Option<(f64, f64)>,
    /// Logarithmic axes; without this flag an axis is logarithmic if its values span more than three
    /// decades.
    pub log: Option<LogAxes>,
    /// Markers instead of lines.
    pub points: bool,
}
