//! Formulas of an interaction phi: Taylor series in intervals of doubles, and the ranges of the
//! pull `u(d) = phi(cos d) sin d` and of the weight `w = u'`.

use crate::canonical::confirm;
use crate::expression::{Expression, confirm_names};
use crate::interval::F;

/// Number of Taylor coefficients.
const TERMS: usize = 9;

/// Enclosures of Taylor coefficients.
pub(super) type Series = [F; TERMS];

const ZERO: F = F(0.0, 0.0);
const ONE: F = F(1.0, 1.0);

/// The functions. The last two have a series where the sign of their argument is certain.
pub(super) const FUNCTIONS: &str = "exp ln sqrt sin cos tan sinh cosh tanh abs relu";

const WHOLE: F = F(f64::NEG_INFINITY, f64::INFINITY);

/// A decimal number.
fn decimal(text: &str) -> Option<F> {
    let number = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let near: f64 = text.parse().ok().filter(|_| number)?;
    let exact = text.bytes().all(|b| b.is_ascii_digit()) && near < 9e15;
    Some(if exact { F::int(near) } else { F(near.next_down(), near.next_up()) })
}

fn minus(v: F) -> F {
    F(-v.1, -v.0)
}

fn is_zero(v: &F) -> bool {
    v.0.abs().max(v.1.abs()) <= 0.0
}

/// A product in which 0 stays 0.
fn times(a: &F, b: &F) -> F {
    if is_zero(a) || is_zero(b) { ZERO } else { *a * *b }
}

/// `sum_j a_j b_{k - j}` for j in a range.
fn convolve(a: &[F], b: &[F], k: usize, mut range: std::ops::Range<usize>) -> F {
    let first = range.next().map_or(ZERO, |j| times(&a[j], &b[k - j]));
    range.fold(first, |s, j| s + times(&a[j], &b[k - j]))
}

/// The coefficients `j a_j`.
fn weighted(a: &Series) -> Series {
    std::array::from_fn(|j| times(&F::int(j as f64), &a[j]))
}

fn constant(v: F) -> Series {
    std::array::from_fn(|k| if k == 0 { v } else { ZERO })
}

fn product(a: &Series, b: &Series) -> Series {
    std::array::from_fn(|k| convolve(a, b, k, 0..k + 1))
}

/// Coefficient by coefficient, each from the earlier ones.
fn grow(first: F, next: impl Fn(&Series, usize) -> F) -> Series {
    let mut out = constant(first);
    for k in 1..TERMS {
        out[k] = next(&out, k);
    }
    out
}

/// `q b = a`.
fn quotient(a: &Series, b: &Series) -> Series {
    grow(a[0] / b[0], |q, k| (a[k] - convolve(b, q, k, 1..k + 1)) / b[0])
}

/// `e' = a' e`.
fn exp(a: &Series) -> Series {
    let slope = weighted(a);
    grow(a[0].exp(), |e, k| convolve(&slope, e, k, 1..k + 1) / F::int(k as f64))
}

/// `a l' = a'`.
fn ln(a: &Series) -> Series {
    grow(ln_of(a[0]), |l, k| {
        let known = convolve(&weighted(l), a, k, 1..k) / F::int(k as f64);
        (a[k] - known) / a[0]
    })
}

/// Sine and cosine.
pub(super) fn sin_cos(a: &Series) -> (Series, Series) {
    let slope = weighted(a);
    let (s, c) = sin_cos_of(a[0]);
    let (mut sin, mut cos) = (constant(s), constant(c));
    for k in 1..TERMS {
        let by = F::int(k as f64);
        (sin[k], cos[k]) = (
            convolve(&slope, &cos, k, 1..k + 1) / by,
            minus(convolve(&slope, &sin, k, 1..k + 1) / by),
        );
    }
    (sin, cos)
}

/// The logarithm, enclosed by checking the exponential of candidates; the whole line if 0 or a
/// negative number is inside. Of small numbers, 2^512 is taken out.
pub(super) fn ln_of(x: F) -> F {
    if x.0 <= 0.0 || !x.1.is_finite() {
        return WHOLE;
    }
    let end = |x: f64| {
        let small = x < 1e-250;
        let y = if small { x * f64::from_bits((512 + 1023) << 52) } else { x };
        let width = 1e-15 * (1.0 + y.ln().abs());
        let (low, high) = (y.ln() - width, y.ln() + width);
        let holds = F::int(low).exp().1 <= y && F::int(high).exp().0 >= y;
        let found = if holds { F(low, high) } else { WHOLE };
        let ln2 = std::f64::consts::LN_2;
        let shift = F::int(512.0) * F(ln2.next_down(), ln2.next_up());
        if small { found - shift } else { found }
    };
    F(end(x.0).0, end(x.1).1)
}

