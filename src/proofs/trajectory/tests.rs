//! The bounds of the proof against the flow: they hold, and they are not wasteful.

use super::curvature::curvature;
use super::enclosure::{Axis, Enclosure, point};
use super::error_tube::Segment;
use super::series::Series;
use super::system::System;
use super::tangent_jacobian::{GrowthBounds, TangentJacobian};
use super::{Cause, Neighbourhood, prove, step};
use crate::attention::{RowWeights, Spec, Variant, dynamics};
use crate::num::{interval::Interval, stats::nan_max, stream::Stream};
use crate::sphere::Tokens;
use metastable_core::flow::{Options, solve};

const SA: Variant = Variant::mutual(RowWeights::Softmax);
const USA: Variant = Variant::mutual(RowWeights::Exponential);
const CAUSAL: Variant = Variant { causal: true, ..SA };

fn uniform(seed: u64, n: usize, d: usize) -> Tokens {
    let mut x = vec![0.0; n * d];
    Stream::new(seed, &["trajectory"]).normals(&mut x);
    Tokens::normalised(d, x).expect("tokens")
}

fn near(variant: Variant, beta: f64, x: &Tokens, radius: f64) -> Neighbourhood {
    Neighbourhood::new(variant, beta, x, radius).expect("a start")
}

/// Tokens with masses that differ.
fn weighted(seed: u64, n: usize, d: usize) -> Tokens {
    uniform(seed, n, d)
        .with_masses(&(0..n).map(|i| 1.0 + 0.7 * i as f64).collect::<Vec<_>>())
        .expect("masses")
}

fn field(system: &System, x: &[f64]) -> Vec<f64> {
    Series::new(system, Interval::mid).push(x.iter().copied())
}

#[test]
fn the_field_is_the_velocity() {
    let x = weighted(1, 5, 3);
    for (variant, scale) in [(SA, 1.0), (CAUSAL, 1.0), (USA, 2f64.exp())] {
        let flow = dynamics::find_variant(variant)
            .and_then(|e| e.build(&Spec::new(2.0, 5)))
            .expect("a dynamics");
        let mut wanted = vec![0.0; 15];
        flow.rates(0.0, &x, &mut Default::default(), &mut wanted);
        for (a, b) in field(&System::of_tokens(&near(variant, 2.0, &x, 0.0)), x.coordinates())
            .iter()
            .zip(&wanted)
        {
            assert!((a * scale - b).abs() < 1e-13, "{a} {b}");
        }
    }
}

#[test]
fn the_path_is_the_flow() {
    for seed in 0..4 {
        let x = uniform(seed, 8, 2);
        let proof = prove(&near(SA, 2.0, &x, 0.0)).expect("arithmetic").expect("a proof");
        if proof.steps.is_empty() {
            continue;
        }
        let flow = dynamics::find_variant(SA)
            .and_then(|e| e.build(&Spec::new(2.0, 8)))
            .expect("a dynamics");
        let options = Options { rtol: 1e-12, merge_radius: 0.0, ..Options::default() };
        let end = solve(&flow, &x, proof.t, &options, &mut []).expect("a solution").clusters;
        let last = &proof.steps[proof.steps.len() - 1].x;
        let squares = end.coordinates().iter().zip(last).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        assert!(
            (squares / 8.0).sqrt() < proof.error + 1e-9 * proof.growth.exp(),
            "{squares:e} {:e}",
            proof.error
        );
    }
}

