//! Negentropy over time: its growth compared with the predicted rate.

use super::{PaperFigure, columns, series};
use crate::continuity::MeasureDynamics;
use crate::continuity::circle::Circle;
use crate::continuity::density::Density;
use crate::continuity::flow_map::{FlowMap, Resolution};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::study::{Parameter, Part, Tables, Values, table};

/// Negentropy over time.
pub static PART: Part = Part {
    parameters: &[
        Parameter::real("beta", &[5.0], (2.0, 8.0), "inverse temperature"),
        Parameter::count("seed", &[2.0], (0.0, 9e15), "seed of the noise"),
    ],
    run: entropy,
};

/// The dynamics whose entropy is followed.
pub const DYNAMICS: [&str; 2] = ["sa", "usa"];

/// Negentropy over time from a noisy start by the flow map, and its final value with that of a
/// coarser run. The time of USA is in U2.
fn entropy(values: &Values) -> Result<Tables> {
    let (beta, seed) = (values.one("beta")?, values.one("seed")? as u64);
    let (mut out, mut ends) = (
        table(&["dynamics", "t", "negentropy"]).with_labels("dynamics", DYNAMICS),
        table(&["dynamics", "negentropy", "coarser"]).with_labels("dynamics", DYNAMICS),
    );
    let mut clusters = table(&["dynamics", "mass"]).with_labels("dynamics", DYNAMICS);
    for (usa, law, end) in [(0.0, "sa", 16.0), (1.0, "usa", 90.0)] {
        let medium = MeasureDynamics::new(law, beta, 0.0)?;
        let clock = if usa > 0.5 { beta.exp() } else { 1.0 };
        let start = Circle::from_density(
            &Density::parse(&format!("noise:amplitude=0.005,modes=12,seed={seed}"))?,
            64,
        )?;
        let fine = FlowMap::from_series(&start, Resolution::FINE)?;
        out.rows.push(vec![usa, 0.0, fine.negentropy()]);
        let fine = fine.evolve(&medium, end / clock, |t, f| {
            out.rows.push(vec![usa, t * clock, f.negentropy()]);
            true
        })?;
        let coarse = FlowMap::from_series(&start, Resolution::COARSE)?.evolve(
            &medium,
            end / clock,
            |_, _| true,
        )?;
        let fine = fine.reached()?;
        clusters
            .rows
            .extend(masses(&fine.volume_averages(128)).into_iter().map(|mass| vec![usa, mass]));
        ends.rows.push(vec![usa, fine.negentropy(), coarse.reached()?.negentropy()]);
    }
    Ok(vec![
        ("entropy".into(), out),
        ("entropy-ends".into(), ends),
        ("entropy-clusters".into(), clusters),
    ])
}

/// Masses of the arcs on which averages over equal cells exceed the uniform density.
fn masses(averages: &[f64]) -> Vec<f64> {
    // Start outside every arc, so that none is cut.
    let first = averages.iter().position(|a| *a <= 1.0).unwrap_or(0);
    let around: Vec<f64> = averages[first..].iter().chain(&averages[..first]).copied().collect();
    let arcs = around.chunk_by(|a, b| (*a > 1.0) == (*b > 1.0)).filter(|arc| arc[0] > 1.0);
    arcs.map(|arc| arc.iter().sum::<f64>() / averages.len() as f64).collect()
}

/// Negentropy over time, SA and USA, with the predicted slopes.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "entropy",
    title: "Negentropy over time, SA and USA, with the predicted slopes",
    study: Some(&PART),
    draw: |inputs| {
        let (table, clusters) = (inputs.table("entropy")?, inputs.table("entropy-clusters")?);
        let of = |(dynamics, title, unit): (&str, &'static str, &'static str)| {
            let rows = series(&table.only("dynamics", dynamics), "t", "negentropy");
            let masses = clusters.only("dynamics", dynamics).column("mass");
            (over_time(dynamics, (title, unit), rows, &masses), ending(title, &masses))
        };
        let all = [("sa", "SA", "t"), ("usa", "USA", "t (U2)")].map(of);
        let (panels, endings): (Vec<Panel>, Vec<String>) = all.into_iter().unzip();
        let gap = columns(inputs.table("entropy-ends")?, ["negentropy", "coarser"])?
            .into_iter()
            .map(|[fine, coarse]| (fine - coarse).abs())
            .fold(0.0, f64::max);
        let caption = format!(
            "Negentropy of a noisy uniform density on the circle at beta = {} under SA and USA \
            (time scale U2): {}. For clusters the slope is d - 1 for SA whatever their number, and \
            the sum of squared masses for USA (dashed). By the flow map of the density; a coarser \
            run differs by {gap:.0e} at the end.",
            inputs.values.one("beta")?,
            endings.join("; ")
        );
        Ok(Picture { panels, columns: 2, aspect: 0.8, caption })
    },
    ..PaperFigure::EMPTY
};

/// True if clusters hold nearly all the mass; only then is the slope known.
fn have_formed(masses: &[f64]) -> bool {
    masses.iter().sum::<f64>() > 0.95
}

/// The predicted slope, as a line through the point at this share of the height of the panel.
const LINE_AT: f64 = 0.4;

/// Negentropy over time, with the predicted slope.
fn over_time(
    dynamics: &str,
    (title, unit): (&'static str, &'static str),
    rows: Vec<(f64, f64)>,
    masses: &[f64],
) -> Panel {
    let end = rows.last().map_or(1.0, |p| p.0);
    let top = rows.iter().map(|p| p.1).fold(0.5, f64::max) * 1.1;
    let axes = (Axis::linear(unit, 0.0, end), Axis::linear("negentropy", 0.0, top));
    let mut panel = Panel::new(title, axes.0, axes.1);
    let squares: f64 = masses.iter().map(|m| m * m).sum();
    let (slope, label) = match dynamics {
        "sa" => (1.0, "slope d \u{2212} 1 = 1".to_owned()),
        _ => (squares, format!("slope \u{3a3} \u{3b1}\u{b2} = {squares:.3}")),
    };
    let place = rows.iter().find(|p| p.1 > LINE_AT * top).filter(|_| have_formed(masses));
    if let Some(&(t, h)) = place {
        // From 0.3 of its height to the top of the panel.
        let line = vec![(t - h / slope * 0.7, 0.3 * h), (t + (top - h) / slope, top)];
        panel.line(line, 1, Dash::Dashed, label);
    }
    panel.line(rows, 0, Dash::Solid, "computed");
    panel.legend = Some(Corner::TopLeft);
    panel
}

/// The clusters at the end, in words.
fn ending(title: &str, masses: &[f64]) -> String {
    if !have_formed(masses) {
        return format!("under {title} no clusters have formed by the end");
    }
    let words: Vec<String> = masses.iter().map(|m| format!("{m:.3}")).collect();
    format!("{title} ends in clusters of masses {}", words.join(", "))
}
