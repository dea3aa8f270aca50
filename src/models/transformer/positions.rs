//! Sinusoidal positions (Vaswani et al. 2017).

/// `PE(p)_{2k} = sin(p w_k)`, `PE(p)_{2k+1} = cos(p w_k)`, `w_k = 10000^{-2k/d}`, for an even d.
///
/// `<PE(p), PE(q)> = sum_k cos(w_k (p - q))` depends on the distance alone, but does not decrease
/// with it: the first increase is at 5 for d = 64.
///
/// ```
/// use metastable::transformer::positions::sinusoidal;
/// assert_eq!(sinusoidal(0.0, 4), [0.0, 1.0, 0.0, 1.0]);
/// ```
pub fn sinusoidal(p: f64, d: usize) -> Vec<f64> {
    (0..d / 2).flat_map(|k| <[f64; 2]>::from((p * frequency(k, d)).sin_cos())).collect()
}

/// `w_k = 10000^{-2k/d}`.
pub fn frequency(k: usize, d: usize) -> f64 {
    1e4f64.powf(-2.0 * k as f64 / d as f64)
}

/// `sum_k cos(w_k offset)`: the inner product of two positions at this distance.
pub fn overlap(offset: f64, d: usize) -> f64 {
    (0..d / 2).map(|k| (frequency(k, d) * offset).cos()).sum()
}

/// The first offset after which the inner product increases: at the next offset it is larger.
///
/// ```
/// use metastable::transformer::positions::first_increase;
/// assert_eq!([64, 512].map(first_increase), [5, 43]);
/// ```
pub fn first_increase(d: usize) -> usize {
    let mut offset = 0;
    while overlap(offset as f64 + 1.0, d) <= overlap(offset as f64, d) {
        offset += 1;
    }
    offset
}
