//! The sixty sentences of the sheet with the verdicts of their claims.

use super::{Part, Study, Tables, Values, table};
use crate::error::Result;
use crate::theorem::{
    Effort, check,
    sentences::{ALL, Assessment, GROUP, Outcome, claims_of},
};

/// Table: sheet, with the number of a sentence from 1, its verdict, the result of a quick check of
/// its claims, and the number of claims and of checks of the claim `sentences` that decide it.
pub static ENTRY: Study = Study {
    name: "seed-sheet",
    title: "Sentences on attention in popular documents, judged where they stand: true, true \
        with something sharper known, false",
    citation: "a talk on arXiv:2312.10794 and notes of it, a survey, an essay, a tutorial",
    parts: &[&PART],
};

/// The verdicts, in the order of their colours.
pub const VERDICTS: [&str; 3] = ["true", "sharper-known", "false"];

/// A quick check of all claims of the sentences.
pub static PART: Part = Part { parameters: &[], run };

fn run(_: &Values) -> Result<Tables> {
    let records = claims_of(GROUP)?
        .into_iter()
        .map(|c| check(c, Effort::Quick, 1))
        .collect::<Result<Vec<_>>>()?;
    let mut sheet = table(&["sentence", "verdict", "check", "tests"])
        .with_labels("verdict", VERDICTS)
        .with_labels("check", ["unexpected", "as-expected", "no-claims"]);
    for (k, s) in ALL.iter().enumerate() {
        let verdict = match s.as_said {
            Assessment::True => 0.0,
            Assessment::Sharper => 1.0,
            Assessment::False => 2.0,
        };
        let seen = match s.outcome(&records) {
            Outcome::NotAsExpected => 0.0,
            Outcome::AsExpected => 1.0,
            Outcome::NotTested => 2.0,
        };
        let tests = s.claims.len() + s.checks.len();
        sheet.rows.push(vec![1.0 + k as f64, verdict, seen, tests as f64]);
    }
    Ok(vec![("sheet".into(), sheet)])
}
