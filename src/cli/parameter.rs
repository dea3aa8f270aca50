//! `--set NAME=VALUE`: parameters of figures and studies, and lists of numbers in flags.

use crate::error::{Error, Result, format_number};
use crate::lab::range::{interval, named, reals};
use crate::operation::{Kind, Parameter};
use crate::theorem::AxisValues;

/// The numbers of a list such as `1,2,4`, `2..64` or `1..16:log5` (see [`reals`]).
///
/// **Errors** the malformed item and the form expected, under this name.
pub fn numbers(name: &str, text: &str) -> Result<Vec<f64>> {
    reals(text).map_err(|e| named(e, name))
}

/// The numbers of a list, or an interval `a..b` of real numbers.
pub fn axis(name: &str, text: &str) -> Result<AxisValues> {
    if !text.contains("..") || text.contains([':', ',']) {
        return numbers(name, text).map(AxisValues::List);
    }
    let (low, high) = interval(text).map_err(|e| named(e, name))?;
    Ok(AxisValues::Range(low, high))
}

/// A name and its numbers, separated by commas; ranges are replaced by their values.
pub fn assignment(text: &str) -> Result<(&str, String)> {
    let (name, value) = pair(text, "NAME=VALUE")?;
    let value = if value.contains("..") {
        numbers(name, value)?.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
    } else {
        value.split(',').map(str::trim).collect::<Vec<_>>().join(",")
    };
    Ok((name, value))
}

/// All assignments of `--set`. **Errors** a name that is set twice.
pub fn assignments<'a, V>(
    set: &'a [String],
    read: impl Fn(&'a str) -> Result<(&'a str, V)>,
) -> Result<Vec<(&'a str, V)>> {
    let mut out: Vec<(&str, V)> = Vec::new();
    for text in set {
        let (name, value) = read(text)?;
        if out.iter().any(|o| o.0 == name) {
            return Err(Error::parameter(
                "--set",
                format!("{name} twice"),
                "each name once; a list is separated by commas",
            ));
        }
        out.push((name, value));
    }
    Ok(out)
}

/// Splits an assignment of `--set` at the first `=`.
pub fn pair<'a>(text: &'a str, form: &str) -> Result<(&'a str, &'a str)> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| Error::parameter("--set", text, form))?;
    Ok((name.trim(), value.trim()))
}

/// A description of the parameters, one line each: name, default, range, meaning.
pub fn explained<'a>(parameters: impl IntoIterator<Item = &'a Parameter>) -> String {
    let line = |p: &Parameter| {
        let (low, high) = p.bounds();
        let kind = if p.kind == Kind::Whole { "whole numbers " } else { "" };
        format!(
            "  {} = {} ({kind}from {} to {}): {}\n",
            p.name,
            default(p),
            format_number(low),
            format_number(high),
            p.what
        )
    };
    let lines: String = parameters.into_iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("Parameters (--set NAME=VALUE):\n{lines}") }
}

/// The default; of a long list only its ends.
fn default(p: &Parameter) -> String {
    let all: Vec<String> = p.default_numbers().iter().map(|v| format_number(*v)).collect();
    match &all[..] {
        [first, .., last] if all.len() > 12 => format!("{first},...,{last}, {} numbers", all.len()),
        _ => all.join(","),
    }
}
