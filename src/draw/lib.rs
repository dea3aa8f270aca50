//! Figures. A [`Picture`] is data; layout on a [`Sheet`] turns it into a [`Scene`] of shapes and
//! lines of type, from which SVG, PDF and PNG are written with an embedded font. The same data give
//! the same bytes.

use metastable_num::error;

pub mod animation;
mod axis;
mod layout;
mod legend;
mod marks;
mod metrics;
mod occupancy;
mod palette;
mod panel;
mod pdf;
mod picture;
mod render;
mod scene;
mod sheet;
mod write;

pub use axis::{Axis, Scale, Ticks, superscript, with_powers};
pub use layout::layout;
#[doc(hidden)]
pub use legend::legend_rows;
pub use palette::{CATEGORIES, LIGHT, Theme, sequential};
pub use pdf::pdf;
pub use picture::{Corner, Dash, Mark, Panel, Picture};
pub use scene::{Anchor, Outline, PanelLayout, Point, Rect, Scene, Shape, ShapeRole, Text};
pub use sheet::{Sheet, Size};
pub use write::{frames, margin_strip, png, raster, svg};
