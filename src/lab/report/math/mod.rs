//! Formulas of statements as MathML.
//!
//! Statements, titles, hypotheses and derivations are text in which backticks mark the formulas, as
//! one types them: `e^{-3 beta/2}/2`, `sum_ij m_i m_j e^{beta (G_ij - 1)}`, `|x_i - x_j|`,
//! `<x, y>`. This module typesets them with Greek letters, indices, powers, fractions, roots, norms
//! and inner products. What is marked and is no formula (a name of the library) is code.

mod drawing;
mod lexeme;
mod names;
mod parse;
mod write;

pub use names::letter;

use super::terms::escape;

/// A text with its marked formulas typeset, as HTML.
pub fn text(text: &str) -> String {
    let mut out = String::new();
    // What the formula before has taken from the next words.
    let mut taken = 0;
    let parts: Vec<&str> = text.split('`').collect();
    for (k, part) in parts.iter().enumerate() {
        if k % 2 == 0 {
            let last = k + 1 == parts.len();
            let end = if last { part.len() } else { part.trim_end_matches(OPENING).len() };
            out.push_str(&words(&part[taken.min(end)..end]));
            continue;
        }
        let (before, after) = (parts[k - 1], parts.get(k + 1).unwrap_or(&""));
        taken = after.len() - after.trim_start_matches(PUNCTUATION).len();
        let opening = before.trim_end_matches(OPENING).len();
        match formula(part) {
            Some(row) => out.push_str(&write::markup(&row, &before[opening..], &after[..taken])),
            None => {
                out.push_str(&escape(&before[opening..]));
                out.push_str(&code(part));
                taken = 0;
            }
        }
    }
    out
}

/// Characters that stay on the line of the formula after them.
const OPENING: [char; 3] = ['(', '[', '"'];

/// Characters that stay on the line of the formula before them.
const PUNCTUATION: [char; 7] = [',', '.', ';', ':', ')', ']', '"'];

/// The words between formulas; relation signs in them are typeset too.
fn words(text: &str) -> String {
    let drawn = |text: String, (sign, drawn): (&str, &str)| {
        text.replace(&format!(" {sign} "), &format!(" {drawn} "))
    };
    let spaced: String = names::relations().fold(format!("{text} "), drawn);
    escape(spaced.strip_suffix(' ').unwrap_or(&spaced))
}

/// The drawing of a marked text; `None` if it is no formula but a name or a call.
fn formula(text: &str) -> Option<Vec<drawing::Drawing>> {
    let pieces = lexeme::pieces(text);
    let sign = |l: Option<&lexeme::Lexeme>, signs: &[char]| {
        l.is_some_and(|l| l.sort == lexeme::Sort::Sign && l.text.starts_with(signs))
    };
    let belongs = |(k, l): (usize, &lexeme::Lexeme)| {
        !matches!(l.sort, lexeme::Sort::Word | lexeme::Sort::Prose)
            || l.text.len() <= 2
            || names::is_always_formula(l.text)
            || names::may_be_function(l.text)
            || sign(pieces.get(k + 1), &['_', '^', '\'', '(', '['])
            || k > 0 && sign(pieces.get(k - 1), &['_', '^', '{'])
    };
    parse::parse(&pieces).filter(|_| pieces.iter().enumerate().all(belongs))
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}
