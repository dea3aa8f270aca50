//! Interval arithmetic, on which every proof depends, against exact rational arithmetic of another
//! library.

use metastable::num::interval::Interval;
use metastable::num::stream::Stream;
use num_bigint::BigInt;
use num_rational::BigRational;
use rayon::prelude::*;

/// A rational without reduction: greatest common divisors would take most of the time.
fn ratio(numerator: BigInt, denominator: BigInt) -> BigRational {
    BigRational::new_raw(numerator, denominator)
}

fn two_to(k: usize) -> BigInt {
    BigInt::from(1) << k
}

/// The exact value of a double.
fn exact(x: f64) -> BigRational {
    assert!(x.is_finite());
    let bits = x.to_bits();
    let (exponent, fraction) = (((bits >> 52) & 0x7ff) as i64, (bits & ((1 << 52) - 1)) as i64);
    let (whole, power) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let whole = BigInt::from(if x.is_sign_negative() { -whole } else { whole });
    if power >= 0 {
        ratio(whole << power as usize, BigInt::from(1))
    } else {
        ratio(whole, two_to(-power as usize))
    }
}

/// `a <= b`; denominators are positive.
fn at_most(a: &BigRational, b: &BigRational) -> bool {
    a.numer() * b.denom() <= b.numer() * a.denom()
}

fn times(a: &BigRational, b: &BigRational) -> BigRational {
    ratio(a.numer() * b.numer(), a.denom() * b.denom())
}

fn plus(a: &BigRational, b: &BigRational) -> BigRational {
    if a.denom() == b.denom() {
        return ratio(a.numer() + b.numer(), a.denom().clone());
    }
    ratio(a.numer() * b.denom() + b.numer() * a.denom(), a.denom() * b.denom())
}

fn minus(a: &BigRational) -> BigRational {
    ratio(-a.numer(), a.denom().clone())
}

fn over(a: &BigRational, b: &BigRational) -> BigRational {
    let sign = if *b.numer() < BigInt::ZERO { -1 } else { 1 };
    ratio(a.numer() * b.denom() * sign, a.denom() * b.numer() * sign)
}

/// `bound <= value`, also for an infinite bound.
fn below(bound: f64, value: &BigRational) -> bool {
    bound == f64::NEG_INFINITY || bound.is_finite() && at_most(&exact(bound), value)
}

fn above(bound: f64, value: &BigRational) -> bool {
    bound == f64::INFINITY || bound.is_finite() && at_most(value, &exact(bound))
}

fn contains(found: Interval, value: &BigRational) -> bool {
    below(found.lo(), value) && above(found.hi(), value)
}

/// The bounds are at most two doubles outside the exact range: useless enclosures would pass other
/// tests.
fn sharp(found: Interval, range: &[BigRational]) -> bool {
    let low = found.lo().next_up().next_up();
    let high = found.hi().next_down().next_down();
    range.iter().any(|v| above(low, v) || low > f64::MAX)
        && range.iter().any(|v| below(high, v) || high < -f64::MAX)
        || range.iter().all(|v| !above(f64::MAX, v) || !below(-f64::MAX, v))
}

/// A double of any kind: all exponents, subnormal, tiny, huge, moderate, integer, special values.
fn number(s: &mut Stream) -> f64 {
    let bits = s.next_u64();
    let sign = bits & (1 << 63);
    let fraction = match s.index(4) {
        0 => 0,
        1 => (1 << 52) - 1,
        _ => s.next_u64() >> 12,
    };
    let of = |exponent: usize| f64::from_bits(sign | (exponent as u64) << 52 | fraction);
    match s.index(10) {
        0 => of(s.index(2047)),
        1 => f64::from_bits(sign | (s.next_u64() >> 12) >> s.index(52)),
        2 => of(1 + s.index(60)),
        3 => of(2046 - s.index(60)),
        4 => s.index(20) as f64 - 10.0,
        5 => {
            let least = f64::from_bits(1);
            let ends = [f64::MIN_POSITIVE, f64::MAX, f64::MIN, f64::EPSILON, least, 1.0 / 3.0];
            let landmarks = [&[0.0, -0.0, 1.0, -1.0][..], &ends].concat();
            landmarks[s.index(landmarks.len())]
        }
        6 => of(512 + s.index(1022)),
        _ => of(1023 - 60 + s.index(120)),
    }
}

