//! Modified Bessel functions of the first kind, integer and half-integer order, by one ratio
//! recurrence.
//!
//! With `q_v = 2(v+1) I_{v+1}(x) / (x I_v(x))` the three-term recurrence becomes
//! `q_v = 1 / (1 + (x^2/4) q_{v+1} / ((v+1)(v+2)))`: every number lies in (0, 1], so nothing over-
//! or underflows and the downward direction is stable (Gautschi 1967; Amos 1974).

/// Ratios `I_{v+k+1}(x) / I_{v+k}(x)` for `k = 0..count`, any order `v >= 0`, `0 <= x <= 1e6`.
///
/// **Accuracy** each ratio to 4 ulp. **Cost** `sqrt(count^2 + 90 x) + 60` divisions.
pub fn bessel_ratios(order: f64, x: f64, count: usize) -> Vec<f64> {
    reduced_ratios(order, x, count)
        .into_iter()
        .enumerate()
        .map(|(k, q)| q * x / (2.0 * (order + k as f64 + 1.0)))
        .collect()
}

/// The `q_{v+k}` of the module documentation, `k = 0..count`.
fn reduced_ratios(order: f64, x: f64, count: usize) -> Vec<f64> {
    // The recurrence starts `extra` orders higher with q = 1; that error is damped by (I_K / I_k)^2
    // ~ e^{-(K^2 - k^2)/x} < 1e-19.
    let top = order + count as f64;
    let extra = ((top * top + 90.0 * x).sqrt() - top).ceil() as usize + 60;
    let quarter = 0.25 * x * x;
    let mut q = 1.0;
    let mut out = vec![0.0; count];
    for k in (0..count + extra).rev() {
        let v = order + k as f64;
        q = 1.0 / (1.0 + quarter * q / ((v + 1.0) * (v + 2.0)));
        if k < count {
            out[k] = q;
        }
    }
    out
}

/// `e^{-x} I_k(x)` for `k = 0..=kmax`, normalised by `e^{-x}(I_0 + 2 sum_k I_k) = 1`.
///
/// **Accuracy** relative error below `(5 + k/2) u` while the value is a normal number.
/// **Domain** `0 <= x <= 1e6`.
///
/// ```
/// use metastable::num::bessel::scaled_bessel_i;
/// let i = scaled_bessel_i(1, 1.0);
/// assert!((i[0] - 0.465_759_607_593_640_44).abs() < 1e-15);
/// ```
pub fn scaled_bessel_i(kmax: usize, x: f64) -> Vec<f64> {
    let width = (90.0 * x).sqrt().ceil() as usize + 60;
    let ratios = bessel_ratios(0.0, x, kmax.max(width));
    let mut value = 1.0;
    let mut values = vec![1.0];
    for r in &ratios {
        value *= r;
        values.push(value);
    }
    let tail = super::sum::block_sum(&values[1..]);
    let total = 1.0 + 2.0 * tail;
    values.truncate(kmax + 1);
    super::vector::divide(&mut values, total);
    values
}

/// `e^{-x} I_{l+1/2}(x)` for `l = 0..=lmax`, from `I_{1/2}(x) = sqrt(2/(pi x)) sinh x`.
///
/// **Accuracy** as [`scaled_bessel_i`]. **Domain** `0 < x <= 1e6`.
pub fn scaled_bessel_i_half(lmax: usize, x: f64) -> Vec<f64> {
    let mut value = (2.0 / (std::f64::consts::PI * x)).sqrt() * -(-2.0 * x).exp_m1() / 2.0;
    let mut values = vec![value];
    for r in bessel_ratios(0.5, x, lmax) {
        value *= r;
        values.push(value);
    }
    values
}

/// `e^{-x} Gamma(v+1) (2/x)^v I_v(x)` at `v = d/2 - 1`: the scaled mean of `e^{x s}` over the
/// sphere `S^{d-1}`.
///
/// Lies in (0, 1] for every d; equals 1 at x = 0. **Accuracy** `(5 + d/2) u` relative.
pub fn scaled_sphere_mean(d: usize, x: f64) -> f64 {
    log_scaled_sphere_mean(d, x).exp()
}

/// The logarithm of [`scaled_sphere_mean`], finite where the mean itself underflows.
pub fn log_scaled_sphere_mean(d: usize, x: f64) -> f64 {
    let (start, base) = if d.is_multiple_of(2) {
        (0.0, scaled_bessel_i(0, x)[0])
    } else {
        // (1 - e^{-2x}) / 2x = 1 - x + 2 x^2 / 3 - ...
        let sinhc = if x < 1e-8 { 1.0 - x } else { -(-2.0 * x).exp_m1() / (2.0 * x) };
        (0.5, sinhc)
    };
    // d = 3 starts at v = 1/2; d = 1 does not occur.
    let steps = (d - 2) / 2;
    let logs: Vec<f64> = reduced_ratios(start, x, steps).iter().map(|q| q.ln()).collect();
    base.ln() + super::sum::block_sum(&logs)
}