/// Sine and cosine: Taylor sums of degree 22 at the middle, less a multiple k of pi / 2, with
/// `|r| < 0.8` and remainders below `0.8^23 / 23!`; then the mean value theorem.
pub(super) fn sin_cos_of(x: F) -> (F, F) {
    let (unit, middle) = (F(-1.0, 1.0), x.mid());
    let turns = (middle / std::f64::consts::FRAC_PI_2).round();
    if turns.is_nan() || turns.abs() > 1e6 {
        return (unit, unit);
    }
    let half = F::pi() / F::int(2.0);
    let r = F::int(middle) - F::int(turns) * half;
    let sum = |odd: i32| {
        let terms = (1..=11).rev().fold(ONE, |s, j| {
            let k = f64::from(2 * j + odd);
            ONE - s * r.sqr() / F::int(k * (k - 1.0))
        });
        terms + F(-1e-22, 1e-22)
    };
    let (sin, cos) = (r * sum(1), sum(0));
    let (sin, cos) = match (turns as i64).rem_euclid(4) {
        0 => (sin, cos),
        1 => (cos, minus(sin)),
        2 => (minus(sin), minus(cos)),
        _ => (minus(cos), sin),
    };
    let radius = (x.1 - middle).max(middle - x.0).next_up();
    let inside = |v: F| (v + F(-radius, radius)).meet(&unit).unwrap_or(unit);
    (inside(sin), inside(cos))
}

impl Expression<F> {
    /// The series of the formula at that of the variable.
    pub(super) fn at(&self, x: &Series) -> Series {
        match self {
            Self::Constant(v) => constant(*v),
            Self::Variable => *x,
            Self::Of(name, inner) => function(name, &inner.at(x)),
            Self::Both(sign, a, b) => {
                let (a, b) = (a.at(x), b.at(x));
                match sign {
                    '+' => std::array::from_fn(|k| a[k] + b[k]),
                    '-' => std::array::from_fn(|k| a[k] - b[k]),
                    '*' => product(&a, &b),
                    '/' => quotient(&a, &b),
                    _ => power(&a, &b),
                }
            }
        }
    }
}

fn function(name: &str, a: &Series) -> Series {
    let (back, two) = (a.map(minus), constant(F::int(2.0)));
    let over_two = |a: Series| a.map(|v| v / F::int(2.0));
    match name {
        "exp" => exp(a),
        "ln" => ln(a),
        "sqrt" => exp(&over_two(ln(a))),
        "sin" => sin_cos(a).0,
        "cos" => sin_cos(a).1,
        "tan" => {
            let (sin, cos) = sin_cos(a);
            quotient(&sin, &cos)
        }
        "sinh" | "cosh" => {
            let (up, down) = (exp(a), exp(&back));
            let sinh = name == "sinh";
            over_two(std::array::from_fn(|k| if sinh { up[k] - down[k] } else { up[k] + down[k] }))
        }
        "abs" | "relu" => match () {
            () if a[0].0 > 0.0 => *a,
            () if a[0].1 < 0.0 && name == "abs" => back,
            () if a[0].1 < 0.0 => constant(ZERO),
            () => [WHOLE; TERMS],
        },
        _ => {
            // tanh a = 1 - 2 / (e^{2a} + 1).
            let mut below = exp(&product(&two, a));
            below[0] = below[0] + ONE;
            let rest = quotient(&two, &below);
            std::array::from_fn(|k| if k == 0 { ONE - rest[0] } else { minus(rest[k]) })
        }
    }
}

/// A power: by products if the exponent is a whole number, else by the logarithm.
fn power(a: &Series, b: &Series) -> Series {
    let whole = b[1..].iter().all(is_zero) && b[0].0.to_bits() == b[0].1.to_bits();
    if !whole || b[0].0.fract().abs() > 0.0 || b[0].0.abs() > 1024.0 {
        return exp(&product(b, &ln(a)));
    }
    let mut left = b[0].0.abs() as u32;
    let (mut out, mut square) = (constant(ONE), *a);
    while left > 0 {
        if left & 1 == 1 {
            out = product(&out, &square);
        }
        square = product(&square, &square);
        left >>= 1;
    }
    if b[0].0 < 0.0 { quotient(&constant(ONE), &out) } else { out }
}

