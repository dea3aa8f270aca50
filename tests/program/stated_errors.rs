//! Stated errors hold over extreme parameters, and are not much larger than needed: values with 30
//! digits, from closed forms in double-double arithmetic, against what the program prints.

use crate::program::{Place, number, numbers};
use metastable::num::dd::Dd;
use metastable::num::number::Number;
use metastable::num::stats::nan_max;
use serde_json::Value;

fn dd(x: f64) -> Dd {
    Dd::from(x)
}

fn exp(x: Dd) -> Dd {
    Number::exp(x)
}

/// `ln(1 + x)`, by the series of `2 atanh(x / (2 + x))` for small x.
fn ln_1p(x: Dd) -> Dd {
    if x.to_f64().abs() > 1e-3 {
        return Number::ln(dd(1.0) + x);
    }
    let z = x / (dd(2.0) + x);
    let square = z * z;
    let sum =
        (0..8).rev().fold(Dd::default(), |s, j| s * square + dd(1.0) / dd(f64::from(2 * j + 1)));
    dd(2.0) * z * sum
}

/// A value with its stated error, and the right value.
struct Case {
    what: String,
    found: f64,
    error: f64,
    right: Dd,
}

/// The number of a key, with the error that is stated beside it.
fn stated(what: &str, all: &Value, key: &str, right: Dd) -> Case {
    let (found, error) = (number(&all[key]), number(&all[format!("{key}_error")]));
    Case { what: format!("{key}: {what}"), found, error, right }
}

/// **Panics** a deviation beyond its stated error, or an error of more than 1e4 roundings where
/// `sharp` asks for less.
fn check(cases: &[Case], least: usize, sharp: impl Fn(&Case) -> f64) {
    assert!(cases.len() >= least, "only {} cases", cases.len());
    for case in cases {
        let deviation = (dd(case.found) - case.right).to_f64().abs();
        let Case { what, found, error, .. } = case;
        assert!(deviation <= *error, "{what}: {found} +- {error:e}, off by {deviation:e}");
        // Below this size digits are lost to underflow: it may be multiplied by e^300.
        let most = 1e4 * deviation.max(sharp(case)) + 1e-170;
        assert!(*error <= most, "{what}: {found} +- {error:e}, off by {deviation:e} only");
    }
}

/// `2 sinh(k) = e^k (1 - e^{-2k})`: the negentropy of a von Mises-Fisher density on S^2,
/// `k coth k - 1 - log(sinh k / k)`.
fn on_s2(k: f64) -> Dd {
    let k = dd(k);
    let small = exp(dd(-2.0) * k);
    let coth = (dd(1.0) + small) / (dd(1.0) - small);
    let log_sinh = k + ln_1p(-small) - Number::ln(dd(2.0));
    k * coth - dd(1.0) - (log_sinh - Number::ln(k))
}

/// That on the circle, `k I_1 / I_0 - log I_0`: the trapezoid rule is exact to all digits.
fn on_circle(k: f64) -> Dd {
    let points = 64 + 32 * k.sqrt() as usize;
    let (mut zero, mut one) = (Dd::default(), Dd::default());
    for j in 0..points {
        let cos = Number::sin_cos(Dd::pi() * dd(2.0 * j as f64 / points as f64)).1;
        let weight = exp(dd(k) * (cos - dd(1.0)));
        (zero, one) = (zero + weight, one + weight * cos);
    }
    dd(k) * one / zero - Number::ln(zero / dd(points as f64)) - dd(k)
}

#[test]
fn negentropies_have_their_errors() {
    let at = Place::with(&[]);
    let negentropy = |space: &str, density: &str, right: Dd| {
        let line = format!("measure --space {space} --density {density} --beta 4 --t-end 0");
        stated(&line, &at.json(&line), "negentropy", right)
    };
    // The density touches 0.
    let mut cases = vec![negentropy("circle", "cos:1=1", dd(1.0) - Number::ln(dd(2.0)))];
    for kappa in [0.01, 1.0, 20.0, 100.0, 800.0] {
        let density = format!("vmf:kappa={kappa}");
        // Narrower densities on S^2 take ten seconds.
        if kappa < 200.0 {
            cases.push(negentropy("sphere2", &density, on_s2(kappa)));
        }
        cases.push(negentropy("zonal --d 3", &density, on_s2(kappa)));
    }
    for kappa in [0.01, 1.0, 100.0, 400.0, 3000.0, 1e4, 1e5] {
        cases.push(negentropy("circle", &format!("vmf:kappa={kappa}"), on_circle(kappa)));
    }
    check(&cases, 17, |c| 1e-15 * (1.0 + c.found.abs()));
}