/// An interval: mostly a point, or adjacent doubles, or narrow, or two numbers in order.
fn interval(s: &mut Stream) -> Interval {
    let x = number(s);
    let y = match s.index(8) {
        0 => x.next_up(),
        1 => x.next_down(),
        2 => (0..s.index(40)).fold(x, |v, _| v.next_up()),
        3 => number(s),
        4 => -x,
        _ => x,
    };
    if y.is_finite() { Interval::new(x.min(y), x.max(y)) } else { Interval::exact(x) }
}

/// A second operand, often one with cancellation.
fn second_operand(s: &mut Stream, a: Interval) -> Interval {
    match s.index(6) {
        0 => Interval::exact(a.lo().next_up().clamp(f64::MIN, f64::MAX)),
        1 => -a,
        2 => Interval::exact(-a.hi().next_down().clamp(f64::MIN, f64::MAX)),
        _ => interval(s),
    }
}

fn ends(a: Interval) -> Vec<BigRational> {
    if a.lo() < a.hi() { vec![exact(a.lo()), exact(a.hi())] } else { vec![exact(a.lo())] }
}

fn corners(
    a: &[BigRational],
    b: &[BigRational],
    of: impl Fn(&BigRational, &BigRational) -> BigRational,
) -> Vec<BigRational> {
    a.iter().flat_map(|x| b.iter().map(|y| of(x, y)).collect::<Vec<_>>()).collect()
}

/// One operation: the result contains the exact range, and hardly more.
fn one_operation(s: &mut Stream) {
    let a = interval(s);
    let b = second_operand(s, a);
    let (p, q) = (ends(a), ends(b));
    let (name, found, range) = match s.index(6) {
        0 => ("sum", a + b, corners(&p, &q, plus)),
        1 => ("difference", a - b, corners(&p, &q, |x, y| plus(x, &minus(y)))),
        2 => ("product", a * b, corners(&p, &q, times)),
        3 if !b.contains(0.0) => ("quotient", a / b, corners(&p, &q, over)),
        3 => return assert!((a / b).contains(f64::MAX) && (a / b).contains(-f64::MAX)),
        4 => {
            let mut range: Vec<BigRational> = p.iter().map(|x| times(x, x)).collect();
            if a.contains(0.0) {
                range.push(exact(0.0));
            }
            ("square", a.sqr(), range)
        }
        _ => return root(a),
    };
    for v in &range {
        assert!(contains(found, v), "{name} {a:?} {b:?} {found:?}");
    }
    assert!(sharp(found, &range), "{name} {a:?} {b:?} {found:?}");
    let apart = |x: f64, y: f64| plus(&exact(y), &minus(&exact(x)));
    assert!(a.contains(a.mid()) && above(a.width(), &apart(a.lo(), a.hi())), "{a:?}");
    for (x, y) in [(a.lo(), a.mid()), (a.mid(), a.hi())] {
        assert!(above(a.radius(), &apart(x, y)), "{a:?}");
    }
}

/// Checks a root by the squares of its bounds.
fn root(a: Interval) {
    let found = a.sqrt();
    if a.hi() < 0.0 {
        return assert!(found.contains(f64::MAX) && found.contains(-f64::MAX));
    }
    let square = |x: f64| times(&exact(x), &exact(x));
    let (low, high) = (exact(a.lo().max(0.0)), exact(a.hi()));
    let outer = at_most(&square(found.lo()), &low) && at_most(&high, &square(found.hi()));
    assert!(found.lo() >= 0.0 && outer, "{a:?} {found:?}");
    let (up, down) = (found.lo().next_up().next_up(), found.hi().next_down().next_down().max(0.0));
    assert!(at_most(&low, &square(up)) && at_most(&square(down), &high), "{a:?} {found:?}");
}

