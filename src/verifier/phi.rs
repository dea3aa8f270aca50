//! Formulas of s in fixed-point numbers: value and slope over an interval. A result that may not
//! exist is so wide that every test fails.

use crate::expression::{Expression, confirm_names};
use crate::number::{I, dyadic, int};
use num_bigint::BigInt;

/// A formula with the values of its parameters.
#[derive(Clone)]
pub(super) struct Phi {
    /// The text with the values of parameters.
    pub(super) text: String,
    read: Expression<I>,
}

/// The functions of a formula.
const FUNCTIONS: &str = "exp ln sqrt sin cos tan sinh cosh tanh abs relu";

/// Value and slope.
type Dual = (I, I);

/// What no test accepts.
fn unknown() -> I {
    int(1) / int(0)
}

/// pi = 16 arctan(1/5) - 4 arctan(1/239).
fn pi() -> I {
    let arctan = |q: i64| {
        let term = |k: i64| int(if k % 2 == 0 { 1 } else { -1 }).over(2 * k + 1);
        // 5^-121 is below 2^-280.
        let series = (0..60).rev().fold(int(0), |s, k| s.over(q * q) + term(k));
        series.over(q).around(&dyadic(1, -126))
    };
    int(16) * arctan(5) - int(4) * arctan(239)
}

/// The logarithm of a positive number: `y + ln(1 + t)` with `1 + t = x e^-y`, where y is near it.
fn ln_end(x: &BigInt) -> I {
    let x = I(x.clone(), x.clone());
    let near = x.show().ln();
    if !near.is_finite() {
        return unknown();
    }
    let y = dyadic((near * 2f64.powi(40)) as i64, -40);
    let t = &x * (int(0) - &y).exp() - int(1);
    if t.up() > dyadic(1, -30) {
        return unknown();
    }
    // The terms beyond t^5 are below 2^-150.
    let series = (1..=5).rev().fold(int(0), |s, k: i64| {
        let sign = if k % 2 == 0 { -1 } else { 1 };
        int(sign).over(k) + &t * s
    });
    (y + &t * series).around(&dyadic(1, -120))
}

fn ln(x: &I) -> I {
    if x.0 <= BigInt::ZERO { unknown() } else { I(ln_end(&x.0).0, ln_end(&x.1).1) }
}

/// Sine and cosine: Taylor sums at the midpoint divided by 256, eight doublings, and the radius.
fn sin_cos(x: &I) -> (I, I) {
    let (middle, radius) = (x.mid(), (x - x.mid()).up());
    if middle.up() > int(64) {
        return (unknown(), unknown());
    }
    let y = middle.over(256);
    let square = &y * &y;
    let series = |odd: i64| {
        (1..=16).rev().fold(int(1), |s, j| {
            let k = 2 * j + odd;
            int(1) - (s * &square).over(k * (k - 1))
        })
    };
    // The next terms are below 2^-140.
    let rest = dyadic(1, -124);
    let start = ((&y * series(1)).around(&rest), series(0).around(&rest));
    let (s, c) = (0..8).fold(start, |(s, c), _| (int(2) * &s * &c, int(1) - int(2) * &s * &s));
    (s.around(&radius), c.around(&radius))
}

fn call(name: &str, x: &Dual) -> Dual {
    let v = &x.0;
    let chain = |value: I, slope: I| (value, slope * &x.1);
    let half = |a: I| a.over(2);
    let (up, down) = (v.exp(), (int(0) - v).exp());
    let sign = if v.0 > BigInt::ZERO { Some(1) } else { (v.1 < BigInt::ZERO).then_some(-1) };
    match name {
        "exp" => chain(up.clone(), up),
        "ln" => chain(ln(v), int(1) / v),
        "sqrt" if v.0 > BigInt::ZERO => chain(v.sqrt(), int(1) / (int(2) * v.sqrt())),
        "sqrt" => (unknown(), unknown()),
        "sin" | "cos" | "tan" => {
            let (s, c) = sin_cos(v);
            match name {
                "sin" => chain(s, c),
                "cos" => chain(c, int(0) - s),
                _ => chain(&s / &c, int(1) / (&c * &c)),
            }
        }
        "sinh" => chain(half(&up - &down), half(up + down)),
        "cosh" => chain(half(&up + &down), half(up - down)),
        "tanh" => {
            let t = (&up - &down) / (up + down);
            let slope = int(1) - &t * &t;
            chain(t, slope)
        }
        "abs" => sign.map_or((unknown(), unknown()), |k| (int(k) * v, int(k) * &x.1)),
        "relu" => match sign {
            Some(1) => x.clone(),
            Some(_) => (int(0), int(0)),
            None => (unknown(), unknown()),
        },
        _ => (unknown(), unknown()),
    }
}