/// The largest `(g - mu |e|^2) / |e|^3` and `g / |e|^2` found for x on the sphere near p by random
/// ascent, with g of Lemma 2: `<e, F(x) - F(p)> - kappa <e, F(p)> <e, F(x)>`. Tokens of one point
/// move independently.
fn largest_growth(
    tokens: &System,
    p: &[f64],
    size: f64,
    (mu, kappa): (f64, f64),
    s: &mut Stream,
) -> (f64, f64) {
    let d = tokens.d;
    let field_at_p = field(tokens, p);
    let value = |e: &[f64]| {
        let x = step::normalise_rows(d, &p.iter().zip(e).map(|(p, e)| p + e).collect::<Vec<_>>());
        let moved = field(tokens, &x);
        let (mut product, mut square, mut along) = (0.0, 0.0, 0.0);
        for at in 0..x.len() {
            let (m, e) = (tokens.norm_weight(at / d).mid(), x[at] - p[at]);
            product += m * e * (moved[at] - field_at_p[at]);
            square += m * e * e;
            along += m * e * field_at_p[at];
        }
        product -= kappa * along * (along + product);
        ((product - mu * square) / square.powf(1.5), product / square)
    };
    let scaled = |e: Vec<f64>| {
        let length = e.iter().map(|e| e * e).sum::<f64>().sqrt();
        e.iter().map(|e| e * size / length).collect::<Vec<_>>()
    };
    let mut best = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for _ in 0..6 {
        let mut e = vec![0.0; p.len()];
        s.normals(&mut e);
        e = scaled(e);
        let mut found = value(&e);
        let mut step = 0.5;
        for _ in 0..300 {
            let mut direction = vec![0.0; p.len()];
            s.normals(&mut direction);
            let next = scaled(e.iter().zip(scaled(direction)).map(|(e, w)| e + step * w).collect());
            let next_value = value(&next);
            if next_value.0 > found.0 {
                (e, found) = (next, next_value)
            } else {
                step = nan_max(0.97 * step, 1e-3)
            }
        }
        best = (nan_max(best.0, found.0), nan_max(best.1, found.1));
    }
    best
}

/// One configuration p, and the bounds there.
struct Configuration {
    axes: Vec<Axis>,
    exact: Vec<Interval>,
    norm: Interval,
}

impl Configuration {
    fn new(s: &System, p: &[f64]) -> Self {
        let axes = p.chunks_exact(s.d).map(Axis::of).collect();
        Self {
            axes,
            exact: p.iter().map(|v| point(*v)).collect(),
            norm: Interval::new(1.0 - 1e-15, 1.0 + 1e-15),
        }
    }

    fn jacobian(&self, s: &System) -> TangentJacobian {
        TangentJacobian::new(s, &Enclosure::new(s, &self.exact, self.norm, &self.axes, false))
    }

    /// `Lambda` of the tokens for errors up to `size` in the norm of the proof.
    fn lambda(&self, s: &System, size: f64) -> f64 {
        let token_errors: Vec<f64> = (0..s.len()).map(|i| s.token_error(i, size)).collect();
        let widest = token_errors.iter().copied().fold(0.0, nan_max);
        let wide: Vec<_> = self
            .exact
            .iter()
            .enumerate()
            .map(|(at, v)| *v + Interval::symmetric(token_errors[at / s.d]))
            .collect();
        let l = Enclosure::new(s, &wide, self.norm + Interval::symmetric(widest), &self.axes, true);
        curvature(s, &l, &token_errors, point(0.01)).0
    }

    /// `Lambda` of the points in configuration of their tokens, if Lemma 6 holds; otherwise whether
    /// any kappa is allowed.
    fn cluster_lambda(&self, s: &System, growth: GrowthBounds, size: f64) -> Result<f64, bool> {
        let (system, range, norm, axes, defect) =
            (s, &self.exact[..], self.norm, &self.axes[..], point(0.0));
        Segment { system, range, norm, axes, q: 1e-15, time: 1.0, growth, defect, error: size }
            .cluster_curvature(size, point(0.01))
            .map(|(l, _)| l)
    }
}

/// `mu` for kappa = 0 and `Lambda` at p, for errors up to `size` in the norm of the proof.
fn bounds(s: &System, p: &[f64], size: f64) -> (f64, f64) {
    let configuration = Configuration::new(s, p);
    (
        configuration.jacobian(s).shifted(0.0).mu(0.0, 1e-6).expect("a bound"),
        configuration.lambda(s, size),
    )
}

