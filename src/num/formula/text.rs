//! The text of a formula before it is parsed.
//!
//! The parser binds a leading minus tighter than a power: it would read `-s^2` as `(-s)^2`. So a
//! leading minus becomes `0-`, and a minus after another operator is refused. It reads `a^b^c` from
//! the left, while print and most languages read it from the right, so that is refused, too.

use crate::error::{Error, Result};

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

/// The text with `0-` for a leading minus.
///
/// **Errors** an empty text, a character that no formula has, a sign after an operator, a power of
/// a power without parentheses.
pub(super) fn with_explicit_signs(text: &str) -> Result<String> {
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
            out.push_str(&text[k..k + length]);
            (k, before) = (k + length, b'a');
            continue;
        }
        match b {
            b'-' | b'+' if before == b'(' => out.push_str(if b == b'-' { "0-" } else { "" }),
            b'-' | b'+' if b"-+*/^".contains(&before) => {
                return Err(wrong(format!(
                    "parentheses around a sign after `{}`, such as 2^(-s)",
                    char::from(before)
                )));
            }
            b'+' | b'-' | b'*' | b'/' | b'^' | b'(' | b')' => out.push(char::from(b)),
            _ => {
                let found = text[k..].chars().next().unwrap_or('?');
                return Err(wrong(format!(
                    "letters, digits and + - * / ^ ( ) only, not `{found}`; a product is written with *"
                )));
            }
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
    Ok(out)
}
