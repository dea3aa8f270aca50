//! For all arguments, a prediction is an error or has numbers within their bounds, so no inner
//! product of 9.7 and no NaN. Text has the digits that errors resolve.

use crate::program::printed;
use metastable::cli::call::{Refusal, answer};
use metastable::cli::digits::{
    error_bound, point_within, resolved, rounded_to, with_error, within,
};
use metastable::num::stream::Stream;
use metastable::prediction::find;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

/// How an argument is drawn.
#[derive(Clone, Copy)]
enum Draw {
    Count(i64, i64),
    Flat(f64, f64),
    Log(f64, f64),
    /// Three ascending numbers.
    Ascending(f64, f64),
    Word(&'static [&'static str]),
}

/// With probability 1/8, one of these values replaces an argument.
const EDGES: [&str; 10] = ["-1", "0", "1", "1e-300", "1e300", "nan", "-0.5", "2", "inf", "1e-17"];

impl Draw {
    fn text(self, stream: &mut Stream) -> String {
        if stream.index(8) == 0 && !matches!(self, Self::Word(_)) {
            return EDGES[stream.index(EDGES.len())].to_owned();
        }
        match self {
            Self::Count(low, high) => {
                (low + stream.index((high - low + 1) as usize) as i64).to_string()
            }
            Self::Flat(low, high) => stream.uniform_in(low, high).to_string(),
            Self::Log(low, high) => stream.uniform_in(low.ln(), high.ln()).exp().to_string(),
            Self::Ascending(low, high) => {
                let mut all = [0.0; 3].map(|_| stream.uniform_in(low, high));
                all.sort_by(f64::total_cmp);
                all.map(|v| v.to_string()).join(",")
            }
            Self::Word(words) => words[stream.index(words.len())].to_owned(),
        }
    }
}

use Draw::{Ascending, Count, Flat, Log, Word};

const SA: Draw = Word(&["sa", "usa"]);
const BETA: Draw = Log(1e-3, 1e4);