#[test]
fn errors_along_the_flow_do_not_grow() {
    let mut s = Stream::new(6, &["along"]);
    for (variant, beta, n, d) in
        [(SA, 1.0, 4, 2), (SA, 4.0, 5, 3), (USA, 3.0, 4, 3), (CAUSAL, 2.0, 4, 2), (SA, 9.0, 3, 2)]
    {
        for seed in 0..4 {
            let x = weighted(seed, n, d);
            let (system, size) = (System::of_tokens(&near(variant, beta, &x, 0.0)), 1e-4);
            let configuration = Configuration::new(&system, x.coordinates());
            let jacobian = configuration.jacobian(&system);
            // Large enough to show the terms of third order.
            let kappa = 0.7 / jacobian.growth_bounds(0.0, 1.0).kappa_f_squared.hi();
            let mu = jacobian.shifted(kappa).mu(0.0, 1e-6).expect("a bound");
            let growth = jacobian.growth_bounds(mu, kappa);
            let kappa_f = growth.kappa_f.hi();
            let bound = kappa_f * growth.s_norm.hi()
                + (1.0 + kappa_f * size) * configuration.lambda(&system, size);
            let (cubic, _) =
                largest_growth(&system, x.coordinates(), 0.9 * size, (mu, kappa), &mut s);
            assert!(cubic <= bound, "{variant:?} {beta}: {cubic} > {bound}");
            let (_, rate) = largest_growth(&system, x.coordinates(), 1e-8, (0.0, kappa), &mut s);
            assert!(rate <= mu + 1e-5 && rate > 0.5 * mu - 0.05, "{variant:?} {beta}: {rate} {mu}");
        }
    }
}

#[test]
fn clusters_that_keep_together_need_only_the_bounds_of_their_points() {
    let mut s = Stream::new(7, &["whole"]);
    let third = std::f64::consts::TAU / 3.0;
    for (variant, beta) in [(SA, 9.0), (SA, 16.0), (USA, 12.0)] {
        for turn in [0.0, 0.1, 0.25] {
            let at = Tokens::from_angles(&[0.0, third + turn, 2.0 * third]).expect("tokens");
            let labels = [0, 1, 0, 2, 1, 0];
            let rows: Vec<f64> = labels.iter().flat_map(|l| at.row(*l).to_vec()).collect();
            let all = Tokens::normalised(2, rows)
                .and_then(|t| t.with_masses(&[0.2, 0.1, 0.3, 0.1, 0.2, 0.1]))
                .expect("tokens");
            let tokens = System::of_tokens(&near(variant, beta, &all, 0.0));
            let clusters = tokens.merged(&labels);
            let configuration = Configuration::new(&clusters, at.coordinates());
            let jacobian = configuration.jacobian(&clusters);
            let (size, mu) = (1e-6, jacobian.shifted(0.0).mu(0.0, 1e-12).expect("a bound"));
            let lambda = configuration
                .cluster_lambda(&clusters, jacobian.growth_bounds(mu, 0.0), size)
                .expect("far apart");
            assert!(lambda < 0.05 * configuration.lambda(&clusters, size), "{lambda}");
            let (cubic, _) =
                largest_growth(&tokens, all.coordinates(), 0.9 * size, (mu, 0.0), &mut s);
            // The search evaluates differences of doubles.
            assert!(
                cubic <= lambda + 1e-15 / size.powi(2),
                "{variant:?} {beta}: {cubic} > {lambda}"
            );
            // Refused: errors so large that tokens of a cluster could part.
            assert!(
                configuration
                    .cluster_lambda(&clusters, jacobian.growth_bounds(mu, 0.0), 1e-2)
                    .is_err()
            );
        }
    }
    let close = Tokens::from_angles(&[0.0, 0.5]).expect("tokens");
    let all =
        Tokens::normalised(2, [close.row(0), close.row(1), close.row(1)].concat()).expect("tokens");
    let clusters = System::of_tokens(&near(SA, 4.0, &all, 0.0)).merged(&[0, 1, 1]);
    let configuration = Configuration::new(&clusters, close.coordinates());
    assert!(
        configuration
            .cluster_lambda(
                &clusters,
                configuration.jacobian(&clusters).growth_bounds(0.0, 0.0),
                1e-9
            )
            .is_err()
    );
}

