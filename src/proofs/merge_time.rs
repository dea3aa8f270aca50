//! Rigorous bounds of the time that two clusters need to come closer: their scalar equation of
//! motion, integrated in interval arithmetic.
//!
//! Two clusters with masses `alpha` and `gamma = 1 - alpha` at the angle theta obey, for SA,
//! `theta' = -sin(theta) [gamma/(alpha G + gamma) + alpha/(gamma G + alpha)]` with `G = e^{beta y}`
//! and `y = 1 - cos(theta)`. With `v = ln tan(theta / 2)`, `dv = dtheta / sin(theta)`, so the time
//! from `v` to `v + dv` is `H dv` with
//!
//! * SA: `H = (alpha gamma (G^2 + 1) + (alpha^2 + gamma^2) G) / ((alpha^2 + gamma^2) G + 2 alpha
//!   gamma)`,
//! * USA (U1, any masses): `H = e^{-beta} G`.
//!
//! H is smooth and bounded: it tends to constants at both ends of the line of v, where theta tends
//! to 0 and to pi. As a function of v, `y = 2 / (1 + e^{-2 v})` and `y' = y (2 - y)`, from which
//! the Taylor coefficients follow.
//!
//! On a subinterval about c, `H = sum_{k < K} H_k (v - c)^k + H_K(xi) (v - c)^K`. The coefficients
//! are intervals, the last one over the whole subinterval; K is even, so the remainder keeps its
//! sign. Subintervals are halved until the relative width of each integral is at most
//! `1e-12 (10 + beta)`.
//!
//! Times from 2 rad to 0.5 rad with equal masses (SA). Asymptotically the time is proportional to
//! `e^{c beta}` with `c = 1 - cos 2 = 1.416147`:
//!
//! | beta | time, enclosed to 1e-10 | `ln(time) / beta` |
//! |---|---|---|
//! | 5 | 131.451095736 | 0.975727 |
//! | 10 | 79618.6689745 | 1.128500 |
//! | 20 | 5.79130561648e10 | 1.239110 |
//! | 30 | 5.52449085718e16 | 1.285018 |
//! | 50 | 6.69447259811e28 | 1.327473 |
//! | 100 | 1.90469921244e59 | 1.364968 |

use crate::attention::RowWeights;
use crate::dyadic::{dyadic, numbers};
use crate::error::{Error, Result, in_range};
use crate::num::interval::{Interval, check_fp_environment};
use crate::num::number::Number;

/// The first line of a certificate.
pub const KIND: &str = "metastable-time 1";

/// Order of the remainder.
const ORDER: usize = 14;

/// Relative width allowed to the integral over a subinterval, times `10 + beta`. (Rounding alone
/// makes `e^{beta y}` wide by a hundredth of that.)
const RELATIVE_WIDTH: f64 = 1e-12;

/// Most halvings of a subinterval.
const MAX_HALVINGS: usize = 40;

/// The smallest angle.
const LEAST_ANGLE: f64 = 1e-300;

/// Relative widening of the bounds that the certificate states, times `10 + beta`: the verifier
/// rounds otherwise.
const MARGIN: f64 = 1e-13;

fn point(v: f64) -> Interval {
    Interval::exact(v)
}

/// Taylor coefficients of order 0 to `ORDER`.
type Taylor = [Interval; ORDER + 1];

fn product(a: &Taylor, b: &Taylor) -> Taylor {
    std::array::from_fn(|k| (0..=k).fold(point(0.0), |s, l| s + a[l] * b[k - l]))
}

fn quotient(a: &Taylor, b: &Taylor) -> Taylor {
    let mut q = [point(0.0); ORDER + 1];
    for k in 0..=ORDER {
        q[k] = (0..k).fold(a[k], |s, l| s - q[l] * b[k - l]) / b[0];
    }
    q
}

/// The integrand H.
struct Integrand {
    beta: f64,
    /// `alpha gamma` and `alpha^2 + gamma^2`; `None` for USA.
    masses: Option<(Interval, Interval)>,
}

