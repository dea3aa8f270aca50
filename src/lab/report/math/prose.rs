//! Finds the formulas in a text: the longest ranges of letters, numbers and signs without a word.

use super::lexeme::{Lexeme, Sort};
use super::names;
use std::ops::Range;

/// Articles, which may be variables too.
const ARTICLES: [&str; 2] = ["a", "A"];

/// Signs that attach something to the lexeme before them.
const ATTACHING: [char; 5] = ['_', '^', '\'', '(', '['];

/// Separators of a list: inside brackets they belong to a formula.
const DIVIDING: [&str; 1] = [","];

/// The role of a lexeme in a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A letter, a number, a sign.
    Formula,
    /// A comma.
    Comma,
    /// A word, or a sign that ends a formula.
    Word,
}

/// The ranges of lexemes that are formulas.
pub(super) fn formulas(pieces: &[Lexeme]) -> Vec<Range<usize>> {
    let partner = partners(pieces);
    let parts = parts(pieces, &partner);
    let mut runs = Vec::new();
    let (mut from, mut k) = (0, 0);
    while k < pieces.len() {
        // A bracket is taken or left together with its content.
        let end = match partner[k] {
            Some(close) if close > k && inside_is_formula(&parts, k, close) => close + 1,
            Some(_) => k,
            None if parts[k] == Part::Formula => k + 1,
            None => k,
        };
        if end == k {
            runs.push(from..k);
            from = k + 1;
            k += 1;
            continue;
        }
        if end > k + 1 && is_remark(pieces, k, end) {
            runs.push(from..k);
            from = k;
        }
        k = end;
    }
    runs.push(from..pieces.len());
    runs.into_iter().filter_map(|run| trimmed(pieces, run)).collect()
}

/// True if all lexemes together may be a formula, for a text that is marked as one.
pub(super) fn is_formula(pieces: &[Lexeme]) -> bool {
    let letter = |l: &Lexeme| {
        l.sort == Sort::Word
            && (ARTICLES.contains(&l.text) || names::may_be_function(l.text) || l.text.len() == 2)
    };
    let parts = parts(pieces, &partners(pieces));
    let read = parts.iter().zip(pieces).all(|(p, l)| *p != Part::Word || letter(l));
    read && pieces.iter().any(|l| l.text.len() == 1 || names::letter(l.text).is_some())
}

fn inside_is_formula(parts: &[Part], open: usize, close: usize) -> bool {
    close > open + 1 && parts[open + 1..close].iter().all(|p| *p != Part::Word)
}

/// `x (t >= 0)`: after white space, a relation or a list in round brackets is a remark, not a
/// factor.
fn is_remark(pieces: &[Lexeme], open: usize, end: usize) -> bool {
    let factor = open > 0
        && (pieces[open - 1].sort != Sort::Sign || closes(&pieces[open - 1]))
        && !names::is_function(pieces[open - 1].text);
    let says = |l: &Lexeme| {
        l.sort == Sort::Sign
            && (names::is_relation(l.text) && l.spaced || DIVIDING.contains(&l.text))
    };
    pieces[open].spaced
        && pieces[open].text.starts_with('(')
        && factor
        && pieces[open + 1..end - 1].iter().any(says)
}

fn closes(l: &Lexeme) -> bool {
    l.text.ends_with([')', ']', '}', '|', '>', '\'']) && l.text.len() == 1
}

