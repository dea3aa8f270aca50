//! The text of a formula before it is parsed.
//!
//! The parser binds a leading minus tighter than a power: it would read `-s^2` as `(-s)^2`. So a
//! leading minus becomes `0-`, and a minus after another operator is refused. It reads `a^b^c` from
//! the left, while print and most languages read it from the right, so that is refused, too.

use super::names::{FUNCTIONS, VARIABLE};
use crate::error::{Error, Result, nearest};

/// What to write for functions of other programs that are none here.
const INSTEAD: [(&str, &str); 14] = [
    ("log", "ln, the natural logarithm"),
    ("log2", "ln(s)/ln(2)"),
    ("log10", "ln(s)/ln(10)"),
    ("sigmoid", "1/(1 + exp(-s)), or the name `sigmoid:k=1` for the whole formula"),
    ("logistic", "1/(1 + exp(-s)), or the name `sigmoid:k=1` for the whole formula"),
    ("expit", "1/(1 + exp(-s)), or the name `sigmoid:k=1` for the whole formula"),
    ("softplus", "ln(1 + exp(s)), or the name `softplus:k=1` for the whole formula"),
    ("gauss", "exp(s - 1), or the name `gauss:k=1` for the whole formula"),
    ("max", "relu: relu(s) is the larger of s and 0"),
    ("min", "relu: -relu(-s) is the smaller of s and 0"),
    ("pow", "a power with ^, such as s^3"),
    ("power", "a power with ^, such as s^3, or the name `power:p=3` for the whole formula"),
    ("square", "a power with ^, such as s^2"),
    ("sqr", "a power with ^, such as s^2"),
];

/// What is expected in the place of a function that does not exist, with those that do.
fn no_function(name: &str) -> String {
    let lower = name.to_lowercase();
    let known = FUNCTIONS.join(", ");
    // Three letters are within two changes of any other three.
    let near = nearest(&lower, FUNCTIONS).filter(|near| *near == lower || lower.len() > 3);
    if let Some((_, instead)) = INSTEAD.iter().find(|(other, _)| *other == lower) {
        format!("{instead} (functions: {known})")
    } else if let Some(near) = near {
        format!("{near} (functions: {known})")
    } else {
        format!("one of the functions {known}")
    }
}

/// What is expected in the place of a character that no formula has.
fn no_character(found: char) -> String {
    match found {
        '\u{2212}' | '\u{2013}' => format!("the sign - in the place of `{found}`"),
        '\u{b7}' | '\u{d7}' => format!("the sign * in the place of `{found}`"),
        '|' => "abs(s) for an absolute value".into(),
        ',' => "functions of one argument, without `,`".into(),
        _ => format!(
            "letters, digits and + - * / ^ ( ) only, not `{found}`; a product is written with *"
        ),
    }
}

/// The length of the decimal number at the start of a text; 0 if there is none.
pub(super) fn number_end(text: &[u8]) -> usize {
    let digits = |from: usize| text[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let mut end = whole;
    if text.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        if whole + fraction == 0 {
            return 0;
        }
        end += 1 + fraction;
    }
    if end == 0 {
        return 0;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = if end + 1 + sign <= text.len() { digits(end + 1 + sign) } else { 0 };
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    end
}

/// Where the function of this name is called in a text: a whole word before a parenthesis.
pub(super) fn calls<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let bytes = text.as_bytes();
    text.match_indices(name).map(|(k, _)| k).filter(move |k| {
        !bytes[..*k].last().is_some_and(word) && bytes.get(k + name.len()) == Some(&b'(')
    })
}

/// The length of a text up to the parenthesis that closes one before it.
pub(super) fn closing(text: &str) -> usize {
    let mut depth = 1;
    let inside = text.bytes().take_while(|b| {
        depth += i32::from(*b == b'(') - i32::from(*b == b')');
        depth > 0
    });
    inside.count()
}

