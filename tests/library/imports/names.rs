//! What a file says with names: strings it compares, types it declares.

use super::tokens::tokens;

/// Calls that look for a part of a text.
const LOOKING: [&str; 8] = ["starts_with", "ends_with", "contains", "strip_prefix", "strip_suffix", "eq", "eq_ignore_ascii_case", "cmp"];

/// Texts in quotes that something is compared with: by `==` or `!=`, as an arm of a `match`, in `matches!`, by a call such as `starts_with`, in a list
/// that is asked whether it `contains` a thing; and `name()` where it is compared with whatever.
pub fn compared(text: &str) -> Vec<String> {
    let words = tokens(text);
    let at = |k: usize| words.get(k).map_or("", String::as_str);
    let before = |k: usize, back: usize| k.checked_sub(back).map_or("", at);
    let equates = |k: usize| matches!((at(k), at(k + 1)), ("=" | "!", "="));
    let mut out = Vec::new();
    for (k, word) in words.iter().enumerate() {
        if word == "name" && at(k + 1) == "(" && at(k + 2) == ")" && equates(k + 3) {
            out.push("name()".to_owned());
        }
        if !word.starts_with('"') {
            continue;
        }
        // What stands before it, without `&` and `*`; what stands behind it, without the rest of a tuple or of a list.
        let first = (1..=k).find(|back| !matches!(before(k, *back), "&" | "*")).unwrap_or(k);
        let (last, call) = (before(k, first), before(k, first + 1));
        let arm = (k + 1..words.len()).find(|n| !matches!(at(*n), ")" | "," | "_")).unwrap_or(k);
        let list = (k + 1..words.len()).find(|n| matches!(at(*n), "]" | ";" | "{" | "}" | "(")).unwrap_or(k);
        let found = last == "=" && matches!(call, "=" | "!")
            || last == "(" && LOOKING.contains(&call)
            || equates(k + 1)
            || at(k + 1) == "if"
            || at(k + 1) == "|" && at(k + 2).starts_with('"')
            || (at(arm), at(arm + 1)) == ("=", ">") && (arm == k + 1 || at(arm - 1) == ")")
            || at(list) == "]" && at(list + 1) == "." && at(list + 2) == "contains"
            || in_matches(&words[..k]);
        if found {
            out.push(word.clone());
        }
    }
    out
}

/// Whether the words end inside the brackets of a `matches!`.
fn in_matches(words: &[String]) -> bool {
    let mut depth = 0;
    for (k, word) in words.iter().enumerate().rev().take(60) {
        match word.as_str() {
            ";" | "{" | "}" => return false,
            ")" => depth += 1,
            "(" if depth == 0 && k >= 2 && words[k - 1] == "!" => return words[k - 2] == "matches",
            "(" if depth > 0 => depth -= 1,
            _ => {}
        }
    }
    false
}

/// Types that others than the folder of this file may see: structs, enums, traits and aliases that are `pub` or `pub(crate)`.
pub fn shown_types(text: &str) -> Vec<String> {
    let words = tokens(text);
    let is = |k: usize, what: &[&str]| words.get(k).is_some_and(|w| what.contains(&w.as_str()));
    let mut out = Vec::new();
    for (k, word) in words.iter().enumerate() {
        if word == "pub" {
            let crate_only = is(k + 1, &["("]) && is(k + 2, &["crate"]);
            let item = if crate_only { k + 4 } else { k + 1 };
            if is(item, &["struct", "enum", "trait", "type", "union"]) {
                out.extend(words.get(item + 1).cloned());
            }
        }
    }
    out
}

#[test]
fn the_reader_of_names_finds_comparisons_and_no_others() {
    let found = |text: &str| compared(text).len();
    for text in [
        "if x == \"sa\" {}",
        "if *x != *\"sa\" {}",
        "if \"sa\" == x {}",
        "match x { \"sa\" => 1, _ => 2 }",
        "match x { (2, \"sa\") => 1, _ => 2 }",
        "match x { \"sa\" if y => 1, _ => 2 }",
        "let y = matches!(f(x), \"sa\");",
        "x.starts_with(\"sa\")",
        "[\"sa\", x].contains(&y)",
        "a.name() == b",
    ] {
        assert_eq!(found(text), 1, "{text}");
    }
    assert_eq!(found("match x { \"sa\" | \"usa\" => 1, _ => 2 }"), 2);
    for text in [
        "f(\"sa\", |x| x == 1)",
        "let x = \"sa\"; // == \"sa\"",
        "Case { dynamics: \"sa\" }",
        "build(\"sa\")? ",
        "[\"sa\"].iter()",
        "write!(f, \"{x}\")",
    ] {
        assert_eq!(found(text), 0, "{text}");
    }
    assert_eq!(
        shown_types("pub struct A; pub(crate) enum B {} pub(super) struct C; struct D; impl A { pub fn e() {} } pub type F = u8;"),
        ["A", "B", "F"]
    );
}
