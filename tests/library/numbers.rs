//! Special functions against 60-digit tables: the largest error of every function is at most a
//! small multiple of the rounding unit.

use crate::common::{number, numbers};
use metastable::num::{
    bessel,
    deviation::largest,
    gegenbauer,
    quadrature::integrate,
    softmax::{log_sum_exp, softmax},
    stats,
    stream::Stream,
};

fn table(name: &str) -> Vec<serde_json::Value> {
    let path = format!("{}/tests/data/special_functions.json", env!("CARGO_MANIFEST_DIR"));
    let all: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("committed"))
            .expect("valid JSON");
    all[name].as_array().expect("a list").clone()
}

fn key(case: &serde_json::Value, name: &str) -> f64 {
    case[name].as_f64().expect("a number")
}

#[test]
fn scaled_bessel_functions_of_integer_and_half_integer_order() {
    let mut worst = 0.0f64;
    for case in table("bessel") {
        let k = key(&case, "k") as usize;
        let found = bessel::scaled_bessel_i(k, key(&case, "x"))[k];
        worst = largest([worst, (found / number(&case["value"]) - 1.0).abs()]);
    }
    for case in table("bessel_half") {
        let k = key(&case, "k") as usize;
        let found = bessel::scaled_bessel_i_half(k, key(&case, "x"))[k];
        worst = largest([worst, (found / number(&case["value"]) - 1.0).abs()]);
    }
    println!("bessel: {worst:.1e}");
    // Up to 200 ratios with errors of 4 ulp accumulate at random.
    assert!(worst < 64.0 * f64::EPSILON, "{worst:e}");
}

#[test]
fn funk_hecke_coefficients_for_every_dimension() {
    let mut worst = 0.0f64;
    for case in table("funk_hecke") {
        let (d, k) = (key(&case, "d") as usize, key(&case, "k") as usize);
        let found = gegenbauer::scaled_funk_hecke(d, k, key(&case, "beta"))[k];
        worst = largest([worst, (found / number(&case["value"]) - 1.0).abs()]);
    }
    println!("funk-hecke: {worst:.1e}");
    // At d = 1024 the value is a product of 511 ratios.
    assert!(worst < 512.0 * f64::EPSILON, "{worst:e}");
}

#[test]
fn zonal_polynomials_log_sum_exp_and_quadrature() {
    for case in table("zonal") {
        let (d, k) = (key(&case, "d") as usize, key(&case, "k") as usize);
        let found = gegenbauer::zonal_polynomials(d, k, key(&case, "s"))[k];
        assert!((found - number(&case["value"])).abs() < 64.0 * f64::EPSILON, "d={d} k={k}");
    }
    for case in table("log_sum_exp") {
        let expected = number(&case["value"]);
        let logits = numbers(&case["logits"]);
        assert!(
            (log_sum_exp(&logits) - expected).abs() <= 4.0 * f64::EPSILON * expected.abs().max(1.0)
        );
        // Softmax weights are e^{l - lse}; the exponent has an error of 4u times the logits.
        let mut weights = logits.clone();
        softmax(&mut weights, &vec![1.0; logits.len()]);
        for (w, l) in weights.iter().zip(&logits) {
            assert!(
                (w - (l - expected).exp()).abs() <= 8.0 * f64::EPSILON * expected.abs().max(1.0),
                "{w} {l}"
            );
        }
    }
    let found = [
        integrate(|x| (-x * x).exp(), 0.0, 3.0, 1e-14),
        integrate(|x| (50.0 * x.cos()).exp(), 0.0, std::f64::consts::PI, 1e-14),
        integrate(|x| 1.0 / (1.0 + 25.0 * x * x), -1.0, 1.0, 1e-14),
    ];
    for (case, found) in table("integral").iter().zip(found) {
        let expected = number(&case["value"]);
        assert!((found.value / expected - 1.0).abs() < 1e-13, "{case}: {found:?}");
    }
}

#[test]
fn random_streams_never_change() {
    // Fixed draws: a change of the generator or of its keys changes every stored result, so it must
    // be deliberate.
    let mut s = Stream::new(7, &["golden"]);
    let first: Vec<u64> = (0..3).map(|_| s.next_u64()).collect();
    assert_eq!(first, FIRST_DRAWS, "{first:?}");
    let mut s = Stream::new(1, &["normal"]);
    let draws: Vec<f64> = (0..200_000).map(|_| s.normal()).collect();
    let (n, mean) = (draws.len() as f64, draws.iter().sum::<f64>() / draws.len() as f64);
    let moment = |p: i32| draws.iter().map(|z| (z - mean).powi(p)).sum::<f64>() / n;
    // Five standard errors of the mean, the variance and the fourth moment.
    assert!(
        mean.abs() < 5.0 / n.sqrt()
            && (moment(2) - 1.0).abs() < 5.0 * (2.0 / n).sqrt()
            && (moment(4) - 3.0).abs() < 5.0 * (96.0 / n).sqrt()
    );
}

const FIRST_DRAWS: [u64; 3] =
    [12_245_701_642_295_595_748, 18_055_404_478_308_100_773, 4_781_492_891_656_123_117];

#[test]
fn the_binomial_bound_is_exact() {
    // The definition: with failure probability at the bound, at most 3 failures in 1000 trials have
    // probability 0.001.
    let bound = stats::failure_bound(3, 1000, 0.999);
    let (mut term, mut below) = ((1.0 - bound).powi(1000), 0.0);
    for k in 0..=3 {
        below += term;
        term *= f64::from(1000 - k) / f64::from(k + 1) * bound / (1.0 - bound);
    }
    assert!((below / 0.001 - 1.0).abs() < 1e-6, "{bound} {below}");
    assert!(stats::failure_bound(4, 1000, 0.999) > bound);
}
