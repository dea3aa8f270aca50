//! Bracketing root finders.

/// Root of a continuous `f` in a bracket by Chandrupatla's method (1997): inverse quadratic
/// interpolation, safeguarded by bisection. It never leaves the bracket and needs at most about
/// three times the evaluations of bisection.
///
/// Returns `None` if `f(a)` and `f(b)` have the same sign or are NaN. `abs_tol` is the width of the
/// final bracket; with 0 it ends at adjacent numbers.
///
/// ```
/// use metastable::num::roots::bracketed_root;
/// let root = bracketed_root(|x| x * x - 2.0, 0.0, 2.0, 0.0).unwrap();
/// assert!((root - 2f64.sqrt()).abs() < 4e-16);
/// ```
pub fn bracketed_root(mut f: impl FnMut(f64) -> f64, a: f64, b: f64, abs_tol: f64) -> Option<f64> {
    let (mut a, mut b) = (a, b);
    let (mut fa, mut fb) = (f(a), f(b));
    if fa == 0.0 {
        return Some(a);
    }
    if fb == 0.0 {
        return Some(b);
    }
    if (fa > 0.0) == (fb > 0.0) || fa.is_nan() || fb.is_nan() {
        return None;
    }
    let mut t = 0.5;
    for _ in 0..400 {
        let x = a + t * (b - a);
        let fx = f(x);
        if fx.is_nan() {
            return None;
        }
        let (c, fc);
        if (fx > 0.0) == (fa > 0.0) {
            (c, fc) = (a, fa);
        } else {
            (c, fc) = (b, fb);
            (b, fb) = (a, fa);
        }
        (a, fa) = (x, fx);
        let (best, fbest) = if fa.abs() < fb.abs() { (a, fa) } else { (b, fb) };
        let tol = 2.0 * f64::EPSILON * best.abs() + 0.5 * abs_tol + f64::MIN_POSITIVE;
        let tlim = tol / (b - a).abs();
        if tlim > 0.5 || fbest == 0.0 {
            return Some(best);
        }
        let xi = (a - b) / (c - b);
        let phi = (fa - fb) / (fc - fb);
        let inverse_quadratic = phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi;
        t = if inverse_quadratic {
            fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        } else {
            0.5
        };
        t = t.clamp(tlim, 1.0 - tlim);
    }
    Some(if fa.abs() < fb.abs() { a } else { b })
}

/// Halves an interval at whose lower end a condition fails and at whose upper end it holds, until
/// it is narrow or its ends are adjacent numbers. The condition is not tested at the ends.
///
/// ```
/// use metastable::num::roots::bisect;
/// let (low, high) = bisect(|x| x * x > 2.0, (0.0, 2.0), |low, high| high - low < 1e-3);
/// assert!(low < 2f64.sqrt() && 2f64.sqrt() < high && high - low < 1e-3);
/// ```
pub fn bisect(
    mut holds: impl FnMut(f64) -> bool,
    (mut low, mut high): (f64, f64),
    is_narrow: impl Fn(f64, f64) -> bool,
) -> (f64, f64) {
    loop {
        let middle = 0.5 * (low + high);
        if is_narrow(low, high) || !(low < middle && middle < high) {
            return (low, high);
        }
        if holds(middle) { high = middle } else { low = middle }
    }
}
