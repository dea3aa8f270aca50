//! The number of keys to which a query attends in a long context (arXiv:2605.08505).

use super::{PaperFigure, distinct, only, series};
use crate::draw::{Axis, Corner, Dash, Panel, Picture, superscript};
use crate::error::Result;
use crate::num::stats::{mean_and_error, nan_max};
use crate::num::stream::Stream;
use crate::num::vector::norm;
use crate::study::{Parameter, Part, Study, Tables, Values, table};
use crate::theory::long_context::{critical_beta, participation};

/// Long context (arXiv:2605.08505): participation of n uniform keys against `beta / n^{2/(d-1)}`,
/// with its limit.
///
/// Tables: limit, sampled.
pub static STUDY: Study = Study {
    name: "long-context",
    title: "Long context: participation of n uniform keys collapses on one curve for each dimension",
    citation: "arXiv:2605.08505 (abstract: beta_n ~ n^{2/(d-1)}); the limit derived",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[Parameter::count("d", &[3.0, 5.0, 9.0], (3.0, 64.0), "ambient dimensions")],
    run,
};

/// Numbers of keys with their numbers of draws.
const SIZES: [(usize, usize); 3] = [(100, 400), (10_000, 100), (1_000_000, 12)];

fn run(values: &Values) -> Result<Tables> {
    let mut limit = table(&["d", "c", "participation"]);
    let mut sampled = table(&["d", "n", "c", "participation", "error"]);
    for &d in values.list("d")? {
        for k in 0..=30 {
            let c = 0.05 * 1000f64.powf(f64::from(k) / 30.0);
            limit.rows.push(vec![d, c, participation(d as usize, c)?]);
        }
        for (n, draws) in SIZES {
            let mut stream = Stream::new(1, &["long context", &format!("{d} {n}")]);
            let cs: Vec<f64> = (0..7).map(|k| 0.05 * 1000f64.powf(f64::from(k) / 6.0)).collect();
            let betas = cs
                .iter()
                .map(|c| critical_beta(n as f64, d as usize, *c))
                .collect::<Result<Vec<_>>>()?;
            let shares: Vec<Vec<f64>> =
                (0..draws).map(|_| one_draw(n, d as usize, &betas, &mut stream)).collect();
            for (k, c) in cs.iter().enumerate() {
                let (mean, error) =
                    mean_and_error(&shares.iter().map(|s| s[k]).collect::<Vec<_>>());
                sampled.rows.push(vec![d, n as f64, *c, mean, error]);
            }
        }
    }
    Ok(vec![("limit".into(), limit), ("sampled".into(), sampled)])
}

/// `sum_j w_j^2` of one draw of keys, for every beta.
fn one_draw(n: usize, d: usize, betas: &[f64], stream: &mut Stream) -> Vec<f64> {
    let mut key = vec![0.0; d];
    let cosines: Vec<f64> = (0..n)
        .map(|_| {
            stream.normals(&mut key);
            key[0] / norm(&key)
        })
        .collect();
    let top = cosines.iter().copied().fold(-1.0, nan_max);
    let share = |beta: &f64| {
        let (mut sum, mut squares) = (0.0, 0.0);
        for c in &cosines {
            let w = (beta * (c - top)).exp();
            sum += w;
            squares += w * w;
        }
        squares / (sum * sum)
    };
    betas.iter().map(share).collect()
}

/// Mean sum of the squared weights against `beta / n^{2/(d-1)}`: draws for three n, and the limit.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "long-context",
    title: "Long context: participation against beta / n^{2/(d-1)}",
    study: Some(&PART),
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
