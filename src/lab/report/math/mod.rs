//! Formulas of statements as MathML.
//!
//! Statements, titles and hypotheses are plain text with formulas as one types them: `e^{-3
//! beta/2}/2`, `sum_ij m_i m_j e^{beta (G_ij - 1)}`, `|x_i - x_j|`, `<x, y>`. This module finds the
//! formulas and typesets them with Greek letters, indices, powers, fractions, roots, norms and
//! inner products. Text that cannot be parsed stays as it is.

mod drawing;
mod lexeme;
mod names;
mod parse;
mod prose;
mod write;

pub use names::letter;

use super::terms::escape;
use std::ops::Range;

/// A text with its formulas typeset, as HTML.
pub fn text(text: &str) -> String {
    let pieces = lexeme::pieces(text);
    let mut out = String::new();
    let mut at = 0;
    for run in prose::formulas(&pieces) {
        let (run, drawn) = read(&pieces, run);
        let (from, to) = (pieces[run.start].start, pieces[run.end - 1].end());
        let Some(row) = drawn else {
            out.push_str(&words(&text[at..from]));
            out.push_str(&code(&text[from..to]));
            at = to;
            continue;
        };
        let before = text[at..from].len() - text[at..from].trim_end_matches(OPENING).len();
        let after = text[to..].len() - text[to..].trim_start_matches(PUNCTUATION).len();
        out.push_str(&words(&text[at..from - before]));
        out.push_str(&write::markup(&row, &text[from - before..from], &text[to..to + after]));
        at = to + after;
    }
    out.push_str(&words(&text[at..]));
    out
}

/// Characters that stay on the line of the formula after them.
const OPENING: [char; 3] = ['(', '[', '"'];

/// Characters that stay on the line of the formula before them.
const PUNCTUATION: [char; 7] = [',', '.', ';', ':', ')', ']', '"'];

/// Parses a range of lexemes. If it begins or ends with the bar of a bracket around words, that bar
/// is left out.
fn read(
    pieces: &[lexeme::Lexeme],
    run: Range<usize>,
) -> (Range<usize>, Option<Vec<drawing::Drawing>>) {
    let bar = |k: usize| pieces[k].text.starts_with('|');
    let without = [
        run.clone(),
        run.start..run.end - usize::from(bar(run.end - 1)),
        run.start + usize::from(bar(run.start))..run.end,
    ];
    let mut tries = without.into_iter().filter(|r| !r.is_empty());
    let found = tries.find_map(|r| parse::parse(&pieces[r.clone()]).map(|row| (r, row)));
    found.map_or((run, None), |(run, row)| (run, Some(row)))
}

/// The words between formulas; relation signs in them are typeset too.
fn words(text: &str) -> String {
    let drawn = |text: String, (sign, drawn): (&str, &str)| {
        text.replace(&format!(" {sign} "), &format!(" {drawn} "))
    };
    let spaced: String = names::relations().fold(format!("{text} "), drawn);
    escape(spaced.strip_suffix(' ').unwrap_or(&spaced))
}

/// A text that marks some formulas by backticks; all formulas are typeset.
pub fn marked(all: &str) -> String {
    let part = |(k, part): (usize, &str)| if k % 2 == 0 { text(part) } else { formula(part) };
    all.split('`').enumerate().map(part).collect()
}

/// A text that is one formula; shown as code if it cannot be parsed.
pub fn formula(text: &str) -> String {
    let pieces = lexeme::pieces(text);
    let drawn = parse::parse(&pieces).filter(|_| prose::is_formula(&pieces));
    drawn.map_or_else(|| code(text), |row| write::markup(&row, "", ""))
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}
