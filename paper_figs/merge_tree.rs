//! The merge tree: which clusters merge, and when.

use super::{PaperFigure, columns};
use crate::draw::{Axis, Dash, Panel, Picture};

/// Merge tree of 48 tokens on the circle over log time.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "merge-tree",
    title: "Merge tree of 48 tokens on the circle over log time",
    study: Some(&crate::study::landscape_tour::TREE),
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
