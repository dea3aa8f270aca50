//! The 1-Wasserstein distance on the circle, exact for two piecewise constant measures.

use super::circle::Circle;
use std::f64::consts::TAU;

/// `W1` between tokens of equal mass at these angles and a density: `min_c integral |F - G - c|`
/// over the circle, F and G the distribution functions. The best c is the median of the difference.
///
/// **Accuracy** the density is integrated on `points` intervals: the error is of order
/// `2 pi / points` times the mass of an interval. **Cost** `O(n log n + points log points)`.
///
/// ```
/// use metastable::continuity::{circle::Circle, density::Density, transport::w1};
/// let uniform = Density::parse("uniform").and_then(|d| Circle::from_density(&d, 8)).unwrap();
/// let grid: Vec<f64> = (0..10).map(|k| (k as f64 + 0.5) * std::f64::consts::TAU / 10.0).collect();
/// // Every token spreads over a tenth of the circle; the mean distance is a quarter of that.
/// assert!((w1(&grid, &uniform, 10_000) / (std::f64::consts::TAU / 40.0) - 1.0).abs() < 1e-3);
/// ```
pub fn w1(angles: &[f64], density: &Circle, points: usize) -> f64 {
    let values = density.values(points);
    let m = values.len();
    let total: f64 = values.iter().sum();
    let mut sorted: Vec<f64> = angles.iter().map(|a| a.rem_euclid(TAU)).collect();
    sorted.sort_by(f64::total_cmp);
    let (mut differences, mut below, mut next) = (Vec::with_capacity(m), 0.0, 0);
    for (j, v) in values.iter().enumerate() {
        // Values belong to the left ends of the intervals; half of the mass of an interval lies
        // before its middle.
        below += 0.5 * (v + values[(j + 1) % m]) / total;
        let edge = TAU * (j + 1) as f64 / m as f64;
        while next < sorted.len() && sorted[next] < edge {
            next += 1;
        }
        differences.push(next as f64 / angles.len() as f64 - below);
    }
    let mut ordered = differences.clone();
    let (_, median, _) = ordered.select_nth_unstable_by(m / 2, f64::total_cmp);
    differences.iter().map(|d| (d - *median).abs()).sum::<f64>() * TAU / m as f64
}
