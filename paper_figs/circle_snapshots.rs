//! Tokens on the circle at the published times (arXiv:2312.10794, figure 4).

use super::{
    CellSelection, FigureReference, PaperFigure, PublishedFigure, dynamics_text, first_run, tokens,
};
use crate::draw::{Axis, Mark, Panel, Picture};
use crate::study::Parameter;

/// beta = 4 and 9, n = 32, t = 0, 2.5, 18, 30.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "circle-snapshots",
    title: "Tokens on the circle at beta = 4 and 9",
    redraws: &[PublishedFigure {
        paper: "2312.10794",
        place: FigureReference::Figure(4),
        shows: "tokens on the circle at beta = 4 and 9",
        differs: "another random start (seed 4): the published start is not known",
    }],
    experiments: &["circle-snapshots"],
    cells: Some(CellSelection { max_cells: 8, d: Some(2), columns: &["x_0_0", "clusters"] }),
    parameters: &[
        Parameter::real("beta", &[4.0, 9.0], (0.0, 500.0), "inverse temperatures, one row each"),
        Parameter::count("n", &[32.0], (2.0, 1000.0), "tokens"),
        Parameter::count("seed", &[4.0], (0.0, 9e15), "seed of the start"),
        Parameter::real(
            "times",
            &[0.0, 2.5, 18.0, 30.0],
            (0.0, 1e4),
            "times, ascending; the last one is at most t_end",
        ),
        Parameter::real("t_end", &[30.0], (0.1, 1e4), "end of the run"),
    ],
    quick: true,
    draw: |inputs| {
        let mut panels = Vec::new();
        for (cell, tables) in &inputs.results[0] {
            let table = first_run(&tables.table).0;
            let (t, clusters) = (table.column("t"), table.column("clusters"));
            for (k, time) in t.iter().enumerate() {
                let word = if clusters[k] > 1.5 { "clusters" } else { "cluster" };
                // The title of the first panel names what its row has in common.
                let row = if k == 0 {
                    format!("\u{3b2}\u{a0}=\u{a0}{}, ", cell.beta)
                } else {
                    String::new()
                };
                let title = format!("{row}t\u{a0}=\u{a0}{}", rounded(*time));
                let mut panel =
                    Panel::new(title, Axis::linear("", -1.15, 1.15), Axis::linear("", -1.15, 1.15));
                panel.hides_axes = true;
                let at = |i: usize, c: usize| table.column(&format!("x_{i}_{c}"))[k];
                panel.marks.push(Mark::Circle);
                panel.points((0..cell.n).map(|i| (at(i, 0), at(i, 1))).collect(), 0, 1.6, "");
                panel.marks.push(Mark::Middle(format!("{} {word}", clusters[k])));
                panels.push(panel);
            }
        }
        let mut rows: Vec<String> = Vec::new();
        for (cell, _) in &inputs.results[0] {
            let row = format!("{} from {}", dynamics_text(cell), tokens(cell));
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        let one = if inputs.results[0].len() == 1 { "" } else { ", one row for each cell" };
        let caption = format!(
            "{} on the circle{one}; clusters are components of tokens nearer than half a kernel \
            width, beta^(-1/2)/2.",
            rows.join("; ")
        );
        let columns =
            inputs.results[0].first().map_or(1, |(_, t)| first_run(&t.table).0.rows.len());
        Ok(Picture { panels, columns, aspect: 1.0, caption })
    },
    ..PaperFigure::EMPTY
};

/// A time rounded to four digits.
fn rounded(t: f64) -> String {
    let digits = 10f64.powi(3 - if t.abs() > 0.0 { t.abs().log10().floor() as i32 } else { 0 });
    let short = (t * digits).round() / digits;
    crate::error::format_number(if short.is_finite() { short } else { t })
}