/// A formula with the values of its parameters.
pub(super) fn read(text: &str, parameters: &[(String, f64)]) -> Result<Expression<F>, String> {
    let parameter = |name: &str| parameters.iter().find(|p| p.0 == name).map(|p| F::int(p.1));
    let known = |word: &str| match word {
        "pi" => Some(F::pi()),
        _ => parameter(word).or_else(|| decimal(word)),
    };
    Expression::read(text, FUNCTIONS, &known)
}

/// Half a turn in units of `2^-48` turns, and its number of cells.
const HALF: i64 = 1 << 47;
const CELLS: usize = 4096;
const CELL: i64 = HALF / CELLS as i64;

/// Polynomials of u and w in every cell, the last coefficient valid in the whole cell.
pub(super) struct Table {
    pieces: Vec<[[F; TERMS - 1]; 2]>,
    /// The cells in which u or w may turn, with the range there.
    turns: [Vec<(usize, F)>; 2],
    /// `phi(1)`.
    pub(super) own: F,
    /// The bound of gaps: phi is positive at distances up to the rest of a turn.
    pub(super) longest: i64,
}

/// `sum_k c_k x^k`.
fn polynomial(c: &[F; TERMS - 1], x: F) -> F {
    c.iter().rev().fold(ZERO, |s, c| s * x + *c)
}

impl Table {
    /// **Errors** a formula that is not understood, or without bounds.
    pub(super) fn new(text: &str, parameters: &[(String, f64)]) -> Result<Self, String> {
        let names: Vec<&str> = parameters.iter().map(|p| p.0.as_str()).collect();
        confirm_names(text, FUNCTIONS, &names)?;
        let phi = read(text, parameters)?;
        let radians = |t: i64| F::pi() * F::int(t as f64) / F::int(HALF as f64);
        let pull = |d: F| {
            let (sin, cos) = sin_cos(&std::array::from_fn(|k| [d, ONE, ZERO][k.min(2)]));
            let value = phi.at(&cos);
            (value[0], product(&value, &sin))
        };
        let one = phi.at(&constant(ONE))[0];
        let mut new = Self { pieces: vec![], turns: [vec![], vec![]], own: one, longest: 0 };
        let (mut positive, half) = (0, radians(CELL / 2));
        for cell in 0..CELLS {
            let left = cell as i64 * CELL;
            let (near, wide) = (
                pull(radians(left + CELL / 2)).1,
                pull(F(radians(left).0.max(0.0), radians(left + CELL).1)),
            );
            confirm(wide.1.iter().all(|c| c.mag().is_finite()), "the formula has no bounds")?;
            let derived = |of: &Series, k: usize| of[k + 1] * F::int(k as f64 + 1.0);
            let last = TERMS - 2;
            let u = std::array::from_fn(|k| if k < last { near[k] } else { wide.1[k] });
            let w = std::array::from_fn(|k| derived(if k < last { &near } else { &wide.1 }, k));
            for (f, c) in [u, w].iter().enumerate() {
                if !wide.1[f + 1].has_sign() {
                    new.turns[f].push((cell, polynomial(c, F(-half.1, half.1))));
                }
            }
            new.pieces.push([u, w]);
            if wide.0.0 > 0.0 && positive == left {
                positive += CELL;
            }
        }
        new.longest = 2 * HALF - positive;
        Ok(new)
    }

    /// u and w at a distance.
    fn at(&self, t: i64) -> (usize, [F; 2]) {
        let cell = ((t / CELL) as usize).min(CELLS - 1);
        let from_middle = t - cell as i64 * CELL - CELL / 2;
        let x = F::pi() * F::int(from_middle as f64) / F::int(HALF as f64);
        let [u, w] = &self.pieces[cell];
        let u = if t == 0 || t == HALF { ZERO } else { polynomial(u, x) };
        (cell, [u, polynomial(w, x)])
    }

    /// Ranges of u and w over distances in [0, 1/2] turn.
    pub(super) fn ranges(&self, lo: i64, hi: i64) -> (F, F) {
        let ((first, near), (last, far)) = (self.at(lo), self.at(hi));
        let range = |f: usize| {
            if lo == hi {
                return near[f];
            }
            let inside = self.turns[f].iter().filter(|t| first <= t.0 && t.0 <= last);
            inside.fold(near[f].join(&far[f]), |s, t| s.join(&t.1))
        };
        (range(0), range(1))
    }
}