#[test]
fn a_million_operations_enclose_the_exact_range() {
    [1, 2].into_par_iter().for_each(|seed| {
        let mut s = Stream::new(seed, &["exact rationals"]);
        (0..500_000).for_each(|_| one_operation(&mut s));
    });
}

/// Binary digits after the point of the sums below.
const DIGITS: usize = 256;

/// Bounds of a positive number in units of `2^-DIGITS`.
#[derive(Clone)]
struct Bounds(BigInt, BigInt);

impl Bounds {
    fn of(x: &BigRational) -> Self {
        let low = (x.numer() << DIGITS) / x.denom();
        Self(low.clone(), low + 1)
    }

    fn times(&self, other: &Self) -> Self {
        Self((&self.0 * &other.0) >> DIGITS, ((&self.1 * &other.1) >> DIGITS) + 1)
    }

    /// `self^k / k!` for k = 0, 1, ... as long as it is above the last digit (for numbers up to 4,
    /// beyond k = 8: the rest is less than two digits).
    fn terms(&self) -> Vec<Self> {
        let mut terms = vec![Self(two_to(DIGITS), two_to(DIGITS))];
        while terms.len() < 9 || terms.last().is_some_and(|t| t.1 > BigInt::from(1)) {
            let next = terms[terms.len() - 1].times(self);
            terms.push(Self(next.0 / terms.len(), next.1 / terms.len() + 1));
        }
        terms
    }
}

/// Bounds of `e^x`, `|x| <= 720`: the Taylor sum of `|x| / 1024`, squared ten times, inverted for
/// negative x.
fn exponential(x: f64) -> [BigRational; 2] {
    let y = Bounds::of(&ratio(exact(x.abs()).numer().clone(), exact(x.abs()).denom() << 10usize));
    let rest = Bounds(BigInt::ZERO, BigInt::from(2));
    let sum = y.terms().iter().fold(rest, |s, t| Bounds(s.0 + &t.0, s.1 + &t.1));
    let Bounds(low, high) = (0..10).fold(sum, |p, _| p.times(&p));
    let one = two_to(DIGITS);
    if x < 0.0 {
        [ratio(one.clone(), high), ratio(one, low)]
    } else {
        [ratio(low, one.clone()), ratio(high, one)]
    }
}

/// Bounds of sine and cosine of `|x| <= 4`.
fn circular(x: f64) -> [[BigRational; 2]; 2] {
    let terms = Bounds::of(&exact(x.abs())).terms();
    let sum = |k: usize| {
        let part = |start: usize| {
            let zero = Bounds(BigInt::ZERO, BigInt::ZERO);
            let part = terms.iter().skip(start).step_by(4);
            part.fold(zero, |s, t| Bounds(s.0 + &t.0, s.1 + &t.1))
        };
        let (up, down) = (part(k), part(k + 2));
        let one = two_to(DIGITS);
        let (low, high): (BigInt, BigInt) = (up.0 - down.1 - 2, up.1 - down.0 + 2);
        let low = ratio(low.max(-&one), one.clone());
        let high = ratio(high.min(one.clone()), one);
        if k == 1 && x < 0.0 { [minus(&high), minus(&low)] } else { [low, high] }
    };
    [sum(1), sum(0)]
}

/// A number of a range: uniform, near the ends, near 0 (down to subnormals), or near multiples of a
/// unit.
fn in_range(s: &mut Stream, end: f64, unit: f64) -> f64 {
    let sign = if s.index(2) == 0 { 1.0 } else { -1.0 };
    sign * match s.index(5) {
        0 => number(s).abs().min(end),
        // Where the exponential changes its method.
        4 => {
            let change = if s.index(2) == 0 { 709f64 } else { 700f64 };
            (change.next_up() + s.index(3) as f64 * s.uniform()).min(end)
        }
        1 => {
            let multiple = s.index((end / unit) as usize) as f64 * unit;
            (multiple + s.normal() * f64::EPSILON * end).abs()
        }
        2 => (0..s.index(3)).fold(end, |v, _| v.next_down()),
        _ => s.uniform_in(0.0, end),
    }
}

