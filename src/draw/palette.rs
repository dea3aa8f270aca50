//! Colours: Okabe-Ito for categories (safe for colour-blind readers, always with a dash or marker), viridis for magnitudes.

use plotters::style::RGBColor;

/// Okabe and Ito's palette in fixed order.
pub const CATEGORIES: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
    RGBColor(240, 228, 66),
];

/// The k-th category, cycling.
pub fn category(k: usize) -> RGBColor {
    CATEGORIES[k % CATEGORIES.len()]
}

/// Viridis at `s` in [0, 1].
pub fn sequential(s: f64) -> RGBColor {
    use plotters::style::colors::colormaps::{ColorMap, ViridisRGB};
    ViridisRGB.get_color(s.clamp(0.0, 1.0))
}
