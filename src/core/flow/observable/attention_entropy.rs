//! Rows of attention: their entropy, their largest weight, how many tokens lead.

use super::Observable;

/// `-sum_j A_ij log A_ij` by row (mean by mass, smallest, largest), the mean largest weight of a
/// row, the number of leaders, and their number over that of the initial tokens: of the first head
/// of plain attention, NaN for other things.
///
/// A leader is a live token that has the largest weight of some row. Merged tokens are one live
/// token, so at collapse there is one leader, of n initial tokens: `leaders` is 1 and
/// `leader_share` is 1/n.
pub static ENTRY: Observable = Observable {
    name: "attention-entropy",
    summary: "Row entropy of the first head's weights (mean by mass, smallest, largest), mean largest weight, leaders (number of live tokens that have the largest weight of some row; merged tokens are one), leader_share (leaders over the number of initial tokens: 1/n at collapse); NaN where the dynamics is not one attention.",
    needs_unit: false,
    columns: |_| ["entropy_mean", "entropy_min", "entropy_max", "top_weight", "leaders", "leader_share"].map(String::from).to_vec(),
    measure: |setting, frame, row| {
        let x = frame.tokens;
        let attention = frame.dynamics.attention();
        let Some(attention) = attention.filter(|a| !a.heads.is_empty()) else { return row.extend([f64::NAN; 6]) };
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
        let leaders = leads.iter().filter(|l| **l).count() as f64;
        row.extend([mean, low, high, top, leaders, leaders / setting.n as f64]);
    },
    batch: None,
};
