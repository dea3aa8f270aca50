//! Saddles on the sphere.

use super::PaperFigure;
use crate::draw::{Axis, Dash, Mark, Panel, Picture};

/// Saddles of eight tokens on S^2.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "saddle-gallery",
    title: "Saddles of eight tokens on S^2",
    study: Some(&crate::study::landscape_tour::GALLERY),
    draw: |inputs| {
        let table = inputs.table("gallery")?;
        let mut panels = Vec::new();
        let (mut front, mut behind) = ("in front".to_owned(), "behind".to_owned());
        for rows in table.rows.chunk_by(|a, b| a[0].total_cmp(&b[0]).is_eq()) {
            let title = format!("{:.3} ({})", rows[0][1], rows[0][2]);
            let mut panel = Panel::new(title, Axis::linear("", -1.2, 1.2), Axis::linear("", -1.2, 1.2));
            panel.bare = true;
            panel.marks.push(Mark::Circle);
            // Seen from a point off the axes; what lies behind is drawn open.
            let view = |r: &[f64]| {
                let (c, s) = (0.5f64.cos(), 0.5f64.sin());
                let (x, y, z) = (r[5], r[6], r[7]);
                let (u, depth) = (c * x - s * y, s * x + c * y);
                (u, 0.94 * z + 0.34 * depth, 0.94 * depth - 0.34 * z)
            };
            let gap = |a: &[f64], b: &[f64]| (a[5] - b[5]).hypot(a[6] - b[6]).hypot(a[7] - b[7]);
            let reach = 1.02 * joined(rows, gap);
            for (i, a) in rows.iter().enumerate() {
                for b in rows[..i].iter().filter(|b| gap(a, b) <= reach) {
                    let (p, q) = (view(a), view(b));
                    panel.line(vec![(p.0, p.1), (q.0, q.1)], 7, Dash::Dotted, "");
                }
            }
            for r in rows {
                let (u, v, depth) = view(r);
                panel.points(
                    vec![(u, v)],
                    if depth < 0.0 { 0 } else { 1 },
                    1.2 + 0.8 * r[4].sqrt(),
                    match (panels.len(), depth < 0.0) {
                        (0, false) => std::mem::take(&mut behind),
                        (0, true) => std::mem::take(&mut front),
                        _ => String::new(),
                    },
                );
            }
            panel.legend = panels.is_empty().then_some(crate::draw::Corner::TopLeft);
            panels.push(panel);
        }
        let caption = format!(
            "The most symmetric critical points found for {} tokens on S^2 at beta = {}, one for each number of clusters: share of the largest energy, and in brackets the number of unstable directions. Lines join clusters nearer to each other than the shortest distance that joins all; the area of a disc grows with its tokens, open discs lie behind.",
            inputs.values.count("n")?,
            inputs.values.one("beta")?
        );
        Ok(Picture { panels, columns: 4, aspect: 1.0, caption })
    },
    ..PaperFigure::EMPTY
};

/// The shortest distance at which all rows hang together: the longest side of a shortest spanning tree (Prim 1957).
fn joined(rows: &[Vec<f64>], gap: impl Fn(&[f64], &[f64]) -> f64) -> f64 {
    let mut away: Vec<f64> = rows.iter().map(|r| gap(&rows[0], r)).collect();
    let mut left: Vec<usize> = (1..rows.len()).collect();
    let mut longest = 0.0f64;
    while let Some(next) = (0..left.len()).min_by(|a, b| away[left[*a]].total_cmp(&away[left[*b]])) {
        let k = left.swap_remove(next);
        longest = longest.max(away[k]);
        left.iter().for_each(|j| away[*j] = away[*j].min(gap(&rows[k], &rows[*j])));
    }
    longest
}
