//! Figures: a picture is data ([`Picture`]); laid out on a [`Sheet`] it is a [`Scene`] of shapes and boxes of type, from which SVG, PDF and PNG are
//! written with an embedded font; the same data gives the same bytes.

use metastable_num::error;

mod axis;
pub mod film;
mod ink;
mod layout;
mod legend;
mod marks;
mod metrics;
mod palette;
mod panel;
mod pdf;
mod picture;
mod render;
mod scene;
mod sheet;
mod write;

pub use axis::{Axis, Scale, Ticks, superscript};
pub use layout::layout;
#[doc(hidden)]
pub use legend::arranged;
pub use palette::{CATEGORIES, LIGHT, Theme, sequential};
pub use pdf::pdf;
pub use picture::{Corner, Dash, Mark, Panel, Picture};
pub use scene::{Anchor, Ink, Laid, Outline, Rect, Scene, Shape, Spot, Text};
pub use sheet::{Sheet, Size};
pub use write::{frames, png, raster, spark, svg};
