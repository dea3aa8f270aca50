//! The grammar of lists and ranges of numbers, the same in experiment files, in models and on the
//! command line: `1,2,4`, `2..64`, `0..1:lin11`, `1..16:log5`.

use crate::error::{Error, Result};

/// The forms of a value, for errors and help.
pub const FORMS: &str = "a number, or a range \"a..b:linK\", \"a..b:logK\" or \"a..b\" of whole numbers a < b, or a \
    list of these separated by commas";

/// Largest number of values in one text.
const MAX_VALUES: usize = 1_000_000;

/// Real numbers. The text is a list of items separated by commas. An item is a number, or a range:
/// `a..b` stands for the whole numbers from a to b; `a..b:linK` (or `a..b:K`) for K equally spaced
/// values from a to b; `a..b:logK` for K values in geometric progression, a and b positive.
///
/// **Errors** with the item that is malformed and the form expected; the name of the parameter is
/// `range`, see [`named`].
///
/// ```
/// use metastable::operation::range::reals;
/// assert_eq!(reals("1..2:lin3").unwrap(), [1.0, 1.5, 2.0]);
/// assert_eq!(reals("1..100:log3").unwrap(), [1.0, 10.0, 100.0]);
/// assert_eq!(reals("-1..1,0.5").unwrap(), [-1.0, 0.0, 1.0, 0.5]);
/// assert!(reals("1..3:cubic3").is_err() && reals("0.5..3").is_err() && reals("3..1").is_err());
/// ```
pub fn reals(text: &str) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    for item in text.split(',') {
        values.extend(one_item(item.trim())?);
        if values.len() > MAX_VALUES {
            return Err(malformed(text, &format!("at most {MAX_VALUES} values")));
        }
    }
    Ok(values)
}

/// Whole numbers >= 0, in the grammar of [`reals`]. The values between the ends of a spaced range
/// are rounded, and a value equal to the one before it is left out.
///
/// **Errors** as [`reals`]; also a negative number, or one that is not whole.
///
/// ```
/// use metastable::operation::range::integers;
/// assert_eq!(integers("2..5,9").unwrap(), [2, 3, 4, 5, 9]);
/// assert_eq!(integers("1..16:log5").unwrap(), [1, 2, 4, 8, 16]);
/// assert_eq!(integers("1..3:log5").unwrap(), [1, 2, 3]);
/// assert!(integers("1.5").is_err() && integers("-1..2").is_err());
/// ```
pub fn integers(text: &str) -> Result<Vec<usize>> {
    let mut values: Vec<usize> = Vec::new();
    for item in text.split(',').map(str::trim) {
        let reals = one_item(item)?;
        let is_whole = |v: &f64| v.fract() == 0.0 && *v >= 0.0 && *v <= LARGEST_WHOLE as f64;
        if ![reals.first(), reals.last()].into_iter().flatten().all(is_whole) {
            return Err(malformed(item, "whole numbers >= 0"));
        }
        let mut rounded: Vec<usize> = reals.iter().map(|v| v.round() as usize).collect();
        rounded.dedup();
        values.extend(rounded);
        if values.len() > MAX_VALUES {
            return Err(malformed(text, &format!("at most {MAX_VALUES} values")));
        }
    }
    Ok(values)
}

/// The ends of an interval `a..b` of real numbers, a <= b.
///
/// **Errors** as [`reals`].
///
/// ```
/// assert_eq!(metastable::operation::range::interval("0.5..3").unwrap(), (0.5, 3.0));
/// ```
pub fn interval(text: &str) -> Result<(f64, f64)> {
    let expected = "an interval a..b of numbers with a <= b";
    ends(text).filter(|(a, b)| a <= b).ok_or_else(|| malformed(text, expected))
}

/// An error of this module, with the name of the parameter (a key, a flag) that the text is of.
#[must_use]
pub fn named(error: Error, name: &str) -> Error {
    match error {
        Error::Parameter { found, expected, .. } => {
            Error::Parameter { name: name.into(), found, expected }
        }
        other => other,
    }
}

