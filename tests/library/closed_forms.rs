//! Closed forms for other dynamics than plain attention on the sphere, against 40-digit values of
//! another program and the numbers of the papers.

use crate::common::{number, numbers, reference};
use metastable::attention::kernel::{Attention, Workspace};
use metastable::attention::noise::Sampler;
use metastable::attention::normalisation::{Rescaled, find};
use metastable::attention::{
    Dynamics, OutputForm, Spec, hardmax::Hardmax, layer::Layer, model::Model,
};
use metastable::flow::{Options, solve};
use metastable::num::deviation::{largest, max_difference};
use metastable::num::stats::{nan_max, nan_min};
use metastable::num::{dense::identity, vector::max_abs};
use metastable::sphere::Tokens;
use metastable::theory::noise_step::{exact_mean, mean_cosine, stationary_mean, stationary_means};
use metastable::theory::normalised::SchemeCurve;
use metastable::theory::{
    bipartite, boolean, gaussian, long_context, random_weights, rank_collapse::RankResidual,
};
use num_rational::BigRational;

#[test]
fn equiangular_tokens_under_every_scheme() {
    let (mut worst, mut compared) = (0.0, 0);
    for case in reference("normalised") {
        let name = case["scheme"].as_str().expect("a name");
        let curve = SchemeCurve::new(
            find(name).expect("known"),
            case["n"].as_u64().expect("n") as usize,
            number(&case["beta"]),
        )
        .expect("valid");
        let places = curve
            .states(number(&case["gamma0"]), number(&case["r0"]), &numbers(&case["times"]))
            .expect("valid");
        for ((p, gamma), radius) in
            places.iter().zip(numbers(&case["gamma"])).zip(numbers(&case["radius"]))
        {
            let off = (p.gamma - gamma).abs();
            let deviation = largest([off / (1.0 - gamma), (p.radius / radius - 1.0).abs()]);
            // 1 - gamma of the reference is rounded to 1e-16.
            assert!(deviation < 1e-10 + 1e-15 / (1.0 - gamma), "{case}: {p:?}");
            worst = largest([worst, off]);
            compared += 1;
        }
    }
    assert!(worst < 1e-11 && compared == 60, "{worst:e} of {compared}");
}

#[test]
fn schemes_have_the_published_initial_rates_and_limits() {
    let curve = |name: &str| SchemeCurve::new(find(name).expect("known"), 16, 2.0).expect("valid");
    for (name, rate) in [
        ("post", 0.0893294),
        ("cod", 0.0893294),
        ("pre", 0.0297765),
        ("peri", 0.0799116),
        ("ngpt", 0.2397348),
    ] {
        let found = curve(name).initial_rates(0.0, 3.0).0;
        assert!((found - rate).abs() < 6e-8, "{name}: {found}");
    }
    let slope = |name: &str, clock: fn(f64) -> f64, t: [f64; 2]| {
        let p = curve(name).states(0.0, 1.0, &t).expect("valid");
        (p[0].depth - p[1].depth) / (clock(t[1]) - clock(t[0]))
    };
    for (name, clock, times, stated, accuracy) in [
        ("post", (|t| t) as fn(f64) -> f64, [20.0, 40.0], -2.0, 1e-3),
        ("ngpt", |t| t, [20.0, 40.0], -2.0, 1e-3),
        ("cod", |t| (t + 1.0).sqrt(), [400.0, 900.0], -4.0, 1e-3),
        ("pre", f64::ln, [1e5, 1e6], -2.0, 1e-3),
        ("peri", f64::ln, [1e5, 1e6], -2.0, 1e-3),
        ("mix", f64::ln, [1e5, 1e6], -2.0, 1e-3),
        ("ln-scaling", f64::ln, [1e3, 1e4], -1.0, 5e-2),
    ] {
        let found = slope(name, clock, times);
        assert!((found - stated).abs() < accuracy, "{name}: {found}");
    }
    for (name, limit) in
        [("pre", 2.36836), ("peri", 2.36836), ("ln-scaling", 2.36836), ("mix", 1.17429)]
    {
        let end = curve(name).states(0.0, 1.0, &[1e8]).expect("valid")[0];
        let found = (-end.depth).exp() * end.radius.powi(2);
        assert!((found - limit).abs() < 1e-4, "{name}: {found}");
    }
    // A plateau of e^300 under a scheme that slows down: n = 2, gamma' = 2 e^{-300} (t + 1)^{-1/2}.
    let cod = SchemeCurve::new(find("cod").expect("known"), 2, 300.0).expect("valid");
    for end in cod.states(0.0, 1.0, &[1.0, 100.0]).expect("valid") {
        assert!(end.depth > 1e-131 && end.depth < 1e-128, "{:e}", end.depth);
    }
    // Tokens that hardly move while their radius grows a millionfold: depth is slope times log r.
    for (n, beta, least) in [(3, 10.0, 1e-5), (100, 300.0, 1e-130), (2, 700.0, 1e-304)] {
        for name in ["pre", "peri", "mix", "ln-scaling"] {
            let curve = SchemeCurve::new(find(name).expect("known"), n, beta).expect("valid");
            for end in curve.states(0.0, 1.0, &[10.0, 1e3, 1e6]).expect("valid") {
                let slope = end.depth / end.radius.ln();
                assert!(slope > least && slope < 100.0 * least, "{name}, {n}, {beta}: {slope:e}");
            }
        }
    }
    assert!(SchemeCurve::new(find("none").expect("known"), 4, 1.0).is_err());
    assert!(
        curve("pre").states(0.0, 0.0, &[1.0]).is_err()
            && curve("pre").states(1.0, 1.0, &[1.0]).is_err()
    );
}

