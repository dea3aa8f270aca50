//! Table of a smooth function: Chebyshev series on panels of equal width, evaluated in nanoseconds.

use std::f64::consts::PI;

/// Coefficients per panel.
const DEGREE: usize = 12;

/// A tabulated function on `[0, end]`.
pub struct Chebyshev {
    per_unit: f64,
    series: Vec<[f64; DEGREE]>,
}

impl Chebyshev {
    /// Interpolates `f` on `[0, end]` by polynomials of degree 11 on `panels` panels; exact to
    /// rounding if f is analytic well beyond the width of a panel.
    ///
    /// ```
    /// let table = metastable::num::chebyshev::Chebyshev::new(f64::sin, 10.0, 40);
    /// assert!((table.value(7.3) - 7.3f64.sin()).abs() < 4e-15);
    /// ```
    pub fn new(f: impl Fn(f64) -> f64, end: f64, panels: usize) -> Self {
        let width = end / panels as f64;
        let node = |j: usize| (PI * (j as f64 + 0.5) / DEGREE as f64).cos();
        let series = (0..panels)
            .map(|p| {
                let values: Vec<f64> =
                    (0..DEGREE).map(|j| f(width * (p as f64 + 0.5 + 0.5 * node(j)))).collect();
                std::array::from_fn(|k| {
                    let wave = |j: usize| (PI * k as f64 * (j as f64 + 0.5) / DEGREE as f64).cos();
                    let sum: f64 = values.iter().enumerate().map(|(j, v)| v * wave(j)).sum();
                    sum * if k == 0 { 1.0 } else { 2.0 } / DEGREE as f64
                })
            })
            .collect();
        Self { per_unit: 1.0 / width, series }
    }

    /// The value at `x`; an `x` outside the interval is moved to its nearest end.
    pub fn value(&self, x: f64) -> f64 {
        let place = (x * self.per_unit).clamp(0.0, self.series.len() as f64);
        let panel = (place as usize).min(self.series.len() - 1);
        let t = 2.0 * (place - panel as f64) - 1.0;
        // Clenshaw's recurrence.
        let (mut a, mut b) = (0.0, 0.0);
        for c in self.series[panel][1..].iter().rev() {
            (a, b) = (c + 2.0 * t * a - b, a);
        }
        self.series[panel][0] + t * a - b
    }
}