/// phi of a named interaction.
fn phi(name: &str, v: f64, s: Dd) -> Dd {
    let (one, k) = (dd(1.0), dd(v));
    match name {
        "power" => Number::power(s, v as i32),
        "sigmoid" => one / (one + exp(-(k * s))),
        "softplus" => {
            let tail = ln_1p(exp(-if s.to_f64() < 0.0 { -(k * s) } else { k * s }));
            (if s.to_f64() > 0.0 { s } else { Dd::default() }) + tail / k
        }
        "cosh" => dd(0.5) * (exp(k * s) + exp(-(k * s))),
        "inverse" => one / (one + k - s),
        "exp" => exp(k * s),
        "gauss" => exp(k * s - k),
        _ => Number::ln((dd(2.0) + k) / (one + k - s)),
    }
}

/// What is found for two tokens at the angles 0 and theta, which move towards each other at the
/// speed `phi(cos theta) sin(theta) / 2`, and this speed.
fn two_tokens(at: &Place, line: &str, theta: f64, phi: impl Fn(Dd) -> Dd) -> (Value, Dd) {
    at.write("two.csv", format!("0\n{theta}\n"));
    let (sin, cos) = Number::sin_cos(dd(theta));
    let call = format!("velocity --angles two.csv --dynamics usa {line}");
    (at.json(&call), dd(0.5) * phi(cos) * sin)
}

#[test]
fn velocities_of_named_interactions_have_their_errors() {
    let at = Place::with(&[]);
    let mut cases = Vec::new();
    for (name, key, values) in [
        ("power", "p", [1.0, 3.0, 48.0, 64.0]),
        ("sigmoid", "k", [1.0, 40.0, 100.0, 300.0]),
        ("softplus", "k", [0.001, 1.0, 100.0, 300.0]),
        ("cosh", "k", [0.1, 3.0, 50.0, 300.0]),
        ("inverse", "c", [1e-4, 0.1, 3.0, 1e6]),
        ("exp", "beta", [-300.0, -1.0, 4.0, 300.0]),
        ("gauss", "k", [-30.0, 1.0, 30.0, 300.0]),
        ("log", "c", [1e-4, 0.1, 3.0, 1e6]),
    ] {
        for v in values {
            for theta in [0.1, 1.0, 1.5, 2.0, 2.5, 3.0] {
                let line = format!("--beta 1 --interaction {name}:{key}={v}");
                let (found, right) = two_tokens(&at, &line, theta, |cos| phi(name, v, cos));
                let row = numbers(&found["velocity"][1]);
                let length = row[0].hypot(row[1]).copysign(right.to_f64());
                let error = number(&found["accuracy"]) * length.abs();
                let what = format!("{line} at {theta}");
                cases.push(Case { what, found: length, error, right });
            }
        }
    }
    // The accuracy of kernels is 1e-13, a thousand roundings.
    check(&cases, 192, |c| 2e-16 * c.found.abs());
}

