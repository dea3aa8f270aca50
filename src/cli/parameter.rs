//! `--set NAME=VALUE`: parameters of figures and studies, read and explained.

use crate::error::{Error, Result, show};
use crate::lab::range::range;
use crate::study::Parameter;

/// A name and its value; ranges `a..b:linK` and `a..b:logK` written out as lists.
pub fn assignment(text: &str) -> Result<(&str, String)> {
    let (name, value) = pair(text, "NAME=VALUE")?;
    let values = value.split(',').map(|v| written_out(name, v.trim())).collect::<Result<Vec<_>>>()?;
    Ok((name, values.join(",")))
}

/// All of `--set`, each read so. **Errors** a name that is set twice.
pub fn each<'a, V>(set: &'a [String], read: impl Fn(&'a str) -> Result<(&'a str, V)>) -> Result<Vec<(&'a str, V)>> {
    let mut out: Vec<(&str, V)> = Vec::new();
    for text in set {
        let (name, value) = read(text)?;
        if out.iter().any(|o| o.0 == name) {
            return Err(Error::parameter("--set", format!("{name} twice"), "each name once; values of a list are separated by commas"));
        }
        out.push((name, value));
    }
    Ok(out)
}

/// What stands before and after the first `=` of `--set`.
pub fn pair<'a>(text: &'a str, form: &str) -> Result<(&'a str, &'a str)> {
    let (name, value) = text.split_once('=').ok_or_else(|| Error::parameter("--set", text, form))?;
    Ok((name.trim(), value.trim()))
}

fn written_out(name: &str, value: &str) -> Result<String> {
    if !value.contains("..") {
        return Ok(value.to_owned());
    }
    let expected = "numbers separated by commas, or a range like 1..9:lin5 or 1..100:log3";
    let numbers = range(value).map_err(|_| Error::parameter(name, value, expected))?;
    Ok(numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(","))
}

/// One line for each parameter: name, default, range, meaning.
pub fn explained<'a>(parameters: impl IntoIterator<Item = &'a Parameter>) -> String {
    let line = |p: &Parameter| {
        let (low, high) = p.range;
        let kind = if p.whole { "whole numbers " } else { "" };
        format!("  {} = {} ({kind}from {} to {}): {}\n", p.name, default(p), show(low), show(high), p.what)
    };
    let lines: String = parameters.into_iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("Parameters (--set NAME=VALUE):\n{lines}") }
}

/// The default; of a long list its ends.
fn default(p: &Parameter) -> String {
    let all: Vec<String> = p.default.iter().map(|v| show(*v)).collect();
    match &all[..] {
        [first, .., last] if all.len() > 12 => format!("{first},...,{last}, {} numbers", all.len()),
        _ => all.join(","),
    }
}