impl Integrand {
    /// Taylor coefficients of H at v.
    fn taylor(&self, v: Interval) -> Taylor {
        let (one, two, beta) = (point(1.0), point(2.0), point(self.beta));
        // y from the side on which the exponential is below 1: it rises with v.
        let end = |v: f64| {
            if v > 0.0 {
                two / (one + (point(-2.0) * point(v)).exp())
            } else {
                let e = (two * point(v)).exp();
                two * e / (one + e)
            }
        };
        let mut y = [point(0.0); ORDER + 1];
        y[0] = Interval::new(end(v.lo()).lo().max(0.0), end(v.hi()).hi().min(2.0));
        for k in 0..ORDER {
            // y' = 2 y - y^2.
            let square = (0..=k).fold(point(0.0), |s, l| s + y[l] * y[k - l]);
            // y (2 - y) >= 0 is sharper for the first.
            let slope = if k == 0 { y[0] * (two - y[0]) } else { two * y[k] - square };
            y[k + 1] = slope / point((k + 1) as f64);
        }
        // g' = beta y' g.
        let mut g = [point(0.0); ORDER + 1];
        g[0] = if self.masses.is_some() { beta * y[0] } else { beta * (y[0] - one) }.exp();
        for k in 1..=ORDER {
            let terms = (1..=k).map(|l| point(l as f64) * y[l] * g[k - l]);
            g[k] = beta * terms.fold(point(0.0), |s, t| s + t) / point(k as f64);
        }
        let Some((cross, squares)) = self.masses else { return g };
        let mut above = product(&g, &g).map(|v| cross * v);
        above.iter_mut().zip(&g).for_each(|(t, g)| *t = *t + squares * *g);
        above[0] = above[0] + cross;
        let mut below = g.map(|g| squares * g);
        below[0] = below[0] + two * cross;
        quotient(&above, &below)
    }

    /// Adds the integral over `[a, b]` and the ends of its subintervals, with at most this many
    /// halvings.
    fn integrate(
        &self,
        (a, b): (f64, f64),
        halvings: usize,
        sum: &mut Interval,
        cuts: &mut Vec<f64>,
    ) {
        let c = 0.5 * (a + b);
        let (at_c, over_all) = (self.taylor(point(c)), self.taylor(Interval::new(a, b)));
        let (mut left, mut right) = (point(a) - point(c), point(b) - point(c));
        let steps = (left, right);
        let mut total = point(0.0);
        for k in 0..=ORDER {
            let f = if k < ORDER { at_c[k] } else { over_all[k] };
            total = total + f * (right - left) / point((k + 1) as f64);
            (left, right) = (left * steps.0, right * steps.1);
        }
        let narrow = total.width() <= RELATIVE_WIDTH * (10.0 + self.beta) * total.mig();
        if narrow || halvings == 0 || !(a < c && c < b) {
            cuts.push(b);
            *sum = *sum + total;
            return;
        }
        self.integrate((a, c), halvings - 1, sum, cuts);
        self.integrate((c, b), halvings - 1, sum, cuts);
    }
}

/// `ln tan(theta / 2)` for `0 < theta < pi`, with relative errors of some units in the last place
/// of the angle's distance from 0 or pi.
fn logarithm_of_tangent(theta: f64) -> Interval {
    if theta > std::f64::consts::FRAC_PI_2 {
        // The difference from the double below pi is exact (Sterbenz), and pi is larger by the
        // second double, to 1e-32.
        const REST: f64 = 1.224_646_799_147_353_2e-16;
        let rest =
            point(std::f64::consts::PI - theta) + Interval::new(REST.next_down(), REST.next_up());
        return -of_half(rest * point(0.5));
    }
    of_half(point(0.5 * theta))
}

/// `ln tan x` for `0 < x <= 0.8`: sine and cosine by their series, the sine divided by x, so that
/// small angles keep their digits.
fn of_half(x: Interval) -> Interval {
    let square = x.sqr();
    let series = |odd: f64| {
        let terms = (1..=12).rev().fold(point(1.0), |sum, j| {
            let k = f64::from(2 * j) + odd;
            point(1.0) - sum * square / point(k * (k - 1.0))
        });
        // 0.8^26 / 26! < 1e-29.
        terms + Interval::symmetric(1e-28)
    };
    Number::ln(x * series(1.0) / series(0.0))
}

