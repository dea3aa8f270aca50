//! Convergence of the solvers of the continuity equation.

use super::{PaperFigure, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;

/// Errors against resolution.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "measure-convergence",
    title: "Solvers of the continuity equation: error against resolution, and layers against step \
        size",
    study: Some(&crate::study::measure_convergence::PART),
    draw: |inputs| {
        let names = ["spectral", "lagrangian", "volume"];
        let errors: Vec<f64> = names
            .iter()
            .map(|n| Ok(inputs.table(n)?.column("error")))
            .collect::<Result<Vec<_>>>()?
            .concat();
        let highest = super::span(errors, (1.0, 1.0)).1;
        let mut space = Panel::new(
            "solvers",
            Axis::log("modes, particles or cells", 3.0, 1500.0),
            Axis::log("error of the moments", 1e-17, 1e3 * highest.max(1.0)),
        );
        for (colour, name, resolution, label) in [
            (0, "spectral", "modes", "Fourier modes"),
            (1, "lagrangian", "particles", "particles with log density"),
            (2, "volume", "volumes", "finite volumes"),
        ] {
            let points: Vec<(f64, f64)> = series(inputs.table(name)?, resolution, "error")
                .into_iter()
                .map(|(r, e)| (r, e.max(1e-16)))
                .collect();
            space.line(points.clone(), colour, Dash::Solid, "");
            space.points(points, colour, 2.2, label);
        }
        space.legend = Some(Corner::TopRight);
        let points = series(inputs.table("layers")?, "eta", "error");
        let (low, high) = super::span(points.iter().map(|p| p.1).filter(|e| *e > 0.0), (1e-5, 0.1));
        let mut time = Panel::new(
            "layers",
            Axis::log("\u{3b7}", 1.5e-3, 0.7),
            Axis::log("error of the moments", low / 3.0, high * 3.0),
        );
        let last = points.last().copied().unwrap_or((1.0, 1.0));
        time.line(vec![last, (0.5, last.1 * 0.5 / last.0)], 7, Dash::Dotted, "order 1");
        time.points(points, 0, 2.2, "residual layers");
        time.legend = Some(Corner::BottomRight);
        let caption = format!(
            "SA at beta = {} from 1 + 0.3 cos + 0.1 sin - 0.2 cos 2 to t = 1. Left: error of the \
            first four moments against the resolution of the three solvers. Right: the same \
            initial measure through 1/eta residual layers.",
            inputs.values.one("beta")?
        );
        Ok(Picture { panels: vec![space, time], columns: 2, aspect: 0.8, caption })
    },
    ..PaperFigure::EMPTY
};
