//! Final states of SA with a symmetric value matrix V: one cluster or two antipodal ones.

use super::{PaperFigure, series};
use crate::attention::kernel::Attention;
use crate::attention::{Dynamics, Head};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::num::stream::Stream;
use crate::sphere::law::Law;
use crate::study::{Part, Study, Tables, Values, table};
use crate::theory::bipartite::threshold;

/// Value matrices V with a spectrum: do tokens end in one cluster or in two antipodal ones
/// (arXiv:2604.26085, 2511.11553)?
///
/// Tables: threshold, ends.
pub static STUDY: Study = Study {
    name: "bipartite-ends",
    title: "V with a spectrum: shares of starts that end as one cluster and as two antipodal ones",
    citation: "arXiv:2604.26085 and 2511.11553 (abstracts); threshold derived",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part { parameters: &[], run };

/// Ratios mu / lambda of the eigenvalues.
pub const RATIOS: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 0.95];

/// Inverse temperatures.
pub const BETAS: [f64; 6] = [0.15, 0.5, 1.0, 1.5, 2.0, 3.0];

/// Starts for each pair (beta, mu).
pub const STARTS: usize = 40;

/// Number of tokens.
pub const TOKENS: usize = 12;

fn run(_: &Values) -> Result<Tables> {
    let mut line = table(&["beta", "mu"]);
    line.rows.extend(
        (0..=100).map(|k| 0.035 * f64::from(k)).map(|beta| vec![beta, threshold(1.0, beta)]),
    );
    let mut ends = table(&["beta", "mu", "one_cluster", "antipodal", "others"]);
    for beta in BETAS {
        for mu in RATIOS {
            let counts = ends_of(beta, mu)?;
            ends.rows.push(
                [beta, mu].into_iter().chain(counts.map(|c| c as f64 / STARTS as f64)).collect(),
            );
        }
    }
    Ok(vec![("threshold".into(), line), ("ends".into(), ends)])
}

/// Counts uniform starts on the circle under SA with `Q^T K = V = diag(1, mu)` by their state at
/// time 400: one cluster, two antipodal clusters, any other state.
fn ends_of(beta: f64, mu: f64) -> Result<[usize; 3]> {
    let s = vec![1.0, 0.0, 0.0, mu];
    let head = Head::new(2, Some((2, s.clone())), None, Some((2, s)))?;
    let dynamics = Dynamics::single(Attention { heads: vec![head], ..Attention::new(beta) });
    let options =
        Options { rtol: 1e-6, merge_radius: 1e-4, stop_at_one_cluster: true, ..Options::default() };
    let mut counts = [0; 3];
    for k in 0..STARTS {
        let x = Law::parse("uniform")?.sample(
            TOKENS,
            2,
            &mut Stream::new(1, &["bipartite ends", &k.to_string()]),
        )?;
        let end = solve(&dynamics, &x, 400.0, &options, &mut [])?.clusters;
        let kind = match end.n() {
            1 => 0,
            2 if end.inner(0, 1) < -0.99 => 1,
            _ => 2,
        };
        counts[kind] += 1;
    }
    Ok(counts)
}

/// Shares of the two final states over the eigenvalues of V, with the threshold at which two
/// antipodal clusters become stable.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "bipartite-ends",
    title: "V with a spectrum: one cluster or two antipodal ones, with the threshold of stability",
    study: Some(&PART),
    draw: |inputs| {
        let (line, ends) = (inputs.table("threshold")?, inputs.table("ends")?);
        let share = |beta: f64, mu: f64, column: &str| {
            let at = |values: Vec<f64>, ratios: Vec<f64>| {
                values
                    .iter()
                    .zip(&ratios)
                    .position(|(b, m)| (b - beta).abs() + (m - mu).abs() < 1e-9)
            };
            at(ends.column("beta"), ends.column("mu"))
                .map_or(f64::NAN, |row| ends.column(column)[row])
        };
        let panel = |title: &str, column: &str, legend: Option<Corner>| {
            let mut panel = Panel::new(
                title,
                Axis::linear("\u{3b2}\u{3bb}", 0.0, 3.5),
                Axis::linear("\u{3bc}/\u{3bb}", -0.1, 1.05),
            );
            let values = RATIOS
                .iter()
                .map(|mu| BETAS.iter().map(|beta| share(*beta, *mu, column)).collect())
                .collect();
            panel.marks.push(Mark::Heat {
                x: edges(&BETAS, 0.0, 3.5),
                y: edges(&RATIOS, -0.1, 1.05),
                values,
                shade: Axis::linear("share of starts", 0.0, 1.0),
            });
            let label =
                if legend.is_some() { "\u{3bc} = \u{3bb} tanh(\u{3b2}\u{3bb})" } else { "" };
            panel.line(series(line, "beta", "mu"), 6, Dash::Solid, label);
            panel.legend = legend;
            panel
        };
        let caption = format!(
            "Shares of {STARTS} uniform starts of {TOKENS} tokens on the circle under SA with Q^T \
            K = V = diag(lambda, mu), lambda = 1, that end as one cluster (left) and as two \
            antipodal ones (right); each cell surrounds a tested pair of values. Below the line \
            two equal antipodal clusters along the first eigenvector are stable, above it they are \
            not."
        );
        Ok(Picture {
            // The legend is legible where the share is near 1.
            panels: vec![
                panel("one cluster", "one_cluster", None),
                panel("two antipodal clusters", "antipodal", Some(Corner::BottomRight)),
            ],
            columns: 2,
            aspect: 0.8,
            caption,
        })
    },
    ..PaperFigure::EMPTY
};

/// Edges of the cells around these values, from `first` to `last`.
fn edges(values: &[f64], first: f64, last: f64) -> Vec<f64> {
    let middle = values.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
    std::iter::once(first).chain(middle).chain([last]).collect()
}
