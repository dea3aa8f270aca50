//! Small statistics: least-squares slopes, quantiles and the one-sided binomial bound of "k of N".

use super::simd::{Float, Isa, SimdKernel, SimdOps};
use statrs::distribution::{Beta, ContinuousCDF};

/// The larger number; NaN if either is NaN. (`f64::max` would ignore a NaN and make a failed
/// comparison look perfect.)
#[inline]
pub fn nan_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// The smaller number; NaN if either is NaN.
#[inline]
pub fn nan_min(a: f64, b: f64) -> f64 {
    -nan_max(-a, -b)
}

/// Index of the first NaN or infinite entry.
///
/// ```
/// use metastable::num::stats::first_nonfinite;
/// assert_eq!(first_nonfinite(&[1.0, f64::NAN, 2.0]), Some(1));
/// assert_eq!(first_nonfinite(&[1.0; 1000]), None);
/// ```
pub fn first_nonfinite<F: Float>(x: &[F]) -> Option<usize> {
    let from = Isa::best().run(FinitePrefix(x));
    x[from..].iter().position(|x| !x.to_f64().is_finite()).map(|k| from + k)
}

/// A lower bound of that index, a multiple of 256: blocks are tested without branches.
struct FinitePrefix<'a, F>(&'a [F]);

impl<F: Float> SimdKernel for FinitePrefix<'_, F> {
    type F = F;
    type Output = usize;

    #[inline(always)]
    fn run<L: SimdOps<F = F>>(self, l: L) -> usize {
        let (parts, _) = self.0.as_chunks::<256>();
        // 0 times NaN or infinity is NaN.
        let bad = |part: &[F; 256]| {
            let mut sums = [l.zero(); 4];
            for four in L::view(part).chunks_exact(4) {
                for (sum, v) in sums.iter_mut().zip(four) {
                    *sum = l.fma(*v, l.zero(), *sum);
                }
            }
            let [a, b, c, d] = sums;
            l.sum(l.add(l.add(a, b), l.add(c, d))) != F::default()
        };
        256 * parts.iter().position(bad).unwrap_or(parts.len())
    }
}

/// Slope of the least-squares line through the points.
#[inline]
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mx, my) =
        (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let sxy: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    let sxx: f64 = points.iter().map(|p| (p.0 - mx).powi(2)).sum();
    sxy / sxx
}

/// Median of finite numbers: for an even number of them, the mean of the middle two; NaN for none.
///
/// ```
/// use metastable::num::stats::median;
/// assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 3.0, 2.0])), (2.0, 2.5));
/// ```
#[inline]
pub fn median(values: &[f64]) -> f64 {
    let mut v = values.to_vec();
    v.sort_by(f64::total_cmp);
    match v.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => v[n / 2],
        n => 0.5 * (v[n / 2 - 1] + v[n / 2]),
    }
}

/// The p-quantile of finite numbers for p in [0, 1]: linear interpolation between the order
/// statistics at (N - 1) p, counted from 0 (type 7 of Hyndman and Fan 1996, the default of NumPy
/// and R); NaN for none.
///
/// ```
/// use metastable::num::stats::quantile;
/// assert_eq!([0.0, 0.25, 0.5, 1.0].map(|p| quantile(&[4.0, 1.0, 2.0, 3.0], p)), [1.0, 1.75, 2.5, 4.0]);
/// ```
pub fn quantile(values: &[f64], p: f64) -> f64 {
    let mut v = values.to_vec();
    v.sort_by(f64::total_cmp);
    let Some(last) = v.len().checked_sub(1) else { return f64::NAN };
    let place = p.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let share = place - below as f64;
    // At an order statistic itself nothing is added, because the next one may be infinite.
    if share > 0.0 { (1.0 - share) * v[below] + share * v[(below + 1).min(last)] } else { v[below] }
}

/// Upper Clopper-Pearson bound: after `failures` failures in `trials` trials, the failure
/// probability is below this with the given confidence.
///
/// ```
/// use metastable::num::stats::failure_bound;
/// // no failure in 100 trials, 99.9 %: 1 - 0.001^(1/100)
/// assert!((failure_bound(0, 100, 0.999) - (1.0 - 0.001f64.powf(0.01))).abs() < 1e-12);
/// ```
#[inline]
pub fn failure_bound(failures: usize, trials: usize, confidence: f64) -> f64 {
    if failures >= trials {
        return 1.0;
    }
    if failures == 0 {
        return -((1.0 - confidence).ln() / trials as f64).exp_m1();
    }
    Beta::new(failures as f64 + 1.0, (trials - failures) as f64)
        .map_or(1.0, |b| b.inverse_cdf(confidence))
}

/// Two-sided Clopper-Pearson interval of a probability after `hits` in `trials` trials.
///
/// ```
/// use metastable::num::stats::share_interval;
/// // 0 of 10 at 95 %: from 0 to 1 - 0.025^(1/10)
/// let [low, high] = share_interval(0, 10, 0.95);
/// assert!(low == 0.0 && (high - 0.308_497_107_818_761).abs() < 1e-12);
/// ```
pub fn share_interval(hits: usize, trials: usize, confidence: f64) -> [f64; 2] {
    let side = 0.5 * (1.0 + confidence);
    let misses = trials.saturating_sub(hits);
    [1.0 - failure_bound(misses, trials, side), failure_bound(hits, trials, side)]
}

/// The least-squares line through points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineFit {
    /// Its value at 0.
    pub intercept: f64,
    /// Its slope.
    pub slope: f64,
    /// Standard error of the slope from the scatter about the line.
    pub error: f64,
}

/// The least-squares line with the standard error of its slope; `None` for fewer than three points
/// or a single abscissa.
///
/// ```
/// let fit = metastable::num::stats::line_fit(&[(0.0, 1.0), (1.0, 3.0), (2.0, 2.0)]).unwrap();
/// // The residuals -1/2, 1, -1/2 have the square sum 3/2 with one degree of freedom.
/// assert!((fit.slope - 0.5).abs() < 1e-15 && (fit.intercept - 1.5).abs() < 1e-15);
/// assert!((fit.error - 0.75f64.sqrt()).abs() < 1e-15);
/// ```
pub fn line_fit(points: &[(f64, f64)]) -> Option<LineFit> {
    let n = points.len() as f64;
    if points.len() < 3 {
        return None;
    }
    let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let spread: f64 = points.iter().map(|p| (p.0 - mx).powi(2)).sum();
    if spread.is_nan() || spread <= 0.0 {
        return None;
    }
    let slope = slope(points);
    let rest: f64 = points.iter().map(|p| (p.1 - my - slope * (p.0 - mx)).powi(2)).sum();
    let error = (rest / (n - 2.0) / spread).sqrt();
    Some(LineFit { intercept: my - slope * mx, slope, error })
}

/// Pearson's correlation; 0 if one variable is constant.
pub fn correlation(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mx, my) =
        (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        xx += (x - mx) * (x - mx);
        yy += (y - my) * (y - my);
        xy += (x - mx) * (y - my);
    }
    if xx > 0.0 && yy > 0.0 { xy / (xx * yy).sqrt() } else { 0.0 }
}

/// Mean and its standard error; needs at least two values.
///
/// ```
/// let (mean, error) = metastable::num::stats::mean_and_error(&[1.0, 3.0]);
/// assert!((mean - 2.0).abs() < 1e-15 && (error - 1.0).abs() < 1e-15);
/// ```
#[inline]
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (square / (n - 1.0) / n).sqrt())
}
