//! The bounds against the flow itself, from both sides.

use super::curvature::curvature;
use super::growth::{Derivative, Rates};
use super::local::{Axis, Local, point};
use super::series::Series;
use super::system::System;
use super::tube::Part;
use super::{Cause, Neighbourhood, prove, step};
use crate::attention::{RowWeights, Spec, Variant, dynamics};
use crate::num::interval::Interval;
use crate::num::stream::Stream;
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
    uniform(seed, n, d).with_masses(&(0..n).map(|i| 1.0 + 0.7 * i as f64).collect::<Vec<_>>()).expect("masses")
}

fn field(system: &System, x: &[f64]) -> Vec<f64> {
    Series::<f64>::new(system).push(x.iter().copied())
}

#[test]
fn the_field_is_the_velocity() {
    let x = weighted(1, 5, 3);
    for (variant, scale) in [(SA, 1.0), (CAUSAL, 1.0), (USA, 2f64.exp())] {
        let flow = dynamics::of_variant(variant).and_then(|e| e.build(&Spec::new(2.0, 5))).expect("a dynamics");
        let mut wanted = vec![0.0; 15];
        flow.rates(0.0, &x, &mut Default::default(), &mut wanted);
        for (a, b) in field(&System::of_tokens(&near(variant, 2.0, &x, 0.0)), x.coordinates()).iter().zip(&wanted) {
            assert!((a * scale - b).abs() < 1e-13, "{a} {b}");
        }
    }
}

#[test]
fn the_path_is_the_flow() {
    for seed in 0..4 {
        let x = uniform(seed, 8, 2);
        let proof = prove(&near(SA, 2.0, &x, 0.0)).expect("arithmetic").expect("a proof");
        if proof.strides.is_empty() {
            continue;
        }
        let flow = dynamics::of_variant(SA).and_then(|e| e.build(&Spec::new(2.0, 8))).expect("a dynamics");
        let options = Options { rtol: 1e-12, merge_radius: 0.0, ..Options::default() };
        let end = solve(&flow, &x, proof.t, &options, &mut []).expect("a solution").clusters;
        let last = &proof.strides[proof.strides.len() - 1].x;
        let squares = end.coordinates().iter().zip(last).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        assert!((squares / 8.0).sqrt() < proof.error + 1e-9 * proof.growth.exp(), "{squares:e} {:e}", proof.error);
    }
}

