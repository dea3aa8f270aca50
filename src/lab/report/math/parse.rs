//! Parses lexemes into the tree of a typeset formula. Nothing is computed. Factors side by side
//! stay side by side. A quotient becomes a fraction only if both sides are single factors without
//! white space around the stroke, so that no reading is added to the text.

use super::drawing::{Drawing, acts, bare_row, name, number, one_of, subscript, unbracketed};
use super::lexeme::{Lexeme, Sort};
use super::names;

/// One piece of a row.
struct Piece {
    drawing: Drawing,
    /// True for a factor.
    factor: bool,
    /// True if no white space separates it from the factor before it.
    glued: bool,
}

/// The tree of a range of lexemes; `None` if they are not a formula.
pub(super) fn parse(pieces: &[Lexeme]) -> Option<Vec<Drawing>> {
    let mut reader = Reader { pieces, at: 0 };
    let row = reader.row(&[])?;
    (reader.at == pieces.len() && !row.is_empty()).then_some(row)
}

struct Reader<'a> {
    pieces: &'a [Lexeme<'a>],
    at: usize,
}

/// Opening brackets, each with its closing brackets.
const BRACKETS: [(&str, &[&str], &str); 4] =
    [("(", &[")", "]"], "("), ("[", &["]", ")"], "["), ("{", &["}"], "{"), ("<", &[">"], "⟨")];

const TIMES: &str = "x";
const BAR: &str = "|";
const ABOVE: &str = "^";
const BELOW: &str = "_";
const STROKE: &str = "/";
const OPEN_BRACE: &str = "{";
const CLOSE_BRACE: &str = "}";

impl<'a> Reader<'a> {
    fn peek(&self, ahead: usize) -> Option<&'a Lexeme<'a>> {
        self.pieces.get(self.at + ahead)
    }

    /// True if the next lexeme is this sign and follows without white space.
    fn tight(&self, sign: &str) -> bool {
        self.peek(0).is_some_and(|l| !l.spaced && l.is(sign))
    }

    fn ends(&self, closing: &[&str]) -> bool {
        self.peek(0)
            .is_none_or(|l| closing.contains(&l.text) && !(l.is(closing[0]) && self.is_relation(l)))
    }

    /// `>` with white space on both sides is a relation, not a bracket.
    fn is_relation(&self, l: &Lexeme) -> bool {
        names::is_relation(l.text) && l.spaced && self.peek(1).is_some_and(|n| n.spaced)
    }

    /// Parses up to one of the closing signs, or the end.
    fn row(&mut self, closing: &[&str]) -> Option<Vec<Drawing>> {
        let mut row: Vec<Piece> = Vec::new();
        loop {
            // A bar closes after a factor and opens elsewhere.
            let bar =
                self.peek(0).is_some_and(|l| l.is(BAR)) && !row.last().is_some_and(|p| p.factor);
            if self.ends(closing) && !bar {
                break;
            }
            let next = self.peek(0)?;
            let spaced = next.spaced;
            if next.is(STROKE) && self.fraction(&mut row)? {
                continue;
            }
            let after_factor = row.last().is_some_and(|p| p.factor);
            if after_factor && self.is_times() {
                self.at += 1;
                row.push(Piece {
                    drawing: Drawing::Sign("×", false), factor: false, glued: false
                });
                continue;
            }
            if let Some(piece) = self.factor(after_factor)? {
                let glued = after_factor && !spaced;
                row.push(Piece { drawing: piece, factor: true, glued });
            } else {
                let l = self.peek(0)?;
                let sign = names::sign(l.text).filter(|_| l.sort == Sort::Sign)?;
                if l.is(ABOVE) && !l.spaced || l.is(BELOW) {
                    return None;
                }
                self.at += 1;
                let breaks =
                    after_factor && (names::is_relation(l.text) || l.text.starts_with(['+', '-']));
                row.push(Piece {
                    drawing: Drawing::Sign(sign, breaks),
                    factor: false,
                    glued: false,
                });
            }
        }
        Some(with_thin_spaces(row))
    }

    /// `n x d`: a letter between two sizes.
    fn is_times(&self) -> bool {
        let size = |l: &Lexeme| {
            l.spaced && (l.sort == Sort::Number || l.sort == Sort::Word && l.text.len() == 1)
        };
        let single =
            |l: &Lexeme| l.sort == Sort::Number || l.sort == Sort::Word && l.text.len() == 1;
        let before = self.at.checked_sub(1).and_then(|k| self.pieces.get(k)).is_some_and(single);
        before
            && self.peek(0).is_some_and(|l| size(l) && l.is(TIMES))
            && self.peek(1).is_some_and(size)
    }

