//! Saddles on the sphere.

use super::PaperFigure;
use crate::draw::{Axis, Dash, Mark, Panel, Picture};

/// Saddles of eight tokens on S^2.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "saddle-gallery",
    title: "Saddles of eight tokens on S^2",
    experiments: &[],
    full: &[],
    study: Some(&crate::study::landscape_tour::ENTRY),
    hidden: false,
    quick: false,
    draw: |inputs| {
        let table = inputs.table("gallery")?;
        let mut panels = Vec::new();
        for rows in table.rows.chunk_by(|a, b| a[0].total_cmp(&b[0]).is_eq()) {
            let title = format!("E = {:.3}, u = {}", rows[0][1], rows[0][2]);
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
            let nearest = |a: &[f64]| rows.iter().map(|b| gap(a, b)).filter(|g| *g > 1e-9).fold(f64::INFINITY, f64::min);
            for (i, a) in rows.iter().enumerate() {
                for b in rows[..i].iter().filter(|b| gap(a, b) < 1.1 * nearest(a).max(nearest(b))) {
                    let (p, q) = (view(a), view(b));
                    panel.line(vec![(p.0, p.1), (q.0, q.1)], 6, Dash::Dotted, "");
                }
            }
            for r in rows {
                let (u, v, depth) = view(r);
                panel.marks.push(Mark::Points {
                    points: vec![(u, v)],
                    colour: if depth < 0.0 { 0 } else { 1 },
                    radius: 1.2 + 0.8 * r[4].sqrt(),
                    label: String::new(),
                });
            }
            panels.push(panel);
        }
        let caption = "The most symmetric critical points found for eight tokens on S^2 at beta = 4, one for each number of clusters: share E of the largest energy and number u of unstable directions. Lines join nearest neighbours; the area of a disc grows with its tokens, open discs lie behind.";
        Ok(Picture { panels, columns: 4, aspect: 1.0, caption: caption.into() })
    },
};
