//! The sixty sentences of the sheet with their verdicts.

use super::PaperFigure;
use crate::draw::{Axis, Corner, Panel, Picture};
use crate::study::seed_sheet::VERDICTS;

/// One marker for each sentence.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "seed-sheet",
    title: "Sixty sentences on attention: true, true with something sharper known, false",
    study: Some(&crate::study::seed_sheet::PART),
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