#[test]
fn the_boolean_limit() {
    for case in reference("boolean_limit") {
        let (eps, log) = (number(&case["eps"]), number(&case["log_limit"]));
        let found = boolean::log_limit(eps).expect("valid");
        assert!((found - log).abs() < 2e-14 * (1.0 + log.abs()), "{eps}: {found} {log}");
    }
    for (eps, constant) in [(0.3, 1.34818), (0.2, 1.33699), (0.1, 1.33033)] {
        assert!(
            ((boolean::log_limit(eps).expect("valid") + 0.5 / (eps * eps)).exp() - constant).abs()
                < 6e-6
        );
    }
    let (two, one) =
        (boolean::limit(0.5, 4.0).expect("valid"), boolean::limit(1.0, 1.0).expect("valid"));
    assert!((two - 0.5 * one).abs() < 1e-15);
    assert!(boolean::limit(-1.0, 1.0).is_err() && boolean::limit(1.0, 0.0).is_err());
}

#[test]
fn the_gaussian_closure_and_its_limit() {
    // A diagonal case by integration and by the closed form.
    let start =
        gaussian::GaussianMoments { mean: vec![0.5, -1.0], covariance: vec![0.4, 0.0, 0.0, 1.5] };
    let scaled = |f: f64| identity(2).iter().map(|v| f * v).collect::<Vec<_>>();
    for (b, v, t) in [(0.5, -1.0, 2.0), (0.3, 1.0, 0.9)] {
        let end = gaussian::evolve(&start, &scaled(b), &scaled(v), t).expect("finite");
        for (c, s, m) in [(0, 0.4, 0.5), (1, 1.5, -1.0)] {
            assert!(
                (end.covariance[3 * c] / gaussian::variance(s, b, v, t).expect("finite") - 1.0)
                    .abs()
                    < 1e-11
            );
            assert!(
                (end.mean[c] / (m * gaussian::mean_factor(s, b, v, t).expect("finite")) - 1.0)
                    .abs()
                    < 1e-11
            );
        }
    }
    let end = gaussian::blow_up(1.5, 0.3, 1.0).expect("finite");
    assert!((end - 1.0 / 0.9).abs() < 1e-15 && gaussian::variance(1.5, 0.3, 1.0, end).is_none());
    assert!(gaussian::evolve(&start, &scaled(0.3), &scaled(1.0), 1.2).is_err());
    assert!(gaussian::blow_up(1.0, 1.0, -1.0).is_none());
}

