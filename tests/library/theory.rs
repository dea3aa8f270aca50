//! Closed forms against 60-digit values, published numbers and each other.

use crate::common::{number, numbers, reference};
use metastable::attention::TimeScale;
use metastable::num::{deviation::largest, stats::nan_max};
use metastable::sphere::Tokens;
use metastable::theory::convergence_criteria::{check_theorems, rounded_threshold};
use metastable::theory::rank_collapse::RankResidual;
use metastable::theory::{
    equiangular::Equiangular, growth, kac_rice, parking, spectra, threshold, two_cluster,
};

#[test]
fn gamma_curve() {
    for case in reference("gamma") {
        let (n, beta) =
            (case["n"].as_u64().expect("n") as usize, case["beta"].as_f64().expect("beta"));
        let curve = match case["dynamics"].as_str() {
            Some("sa") => Equiangular::sa(n, beta),
            _ => Equiangular::usa(n, beta, TimeScale::U1).expect("finite"),
        };
        for (t, expected) in numbers(&case["times"]).into_iter().zip(numbers(&case["gamma"])) {
            let found = curve.gamma(0.0, t).expect("valid");
            assert!(
                (found - expected).abs() <= 1e-11 * expected.max(1e-3),
                "n={n} beta={beta} t={t}: {found} {expected}"
            );
            // Quadrature is the second method.
            if expected < 0.999 {
                let back = curve.level_time(0.0, expected).expect("valid").value;
                assert!((back / t - 1.0).abs() < 1e-11, "{back} {t}");
            }
        }
    }
}

#[test]
fn level_times_of_the_phase_transition_curve() {
    // arXiv:2312.10794, (6.12), evaluated and printed with four digits, so half a unit of the last
    // digit is the tolerance.
    for (n, beta, time) in
        [(32, 0.0, 5.186), (32, 4.0, 6.954), (32, 7.0, 32.23), (32, 9.0, 178.7), (128, 9.0, 82.59)]
    {
        let found = Equiangular::sa(n, beta).level_time(0.0, 0.999).expect("valid").value;
        assert!((found / time - 1.0).abs() < 3e-4, "n={n} beta={beta}: {found} {time}");
    }
}

#[test]
fn growth_rates() {
    let mut worst = 0.0f64;
    for case in reference("growth_rates") {
        let (d, beta) =
            (case["d"].as_u64().expect("d") as usize, case["beta"].as_f64().expect("beta"));
        let expected = numbers(&case["rates"]);
        let found = match case["dynamics"].as_str() {
            Some("sa") => growth::rates_sa(d, beta, expected.len() - 1),
            _ => growth::rates_usa(d, beta, expected.len() - 1, TimeScale::U1, 1),
        }
        .expect("valid");
        for (f, e) in found.iter().zip(&expected).skip(1) {
            worst = largest([worst, (f / e - 1.0).abs()]);
        }
    }
    println!("worst {worst:.1e}");
    assert!(worst <= 1e-12, "{worst:e}");
}

#[test]
fn switch_points_of_the_fastest_mode() {
    for (d, points) in [(2, vec![1.05, 3.17, 6.22, 10.24]), (3, vec![1.83, 4.43, 7.96, 12.48])] {
        for (k, beta) in points.into_iter().enumerate() {
            let mode = |b: f64| growth::fastest_mode(&growth::rates_sa(d, b, 20).expect("valid"));
            assert_eq!((mode(beta - 0.02), mode(beta + 0.02)), (k + 1, k + 2), "d={d} beta={beta}");
        }
    }
}

#[test]
fn two_token_times() {
    for case in reference("two_tokens") {
        let number = |key: &str| case[key].as_f64().expect("a number");
        let (beta, from, to) = (number("beta"), number("from_angle"), number("to_angle"));
        let found = match case["dynamics"].as_str() {
            Some("sa") => two_cluster::merge_time_sa(beta, 0.5, from, to),
            _ => two_cluster::merge_time_usa(beta, from, to, TimeScale::U1, 2),
        }
        .expect("finite")
        .value;
        assert!(
            (found / crate::common::number(&case["time"]) - 1.0).abs() < 1e-11,
            "beta={beta}: {found:e}"
        );
    }
}

#[test]
fn merging_time_asymptotics() {
    // The ratio T / T_asym at beta = 20 is 1.005 (rho_0 = 0), 1.09 (0.5), 0.946 (-0.5).
    for (rho, ratio) in [(0.0f64, 1.005), (0.5, 1.09), (-0.5, 0.946)] {
        let exact = two_cluster::merge_time_sa(20.0, 0.5, rho.acos(), (1.0f64 - 1.0 / 20.0).acos())
            .expect("finite")
            .value;
        let found = exact / two_cluster::merge_time_sa_asymptotic(20.0, 0.5, rho);
        assert!((found - ratio).abs() < 0.01, "{rho}: {found}");
    }
}

