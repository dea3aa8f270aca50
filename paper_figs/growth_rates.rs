//! Growth of the modes of the uniform measure (arXiv:2410.23228), with Sinkhorn attention.

use super::{FigureReference, PaperFigure, PublishedFigure, groups, panel_per_group, series, span};
use crate::attention::TimeScale;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::flow::Table;
use crate::lab::LabelledTable;
use crate::num::bessel::scaled_bessel_i;
use crate::study::{Parameter, Part, Study, Tables, Values, table};
use crate::theory::growth::{fastest_mode, rates_sa, rates_usa};

/// The measure view: growth rates, entropy over time, density with particles, distance to the mean
/// field.
///
/// Tables: rates, kmax, entropy, entropy-ends, entropy-clusters, raster, particles, distance.
pub static STUDY: Study = Study {
    name: "measure-view",
    title: "Growth rates, entropy over time, density with particles, distance to the mean field",
    citation: "arXiv:2410.23228 (growth), arXiv:2312.10794, Remark 3.3 (mean field); entropy \
        production derived",
    parts: &[&PART, &super::entropy::PART, &super::space_time::PART, &super::mean_field::PART],
};

/// Growth rates and the fastest mode.
pub static PART: Part = Part {
    parameters: &[Parameter::real(
        "beta",
        &[5.0, 7.0],
        (0.1, 100.0),
        "inverse temperatures, one panel each",
    )],
    run,
};

/// Growth rates of SA, USA (in the time scale U2, so that all fit one axis) and Sinkhorn attention,
/// and the fastest mode.
fn run(values: &Values) -> Result<Tables> {
    let mut out = table(&["beta", "k", "sa", "usa", "sinkhorn"]);
    for &beta in values.list("beta")? {
        // The fastest mode is near sqrt(2 beta).
        let most = 10.max(4 + (2.0 * beta.sqrt()).ceil() as usize);
        let (sa, usa) = (rates_sa(2, beta, most)?, rates_usa(2, beta, most, TimeScale::U2, 2)?);
        let i = scaled_bessel_i(most, beta);
        for k in 0..=most {
            let ratio = i[k] / i[0];
            out.rows.push(vec![
                beta,
                k as f64,
                sa[k],
                usa[k],
                (k * k) as f64 / beta * ratio / (1.0 + ratio),
            ]);
        }
    }
    Ok(vec![("rates".into(), out), ("kmax".into(), kmax()?)])
}

/// The fastest mode against beta for four dimensions.
fn kmax() -> Result<LabelledTable> {
    let mut out = table(&["d", "beta", "k"]);
    for d in [2usize, 3, 8, 64] {
        for j in 0..400 {
            let beta = 0.5 * 1000f64.powf(f64::from(j) / 399.0);
            let rates = rates_sa(d, beta, 60)?;
            out.rows.push(vec![d as f64, beta, fastest_mode(&rates[1..]) as f64 + 1.0]);
        }
    }
    Ok(out)
}

/// Growth rates of the modes, and the fastest one.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "growth-rates",
    title: "Growth rates of the modes, and the fastest one",
    redraws: &[PublishedFigure {
        paper: "2410.23228",
        place: FigureReference::Unnumbered("figures of growth rates (numbers not read)"),
        shows: "rates of the modes k = 0 to 10",
        differs: "the rates of the simulated equation: pi times the plotted ones",
    }],
    study: Some(&PART),
    draw: |inputs| {
        let mut panels =
            panel_per_group(inputs.table("rates")?, "beta", |beta, rows| Ok(rates(beta, rows)))?;
        panels.push(fastest(inputs.table("kmax")?));
        let caption = "Linear growth rates about the uniform measure on the circle for SA, USA \
            (time scale U2) and Sinkhorn attention, and the fastest mode of SA against beta: \
            sqrt(2 beta) in low dimension, 1 until beta = 2d/3 in high.";
        Ok(Picture { panels, columns: 2, aspect: 0.75, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};

/// Columns of rates and their names.
const RATES: [(&str, &str); 3] = [("sa", "SA"), ("usa", "USA, time U2"), ("sinkhorn", "Sinkhorn")];

/// The smallest beta of the study, and the factor to the largest one, 500.
const BETA: (f64, f64) = (0.5, 1000.0);

/// The largest mode of the axis: sqrt(2 beta) at the largest beta is 31.6.
const MOST: f64 = 34.0;

/// The rates of the modes at one beta.
fn rates(beta: f64, rows: &Table) -> Panel {
    let last = span(rows.column("k"), (0.0, 1.0)).1;
    let largest = RATES.map(|(column, _)| span(rows.column(column), (0.0, 0.0)).1);
    let top = largest.into_iter().fold(0.0, f64::max);
    let modes = Axis::integer("mode k", -0.5, last + 0.5);
    let title = format!("\u{3b2} = {beta}");
    let mut panel = Panel::new(title, modes, Axis::linear("rate", 0.0, 1.1 * top));
    for (k, (column, name)) in RATES.into_iter().enumerate() {
        panel.line(series(rows, "k", column), k, Dash::for_series(k), name);
        panel.points(series(rows, "k", column), k, 1.6, "");
    }
    panel.legend = Some(Corner::TopRight);
    panel
}

/// The fastest mode of SA against beta, with the law sqrt(2 beta).
fn fastest(table: &Table) -> Panel {
    let (low, factor) = BETA;
    let axes = (Axis::log("\u{3b2}", low, low * factor), Axis::integer("k", 0.0, MOST));
    let mut panel = Panel::new("fastest mode of SA", axes.0, axes.1);
    for (k, (d, rows)) in groups(table, "d").into_iter().enumerate() {
        panel.line(series(&rows, "beta", "k"), k, Dash::for_series(k), format!("d = {d}"));
    }
    let betas = (0..=60).map(|j| low * factor.powf(f64::from(j) / 60.0));
    let law = betas.map(|b| (b, (2.0 * b).sqrt())).collect();
    panel.line(law, 7, Dash::Dotted, "\u{221a}(2\u{3b2})");
    panel.legend = Some(Corner::TopLeft);
    panel
}