#[test]
fn random_weights_and_two_clusters() {
    for (d, beta) in [(3, 0.0), (8, 1.238944), (64, 2.410108)] {
        assert!((random_weights::antipodal_threshold(d) - beta).abs() < 6e-7, "{d}");
        assert!(d == 3 || random_weights::exponents(d, beta).0.abs() < 1e-6);
    }
    assert!(
        (random_weights::exponents(8, 0.5).0 - 0.4381).abs() < 1e-4
            && (random_weights::exponents(8, 2.0).0 + 0.188).abs() < 1e-3
    );
    for (t, u) in [(0.5, 0.423), (1.0, 0.547), (2.0, 0.766)] {
        assert!((random_weights::logistic(0.3075, t).expect("valid") - u).abs() < 1e-3);
    }
    assert!((random_weights::consensus_probability(0.5).expect("valid") - 2.0 / 3.0).abs() < 1e-15);
    for (mu, rate) in [(0.2, -0.764028), (0.97, 0.005972), (1.0, 0.035972)] {
        assert!((bipartite::rates(1.0, mu, 2.0).tilt - rate).abs() < 5e-7);
    }
    assert!(bipartite::is_stable(1.0, &[0.2], 2.0) && !bipartite::is_stable(1.0, &[0.2], 0.15));
}

#[test]
fn one_noise_step() {
    for case in reference("noise_step") {
        let (d, tau) = (case["d"].as_u64().expect("d") as usize, number(&case["tau"]));
        for (sampler, mean) in Sampler::ALL.into_iter().zip(numbers(&case["means"])) {
            let found = sampler.mean_step_cosine(d, tau);
            assert!((found - mean).abs() < 1e-14, "{case}: {sampler:?} {found}");
        }
        let m = d as f64 - 1.0;
        assert!(
            (Sampler::Geodesic.mean_step_cosine(d, tau) - mean_cosine(m, 2.0 * tau)).abs() < 1e-14
        );
    }
    for d in [2, 3, 5, 8] {
        for sampler in Sampler::ALL {
            let size =
                |tau: f64| (sampler.mean_step_cosine(d, tau) - exact_mean(d, tau)) / tau.powi(2);
            // Richardson extrapolation: the second-order error without the third-order part.
            let found = 2.0 * size(5e-4) - size(1e-3);
            assert!(
                (found - sampler.leading_error(d)).abs()
                    < 1e-3 * (1.0 + sampler.leading_error(d).abs()),
                "{d} {sampler:?} {found}"
            );
        }
    }
}

#[test]
fn stationary_means_of_the_schemes() {
    let exact = stationary_mean(4.0);
    assert!((exact - 0.750671).abs() < 1e-6);
    let deviation = |s: Sampler, h: f64| {
        let (lie, strang) = stationary_means(s, 4.0, h);
        (lie - exact, strang - exact)
    };
    let printed = [(0.2, 7.195e-4), (0.1, 1.807e-4)];
    for (h, error) in printed {
        let found = deviation(Sampler::Corrected, h).1;
        assert!((found - error).abs() < 1e-3 * error, "{h}: {found:e}");
    }
    let order =
        (deviation(Sampler::Corrected, 0.2).1 / deviation(Sampler::Corrected, 0.1).1).log2();
    assert!((order - 2.0).abs() < 0.05, "{order}");
    let (coarse, fine) = (deviation(Sampler::Geodesic, 0.2), deviation(Sampler::Geodesic, 0.1));
    assert!(
        (coarse.0 + 0.0435).abs() < 1e-4 && (fine.0 + 0.0213).abs() < 1e-4,
        "{coarse:?} {fine:?}"
    );
    assert!(
        (coarse.1 + 0.0035).abs() < 1e-4 && ((coarse.1 / fine.1).log2() - 1.0).abs() < 0.15,
        "{coarse:?} {fine:?}"
    );
}