/// Predictions with the ranges from which their arguments are drawn.
const DRAWS: [(&str, &[(&str, Draw)]); 27] = [
    (
        "gamma",
        &[
            ("n", Count(2, 100)),
            ("beta", BETA),
            ("dynamics", SA),
            ("start", Flat(-0.1, 1.0)),
            ("times", Ascending(0.0, 50.0)),
        ],
    ),
    (
        "level-time",
        &[
            ("n", Count(2, 100)),
            ("beta", BETA),
            ("dynamics", SA),
            ("start", Flat(-0.1, 0.5)),
            ("level", Flat(0.0, 1.0)),
        ],
    ),
    (
        "growth-rates",
        &[
            ("d", Count(2, 200)),
            ("beta", BETA),
            ("dynamics", Word(&["sa", "usa", "sinkhorn"])),
            ("modes", Count(0, 30)),
        ],
    ),
    (
        "two-token-time",
        &[("beta", BETA), ("dynamics", SA), ("from", Flat(1.0, 3.3)), ("to", Log(1e-9, 1.0))],
    ),
    (
        "two-cluster-time",
        &[
            ("beta", BETA),
            ("dynamics", SA),
            ("from", Flat(1.0, 3.3)),
            ("to", Log(1e-9, 1.0)),
            ("mass", Flat(-0.1, 1.1)),
        ],
    ),
    ("threshold", &[("n", Count(1, 1000)), ("d", Count(2, 100))]),
    ("wendel", &[("n", Count(1, 3000)), ("d", Count(1, 1000))]),
    (
        "consensus",
        &[
            ("n", Count(1, 20)),
            ("d", Count(2, 8)),
            ("beta", Flat(-5.0, 800.0)),
            (
                "dynamics",
                Word(&["sa", "usa", "causal-sa", "causal-usa", "repulsive-sa", "repulsive-usa"]),
            ),
        ],
    ),
    ("polygon", &[("m", Count(2, 40)), ("beta", BETA), ("dynamics", SA)]),
    ("third-derivative", &[("beta", BETA)]),
    (
        "kac-rice",
        &[("n", Count(2, 100_000)), ("beta", Log(1e-3, 1e6)), ("interval", Log(0.1, 100.0))],
    ),
    ("kac-rice --circle", &[("beta", Log(1e-3, 1e6))]),
    ("kac-rice --sphere", &[("beta", Log(1e-3, 1e6))]),
    ("noise", &[("d", Count(2, 200)), ("beta", Log(1e-3, 1e3)), ("modes", Count(1, 200))]),
    (
        "parking",
        &[
            ("n", Count(1, 1_000_000)),
            ("d", Count(2, 200)),
            ("beta", Log(1e-1, 1e9)),
            ("c", Flat(0.0, 6.0)),
        ],
    ),
    ("energy-range", &[("d", Count(2, 1000)), ("beta", BETA)]),
    (
        "normalisation",
        &[
            (
                "scheme",
                Word(&["post", "pre", "peri", "mix:tau=1", "ngpt:alpha=1", "cod", "ln-scaling"]),
            ),
            ("n", Count(2, 64)),
            ("beta", Flat(0.0, 8.0)),
            ("r0", Log(0.1, 10.0)),
            ("gamma0", Flat(-0.05, 1.0)),
            ("times", Ascending(0.0, 10.0)),
        ],
    ),
    ("boolean-limit", &[("eps", Ascending(1e-3, 3.0)), ("a", Log(0.1, 10.0))]),
    ("antipodal-threshold", &[("d", Count(2, 1000)), ("beta", Flat(-5.0, 5.0))]),
    (
        "rank-collapse",
        &[
            ("log-size", Flat(-10.0, 5.0)),
            ("log-factor", Flat(-3.0, 3.0)),
            ("layers", Count(1, 500)),
        ],
    ),
    (
        "gaussian-closure",
        &[
            ("variance", Ascending(0.0, 3.0)),
            ("b", Flat(-2.0, 2.0)),
            ("v", Flat(-2.0, 2.0)),
            ("times", Ascending(0.0, 900.0)),
        ],
    ),
    ("long-context", &[("d", Count(2, 64)), ("c", Log(1e-3, 1e3)), ("n", Log(1.0, 1e6))]),
    (
        "bipartite",
        &[("lambda", Flat(-3.0, 3.0)), ("mu", Ascending(-3.0, 3.0)), ("beta", Flat(-5.0, 50.0))],
    ),
    ("random-weights", &[("u0", Flat(-1.2, 1.2)), ("times", Ascending(0.0, 800.0))]),
    ("noise-step", &[("d", Count(2, 1500)), ("tau", Flat(0.0, 7e-4))]),
    (
        "noisy-merge-time",
        &[
            ("n", Count(2, 100)),
            ("d", Count(2, 20)),
            ("beta", Log(1e-3, 30.0)),
            ("kappa", Log(1.0, 1e9)),
            ("dynamics", SA),
            ("from", Flat(1.0, 3.3)),
            ("to", Log(1e-3, 1.0)),
            ("share", Flat(-0.1, 1.1)),
        ],
    ),
    ("phase-slip", &[("n", Count(2, 9)), ("beta", Log(1e-3, 300.0)), ("kappa", Log(1e-3, 1e9))]),
];

/// Bounds that are tighter than those of the registry.
const TIGHTER: [(&str, &str, f64, f64); 9] = [
    ("gamma", "gamma_error", 0.0, 2.1),
    ("growth-rates", "rates", 0.0, f64::MAX),
    ("threshold", "small_beta", 0.0, 1.0),
    ("kac-rice --circle", "expected_modes", 1.0, f64::MAX),
    ("kac-rice --sphere", "expected_modes", 1.0, f64::MAX),
    ("parking", "strong_centres_limit", 1.0, f64::MAX),
    ("parking", "parking_constant", 0.74, 0.75),
    ("antipodal-threshold", "consensus_exponent", -1.0, 0.0),
    ("long-context", "participation", 0.99e-6, 1.0),
];

/// Arguments that together ask for every result of every prediction.
const COMPLETE: [&str; 26] = [
    "gamma --n=5 --beta=2 --dynamics=usa --times=0.5,1",
    "level-time --n=5 --beta=2 --dynamics=usa --level=0.9",
    "growth-rates --d=3 --beta=4 --dynamics=usa --modes=6",
    "growth-rates --d=3 --dynamics=usa --modes=4 --interaction=power:p=3",
    "two-token-time --beta=4 --dynamics=usa --from=2 --to=0.5",
    "two-cluster-time --beta=4 --dynamics=usa --from=2 --to=0.5 --mass=0.5",
    "threshold --n=5 --d=2",
    "wendel --n=4 --d=2",
    "consensus --n=3 --d=2 --beta=1 --dynamics=usa",
    "polygon --m=5 --beta=2 --dynamics=usa",
    "third-derivative --beta=2",
    "kac-rice --n=1000 --beta=10",
    "noise --d=3 --beta=2",
    "parking --n=100 --d=2 --beta=100",
    "energy-range --d=3 --beta=2",
    "normalisation --scheme=pre --n=8 --beta=1 --times=1,2",
    "boolean-limit --eps=0.5,0.7",
    "antipodal-threshold --d=5 --beta=1",
    "rank-collapse --log-size=-1",
    "gaussian-closure --variance=1 --b=1 --v=1 --times=0.1",
    "long-context --d=3 --c=1 --n=1000",
    "bipartite --lambda=1 --mu=0.5 --beta=2",
    "random-weights --u0=0.2 --times=0.7,1.9",
    "noise-step --d=3 --tau=0.01",
    "noisy-merge-time --n=8 --d=3 --beta=2 --kappa=100 --from=2.5 --to=0.5",
    "phase-slip --n=2 --beta=1 --kappa=10",
];