/// For every bracket the index of its partner.
fn partners(pieces: &[Lexeme]) -> Vec<Option<usize>> {
    let mut partner = vec![None; pieces.len()];
    let mut open: Vec<usize> = Vec::new();
    for (k, l) in
        pieces.iter().enumerate().filter(|(_, l)| l.sort == Sort::Sign && l.text.len() == 1)
    {
        let behind = pieces.get(k + 1);
        match l.sign() {
            Some('(' | '[' | '{') => open.push(k),
            Some('<')
                if behind.is_some_and(|n| !n.spaced)
                    && (l.spaced || k == 0 || pieces[k - 1].sort == Sort::Sign) =>
            {
                open.push(k)
            }
            Some(close @ (')' | ']' | '}' | '>')) => {
                if close == '>' && l.spaced {
                    continue;
                }
                // An angle bracket without a partner is a relation.
                while close != '>' && open.last().is_some_and(|o| pieces[*o].text.starts_with('<'))
                {
                    open.pop();
                }
                let fits = |o: &usize| match close {
                    '>' => pieces[*o].text.starts_with('<'),
                    '}' => pieces[*o].text.starts_with('{'),
                    _ => pieces[*o].text.starts_with(['(', '[']),
                };
                if let Some(o) = open.pop_if(|o| fits(o)) {
                    (partner[o], partner[k]) = (Some(k), Some(o));
                }
            }
            _ => {}
        }
    }
    partner
}

fn parts(pieces: &[Lexeme], partner: &[Option<usize>]) -> Vec<Part> {
    let mut parts: Vec<Part> = (0..pieces.len()).map(|k| part(pieces, k)).collect();
    for (open, close) in
        partner.iter().enumerate().filter_map(|(o, c)| Some((o, (*c)?))).filter(|(o, c)| c > o)
    {
        let single = close == open + 2
            && open > 0
            && !pieces[open].spaced
            && parts[open - 1] == Part::Formula;
        let script = open > 0
            && pieces[open].text.starts_with('{')
            && pieces[open - 1].text.ends_with(['_', '^']);
        // Between formulas in brackets an article is a letter.
        let letters =
            (open + 1..close).all(|k| parts[k] != Part::Word || ARTICLES.contains(&pieces[k].text));
        for k in open + 1..close {
            if pieces[k].sort == Sort::Word && (script || single || letters) {
                parts[k] = Part::Formula;
            }
        }
    }
    // A bracket around words is a word.
    for (open, close) in
        partner.iter().enumerate().filter_map(|(o, c)| Some((o, (*c)?))).filter(|(o, c)| c > o)
    {
        if !inside_is_formula(&parts, open, close) {
            (parts[open], parts[close]) = (Part::Word, Part::Word);
            if open > 0 && !pieces[open].spaced && part_alone(&pieces[open - 1]) == Part::Word {
                parts[open - 1] = Part::Word;
            }
        }
    }
    parts
}

fn part_alone(l: &Lexeme) -> Part {
    match l.sort {
        Sort::Number => Part::Formula,
        Sort::Word if ARTICLES.contains(&l.text) => Part::Word,
        Sort::Word if names::is_always_formula(l.text) || l.text.chars().count() == 1 => {
            Part::Formula
        }
        Sort::Sign if DIVIDING.contains(&l.text) => Part::Comma,
        Sort::Sign if names::sign(l.text).is_some() => Part::Formula,
        _ => Part::Word,
    }
}

