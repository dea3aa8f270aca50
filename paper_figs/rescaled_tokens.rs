//! Rescaled tokens `e^{-tV} x` in R^d: where they converge, and how fast (arXiv:2305.05465).

use super::{FigureReference, PaperFigure, PublishedFigure, distinct, groups, only, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::study::rescaled_tokens::VALUES;

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
    study: Some(&crate::study::rescaled_tokens::PART),
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
