//! One noise step on `S^{d-1}` with each sampler: the mean of `<x', x>`, whose exact value is
//! `e^{-(d-1) h/kappa}` (error constants derived).

use crate::attention::noise::Sampler;
use crate::num::quadrature::integrate;
use statrs::function::gamma::ln_gamma;

impl Sampler {
    /// `E <x', x>` for a step with `tau = h / kappa`, by quadrature over the length of the normal
    /// vector. **Accuracy** 1e-14.
    pub fn mean_step_cosine(self, d: usize, tau: f64) -> f64 {
        let m = d as f64 - 1.0;
        let s2 = self.squared_scale(d, tau);
        let s = s2.sqrt();
        let log_norm = (1.0 - 0.5 * m) * 2f64.ln() - ln_gamma(0.5 * m);
        let inner = |r: f64| {
            if self == Self::Normalised { 1.0 / (1.0 + s2 * r * r).sqrt() } else { (s * r).cos() }
        };
        let density =
            |r: f64| (log_norm + (m - 1.0) * r.max(f64::MIN_POSITIVE).ln() - 0.5 * r * r).exp();
        let top = m.sqrt() + 12.0;
        // Rounding may exceed the bounds of a mean of cosines.
        integrate(|r| density(r) * inner(r), 0.0, top, 1e-15).value.clamp(-1.0, 1.0)
    }

    /// The coefficient of `tau^2` in `E <x', x> - e^{-(d-1) tau}`; 0 if the error is of third
    /// order.
    pub fn leading_error(self, d: usize) -> f64 {
        let d = d as f64;
        match self {
            Self::Normalised => (d - 1.0) * (d + 2.0),
            Self::Geodesic => -(d - 1.0) * (d - 2.0) / 3.0,
            Self::Corrected => 0.0,
        }
    }
}

/// `e^{-(d-1) tau}`, the mean of `<x', x>` for Brownian motion.
pub fn exact_mean(d: usize, tau: f64) -> f64 {
    (-(d as f64 - 1.0) * tau).exp()
}

/// `coth kappa - 1/kappa`: the stationary mean of the drift `P e_1` with noise on `S^2`.
pub fn stationary_mean(kappa: f64) -> f64 {
    1.0 / kappa.tanh() - 1.0 / kappa
}

/// The stationary means of Lie (drift, then noise) and Strang steps of length h on `S^2` with drift
/// `P e_1` and noise `kappa`, by the transfer operator on the first 48 Legendre modes.
///
/// The noise multiplies the Legendre mode l by `E P_l(cos s chi_2)`; the drift moves `z` to
/// `tanh(atanh z + h)`. Returned: (Lie, Strang).
pub fn stationary_means(sampler: Sampler, kappa: f64, h: f64) -> (f64, f64) {
    /// Number of Legendre modes of an observable.
    const MODES: usize = 48;
    let rule = crate::num::quadrature::gauss_legendre(120);
    let legendre = |z: f64| crate::num::gegenbauer::zonal_polynomials(3, MODES - 1, z);
    // The operator on observables, T f(z) = E f(next z): composition for the drift, diagonal for
    // the noise.
    let drift = |dt: f64| -> Vec<f64> {
        let mut m = vec![0.0; MODES * MODES];
        for (z, w) in &rule {
            let moved = (z + dt.tanh()) / (1.0 + z * dt.tanh());
            let (p, q) = (legendre(*z), legendre(moved));
            for (l, (row, p)) in m.chunks_exact_mut(MODES).zip(&p).enumerate() {
                row.iter_mut().zip(&q).for_each(|(m, q)| *m += w * (l as f64 + 0.5) * p * q);
            }
        }
        m
    };
    let tau = h / kappa;
    let s2 = sampler.squared_scale(3, tau);
    let angle = |r: f64| {
        if sampler == Sampler::Normalised { (s2.sqrt() * r).atan() } else { s2.sqrt() * r }
    };
    // Lengths have the density r e^{-r^2/2}.
    let mut factors = vec![0.0; MODES];
    for (x, w) in crate::num::quadrature::gauss_legendre(160) {
        let r = 6.5 * (1.0 + x);
        let p = legendre(angle(r).cos());
        (0..MODES).for_each(|l| factors[l] += 6.5 * w * r * (-0.5 * r * r).exp() * p[l]);
    }
    let stationary = |step: &dyn Fn(&[f64]) -> Vec<f64>| {
        // Apply T to the observable z until it is constant.
        let mut f = vec![0.0; MODES];
        f[1] = 1.0;
        for _ in 0..(40.0 * kappa / h) as usize {
            f = step(&f);
        }
        f[0]
    };
    let apply = |m: &[f64], f: &[f64]| crate::num::dense::mul(m, f, 1);
    let noise = |f: &[f64]| -> Vec<f64> { f.iter().zip(&factors).map(|(f, c)| f * c).collect() };
    let (whole, half) = (drift(h), drift(0.5 * h));
    (
        stationary(&|f| apply(&whole, &noise(f))),
        stationary(&|f| apply(&half, &noise(&apply(&half, f)))),
    )
}

/// `1F1(m/2; 1/2; -s^2/2) = E cos(s chi_m)` as a series, for steps with `s^2 m` up to about 10: a
/// second route to [`Sampler::mean_step_cosine`].
pub fn mean_cosine(m: f64, s2: f64) -> f64 {
    let (mut term, mut sum, mut k) = (1.0, 0.0, 0.0);
    while f64::abs(term) > 1e-18 {
        sum += term;
        term *= -(0.5 * m + k) / (0.5 + k) * 0.5 * s2 / (k + 1.0);
        k += 1.0;
    }
    sum
}