/// A point, adjacent doubles or a narrow interval that begins at `x`, inside `[-end, end]`; and a
/// point of it.
fn about(s: &mut Stream, x: f64, end: f64) -> (Interval, f64) {
    let y = match s.index(4) {
        0 => x,
        1 => x.next_up(),
        2 => (0..s.index(9)).fold(x, |v, _| v.next_down()),
        _ => x + s.uniform() * 10f64.powi(-(s.index(16) as i32)),
    };
    let (lo, hi) = (x.min(y).max(-end), x.max(y).min(end));
    (Interval::new(lo, hi), s.uniform_in(lo, hi).clamp(lo, hi))
}

#[test]
fn exponentials_enclose_rational_bounds_of_the_exact_value() {
    let mut s = Stream::new(1, &["exponential"]);
    for _ in 0..15_000 {
        let x = in_range(&mut s, 720.0, std::f64::consts::LN_2);
        let (a, inner) = about(&mut s, x, 720.0);
        let found = a.exp();
        for x in [a.lo(), a.hi(), inner] {
            let [low, high] = exponential(x);
            assert!(below(found.lo(), &low) && above(found.hi(), &high), "{x} of {a:?} {found:?}");
        }
        if a.lo().to_bits() == a.hi().to_bits() && (-700.0..=709.0).contains(&x) {
            assert!(found.width() <= 64.0 * f64::EPSILON * found.mag(), "{x} {found:?}");
        }
    }
}

#[test]
fn sines_and_cosines_enclose_rational_bounds_of_the_exact_values() {
    let unit = Interval::new(-1.0, 1.0);
    for x in [4.000_001, -5.0, 1e300, f64::INFINITY] {
        assert_eq!(Interval::exact(x).sin_cos(), (unit, unit));
    }
    let mut s = Stream::new(1, &["circular"]);
    for _ in 0..15_000 {
        let x = in_range(&mut s, 4.0, std::f64::consts::FRAC_PI_4);
        let (a, inner) = about(&mut s, x, 4.0);
        let (sin, cos) = a.sin_cos();
        for x in [a.lo(), a.hi(), inner] {
            let [exact_sin, exact_cos] = circular(x);
            for (found, [low, high]) in [(sin, exact_sin), (cos, exact_cos)] {
                let holds = below(found.lo(), &low) && above(found.hi(), &high);
                assert!(holds, "{x} of {a:?} {found:?}");
            }
        }
        // The width of the interval, and 24 terms below 4^4 / 4! with a few roundings each.
        let width = sin.width().max(cos.width());
        assert!(width <= 1.1 * a.width() + 1024.0 * f64::EPSILON, "{a:?} {sin:?} {cos:?}");
    }
}

#[test]
fn the_rational_bounds_have_the_known_digits() {
    // 1, e, 1/e, sin 1, cos 2 to 30 digits.
    let digits = |text: &str| ratio(text.parse().expect("digits"), BigInt::from(10).pow(30));
    let near = |bounds: [BigRational; 2], text: &str| {
        let (wanted, unit) = (digits(text), digits("1"));
        at_most(&bounds[0], &plus(&wanted, &unit))
            && at_most(&plus(&wanted, &minus(&unit)), &bounds[1])
    };
    let ([sin, _], [_, cos]) = (circular(1.0), circular(2.0));
    for (bounds, text) in [
        (exponential(0.0), "1000000000000000000000000000000"),
        (exponential(1.0), "2718281828459045235360287471352"),
        (exponential(-1.0), "367879441171442321595523770161"),
        (sin, "841470984807896506652502321630"),
        (cos, "-416146836547142386997568229500"),
    ] {
        assert!(near(bounds, text), "{text}");
    }
}
