//! Colours of printed text.

use std::io::IsTerminal;

/// Whether text is coloured: only on a terminal, and not if `NO_COLOR` is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(bool);

/// The value of `TERM` for a terminal without colours.
const DUMB: &str = "dumb";

impl Colour {
    /// No colours.
    pub const NONE: Self = Self(false);

    /// Colours, also if the output is not a terminal.
    pub const ALL: Self = Self(true);

    /// For results.
    pub fn of_results() -> Self {
        Self(std::io::stdout().is_terminal() && wanted())
    }

    /// For notes and errors.
    pub fn of_notes() -> Self {
        Self(std::io::stderr().is_terminal() && wanted())
    }

    /// A failure.
    pub fn alarm(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// An undecided result.
    pub fn unsure(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// An expected result.
    pub fn calm(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// An expected violation.
    pub fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// A heading.
    pub fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

fn wanted() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    !refused && std::env::var_os("TERM").is_none_or(|t| t != DUMB)
}
