//! Deviations are compared in one way. `f64::max` and `f64::min` forget NaN: with them the largest
//! deviation of a result that is NaN everywhere is 0, and its test passes. So the sources of tests
//! and claims contain no such fold. They use `largest`, `least` and `max_difference` of
//! `num::deviation`, and `nan_max` and `nan_min` of `num::stats` where NaN must remain NaN.

use metastable::num::deviation::{largest, least, max_difference, relative_difference};
use metastable::num::vector::{max_abs, max_norm};
use std::fs;
use std::path::{Path, PathBuf};

const NAN: f64 = f64::NAN;

#[test]
fn nan_is_an_infinite_deviation_and_the_least_margin() {
    for values in [[NAN, 1.0, 2.0], [1.0, NAN, 2.0], [1.0, 2.0, NAN], [NAN; 3]] {
        assert!(largest(values).is_infinite() && largest(values) > 0.0, "{values:?}");
        assert!(least(values).is_infinite() && least(values) < 0.0, "{values:?}");
        for (a, b) in [(values, [1.0; 3]), ([1.0; 3], values), (values, values)] {
            assert!(max_difference(&a, &b).is_infinite(), "{a:?} {b:?}");
            assert!(relative_difference(&a, &b).is_infinite(), "{a:?} {b:?}");
        }
        // A size is NaN: infinity would make a relative deviation 0.
        assert!(max_abs(&values).is_nan() && max_norm(&values, 3).is_nan(), "{values:?}");
    }
    // Two infinities may be anywhere, and of two lists one may be empty.
    assert!(max_difference(&[f64::INFINITY], &[f64::INFINITY]).is_infinite());
    assert!(relative_difference(&[1.0], &[f64::INFINITY]).is_infinite());
    assert!(max_difference(&[], &[1.0]).is_infinite());
    assert!(relative_difference(&[0.0; 2], &[0.0; 2]) <= 0.0);
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path());
    let below = entries.flat_map(|p| if p.is_dir() { sources(&p) } else { vec![p] });
    below.filter(|p| p.extension().is_some_and(|e| e == "rs")).collect()
}

/// The end of the comment or literal that begins at this place; the place itself if none does.
fn end_of_text(code: &[char], start: usize) -> usize {
    let after = |from: usize, what: &str| {
        let what: Vec<char> = what.chars().collect();
        let found =
            code[from.min(code.len())..].windows(what.len()).position(|w| w == what.as_slice());
        found.map_or(code.len(), |k| from + k + what.len())
    };
    let at = |k: usize| code.get(start + k).copied().unwrap_or(' ');
    let in_word = start > 0 && (code[start - 1].is_alphanumeric() || code[start - 1] == '_');
    match (code[start], at(1), at(2)) {
        ('/', '/', _) => after(start, "\n") - 1,
        ('r', '"', _) if !in_word => after(start + 2, "\""),
        ('r', '#', '"') if !in_word => after(start + 3, "\"#"),
        ('"', ..) => {
            let mut k = start + 1;
            while k < code.len() && code[k] != '"' {
                k += if code[k] == '\\' { 2 } else { 1 };
            }
            (k + 1).min(code.len())
        }
        ('\'', '\\', _) => after(start + 3, "'"),
        ('\'', _, '\'') => start + 3,
        _ => start,
    }
}

/// Rust code with blanks in place of comments and literals. Lines stay where they are.
fn code(text: &str) -> String {
    let mut code: Vec<char> = text.chars().collect();
    let mut k = 0;
    while k < code.len() {
        let end = end_of_text(&code, k);
        code[k..end].iter_mut().filter(|c| **c != '\n').for_each(|c| *c = ' ');
        k = end.max(k + 1);
    }
    code.into_iter().collect()
}

/// The text from an opening bracket at the end of `code[..from]` to the closing one.
fn bracketed(code: &str, from: usize) -> &str {
    let mut depth = 1;
    let end = code[from..].char_indices().find(|(_, c)| {
        depth += i32::from("([{".contains(*c)) - i32::from(")]}".contains(*c));
        depth == 0
    });
    end.map_or(&code[from..], |(k, _)| &code[from..from + k])
}

/// Whether this begins an assignment of a place to itself, as `x = x` of `x = x.max(y)` does, but
/// not `let x = x`.
fn assigns_to_itself(code: &str) -> bool {
    let statement = code.rsplit([';', '{', '}']).next().unwrap_or_default();
    let statement: String = statement.split_whitespace().collect();
    let in_place = |c: char| c.is_alphanumeric() || "_.[]*".contains(c);
    statement.rsplit_once('=').is_some_and(|(to, from)| {
        let before = to.strip_suffix(from).filter(|_| !from.is_empty());
        from.chars().all(in_place) && before.is_some_and(|b| !b.ends_with(in_place))
    })
}