#[test]
fn participation_of_a_long_context() {
    for (c, printed) in [(0.25, 0.2524), (1.0, 0.6353), (4.0, 0.8851)] {
        assert!((long_context::participation(3, c).expect("valid") - printed).abs() < 6e-5);
    }
    // beta / n^2 grows on the circle, so one key has all the weight in the limit.
    let [low, high] = [0.1, 10.0].map(|c| long_context::participation(2, c).expect("valid"));
    assert!(low < high && high < 1.0);
    assert!((long_context::subcritical_length(3, 20.0) - 0.95).abs() < 1e-10);
}

#[test]
fn rank_one_residuals_shrink_cubically() {
    let mut stream = metastable::num::stream::Stream::new(1, &["rank collapse"]);
    let (n, d) = (8, 4);
    let mut normals = |count: usize, size: f64| {
        let mut out = vec![0.0; count];
        stream.normals(&mut out);
        out.iter_mut().for_each(|v| *v *= size);
        out
    };
    let (x, w, w_v) = (normals(n * d, 0.02), normals(d * d, 0.3), normals(d * d, 0.5));
    let mut r = RankResidual::new(&x, d).expect("rows differ");
    let mut logs = vec![r.log_size];
    for layer in 0..5 {
        let (next, leading) = (
            r.layer(&w, &w_v).expect("not of rank one"),
            r.leading(&w, &w_v).expect("not of rank one"),
        );
        let size = (next.log_size - leading.log_size).abs();
        let deviation = largest([size, max_difference(&next.shape, &leading.shape)]);
        // Relative corrections are of the order |R|.
        assert!(deviation < 50.0 * r.log_size.exp() + 1e-14, "{layer}: {deviation:e}");
        r = next;
        logs.push(r.log_size);
    }
    let last = logs[5] / logs[4];
    assert!((last - 3.0).abs() < 0.02 && logs[5] < -900.0, "{logs:?}");
    assert!(RankResidual::new(&[1.0, 2.0, 1.0, 2.0], 2).is_none());
    assert!(
        r.layer(&[0.0; 16], &w_v).is_none(),
        "uniform attention gives rank one after one layer"
    );
}

/// Rescaled attention in R^d with the given V and a random normal Q.
fn rescaled(n: usize, d: usize, v: Vec<f64>, q: Option<Vec<f64>>) -> Dynamics {
    let model = Model {
        rescaled: true,
        heads: vec![[q.map(|q| (d, q)), None, Some((d, v)), None]],
        ..Model::default()
    };
    model.build("sa", false, &Spec::new(1.0, n), d).expect("a model")
}

fn normals(count: usize, name: &str) -> Vec<f64> {
    let mut out = vec![0.0; count];
    metastable::num::stream::Stream::new(1, &["rows", name]).normals(&mut out);
    out
}

#[test]
fn scores_from_differences_to_the_leader_agree_with_the_definition() {
    let (n, d) = (9, 3);
    let x = Tokens::flat(d, normals(n * d, "points"))
        .expect("points")
        .with_masses(&[0.1, 1.0, 2.0, 0.3, 1.0, 1.0, 4.0, 1.0, 0.2])
        .expect("masses");
    let v: Vec<f64> = normals(d * d, "V").iter().map(|g| 0.6 * g).collect();
    let dynamics = rescaled(n, d, v, Some(normals(d * d, "Q")));
    let mut out = vec![0.0; n * d];
    for t in [0.0, 0.7, 3.0] {
        dynamics.output(t, &x, OutputForm::Difference, &mut Workspace::default(), &mut out);
        let exact =
            dynamics.definition(t, &x, OutputForm::Difference).expect("attention has a definition");
        let size = max_abs(&exact);
        assert!(
            out.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-11 * size),
            "t = {t}: {out:?} {exact:?}"
        );
    }
    // Where e^{tV} is far beyond f64, the rows of A are one-hot and all numbers stay finite.
    let line = rescaled(3, 1, vec![1.0], None);
    let z = Tokens::flat(1, vec![-1.0, 0.5, 2.0]).expect("points");
    let mut out = [0.0; 3];
    line.output(2000.0, &z, OutputForm::Difference, &mut Workspace::default(), &mut out);
    assert!(out.iter().zip([0.0, 1.5, 0.0]).all(|(a, b)| (a - b).abs() < 1e-15), "{out:?}");
}