/// What is missing where an operator or a closing parenthesis follows another one, or nothing.
fn missing(before: u8, next: Option<u8>, at_the_start: bool) -> Option<String> {
    let what = "a number, s or a function";
    let before = char::from(before);
    match next.map(char::from) {
        Some('*') if before == '*' => Some("^ for a power, such as s^3".into()),
        Some(next) if at_the_start => Some(format!("{what} before `{next}`")),
        Some(next) if "(+-*/^".contains(before) => {
            Some(format!("{what} between `{before}` and `{next}`"))
        }
        None if "(+-*/^".contains(before) => Some(format!("{what} after `{before}`")),
        _ => None,
    }
}

/// The text with `0-` for a leading minus.
///
/// **Errors** an empty text, a character that no formula has, an unknown function, parentheses
/// that do not match, a sign after an operator, an operator without an operand, a power of a power
/// without parentheses.
pub(super) fn with_explicit_signs(text: &str, parameters: &[(&str, f64)]) -> Result<String> {
    let wrong = |expected: String| Error::parameter("formula", format!("`{text}`"), expected);
    if text.trim().is_empty() {
        return Err(wrong("a formula of s, such as exp(4*s) + s^3".into()));
    }
    let bytes = text.as_bytes();
    let (mut out, mut k, mut before) = (String::new(), 0, b'(');
    // For every open parenthesis: whether the last operator inside is a power.
    let mut powers = vec![false];
    while k < bytes.len() {
        let b = bytes[k];
        if b.is_ascii_whitespace() {
            k += 1;
            continue;
        }
        let operand = b.is_ascii_alphanumeric() || b == b'_' || b == b'.' || b == b'(';
        if operand && (b"0)".contains(&before) || before == b'a' && b != b'(') {
            return Err(wrong(format!("an operator before `{}`, such as 2*s", &text[k..])));
        }
        let length = number_end(&bytes[k..]);
        if length > 0 {
            out.push_str(&text[k..k + length]);
            (k, before) = (k + length, b'0');
            continue;
        }
        if b.is_ascii_alphabetic() || b == b'_' {
            let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
            let length = bytes[k..].iter().take_while(|b| word(b)).count();
            let name = &text[k..k + length];
            let called = text[k + length..].trim_ascii_start().starts_with('(');
            let known = FUNCTIONS.contains(&name);
            if called && !known {
                let value =
                    name == VARIABLE || name == "pi" || parameters.iter().any(|p| p.0 == name);
                if value {
                    return Err(wrong(format!(
                        "an operator after `{name}`, such as {name}*(s + 1)"
                    )));
                }
                let found = format!("the function `{name}` in `{text}`");
                return Err(Error::parameter("formula", found, no_function(name)));
            }
            if known && !called {
                return Err(wrong(format!("parentheses after `{name}`, such as {name}(s)")));
            }
            out.push_str(name);
            (k, before) = (k + length, b'a');
            continue;
        }
        if b"*/^)".contains(&b)
            && let Some(what) = missing(before, Some(b), out.is_empty())
        {
            return Err(wrong(what));
        }
        match b {
            b'-' | b'+' if before == b'(' => out.push_str(if b == b'-' { "0-" } else { "" }),
            b'-' | b'+' if b"-+*/^".contains(&before) => {
                return Err(wrong(format!(
                    "parentheses around a sign after `{}`, such as 2^(-s)",
                    char::from(before)
                )));
            }
            b')' if powers.len() == 1 => return Err(wrong("as many `(` as `)`".into())),
            b'+' | b'-' | b'*' | b'/' | b'^' | b'(' | b')' => out.push(char::from(b)),
            _ => return Err(wrong(no_character(text[k..].chars().next().unwrap_or('?')))),
        }
        match (b, powers.last_mut()) {
            (b'(', _) => powers.push(false),
            (b')', _) => drop(powers.pop()),
            (b'^', Some(true)) => {
                return Err(wrong("parentheses in a power of a power, such as (s^2)^3".into()));
            }
            (_, Some(power)) => *power = b == b'^',
            _ => {}
        }
        (k, before) = (k + 1, b);
    }
    if let Some(what) = missing(before, None, false) {
        return Err(wrong(what));
    }
    if powers.len() > 1 {
        return Err(wrong("as many `)` as `(`".into()));
    }
    Ok(out)
}
