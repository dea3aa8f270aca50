//! Numbers with as many digits as their error allows.

use super::error::format_number;

/// A number with as many digits as its error allows, and the error: `20.5956 +- 3e-5`. An exact
/// number (error 0) has all digits.
pub fn with_error(value: f64, error: f64) -> String {
    if error == 0.0 {
        return format_number(value);
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

/// The value rounded to decimals whose unit is not smaller than the error, without zeros at its
/// end: 0.5 for 0.4999999999999997 with the error 4e-16.
pub fn rounded_to(value: f64, error: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if error.is_nan() || error <= 0.0 || !value.is_finite() {
        return format_number(value);
    }
    let digits = value.abs().log10().floor() - error.log10().ceil();
    if digits < 0.0 {
        return if value.abs() <= error { "0".to_owned() } else { format!("{value:.0e}") };
    }
    let rounded = format!("{value:.*e}", digits.min(16.0) as usize);
    rounded.parse().map_or(rounded, format_number)
}

/// The bound of an error with one digit, rounded up.
pub fn error_bound(bound: f64) -> String {
    if bound == 0.0 || !bound.is_finite() {
        return format_number(bound);
    }
    let unit = 10f64.powf(bound.log10().floor());
    let rounded = format!("{:.0e}", (bound / unit * (1.0 - 1e-12)).ceil() * unit);
    let plain = (1e-3..1e4).contains(&bound);
    rounded.parse().ok().filter(|_| plain).map_or(rounded, format_number)
}

/// A number with the decimals that the bound of its error resolves, and the bound of the distance
/// of the printed number: `4.5 +- 2e-15`.
pub fn within(value: f64, bound: f64) -> String {
    let (printed, off) = printed_within(value, bound);
    format!("{printed} +- {}", error_bound(bound + off))
}

/// The same for the coordinates of a point, with one bound.
pub fn point_within(point: &[f64], bound: f64) -> String {
    let (printed, off): (Vec<String>, Vec<f64>) =
        point.iter().map(|v| printed_within(*v, bound)).unzip();
    let off = off.iter().map(|v| v * v).sum::<f64>().sqrt();
    format!("[{}] +- {}", printed.join(", "), error_bound(bound + off))
}

/// The value as [`rounded_to`] prints it, and the distance of the printed number from it.
fn printed_within(value: f64, bound: f64) -> (String, f64) {
    let printed = rounded_to(value, bound);
    let off = printed.parse().map_or(0.0, |p: f64| (p - value).abs());
    (printed, off)
}

/// A number with this many digits, with an exponent if it is very small or large.
pub fn rounded(v: f64, digits: usize) -> String {
    match v.abs() {
        0.0 => "0".into(),
        size if !(1e-4..1e6).contains(&size) => format!("{v:.*e}", digits - 1),
        size => {
            format!("{v:.*}", (digits as i32 - 1 - size.log10().floor() as i32).max(0) as usize)
        }
    }
}

/// A count with its noun: 1 cluster, 2 clusters, 2 branches.
///
/// ```
/// use metastable::operation::digits::counted;
/// assert_eq!([counted(1, "branch"), counted(2, "branch")], ["1 branch", "2 branches"]);
/// ```
pub fn counted(count: usize, thing: &str) -> String {
    let many = if thing.ends_with("ch") { "es" } else { "s" };
    format!("{count} {thing}{}", if count == 1 { "" } else { many })
}