#[test]
fn limits_of_rescaled_tokens_from_a_heptagon_and_a_square() {
    let flow = |x: Vec<f64>| {
        let x = Tokens::flat(2, x).expect("points");
        let options = Options { merge_radius: 0.0, ..Options::default() };
        solve(&rescaled(x.n(), 2, identity(2), None), &x, 8.0, &options, &mut [])
            .expect("runs")
            .clusters
    };
    let corner = |k: usize| 2.0 * std::f64::consts::PI * k as f64 / 7.0;
    let end = flow((0..7).flat_map(|k| [3.0 * corner(k).cos(), 3.0 * corner(k).sin()]).collect());
    for (k, row) in end.rows().enumerate() {
        assert!((row[0].hypot(row[1]) - 2.99117083).abs() < 1e-7, "{k}: {row:?}");
    }
    let end = flow(vec![1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0]);
    assert!(end.numbers().iter().all(|z| (z.abs() - 0.948301957871).abs() < 1e-9), "{end:?}");
    assert!(end.diameter() > 1.0);
}

#[test]
fn convex_layers_converge_to_a_point_of_the_hull() {
    let attention = Dynamics::single(Attention::new(2.0)).with_normalisation(Rescaled);
    let mut x = Tokens::flat(2, vec![1.0, 0.0, 1.0, 0.2]).expect("points");
    (0..2000).for_each(|_| Layer::new(0.5).expect("a step").apply(&attention, &mut x));
    assert!((x.row(0)[0] - 1.0).abs() < 1e-12 && (x.row(0)[1] - 0.101351).abs() < 1e-6, "{x:?}");
    // With g_t = 2^{-t-1} a part of the distance remains forever.
    let hardmax =
        Dynamics::single(Hardmax::new(None, 1e-12).expect("a rule")).with_normalisation(Rescaled);
    let mut x = Tokens::flat(1, vec![1.0, 0.0625]).expect("points");
    (0..60).for_each(|t| Layer::new(0.5f64.powi(t + 1)).expect("a step").apply(&hardmax, &mut x));
    let left = (1.0 - x.numbers()[1]) / (1.0 - 0.0625);
    assert!((left - 0.288788095087).abs() < 1e-12, "{left}");
}

#[test]
fn an_exact_example_in_which_the_bound_fails() {
    // x_1 = 1/3 + 8/(t (t+1)), x_2 = 1/3 in rational arithmetic, compared with the layers of the
    // program.
    let ratio = |a: i64, b: i64| BigRational::new(a.into(), b.into());
    let (mut one, mut two) = (ratio(3, 1), ratio(-1, 1));
    let negative = Dynamics::single(Hardmax::new(Some(vec![-1.0]), 1e-12).expect("a rule"))
        .with_normalisation(Rescaled);
    let mut x = Tokens::flat(1, vec![3.0, -1.0]).expect("points");
    let zero = ratio(0, 1);
    for t in 0..200 {
        let g = ratio(2, t + 2);
        let (low, high) =
            if one < two { (one.clone(), two.clone()) } else { (two.clone(), one.clone()) };
        let target = |x: &BigRational| if *x > zero { low.clone() } else { high.clone() };
        let next = |x: &BigRational| x.clone() + g.clone() * (target(x) - x.clone());
        (one, two) = (next(&one), next(&two));
        Layer::new(2.0 / (t as f64 + 2.0)).expect("a step").apply(&negative, &mut x);
        if t >= 1 {
            assert_eq!(
                (&two, &one),
                (&ratio(1, 3), &(ratio(1, 3) + ratio(8, (t + 1) * (t + 2)))),
                "t = {t}"
            );
            assert!((x.numbers()[1] - 1.0 / 3.0).abs() < 1e-14);
        }
    }
    // J = 1/18 exceeds the bound 32/(t+1) from t = 576 on.
    assert!(ratio(1, 18) > ratio(32, 1001));
}

