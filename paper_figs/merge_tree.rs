//! The merge tree: which clusters merge, and when.

use super::connections::settings;
use super::{PaperFigure, columns};
use crate::attention::{Spec, dynamics};
use crate::clusters::tree::Tree;
use crate::draw::{Axis, Dash, Panel, Picture};
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::num::stream::Stream;
use crate::sphere::law::Law;
use crate::study::{Parameter, Part, Tables, Values, table};

/// A merge tree.
pub static PART: Part = Part {
    parameters: &[
        Parameter::real("beta", &[40.0], (0.5, 100.0), "inverse temperature"),
        Parameter::count("n", &[48.0], (2.0, 200.0), "tokens"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the start"),
    ],
    run: tree,
};

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

/// Merge tree of 48 tokens on the circle over log time.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "merge-tree",
    title: "Merge tree of 48 tokens on the circle over log time",
    study: Some(&PART),
    draw: |inputs| {
        let table = inputs.table("tree")?;
        let last = table.column("t_b").into_iter().fold(1.0, f64::max);
        let leaves = table.column("place_a").into_iter().fold(0.0, f64::max);
        let mut panel = Panel::new(
            "",
            Axis::log("t", 0.1, 3.0 * last),
            Axis::integer("token", -1.0, leaves + 1.0),
        );
        for [t_a, place_a, t_b, place_b] in columns(table, ["t_a", "place_a", "t_b", "place_b"])? {
            panel.line(vec![(t_a.max(0.1), place_a), (t_b, place_b)], 0, Dash::Solid, "");
        }
        let caption = format!(
            "Merge tree of one SA run of {} uniform tokens on the circle at beta = {}: horizontal \
            strokes are clusters in log time, vertical strokes are merges.",
            inputs.values.count("n")?,
            inputs.values.one("beta")?
        );
        Ok(Picture { panels: vec![panel], columns: 1, aspect: 0.6, caption })
    },
    ..PaperFigure::EMPTY
};
