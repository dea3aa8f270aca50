//! Value matrices V with a spectrum: do tokens end in one cluster or in two antipodal ones
//! (arXiv:2604.26085, 2511.11553)?

use super::{Part, Study, Tables, Values, table};
use crate::attention::{Dynamics, Head, kernel::Attention};
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::num::stream::Stream;
use crate::sphere::law::Law;
use crate::theory::bipartite::threshold;

/// Tables: threshold, ends.
pub static ENTRY: Study = Study {
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