#[test]
fn rank_one_residuals_agree_with_500_digits() {
    // log |R_l| of plain attention layers in 500 digits (mpmath). In f64, R is 0 from layer 4 on.
    let stated = [
        -3.441_351_687_733_432,
        -13.501_835_995_825_195,
        -42.182_538_046_310_79,
        -128.093_056_137_056_9,
        -385.845_590_224_034_6,
    ];
    let (n, d) = (8usize, 4usize);
    let wave = |count: usize, a: f64, b: f64| {
        (0..count).map(|k| (a * k as f64 + b).sin()).collect::<Vec<_>>()
    };
    let x: Vec<f64> = wave(n * d, 3.0, 1.0)
        .iter()
        .enumerate()
        .map(|(k, s)| s / 100.0 + if k % d == 0 { 0.5 } else { 0.0 })
        .collect();
    let (w, w_v) = (wave(d * d, 5.0, 2.0), wave(d * d, 7.0, 3.0));
    let mut r = RankResidual::new(&x, d).expect("rows differ");
    for (layer, stated) in stated.into_iter().enumerate() {
        assert!(
            (r.log_size - stated).abs() < 1e-12 * stated.abs(),
            "{layer}: {} {stated}",
            r.log_size
        );
        let (next, leading) = (
            r.layer(&w, &w_v).expect("not of rank one"),
            r.leading(&w, &w_v).expect("not of rank one"),
        );
        // The error of the leading formula, relative to the residual, is below 1e-10 from the layer
        // with residual e^-42 on.
        let deviation = (next.log_size - leading.log_size).abs();
        assert!(deviation < 10.0 * r.log_size.exp() + 1e-12, "{layer}: {deviation:e}");
        // The ratio of successive logarithms tends to 3; the difference is a constant over log |R|.
        assert!((next.log_size / r.log_size - 3.0).abs() < 4.0 / r.log_size.abs(), "{layer}");
        r = next;
    }
}

#[test]
fn a_skip_connection_keeps_the_rank_and_layer_norm_changes_the_affine_rank() {
    let (n, d) = (8usize, 4usize);
    let (mut x, w, w_v): (Vec<f64>, _, _) = (
        normals(n * d, "skip").iter().map(|v| 0.02 * v).collect(),
        normals(16, "W"),
        normals(16, "W_V"),
    );
    let residual = |x: &[f64]| RankResidual::new(x, d).expect("rows differ").log_size;
    for layer in 0..6 {
        let images = metastable::num::dense::mul(&x, &w, d);
        let mixed: Vec<f64> = images
            .chunks_exact(d)
            .flat_map(|q| {
                let scores: Vec<f64> = x
                    .chunks_exact(d)
                    .map(|y| q.iter().zip(y).map(|(a, b)| a * b).sum::<f64>().exp())
                    .collect();
                let total: f64 = scores.iter().sum();
                (0..d)
                    .map(|c| x.chunks_exact(d).zip(&scores).map(|(y, s)| s / total * y[c]).sum())
                    .collect::<Vec<f64>>()
            })
            .collect();
        let out = metastable::num::dense::mul(&mixed, &w_v, d);
        let next: Vec<f64> = x.iter().zip(&out).map(|(x, a)| x + a).collect();
        let ratio = residual(&next) / residual(&x);
        assert!((ratio - 1.0).abs() < 1e-2, "{layer}: {ratio}");
        x = next;
    }
    // The affine rank is that of the differences to the first row, from the eigenvalues of their
    // Gram matrix.
    let normed = |rows: &[[f64; 3]]| -> Vec<[f64; 3]> {
        let norm = |r: &[f64; 3]| {
            let mean = r.iter().sum::<f64>() / 3.0;
            let c = r.map(|v| v - mean);
            let size = c.iter().map(|v| v * v).sum::<f64>().sqrt();
            c.map(|v| v * 3f64.sqrt() / size)
        };
        rows.iter().map(norm).collect()
    };
    let rank = |rows: &[[f64; 3]]| {
        let deviation = |i: usize, c: usize| rows[i][c] - rows[0][c];
        let gram: Vec<f64> = (0..4)
            .map(|k| (0..3).map(|c| deviation(1 + k / 2, c) * deviation(1 + k % 2, c)).sum())
            .collect();
        metastable::num::dense::symmetric_eigenvalues(&gram, 2)
            .expect("symmetric")
            .iter()
            .filter(|v| **v > 1e-12)
            .count()
    };
    let line = [[1.0, 2.0, 0.0], [1.5, 1.0, 0.5], [3.0, -2.0, 2.0]];
    let ray = [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [5.0, 10.0, 0.0]];
    assert_eq!((rank(&line), rank(&normed(&line))), (1, 2));
    assert_eq!((rank(&ray), rank(&normed(&ray))), (1, 0));
}

