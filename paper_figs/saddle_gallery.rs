//! Saddles of the energy on the sphere S^2.

use super::connections::settings;
use super::{PaperFigure, columns, groups};
use crate::draw::{Axis, Dash, Mark, Panel, Picture};
use crate::error::Result;
use crate::landscape::Exponential;
use crate::landscape::search::Search;
use crate::study::{Parameter, Part, Tables, Values, table};

/// Saddles on the sphere.
pub static PART: Part = Part {
    parameters: &[
        Parameter::real("beta", &[4.0], (0.5, 20.0), "inverse temperature"),
        Parameter::count("n", &[8.0], (3.0, 10.0), "tokens"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the search"),
    ],
    run: gallery,
};

/// Saddles on S^2: positions with masses.
fn gallery(values: &Values) -> Result<Tables> {
    let (beta, n, seed) = settings(values)?;
    let found = Search {
        energy: Exponential { beta },
        n,
        d: 3,
        starts: 300,
        max_starts: 300,
        fixed: true,
        seed,
    }
    .run()?;
    let mut out = table(&["saddle", "share", "unstable", "symmetry", "size", "x", "y", "z"]);
    // The most symmetric saddles for each number of clusters.
    let mut chosen: Vec<&crate::landscape::CriticalPoint> = Vec::new();
    for k in 2..=n {
        chosen
            .extend(found.points.iter().filter(|p| p.clusters.n() == k).max_by_key(|p| p.symmetry));
    }
    for (s, p) in chosen.iter().enumerate() {
        for (row, size) in p.clusters.rows().zip(&p.sizes) {
            out.rows.push(vec![
                s as f64,
                p.log_energy.exp(),
                p.spectrum.unstable as f64,
                p.symmetry as f64,
                *size as f64,
                row[0],
                row[1],
                row[2],
            ]);
        }
    }
    Ok(vec![("gallery".into(), out)])
}

/// The most symmetric critical points of eight tokens, one for each number of clusters.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "saddle-gallery",
    title: "Saddles of eight tokens on S^2",
    study: Some(&PART),
    draw: |inputs| {
        let table = inputs.table("gallery")?;
        let mut panels = Vec::new();
        let (mut front, mut behind) = ("in front".to_owned(), "behind".to_owned());
        for (_, clusters) in groups(table, "saddle") {
            let title =
                format!("{:.3} ({})", clusters.column("share")[0], clusters.column("unstable")[0]);
            let rows = &columns(&clusters, ["x", "y", "z", "size"])?[..];
            let mut panel =
                Panel::new(title, Axis::linear("", -1.2, 1.2), Axis::linear("", -1.2, 1.2));
            panel.hides_axes = true;
            panel.marks.push(Mark::Circle);
            // The view is from a point off the axes; points behind the sphere are drawn open.
            let view = |[x, y, z, _]: &[f64; 4]| {
                let (c, s) = (0.5f64.cos(), 0.5f64.sin());
                let (u, depth) = (c * x - s * y, s * x + c * y);
                (u, 0.94 * z + 0.34 * depth, 0.94 * depth - 0.34 * z)
            };
            let gap =
                |a: &[f64; 4], b: &[f64; 4]| (a[0] - b[0]).hypot(a[1] - b[1]).hypot(a[2] - b[2]);
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
                    1.2 + 0.8 * r[3].sqrt(),
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
            "The most symmetric critical points found for {} tokens on S^2 at beta = {}, one for \
            each number of clusters: share of the largest energy, and in brackets the number of \
            unstable directions. Lines join clusters closer than the smallest distance at which \
            all are connected; the area of a disc grows with its number of tokens, open discs lie \
            behind.",
            inputs.values.count("n")?,
            inputs.values.one("beta")?
        );
        Ok(Picture { panels, columns: 4, aspect: 1.0, caption })
    },
    ..PaperFigure::EMPTY
};

/// The smallest linking distance at which all points are connected: the longest edge of a minimal
/// spanning tree (Prim 1957).
fn joined(rows: &[[f64; 4]], gap: impl Fn(&[f64; 4], &[f64; 4]) -> f64) -> f64 {
    let mut away: Vec<f64> = rows.iter().map(|r| gap(&rows[0], r)).collect();
    let mut left: Vec<usize> = (1..rows.len()).collect();
    let mut longest = 0.0f64;
    while let Some(next) = (0..left.len()).min_by(|a, b| away[left[*a]].total_cmp(&away[left[*b]]))
    {
        let k = left.swap_remove(next);
        longest = longest.max(away[k]);
        left.iter().for_each(|j| away[*j] = away[*j].min(gap(&rows[k], &rows[*j])));
    }
    longest
}