/// All lists of words that a list with ranges stands for, the first range running slowest:
/// `["low-rank:rank=1,seed=1..3"]` stands for three lists of one word. A range may be the value of
/// a `key=value` in a word; other words stay as they are.
///
/// **Errors** a malformed range, more than `most` lists.
///
/// ```
/// use metastable::operation::range::expanded;
/// let words = ["normal:seed=1..2".to_owned(), "k.csv".to_owned()];
/// assert_eq!(expanded(&words, 10).unwrap(), [["normal:seed=1", "k.csv"], ["normal:seed=2", "k.csv"]]);
/// assert!(expanded(&words, 1).is_err());
/// ```
pub fn expanded(words: &[String], most: usize) -> Result<Vec<Vec<String>>> {
    let mut lists = vec![Vec::new()];
    for word in words {
        let variants = variants(word, most)?;
        if lists.len().saturating_mul(variants.len()) > most {
            return Err(malformed(
                &words.join(" and "),
                &format!("ranges with at most {most} combinations"),
            ));
        }
        let with = |list: &Vec<String>, word: &String| -> Vec<String> {
            list.iter().chain([word]).cloned().collect()
        };
        lists = lists
            .iter()
            .flat_map(|list| variants.iter().map(move |word| with(list, word)))
            .collect();
    }
    Ok(lists)
}

/// Largest whole number in a range: all whole numbers up to 2^53 are doubles.
const LARGEST_WHOLE: u64 = 1 << 53;

fn malformed(text: &str, expected: &str) -> Error {
    let found: String = text.chars().take(60).collect();
    Error::parameter("range", format!("\"{found}\""), expected)
}

/// The values of one item of a list.
fn one_item(item: &str) -> Result<Vec<f64>> {
    if let Ok(value) = item.parse::<f64>()
        && value.is_finite()
    {
        return Ok(vec![value]);
    }
    let too_many = || malformed(item, &format!("2 to {MAX_VALUES} values"));
    let expected = || malformed(item, FORMS);
    let Some((interval, rule)) = item.split_once(':') else {
        let (a, b) = item.split_once("..").ok_or_else(expected)?;
        let whole =
            |s: &str| s.trim().parse().ok().filter(|v: &i64| v.unsigned_abs() <= LARGEST_WHOLE);
        let (a, b) = whole(a).zip(whole(b)).filter(|(a, b)| a < b).ok_or_else(expected)?;
        if b - a >= MAX_VALUES as i64 {
            return Err(too_many());
        }
        return Ok((a..=b).map(|k| k as f64).collect());
    };
    let (a, b) = ends(interval).ok_or_else(expected)?;
    let spacing = rule.trim_end_matches(|c: char| c.is_ascii_digit());
    let count: usize = rule[spacing.len()..].parse().map_err(|_| expected())?;
    if !(2..=MAX_VALUES).contains(&count) {
        return Err(too_many());
    }
    let last = (count - 1) as f64;
    let value: &dyn Fn(f64) -> f64 = match spacing {
        "" | "lin" => &|s| a + (b - a) * s,
        "log" if a > 0.0 && b > 0.0 => &|s| a * (b / a).powf(s),
        "log" => return Err(malformed(item, "positive ends of a log range")),
        _ => return Err(expected()),
    };
    Ok((0..count).map(|k| if k + 1 == count { b } else { value(k as f64 / last) }).collect())
}

/// The finite ends of `a..b`.
fn ends(text: &str) -> Option<(f64, f64)> {
    let (a, b) = text.split_once("..")?;
    let finite = |s: &str| s.trim().parse().ok().filter(|v: &f64| v.is_finite());
    finite(a).zip(finite(b))
}

/// All words that a word with ranges stands for.
fn variants(word: &str, most: usize) -> Result<Vec<String>> {
    let mut variants = vec![String::new()];
    for (k, part) in word.split(',').enumerate() {
        let comma = if k > 0 { "," } else { "" };
        // Names of files may hold dots as well: a range begins with a number.
        let is_range = |value: &str| {
            value.split_once("..").is_some_and(|(a, _)| a.trim().parse::<f64>().is_ok())
        };
        let Some((key, range)) = part.split_once('=').filter(|(_, value)| is_range(value)) else {
            variants.iter_mut().for_each(|variant| *variant += &format!("{comma}{part}"));
            continue;
        };
        let values = reals(range)?;
        if variants.len().saturating_mul(values.len()) > most {
            return Err(malformed(range, &format!("at most {most} values")));
        }
        let with = |variant: &String, v: f64| format!("{variant}{comma}{key}={v}");
        variants = variants
            .iter()
            .flat_map(|variant| values.iter().map(move |v| with(variant, *v)))
            .collect();
    }
    Ok(variants)
}
