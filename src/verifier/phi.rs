//! Formulas of s: value and slope over an interval, read and computed in one pass.
//!
//! `sum = [-] term {(+|-) term}`, `term = factor {(*|/) factor}`, `factor = atom [^ atom]`,
//! `atom = number | name | function(sum) | (sum)`. A power of a power needs parentheses here. A
//! result that may not exist is so wide that every test fails.

use crate::number::{I, dyadic, int};
use num_bigint::BigInt;

/// A formula with the values of its parameters.
#[derive(Clone)]
pub(super) struct Phi {
    text: String,
    parameters: Vec<(String, I)>,
}

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

fn call(name: &str, x: Dual) -> Option<Dual> {
    let v = &x.0;
    let chain = |value: I, slope: I| (value, slope * &x.1);
    let half = |a: I| a.over(2);
    let (up, down) = (v.exp(), (int(0) - v).exp());
    let sign = if v.0 > BigInt::ZERO { Some(1) } else { (v.1 < BigInt::ZERO).then_some(-1) };
    Some(match name {
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
        _ => return None,
    })
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

/// The characters that are left, and the values of names.
struct Text<'a> {
    left: &'a str,
    s: &'a I,
    parameters: &'a [(String, I)],
}

impl Text<'_> {
    fn next(&mut self, of: &str) -> Option<char> {
        let c = self.left.chars().next().filter(|c| of.contains(*c))?;
        self.left = &self.left[1..];
        Some(c)
    }

    fn sum(&mut self) -> Option<Dual> {
        let negative = self.next("+-") == Some('-');
        let first = self.term()?;
        let minus = |(v, d): Dual| (int(0) - v, int(0) - d);
        let mut total = if negative { minus(first) } else { first };
        while let Some(sign) = self.next("+-") {
            let (v, d) = self.term()?;
            let (v, d) = if sign == '-' { minus((v, d)) } else { (v, d) };
            total = (total.0 + v, total.1 + d);
        }
        Some(total)
    }

    fn term(&mut self) -> Option<Dual> {
        let mut all = self.factor()?;
        while let Some(operation) = self.next("*/") {
            let (a, da) = all;
            let (b, db) = self.factor()?;
            all = if operation == '*' {
                (&a * &b, da * &b + a * db)
            } else {
                let q = a / &b;
                let slope = (da - &q * db) / b;
                (q, slope)
            };
        }
        Some(all)
    }

    fn factor(&mut self) -> Option<Dual> {
        let base = self.atom()?;
        if self.next("^").is_none() {
            return Some(base);
        }
        let exponent = self.atom()?;
        (!self.left.starts_with('^')).then(|| power(base, exponent))
    }

    fn atom(&mut self) -> Option<Dual> {
        if self.next("(").is_some() {
            let inner = self.sum()?;
            return self.next(")").map(|_| inner);
        }
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if self.left.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number().map(|v| (v, int(0)));
        }
        let end = self.left.find(|c| !word(c)).unwrap_or(self.left.len());
        let (name, left) = self.left.split_at(end);
        self.left = left;
        if self.next("(").is_some() {
            let inner = self.sum()?;
            return self.next(")").and_then(|_| call(name, inner));
        }
        match name {
            "s" => Some((self.s.clone(), int(1))),
            "pi" => Some((pi(), int(0))),
            _ => self.parameters.iter().find(|p| p.0 == name).map(|p| (p.1.clone(), int(0))),
        }
    }

    /// A decimal number with at most 30 digits.
    fn number(&mut self) -> Option<I> {
        let digit = |c: char| c.is_ascii_digit();
        let mut end = self.left.find(|c| !digit(c) && c != '.').unwrap_or(self.left.len());
        let (digits, rest) = self.left.split_at(end);
        let mut shift = -(digits.split_once('.').map_or(0, |(_, f)| f.len()) as i64);
        if let Some(tail) = rest.strip_prefix(['e', 'E']) {
            let sign = usize::from(tail.starts_with(['+', '-']));
            let size = tail[sign..].find(|c| !digit(c)).unwrap_or(tail.len() - sign);
            if size > 0 {
                shift += tail[..sign + size].parse::<i64>().ok()?;
                end += 1 + sign + size;
            }
        }
        self.left = &self.left[end..];
        let digits: BigInt = digits.replace('.', "").parse().ok()?;
        let short = digits.bits() < 100 && shift.abs() <= 30;
        let ten = (0..shift.abs()).fold(int(1), |p, _| p * int(10));
        let value = I(digits.clone() << 128usize, digits << 128usize);
        short.then(|| match shift {
            0 => value,
            1.. => value * ten,
            _ => value / ten,
        })
    }
}

impl Phi {
    /// A formula. `None` if the text is none, or has more than 1000 characters.
    pub(super) fn new(text: &str, parameters: Vec<(String, I)>) -> Option<Self> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let short = text.is_ascii() && text.len() <= 1000;
        let phi = Some(Self { text, parameters }).filter(|_| short)?;
        phi.read(&int(0)).map(|_| phi.clone())
    }

    /// The text with the values of parameters.
    pub(super) fn show(&self) -> String {
        let values = self.parameters.iter().map(|(k, v)| format!(", {k} = {}", v.show()));
        values.fold(self.text.clone(), |all, v| all + &v)
    }

    fn read(&self, s: &I) -> Option<Dual> {
        let mut all = Text { left: &self.text, s, parameters: &self.parameters };
        all.sum().filter(|_| all.left.is_empty())
    }

    /// phi and its slope over an interval.
    pub(super) fn at(&self, s: &I) -> Dual {
        self.read(s).unwrap_or_else(|| (unknown(), unknown()))
    }
}
