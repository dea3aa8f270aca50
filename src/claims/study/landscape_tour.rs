//! A tour of the landscape: all critical points of five tokens on the circle with their
//! connections, saddles of eight tokens on S^2, the Hessian spectrum along a run, and a merge tree.

use super::{LabelledTable, Parameter, Part, Study, Tables, Values, table};
use crate::attention::{Spec, dynamics};
use crate::clusters::tree::Tree;
use crate::error::Result;
use crate::flow::{Frame, Observer, Options, solve};
use crate::landscape::connections::{Connection, connections};
use crate::landscape::search::{Search, SearchResult};
use crate::landscape::{Exponential, Spectrum};
use crate::num::stream::Stream;
use crate::sphere::law::Law;

/// Tables: points, links, places, gallery, spectrum, tree.
pub static ENTRY: Study = Study {
    name: "landscape-tour",
    title: "Critical points and their connections, saddles on S^2, the Hessian along a run, a \
        merge tree",
    citation: "arXiv:2312.10794, section 5 and appendix B (second variation); saddles of E_beta",
    parts: &[&GRAPH, &ATLAS, &GALLERY, &SPECTRUM, &TREE],
};

/// Critical points on the circle and their connections.
pub static GRAPH: Part = Part {
    parameters: &[
        Parameter::real("beta", &[6.0], (0.5, 50.0), "inverse temperature"),
        Parameter::count("n", &[5.0], (3.0, 7.0), "tokens"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the search"),
    ],
    run: graph,
};

/// Critical points on the circle with the places of their clusters, and their connections.
pub static ATLAS: Part = Part {
    parameters: &[
        Parameter::real("beta", &[6.0], (0.5, 50.0), "inverse temperature"),
        Parameter::count("n", &[5.0], (3.0, 6.0), "tokens"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the search"),
    ],
    run: atlas,
};

/// Saddles on the sphere.
pub static GALLERY: Part = Part {
    parameters: &[
        Parameter::real("beta", &[4.0], (0.5, 20.0), "inverse temperature"),
        Parameter::count("n", &[8.0], (3.0, 10.0), "tokens"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the search"),
    ],
    run: gallery,
};

/// The Hessian along a run.
pub static SPECTRUM: Part = Part {
    parameters: &[
        Parameter::real("beta", &[10.0], (0.5, 40.0), "inverse temperature"),
        Parameter::count("n", &[12.0], (2.0, 64.0), "tokens"),
        Parameter::count("seed", &[3.0], (0.0, 9e15), "seed of the start"),
    ],
    run: spectrum,
};

/// A merge tree.
pub static TREE: Part = Part {
    parameters: &[
        Parameter::real("beta", &[40.0], (0.5, 100.0), "inverse temperature"),
        Parameter::count("n", &[48.0], (2.0, 200.0), "tokens"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the start"),
    ],
    run: tree,
};

/// Reads beta, n and seed.
fn settings(values: &Values) -> Result<(f64, usize, u64)> {
    Ok((values.one("beta")?, values.count("n")?, values.one("seed")? as u64))
}

/// The critical points on the circle and their connections.
fn connected(values: &Values) -> Result<(SearchResult, Vec<Connection>)> {
    let (beta, n, seed) = settings(values)?;
    let energy = Exponential { beta };
    let search = Search { energy, n, d: 2, starts: 200, max_starts: 200, fixed: true, seed };
    let mut found = search.run()?;
    let (edges, _) = connections(dynamics::find("sa", false)?, &mut found, &mut || true)?;
    Ok((found, edges))
}

/// The table of connections.
fn links(edges: &[Connection]) -> LabelledTable {
    let mut links = table(&["from", "to", "rate", "t"]);
    links.rows = edges.iter().map(|e| vec![e.from as f64, e.to as f64, e.rate, e.t]).collect();
    links
}

/// Critical points, their clusters by angle from the largest one at the top, and connections.
fn atlas(values: &Values) -> Result<Tables> {
    let (found, edges) = connected(values)?;
    let mut points = table(&["point", "log_energy", "unstable", "clusters"]);
    let mut places = table(&["point", "angle", "size"]);
    for (k, p) in found.points.iter().enumerate() {
        let unstable = p.spectrum.unstable as f64;
        points.rows.push(vec![k as f64, p.log_energy, unstable, p.clusters.n() as f64]);
        let angles = p.clusters.angles();
        let largest = (0..angles.len()).rev().max_by_key(|q| p.sizes[*q]).unwrap_or_default();
        for (angle, size) in angles.iter().zip(&p.sizes) {
            places.rows.push(vec![
                k as f64,
                angle - angles[largest] + std::f64::consts::FRAC_PI_2,
                *size as f64,
            ]);
        }
    }
    Ok(vec![("points".into(), points), ("places".into(), places), ("links".into(), links(&edges))])
}

fn graph(values: &Values) -> Result<Tables> {
    let (found, edges) = connected(values)?;
    let mut points = table(&[
        "point",
        "log_energy",
        "unstable",
        "clusters",
        "size_1",
        "size_2",
        "size_3",
        "size_4",
        "size_5",
        "size_6",
        "size_7",
    ]);
    for (k, p) in found.points.iter().enumerate() {
        let mut sizes = p.sizes.clone();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let row = [k as f64, p.log_energy, p.spectrum.unstable as f64, p.clusters.n() as f64];
        let sizes = (0..7).map(|c| sizes.get(c).map_or(0.0, |s| *s as f64));
        points.rows.push(row.into_iter().chain(sizes).collect());
    }
    Ok(vec![("points".into(), points), ("links".into(), links(&edges))])
}

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

/// Eigenvalues of the Hessian at every step of a run.
struct Eigenvalues {
    beta: f64,
    rows: Vec<Vec<f64>>,
}

impl Observer for Eigenvalues {
    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        let sizes = crate::landscape::slow_states::cluster_sizes(frame.labels, frame.tokens.n());
        if let Ok(spectrum) = Spectrum::of_clusters(self.beta, frame.tokens, &sizes) {
            self.rows.extend(
                spectrum.values.iter().enumerate().map(|(k, v)| vec![frame.t, k as f64, *v]),
            );
        }
    }
}

/// One run on the circle.
fn spectrum(values: &Values) -> Result<Tables> {
    let (beta, n, seed) = settings(values)?;
    let x = Law::parse("uniform")?.sample(n, 2, &mut Stream::new(seed, &["landscape-tour"]))?;
    let sa = dynamics::build("sa", false, &Spec::new(beta, n))?;
    let mut watch = Eigenvalues { beta, rows: Vec::new() };
    let options =
        Options { rtol: 1e-6, merge_radius: 1e-5, stop_at_one_cluster: true, ..Options::default() };
    solve(&sa, &x, 1e300, &options, &mut [&mut watch])?;
    let mut out = table(&["t", "k", "eigenvalue"]);
    out.rows = watch.rows;
    Ok(vec![("spectrum".into(), out)])
}

/// The merge tree of tokens on the circle, as horizontal and vertical strokes from (t_a, place_a)
/// to (t_b, place_b).
fn tree(values: &Values) -> Result<Tables> {
    let (beta, n, seed) = settings(values)?;
    let x = Law::parse("uniform")?.sample(n, 2, &mut Stream::new(seed, &["merge-tree"]))?;
    let sa = dynamics::build("sa", false, &Spec::new(beta, n))?;
    let options = Options {
        rtol: 1e-8,
        merge_radius: 0.01 / beta.sqrt(),
        stop_at_one_cluster: true,
        ..Options::default()
    };
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
    Ok(vec![("tree".into(), out)])
}
