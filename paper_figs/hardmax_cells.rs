//! Tokens under hardmax layers move on straight lines to vertices; a counterexample to the
//! published Frank-Wolfe bound (arXiv:2508.09628).

use super::{FigureReference, PaperFigure, PublishedFigure, distinct, only, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::study::hardmax_cells::{PART as STUDY, VERTICES};

/// Left: the cells of the vertices with trajectories. Right: the objective J of a token, which the
/// published bound falls below.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "hardmax-cells",
    title: "Hardmax layers: straight lines to vertices, and the Frank-Wolfe bound that fails",
    redraws: &[PublishedFigure {
        paper: "2508.09628",
        place: FigureReference::Unnumbered("a figure (number not read)"),
        shows: "dominance cells of polygons with trajectories",
        differs: "one polygon in place of eleven",
    }],
    study: Some(&STUDY),
    draw: |inputs| {
        let (paths, line) = (inputs.table("paths")?, inputs.table("line")?);
        let mut cells =
            Panel::new("cells", Axis::linear("", -1.1, 1.1), Axis::linear("", -1.1, 1.1));
        let mut hull: Vec<(f64, f64)> = Vec::new();
        for token in distinct(paths, "token") {
            let points = series(&only(paths, "token", token), "x", "y");
            let first = points[0];
            if (token as usize) < VERTICES {
                hull.push(first);
            } else {
                cells.line(points, 0, Dash::Solid, "");
                cells.points(vec![first], 1, 1.6, "");
            }
        }
        // Between neighbouring vertices the boundary is the ray orthogonal to their difference.
        for (a, b) in hull.iter().zip(hull.iter().cycle().skip(1)) {
            let (x, y) = (a.0 + b.0, a.1 + b.1);
            cells.line(
                vec![(0.0, 0.0), (1.1 * x / x.hypot(y), 1.1 * y / x.hypot(y))],
                5,
                Dash::Dotted,
                "",
            );
        }
        cells.points(hull, 2, 3.0, "vertices");
        cells.legend = Some(Corner::TopRight);
        let mut bound =
            Panel::new("the bound", Axis::log("t", 1.0, 1000.0), Axis::log("J", 1e-2, 50.0));
        bound.line(series(line, "t", "j"), 0, Dash::Solid, "J of the second token: 1/18");
        bound.line(series(line, "t", "bound"), 3, Dash::Dashed, "bound as published");
        bound.legend = Some(Corner::TopRight);
        let caption = "Left: layers x + 0.15 (argmax_v <x, v> - x): tokens move on straight lines \
            to the vertex of their cell. Right: tokens 3 and -1 under a negative form with steps \
            2/(t+2): the hull leaves the origin, x_2 = 1/3 for all time, and the published \
            Frank-Wolfe bound falls below J.";
        Ok(Picture { panels: vec![cells, bound], columns: 2, aspect: 1.0, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};
