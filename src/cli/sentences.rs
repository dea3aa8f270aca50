//! The sentences of popular documents as text.

use crate::theorem::Record;
use crate::theorem::sentences::{ALL, Assessment, Outcome, Part, Sentence, checks};
use serde_json::{Value, json};

/// A table with one line per sentence: its verdict, and whether its claims agree.
pub fn table(records: &[Record]) -> Vec<String> {
    let line = |s: &Sentence| {
        let outcome = outcome(s, records);
        let loud = if s.outcome(records) == Outcome::NotAsExpected {
            outcome.to_uppercase()
        } else {
            outcome.to_owned()
        };
        format!("{:11} {:19} {:15} {}", s.name, s.as_said, loud, s.text)
    };
    let mut out =
        vec![String::new(), format!("{:11} {:19} {:15} text", "sentence", "as said", "its claims")];
    out.extend(ALL.iter().map(line));
    out.push(String::new());
    out.push(counts());
    out
}

/// What its claims gave.
fn outcome(s: &Sentence, records: &[Record]) -> &'static str {
    match s.outcome(records) {
        Outcome::AsExpected => "as expected",
        Outcome::NotAsExpected => "not as expected",
        Outcome::NotTested => "not tested",
    }
}

/// The rows of [`table`] as JSON.
pub fn rows(records: &[Record]) -> Vec<Value> {
    let row = |s: &Sentence| {
        json!({
            "name": s.name,
            "as_said": s.as_said.to_string(),
            "its_claims": outcome(s, records),
            "text": s.text,
        })
    };
    ALL.iter().map(row).collect()
}

/// The fields of a sentence as JSON.
pub fn fields(s: &Sentence) -> Value {
    let part = |p: &Part| {
        json!({
            "part": p.part, "says": p.says, "as_said": p.as_said.to_string(), "why": p.why,
        })
    };
    json!({
        "name": s.name,
        "source": s.source,
        "text": s.text,
        "context": s.context,
        "as_said": s.as_said.to_string(),
        "beyond": s.beyond,
        "needs": s.needs,
        "note": s.note,
        "parts": s.parts.iter().map(part).collect::<Vec<_>>(),
        "claims": s.claims,
        "checks": s.checks,
    })
}

/// The number of sentences with each assessment.
fn counts() -> String {
    let count = |assessment: Assessment| ALL.iter().filter(|s| s.as_said == assessment).count();
    let each = Assessment::ALL.map(|assessment| match assessment {
        Assessment::True => format!("{} true", count(assessment)),
        Assessment::Sharper => format!("{} true with something sharper known", count(assessment)),
        Assessment::False => format!("{} false", count(assessment)),
    });
    format!("{} sentences: {}", ALL.len(), each.join(", "))
}

/// A sentence with its source, context, assessment, claims and checks.
pub fn explained(s: &Sentence) -> String {
    let mut text = format!("{}\n\n", s.text);
    let mut add = |label: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("{label:<11} {value}\n"));
        }
    };
    add("Source", &s.source);
    add("Context", &s.context);
    add("As said", &s.as_said.to_string());
    for p in &s.parts {
        add(&format!("Part {}", p.part), &format!("{}: {}; {}", p.says, p.as_said, p.why));
    }
    add("Beyond", &s.beyond);
    add("Needs", &s.needs);
    add("Note", &s.note);
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
        ALL.iter().map(|s| format!("{:11} {:19} {}", s.name, s.as_said, s.text)).collect();
    lines.push(String::new());
    lines.push(counts());
    lines.push("Test them: metastable check sentences".to_owned());
    lines.join("\n")
}
