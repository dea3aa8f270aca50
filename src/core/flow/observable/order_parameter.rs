//! The order parameter of Kuramoto: the length of the mean token (arXiv:2312.10794, section 7: USA at beta = 0 on the circle is Kuramoto's model).

use super::Observable;
use crate::sphere::Tokens;

/// Length of the mean token, by mass.
pub static ENTRY: Observable = Observable {
    name: "order-parameter",
    summary: "Kuramoto's order parameter R = |sum m_i x_i|, by mass: 0 where the tokens balance, 1 at one cluster; and log (1 - R), -inf as -800.",
    needs_unit: true,
    columns: |_| vec!["order_parameter".into(), "log_one_minus_order".into()],
    measure: |_, frame, row| row.extend(order(frame.tokens)),
    batch: None,
};

/// R and log (1 - R) of unit tokens, each to a few roundoffs: 1 - R^2 = sum m_i |x_i - mean|^2 is no difference of numbers that are nearly equal.
fn order(x: &Tokens) -> [f64; 2] {
    let mean = x.mean();
    let distance = |r: &[f64]| r.iter().zip(&mean).map(|(v, s)| (v - s) * (v - s)).sum::<f64>();
    let spread: f64 = x.rows().zip(x.masses()).map(|(r, m)| m * distance(r)).sum();
    let length = mean.iter().map(|s| s * s).sum::<f64>().sqrt();
    [length, (spread / (1.0 + length)).ln().max(-800.0)]
}

#[cfg(test)]
mod tests {
    use super::order;
    use crate::sphere::Tokens;

    /// Two tokens at an angle a: R = cos(a/2), 1 - R = 2 sin^2(a/4), down to angles whose cosine is 1.
    #[test]
    fn two_tokens_have_the_cosine_of_half_their_angle() -> crate::error::Result<()> {
        for angle in [3.0, 1.0, 1e-3, 1e-9, 1e-14] {
            let [length, log] = order(&Tokens::from_angles(&[0.0, angle])?);
            assert!((length - (angle / 2.0).cos()).abs() <= 4.0 * f64::EPSILON, "R at {angle}");
            let exact = (2.0 * (angle / 4.0).sin().powi(2)).ln();
            // The cosine of a small angle is stored as 1: what is left is its sine, to a roundoff.
            assert!((log - exact).abs() <= 16.0 * f64::EPSILON * exact.abs().max(1.0), "log (1 - R) at {angle}: {log}, {exact}");
        }
        assert!((order(&Tokens::from_angles(&[0.3])?)[0] - 1.0).abs() <= 2.0 * f64::EPSILON);
        Ok(())
    }
}
