//! The interaction energy of every head.

use super::Observable;
use crate::num::vector;
use crate::num::{dense::mat_vec, sum::dot};

/// Number of heads with a column.
const MAX_HEADS: usize = 8;

/// `log sum_ij m_i m_j e^{beta (<Q_h x_i, K_h x_j> - 1)}` of head h. For USA heads with symmetric
/// `V_h = Q_h^T K_h` the sum over heads of the energies (`e^beta / (2 beta)` times the exponentials
/// of these numbers) increases; those of single heads may decrease. With an interaction W takes the
/// place of the exponential, and `W(1)` that of 1.
pub static ENTRY: Observable = Observable {
    name: "head-energy",
    summary: "log sum_ij m_i m_j e^{beta (<Q_h x_i, K_h x_j> - 1)} of the first eight heads h, or the log of (1/2) sum_ij m_i m_j W(<Q_h x_i, K_h x_j>) over that of one cluster with an interaction phi = W' (NaN if not positive); NaN for missing heads.",
    needs_unit_vectors: false,
    columns: |_| (0..MAX_HEADS).map(|h| format!("log_energy_head_{h}")).collect(),
    measure: |s, frame, row| {
        let x = frame.tokens;
        let heads = frame.dynamics.attention().map_or(&[][..], |a| &a.heads);
        row.extend((0..MAX_HEADS).map(|h| {
            if let Some(own) = frame.dynamics.log_head_energy(x, h) {
                return own;
            }
            let Some(head) = heads.get(h) else { return f64::NAN };
            let [q, k, _] = head.matrices();
            let image = |m: Option<&[f64]>, r: &[f64]| {
                let Some(m) = m else { return r.to_vec() };
                let mut out = vec![0.0; m.len() / r.len()];
                mat_vec(m, r, &mut out);
                out
            };
            let (queries, keys): (Vec<_>, Vec<_>) =
                x.rows().map(|r| (image(q, r), image(k, r))).unzip();
            let terms: Vec<f64> = (0..x.n() * x.n())
                .map(|p| (p / x.n(), p % x.n()))
                .map(|(i, j)| {
                    s.beta * (dot(&queries[i], &keys[j]) - 1.0)
                        + (x.masses()[i] * x.masses()[j]).ln()
                })
                .collect();
            let top = vector::max(&terms);
            top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln()
        }));
    },
    batch: None,
};