#[test]
fn tokens_reach_the_hyperplanes_of_the_published_matrix_at_the_published_rate() {
    let v: Vec<f64> = vec![0.64709742, 0.81911926, 0.61210449, 0.63263484];
    let (mean, det) = (0.5 * (v[0] + v[3]), v[0] * v[3] - v[1] * v[2]);
    let root = (mean * mean - det).sqrt();
    let (rate, other) = (mean + root, mean - root);
    assert!((rate - 1.34799).abs() < 5e-6 && (other + 0.068257).abs() < 5e-7, "{rate} {other}");
    // phi^* = (v_21, lambda - v_11) V = lambda phi^*.
    let along = |z: &[f64]| v[2] * z[0] + (rate - v[0]) * z[1];
    let x = Tokens::flat(2, normals(40, "hyperplanes").iter().map(|g| 3.0 * g).collect())
        .expect("points");
    let options = Options { merge_radius: 0.0, rtol: 1e-13, ..Options::default() };
    let mut spreads = Vec::new();
    for t in [6.0, 7.0, 8.0, 9.0] {
        let z = solve(&rescaled(20, 2, v.clone(), None), &x, t, &options, &mut [])
            .expect("runs")
            .clusters;
        let group: Vec<f64> = z.rows().map(along).filter(|c| *c > 0.0).collect();
        let (low, high) =
            group.iter().fold((f64::INFINITY, 0.0), |(l, h), c| (nan_min(l, *c), nan_max(h, *c)));
        assert!(group.len() > 2);
        spreads.push((high - low) * (rate * t).exp());
    }
    assert!(spreads.iter().all(|s| (s / spreads[3] - 1.0).abs() < 1e-6), "{spreads:?}");
}

#[test]
fn four_thousand_quantile_tokens_follow_the_gaussian_closure() {
    let end = metastable::paper_figs::gaussian_closure::variances(4000, 1.0, -1.0, &[2.0])
        .expect("runs")[0];
    assert!((end - 1.0 / 3.0).abs() < 5e-4, "{end}");
}

#[test]
fn participation_of_four_thousand_keys() {
    for (c, printed) in [(0.25, 0.2524), (1.0, 0.6353), (4.0, 0.8851)] {
        let mut stream = metastable::num::stream::Stream::new(1, &["rows", "keys"]);
        let shares: Vec<f64> = (0..300)
            .map(|_| {
                // Cosines of uniform keys of S^2 are uniform.
                let gaps: Vec<f64> =
                    (0..4000).map(|_| c * 4000.0 * (1.0 - stream.uniform_in(-1.0, 1.0))).collect();
                let least = gaps.iter().copied().fold(f64::INFINITY, nan_min);
                let weights: Vec<f64> = gaps.iter().map(|g| (least - g).exp()).collect();
                weights.iter().map(|w| w * w).sum::<f64>() / weights.iter().sum::<f64>().powi(2)
            })
            .collect();
        let (mean, error) = metastable::num::stats::mean_and_error(&shares);
        assert!((mean - printed).abs() < 3.0 * error + 0.01 * printed, "{c}: {mean} +- {error}");
    }
}
