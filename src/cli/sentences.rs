//! The sentences of popular documents as text.

use crate::theorem::Record;
use crate::theorem::sentences::{ALL, Assessment, Outcome, Sentence, checks};

/// A table with one line per sentence: its verdict, and whether its claims agree.
pub fn table(records: &[Record]) -> Vec<String> {
    let word = |s: &Sentence| match s.outcome(records) {
        Outcome::AsExpected => "as expected",
        Outcome::NotAsExpected => "NOT AS EXPECTED",
        Outcome::NotTested => "not tested",
    };
    let line = |s: &Sentence| format!("{:8} {:18} {:15} {}", s.name, s.assessment, word(s), s.text);
    let mut out =
        vec![String::new(), format!("{:8} {:18} {:15} text", "sentence", "verdict", "its claims")];
    out.extend(ALL.iter().map(line));
    out.push(String::new());
    out.push(counts());
    out
}

/// The number of sentences with each verdict.
fn counts() -> String {
    let count = |standing: Assessment| ALL.iter().filter(|s| s.assessment == standing).count();
    let parts: Vec<String> =
        [Assessment::True, Assessment::Conditional, Assessment::False, Assessment::Informal]
            .iter()
            .map(|standing| format!("{} {standing}", count(*standing)))
            .collect();
    format!("{} sentences: {}", ALL.len(), parts.join(", "))
}

/// A sentence with its source, verdict, claims and checks.
pub fn explained(s: &Sentence) -> String {
    let mut text =
        format!("{}\n\nSource      {}\nVerdict     {}\n", s.text, s.source, s.assessment);
    let label = match s.assessment {
        Assessment::True => "With",
        Assessment::False => "Correct",
        Assessment::Conditional => "Needs",
        Assessment::Informal => "Why",
    };
    if !s.reason.is_empty() {
        text.push_str(&format!("{label:<11} {}\n", s.reason));
    }
    if !s.claims.is_empty() {
        text.push_str(&format!("Claims      {}\n", s.claims.join(", ")));
    }
    for check in checks::ALL.iter().filter(|c| s.checks.iter().any(|name| name == c.name)) {
        text.push_str(&format!("Check       {}: {}\n", check.name, check.says));
    }
    text.push_str(&if s.tests().next().is_none() {
        "Claims      none".to_owned()
    } else {
        format!("Test it     metastable check {}", s.name)
    });
    text
}

/// All sentences.
pub fn all() -> String {
    let mut lines: Vec<String> =
        ALL.iter().map(|s| format!("{:8} {:18} {}", s.name, s.assessment, s.text)).collect();
    lines.push(String::new());
    lines.push(counts());
    lines.push("Test them: metastable check sentences".to_owned());
    lines.join("\n")
}
