//! Terms of the page: verdicts, statuses, kinds, and their explanations.

use crate::theorem::{Kind, Status, Verdict};

/// Verdicts, in the order of the tables.
pub const VERDICTS: [Verdict; 5] = [
    Verdict::Certified,
    Verdict::Supported,
    Verdict::Inconclusive,
    Verdict::Violated,
    Verdict::HypothesesNeverMet,
];
/// Statuses.
pub const STATUSES: [Status; 7] = [
    Status::Theorem,
    Status::Corrected,
    Status::Misprinted,
    Status::RefutedConjecture,
    Status::Folklore,
    Status::Open,
    Status::Observation,
];

/// A kind as text.
pub fn kind(kind: Kind) -> String {
    match kind {
        Kind::Every(_) => "every draw".to_owned(),
        kind => kind.to_string(),
    }
}

/// Escapes a text for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The section that explains the terms.
pub const SECTION: &str = "\
    <section id=\"words\" aria-labelledby=\"h-words\">\
    <h2 id=\"h-words\">What the words mean</h2>\n<dl>\
    <dt>certified</dt><dd>Interval arithmetic proves the claim for the stated box, and every trial \
    agrees.</dd>\
    <dt>supported</dt><dd>Every margin exceeds its error in every trial that met the hypotheses, \
    and the control had the expected result.</dd>\
    <dt>inconclusive</dt><dd>An error covers the threshold, a run did not finish, a violation was \
    not confirmed, or too few draws met the hypotheses.</dd>\
    <dt>violated</dt><dd>Violated as encoded, and confirmed by another integrator, tolerance, \
    precision or seed. For a misprint, a refuted conjecture or folklore this is the predicted \
    verdict, shown as \
    \u{201c}violated, as known\u{201d}.</dd>\
    <dt>hypotheses never met</dt><dd>Nothing was tested.</dd>\
    <dt>margin</dt><dd>The dimensionless signed distance to the threshold: 1 is far from it, 0 is \
    on it, a negative number violates the claim. The line shows the smallest of all trials, the \
    small picture all of them, on a symmetric log scale with the threshold in the middle.</dd>\
    <dt>error</dt><dd>The possible error of the margin: the errors of the integrator, of rounding \
    and of sampling, added. A margin decides only where it is larger than its error.</dd>\
    <dt>observed</dt><dd>The measurement of the trial with the smallest margin, and the value it \
    is compared with: a deviation and its tolerance, a value and its bound, a number and the \
    stated one.</dd>\
    <dt>slack</dt><dd>The factor by which the bound of an inequality could be tightened, for upper \
    and lower bounds alike; the smallest of all trials. A slack of 1 means that the bound is \
    attained.</dd>\
    <dt>resolves</dt><dd>Relative: 0.001 means that the check detects a relative change of the \
    stated constant or law by 0.001. \u{201c}Not half or twice\u{201d} means that half or twice \
    the stated value would pass too.</dd>\
    <dt>control</dt><dd>A second test with one hypothesis broken, or with a statement that is too \
    strong. It must have the opposite result: violated for a claim that should hold, satisfied for \
    a false claim.</dd></dl></section>\n";