/// Where this code forgets NaN: the places in the code, and what is there.
fn faults(code: &str, is_claim: bool) -> Vec<(usize, &'static str)> {
    let forgets = |text: &str| text.contains(".max(") || text.contains(".min(");
    let places = |word: &'static str| code.match_indices(word).map(|(k, _)| k);
    let mut all = Vec::new();
    for word in ["f64::max", "f64::min", "f32::max", "f32::min"] {
        let whole = |k: &usize| {
            let next = code[k + word.len()..].chars().next();
            !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
        };
        all.extend(places(word).filter(whole).map(|k| (k, word)));
    }
    for word in ["fold(", "reduce("] {
        let inside = |k: &usize| forgets(bracketed(code, k + word.len()));
        all.extend(places(word).filter(inside).map(|k| (k, "a fold by max or min")));
    }
    for word in [".max(", ".min("] {
        let accumulates = |k: &usize| assigns_to_itself(&code[..*k]);
        all.extend(places(word).filter(accumulates).map(|k| (k, "x = x.max(..) or x.min(..)")));
    }
    if is_claim {
        let inside = |k: &usize| {
            let open = code[*k..].find('(').map_or(code.len(), |length| k + length + 1);
            let name = code[*k..open].trim_start_matches("Finding::");
            let is_call = name.trim_end_matches('(').chars().all(|c| c.is_lowercase() || c == '_');
            is_call && forgets(bracketed(code, open))
        };
        all.extend(places("Finding::").filter(inside).map(|k| (k, "max or min in a finding")));
    }
    all
}

/// The unit tests of a file: their code, and the number of lines before it. A module of its own
/// file is read as a file.
fn unit_tests(path: &Path, code: &str) -> Vec<(PathBuf, usize, String)> {
    let after = |(k, mark): (usize, &str)| {
        let rest = code[k + mark.len()..].trim_start().strip_prefix("mod ")?;
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let rest = &rest[name.len()..];
        if let Some(body) = rest.trim_start().strip_prefix('{') {
            let start = code.len() - body.len();
            let lines = code[..start].matches('\n').count();
            return Some((path.to_path_buf(), lines, bracketed(code, start).to_owned()));
        }
        let stem = path.file_stem().expect("a name");
        let own = stem == "mod" || stem == "lib";
        let folder = if own { path.with_file_name("") } else { path.with_extension("") };
        let file = folder.join(format!("{name}.rs"));
        let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        Some((file, 0, self::code(&text)))
    };
    code.match_indices("#[cfg(test)]").filter_map(after).collect()
}

#[test]
fn tests_and_claims_do_not_forget_nan() {
    let claims = root().join("src/claims");
    let (mut parts, mut modules) = (Vec::new(), 0);
    for path in sources(&root().join("tests")).into_iter().chain(sources(&claims)) {
        let text = code(&fs::read_to_string(&path).expect("UTF-8"));
        parts.push((path, 0, text));
    }
    for path in sources(&root().join("src")).into_iter().filter(|p| !p.starts_with(&claims)) {
        let found = unit_tests(&path, &code(&fs::read_to_string(&path).expect("UTF-8")));
        modules += found.len();
        parts.extend(found);
    }
    assert!(parts.len() > 300 && modules > 25, "{} parts, {modules} modules", parts.len());
    let mut wrong = Vec::new();
    for (path, lines, code) in &parts {
        for (at, what) in faults(code, path.starts_with(&claims)) {
            let line = lines + 1 + code[..at].matches('\n').count();
            let file = path.strip_prefix(root()).expect("below").display();
            wrong.push(format!("{file}:{line}: {what}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "these forget NaN; use largest, least or max_difference (num::deviation), or nan_max or \
         nan_min (num::stats):\n{}",
        wrong.join("\n")
    );
}

/// Controls: what the search finds, and what it leaves alone.
#[test]
fn the_search_finds_each_form_and_nothing_else() {
    let count = |text: &str| faults(&code(text), true).len();
    for bad in [
        "a.iter().copied().fold(0.0, f64::max)",
        "a.into_iter().reduce(f32::min)",
        "a.iter().fold(0.0f64, |m, x| m.max(x.abs()))",
        "a.iter().fold(\n    0.0,\n    |m: f64, x| {\n        m.min(*x)\n    },\n)",
        "worst = worst.max(x);",
        "worst[k] = worst[k].max(x);",
        "self.most = self\n    .most\n    .max(x);",
        "Finding::identity(a.max(b), 1.0)",
        "let x = '\"'; worst = worst.min(x);",
    ] {
        assert_eq!(count(bad), 1, "{bad}");
    }
    for good in [
        "a.iter().copied().fold(0.0, nan_max)",
        "let t = t.min(3.0);",
        "let mut t = t.min(3.0);",
        "worst = other.max(x);",
        "assert!(worst == worst.max(x));",
        "(f64::MAX, f64::max_exponent)",
        "// worst = worst.max(x)\nlet a = \"f64::max\";",
        "let a = r#\"fold(0.0, f64::max)\"#; let b: &'static str = \"\\\"f64::min\";",
        "Finding::Margin(Margin { value: a.max(b), ..m })",
        "Finding::identity(a, 1.0).and(b.max(c))",
    ] {
        assert_eq!(count(good), 0, "{good}");
    }
}
