//! Tokens under hardmax layers move on straight lines to vertices; a counterexample to the
//! published Frank-Wolfe bound (arXiv:2508.09628).

use super::{FigureReference, PaperFigure, PublishedFigure, distinct, only, series};
use crate::attention::Dynamics;
use crate::attention::hardmax::Hardmax;
use crate::attention::layer::Layer;
use crate::attention::normalisation::Rescaled;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::num::stream::Stream;
use crate::sphere::Tokens;
use crate::study::{Part, Study, Tables, Values, table};

/// Hardmax layers (arXiv:2508.09628): straight lines to the vertices of cells, and the line on
/// which the Frank-Wolfe bound fails.
///
/// Tables: paths (the first five tokens are the vertices), line.
pub static STUDY: Study = Study {
    name: "hardmax-cells",
    title: "Hardmax layers: straight trajectories in dominance cells; tokens 3 and -1 under a \
        negative form",
    citation: "arXiv:2508.09628 v1; counterexample x_1 = 1/3 + 8/(t(t+1)), x_2 = 1/3",
    parts: &[&PART],
};

/// The whole study; it has no parameters.
pub static PART: Part = Part { parameters: &[], run };

/// Vertices of the first table.
pub const VERTICES: usize = 5;

fn run(_: &Values) -> Result<Tables> {
    let mut stream = Stream::new(2, &["hardmax-cells"]);
    let angle = |k: usize| {
        std::f64::consts::TAU * (k as f64 + 0.3 * (k as f64 * 1.7).sin()) / VERTICES as f64
    };
    let mut x: Vec<f64> = (0..VERTICES).flat_map(|k| [angle(k).cos(), angle(k).sin()]).collect();
    x.extend((0..40).map(|_| stream.uniform_in(-0.55, 0.55)));
    let mut z = Tokens::flat(2, x)?;
    let dynamics = Dynamics::single(Hardmax::new(None, 1e-12)?).with_normalisation(Rescaled);
    let mut paths = table(&["token", "t", "x", "y"]);
    for t in 0..=25 {
        paths
            .rows
            .extend(z.rows().enumerate().map(|(i, r)| vec![i as f64, f64::from(t), r[0], r[1]]));
        Layer::new(0.15)?.apply(&dynamics, &mut z);
    }
    let mut line = table(&["t", "x1", "x2", "j", "bound"]);
    let negative =
        Dynamics::single(Hardmax::new(Some(vec![-1.0]), 1e-12)?).with_normalisation(Rescaled);
    let mut z = Tokens::flat(1, vec![3.0, -1.0])?;
    for t in 0..1000 {
        Layer::new(2.0 / (f64::from(t) + 2.0))?.apply(&negative, &mut z);
        let [a, b] = [z.numbers()[0], z.numbers()[1]];
        line.rows.push(vec![f64::from(t + 1), a, b, 0.5 * b * b, 32.0 / f64::from(t + 1)]);
    }
    Ok(vec![("paths".into(), paths), ("line".into(), line)])
}

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
    study: Some(&PART),
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
