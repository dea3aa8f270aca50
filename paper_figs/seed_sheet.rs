//! The sixty sentences of the sheet with their verdicts.

use super::PaperFigure;
use crate::draw::{Axis, Corner, Panel, Picture};
use crate::error::Result;
use crate::study::{Part, Study, Tables, Values, table};
use crate::theorem::sentences::{ALL, Assessment, GROUP, Outcome, claims_of};
use crate::theorem::{Effort, check};

/// The sixty sentences of the sheet with the verdicts of their claims.
///
/// Table: sheet, with the number of a sentence from 1, its verdict, the result of a quick check of
/// its claims, and the number of claims and of checks of the claim `sentences` that decide it.
pub static STUDY: Study = Study {
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

/// One marker for each sentence.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "seed-sheet",
    title: "Sixty sentences on attention: true, true with something sharper known, false",
    study: Some(&PART),
    draw: |inputs| {
        let sheet = inputs.table("sheet")?;
        let mut panel = Panel::new(
            "sentences",
            Axis::integer("sentence, units", 0.4, 10.6),
            Axis::integer("sentence, tens", -4.0, 54.0),
        );
        let place = |k: f64| ((k - 1.0) % 10.0 + 1.0, ((k - 1.0) / 10.0).floor() * 10.0);
        let places = |column: &str, label: &str| -> Vec<(f64, f64)> {
            sheet.only(column, label).column("sentence").into_iter().map(place).collect()
        };
        for (colour, verdict) in VERDICTS.into_iter().enumerate() {
            let label = if verdict == "sharper-known" { "true, sharper known" } else { verdict };
            panel.points(places("verdict", verdict), colour, 3.2, label);
        }
        let unexpected: Vec<(f64, f64)> =
            places("check", "unexpected").into_iter().map(|(x, y)| (x + 0.3, y)).collect();
        if !unexpected.is_empty() {
            panel.points(unexpected, 4, 1.6, "claims not as expected");
        }
        panel.legend = Some(Corner::TopRight);
        let tested = places("check", "as-expected").len();
        let listed = places("check", "no-claims").len();
        let caption = format!(
            "Sentences 1 to 60 of a talk and its notes, a survey, an essay and a tutorial on \
            attention (metastable list sentences), row by row. In a quick check the claims of \
            {tested} sentences had the expected verdicts; {listed} sentences have no claim."
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.6, caption })
    },
    ..PaperFigure::EMPTY
};