    /// A fraction of the factors before and after a stroke, if no white space is between; otherwise
    /// the stroke stays a sign.
    fn fraction(&mut self, row: &mut Vec<Piece>) -> Option<bool> {
        let (stroke, behind) = (self.peek(0)?, self.peek(1));
        let apart = stroke.spaced
            || behind.is_none_or(|l| l.spaced)
            || !row.last().is_some_and(|p| p.factor);
        let bare = row.last().is_some_and(|p| acts(&p.drawing));
        if apart || bare {
            return Some(false);
        }
        let place = self.at;
        self.at += 1;
        let mut below = Vec::new();
        while let Some(l) = self.peek(0).filter(|l| below.is_empty() || !l.spaced) {
            if l.is(STROKE) || l.is(BAR) && !below.is_empty() {
                break;
            }
            match self.factor(!below.is_empty())? {
                // The extent of the argument of a sum, or of a function without brackets, is
                // unknown.
                Some(drawing) if acts(&drawing) => {
                    self.at = place;
                    return Some(false);
                }
                Some(drawing) => below.push(drawing),
                None => break,
            }
        }
        if below.is_empty() {
            self.at = place;
            return Some(false);
        }
        let mut above = Vec::new();
        let mut glued = true;
        while let Some(piece) = row.pop_if(|p| p.factor && glued && !acts(&p.drawing)) {
            glued = piece.glued;
            above.insert(0, piece.drawing);
        }
        let drawing = Drawing::Fraction(Box::new(one_of(above)), Box::new(one_of(below)));
        row.push(Piece { drawing, factor: true, glued: false });
        Some(true)
    }

    /// An index or a power after a function with its argument.
    fn raised(&mut self, base: Drawing) -> Option<Drawing> {
        let (below, above) = (self.tight(BELOW), self.tight(ABOVE));
        if !below && !above {
            return Some(base);
        }
        self.at += 1;
        let script = Some(Box::new(self.script()?));
        let (below, above) = if below { (script, None) } else { (None, script) };
        Some(Drawing::Script(Box::new(base), below, above))
    }

    /// A factor with everything attached to it; `None` at a sign.
    fn factor(&mut self, after_factor: bool) -> Option<Option<Drawing>> {
        let Some(mut base) = self.base(after_factor)? else { return Some(None) };
        let (mut below, mut above): (Option<Drawing>, Option<Drawing>) = (None, None);
        let mut function = matches!(base, Drawing::Function(_));
        let mut primes = Vec::new();
        loop {
            if self.tight(BELOW) && below.is_none() {
                self.at += 1;
                below = Some(self.script()?);
            } else if self.tight(ABOVE)
                && above.is_none()
                && self.peek(1).is_some_and(|l| !l.spaced)
            {
                self.at += 1;
                above = Some(self.script()?);
            } else if let Some(mark) = self.mark() {
                self.at += 1;
                let mark = Drawing::Sign(mark, false);
                if self.pieces[self.at - 1].text.starts_with('\'') {
                    primes.push(mark);
                } else {
                    above = Some(above.map_or(mark.clone(), |a| Drawing::Row(vec![mark, a])));
                }
            } else {
                break;
            }
        }
        if below.is_some() || above.is_some() {
            base = Drawing::Script(Box::new(base), below.map(Box::new), above.map(Box::new));
        }
        // A prime is high already; as a superscript it would be too small.
        if !primes.is_empty() {
            primes.insert(0, base);
            base = Drawing::Row(primes);
        }
        // `log(n)` and `f(x)` are one factor, and so is `f(x)^2`.
        let call = self.peek(0).is_some_and(|l| !l.spaced && matches!(l.sign(), Some('(' | '[')));
        if call && !matches!(base, Drawing::Fenced(..) | Drawing::Number(_)) {
            let argument = self.base(false)??;
            function = false;
            base = self.raised(Drawing::Row(vec![base, argument]))?;
        }
        if function && !matches!(base, Drawing::Function(_)) {
            base = Drawing::Row(vec![base, Drawing::Space]);
        }
        Some(Some(base))
    }

