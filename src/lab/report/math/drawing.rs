//! What is drawn of a formula.

use super::lexeme::{Lexeme, Sort};
use super::names;

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Drawing {
    /// A variable, or a name of several letters.
    Name(String),
    /// A function, with a space before what it acts on.
    Function(String),
    /// A number.
    Number(String),
    /// A sign, and whether a line may be broken before it.
    Sign(&'static str, bool),
    /// A thin space.
    Space,
    /// Several side by side.
    Row(Vec<Drawing>),
    /// Something in brackets; a bracket may be missing at a half-open end only.
    Fenced(&'static str, Vec<Drawing>, &'static str),
    /// A quotient, with the brackets of its sides.
    Fraction(Box<Drawing>, Box<Drawing>),
    /// A square root.
    Root(Box<Drawing>),
    /// Below and above the line.
    Script(Box<Drawing>, Option<Box<Drawing>>, Option<Box<Drawing>>),
}

/// Whether something acts on what follows it.
pub(super) fn acts(drawing: &Drawing) -> bool {
    match drawing {
        Drawing::Function(_) | Drawing::Sign(..) => true,
        Drawing::Script(base, ..) => acts(base),
        Drawing::Row(row) => row.last() == Some(&Drawing::Space),
        _ => false,
    }
}

/// A letter, or a word of several.
pub(super) fn name(text: &str) -> Drawing {
    names::letter(text).map_or_else(|| letters(text), |greek| Drawing::Name(greek.to_owned()))
}

/// Two letters that are no word are a product; indices like `ijk` too.
fn letters(text: &str) -> Drawing {
    let few = text.chars().count();
    let plain = text.chars().all(|c| c.is_ascii_lowercase());
    if few == 2 && plain || few == 3 && text.chars().all(|c| ('i'..='n').contains(&c)) {
        return Drawing::Row(text.chars().map(|c| Drawing::Name(c.to_string())).collect());
    }
    // A letter and its number: `T2`.
    let digits = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letter = &text[..text.len() - digits.len()];
    if !digits.is_empty() && letter.len() == 1 && digits.chars().all(|c| c.is_ascii_digit()) {
        let below = Drawing::Number(digits.to_owned());
        return Drawing::Script(Box::new(Drawing::Name(letter.to_owned())), Some(Box::new(below)), None);
    }
    Drawing::Name(text.to_owned())
}

/// A word or a number behind `_` or `^`.
pub(super) fn subscript(l: &Lexeme) -> Drawing {
    match l.sort {
        Sort::Number => number(l.text),
        _ if names::function(l.text) => Drawing::Name(l.text.to_owned()),
        _ => name(l.text),
    }
}

/// Powers of ten as such.
pub(super) fn number(text: &str) -> Drawing {
    let Some((digits, power)) = text.split_once('e') else { return Drawing::Number(text.to_owned()) };
    let (minus, size) = power.strip_prefix('-').map_or((false, power), |size| (true, size));
    let size = Drawing::Number(size.trim_start_matches(['+', '0']).to_owned());
    let above = if minus { Drawing::Row(vec![Drawing::Sign("−", false), size]) } else { size };
    let ten = Drawing::Script(Box::new(Drawing::Number("10".to_owned())), None, Some(Box::new(above)));
    match digits.parse::<f64>() {
        Ok(one) if (one - 1.0).abs() < f64::EPSILON => ten,
        _ => Drawing::Row(vec![Drawing::Number(digits.to_owned()), Drawing::Sign("×", false), ten]),
    }
}

/// Brackets that only say how far something goes.
const ROUND: (&str, &str) = ("(", ")");

/// What stands in round brackets, without them.
pub(super) fn unbracketed(drawing: Drawing) -> Drawing {
    match drawing {
        Drawing::Fenced(open, inside, close) if (open, close) == ROUND => one_of(inside),
        other => other,
    }
}

/// One drawing for several; of one in round brackets what is in them.
pub(super) fn bare_row(row: Vec<Drawing>) -> Drawing {
    unbracketed(one_of(row))
}

/// One drawing for several.
pub(super) fn one_of(mut row: Vec<Drawing>) -> Drawing {
    if row.len() > 1 { Drawing::Row(row) } else { row.pop().unwrap_or(Drawing::Row(Vec::new())) }
}
