//! Share of starts that provably converge to one point, and the causes of failure of the other
//! proofs.

use super::{PaperFigure, distinct, groups};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};

/// A row of panels per dimension: the share of proved starts, and the causes of failure.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "proved-starts",
    title: "Starts that provably converge to one point, and why the other proofs fail",
    study: Some(&crate::study::proved_starts::PART),
    draw: |inputs| {
        let table = inputs.table("starts")?;
        let mut panels = Vec::new();
        let betas = distinct(table, "beta");
        let (low, high) =
            betas.iter().fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(*v), b.max(*v)));
        let axis = || {
            Axis::linear(
                "\u{3b2}",
                low - 0.05 * (high - low).max(1.0),
                high + 0.05 * (high - low).max(1.0),
            )
        };
        for (d, rows) in groups(table, "d") {
            let mut proved = Panel::new(
                format!("proved, d = {d}"),
                axis(),
                Axis::linear("share of starts", -0.05, 1.05),
            );
            let mut unproved = Panel::new(
                format!("not proved, by cause, d = {d}"),
                axis(),
                Axis::linear("share of starts", -0.05, 1.05),
            );
            for (k, (n, rows)) in groups(&rows, "n").into_iter().enumerate() {
                let over = |column: &str| {
                    rows.column("beta").into_iter().zip(rows.column(column)).collect::<Vec<_>>()
                };
                let dash = [Dash::Solid, Dash::Dashed, Dash::Dotted][k % 3];
                proved.line(over("proved"), k, dash, format!("n = {n}"));
                for (c, cause) in CAUSES
                    .iter()
                    .enumerate()
                    .filter(|(_, cause)| rows.column(cause).iter().any(|v| *v > 0.0))
                {
                    let (values, cause) = (over(cause), cause.replace('_', "-"));
                    let known = unproved
                        .marks
                        .iter()
                        .any(|m| matches!(m, Mark::Line { label, .. } if *label == cause));
                    unproved.line(values, c, dash, if known { String::new() } else { cause });
                }
            }
            proved.legend = Some(Corner::BottomLeft);
            unproved.legend = Some(Corner::TopLeft);
            panels.extend([proved, unproved]);
        }
        let caption = format!(
            "{} uniform starts for each point under SA{}: share that provably converges to one \
            point, by an accurate path, interval bounds of its defect and the logarithmic norm \
            (left), and the other starts by the cause of failure (right; lines as on the left). \
            growth: the error outgrew the distance from every hemisphere; steady-state: the enclosure \
            may contain a steady state; limit: too many steps, or a slow state of more than 1e15 units of time.",
            inputs.values.count("starts")?,
            match inputs.values.one("radius")? {
                r if r > 0.0 => format!(", each token anywhere within {r} of its position"),
                _ => String::new(),
            }
        );
        Ok(Picture { panels, columns: 2, aspect: 0.7, caption })
    },
    ..PaperFigure::EMPTY
};

/// Columns of the causes of failure.
const CAUSES: [&str; 5] = ["growth", "steady_state", "enclosure", "defect", "limit"];
