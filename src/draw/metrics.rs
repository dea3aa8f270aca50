//! Font metrics: the embedded font, widths of texts, line breaking.

use std::sync::OnceLock;
use ttf_parser::Face;

/// The font file.
pub static FONT: &[u8] = include_bytes!("font/metastable-sans.ttf");

/// The family name under which the font is embedded.
pub const FAMILY: &str = "metastable-sans";

/// Line height, as a multiple of the font size.
pub const LINE: f64 = 1.22;
/// Height of type above the base line, as a multiple of the font size.
pub const ABOVE: f64 = 0.76;
/// Depth of type below the base line, as a multiple of the font size.
pub const BELOW: f64 = 0.22;

/// The parsed font; `None` only if the embedded file were damaged.
pub fn face() -> Option<&'static Face<'static>> {
    static FACE: OnceLock<Option<Face<'static>>> = OnceLock::new();
    FACE.get_or_init(|| Face::parse(FONT, 0).ok()).as_ref()
}

/// Width of a text, in the unit of `size`.
pub fn width(text: &str, size: f64) -> f64 {
    let Some(face) = face() else { return 0.6 * size * text.chars().count() as f64 };
    let advance = |c: char| {
        face.glyph_index(c)
            .and_then(|g| face.glyph_hor_advance(g))
            .unwrap_or(face.units_per_em() / 2)
    };
    text.chars().map(|c| f64::from(advance(c))).sum::<f64>() * size / f64::from(face.units_per_em())
}

/// Breaks a text between words into lines not wider than `room`; a single word that is too wide is
/// shortened.
pub fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        let word = shorten(word, size, room);
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// The text, or its beginning with an ellipsis.
fn shorten(text: &str, size: f64, room: f64) -> String {
    let mut out = text.to_owned();
    if width(&out, size) <= room {
        return out;
    }
    while !out.is_empty() && width(&format!("{out}\u{2026}"), size) > room {
        out.pop();
    }
    format!("{out}\u{2026}")
}
