//! Rescaled tokens `e^{-tV} x` in R^d: where they converge, and how fast (arXiv:2305.05465).

use super::{FigureReference, PaperFigure, PublishedFigure, distinct, groups, only, series};
use crate::attention::Spec;
use crate::attention::model::Model;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::{Error, Result};
use crate::flow::{Options, solve};
use crate::num::stream::Stream;
use crate::sphere::Tokens;
use crate::study::{Part, Study, Tables, Values, table};
use crate::theory::boolean::log_limit;

/// Tokens in R^d (arXiv:2305.05465): trajectories to a polytope, the Boolean limit, and the rate at
/// which rows of the attention matrix become one-hot.
///
/// Tables: paths, limit, rate.
pub static STUDY: Study = Study {
    name: "rescaled-tokens",
    title: "Tokens in R^d: trajectories of e^{-tV} x, the limit F(eps), growth of logit gaps",
    citation: "arXiv:2305.05465, Figures 1-4; F and the rates derived",
    parts: &[&PART],
};

/// The two value matrices V: the identity, and one with eigenvalues 1 and -0.2.
pub const VALUES: [&str; 2] = ["V=I", "V with eigenvalues 1 and -0.2"];

/// The whole study; it has no parameters.
pub static PART: Part = Part { parameters: &[], run };

fn evolve(v: &[f64], x: Vec<f64>, t: f64) -> Result<Vec<f64>> {
    let d = (v.len() as f64).sqrt().round() as usize;
    let model = Model {
        rescaled: true,
        heads: vec![[None, None, Some((d, v.to_vec())), None]],
        ..Model::default()
    };
    let x = Tokens::flat(d, x)?;
    let dynamics = model.build("sa", false, &Spec::new(1.0, x.n()), d)?;
    let end =
        solve(&dynamics, &x, t, &Options { merge_radius: 0.0, ..Options::default() }, &mut [])?;
    if end.outcome.end_state_is_known() {
        Ok(end.clusters.numbers().to_vec())
    } else {
        Err(Error::Numerical { what: end.outcome.to_string() })
    }
}

fn run(_: &Values) -> Result<Tables> {
    // V = I (polytope) and V with one positive eigenvalue (hyperplanes), 20 normal tokens.
    let mut paths = table(&["value", "token", "t", "x", "y"]).with_labels("value", VALUES);
    let mut start = vec![0.0; 40];
    Stream::new(1, &["rescaled-tokens"]).normals(&mut start);
    for (value, v) in [[1.0, 0.0, 0.0, 1.0], [1.0, 0.5, 0.0, -0.2]].into_iter().enumerate() {
        for k in 0..=40 {
            let t = 6.0 * f64::from(k) / 40.0;
            let z = evolve(&v, start.clone(), t)?;
            paths.rows.extend(
                z.chunks_exact(2)
                    .enumerate()
                    .map(|(i, z)| vec![value as f64, i as f64, t, z[0], z[1]]),
            );
        }
    }
    let mut limit = table(&["eps", "limit", "asymptote", "measured"]);
    for k in 0..=48 {
        let eps = 0.15 + 0.05 * f64::from(k) * 0.6;
        let log = log_limit(eps)?;
        let measured = if k % 4 == 0 && eps > 0.2 {
            evolve(&[1.0], vec![eps, -eps], 60f64.ln() - log)?[0]
        } else {
            f64::NAN
        };
        limit.rows.push(vec![eps, log.exp(), 1.3302 * (-0.5 / (eps * eps)).exp(), measured]);
    }
    let mut rate = table(&["v", "t", "log_gap"]);
    let line: Vec<f64> = start[..12].to_vec();
    for v in [0.5, 1.0] {
        for k in 1..=30 {
            let t = 14.0 / v * f64::from(k) / 30.0;
            let mut z = evolve(&[v], line.clone(), t)?;
            z.sort_by(f64::total_cmp);
            let (top, next) = (z[11], z[10]);
            rate.rows.push(vec![v, t, (top * (top - next)).ln() + 2.0 * v * t]);
        }
    }
    Ok(vec![("paths".into(), paths), ("limit".into(), limit), ("rate".into(), rate)])
}

