//! Numbers with as many digits as their error allows.

use super::output::rounded;

/// A number with as many digits as its error allows, and the error: `20.5956 +- 3e-5`. An exact
/// number (error 0) has all digits.
pub fn with_error(value: f64, error: f64) -> String {
    if error == 0.0 {
        return crate::error::format_number(value);
    }
    if !value.is_finite() || !error.is_finite() {
        return format!("{value} (error unknown)");
    }
    let size = value.abs().max(error);
    let spread =
        if (1e-3..1e4).contains(&error) { rounded(error, 1) } else { format!("{error:.0e}") };
    // Decimals whose unit is not smaller than the error.
    let places = (-error.log10()).floor();
    if size > 0.0 && !(1e-4..1e7).contains(&size) {
        let digits = (places + size.log10().floor()).clamp(0.0, 16.0) as usize;
        return format!("{value:.digits$e} +- {spread}");
    }
    let places = places.clamp(0.0, 17.0) as usize;
    format!("{value:.places$} +- {spread}")
}

/// A time with the digits that its error `within` allows, at most six decimals, and the distance of
/// the printed number from it.
pub fn resolved(t: f64, within: f64) -> (String, f64) {
    let last = within.log10().floor().max(-6.0);
    let printed = if last > 0.0 {
        format!("{t:.*e}", (t.log10().floor() - last).max(0.0) as usize)
    } else {
        format!("{t:.*}", -last as usize)
    };
    let off = printed.parse().map_or(0.0, |p: f64| (p - t).abs());
    (printed, off)
}
