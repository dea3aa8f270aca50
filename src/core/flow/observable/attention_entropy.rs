//! Rows of the attention matrix: their entropy, their largest weight, and the number of leaders.

use super::Observable;
use crate::num::vector::max_abs;

/// Of the first head of plain attention: the entropy `-sum_j A_ij log A_ij` of a row (mean by mass,
/// smallest, largest), the mean largest weight of a row, the number of leaders, and this number
/// divided by the number of initial tokens. NaN for other dynamics, and where weights of an
/// interaction are negative.
///
/// A leader is a token that has the largest weight of some row. Merged tokens count as one token:
/// at collapse of n initial tokens, `leaders` is 1 and `leader_share` is 1/n.
pub static ENTRY: Observable = Observable {
    name: "attention-entropy",
    summary: "Entropy of the rows of the first head's weights (mean by mass, smallest, largest), mean largest weight of a row, leaders (number of tokens that have the largest weight of some row; merged tokens count as one), leader_share (leaders divided by the number of initial tokens: 1/n at collapse); NaN unless the dynamics is a single attention sublayer, or if a weight of an interaction is negative.",
    needs_unit_vectors: false,
    columns: |_| {
        ["entropy_mean", "entropy_min", "entropy_max", "top_weight", "leaders", "leader_share"]
            .map(String::from)
            .to_vec()
    },
    measure: |setting, frame, row| {
        let x = frame.tokens;
        let (mut mean, mut low, mut high, mut top) = (0.0, f64::INFINITY, 0.0f64, 0.0);
        let mut leads = vec![false; x.n()];
        for (i, m) in x.masses().iter().enumerate() {
            // USA rows are normalised to sum 1 too.
            let weights = frame.dynamics.row_of_weights(x, 0, i);
            // Weights of both signs have no shares; rounding leaves 1e-14 of the largest one.
            let has_shares = |w: &[f64]| {
                let rounding = 1e-13 * max_abs(w);
                w.iter().all(|v| *v >= -rounding)
            };
            let shares = weights.filter(|w| has_shares(w));
            let shares = shares.map(|w| w.iter().map(|w| w.max(0.0)).collect::<Vec<f64>>());
            let total: f64 = shares.iter().flatten().sum();
            let Some(weights) = shares.filter(|_| total > 0.0) else {
                return row.extend([f64::NAN; 6]);
            };
            let entropy: f64 =
                weights.iter().map(|w| w / total).filter(|p| *p > 0.0).map(|p| -p * p.ln()).sum();
            let leader =
                (0..weights.len()).max_by(|a, b| weights[*a].total_cmp(&weights[*b])).unwrap_or(i);
            leads[leader] = true;
            (mean, low, high, top) = (
                mean + m * entropy,
                low.min(entropy),
                high.max(entropy),
                top + m * weights[leader] / total,
            );
        }
        let leaders = leads.iter().filter(|l| **l).count() as f64;
        row.extend([mean, low, high, top, leaders, leaders / setting.n as f64]);
    },
    batch: None,
};
