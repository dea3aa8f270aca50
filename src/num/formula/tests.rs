use super::{Formula, Jet, Number};
use crate::Result;
use crate::dd::Dd;
use crate::interval::Interval;
use crate::stream::Stream;

fn at<N: Number>(text: &str, s: N) -> Jet<N> {
    let f = Formula::parse(text, &[("beta", 2.0), ("k", 0.5)]).expect("a formula");
    f.compile().expect("compiled").at(s).expect("a value")
}

#[test]
fn signs_and_powers_bind_as_in_print() {
    for (text, value) in [
        ("-s^2", -9.0),
        ("(-s)^2", 9.0),
        ("2-s^2", -7.0),
        ("-s^2+1", -8.0),
        ("-2*s", -6.0),
        ("1-2-3", -4.0),
        ("8/2/2", 2.0),
        ("8/2*2", 8.0),
        ("2*s^2", 18.0),
        ("2^(-s)", 0.125),
        ("1e-2*s", 0.03),
        ("+s", 3.0),
        ("relu(s-4)+abs(-s)", 3.0),
    ] {
        assert!((at::<f64>(text, 3.0).value - value).abs() < 1e-14, "{text}");
    }
}

/// Formulas that have values and derivatives for 0 < s < 1.
const SMOOTH: [&str; 12] = [
    "exp(beta*s) + 0.3*s^3",
    "1/(1 + exp(-k*s))",
    "ln(1.1 + s)",
    "sqrt(2 - s)",
    "sin(3*s)*cos(s)/(1.1 - s)",
    "tanh(k*s) - tan(s)",
    "sinh(s)*cosh(2*s)",
    "s^beta",
    "s^1.7",
    "(1 + s)^s",
    "s^(-3)",
    "pi*relu(s + 0.1) + abs(s - 2)",
];

#[test]
fn derivatives_agree_with_differences_in_double_double() {
    let h = 1e-9;
    for text in SMOOTH {
        for s in [0.1, 0.37, 0.9] {
            let found = at::<Dd>(text, Dd::from(s));
            let value = |t: f64| at::<Dd>(text, Dd::from(s) + Dd::from(t)).value;
            let (up, down) = (value(h), value(-h));
            let first = ((up - down) / Dd::from(2.0 * h)).to_f64();
            let second = ((up + down - found.value - found.value) / Dd::from(h * h)).to_f64();
            // Central differences: an error of h^2 times a higher derivative, at most 1e5 here, and
            // 1e-30/h^2 of rounding.
            for (found, wanted) in [(found.first, first), (found.second, second)] {
                let error = (found.to_f64() - wanted).abs();
                assert!(error < 1e-9 * (1.0 + wanted.abs()), "{text} at {s}: {error:e}");
            }
        }
    }
}

#[test]
fn doubles_are_within_rounding_and_intervals_contain_the_value() {
    let mut stream = Stream::new(1, &["formula"]);
    for text in SMOOTH {
        for _ in 0..200 {
            let s = stream.uniform_in(0.05, 0.95);
            let exact = at::<Dd>(text, Dd::from(s));
            let double = at::<f64>(text, s);
            let enclosed = at::<Interval>(text, Interval::exact(s));
            for (exact, double, enclosed) in [
                (exact.value, double.value, enclosed.value),
                (exact.first, double.first, enclosed.first),
                (exact.second, double.second, enclosed.second),
            ] {
                let size = 1.0 + exact.to_f64().abs();
                let error = (exact - Dd::from(double)).to_f64().abs();
                // Some twenty operations on numbers that are at most 30 times larger.
                assert!(error < 600.0 * f64::EPSILON * size, "{text} at {s}: {error:e}");
                let below = (exact - Dd::from(enclosed.lo())).to_f64();
                let above = (Dd::from(enclosed.hi()) - exact).to_f64();
                assert!(below >= -1e-27 * size && above >= -1e-27 * size, "{text} at {s}");
                assert!(enclosed.width() < 1e-10 * size, "{text} at {s}: {enclosed:?}");
            }
        }
    }
}