fn predict(line: &str) -> Result<Value, Refusal> {
    let words: Vec<String> =
        format!("predict {line}").split_whitespace().map(str::to_owned).collect();
    let found = answer(&words, &std::sync::Arc::new(AtomicBool::new(false)))?;
    Ok(serde_json::from_str(&found.result).expect("JSON"))
}

/// The numbers of a value, also inside lists.
fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map_or_else(
        || value.as_f64().into_iter().collect(),
        |all| all.iter().flat_map(numbers).collect(),
    )
}

#[test]
fn every_prediction_keeps_the_bounds_of_its_numbers_or_is_an_error() {
    let mut wrong = Vec::new();
    for (name, arguments) in &DRAWS {
        let (mut stream, mut answered) = (Stream::new(1, &["predictions", name]), 0);
        // Fewer draws, since the value is a double integral.
        let draws = if *name == "long-context" { 16 } else { 60 };
        for _ in 0..draws {
            let arguments: Vec<String> = arguments
                .iter()
                .map(|(flag, draw)| format!("--{flag}={}", draw.text(&mut stream)))
                .collect();
            let line = format!("{name} {}", arguments.join(" "));
            let found = match predict(&line) {
                Ok(found) => found,
                Err(e) => {
                    assert!(
                        !e.message.is_empty() && [1, 4].contains(&e.code),
                        "{line}: {} {}",
                        e.code,
                        e.message
                    );
                    // The last check found a number out of bounds: a formula is wrong.
                    assert!(!e.message.contains("nothing is printed"), "{line}: {}", e.message);
                    continue;
                }
            };
            answered += 1;
            for (_, key, low, high) in TIGHTER.iter().filter(|t| t.0 == *name) {
                let bad: Vec<f64> = numbers(&found[key])
                    .into_iter()
                    .filter(|v| !(*low..=*high).contains(v))
                    .collect();
                wrong.extend(
                    (!bad.is_empty())
                        .then(|| format!("{line}: {key} = {bad:?}, outside [{low}, {high}]")),
                );
            }
        }
        assert!(5 * answered > draws, "{name}: {answered} of {draws} were answered");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// JSON has no NaN: a quantity that is NaN becomes null.
#[test]
fn every_quantity_of_every_prediction_has_a_value() {
    fn is_complete(value: &Value) -> bool {
        match value {
            Value::Null => false,
            Value::Array(all) => !all.is_empty() && all.iter().all(is_complete),
            _ => true,
        }
    }
    let mut complete = BTreeSet::new();
    for line in COMPLETE {
        let found = predict(line).unwrap_or_else(|e| panic!("{line}: {}", e.message));
        let name = line.split(' ').next().expect("a name");
        let results = find(name).expect("a prediction").results.iter();
        complete.extend(results.filter(|r| is_complete(&found[r.key])).map(|r| (name, r.key)));
    }
    for prediction in metastable::prediction::all() {
        for result in prediction.results {
            let asked = (prediction.name, result.key);
            assert!(complete.contains(&asked), "{asked:?} has no value");
        }
    }
}

#[test]
fn a_number_out_of_its_bounds_is_an_error() {
    let check = |name: &str, key: &str, value: Value| {
        let results = find(name).expect("a prediction").results;
        results.iter().find(|r| r.key == key).expect("a result").check(&value).is_ok()
    };
    for (name, key, value, good) in [
        ("gamma", "gamma", json!([-1.0, 1.0]), true),
        ("gamma", "normalisation", Value::Null, true),
        ("gaussian-closure", "variance", json!([[null, 1.0]]), true),
        ("bipartite", "stable", json!(true), true),
        ("gamma", "gamma", json!([0.0, 1.0000000001]), false),
        ("random-weights", "mean_inner", json!([-0.505, 9.7477]), false),
        ("wendel", "probability", json!(-1e-300), false),
        ("gaussian-closure", "variance", json!([[-1.0]]), false),
        ("growth-rates", "rates", json!([f64::NAN]), false),
        ("kac-rice", "expected_modes", json!(f64::INFINITY), false),
        ("normalisation", "radius", json!([1.0, -1.0]), false),
    ] {
        assert_eq!(check(name, key, value.clone()), good, "{name}: {key} = {value}");
    }
}

#[test]
fn digits_are_printed_up_to_the_error() {
    assert_eq!(with_error(20.595_612_3, 3e-5), "20.5956 +- 3e-5");
    assert_eq!(with_error(20.595_612_3, 3.0), "21 +- 3");
    assert_eq!(with_error(1.234_567_8e-9, 2e-14), "1.2346e-9 +- 2e-14");
    assert_eq!(with_error(1.234_567_8e20, 2e17), "1.23e20 +- 2e17");
    assert_eq!(with_error(0.0, 1e-16), "0e0 +- 1e-16");
    assert_eq!(with_error(0.125, 0.0), "0.125");
    assert_eq!(with_error(f64::NAN, 1.0), "NaN (error unknown)");
    assert_eq!(rounded_to(0.499_999_999_999_999_7, 4e-16), "0.5");
    assert_eq!(rounded_to(0.123_456, 1e-3), "0.123");
    assert_eq!(rounded_to(-7e-18, 3e-16), "0");
    assert_eq!(rounded_to(0.125, 0.0), "0.125");
    assert_eq!(error_bound(1.1e-15), "2e-15");
    assert_eq!(error_bound(2e-15), "2e-15");
    assert_eq!(error_bound(9.5e-3), "0.01");
    // The bound is that of the printed number.
    assert_eq!(within(0.123_456, 1e-3), "0.123 +- 0.002");
    assert_eq!(point_within(&[0.0, 1.0, 0.0], 3e-16), "[0, 1, 0] +- 3e-16");
}

#[test]
fn times_are_printed_with_their_known_digits() {
    let printed = |t: f64, within: f64| resolved(t, within).0;
    assert_eq!(printed(0.365_879_634, 4e-15), "0.365880");
    assert_eq!(printed(17_087.892_5, 6.7e-5), "17087.89250");
    assert_eq!(printed(17_087.892_5, 3.0), "17088");
    assert_eq!(printed(1.876_543_21e14, 2.1e12), "1.88e14");
    assert_eq!(printed(0.0, 0.0), "0.000000");
    assert!((resolved(1.876_543_21e14, 2.1e12).1 - 3.456_79e11).abs() < 1e6);
}

#[test]
fn text_has_the_digits_that_the_error_resolves() {
    let folder = tempfile::tempdir().expect("a folder");
    for (line, expected) in [
        ("polygon --m 3 --dynamics usa --interaction power:p=3", "rates: 0, 0.5, 0.5\n"),
        ("polygon --m 6 --beta 0", "rates: 0, 0.5, 0, 0, 0, 0.5\n"),
        // 6/35 and 8/63, with errors of some 1e-15.
        (
            "growth-rates --d 3 --modes 4 --dynamics usa --interaction power:p=3",
            "rates: 0, 0, 0.17142857142857, 0, 0.126984126984",
        ),
        // 1 - 1/1000.
        ("long-context --d 3 --c 1 --n 1000", "subcritical length: 0.999\n"),
        ("rank-collapse --log-size -1", "critical log size: 0\n"),
    ] {
        let found = printed(folder.path(), &format!("predict {line}"));
        assert!(found.contains(expected), "{line}: {found}");
    }
}

#[test]
fn arguments_outside_the_domain_of_a_formula_are_refused() {
    let refused = |line: &str| {
        predict(line).err().map_or_else(|| panic!("{line} was answered"), |e| e.message)
    };
    // The squared length of a mean is not negative; a pair may start at any inner product.
    assert_eq!(
        refused("random-weights --u0=-0.2 --times 0.7,1.9"),
        "u0: found -0.2, expected a number in [0, 1]"
    );
    let pair = predict("random-weights --u0=-0.2").ok().expect("a probability");
    assert!(
        (pair["probability_together"].as_f64().expect("a number") - 0.4359057831510251).abs()
            < 1e-15
            && pair.get("mean_inner").is_none()
    );
    assert_eq!(
        predict("random-weights --u0=0 --times 0,1000").ok().expect("zeros")["mean_inner"],
        serde_json::json!([0.0, 0.0])
    );
    // With few samples the Gaussian field does not describe the kernel density estimate.
    assert!(
        refused("kac-rice --n 100 --beta 10 --interval 1000").contains("more modes than samples")
    );
    assert!(refused("kac-rice --n 2 --beta 1e12 --interval 5").contains("more modes than samples"));
    // Growth beyond double precision is an error, not a blow-up.
    assert!(
        refused("gaussian-closure --variance 1 --v 10 --b -1 --times 1000")
            .contains("beyond double precision")
    );
    assert!(refused("noise --d 3 --beta 1e-3 --modes 300").contains("beyond double precision"));
    assert!(refused("consensus --n 3 --d 2 --beta nan").contains("beta"));
    // Mode 2 is not the fastest for any beta below 1e6; the rates exist.
    assert!(predict("growth-rates --d 1000000 --beta 1 --modes 4").ok().expect("rates")["switch_points"].is_null());
}

#[test]
fn participation_grows_with_the_temperature_up_to_one_key() {
    // Expected values: an independent program in the same variables. At large times of the outer
    // integral the integrand is a peak of unit width; quadrature that misses it yields 0.973, 0.909
    // and 0 on the circle.
    for (d, c, expected) in [
        (2, 10.0, 0.977_760_661_0),
        (2, 100.0, 0.996_655_703_5),
        (2, 1000.0, 0.999_550_387_9),
        (3, 1000.0, 0.999_500_173_2),
        (9, 1.0, 0.001_185_790_492),
    ] {
        let found = metastable::theory::long_context::participation(d, c).expect("valid");
        assert!((found / expected - 1.0).abs() < 1e-8, "d = {d}, c = {c}: {found}");
    }
    // Many keys of equal weight: 2^{-alpha} / (K Gamma(alpha + 1)) in the limit of small c, from
    // the second moment of a Poisson process.
    let small = metastable::theory::long_context::participation(64, 1e-3).expect("valid");
    assert!((small / 1.478_064_698e-147 - 1.0).abs() < 1e-7, "{small:e}");
    let mut last = 0.0;
    for k in 0..=24 {
        let now = metastable::theory::long_context::participation(
            2,
            10f64.powf(f64::from(k) / 4.0 - 3.0),
        )
        .expect("valid");
        assert!(now > last && now <= 1.0, "{k}: {now} after {last}");
        last = now;
    }
}

#[test]
fn spectra_at_consensus_are_those_of_the_velocity() {
    use metastable::attention::{Spec, dynamics};
    use metastable::sphere::Tokens;
    // Tokens at small angles: theta' = J theta; the prediction is the eigenvalues of J.
    for entry in dynamics::ALL {
        for beta in [0.0, 1.5] {
            let (n, delta) = (4, 1e-6);
            let f = entry.build(&Spec::new(beta, n)).expect("valid");
            let mut jacobian = vec![0.0; n * n];
            for k in 0..n {
                let angles: Vec<f64> = (0..n).map(|i| if i == k { delta } else { 0.0 }).collect();
                let x = Tokens::from_angles(&angles).expect("finite");
                for (i, (v, x)) in f.velocity(&x).chunks_exact(2).zip(x.rows()).enumerate() {
                    jacobian[i * n + k] = (x[0] * v[1] - x[1] * v[0]) / delta;
                }
            }
            let found = metastable::num::dense::eigenvalues(&jacobian, n).expect("a spectrum");
            let answer = predict(&format!(
                "consensus --n {n} --d 2 --beta {beta} --dynamics {}",
                entry.name
            ))
            .ok()
            .expect("a spectrum");
            let stated: Vec<f64> = answer["eigenvalues"]
                .as_array()
                .expect("a list")
                .iter()
                .filter_map(Value::as_f64)
                .collect();
            assert_eq!(stated.len(), n, "{}", entry.name);
            // The error of multiple eigenvalues of a non-normal matrix is a root of the rounding
            // error.
            assert!(
                found.iter().zip(&stated).all(|(f, s)| (f.0 - s).abs() < 1e-4),
                "{}: {found:?} {stated:?}",
                entry.name
            );
        }
    }
}

#[test]
fn unknown_predictions_get_the_nearest_name_and_a_list() {
    let message = predict("nothing").expect_err("unknown").message;
    let named = |p: &metastable::prediction::Prediction| message.contains(p.name);
    assert!(message.contains("`nothing`") && metastable::prediction::all().all(named), "{message}");
    let message = predict("gama").expect_err("unknown").message;
    assert!(message.contains("did you mean `gamma`?"), "{message}");
}
