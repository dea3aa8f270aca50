//! The sentences of the seeds with the verdicts of their claims.

use super::{Given, Part, Study, Tables, table};
use crate::error::Result;
use crate::theorem::{
    Effort, check,
    seeds::{ALL, GROUP, Seen, Standing, claims_of},
};

/// Table: sheet, with the number of a sentence, its verdict (0 true, 1 needs a hypothesis, 2 false, 3 informal) and what its claims said (1 as expected, 0
/// otherwise, -1 none).
pub static ENTRY: Study = Study {
    name: "seed-sheet",
    title: "What popular documents say of attention, sentence by sentence: true, false, true under a hypothesis, informal",
    citation: "a talk on arXiv:2312.10794 and notes of it, a survey, an essay, a tutorial",
    parts: &[&PART],
};

/// A quick check of all their claims.
pub static PART: Part = Part { parameters: &[], run };

fn run(_: &Given) -> Result<Tables> {
    let records = claims_of(GROUP)?.into_iter().map(|c| check(c, Effort::Quick, 1)).collect::<Result<Vec<_>>>()?;
    let mut sheet = table(&["sentence", "verdict", "seen", "claims"]);
    for (k, s) in ALL.iter().enumerate() {
        let verdict = match s.standing {
            Standing::True => 0.0,
            Standing::Conditional => 1.0,
            Standing::False => 2.0,
            Standing::Informal => 3.0,
        };
        let seen = match s.seen(&records) {
            Seen::AsExpected => 1.0,
            Seen::Otherwise => 0.0,
            Seen::Nothing => -1.0,
        };
        sheet.rows.push(vec![1.0 + k as f64, verdict, seen, s.claims.len() as f64]);
    }
    Ok(vec![("sheet".into(), sheet)])
}
