//! What stands behind the word "proved": a certificate that the verifier accepted, a search whose
//! certificate was not checked, or this program alone, where no certificate exists.

use super::{progress, session};
use crate::proofs::critical_point::Certificate;
use serde_json::{Value, json};

/// The words for a proof that no other code has checked.
pub const ALONE: &str = "by this program alone";

/// What stands behind a proof.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// The verifier accepted the certificate; its sentence, which is built from what it checked.
    Checked(String),
    /// The certificate was not checked, as `--unchecked` asks.
    Unchecked,
    /// There is no certificate for this kind of proof.
    Alone,
    /// The verifier does not confirm the certificate, and why.
    Refused(String),
    /// The check was interrupted.
    Interrupted,
    /// There is no proof.
    None,
}

impl Standing {
    /// What stands behind a search: nothing if it did not end, else what the verifier says of its
    /// certificate, if that is wanted.
    pub fn of_search(ended: bool, certificate: Option<&str>, unchecked: bool) -> Self {
        match certificate {
            _ if !ended => Self::None,
            _ if unchecked => Self::Unchecked,
            Some(text) => Self::of(text, false),
            None => Self::Alone,
        }
    }

    /// Runs the verifier on a certificate, unless it is not wanted.
    pub fn of(text: &str, unchecked: bool) -> Self {
        if unchecked {
            return Self::Unchecked;
        }
        let session = session::current();
        let watch = |share: f64| {
            progress::report(Some(share), || {
                format!("the verifier has confirmed {:.1} % of the certificate", 100.0 * share)
            });
            !session.cancelled()
        };
        match metastable_verifier::check_watched(text, &watch) {
            Ok(statement) => Self::Checked(statement),
            Err(why) if why == metastable_verifier::INTERRUPTED => Self::Interrupted,
            Err(why) => Self::Refused(why),
        }
    }

    /// As [`Standing::of`] for a critical point; the verifier reads certificates of at most 512
    /// coordinates.
    pub fn of_point(point: &Certificate, text: &str, unchecked: bool) -> Self {
        let coordinates = point.sizes.len() * point.d;
        let fits = coordinates <= 512
            && point.beta.abs() <= 1000.0
            && point.sizes.iter().all(|s| *s <= 1 << 20);
        if fits || unchecked { Self::of(text, unchecked) } else { Self::Alone }
    }

    /// Whether the statement may be called proved, or found by the search.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Checked(_) | Self::Unchecked | Self::Alone)
    }

    /// Whether the statement is proved: a search that nothing has checked is no proof.
    pub fn is_proved(&self) -> bool {
        matches!(self, Self::Checked(_) | Self::Alone)
    }

    /// The words before a statement.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Checked(_) => "proved",
            Self::Unchecked => "found by the search, not checked",
            Self::Alone => "proved by this program alone",
            Self::Refused(_) | Self::Interrupted | Self::None => "not proved",
        }
    }

    /// A line with what the verifier confirmed, or why nothing is proved; else nothing.
    pub fn line(&self) -> String {
        match self {
            Self::Checked(statement) => format!("the verifier accepts: {statement}\n"),
            Self::Refused(why) => {
                format!("the verifier does not confirm the certificate of the search: {why}\n")
            }
            Self::Interrupted => "interrupted before the verifier had confirmed it\n".to_owned(),
            Self::Unchecked | Self::Alone | Self::None => String::new(),
        }
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        match self {
            Self::Checked(statement) => json!({ "by": "verifier", "statement": statement }),
            Self::Unchecked => json!({ "by": "search, not checked", "statement": null }),
            Self::Alone => json!({ "by": "this program alone", "statement": null }),
            Self::Refused(why) => json!({ "by": null, "refused": why }),
            Self::Interrupted | Self::None => Value::Null,
        }
    }
}
