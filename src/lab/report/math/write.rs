//! MathML: presentation elements of MathML Core, without attributes of style.

use super::drawing::{Drawing, acts, unbracketed};

/// Number of letters in a line on a phone.
const LINE: f64 = 26.0;

/// A formula as one or more `math` elements, separated by white space where a line may break, since
/// browsers do not break formulas. Text directly before and after it stays on its line.
pub(super) fn markup(row: &[Drawing], before: &str, after: &str) -> String {
    let parts = chunks(row);
    let last = parts.len() - 1;
    let part = |(k, chunk): (usize, &&[Drawing])| {
        let side = |here: bool, text: &str| if here { super::escape(text) } else { String::new() };
        let (before, after) = (side(k == 0, before), side(k == last, after));
        let math = element(chunk);
        if before.is_empty() && after.is_empty() {
            math
        } else {
            format!(
                "<span \
            class=\"whole\">{before}{math}{after}</span>"
            )
        }
    };
    parts.iter().enumerate().map(part).collect::<Vec<_>>().join(" ")
}

fn element(chunk: &[Drawing]) -> String {
    let mut inside = String::new();
    chunk.iter().enumerate().for_each(|(k, d)| write(d, k == 0, false, &mut inside));
    let math = format!("<math>{inside}</math>");
    // A part that is still too long scrolls.
    if width(chunk) > LINE { format!("<span class=\"wide\">{math}</span>") } else { math }
}

/// Splits a row at signs that allow a line break into parts of up to half a line.
fn chunks(row: &[Drawing]) -> Vec<&[Drawing]> {
    let breaks = |k: usize| matches!(row[k], Drawing::Sign(_, true));
    let mut out = Vec::new();
    let mut from = 0;
    for k in 1..row.len() {
        let next = (k + 1..row.len()).find(|n| breaks(*n)).unwrap_or(row.len());
        let full = breaks(k) && width(&row[from..next]) > LINE / 2.0;
        let long =
            width(&row[from..=k]) > LINE && factor(&row[k]) && row[from..k].iter().any(factor);
        if full || long && !acts(&row[k - 1]) {
            out.push(&row[from..k]);
            from = k;
        }
    }
    out.push(&row[from..]);
    out
}

fn factor(drawing: &Drawing) -> bool {
    !matches!(drawing, Drawing::Sign(..) | Drawing::Space)
}

/// The approximate width in letters.
fn width(row: &[Drawing]) -> f64 {
    row.iter().map(breadth).sum()
}

fn breadth(drawing: &Drawing) -> f64 {
    /// Subscripts and superscripts are smaller.
    const SMALL: f64 = 0.75;
    let part = |d: &Option<Box<Drawing>>| d.as_ref().map_or(0.0, |d| breadth(d));
    match drawing {
        Drawing::Name(text) | Drawing::Function(text) | Drawing::Number(text) => {
            text.chars().count() as f64
        }
        Drawing::Sign(..) => 1.8,
        Drawing::Space => 0.4,
        Drawing::Row(row) => width(row),
        Drawing::Fenced(_, row, _) => 1.2 + width(row),
        Drawing::Fraction(above, below) if simple(above) && simple(below) => {
            1.0 + breadth(above) + breadth(below)
        }
        Drawing::Fraction(above, below) => breadth(above).max(breadth(below)),
        Drawing::Root(inside) => 1.0 + breadth(inside),
        Drawing::Script(base, below, above) => breadth(base) + SMALL * part(below).max(part(above)),
    }
}

/// One letter or one number.
fn simple(drawing: &Drawing) -> bool {
    matches!(drawing, Drawing::Name(_) | Drawing::Number(_))
}

/// Writes a node. `first`: it is the first of its row. `small`: letters are small already, so a
/// quotient keeps its stroke.
fn write(drawing: &Drawing, first: bool, small: bool, out: &mut String) {
    let all = |row: &[Drawing], out: &mut String| {
        row.iter().enumerate().for_each(|(k, d)| write(d, k == 0, small, out))
    };
    match drawing {
        Drawing::Name(text) | Drawing::Function(text) => element_of("mi", text, out),
        Drawing::Number(text) => element_of("mn", text, out),
        // At the beginning of a part a browser takes a binary sign for a prefix.
        Drawing::Sign(sign, true) if first => {
            out.push_str(&format!("<mo form=\"infix\">{sign}</mo>"))
        }
        Drawing::Sign(sign, _) => element_of("mo", sign, out),
        Drawing::Space => out.push_str("<mspace width=\".17em\"/>"),
        Drawing::Row(row) => {
            out.push_str("<mrow>");
            all(row, out);
            out.push_str("</mrow>");
        }
        Drawing::Fenced(open, inside, close) => {
            // At the ends of a row a browser takes these for brackets.
            out.push_str(&format!("<mrow><mo>{open}</mo>"));
            inside.iter().for_each(|d| write(d, false, small, out));
            out.push_str(&format!("<mo>{close}</mo></mrow>"));
        }
        Drawing::Fraction(above, below) if small || simple(above) && simple(below) => {
            out.push_str("<mrow>");
            write(above, false, small, out);
            out.push_str("<mtext>/</mtext>");
            write(below, false, small, out);
            out.push_str("</mrow>");
        }
        Drawing::Fraction(above, below) => {
            out.push_str("<mfrac displaystyle=\"true\">");
            write(&unbracketed((**above).clone()), false, true, out);
            write(&unbracketed((**below).clone()), false, true, out);
            out.push_str("</mfrac>");
        }
        Drawing::Root(inside) => {
            out.push_str("<msqrt>");
            write(inside, false, small, out);
            out.push_str("</msqrt>");
        }
        Drawing::Script(base, below, above) => {
            let name = match (below, above) {
                (Some(_), Some(_)) => "msubsup",
                (Some(_), None) => "msub",
                (None, _) => "msup",
            };
            out.push_str(&format!("<{name}>"));
            write(base, false, small, out);
            below.iter().chain(above).for_each(|d| write(d, false, true, out));
            out.push_str(&format!("</{name}>"));
        }
    }
}

fn element_of(name: &str, text: &str, out: &mut String) {
    out.push_str(&format!("<{name}>{text}</{name}>"));
}