#[test]
fn kappa_is_used_only_for_clusters_whose_deviations_decay() {
    let mut s = Stream::new(8, &["deviations"]);
    // A cluster of three and one token: Lemma 4 allows any kappa, and the bounds of tokens hold
    // with it.
    let at = Tokens::from_angles(&[0.0, 2.0]).expect("tokens");
    let merged = |masses: [f64; 4], variant, beta| {
        let rows: Vec<f64> = [0, 1, 1, 1].iter().flat_map(|l| at.row(*l).to_vec()).collect();
        let all = Tokens::normalised(2, rows).and_then(|t| t.with_masses(&masses)).expect("tokens");
        (System::of_tokens(&near(variant, beta, &all, 0.0)), all)
    };
    for (masses, variant, beta) in [
        ([0.1, 0.5, 0.3, 0.1], SA, 2.0),
        ([0.3, 0.1, 0.4, 0.2], SA, 5.0),
        ([0.2, 0.1, 0.3, 0.4], USA, 4.0),
    ] {
        let (tokens, all) = merged(masses, variant, beta);
        let clusters = tokens.merged(&[0, 1, 1, 1]);
        let configuration = Configuration::new(&clusters, at.coordinates());
        let (jacobian, size) = (configuration.jacobian(&clusters), 1e-3);
        let kappa = 0.7 / jacobian.growth_bounds(0.0, 1.0).kappa_f_squared.hi();
        let mu = jacobian.shifted(kappa).mu(0.0, 1e-6).expect("a bound");
        let growth = jacobian.growth_bounds(mu, kappa);
        let (kappa_f, norm) = (growth.kappa_f.hi(), growth.s_norm.hi());
        assert_eq!(
            configuration.cluster_lambda(&clusters, growth, size),
            Err(true),
            "{variant:?} {beta}"
        );
        let bound = kappa_f * norm + (1.0 + kappa_f * size) * configuration.lambda(&clusters, size);
        let (cubic, _) =
            largest_growth(&tokens, all.coordinates(), 0.9 * size, (mu, kappa), &mut s);
        assert!(cubic <= bound, "{variant:?} {beta}: {cubic} > {bound}");
    }
    // Beside a heavy token deviations grow, and no kappa reduces them.
    let (tokens, all) = merged([1.0, 1e-3, 2e-3, 1e-3], SA, 0.0);
    let clusters = tokens.merged(&[0, 1, 1, 1]);
    let configuration = Configuration::new(&clusters, at.coordinates());
    let jacobian = configuration.jacobian(&clusters);
    let kappa = 4.0 / jacobian.growth_bounds(0.0, 1.0).kappa_f_squared.hi();
    let mu = jacobian.shifted(kappa).mu(0.0, 1e-9).expect("a bound");
    let (_, rate) = largest_growth(&tokens, all.coordinates(), 1e-8, (0.0, kappa), &mut s);
    assert!(rate > mu + 0.1, "{rate} {mu}");
    assert_eq!(
        configuration.cluster_lambda(&clusters, jacobian.growth_bounds(mu, kappa), 1e-8),
        Err(false)
    );
}

#[test]
fn a_wait_of_ten_billion_units_is_proved() {
    // Three clusters at beta = 25 wait for 1e11 and more.
    let third = std::f64::consts::TAU / 3.0;
    let x = Tokens::from_angles(&[
        0.0,
        0.02,
        third,
        third + 0.03,
        2.0 * third + 0.01,
        2.0 * third - 0.02,
    ])
    .expect("tokens");
    let proof = prove(&near(SA, 25.0, &x, 0.0)).expect("arithmetic").expect("a proof");
    assert!(proof.t > 1e10 && proof.error < 1e-3, "{:e} {:e}", proof.t, proof.error);
    // A start with the symmetry of the triangle never leaves it.
    let x =
        Tokens::from_angles(&[0.0, 0.0, third, third, 2.0 * third, 2.0 * third]).expect("tokens");
    assert!(prove(&near(SA, 25.0, &x, 0.0)).expect("arithmetic").is_err());
}

#[test]
fn no_error_grows_faster_than_its_bound() {
    let mut s = Stream::new(3, &["steepest"]);
    for (variant, beta, n, d) in
        [(SA, 1.0, 4, 2), (SA, 4.0, 5, 3), (USA, 3.0, 4, 3), (CAUSAL, 2.0, 4, 2), (SA, 9.0, 3, 2)]
    {
        for seed in 0..4 {
            let x = weighted(seed, n, d);
            let system = System::of_tokens(&near(variant, beta, &x, 0.0));
            let (size, small) = (1e-2, 1e-7);
            let (mu, lambda) = bounds(&system, x.coordinates(), size);
            let (cubic, _) =
                largest_growth(&system, x.coordinates(), 0.9 * size, (mu, 0.0), &mut s);
            assert!(cubic <= lambda, "{variant:?} {beta}: {cubic} > {lambda}");
            // The linear part is sharp: useless bounds would pass the first test.
            let (_, rate) = largest_growth(&system, x.coordinates(), small, (0.0, 0.0), &mut s);
            assert!(
                rate <= mu + 1e-5 && (rate > 0.5 * mu - 0.02),
                "{variant:?} {beta}: {rate} {mu}"
            );
        }
    }
}