/// `a^b`: by multiplication for whole numbers b, else `exp(b ln a)`.
fn power(a: Dual, b: Dual) -> Dual {
    let whole =
        (b.1 == int(0) && b.0.0 == b.0.1).then(|| (-200..=200).find(|k| int(*k) == b.0)).flatten();
    let Some(k) = whole else {
        let l = ln(&a.0);
        let value = (&b.0 * &l).exp();
        let slope = &value * (&b.1 * l + &b.0 * &a.1 / &a.0);
        return (value, slope);
    };
    let of = |k: i64| (0..k).fold(int(1), |p, _| p * &a.0);
    match k {
        0 => (int(1), int(0)),
        1.. => (of(k), int(k) * of(k - 1) * &a.1),
        _ => (int(1) / of(-k), int(k) / of(1 - k) * &a.1),
    }
}

/// A decimal number with at most 30 digits.
fn decimal(text: &str) -> Option<I> {
    let (digits, tail) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let places = digits.split_once('.').map_or(0, |(_, f)| f.len()) as i64;
    let shift = tail.parse::<i64>().ok()?.checked_sub(places)?;
    let digits: BigInt = digits.replace('.', "").parse().ok()?;
    if digits.bits() >= 100 || shift.unsigned_abs() > 30 {
        return None;
    }
    let ten = (0..shift.abs()).fold(int(1), |p, _| p * int(10));
    let value = I(digits.clone() << 128usize, digits << 128usize);
    // A product with 1 would round.
    Some(match shift {
        0 => value,
        1.. => value * ten,
        _ => value / ten,
    })
}

impl Expression<I> {
    fn at(&self, s: &I) -> Dual {
        let (sign, left, right) = match self {
            Self::Constant(c) => return (c.clone(), int(0)),
            Self::Variable => return (s.clone(), int(1)),
            Self::Of(name, inner) => return call(name, &inner.at(s)),
            Self::Both(sign, left, right) => (sign, left.at(s), right.at(s)),
        };
        let ((a, da), (b, db)) = (&left, &right);
        match sign {
            '+' => (a + b, da + db),
            '-' => (a - b, da - db),
            '*' => (a * b, da * b + a * db),
            '/' => {
                let q = a / b;
                let slope = (da - &q * db) / b;
                (q, slope)
            }
            _ => power(left, right),
        }
    }
}

impl Phi {
    /// A formula with parameters: name, value, and the value in words.
    ///
    /// **Errors** a text that is none, names that mean something else.
    pub(super) fn new(text: &str, parameters: &[(&str, I, &str)]) -> Result<Self, String> {
        let parameter = |name: &str| parameters.iter().find(|p| p.0 == name).map(|p| p.1.clone());
        let known = |word: &str| match word {
            "pi" => Some(pi()),
            _ => parameter(word).or_else(|| decimal(word)),
        };
        let names: Vec<&str> = parameters.iter().map(|p| p.0).collect();
        confirm_names(text, FUNCTIONS, &names)?;
        let read = Expression::read(text, FUNCTIONS, &known)?;
        let values = parameters.iter().map(|(k, _, v)| format!(", {k} = {v}"));
        Ok(Self { text: values.fold(text.to_owned(), |all, v| all + &v), read })
    }

    /// phi and its slope over an interval.
    pub(super) fn at(&self, s: &I) -> Dual {
        self.read.at(s)
    }
}