/// Formulas that no named interaction holds: small weights, narrow features, long series.
#[test]
fn velocities_of_formulas_have_their_errors() {
    type Phi = fn(Dd) -> Dd;
    let formulas: [(&str, Phi); 8] = [
        ("exp(-300*(s-0.9)^2)", |s| {
            let gap = s - dd(9.0) / dd(10.0);
            exp(dd(-300.0) * gap * gap)
        }),
        ("exp(300*(s-1))*(1+s)", |s| exp(dd(300.0) * (s - dd(1.0))) * (dd(1.0) + s)),
        ("s^64", |s| Number::power(s, 64)),
        ("(1+s)^20", |s| Number::power(dd(1.0) + s, 20)),
        ("1/(1+exp(-80*(s-0.25)))", |s| dd(1.0) / (dd(1.0) + exp(dd(-80.0) * (s - dd(0.25))))),
        ("1+exp(-1e4*(s-0.3)^2)", |s| {
            let gap = s - dd(3.0) / dd(10.0);
            dd(1.0) + exp(dd(-1e4) * gap * gap)
        }),
        ("sqrt(1.00001-s)", |s| Number::sqrt(dd(100_001.0) / dd(100_000.0) - s)),
        ("1/cosh(50*s)^2", |s| {
            let cosh = dd(0.5) * (exp(dd(50.0) * s) + exp(dd(-50.0) * s));
            dd(1.0) / (cosh * cosh)
        }),
    ];
    let at = Place::with(&[]);
    let mut cases = Vec::new();
    for (text, phi) in formulas {
        for theta in [0.1, 0.7, 1.266_103_672_779_499, 1.9, 2.0, 2.5, 3.1] {
            // Arguments are separated by spaces; the formulas have none.
            let (all, right) = two_tokens(&at, &format!("--interaction {text}"), theta, phi);
            let (found, accuracy) = (number(&all["velocity"][0][1]), number(&all["accuracy"]));
            let what = format!("{text} at {theta}");
            assert!(accuracy < 1e-9, "{what}: {accuracy:e}");
            let error = accuracy * found.abs() + f64::MIN_POSITIVE;
            cases.push(Case { what, found, error, right });
        }
    }
    check(&cases, 56, |c| 2e-16 * c.found.abs().max(f64::MIN_POSITIVE));
}

/// The first mode on S^2 under `e^{K (s - 1)}` grows at the rate `1/K^2 - 1/K^3` up to `e^{-2K}`.
#[test]
fn growth_rates_have_their_errors() {
    let at = Place::with(&[]);
    let mut cases = Vec::new();
    for k in [50.0, 300.0, 3000.0, 1e4, 2e4] {
        for modes in [1, 3, 4, 9] {
            let line = format!(
                "predict growth-rates --d 3 --dynamics usa --interaction exp({k}*(s-1)) \
                 --modes {modes}"
            );
            let found = at.json(&line);
            let right = (dd(1.0) - dd(1.0) / dd(k)) / (dd(k) * dd(k));
            let [found, error] = ["rates", "rates_error"].map(|key| number(&found[key][1]));
            cases.push(Case { what: line, found, error, right });
        }
    }
    check(&cases, 20, |c| 1e-14 * c.found.abs());
}

/// High modes in high dimension, whose rates are many orders below the largest weight: `(k (k + d -
/// 2) / d) lambda_{k-1}` of `e^{b s}` in dimension d + 2.
#[test]
fn rates_of_high_modes_have_their_errors() {
    let at = Place::with(&[]);
    let mut worst = 0.0f64;
    for (d, modes) in [(3, 30), (16, 12), (60, 12), (60, 30), (350, 8)] {
        let line = |phi: &str| {
            format!("predict growth-rates --d {d} --dynamics usa {phi} --modes {modes}")
        };
        // The exponential has closed forms; the same function as a formula is summed.
        let known = at.json(&line("--beta 2"));
        let found = at.json(&line("--interaction exp(2*s)+0*s"));
        for k in 1..=modes {
            let (right, rate) = (number(&known["rates"][k]), number(&found["rates"][k]));
            let error = number(&found["rates_error"][k]);
            let deviation = (rate - right).abs();
            assert!(deviation <= error + 1e-12 * right, "d = {d}, mode {k}: {rate} +- {error:e}");
            worst = nan_max(worst, error / deviation.max(1e-14 * right).max(f64::MIN_POSITIVE));
        }
    }
    println!("errors up to {worst:.1e} times the deviation");
    assert!(worst < 1e5, "{worst:e}");
}