#[test]
fn logarithms_and_waves_of_double_doubles_have_28_digits() {
    let mut stream = Stream::new(2, &["formula"]);
    for _ in 0..500 {
        let x = Dd::from(stream.uniform_in(1e-3, 50.0));
        let back = (Number::ln(x).exp() - x) / x;
        assert!(back.to_f64().abs() < 1e-28, "{x:?}");
        let (sin, cos) = Number::sin_cos(x);
        assert!((sin * sin + cos * cos - Dd::from(1.0)).to_f64().abs() < 1e-29);
        assert!((sin.to_f64() - x.to_f64().sin()).abs() < 2e-16 * (1.0 + x.to_f64()));
    }
    let tenth = <Dd as Number>::decimal("1e-1").expect("a number");
    assert!((tenth * Dd::from(10.0) - Dd::from(1.0)).to_f64().abs() < 1e-31);
    let enclosed = <Interval as Number>::decimal("0.1").expect("a number");
    assert!(enclosed.lo() < 0.1 && 0.1 < enclosed.hi());
}

#[test]
fn derivatives_of_powers_exist_at_zero() {
    for (text, wanted) in [
        ("s^3", [0.0, 0.0, 0.0]),
        ("s^2", [0.0, 0.0, 2.0]),
        ("s", [0.0, 1.0, 0.0]),
        ("s^2.5", [0.0, 0.0, 0.0]),
    ] {
        let found = at::<f64>(text, 0.0);
        let found = [found.value, found.first, found.second];
        assert_eq!(found.map(f64::to_bits), wanted.map(f64::to_bits), "{text}");
    }
    assert!(at::<f64>("s^1.5", 0.0).second.is_infinite());
    assert!(at::<f64>("s^0.5", -0.5).value.is_nan());
    assert!((at::<f64>("s^3", -0.5).value + 0.125).abs() < 1e-16);
}

#[test]
fn malformed_formulas_are_errors_with_a_correction() {
    let message = |text: &str| -> Result<()> { Formula::parse(text, &[("beta", 1.0)]).map(|_| ()) };
    for (text, part) in [
        ("", "such as exp(4*s)"),
        ("   ", "such as exp(4*s)"),
        ("2^-s", "2^(-s)"),
        ("s^2^3", "(s^2)^3"),
        ("3*-s", "parentheses"),
        ("2 s", "2*s"),
        ("1 2", "an operator"),
        ("2(s)", "an operator"),
        ("s(2)", "formula"),
        ("s + ", "formula"),
        ("(s", "formula"),
        ("s = 2", "not `=`"),
        ("s\u{b2}", "letters, digits"),
        ("2\u{2212}s", "the sign -"),
        ("s**3", "s^3"),
        ("s*/3", "between `*` and `/`"),
        ("exp()", "between `(` and `)`"),
        ("*s", "before `*`"),
        ("exp(s", "as many `)`"),
        ("exp(s))", "as many `(`"),
        ("exp*s", "exp(s)"),
        ("s(s + 1)", "an operator after `s`"),
        ("beta(s)", "an operator after `beta`"),
        ("max(s, 0)", "relu"),
        ("pow(s, 3)", "s^3"),
        ("tanh(s, 1)", "one argument"),
        ("e^s", "exp(s)"),
        ("x^2", "s, the name of the variable"),
        ("k*s", "k*s; k=1"),
    ] {
        let error = message(text).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    let error = message("exp(bet*s)").expect_err("unknown");
    assert_eq!(error.nearest(), Some("beta"), "{error}");
    let error = Formula::parse("beta*s", &[]).expect_err("no value").to_string();
    assert!(error.contains("semicolon") && error.contains("beta=1"), "{error}");
    // Functions that do not exist: the right one or its formula, and all that exist.
    for (text, part) in [
        ("foo(s)", "`foo`"),
        ("1 + log (s)", "expected ln"),
        ("Exp(s)", "expected exp"),
        ("sinus(s)", "expected sin"),
        ("sigmoid(4*s)", "sigmoid:k=1"),
        ("softplus(s)", "ln(1 + exp(s))"),
    ] {
        let error = message(text).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
        assert!(super::FUNCTIONS.iter().all(|f| error.contains(f)), "{text}: {error}");
    }
}
