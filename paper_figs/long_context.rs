//! The number of keys to which a query attends in a long context (arXiv:2605.08505).

use super::{PaperFigure, distinct, only, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture, superscript};

/// Mean sum of the squared weights against `beta / n^{2/(d-1)}`: draws for three n, and the limit.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "long-context",
    title: "Long context: participation against beta / n^{2/(d-1)}",
    study: Some(&crate::study::long_context::PART),
    draw: |inputs| {
        let (limit, sampled) = (inputs.table("limit")?, inputs.table("sampled")?);
        let mut panels = Vec::new();
        for d in distinct(limit, "d") {
            let mut panel = Panel::new(
                format!("d = {d}"),
                Axis::log(scaled(d as usize), 0.045, 56.0),
                Axis::log("E \u{3a3} w\u{b2}", 5e-7, 1.3),
            );
            panel.line(
                series(&only(limit, "d", d), "c", "participation"),
                6,
                Dash::Solid,
                "n = \u{221e}",
            );
            let rows = only(sampled, "d", d);
            for (k, n) in distinct(&rows, "n").into_iter().enumerate() {
                let points = series(&only(&rows, "n", n), "c", "participation");
                panel.points(
                    points,
                    k,
                    2.2,
                    format!("n = 10{}", superscript(n.log10().round() as i32)),
                );
            }
            panel.legend = Some(Corner::BottomRight);
            panels.push(panel);
        }
        let caption = "Mean sum of the squared softmax weights of a query over n uniform keys of \
            S^{d-1}, beta = c n^{2/(d-1)}: 400, 100 and 12 draws for n = 10^2, 10^4, 10^6; lines: \
            the Poisson process of gaps, n = infinity.";
        Ok(Picture { columns: panels.len().min(3), panels, aspect: 1.0, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};

/// `beta / n^{2/(d-1)}` as text.
fn scaled(d: usize) -> String {
    match (2 % (d - 1), (d - 1) % 2) {
        (0, _) => format!("\u{3b2} / n{}", if d == 2 { "\u{b2}" } else { "" }),
        (_, 0) => format!("\u{3b2} over the {}th root of n", (d - 1) / 2),
        _ => format!("\u{3b2} over the {}th root of n\u{b2}", d - 1),
    }
    .replace("the 2th root", "the square root")
    .replace("the 3th", "the 3rd")
}