/// Rates and energies far below those of tokens at one point: errors are not larger than 1e4
/// roundings of what is summed. The energy is `sum_k I_k(beta) c_k^2 / beta`, the rate
/// `sum_k 2 k^2 I_k(beta) c_k^2 / beta` over moments `c_k = I_k(kappa) / I_0(kappa)`.
#[test]
fn small_rates_and_energies_have_their_errors() {
    let at = Place::with(&[]);
    let mut cases = Vec::new();
    for (kappa, beta) in [(0.1, 20.0), (0.5, 5.0), (1.0, 100.0), (3.0, 300.0), (20.0, 50.0)] {
        let line = format!(
            "measure --space circle --density vmf:kappa={kappa} --dynamics usa --beta {beta} --t-end 0"
        );
        let found = at.json(&line);
        // e^{-x} I_k(x) by the trapezoid rule.
        let points = 128 + 32 * f64::sqrt(beta) as usize;
        let scaled = |k: usize, x: f64| {
            let mut sum = Dd::default();
            for j in 0..points {
                let at = |m: usize| {
                    let angle = Dd::pi() * dd(2.0 * ((m * j) % points) as f64 / points as f64);
                    Number::sin_cos(angle).1
                };
                sum = sum + exp(dd(x) * (at(1) - dd(1.0))) * at(k);
            }
            sum / dd(points as f64)
        };
        let (mut energy, mut rate) = (Dd::default(), Dd::default());
        for k in 1..60 {
            let moment = scaled(k, kappa) / scaled(0, kappa);
            let term = scaled(k, beta) * moment * moment;
            energy = energy + term;
            rate = rate + dd(2.0 * (k * k) as f64) * term;
        }
        let scale = exp(dd(beta)) / dd(beta);
        for (key, right) in [("negentropy_rate", rate), ("energy_above_uniform", energy)] {
            cases.push(stated(&line, &found, key, right * scale));
        }
    }
    check(&cases, 10, |c| 1e-16 * c.found.abs());
}

/// Two tokens at one point and a third one, at inner products that double precision rounds: an
/// eigenvalue changes by beta times this rounding.
#[test]
fn eigenvalues_at_large_beta_have_their_errors() {
    let at = Place::with(&[]);
    at.write("x.csv", "1,0\n0.6,0.8\n0.6,0.8\n");
    let (x, y) = (dd(0.6), dd(0.8));
    let cos = x / Number::sqrt(x * x + y * y);
    let mut cases = Vec::new();
    for beta in [1.0, 30.0, 100.0, 600.0, 1500.0] {
        let line = format!("energy --tokens x.csv --beta {beta} --hessian --energy-scale shifted");
        let found = at.json(&line);
        let [values, errors] =
            ["hessian_eigenvalues", "hessian_eigenvalue_errors"].map(|key| numbers(&found[key]));
        let sin2 = dd(1.0) - cos * cos;
        let far = exp(dd(beta) * (cos - dd(1.0))) * (dd(beta) * sin2 - cos);
        // The factor of the scale divides out.
        let unit = dd(values[0]) / (far - dd(2.0));
        let right = unit * dd(3.0) * far;
        let place = if right.to_f64() > 0.0 { 2 } else { 1 };
        cases.push(Case { what: line, found: values[place], error: errors[place], right });
    }
    check(&cases, 5, |c| 1e-14 * c.found.abs());
    // In more dimensions frames are rounded: what is 0 for two tokens is found as 0.
    at.write("two.csv", "1,0,0\n0.8775825618903728,0.479425538604203,0\n");
    for beta in [1.0, 30.0, 300.0] {
        let found = at.json(&format!("energy --tokens two.csv --beta {beta} --hessian"));
        assert_eq!(found["null_eigenvalues"], 1, "{found}");
    }
}

#[test]
fn eigenvalues_beside_clusters_have_their_errors() {
    let at = Place::with(&[]);
    let mut cases = Vec::new();
    for together in [2, 5] {
        let angles = format!("{}{}\n", "0\n".repeat(together), std::f64::consts::PI);
        at.write("angles.csv", angles);
        for beta in [1e-8, 1.0, 30.0, 100.0, 300.0] {
            let line = format!("energy --angles angles.csv --beta {beta} --hessian");
            let found = at.json(&line);
            // Pairs at one point have the form -e^beta (a - b)^2, opposite ones e^{-beta} (a -
            // b)^2.
            let (m, n) = (together as f64, together as f64 + 1.0);
            let (near, far) = (-exp(dd(beta)) / dd(n * n), exp(dd(-beta)) / dd(n * n));
            let mut right = vec![dd(m) * near + far; together - 1];
            right.extend([Dd::default(), dd(n) * far]);
            let [values, errors] = ["hessian_eigenvalues", "hessian_eigenvalue_errors"]
                .map(|key| numbers(&found[key]));
            assert_eq!(found["null_eigenvalues"], 1, "{line}");
            for ((found, error), right) in values.into_iter().zip(errors).zip(right) {
                // The angle pi is rounded.
                let error = error + 1e-15 * right.to_f64().abs();
                cases.push(Case { what: line.clone(), found, error, right });
            }
        }
    }
    check(&cases, 45, |c| 1e-15 * c.found.abs() + f64::MIN_POSITIVE);
}
