//! A tour of a landscape: all critical points of five tokens on the circle with their connections, saddles of eight tokens on S^2, the Hessian
//! spectrum along a run, and a merge tree.

use super::{Study, Tables, table};
use crate::attention::{Spec, dynamics};
use crate::clusters::tree::Tree;
use crate::error::Result;
use crate::flow::{Frame, Observer, Options, solve};
use crate::landscape::{Spectrum, connections::connections, search::Search};
use crate::num::stream::Stream;
use crate::sphere::law::Law;

/// Four tables: points, connections, gallery, spectrum, tree.
pub static ENTRY: Study = Study {
    name: "landscape-tour",
    title: "Critical points and their connections, saddles on S^2, the Hessian along a run, a merge tree",
    citation: "arXiv:2312.10794, section 5 and appendix B (second variation); saddles of E_beta",
    run,
};

/// Inverse temperature of the graph.
pub const GRAPH_BETA: f64 = 6.0;

fn run() -> Result<Tables> {
    let mut found = Search { beta: GRAPH_BETA, n: 5, d: 2, starts: 200, seed: 1 }.run()?;
    let (edges, _) = connections(&dynamics::sa::ENTRY, &mut found)?;
    let mut points = table(&["point", "log_energy", "unstable", "clusters", "largest", "second", "third"]);
    for (k, p) in found.points.iter().enumerate() {
        let mut sizes = p.sizes.clone();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let size = |k: usize| sizes.get(k).map_or(0.0, |s| *s as f64);
        points.rows.push(vec![k as f64, p.log_energy, p.spectrum.unstable as f64, p.clusters.n() as f64, size(0), size(1), size(2)]);
    }
    let mut links = table(&["from", "to", "rate", "t"]);
    links.rows = edges.iter().map(|e| vec![e.from as f64, e.to as f64, e.rate, e.t]).collect();
    Ok(vec![
        ("points".into(), points),
        ("links".into(), links),
        ("gallery".into(), gallery()?),
        ("spectrum".into(), spectrum()?),
        ("tree".into(), tree()?),
    ])
}

/// Saddles of eight tokens on S^2 at beta = 4: positions with masses.
fn gallery() -> Result<crate::flow::Table> {
    let found = Search { beta: 4.0, n: 8, d: 3, starts: 300, seed: 1 }.run()?;
    let mut out = table(&["saddle", "share", "unstable", "symmetry", "size", "x", "y", "z"]);
    // The most symmetric ones of each number of clusters.
    let mut chosen: Vec<&crate::landscape::CriticalPoint> = Vec::new();
    for k in 2..=8 {
        chosen.extend(found.points.iter().filter(|p| p.clusters.n() == k).max_by_key(|p| p.symmetry));
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
    Ok(out)
}

/// Eigenvalues of the Hessian at every step of a run.
struct Eigenvalues {
    beta: f64,
    rows: Vec<Vec<f64>>,
}

impl Observer for Eigenvalues {
    fn next_time(&self) -> Option<f64> {
        None
    }

    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        let sizes = crate::landscape::lulls::sizes(frame.labels, frame.tokens.n());
        if let Ok(spectrum) = Spectrum::of_clusters(self.beta, frame.tokens, &sizes) {
            self.rows.extend(spectrum.values.iter().enumerate().map(|(k, v)| vec![frame.t, k as f64, *v]));
        }
    }
}

/// n = 12 tokens on the circle, beta = 10.
fn spectrum() -> Result<crate::flow::Table> {
    let x = Law::parse("uniform")?.sample(12, 2, &mut Stream::new(3, &["landscape-tour"]))?;
    let sa = dynamics::build("sa", false, &Spec::new(10.0, 12))?;
    let mut watch = Eigenvalues { beta: 10.0, rows: Vec::new() };
    let options = Options { rtol: 1e-6, merge_radius: 1e-5, stop_at_one_cluster: true, ..Options::default() };
    solve(&sa, &x, 1e300, &options, &mut [&mut watch])?;
    let mut out = table(&["t", "k", "eigenvalue"]);
    out.rows = watch.rows;
    Ok(out)
}

/// The merge tree of 48 tokens on the circle at beta = 40: horizontal and vertical strokes `(t, place) - (t, place)`.
fn tree() -> Result<crate::flow::Table> {
    let x = Law::parse("uniform")?.sample(48, 2, &mut Stream::new(1, &["merge-tree"]))?;
    let sa = dynamics::build("sa", false, &Spec::new(40.0, 48))?;
    let options = Options { rtol: 1e-8, merge_radius: 0.01 / 40f64.sqrt(), stop_at_one_cluster: true, ..Options::default() };
    let end = solve(&sa, &x, 1e300, &options, &mut [])?;
    let tree = Tree::new(x.masses(), &end.merges);
    let mut place = vec![0.0; tree.nodes.len()];
    tree.order().iter().enumerate().for_each(|(row, leaf)| place[*leaf] = row as f64);
    let mut out = table(&["t_a", "place_a", "t_b", "place_b"]);
    for (k, node) in tree.nodes.iter().enumerate().filter(|(_, n)| !n.parts.is_empty()) {
        place[k] = node.parts.iter().map(|&p| place[p]).sum::<f64>() / node.parts.len() as f64;
        for &p in &node.parts {
            out.rows.push(vec![tree.nodes[p].t, place[p], node.t, place[p]]);
            out.rows.push(vec![node.t, place[p], node.t, place[k]]);
        }
    }
    Ok(out)
}
