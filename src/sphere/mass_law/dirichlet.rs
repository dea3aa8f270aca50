//! Random masses.

use super::MassFamily;
use crate::num::stream::Stream;

/// Masses with the Dirichlet law of parameters `(a, ..., a)`: the density of `(m_1, ..., m_n)` on
/// the simplex is proportional to `prod_i m_i^{a-1}`. They are independent gamma variables of
/// shape a, divided by their sum; a = 1 is uniform on the simplex.
pub static ENTRY: MassFamily = MassFamily {
    name: "dirichlet",
    summary: "random masses with density proportional to prod_i m_i^{a-1}; a = 1 is uniform on the simplex",
    keys: &[("a", 1.0, 0.05, 1e6, "shape; large values give nearly equal masses")],
    random: true,
    weights: |values, n, stream| (0..n).map(|_| gamma(values[0], stream)).collect(),
};

/// A gamma variable of shape a and scale 1 by rejection (Marsaglia and Tsang 2000, ACM Trans.
/// Math. Softw. 26); below a = 1 that of shape a + 1 times `U^{1/a}`. It is positive: the
/// smallest U is 2^-53, and a >= 0.05.
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
