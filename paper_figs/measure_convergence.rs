//! Convergence of the solvers of the continuity equation.

use super::{PaperFigure, series};
use crate::attention::layer::Layer;
use crate::attention::{Spec, dynamics};
use crate::continuity::MeasureDynamics;
use crate::continuity::circle::Circle;
use crate::continuity::density::Density;
use crate::continuity::finite_volume::FiniteVolume;
use crate::continuity::lagrangian::Lagrangian;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::{Error, Result};
use crate::num::stats::nan_max;
use crate::sphere::Tokens;
use crate::study::{Parameter, Part, Study, Tables, Values, table};

/// Convergence of the three solvers of the continuity equation, and of residual layers towards its
/// solution.
///
/// Tables: spectral, volume, lagrangian, layers.
pub static STUDY: Study = Study {
    name: "measure-convergence",
    title: "Error of Fourier series, finite volumes, particles that carry the density, and \
        residual layers",
    citation: "spectral and second order derived; arXiv:2312.10794, Section 2 (layers as time \
        steps)",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part =
    Part { parameters: &[Parameter::real("beta", &[4.0], (0.5, 6.0), "inverse temperature")], run };

fn run(values: &Values) -> Result<Tables> {
    let beta = values.one("beta")?;
    let medium = MeasureDynamics::new("sa", beta, 0.0)?;
    let start = Circle::from_density(&Density::parse("cos:1=0.3,2=-0.2+sin:1=0.1")?, 128)?;
    let exact = start.evolve_unchecked(&medium, 1.0)?;
    if exact.tail() > 1e-12 {
        return Err(Error::Numerical {
            what: format!(
                "the reference is not resolved: its highest modes are {:.0e}",
                exact.tail()
            ),
        });
    }
    let moments: Vec<(f64, f64)> = (1..=4).map(|k| (exact.c[k].re, -exact.c[k].im)).collect();
    let distance = |found: &[(f64, f64)]| {
        let both = found.iter().zip(&moments);
        both.map(|(a, b)| (a.0 - b.0).hypot(a.1 - b.1)).fold(0.0, nan_max)
    };
    let (mut spectral, mut volume) = (table(&["modes", "error"]), table(&["volumes", "error"]));
    let (mut particles, mut layers) = (table(&["particles", "error"]), table(&["eta", "error"]));
    for modes in [4usize, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48] {
        let end = start.with_modes(modes).evolve_unchecked(&medium, 1.0)?;
        spectral.rows.push(vec![
            modes as f64,
            distance(&(1..=4).map(|k| (end.c[k].re, -end.c[k].im)).collect::<Vec<_>>()),
        ]);
    }
    for cells in [32usize, 64, 128, 256, 512, 1024] {
        let state = FiniteVolume::from_circle(&start, cells)?
            .evolve(&medium, 1.0, |_, _| true)?
            .reached()?;
        let grid: Vec<f64> =
            (0..cells).map(|j| std::f64::consts::TAU * (j as f64 + 0.5) / cells as f64).collect();
        let x = Tokens::from_angles(&grid)?.with_masses(
            &state.averages.iter().map(|c| c.max(1e-300) / cells as f64).collect::<Vec<_>>(),
        )?;
        volume.rows.push(vec![cells as f64, distance(&means(&x))]);
    }
    for n in [6usize, 8, 12, 16, 24, 32, 48, 64, 80] {
        let end = Lagrangian::on_circle(&start.without_negligible_modes(), n)?
            .evolve(&medium, 1.0, |_, _| true)?
            .reached()?;
        particles.rows.push(vec![n as f64, distance(&means(&end.x))]);
    }
    let grid = Lagrangian::on_circle(&start, 256)?.x;
    for count in [2usize, 5, 10, 20, 50, 100, 200, 500] {
        let mut x = grid.clone();
        let (flow, layer) = (
            dynamics::build("sa", false, &Spec::new(beta, grid.n()))?,
            Layer::new(1.0 / count as f64)?,
        );
        (0..count).for_each(|_| layer.apply(&flow, &mut x));
        layers.rows.push(vec![1.0 / count as f64, distance(&means(&x))]);
    }
    Ok(vec![
        ("spectral".into(), spectral),
        ("volume".into(), volume),
        ("lagrangian".into(), particles),
        ("layers".into(), layers),
    ])
}

/// Means of `cos k theta` and `sin k theta`, k = 1..4.
fn means(x: &Tokens) -> Vec<(f64, f64)> {
    let mean = |f: &dyn Fn(f64) -> f64| {
        x.angles().iter().zip(x.masses()).map(|(t, m)| m * f(*t)).sum::<f64>()
    };
    (1..=4)
        .map(|k| (mean(&|t| (f64::from(k) * t).cos()), mean(&|t| (f64::from(k) * t).sin())))
        .collect()
}

/// Errors against resolution.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "measure-convergence",
    title: "Solvers of the continuity equation: error against resolution, and layers against step \
        size",
    study: Some(&PART),
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