/// The largest `(g - mu |e|^2) / |e|^3` and `g / |e|^2` that are found for x on the sphere near p, climbing from random directions, where g is what Lemma 2 says of the
/// error: `<e, F(x) - F(p)> - kappa <e, F(p)> <e, F(x)>`. Tokens of one point move each on their own.
fn steepest(tokens: &System, p: &[f64], size: f64, (mu, kappa): (f64, f64), s: &mut Stream) -> (f64, f64) {
    let d = tokens.d;
    let at_rest = field(tokens, p);
    let value = |e: &[f64]| {
        let x = step::unit(d, &p.iter().zip(e).map(|(p, e)| p + e).collect::<Vec<_>>());
        let moved = field(tokens, &x);
        let (mut product, mut square, mut along) = (0.0, 0.0, 0.0);
        for at in 0..x.len() {
            let (m, e) = (tokens.weight(at / d).mid(), x[at] - p[at]);
            product += m * e * (moved[at] - at_rest[at]);
            square += m * e * e;
            along += m * e * at_rest[at];
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
        let mut stride = 0.5;
        for _ in 0..300 {
            let mut way = vec![0.0; p.len()];
            s.normals(&mut way);
            let next = scaled(e.iter().zip(scaled(way)).map(|(e, w)| e + stride * w).collect());
            let there = value(&next);
            if there.0 > found.0 { (e, found) = (next, there) } else { stride = f64::max(0.97 * stride, 1e-3) }
        }
        best = (best.0.max(found.0), best.1.max(found.1));
    }
    best
}

/// What is known at one configuration.
struct Place {
    axes: Vec<Axis>,
    exact: Vec<Interval>,
    norm: Interval,
}

impl Place {
    fn new(s: &System, p: &[f64]) -> Self {
        let axes = p.chunks_exact(s.d).map(Axis::of).collect();
        Self { axes, exact: p.iter().map(|v| point(*v)).collect(), norm: Interval::new(1.0 - 1e-15, 1.0 + 1e-15) }
    }

    fn derivative(&self, s: &System) -> Derivative {
        Derivative::new(s, &Local::new(s, &self.exact, self.norm, &self.axes, false))
    }

    /// `Lambda` of the tokens for errors up to `size` in the norm of the proof.
    fn lambda(&self, s: &System, size: f64) -> f64 {
        let reach: Vec<f64> = (0..s.len()).map(|i| s.reach(i, size)).collect();
        let widest = reach.iter().copied().fold(0.0, f64::max);
        let wide: Vec<_> = self.exact.iter().enumerate().map(|(at, v)| *v + Interval::symmetric(reach[at / s.d])).collect();
        let l = Local::new(s, &wide, self.norm + Interval::symmetric(widest), &self.axes, true);
        curvature(s, &l, &reach, point(0.01)).0
    }

    /// The same with the points in the place of their tokens, when these provably come together; or whether any kappa is allowed.
    fn whole(&self, s: &System, rates: Rates, size: f64) -> Result<f64, bool> {
        let (system, range, norm, axes, defect) = (s, &self.exact[..], self.norm, &self.axes[..], point(0.0));
        Part { system, range, norm, axes, bulge: 1e-15, time: 1.0, rates, defect, error: size }
            .whole_clusters(size, point(0.01))
            .map(|(l, _)| l)
    }
}

/// `mu`, `Lambda` at a point where nothing moves, for errors up to `size` in the norm of the proof.
fn bounds(s: &System, p: &[f64], size: f64) -> (f64, f64) {
    let place = Place::new(s, p);
    (place.derivative(s).less(0.0).bound(0.0, 1e-6).expect("a bound"), place.lambda(s, size))
}

#[test]
fn what_lies_along_the_flow_does_not_grow() {
    let mut s = Stream::new(6, &["along"]);
    for (variant, beta, n, d) in [(SA, 1.0, 4, 2), (SA, 4.0, 5, 3), (USA, 3.0, 4, 3), (CAUSAL, 2.0, 4, 2), (SA, 9.0, 3, 2)] {
        for seed in 0..4 {
            let x = weighted(seed, n, d);
            let (system, size) = (System::of_tokens(&near(variant, beta, &x, 0.0)), 1e-4);
            let place = Place::new(&system, x.coordinates());
            let derivative = place.derivative(&system);
            // Not tied to the error, so that what is of third order shows.
            let kappa = 0.7 / derivative.rates(0.0, 1.0).square.hi();
            let mu = derivative.less(kappa).bound(0.0, 1e-6).expect("a bound");
            let rates = derivative.rates(mu, kappa);
            let drag = rates.drag.hi();
            let bound = drag * rates.norm.hi() + (1.0 + drag * size) * place.lambda(&system, size);
            let (cubic, _) = steepest(&system, x.coordinates(), 0.9 * size, (mu, kappa), &mut s);
            assert!(cubic <= bound, "{variant:?} {beta}: {cubic} > {bound}");
            let (_, rate) = steepest(&system, x.coordinates(), 1e-8, (0.0, kappa), &mut s);
            assert!(rate <= mu + 1e-5 && rate > 0.5 * mu - 0.05, "{variant:?} {beta}: {rate} {mu}");
        }
    }
}

#[test]
fn whole_clusters_need_the_bounds_of_their_points_alone() {
    let mut s = Stream::new(7, &["whole"]);
    let third = std::f64::consts::TAU / 3.0;
    for (variant, beta) in [(SA, 9.0), (SA, 16.0), (USA, 12.0)] {
        for turn in [0.0, 0.1, 0.25] {
            let at = Tokens::from_angles(&[0.0, third + turn, 2.0 * third]).expect("tokens");
            let labels = [0, 1, 0, 2, 1, 0];
            let rows: Vec<f64> = labels.iter().flat_map(|l| at.row(*l).to_vec()).collect();
            let all = Tokens::normalised(2, rows).and_then(|t| t.with_masses(&[0.2, 0.1, 0.3, 0.1, 0.2, 0.1])).expect("tokens");
            let tokens = System::of_tokens(&near(variant, beta, &all, 0.0));
            let clusters = tokens.merged(&labels);
            let place = Place::new(&clusters, at.coordinates());
            let derivative = place.derivative(&clusters);
            let (size, mu) = (1e-6, derivative.less(0.0).bound(0.0, 1e-12).expect("a bound"));
            let lambda = place.whole(&clusters, derivative.rates(mu, 0.0), size).expect("far apart");
            assert!(lambda < 0.05 * place.lambda(&clusters, size), "{lambda}");
            let (cubic, _) = steepest(&tokens, all.coordinates(), 0.9 * size, (mu, 0.0), &mut s);
            // The search sees differences of doubles.
            assert!(cubic <= lambda + 1e-15 / size.powi(2), "{variant:?} {beta}: {cubic} > {lambda}");
            // Errors so large that tokens of a cluster could part, and clusters that are near one another.
            assert!(place.whole(&clusters, derivative.rates(mu, 0.0), 1e-2).is_err());
        }
    }
    let close = Tokens::from_angles(&[0.0, 0.5]).expect("tokens");
    let all = Tokens::normalised(2, [close.row(0), close.row(1), close.row(1)].concat()).expect("tokens");
    let clusters = System::of_tokens(&near(SA, 4.0, &all, 0.0)).merged(&[0, 1, 1]);
    let place = Place::new(&clusters, close.coordinates());
    assert!(place.whole(&clusters, place.derivative(&clusters).rates(0.0, 0.0), 1e-9).is_err());
}

#[test]
fn time_is_chosen_only_for_clusters_whose_deviations_decay() {
    let mut s = Stream::new(8, &["deviations"]);
    // Three tokens near a fourth: any kappa is allowed, and the bounds of tokens hold with one.
    let at = Tokens::from_angles(&[0.0, 2.0]).expect("tokens");
    let merged = |masses: [f64; 4], variant, beta| {
        let rows: Vec<f64> = [0, 1, 1, 1].iter().flat_map(|l| at.row(*l).to_vec()).collect();
        let all = Tokens::normalised(2, rows).and_then(|t| t.with_masses(&masses)).expect("tokens");
        (System::of_tokens(&near(variant, beta, &all, 0.0)), all)
    };
    for (masses, variant, beta) in [([0.1, 0.5, 0.3, 0.1], SA, 2.0), ([0.3, 0.1, 0.4, 0.2], SA, 5.0), ([0.2, 0.1, 0.3, 0.4], USA, 4.0)] {
        let (tokens, all) = merged(masses, variant, beta);
        let clusters = tokens.merged(&[0, 1, 1, 1]);
        let place = Place::new(&clusters, at.coordinates());
        let (derivative, size) = (place.derivative(&clusters), 1e-3);
        let kappa = 0.7 / derivative.rates(0.0, 1.0).square.hi();
        let mu = derivative.less(kappa).bound(0.0, 1e-6).expect("a bound");
        let rates = derivative.rates(mu, kappa);
        let (drag, norm) = (rates.drag.hi(), rates.norm.hi());
        assert_eq!(place.whole(&clusters, rates, size), Err(true), "{variant:?} {beta}");
        let bound = drag * norm + (1.0 + drag * size) * place.lambda(&clusters, size);
        let (cubic, _) = steepest(&tokens, all.coordinates(), 0.9 * size, (mu, kappa), &mut s);
        assert!(cubic <= bound, "{variant:?} {beta}: {cubic} > {bound}");
    }
    // Beside a heavy token deviations grow, and no kappa sees them.
    let (tokens, all) = merged([1.0, 1e-3, 2e-3, 1e-3], SA, 0.0);
    let clusters = tokens.merged(&[0, 1, 1, 1]);
    let place = Place::new(&clusters, at.coordinates());
    let derivative = place.derivative(&clusters);
    let kappa = 4.0 / derivative.rates(0.0, 1.0).square.hi();
    let mu = derivative.less(kappa).bound(0.0, 1e-9).expect("a bound");
    let (_, rate) = steepest(&tokens, all.coordinates(), 1e-8, (0.0, kappa), &mut s);
    assert!(rate > mu + 0.1, "{rate} {mu}");
    assert_eq!(place.whole(&clusters, derivative.rates(mu, kappa), 1e-8), Err(false));
}

#[test]
fn a_wait_of_ten_billion_units_is_proved() {
    // Three clusters at beta = 25 wait for 1e11 and more.
    let third = std::f64::consts::TAU / 3.0;
    let x = Tokens::from_angles(&[0.0, 0.02, third, third + 0.03, 2.0 * third + 0.01, 2.0 * third - 0.02]).expect("tokens");
    let proof = prove(&near(SA, 25.0, &x, 0.0)).expect("arithmetic").expect("a proof");
    assert!(proof.t > 1e10 && proof.error < 1e-3, "{:e} {:e}", proof.t, proof.error);
    // With the symmetry of two axes nothing ends the wait.
    let x = Tokens::from_angles(&[0.0, 0.0, third, third, 2.0 * third, 2.0 * third]).expect("tokens");
    assert!(prove(&near(SA, 25.0, &x, 0.0)).expect("arithmetic").is_err());
}

#[test]
fn no_error_grows_faster_than_its_bound() {
    let mut s = Stream::new(3, &["steepest"]);
    for (variant, beta, n, d) in [(SA, 1.0, 4, 2), (SA, 4.0, 5, 3), (USA, 3.0, 4, 3), (CAUSAL, 2.0, 4, 2), (SA, 9.0, 3, 2)] {
        for seed in 0..4 {
            let x = weighted(seed, n, d);
            let system = System::of_tokens(&near(variant, beta, &x, 0.0));
            let (size, small) = (1e-2, 1e-7);
            let (mu, lambda) = bounds(&system, x.coordinates(), size);
            let (cubic, _) = steepest(&system, x.coordinates(), 0.9 * size, (mu, 0.0), &mut s);
            assert!(cubic <= lambda, "{variant:?} {beta}: {cubic} > {lambda}");
            // The linear part is sharp: bounds that say nothing would pass the first test.
            let (_, rate) = steepest(&system, x.coordinates(), small, (0.0, 0.0), &mut s);
            assert!(rate <= mu + 1e-5 && (rate > 0.5 * mu - 0.02), "{variant:?} {beta}: {rate} {mu}");
        }
    }
}

#[test]
fn merged_tokens_grow_as_their_clusters_and_their_error_is_that_of_all() {
    let mut s = Stream::new(4, &["merged"]);
    for (variant, beta) in [(SA, 1.0), (SA, 6.0), (USA, 2.0)] {
        for seed in 0..4 {
            let (x, labels) = (uniform(seed, 3, 2), [0, 1, 0, 2, 1, 0]);
            let rows: Vec<f64> = labels.iter().flat_map(|l| x.row(*l).to_vec()).collect();
            let all = Tokens::normalised(2, rows).and_then(|t| t.with_masses(&[1.0, 2.0, 3.0, 1.0, 1.0, 0.5])).expect("tokens");
            let tokens = System::of_tokens(&near(variant, beta, &all, 0.0));
            let clusters = tokens.merged(&labels);
            let (mu, lambda) = bounds(&clusters, x.coordinates(), 1e-3);
            let (full, _) = bounds(&tokens, all.coordinates(), 1e-3);
            assert!((full - mu).abs() < 3e-6, "{full} {mu}");
            let (cubic, _) = steepest(&tokens, all.coordinates(), 0.9e-3, (mu, 0.0), &mut s);
            assert!(cubic <= lambda, "{variant:?} {beta}: {cubic} > {lambda}");
        }
    }
}

#[test]
fn symmetric_starts_are_never_proved() {
    let tau = std::f64::consts::TAU;
    let polygon = |n: usize| Tokens::from_angles(&(0..n).map(|k| 0.3 + tau * k as f64 / n as f64).collect::<Vec<_>>()).expect("tokens");
    // On the circle, symmetric about an axis on which a token sits, with another opposite: they stay opposite.
    let axis = Tokens::from_angles(&[0.0, 0.5 * tau, 1.0, -1.0, 2.2, -2.2]).expect("tokens");
    let pairs = Tokens::normalised(3, vec![1.0, 0.2, 0.0, -1.0, -0.2, 0.0, 0.1, 1.0, 0.4, -0.1, -1.0, -0.4]).expect("tokens");
    // A triangle in a plane of symmetry and a token on either side: the sum of all tokens stays 0.
    let (c, s) = ((tau / 3.0).cos(), (tau / 3.0).sin());
    let both = Tokens::normalised(3, vec![1.0, 0.0, 0.0, c, s, 0.0, c, -s, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0]).expect("tokens");
    for x in [polygon(2), polygon(3), polygon(5), axis, pairs, both] {
        for (variant, beta) in [(SA, 1.0), (SA, 5.0), (USA, 1.0), (SA, 0.0)] {
            for radius in [0.0, 1e-6] {
                let lost = prove(&near(variant, beta, &x, radius)).expect("arithmetic").expect_err("not provable");
                assert!(matches!(lost.cause, Cause::Symmetric | Cause::Growth), "{lost:?}");
            }
        }
    }
    let lost = prove(&near(SA, 2.0, &polygon(5), 0.0)).expect("arithmetic").expect_err("not provable");
    assert_eq!(lost.cause, Cause::Symmetric);
}

#[test]
fn a_ball_that_holds_an_unprovable_start_is_not_proved() {
    // The triangle with one corner moved by t: provable alone, not with a radius above t.
    let moved = |t: f64| Tokens::from_angles(&[t, 2.0 * std::f64::consts::FRAC_PI_3, 4.0 * std::f64::consts::FRAC_PI_3]).expect("tokens");
    for t in [1e-3, 1e-6] {
        assert!(prove(&near(SA, 1.0, &moved(t), 0.0)).expect("arithmetic").is_ok());
        assert!(prove(&near(SA, 1.0, &moved(t), 1.01 * t)).expect("arithmetic").is_err());
    }
}
