//! The order parameter of Kuramoto: the length of the mean token (arXiv:2312.10794, section 7: USA
//! at beta = 0 on the circle is Kuramoto's model).

use super::Observable;
use crate::sphere::Tokens;

/// Length of the mean token, by mass.
pub static ENTRY: Observable = Observable {
    name: "order-parameter",
    summary: "Kuramoto's order parameter R = |sum m_i x_i|, by mass: 0 if the tokens balance, 1 at one cluster; and log (1 - R), -inf as -800.",
    needs_unit_vectors: true,
    columns: |_| vec!["order_parameter".into(), "log_one_minus_order".into()],
    measure: |_, frame, row| row.extend(order(frame.tokens)),
    batch: None,
};

/// R and log (1 - R) of unit tokens, each to a few roundoffs: 1 - R^2 = sum m_i |x_i - mean|^2 is
/// no difference of numbers that are nearly equal.
fn order(x: &Tokens) -> [f64; 2] {
    let mean = x.mean();
    let distance = |r: &[f64]| r.iter().zip(&mean).map(|(v, s)| (v - s) * (v - s)).sum::<f64>();
    let spread: f64 = x.rows().zip(x.masses()).map(|(r, m)| m * distance(r)).sum();
    let length = mean.iter().map(|s| s * s).sum::<f64>().sqrt();
    [length, (spread / (1.0 + length)).ln().max(-800.0)]
}
