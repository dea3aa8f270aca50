//! Words of the page.

use crate::theorem::{Kind, Status, Verdict};

/// Verdicts, in the order of the tables.
pub const VERDICTS: [Verdict; 5] =
    [Verdict::Certified, Verdict::Supported, Verdict::Inconclusive, Verdict::Violated, Verdict::HypothesesNeverMet];
/// Statuses.
pub const STATUSES: [Status; 6] =
    [Status::Theorem, Status::Corrected, Status::Misprinted, Status::Folklore, Status::Open, Status::Observation];

/// A kind for people.
pub fn kind(kind: Kind) -> String {
    match kind {
        Kind::Every(_) => "every draw".to_owned(),
        kind => kind.to_string(),
    }
}

/// Text as HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
