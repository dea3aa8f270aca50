//! Settings of a plot.

use crate::draw::Dash;
use crate::error::{Error, Result};
use crate::operation::{Kind, Parameter, Value};

/// Which axes are logarithmic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// y = a x^b.
    Power,
    /// y = a e^(b x).
    Exponential,
    /// y = a + b x.
    Line,
}

/// Reads and writes the names of an enum.
macro_rules! names {
    ($t:ty { $($name:literal => $value:expr),* }) => {
        impl Value for $t {
            const KIND: Kind = Kind::Name;
            fn read(parameter: &Parameter, text: &str) -> Result<Self> {
                match text {
                    $($name => Ok($value),)*
                    other => {
                        let all = [$($name),*].join(", ");
                        Err(Error::parameter(parameter.name, other, format!("one of {all}")))
                    }
                }
            }
        }

        impl $t {
            /// Its name.
            pub fn name(self) -> &'static str {
                [$(($name, $value)),*].into_iter().find(|(_, v)| *v == self).map_or("", |(n, _)| n)
            }
        }
    };
}

names!(LogAxes { "none" => Self::None, "x" => Self::X, "y" => Self::Y, "xy" => Self::Xy });
names!(Law {
    "power" => Self::Power,
    "exponential" => Self::Exponential,
    "line" => Self::Line
});

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