#[test]
fn thresholds_and_polygons() {
    // Published numbers, with four digits, for the threshold and merging times.
    for (n, sharp, circle) in [(5, 1.414, 2.53), (8, 4.786, 6.48), (16, 22.63, 25.9)] {
        assert!(
            (threshold::sharp(n, 2) - sharp).abs() < 6e-3
                && (threshold::paper_circle(n) - circle).abs() < 0.05
        );
    }
    let top = |rates: Vec<f64>| rates.into_iter().fold(f64::MIN, nan_max);
    for (m, usa, sa) in
        [(2, 0.00248, 1.2e-5), (3, 0.2489, 1.85e-3), (4, 6.0, 0.0592), (5, 23.66, 0.2842)]
    {
        assert!((top(spectra::polygon_usa(m, 6.0)) / usa - 1.0).abs() < 3e-3, "m={m}");
        assert!((top(spectra::polygon_sa(m, 6.0)) / sa - 1.0).abs() < 3e-2, "m={m}");
    }
}

#[test]
fn expected_modes_and_centres() {
    for case in reference("kac_rice") {
        let (n, beta) = (case["n"].as_f64().expect("n"), case["beta"].as_f64().expect("beta"));
        let interval = kac_rice::default_interval(n, beta).expect("beta below n^2");
        let found = kac_rice::expected_modes(n, beta, interval).expect("valid");
        assert!(
            (found / number(&case["expected_modes_gaussian_proxy"]) - 1.0).abs() < 1e-9,
            "{found}"
        );
    }
    for case in reference("circle_modes_expected") {
        let found =
            kac_rice::expected_modes_circle(case["beta"].as_f64().expect("beta")).expect("valid");
        assert!(
            (found / number(&case["expected_modes_uniform_large_n"]) - 1.0).abs() < 1e-13,
            "{found}"
        );
    }
    // At d = 2 the share is delta/pi. The other numbers are 25.33 = 1/sin^2(0.2) at d = 3 and 47.0
    // = 0.7476 * 2 pi / 0.1.
    assert!(
        (parking::cap_share(2, 0.3).expect("valid") - 0.3 / std::f64::consts::PI).abs() < 1e-12
    );
    assert!((parking::strong_centres(1_000_000, 3, 0.4).expect("valid") - 25.33).abs() < 0.01);
    assert!((parking::RENYI * std::f64::consts::TAU / 0.1 - 47.0).abs() < 0.05);
}

#[test]
fn fastest_modes_switch_where_the_rates_cross() {
    use metastable::theory::{
        growth::{fastest_mode, rates_sa, rates_sinkhorn, switch_points},
        noise,
    };
    // The rates cross near k (k - 1) / 2 + 1/4 on the circle and k^2 / 2 on S^2, where k is the new
    // mode. The first values come from independent scans.
    let (circle, sphere) =
        (switch_points(2, 7).expect("switches"), switch_points(3, 8).expect("switches"));
    for (found, scanned) in circle
        .iter()
        .zip([1.05, 3.17, 6.22, 10.24, 15.24, 21.25, 28.25])
        .chain(sphere.iter().zip([1.83, 4.43, 7.96, 12.48, 18.0, 24.49, 32.0, 40.5]))
    {
        // The scans have steps of up to 0.02.
        assert!((found - scanned).abs() < 0.02, "{found} {scanned}");
    }
    for (d, points) in
        [(2usize, circle), (3, sphere), (64, switch_points(64, 10).expect("switches"))]
    {
        for (k, beta) in points.iter().enumerate() {
            let fastest = |b: f64| fastest_mode(&rates_sa(d, b, 60).expect("rates"));
            assert_eq!(
                (fastest(beta * (1.0 - 1e-9)), fastest(beta * (1.0 + 1e-9))),
                (k + 1, k + 2),
                "d = {d}"
            );
        }
    }
    // In high dimension, mode 1 is the fastest until beta is about 2 d / 3.
    let first = switch_points(64, 1).expect("a switch")[0];
    assert!(first > 20.0 && first < 50.0);
    for (d, star) in [(2usize, 2.44692), (3, 1.81615), (4, 1.57526), (8, 1.26655)] {
        assert!((noise::beta_star(d).expect("a root") - star).abs() < 1e-5);
    }
    // beta -> 0: kappa_c = d. beta = 4, k = 2 of Sinkhorn attention.
    assert!(
        (noise::threshold(5, 1, 1e-8).expect("a threshold") - 5.0).abs() < 1e-7
            && noise::threshold(2, 0, 1.0).is_err()
    );
    assert!((rates_sinkhorn(2, 4.0, 2).expect("rates")[2] - 0.362_342).abs() < 1e-7);
    assert!(noise::beta_star(1).is_err() && switch_points(1, 2).is_err());
}