    /// A prime, a star of `tau*`, or the plus of the next layer in `x+ = x`.
    fn mark(&self) -> Option<&'static str> {
        let l = self.peek(0).filter(|l| !l.spaced && l.sort == Sort::Sign)?;
        let free = self.peek(1).is_none_or(|n| {
            n.spaced || n.sort == Sort::Sign && !matches!(n.sign(), Some('(' | '{' | '|'))
        });
        match l.sign()? {
            '\'' => names::sign(l.text),
            '*' | '+' if free => names::sign(l.text),
            _ => None,
        }
    }

    /// The lexemes after `_` or `^`.
    fn script(&mut self) -> Option<Drawing> {
        let first = self.peek(0).filter(|l| !l.spaced)?;
        if first.is(OPEN_BRACE) {
            self.at += 1;
            let row = self.row(&[CLOSE_BRACE])?;
            self.peek(0)?;
            self.at += 1;
            return Some(bare_row(row));
        }
        if first.sort != Sort::Sign {
            self.at += 1;
            let one = subscript(first);
            // `x_2L` has one index.
            let more = self
                .peek(0)
                .filter(|l| first.sort == Sort::Number && !l.spaced && l.sort == Sort::Word);
            self.at += usize::from(more.is_some());
            return Some(more.map_or(one.clone(), |l| Drawing::Row(vec![one, subscript(l)])));
        }
        if first.is(BAR) {
            return self.base(false)?;
        }
        let sign =
            names::sign(first.text).filter(|_| matches!(first.sign(), Some('-' | '+' | '*')))?;
        self.at += 1;
        let sign = Drawing::Sign(sign, false);
        match self
            .peek(0)
            .filter(|l| !l.spaced && l.sort == Sort::Number && first.text.starts_with('-'))
        {
            Some(number) => {
                self.at += 1;
                Some(Drawing::Row(vec![sign, subscript(number)]))
            }
            None => Some(sign),
        }
    }

    fn base(&mut self, after_factor: bool) -> Option<Option<Drawing>> {
        let l = self.peek(0)?;
        match l.sort {
            Sort::Number => {
                self.at += 1;
                Some(Some(number(l.text)))
            }
            Sort::Word | Sort::Prose => {
                self.at += 1;
                self.word(l).map(Some)
            }
            Sort::Sign if l.is(BAR) => {
                self.at += 1;
                let inside = self.row(&[BAR])?;
                self.peek(0)?;
                self.at += 1;
                Some(Some(Drawing::Fenced("|", inside, "|")))
            }
            // A placeholder for an argument, or an ellipsis.
            Sort::Sign if l.text.starts_with('.') && l.text.len() != 2 => {
                self.at += 1;
                Some(Some(Drawing::Name(if l.text.len() == 1 { "·" } else { "…" }.to_owned())))
            }
            Sort::Sign => {
                let Some((_, closes, open)) = BRACKETS.iter().find(|(open, _, _)| l.is(open))
                else {
                    return Some(None);
                };
                let angle = l.text.starts_with('<');
                if angle && (self.peek(1).is_none_or(|n| n.spaced) || after_factor && !l.spaced) {
                    return Some(None);
                }
                self.at += 1;
                let inside = self.row(closes)?;
                let close = self.peek(0)?;
                self.at += 1;
                let close =
                    if angle { "⟩" } else { CLOSING.iter().find(|(c, _)| close.is(c))?.1 };
                Some(Some(Drawing::Fenced(open, inside, close)))
            }
        }
    }

    fn word(&mut self, l: &Lexeme) -> Option<Drawing> {
        if names::is_root(l.text) {
            let mut after = Some(None);
            if self
                .peek(0)
                .is_some_and(|n| n.sort != Sort::Sign || matches!(n.sign(), Some('(' | '|')))
            {
                after = self.root_of();
            }
            return Some(Drawing::Root(Box::new(after??)));
        }
        if let Some(sign) = names::large_operator(l.text) {
            return Some(Drawing::Sign(sign, false));
        }
        if names::is_function(l.text) {
            return Some(Drawing::Function(l.text.to_owned()));
        }
        let negated = names::negated(l.text)
            .filter(|_| self.peek(0).is_some_and(|n| names::sign_word(n.text).is_some()));
        if negated.is_some() {
            self.at += 1;
        }
        if let Some(sign) = negated.or(names::sign_word(l.text)) {
            return Some(Drawing::Sign(sign, false));
        }
        Some(name(l.text))
    }

    /// One factor under a root, without its grouping brackets.
    fn root_of(&mut self) -> Option<Option<Drawing>> {
        let inside = self.peek(0)?.is("(");
        let drawing = if inside { self.base(false)? } else { self.factor(false)? };
        Some(drawing.map(unbracketed))
    }
}

/// Closing brackets and their typeset forms.
const CLOSING: [(&str, &str); 4] = [(")", ")"), ("]", "]"), (CLOSE_BRACE, "}"), (">", "⟩")];

/// Adds thin spaces between two names of several letters, or two numbers.
fn with_thin_spaces(row: Vec<Piece>) -> Vec<Drawing> {
    let wide = |d: &Drawing| match d {
        Drawing::Name(text) => text.chars().count() > 1,
        Drawing::Function(_) | Drawing::Number(_) | Drawing::Fraction(..) => true,
        _ => false,
    };
    let mut out: Vec<Drawing> = Vec::new();
    let mut after_factor = false;
    for piece in row {
        if after_factor && piece.factor && !piece.glued {
            let number = |d: &Drawing| matches!(d, Drawing::Number(_));
            let runs_into =
                out.last().is_some_and(|d| wide(d) && (!number(d) || number(&piece.drawing)));
            if runs_into || wide(&piece.drawing) && !number(&piece.drawing) {
                out.push(Drawing::Space);
            }
        }
        after_factor = piece.factor;
        out.push(piece.drawing);
    }
    out
}
