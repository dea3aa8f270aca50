//! Taylor coefficients of the pull, and series of its means over two clusters at a small distance.
//!
//! With `u(d + x) = sum_k a_k x^k`, two clusters at the distances `d + p g` and `d + q g`,
//! `q = p + 1`, have the quotient
//! `(u(d + q g) - u(d + p g)) / g = sum_k a_(k+1) (q^(k+1) - p^(k+1)) g^k`.
//! Its derivatives are found term by term. The last term has the coefficient over all distances
//! between: it is the remainder of Lagrange, whose weight is an even power.

use super::shape::{Shapes, common};
use crate::num::interval::Interval;

/// The degree of the highest coefficient.
pub(super) const DEGREE: usize = 8;

/// Coefficients of `u(d + x)`, x in radians.
pub(super) type Jet = [Interval; DEGREE + 1];

/// `sum_k c_k x^k`.
fn horner(coefficients: &[Interval], x: Interval) -> Interval {
    coefficients.iter().rev().fold(Interval::ZERO, |sum, c| sum * x + *c)
}

/// Powers `x^0, x^1, ...`.
fn powers(x: Interval) -> Jet {
    let mut all = [Interval::exact(1.0); DEGREE + 1];
    for k in 1..=DEGREE {
        all[k] = if k % 2 == 0 { all[k / 2].sqr() } else { all[k - 1] * x };
    }
    all
}

fn times(v: Interval, whole: usize) -> Interval {
    v * Interval::exact(whole as f64)
}

/// For the exponential, coefficients of `u(d + x) / e^{beta (cos d - 1)}` from the sine and the
/// cosine of d. With `sin(d + x) = sum_k s_k x^k` and
/// `e^{beta (cos(d + x) - cos d)} = sum_k h_k x^k` they are `a_k = sum_j s_j h_(k-j)`, and
/// `h_(k+1) = -beta a_k / (k + 1)`.
pub(super) fn pull_coefficients<const N: usize>(
    beta: Interval,
    sin: Interval,
    cos: Interval,
) -> [Interval; N] {
    let zero = Interval::ZERO;
    let (mut sines, mut h, mut a) = ([zero; N], [Interval::exact(1.0); N], [zero; N]);
    let mut factorial = 1.0;
    for k in 0..N {
        factorial *= k.max(1) as f64;
        let derivative = [sin, cos, -sin, -cos][k % 4];
        // Quotients and products of zeros would be rounded outwards.
        if derivative != zero {
            sines[k] = derivative / Interval::exact(factorial);
        }
        let terms = (0..=k).filter(|j| sines[*j] != zero);
        a[k] = terms.fold(zero, |sum, j| sum + sines[j] * h[k - j]);
        if k + 1 < N {
            h[k + 1] = -(beta * a[k]) / Interval::exact((k + 1) as f64);
        }
    }
    a
}

impl Shapes {
    /// Coefficients for distances in turns, within `[-1, 2]`.
    pub(super) fn jet(&self, distance: Interval) -> Jet {
        let shape = self.at(distance);
        let known = [shape.u, shape.w, shape.w1, shape.w2];
        let sharpened = |mut a: Jet| {
            for ((a, known), factorial) in a.iter_mut().zip(known).zip([1.0, 1.0, 2.0, 6.0]) {
                *a = common(*a, known / Interval::exact(factorial));
            }
            a
        };
        if let Some(family) = self.family() {
            return sharpened(family.series(distance, self.parameter())[0]);
        }
        let (beta, c, s, e) = self.parts(distance);
        sharpened(pull_coefficients(beta, s, c).map(|v| e * v))
    }

    /// Coefficients of the derivative of `u(d + x)` by the parameter, for distances in turns;
    /// `None` for the exponential, where it is `(cos - 1) u`.
    pub(super) fn jet_by_parameter(&self, distance: Interval) -> Option<Jet> {
        self.family().map(|f| f.series(distance, self.parameter())[1])
    }
}