/// Trajectories for two matrices V, the limit F(eps) of the tokens eps and -eps, and the growth of
/// the gap between the two largest logits of a row.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "rescaled-tokens",
    title: "Tokens in R^d: polytope and hyperplanes, the limit F(eps), growth of logit gaps",
    redraws: &[PublishedFigure {
        paper: "2305.05465",
        place: FigureReference::Unnumbered("figures 1 to 4 (which is which: not read)"),
        shows: "tokens that go to a polytope or to hyperplanes",
        differs: "other tokens and another V, in the plane",
    }],
    study: Some(&PART),
    draw: |inputs| {
        let (paths, limit, rate) =
            (inputs.table("paths")?, inputs.table("limit")?, inputs.table("rate")?);
        let mut panels = Vec::new();
        for (value, title) in VALUES.into_iter().zip(["V = I", "V with eigenvalues 1, \u{2212}0.2"])
        {
            let rows = paths.only("value", value);
            // The axes contain all paths with a margin.
            let reach =
                |c: &str| 1.08 * rows.column(c).into_iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            let (x, y) = (reach("x"), reach("y"));
            let mut panel = Panel::new(
                title,
                Axis::linear("z\u{2081}", -x, x),
                Axis::linear("z\u{2082}", -y, y),
            );
            for (_, path) in groups(&rows, "token") {
                let points = series(&path, "x", "y");
                let last = points.last().copied().unwrap_or_default();
                panel.line(points, 0, Dash::Solid, "");
                panel.points(vec![last], 2, 2.0, "");
            }
            panels.push(panel);
        }
        let mut curve = Panel::new(
            "tokens \u{3b5}, \u{2212}\u{3b5}",
            Axis::linear("\u{3b5}", 0.0, 1.65),
            Axis::log("F(\u{3b5})", 1e-9, 3.0),
        );
        curve.line(series(limit, "eps", "limit"), 0, Dash::Solid, "F");
        curve.line(
            series(limit, "eps", "asymptote"),
            3,
            Dash::Dotted,
            "1.33 exp(\u{2212}1/(2\u{3b5}\u{b2}))",
        );
        let measured =
            series(limit, "eps", "measured").into_iter().filter(|p| p.1.is_finite()).collect();
        curve.points(measured, 2, 2.0, "simulated");
        curve.legend = Some(Corner::BottomRight);
        let mut gaps = Panel::new(
            "logits",
            Axis::linear("t", 0.0, 29.0),
            Axis::linear("log of the logit gap", -2.0, 18.0),
        );
        for (k, v) in distinct(rate, "v").into_iter().enumerate() {
            gaps.line(
                series(&only(rate, "v", v), "t", "log_gap"),
                k,
                [Dash::Solid, Dash::Dashed][k % 2],
                format!("v = {v}"),
            );
            let end =
                series(&only(rate, "v", v), "t", "log_gap").last().copied().unwrap_or_default();
            gaps.line(vec![(end.0 * 0.5, end.1 - v * end.0 * 0.5), end], 6, Dash::Dotted, "");
        }
        gaps.legend = Some(Corner::TopLeft);
        panels.extend([curve, gaps]);
        let caption = "Rescaled tokens e^{-tV} x, Q = K = I. Above: 20 normal tokens to t = 6, \
            ends marked: vertices of a polytope for V = I, parallel lines for one positive \
            eigenvalue. Below: the exact limit of the tokens eps, -eps with its asymptote; the \
            logarithm of the gap between the two largest logits of the extreme token's row, dotted \
            with slope v.";
        Ok(Picture { panels, columns: 2, aspect: 0.8, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};
