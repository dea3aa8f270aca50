//! The tree of a typeset formula.

use super::lexeme::{Lexeme, Sort};
use super::names;

/// A node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Drawing {
    /// A variable, or a name of several letters.
    Name(String),
    /// A function; a space follows before its argument.
    Function(String),
    /// A number.
    Number(String),
    /// A sign, and whether a line may be broken before it.
    Sign(&'static str, bool),
    /// A thin space.
    Space,
    /// A row.
    Row(Vec<Drawing>),
    /// A row in brackets; a bracket may be empty at a half-open end.
    Fenced(&'static str, Vec<Drawing>, &'static str),
    /// A quotient. Its sides keep their brackets.
    Fraction(Box<Drawing>, Box<Drawing>),
    /// A square root.
    Root(Box<Drawing>),
    /// A base with a subscript and a superscript.
    Script(Box<Drawing>, Option<Box<Drawing>>, Option<Box<Drawing>>),
}

/// True if the node acts on what follows it.
pub(super) fn acts(drawing: &Drawing) -> bool {
    match drawing {
        Drawing::Function(_) | Drawing::Sign(..) => true,
        Drawing::Script(base, ..) => acts(base),
        Drawing::Row(row) => row.last() == Some(&Drawing::Space),
        _ => false,
    }
}

/// A letter or a name of several letters.
pub(super) fn name(text: &str) -> Drawing {
    names::letter(text).map_or_else(|| letters(text), |greek| Drawing::Name(greek.to_owned()))
}

/// Two lower-case letters are a product, and so are indices such as `ijk`.
fn letters(text: &str) -> Drawing {
    let few = text.chars().count();
    let plain = text.chars().all(|c| c.is_ascii_lowercase());
    if few == 2 && plain || few == 3 && text.chars().all(|c| ('i'..='n').contains(&c)) {
        return Drawing::Row(text.chars().map(|c| Drawing::Name(c.to_string())).collect());
    }
    // A letter with a number: `T2`.
    let digits = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letter = &text[..text.len() - digits.len()];
    if !digits.is_empty() && letter.len() == 1 && digits.chars().all(|c| c.is_ascii_digit()) {
        let below = Drawing::Number(digits.to_owned());
        return Drawing::Script(
            Box::new(Drawing::Name(letter.to_owned())),
            Some(Box::new(below)),
            None,
        );
    }
    Drawing::Name(text.to_owned())
}

/// A word or a number after `_` or `^`.
pub(super) fn subscript(l: &Lexeme) -> Drawing {
    match l.sort {
        Sort::Number => number(l.text),
        _ if names::is_function(l.text) => Drawing::Name(l.text.to_owned()),
        _ => name(l.text),
    }
}

/// A number; powers of ten are typeset.
pub(super) fn number(text: &str) -> Drawing {
    let Some((digits, power)) = text.split_once('e') else {
        return Drawing::Number(text.to_owned());
    };
    let (minus, size) = power.strip_prefix('-').map_or((false, power), |size| (true, size));
    let size = Drawing::Number(size.trim_start_matches(['+', '0']).to_owned());
    let above = if minus { Drawing::Row(vec![Drawing::Sign("−", false), size]) } else { size };
    let ten =
        Drawing::Script(Box::new(Drawing::Number("10".to_owned())), None, Some(Box::new(above)));
    match digits.parse::<f64>() {
        Ok(one) if (one - 1.0).abs() < f64::EPSILON => ten,
        _ => Drawing::Row(vec![Drawing::Number(digits.to_owned()), Drawing::Sign("×", false), ten]),
    }
}

/// Brackets that only group.
const ROUND: (&str, &str) = ("(", ")");

/// The content of round brackets; other nodes unchanged.
pub(super) fn unbracketed(drawing: Drawing) -> Drawing {
    match drawing {
        Drawing::Fenced(open, inside, close) if (open, close) == ROUND => one_of(inside),
        other => other,
    }
}

/// One node for a row; round brackets around a single node are removed.
pub(super) fn bare_row(row: Vec<Drawing>) -> Drawing {
    unbracketed(one_of(row))
}

/// One node for a row.
pub(super) fn one_of(mut row: Vec<Drawing>) -> Drawing {
    if row.len() > 1 { Drawing::Row(row) } else { row.pop().unwrap_or(Drawing::Row(Vec::new())) }
}
