//! Printing: the only place that writes to stdout and stderr.

use crate::error::Error;
use serde_json::Value;
use std::io::Write;

/// Where results go.
pub struct Output {
    json: bool,
}

impl Output {
    /// JSON or text.
    pub fn new(json: bool) -> Self {
        Self { json }
    }

    /// True when JSON is wanted.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Prints a result in the wanted form. A closed pipe ends quietly.
    pub fn result(&self, json: &Value, text: &str) {
        let line = if self.json { json.to_string() } else { text.trim_end().to_owned() };
        let written = writeln!(std::io::stdout(), "{line}").and_then(|()| std::io::stdout().flush());
        if let Err(e) = written.or_else(|e| if e.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(e) }) {
            note(&format!("error: stdout: could not write: {e}"));
            std::process::exit(5);
        }
    }

    /// Prints an error: one sentence per problem.
    pub fn error(&self, error: &Error) {
        error.to_string().lines().for_each(|l| note(&format!("error: {l}")));
    }
}

/// A line on stderr.
pub fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Rows of numbers as aligned text.
pub fn rows(values: &[f64], width: usize) -> String {
    values
        .chunks(width)
        .map(|r| r.iter().map(|v| format!("{:>24}", crate::error::show(*v))).collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A finite number, or null.
pub fn finite(v: f64) -> Value {
    serde_json::Number::from_f64(v).map_or(Value::Null, Value::Number)
}

/// Rows of numbers as JSON lists.
pub fn matrix(values: &[f64], width: usize) -> Value {
    values.chunks(width).map(|r| Value::from(r.to_vec())).collect()
}

/// A number with as many digits as its error allows, and the error: `20.5956 +- 3e-5`; all digits of an exact one.
pub fn with_error(value: f64, error: f64) -> String {
    if error == 0.0 {
        return crate::error::show(value);
    }
    if !value.is_finite() || !error.is_finite() {
        return format!("{value} (error unknown)");
    }
    let size = value.abs().max(error);
    // Digits after the point whose unit is not below the error.
    let places = (-error.log10()).floor();
    if size > 0.0 && !(1e-4..1e7).contains(&size) {
        let digits = (places + size.log10().floor()).clamp(0.0, 16.0) as usize;
        return format!("{value:.digits$e} +- {error:.0e}");
    }
    let places = places.clamp(0.0, 17.0) as usize;
    format!("{value:.places$} +- {error:.0e}")
}

#[cfg(test)]
mod tests {
    use super::with_error;

    #[test]
    fn digits_end_where_the_error_begins() {
        assert_eq!(with_error(20.595_612_3, 3e-5), "20.5956 +- 3e-5");
        assert_eq!(with_error(20.595_612_3, 3.0), "21 +- 3e0");
        assert_eq!(with_error(1.234_567_8e-9, 2e-14), "1.2346e-9 +- 2e-14");
        assert_eq!(with_error(1.234_567_8e20, 2e17), "1.23e20 +- 2e17");
        assert_eq!(with_error(0.0, 1e-16), "0e0 +- 1e-16");
        assert_eq!(with_error(0.125, 0.0), "0.125");
        assert_eq!(with_error(f64::NAN, 1.0), "NaN (error unknown)");
    }
}