/// A proved time with its certificate.
#[derive(Clone, Debug)]
pub struct MergeTime {
    /// An interval that contains the time.
    pub time: Interval,
    /// The certificate, which the verifier reads.
    pub certificate: String,
}

/// The time in which two clusters with masses `alpha` and `1 - alpha` move from the angle `from` to
/// the angle `to` (radians): bounds and their certificate.
///
/// **Accuracy** the width is below 1e-9 of the time for angles up to 3.1. **Cost** 5 milliseconds.
/// **Errors** angles not in `1e-300 <= to <= from < pi`, a mass outside `(0, 1)`, beta outside
/// `[0, 120]`, Sinkhorn attention, a processor that breaks the arithmetic.
///
/// ```
/// use metastable::{attention::RowWeights, proofs::merge_time::enclosed_merge_time};
/// // beta = 0: ln tan(theta / 2) falls at rate 1.
/// let t = enclosed_merge_time(RowWeights::Softmax, 0.0, 0.5, 2.0, 0.1).unwrap().time;
/// assert!((t.mid() - (1f64.tan() / 0.05f64.tan()).ln()).abs() < 1e-12 && t.width() < 1e-10);
/// ```
pub fn enclosed_merge_time(
    weights: RowWeights,
    beta: f64,
    alpha: f64,
    from: f64,
    to: f64,
) -> Result<MergeTime> {
    check_fp_environment()?;
    // With larger beta the squares of the coefficients of e^{beta y} would overflow.
    in_range("beta", beta, 0.0, 120.0)?;
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(Error::parameter("mass", alpha, "a number between 0 and 1"));
    }
    if !(LEAST_ANGLE <= to && to <= from && from < std::f64::consts::PI) {
        return Err(Error::parameter(
            "from",
            format!("{from} to {to}"),
            "angles with 1e-300 <= to <= from < pi",
        ));
    }
    let gamma = point(1.0) - point(alpha);
    let (name, masses) = match weights {
        RowWeights::Softmax => {
            ("sa", Some((point(alpha) * gamma, point(alpha).sqr() + gamma.sqr())))
        }
        RowWeights::Exponential => ("usa", None),
        RowWeights::Sinkhorn => return Err(metastable_core::theory::no_formula_error(weights)),
    };
    let integrand = Integrand { beta, masses };
    let (low, high) = (logarithm_of_tangent(to), logarithm_of_tangent(from));
    // From a double near one end to a double near the other; the rest is H times a short way.
    let ends = (low.mid(), high.mid().max(low.mid()));
    let (mut sum, mut cuts) = (Interval::ZERO, vec![ends.0]);
    if ends.0 < ends.1 {
        integrand.integrate(ends, MAX_HALVINGS, &mut sum, &mut cuts);
    }
    let rest = |end: Interval, cut: f64| {
        let hull = Interval::new(end.lo().min(cut), end.hi().max(cut));
        integrand.taylor(hull)[0] * (end - point(cut))
    };
    // No angle, no time.
    let time = if from.to_bits() == to.to_bits() {
        Interval::ZERO
    } else {
        let found = sum + rest(high, ends.1) - rest(low, ends.0);
        let more = MARGIN * (10.0 + beta) * found.mag();
        Interval::new((found.lo() - more).next_down().max(0.0), (found.hi() + more).next_up())
    };
    let certificate = format!(
        "{KIND}\nweights {name}\nbeta {}\nshare {}\nfrom {}\nto {}\norder {ORDER}\ncuts {}\n\
         time {}\nend\n",
        dyadic(beta),
        dyadic(alpha),
        dyadic(from),
        dyadic(to),
        numbers(&cuts),
        numbers(&[time.lo(), time.hi()]),
    );
    Ok(MergeTime { time, certificate })
}