fn part(pieces: &[Lexeme], k: usize) -> Part {
    let l = &pieces[k];
    let before = k.checked_sub(1).map(|j| &pieces[j]);
    let behind = pieces.get(k + 1);
    let sign = |l: Option<&Lexeme>| l.is_some_and(|l| l.sort == Sort::Sign);
    let alone = part_alone(l);
    if alone != Part::Word {
        return alone;
    }
    let tight = |l: Option<&Lexeme>, signs: &[char]| {
        l.is_some_and(|l| {
            !l.spaced && sign(Some(l)) && l.text.len() == 1 && l.text.starts_with(signs)
        })
    };
    let related = |l: Option<&Lexeme>| {
        l.is_some_and(|l| {
            sign(Some(l)) && (names::is_relation(l.text) || l.text.starts_with(['+', '-']))
        })
    };
    let scripted =
        !l.spaced && before.is_some_and(|b| sign(Some(b)) && b.text.ends_with(['_', '^']));
    let attached = scripted || tight(behind, &ATTACHING);
    let barred =
        !l.spaced && before.is_some_and(|b| b.text.ends_with('|')) && tight(behind, &['|']);
    let formula = match l.sort {
        // `|.|` and `<., w>`.
        Sort::Sign => {
            let opened =
                before.is_some_and(|b| sign(Some(b)) && b.text.starts_with(['(', '|', ',', '<']));
            l.text.len() == 1
                && l.text.starts_with('.')
                && opened
                && tight(behind, &['|', ',', ')', '>'])
        }
        Sort::Prose | Sort::Number => false,
        Sort::Word if ARTICLES.contains(&l.text) => {
            let ends =
                behind.is_none_or(|n| n.sort == Sort::Sign && !n.text.starts_with(['"', '(', '`']));
            let member = behind.is_some_and(|n| names::sign_word(n.text).is_some());
            let numbered = before.is_some_and(|b| b.sort == Sort::Number)
                && related(k.checked_sub(2).map(|j| &pieces[j]));
            // Within a sentence an article is lower-case.
            let middle = l.text.starts_with('A')
                && before.is_some_and(|b| !sign(Some(b)) || b.text.starts_with(','));
            attached || ends || member || related(before) || numbered || middle
        }
        Sort::Word => {
            let letter = |n: &Lexeme| {
                n.sort == Sort::Word
                    && !ARTICLES.contains(&n.text)
                    && part_alone(n) == Part::Formula
            };
            let bracket = |n: &Lexeme| {
                sign(Some(n)) && n.spaced && n.text.len() == 1 && n.text.starts_with(['|', '<'])
            };
            let acts = names::may_be_function(l.text)
                && (related(before) || behind.is_some_and(|n| letter(n) || bracket(n)));
            let numbered = l.text.ends_with(|c: char| c.is_ascii_digit());
            let indexed = numbered
                && l.text.starts_with(|c: char| c.is_ascii_lowercase())
                && l.text.len() == 2;
            let last = related(before) && (numbered || l.spaced && tight(behind, &['|', ')']));
            let equated = behind.is_some_and(|n| {
                sign(Some(n)) && n.spaced && n.text.len() == 1 && n.text.starts_with('=')
            });
            // `cos wt`: two letters behind a function.
            let product = l.text.len() == 2
                && before.is_some_and(|b| {
                    names::is_function(b.text) && names::is_always_formula(b.text)
                });
            attached || barred || acts || indexed || last || equated || product
        }
    };
    if formula { Part::Formula } else { Part::Word }
}

/// Removes signs at the ends of a range that need something on both sides; `None` if nothing is
/// left to typeset.
fn trimmed(pieces: &[Lexeme], mut run: Range<usize>) -> Option<Range<usize>> {
    let between = |l: &Lexeme| {
        l.sort == Sort::Sign
            && (names::is_relation(l.text)
                || matches!(l.sign(), Some('/' | '^' | '_' | '*' | '\'' | ',')))
    };
    let star = |l: &Lexeme| l.text.ends_with('*') && !l.spaced;
    let signed = |l: &Lexeme| l.sort == Sort::Sign && l.text.starts_with(['+', '-']);
    while !run.is_empty() {
        let (first, last) = (&pieces[run.start], &pieces[run.end - 1]);
        let opens = first.text.starts_with('<') && run.len() > 1 && !pieces[run.start + 1].spaced;
        let loose = signed(first) && (run.len() < 2 || pieces[run.start + 1].spaced);
        if (between(first) && !opens) || loose {
            run.start += 1;
        } else if between(last) && !closes(last) && !star(last)
            || signed(last) && (last.spaced || last.text.ends_with('-'))
        {
            run.end -= 1;
        } else {
            break;
        }
    }
    let inside = &pieces[run.clone()];
    let letters =
        inside.iter().any(|l| matches!(l.sort, Sort::Word) && !names::is_function(l.text));
    let drawn = inside
        .iter()
        .any(|l| l.text.ends_with('^') || l.sort == Sort::Number && l.text.contains('e'));
    (letters || drawn).then_some(run)
}
