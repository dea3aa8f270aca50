//! Splits a text into words, numbers and signs.

use super::names;

/// The kind of a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Letters and digits that begin with a letter.
    Word,
    /// Words joined by a hyphen or an apostrophe, and chapter numbers: never part of a formula.
    Prose,
    /// A number.
    Number,
    /// A sign.
    Sign,
}

/// A lexeme.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme<'a> {
    pub(super) text: &'a str,
    pub(super) sort: Sort,
    /// True if white space precedes it.
    pub(super) spaced: bool,
}

impl Lexeme<'_> {
    /// The sign, if it is a single character.
    pub(super) fn sign(&self) -> Option<char> {
        let mut letters = self.text.chars();
        letters.next().filter(|_| self.sort == Sort::Sign && letters.next().is_none())
    }

    /// True if it is this text.
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text
    }
}

/// All lexemes of a text.
pub(super) fn pieces(text: &str) -> Vec<Lexeme<'_>> {
    let mut out: Vec<Lexeme> = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let rest = &text[at..];
        let spaced = at == 0 || text[..at].ends_with(char::is_whitespace);
        let glued = out.last().is_some_and(|l| !spaced && l.sort != Sort::Sign);
        let (sort, length) = if c.is_alphabetic() {
            word(rest)
        } else if c.is_ascii_digit() || c == '.' && !glued && follows_digit(&rest[1..]) {
            (Sort::Number, number(rest))
        } else {
            (Sort::Sign, sign(rest, c))
        };
        out.push(Lexeme { text: &rest[..length], sort, spaced });
        at += length;
    }
    out
}

fn follows_digit(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_digit())
}

fn letters(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len())
}

/// A word, or several joined words: `log-sum-exp`, `Euler's`, `C.1`, `e.g`.
fn word(text: &str) -> (Sort, usize) {
    let mut end = letters(text);
    let mut sort = Sort::Word;
    loop {
        let (first, rest) = (&text[..end], &text[end..]);
        let mut signs = rest.chars();
        let joint = signs.next();
        let behind = signs.as_str();
        let more = letters(behind);
        let next = &behind[..more];
        let joined = match joint {
            // Letters with a hyphen between them are a difference; with a longer word they are
            // prose.
            Some('-') => {
                let long = |w: &str| w.chars().count() > 1;
                let plain = |w: &str| long(w) && !names::is_always_formula(w);
                next.starts_with(char::is_alphabetic)
                    && (plain(first) || plain(next) || long(first) && long(next))
            }
            Some('\'') => next.starts_with('s') && more == 1,
            Some('.') => first.chars().count() == 1 && more > 0,
            _ => false,
        };
        if !joined {
            return (sort, end);
        }
        sort = Sort::Prose;
        end += 1 + more;
    }
}

/// Digits with a point and a power of ten.
fn number(text: &str) -> usize {
    let digits = |from: usize| {
        text[from..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |k| from + k)
    };
    let mut end = digits(0);
    if text[end..].starts_with('.') && follows_digit(&text[end + 1..]) {
        end = digits(end + 1);
    }
    if let Some(power) = text[end..].strip_prefix('e') {
        let signed = usize::from(power.starts_with(['-', '+']));
        if follows_digit(&power[signed..]) {
            end = digits(end + 1 + signed);
        }
    }
    end
}

/// The longest sign. An arrow to the left must be followed by white space; otherwise it is a
/// bracket and a minus.
fn sign(text: &str, first: char) -> usize {
    let length = names::longest(text).map_or(first.len_utf8(), str::len);
    let arrow = length == 2 && first == '<' && text[1..].starts_with('-');
    if arrow && !text[length..].starts_with(char::is_whitespace) { 1 } else { length }
}
