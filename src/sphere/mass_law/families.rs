//! The laws of masses.

use super::MassFamily;
use crate::law::key;
use crate::num::{dd::Dd, stream::Stream};

/// `m_i = 1/n`.
pub(super) static UNIFORM: MassFamily = MassFamily {
    name: "uniform",
    summary: "equal masses 1/n",
    keys: &[],
    random: false,
    weights: |_, n, _| vec![1.0; n],
};

/// `m_1 = share`, the others `(1 - share)/(n - 1)`; a single token has mass 1.
pub(super) static ONE_HEAVY: MassFamily = MassFamily {
    name: "one-heavy",
    summary: "token 1 has this share of the mass, the others share the rest equally",
    keys: &[key("share", &[0.5], (1e-9, 0.999_999_999), "mass of token 1")],
    random: false,
    weights: |values, n, _| {
        let rest = (1.0 - values[0]) / (n.max(2) - 1) as f64;
        (0..n).map(|i| if i == 0 { values[0] } else { rest }).collect()
    },
};

/// `m_i = i^{-s} / sum_k k^{-s}`, i = 1 to n.
///
/// **Accuracy** `i^{-s}` is correctly rounded (except in about one case of 10^12), so it is the
/// same on every machine.
/// **Cost** some microseconds per token.
pub(super) static POWER: MassFamily = MassFamily {
    name: "power",
    summary: "masses proportional to i^{-s} for the tokens i = 1 to n (Zipf's law for s = 1)",
    keys: &[key("s", &[1.0], (0.0, 20.0), "exponent")],
    random: false,
    weights: |values, n, _| (1..=n).map(|i| inverse_power(i as f64, values[0])).collect(),
};

/// `i^{-s}`. The power function of the machine has an error of one ulp that differs between
/// machines.
fn inverse_power(i: f64, s: f64) -> f64 {
    let near = i.ln();
    // i e^{-near} = 1 + delta, where delta has the size of a rounding error: log i = near + delta -
    // ...
    let delta = Dd::from(i) * Dd::from(-near).exp() - Dd::from(1.0);
    let log = Dd::from(near) + delta;
    (-(log * Dd::from(s))).exp().to_f64()
}

/// Dirichlet law with parameters `(a, ..., a)`: the density of `(m_1, ..., m_n)` on the simplex is
/// proportional to `prod_i m_i^{a-1}`. The masses are independent gamma variables of shape a,
/// divided by their sum; a = 1 is uniform on the simplex.
pub(super) static DIRICHLET: MassFamily = MassFamily {
    name: "dirichlet",
    summary: "random masses with density proportional to prod_i m_i^{a-1}; a = 1 is uniform on the simplex",
    keys: &[key("a", &[1.0], (0.05, 1e6), "shape; large values give nearly equal masses")],
    random: true,
    weights: |values, n, stream| (0..n).map(|_| gamma(values[0], stream)).collect(),
};

/// A gamma variable with shape a and scale 1 by rejection (Marsaglia and Tsang 2000, ACM Trans.
/// Math. Softw. 26); for a < 1, one of shape a + 1 times `U^{1/a}`. It is positive, as U >= 2^-53
/// and a >= 0.05.
fn gamma(a: f64, stream: &mut Stream) -> f64 {
    if a < 1.0 {
        let u = 1.0 - stream.uniform();
        return (gamma(a + 1.0, stream) * u.powf(1.0 / a)).max(f64::MIN_POSITIVE);
    }
    let d = a - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = stream.normal();
        let v = (1.0 + c * x).powi(3);
        // 1 - U is never 0.
        if v > 0.0 && (1.0 - stream.uniform()).ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
            return d * v;
        }
    }
}
