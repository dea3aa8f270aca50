//! Rows of attention: their entropy, their largest weight, how many tokens lead.

use super::Observable;

/// `-sum_j A_ij log A_ij` by row (mean by mass, smallest, largest), the mean largest weight of a row, and the share of live tokens that are the largest weight of some row: of the first head of plain attention, NaN for other things.
pub static ENTRY: Observable = Observable {
    name: "attention-entropy",
    summary: "Row entropy of the first head's weights (mean by mass, smallest, largest), mean largest weight, share of live tokens that lead some row; NaN where the dynamics is not one attention.",
    needs_unit: false,
    columns: |_| ["entropy_mean", "entropy_min", "entropy_max", "top_weight", "leader_share"].map(String::from).to_vec(),
    measure: |_, frame, row| {
        let x = frame.tokens;
        let attention = frame.dynamics.attention();
        let Some(attention) = attention.filter(|a| !a.heads.is_empty()) else { return row.extend([f64::NAN; 5]) };
        let (mut mean, mut low, mut high, mut top) = (0.0, f64::INFINITY, 0.0f64, 0.0);
        let mut leads = vec![false; x.n()];
        for (i, m) in x.masses().iter().enumerate() {
            // USA rows are made to sum to 1 as well.
            let weights = attention.row_weights(x, 0, i);
            let total: f64 = weights.iter().sum();
            let entropy: f64 = weights.iter().map(|w| w / total).filter(|p| *p > 0.0).map(|p| -p * p.ln()).sum();
            let leader = (0..weights.len()).max_by(|a, b| weights[*a].total_cmp(&weights[*b])).unwrap_or(i);
            leads[leader] = true;
            (mean, low, high, top) = (mean + m * entropy, low.min(entropy), high.max(entropy), top + m * weights[leader] / total);
        }
        row.extend([mean, low, high, top, leads.iter().filter(|l| **l).count() as f64 / x.n() as f64]);
    },
    batch: None,
};