#[test]
fn errors_of_merged_tokens_grow_as_those_of_their_clusters() {
    let mut s = Stream::new(4, &["merged"]);
    for (variant, beta) in [(SA, 1.0), (SA, 6.0), (USA, 2.0)] {
        for seed in 0..4 {
            let (x, labels) = (uniform(seed, 3, 2), [0, 1, 0, 2, 1, 0]);
            let rows: Vec<f64> = labels.iter().flat_map(|l| x.row(*l).to_vec()).collect();
            let all = Tokens::normalised(2, rows)
                .and_then(|t| t.with_masses(&[1.0, 2.0, 3.0, 1.0, 1.0, 0.5]))
                .expect("tokens");
            let tokens = System::of_tokens(&near(variant, beta, &all, 0.0));
            let clusters = tokens.merged(&labels);
            let (mu, lambda) = bounds(&clusters, x.coordinates(), 1e-3);
            let (full, _) = bounds(&tokens, all.coordinates(), 1e-3);
            assert!((full - mu).abs() < 3e-6, "{full} {mu}");
            let (cubic, _) = largest_growth(&tokens, all.coordinates(), 0.9e-3, (mu, 0.0), &mut s);
            assert!(cubic <= lambda, "{variant:?} {beta}: {cubic} > {lambda}");
        }
    }
}

#[test]
fn symmetric_starts_are_never_proved() {
    let tau = std::f64::consts::TAU;
    let polygon = |n: usize| {
        Tokens::from_angles(&(0..n).map(|k| 0.3 + tau * k as f64 / n as f64).collect::<Vec<_>>())
            .expect("tokens")
    };
    // On the circle, symmetric about an axis on which a token sits, with another opposite: they
    // stay opposite.
    let axis = Tokens::from_angles(&[0.0, 0.5 * tau, 1.0, -1.0, 2.2, -2.2]).expect("tokens");
    let pairs = Tokens::normalised(
        3,
        vec![1.0, 0.2, 0.0, -1.0, -0.2, 0.0, 0.1, 1.0, 0.4, -0.1, -1.0, -0.4],
    )
    .expect("tokens");
    // A triangle in a plane of symmetry and one token on each side: the sum of all tokens stays 0.
    let (c, s) = ((tau / 3.0).cos(), (tau / 3.0).sin());
    let both = Tokens::normalised(
        3,
        vec![1.0, 0.0, 0.0, c, s, 0.0, c, -s, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0],
    )
    .expect("tokens");
    for x in [polygon(2), polygon(3), polygon(5), axis, pairs, both] {
        for (variant, beta) in [(SA, 1.0), (SA, 5.0), (USA, 1.0), (SA, 0.0)] {
            for radius in [0.0, 1e-6] {
                let failure = prove(&near(variant, beta, &x, radius))
                    .expect("arithmetic")
                    .expect_err("not provable");
                assert!(matches!(failure.cause, Cause::SteadyState | Cause::Growth), "{failure:?}");
            }
        }
    }
    let failure =
        prove(&near(SA, 2.0, &polygon(5), 0.0)).expect("arithmetic").expect_err("not provable");
    assert_eq!(failure.cause, Cause::SteadyState);
}

#[test]
fn a_ball_that_holds_an_unprovable_start_is_not_proved() {
    // The triangle with one corner moved by t: provable alone, not with a radius above t.
    let moved = |t: f64| {
        Tokens::from_angles(&[
            t,
            2.0 * std::f64::consts::FRAC_PI_3,
            4.0 * std::f64::consts::FRAC_PI_3,
        ])
        .expect("tokens")
    };
    for t in [1e-3, 1e-6] {
        assert!(prove(&near(SA, 1.0, &moved(t), 0.0)).expect("arithmetic").is_ok());
        assert!(prove(&near(SA, 1.0, &moved(t), 1.01 * t)).expect("arithmetic").is_err());
    }
}
