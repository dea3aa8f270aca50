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

#[cfg(test)]
mod tests {
    use super::super::{Frame, Setting};
    use super::ENTRY;
    use crate::attention::Dynamics;
    use crate::attention::kernel::{Attention, Workspace};
    use crate::sphere::Tokens;
    use std::cell::RefCell;

    /// Leaders and their share, of live tokens at these angles that were n at first.
    fn leaders(angles: &[f64], n: usize) -> [f64; 2] {
        let (tokens, dynamics) = (Tokens::from_angles(angles).expect("tokens"), Dynamics::of(Attention::new(4.0)));
        let (labels, work) = (vec![0; n], RefCell::new(Workspace::default()));
        let frame = Frame { t: 0.0, tokens: &tokens, labels: &labels, dynamics: &dynamics, work: &work, merge_radius: 0.0 };
        let (setting, mut row) = (Setting { n, d: 2, beta: 4.0 }, Vec::new());
        (ENTRY.measure)(&setting, &frame, &mut row);
        assert_eq!(row.len(), (ENTRY.columns)(&setting).len());
        [row[4], row[5]]
    }

    #[test]
    fn the_share_of_leaders_is_that_of_the_initial_tokens() {
        let near = |found: [f64; 2], expected: [f64; 2]| found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-12);
        // Every token is nearest to itself.
        assert!(near(leaders(&[0.0, 1.0, 2.0, 4.0], 4), [4.0, 1.0]));
        // Two live tokens of four, and one at collapse: of live tokens all lead.
        assert!(near(leaders(&[0.0, 2.0], 4), [2.0, 0.5]));
        assert!(near(leaders(&[0.0], 4), [1.0, 0.25]));
    }
}
