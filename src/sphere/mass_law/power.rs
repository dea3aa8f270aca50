//! Masses that fall off as a power of the number of the token (Zipf's law for s = 1).

use super::MassFamily;
use crate::num::dd::Dd;

/// `m_i = i^{-s} / sum_k k^{-s}`, i = 1 to n.
///
/// **Accuracy** `i^{-s}` is the double nearest to the exact number, so it is the same on every
/// machine (but for one case in about 10^12). **Cost** some microseconds a token.
pub static ENTRY: MassFamily = MassFamily {
    name: "power",
    summary: "masses proportional to i^{-s} for the tokens i = 1 to n (Zipf's law for s = 1)",
    keys: &[("s", 1.0, 0.0, 20.0, "exponent")],
    random: false,
    weights: |values, n, _| (1..=n).map(|i| inverse_power(i as f64, values[0])).collect(),
};

/// `i^{-s}`. The machine's power is right to one unit in the last place only, and differently so
/// on different machines.
fn inverse_power(i: f64, s: f64) -> f64 {
    let near = i.ln();
    // i e^{-near} = 1 + delta with delta of the size of one rounding: log i = near + delta - ...
    let delta = Dd::from(i) * Dd::from(-near).exp() - Dd::from(1.0);
    let log = Dd::from(near) + delta;
    (-(log * Dd::from(s))).exp().to_f64()
}
