//! Figures: a picture is data ([`Picture`]), rendered to SVG and PNG with an embedded font; the same data gives the same bytes.

mod axis;
pub mod film;
mod palette;
mod picture;
mod render;
mod write;

pub use axis::{Axis, Scale};
pub use palette::{CATEGORIES, category, sequential};
pub use picture::{Corner, Dash, Mark, Panel, Picture, Size};
pub use write::{frames, png, raster, spark, svg};
