//! The sentences of the seeds as text.

use crate::theorem::Record;
use crate::theorem::seeds::{ALL, SeedClaim, Seen, Standing};

/// One line a sentence: what is found of it, and what the claims said.
pub fn sheet(records: &[Record]) -> Vec<String> {
    let word = |s: &SeedClaim| match s.seen(records) {
        Seen::AsExpected => "as expected",
        Seen::Otherwise => "NOT AS EXPECTED",
        Seen::Nothing => "not tested",
    };
    let line = |s: &SeedClaim| format!("{:8} {:18} {:15} {}", s.name, s.standing, word(s), s.sentence);
    let mut out = vec![String::new(), format!("{:8} {:18} {:15} sentence", "seed", "verdict", "its claims")];
    out.extend(ALL.iter().map(line));
    out.push(String::new());
    out.push(counts());
    out
}

/// How many of each kind.
fn counts() -> String {
    let count = |standing: Standing| ALL.iter().filter(|s| s.standing == standing).count();
    let parts: Vec<String> = [Standing::True, Standing::Conditional, Standing::False, Standing::Informal]
        .iter()
        .map(|standing| format!("{} {standing}", count(*standing)))
        .collect();
    format!("{} sentences: {}", ALL.len(), parts.join(", "))
}

/// A sentence with all that is known of it.
pub fn explained(s: &SeedClaim) -> String {
    let mut text = format!("{}\n\nSource      {}\nVerdict     {}\n", s.sentence, s.source, s.standing);
    let label = match s.standing {
        Standing::True => "With",
        Standing::False => "Correct",
        Standing::Conditional => "Needs",
        Standing::Informal => "Why",
    };
    if !s.why.is_empty() {
        text.push_str(&format!("{label:<11} {}\n", s.why));
    }
    if s.claims.is_empty() {
        text.push_str("Claims      none");
    } else {
        text.push_str(&format!("Claims      {}\nTest it     metastable check {}", s.claims.join(", "), s.name));
    }
    text
}

/// All sentences.
pub fn all() -> String {
    let mut lines: Vec<String> = ALL.iter().map(|s| format!("{:8} {:18} {}", s.name, s.standing, s.sentence)).collect();
    lines.push(String::new());
    lines.push(counts());
    lines.push("Test them: metastable check seeds".to_owned());
    lines.join("\n")
}
