//! The verdict sheet of the seeds.

use super::PaperFigure;
use crate::draw::{Axis, Corner, Panel, Picture};

/// A marker for every sentence.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "seed-sheet",
    title: "Sixty sentences on attention: true, false, true under a hypothesis, informal",
    study: Some(&crate::study::seed_sheet::PART),
    draw: |inputs| {
        let sheet = inputs.table("sheet")?;
        let mut panel = Panel::new("sentences", Axis::whole("sentence, units", 0.4, 10.6), Axis::whole("sentence, tens", -4.0, 54.0));
        let place = |k: f64| ((k - 1.0) % 10.0 + 1.0, ((k - 1.0) / 10.0).floor() * 10.0);
        for (colour, label) in ["true", "needs a hypothesis", "false", "informal"].into_iter().enumerate() {
            let points = sheet.rows.iter().filter(|r| (r[1] - colour as f64).abs() < 0.5).map(|r| place(r[0])).collect();
            panel.points(points, colour, 3.2, label);
        }
        let other: Vec<(f64, f64)> =
            sheet.rows.iter().filter(|r| r[2].abs() < 0.5).map(|r| place(r[0])).map(|(x, y)| (x + 0.3, y)).collect();
        if !other.is_empty() {
            panel.points(other, 4, 1.6, "claims not as expected");
        }
        panel.legend = Some(Corner::TopRight);
        let tested = sheet.rows.iter().filter(|r| r[2] > 0.5).count();
        let listed = sheet.rows.iter().filter(|r| r[2] < -0.5).count();
        let caption = format!(
            "Sentences 1 to 60 of a talk and its notes, a survey, an essay and a tutorial on attention (metastable list seeds), row by row. The claims of {tested} of them came out as expected in a quick check; {listed} are listed without a claim."
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.6, caption })
    },
    ..PaperFigure::EMPTY
};