/// The rows of a matrix from its common row and its residual.
fn rows_of(x: &RankResidual) -> Vec<f64> {
    let d = x.common.len();
    x.shape.iter().enumerate().map(|(k, y)| x.common[k % d] + x.log_size.exp() * y).collect()
}

#[test]
fn sums_and_layer_normalisation_agree_with_those_of_the_rows() {
    let x = RankResidual::new(&[0.3, -0.1, 0.5, 0.2, 0.4, -0.3, 0.1, 0.1, 0.7], 3).unwrap();
    let y = RankResidual::new(&[0.1, 0.2, 0.0, -0.5, 0.3, 0.2, 0.6, 0.1, -0.2], 3).unwrap();
    let sum = x.plus(&y).unwrap();
    let (found, parts) = (rows_of(&sum), (rows_of(&x), rows_of(&y)));
    let terms = found.iter().zip(parts.0.iter().zip(&parts.1));
    let deviation = largest(terms.map(|(s, (a, b))| (s - a - b).abs()));
    assert!(deviation < 1e-15, "{deviation:e}");
    let normed = rows_of(&x.normalised().unwrap());
    for (row, found) in rows_of(&x).chunks(3).zip(normed.chunks(3)) {
        let mean = row.iter().sum::<f64>() / 3.0;
        let size = (row.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
        assert!(row.iter().zip(found).all(|(v, f)| ((v - mean) / size - f).abs() < 1e-14));
    }
    // A residual of e^-900 keeps its digits; it follows the derivative of the normalisation.
    let small = RankResidual { log_size: -900.0, ..x.clone() };
    let (low, near) =
        (small.normalised().unwrap(), RankResidual { log_size: -12.0, ..x }.normalised().unwrap());
    assert!((low.log_size + 900.0 - near.log_size - 12.0).abs() < 1e-4);
    assert!(
        RankResidual { common: vec![1.0; 3], ..small }.normalised().is_none(),
        "a constant common row has no direction"
    );
}

/// The hypotheses that hold for n equidistant tokens on the circle, and those that fail.
fn hypotheses(n: usize, beta: f64) -> [Vec<String>; 2] {
    let angles: Vec<f64> = (0..n).map(|k| std::f64::consts::TAU * k as f64 / n as f64).collect();
    let all = check_theorems(&Tokens::from_angles(&angles).expect("angles"), beta).0;
    [true, false].map(|holds| {
        all.iter().filter(|d| d.holds == holds).map(|d| d.hypothesis.clone()).collect()
    })
}

#[test]
fn hypotheses_show_parameters_with_their_values() {
    let [holds, fails] = hypotheses(3, 4.0);
    let large = "beta = 4 > 0 (the threshold C n^2 of Theorem 5.1 for n = 3 and d = 2, with the constant of its proof)";
    assert_eq!(holds, ["d = 2 and beta = 4 >= -0.16", large]);
    // log(3)/2 = 0.549306 in six digits.
    let small =
        "needs 0 <= beta < 0.549306 (log(n/(n-2))/2 for n = 3, a little above 1/n): beta = 4";
    assert!(
        fails.iter().any(|f| f == small) && fails.iter().any(|f| f == "needs d >= n: d = 2, n = 3"),
        "{fails:?}"
    );
    assert!(fails.iter().any(|f| f == "needs d >= 3 and beta >= 0: d = 2, beta = 4"), "{fails:?}");
    // cos(pi/4)/sin^2(pi/4) = sqrt 2.
    assert!(
        hypotheses(5, 2.0)[0].iter().any(|h| h.starts_with("beta = 2 > 1.41421 (")),
        "{:?}",
        hypotheses(5, 2.0)
    );
    assert!(hypotheses(2, 1.0)[0].iter().any(|h| h == "n = 2 and beta = 1 >= 0"));
    assert!(hypotheses(3, 0.1)[0].iter().any(|h| h.starts_with("0 <= beta = 0.1 < 0.549306 (")));
}

#[test]
fn rounded_thresholds_keep_the_order() {
    let threshold = 2f64.sqrt();
    assert_eq!(rounded_threshold(threshold, 2.0), "1.41421");
    // Rounded to six digits, the threshold would be below a number that is just below it.
    assert_eq!(rounded_threshold(threshold, threshold - 5e-7), threshold.to_string());
    assert_eq!(rounded_threshold(f64::INFINITY, 3.0), "inf");
}