/// Two clusters at the places p and `p + 1` times their distance g in radians.
pub(super) struct Two {
    /// `q^k - p^k`.
    apart: Jet,
    g: Interval,
    /// Whether they have the same mass: then only even powers of g count, and derivatives are by
    /// the square of g.
    even: bool,
}

impl Two {
    /// Clusters at given places, at the distance g in radians.
    pub(super) fn new((near, far): (Interval, Interval), g: Interval, even: bool) -> Self {
        let (p, q) = (powers(near), powers(far));
        Self { apart: std::array::from_fn(|k| q[k] - p[k]), g, even }
    }

    /// The sum of coefficients from `g^first` on; in even powers, those of the square.
    fn sum(&self, first: usize, coefficient: &dyn Fn(usize) -> Interval) -> Interval {
        let step = if self.even { 2 } else { 1 };
        let all: Vec<Interval> = (first..=6).step_by(step).map(coefficient).collect();
        horner(&all, if self.even { self.g.sqr() } else { self.g })
    }

    /// The quotient; `at` is the distance, `between` all distances between.
    pub(super) fn mean(&self, at: &Jet, between: &Jet) -> Interval {
        self.sum(0, &|k| pick(at, between, k, 1) * self.apart[k + 1])
    }

    /// The derivative of the quotient by the distance, in radians.
    pub(super) fn by_distance(&self, at: &Jet, between: &Jet) -> Interval {
        self.sum(0, &|k| times(pick(at, between, k, 2) * self.apart[k + 1], k + 2))
    }

    /// For two pairs of equal masses at the distances g and h, the mean of `w''` over `d + s`,
    /// where s is the sum of two uniform numbers in `[-g/2, g/2]` and `[-h/2, h/2]`: the odd
    /// moments of s are 0, and its second moment is `(g^2 + h^2) / 12`.
    pub(super) fn bend_of_pair(&self, at: &Jet, between: &Jet, h: Interval) -> Interval {
        let moment = (self.g.sqr() + h.sqr()) / Interval::exact(12.0);
        times(at[3], 6) + times(between[5], 60) * moment
    }

    /// The derivative of the quotient by g, or by its square.
    pub(super) fn by_own(&self, at: &Jet, between: &Jet) -> Interval {
        let first = if self.even { 2 } else { 1 };
        self.sum(first, &|k| {
            times(pick(at, between, k, 1) * self.apart[k + 1], if self.even { k / 2 } else { k })
        })
    }
}

/// The coefficient of degree `k + more`; that of the remainder for `k = 6`.
fn pick(at: &Jet, between: &Jet, k: usize, more: usize) -> Interval {
    if k == 6 { between[k + more] } else { at[k + more] }
}

/// The derivative by g, or by its square for equal masses, of `sum_i m_i u(d + p_i g)` over two
/// clusters with their centre of mass at 0, or near it.
pub(super) fn pull_by_own(
    members: &[(Interval, Interval)],
    at: &Jet,
    between: &Jet,
    g: Interval,
    (even, centred): (bool, bool),
) -> Interval {
    let (step, half) = if even { (2, 2.0) } else { (1, 1.0) };
    let all: Vec<(Interval, Jet)> = members.iter().map(|(m, p)| (*m, powers(*p))).collect();
    let moment = |k: usize| all.iter().fold(Interval::ZERO, |sum, (m, p)| sum + *m * p[k]);
    let coefficient = |k: usize| {
        let a = if k == 5 { between[6] } else { at[k + 1] };
        times(a * moment(k + 1), k + 1) / Interval::exact(half)
    };
    let found: Vec<Interval> = (1..=5).step_by(step).map(coefficient).collect();
    match () {
        () if even => horner(&found, g.sqr()),
        () if centred => g * horner(&found, g),
        () => at[1] * moment(1) + g * horner(&found, g),
    }
}
