//! Ranges in words: of numbers, and inside a word such as `low-rank:rank=1,seed=1..9`.

/// The problem of a text where a number is expected.
pub fn no_number(text: &str) -> String {
    let quoted = if text.trim().parse::<f64>().is_ok() { "; a number stands without quotes" } else { "" };
    let ranges = "a range \"a..b:linK\", \"a..b:logK\" or, of whole numbers, \"a..b\"";
    format!("found the string \"{}\", expected a number, or {ranges}{quoted}", text.chars().take(40).collect::<String>())
}

/// Longest range.
const MAX_RANGE: usize = 1_000_000;

/// `a..b:linK` (or `a..b:K`) or `a..b:logK`: K values from a to b, equally spaced or in geometric
/// progression; `a..b`: the whole numbers from a to b.
///
/// ```
/// use metastable::lab::range::range;
/// assert_eq!(range("1..2:lin3").unwrap(), vec![1.0, 1.5, 2.0]);
/// assert_eq!(range("-1..2").unwrap(), vec![-1.0, 0.0, 1.0, 2.0]);
/// assert!(range("1..3:cubic3").is_err() && range("0.5..3").is_err() && range("3..1").is_err());
/// ```
pub fn range(text: &str) -> Result<Vec<f64>, String> {
    let expected = || {
        let whole = "\"a..b\" of whole numbers a < b";
        format!("found \"{text}\", expected a number, or a range \"a..b:linK\", \"a..b:logK\" or {whole}")
    };
    let Some((ends, rule)) = text.split_once(':') else { return whole_numbers(text).ok_or_else(expected)? };
    let (a, b) = ends.split_once("..").ok_or_else(expected)?;
    let (a, b): (f64, f64) = (a.trim().parse().map_err(|_| expected())?, b.trim().parse().map_err(|_| expected())?);
    let kind = rule.trim_end_matches(|c: char| c.is_ascii_digit());
    let count: usize = rule[kind.len()..].parse().map_err(|_| expected())?;
    if !a.is_finite() || !b.is_finite() {
        return Err(expected());
    }
    if !(2..=MAX_RANGE).contains(&count) {
        return Err(format!("found {count} values in \"{text}\", expected 2 to {MAX_RANGE}"));
    }
    let last = (count - 1) as f64;
    let at = |k: usize, f: &dyn Fn(f64) -> f64| if k + 1 == count { b } else { f(k as f64 / last) };
    match kind {
        "" | "lin" => Ok((0..count).map(|k| at(k, &|s| a + (b - a) * s)).collect()),
        "log" if a > 0.0 && b > 0.0 => Ok((0..count).map(|k| at(k, &|s| a * (b / a).powf(s))).collect()),
        "log" => Err(format!("found \"{text}\", expected positive ends for a log range")),
        _ => Err(expected()),
    }
}

/// The whole numbers of `a..b`, or the problem of their number; none where the ends are no whole
/// numbers with a < b that a double holds.
fn whole_numbers(text: &str) -> Option<Result<Vec<f64>, String>> {
    let (a, b) = text.split_once("..")?;
    let (a, b): (i64, i64) = (a.trim().parse().ok()?, b.trim().parse().ok()?);
    if a >= b || a.unsigned_abs().max(b.unsigned_abs()) > 1 << 53 {
        return None;
    }
    let count = (b - a) as usize + 1;
    if count > MAX_RANGE {
        return Some(Err(format!("found {count} values in \"{text}\", expected 2 to {MAX_RANGE}")));
    }
    Some(Ok((a..=b).map(|k| k as f64).collect()))
}

/// All lists of words that a list with ranges stands for, the first range running slowest:
/// `["low-rank:rank=1,seed=1..3"]` stands for three lists of one word. A range is the value of a
/// `key=value` in a word; other words stay as they are.
///
/// **Errors** a range that is none, more than `most` lists.
///
/// ```
/// use metastable::lab::range::without_ranges;
/// let words = ["normal:seed=1..2".to_owned(), "k.csv".to_owned()];
/// assert_eq!(without_ranges(&words, 10).unwrap(), [["normal:seed=1", "k.csv"], ["normal:seed=2", "k.csv"]]);
/// assert!(without_ranges(&words, 1).is_err());
/// ```
pub fn without_ranges(words: &[String], most: usize) -> Result<Vec<Vec<String>>, String> {
    let mut lists = vec![Vec::new()];
    for word in words {
        let forms = forms(word, most)?;
        if lists.len().saturating_mul(forms.len()) > most {
            return Err(format!("found more than {most} values in the ranges of {}, expected fewer", words.join(" and ")));
        }
        let with = |list: &Vec<String>, form: &String| -> Vec<String> { list.iter().chain([form]).cloned().collect() };
        lists = lists.iter().flat_map(|list| forms.iter().map(move |form| with(list, form))).collect();
    }
    Ok(lists)
}

/// All words that a word with ranges stands for.
fn forms(word: &str, most: usize) -> Result<Vec<String>, String> {
    let mut forms = vec![String::new()];
    for (k, part) in word.split(',').enumerate() {
        let comma = if k > 0 { "," } else { "" };
        let range_of = |(key, value): (&str, &str)| -> Option<(String, String)> {
            let (first, _) = value.split_once("..")?;
            // A name of a file may hold dots as well: a range begins with a number.
            first.trim().parse::<f64>().ok().map(|_| (key.to_owned(), value.to_owned()))
        };
        let Some((key, text)) = part.split_once('=').and_then(range_of) else {
            forms.iter_mut().for_each(|form| *form += &format!("{comma}{part}"));
            continue;
        };
        let values = range(text.trim())?;
        if forms.len().saturating_mul(values.len()) > most {
            return Err(format!("found {} values in {text}, expected at most {most}", values.len()));
        }
        let with = |form: &String, v: f64| format!("{form}{comma}{key}={v}");
        forms = forms.iter().flat_map(|form| values.iter().map(move |v| with(form, *v))).collect();
    }
    Ok(forms)
}
