//! Densities on the circle far beyond what cells or waves can hold, against an exact solution, the spectral one and independent computations; ends that cannot be overlooked.

use metastable::continuity::flow_map::{FlowMap, Resolution};
use metastable::continuity::{
    Evolution, EvolutionEnd, MeasureDynamics, circle::Circle, density::Density, finite_volume::FiniteVolume, lagrangian::Lagrangian,
};
use metastable::entropy::bootstrap::estimate_negentropy;
use metastable::error::Error;
use metastable::num::stream::Stream;
use metastable::sphere::{Tokens, law::Law};

fn circle(text: &str) -> Circle {
    Density::parse(text).and_then(|d| Circle::from_density(&d, 64)).expect("a density")
}

fn medium(law: &str, beta: f64) -> MeasureDynamics {
    MeasureDynamics::new(law, beta, 0.0).expect("a medium")
}

fn run(start: FlowMap, m: &MeasureDynamics, t: f64) -> FlowMap {
    start.evolve(m, t, |_, _| true).and_then(Evolution::reached).expect("resolved")
}

#[test]
fn a_collapse_that_is_known_exactly() {
    // beta = 0, Poisson kernel of parameter r: u = r^2 is logistic (Ott, Antonsen 2008), negentropy -log(1 - u), its rate u.
    let u = 0.25f64;
    let poisson = |s: f64| (1.0 - u) / (1.0 - 2.0 * u.sqrt() * s.cos() + u);
    for (t, resolution) in [(1.0, Resolution::FINE), (30.0, Resolution::FINE), (30.0, Resolution::COARSE)] {
        let end = run(FlowMap::new(poisson, &[], resolution).expect("a density"), &medium("sa", 0.0), t);
        let odds = u / (1.0 - u) * t.exp();
        let wanted = (odds.ln_1p(), odds / (1.0 + odds));
        let rate = end.negentropy_rate(&medium("sa", 0.0)).expect("a rate");
        // Ten times the mass times error at which panels are halved.
        let tolerance = 10.0 * resolution.max_loss;
        assert!(
            (end.negentropy() - wanted.0).abs() < tolerance && (rate - wanted.1).abs() < tolerance,
            "{t}: {} {rate} {wanted:?}",
            end.negentropy()
        );
    }
}

#[test]
fn the_flow_map_meets_the_series_while_it_resolves() {
    for (law, beta, t) in
        [("sa", 4.0, 1.0), ("usa", 2.0, 0.5), ("sa", -3.0, 0.5), ("sinkhorn", 4.0, 1.0), ("usa", -3.0, 0.1), ("sa", 30.0, 0.2)]
    {
        let (m, start) = (medium(law, beta), circle("cos:1=0.3,2=-0.2+sin:1=0.1,3=0.05"));
        let map = run(FlowMap::from_series(&start, Resolution::FINE).expect("panels"), &m, t);
        let series = start.evolve(&m, t, 1024, |_, _| true).and_then(Evolution::reached).expect("resolved");
        let rates = (map.negentropy_rate(&m).expect("a rate"), series.negentropy_rate(&m));
        let close = |a: f64, b: f64| (a - b).abs() < 1e-8 * b.abs().max(0.01);
        assert!(close(map.negentropy(), series.negentropy()) && close(rates.0, rates.1), "{law} {beta}: {rates:?}");
        assert!(
            close(map.energy(&m), series.energy(&m)) && close(map.energy_rate(&m).expect("a rate"), series.energy_rate(&m)),
            "{law} {beta}"
        );
        map.series(8).c.iter().zip(&series.c).for_each(|(a, b)| assert!((a - b).norm() < 1e-9, "{law} {beta}"));
        // Averages over cells are those of the series.
        let cells = FiniteVolume::from_circle(&series, 40).expect("averages").averages;
        map.volume_averages(40).iter().zip(&cells).for_each(|(a, b)| assert!((a - b).abs() < 1e-7, "{law} {beta}: {a} {b}"));
    }
}

#[test]
fn concentrated_densities_have_the_numbers_of_independent_computations() {
    // Composite Gauss labels that are refined from the start and moved by Runge-Kutta steps of order 4, with Fourier sums: 35.092245 and 20.5934 (a script outside this tree).
    let end = run(FlowMap::from_series(&circle("cos:1=0.2,2=-0.1"), Resolution::COARSE).expect("panels"), &medium("sa", 4.0), 40.0);
    let rate = end.negentropy_rate(&medium("sa", 4.0)).expect("a rate");
    assert!((end.negentropy() - 35.092_245_3).abs() < 1e-6 && (rate - 0.997_691_747).abs() < 1e-8, "{} {rate}", end.negentropy());
    let m = medium("usa", 5.0);
    let end = run(FlowMap::from_series(&circle("noise:amplitude=0.01"), Resolution::COARSE).expect("panels"), &m, 0.7);
    let rate = end.negentropy_rate(&m).expect("a rate");
    assert!((end.negentropy() - 20.593_432).abs() < 1e-4 && (rate - 49.470_528).abs() < 1e-4, "{} {rate}", end.negentropy());
    // No more than e^beta, and all but the sum of squared masses of three clusters.
    assert!(rate < 5f64.exp() && (rate / 5f64.exp() - 1.0 / 3.0).abs() < 1e-2);
}

#[test]
fn corners_and_ends() {
    let step: Vec<f64> = (0..64).map(|j| if j < 32 { 1.0 } else { 0.0 }).collect();
    let map = FlowMap::from_values(&step, 0.0, Resolution::FINE).expect("panels");
    // Height 2 on 31 of 64 intervals and straight ramps over two: 2 (31/64) log 2 + (2/64) integral_0^1 2u log 2u du, the last log 2 - 1/2.
    let wanted = 62.0 / 64.0 * 2f64.ln() + 2.0 / 64.0 * (2f64.ln() - 0.5);
    assert!((map.negentropy() - wanted).abs() < 1e-8, "{} {wanted}", map.negentropy());
    assert!(FlowMap::new(|s| s.cos(), &[], Resolution::FINE).is_err() && FlowMap::new(|_| 0.0, &[], Resolution::FINE).is_err());
    assert!(MeasureDynamics::new("sa", 2.0, 0.1).is_ok_and(|noisy| map.evolve(&noisy, 1.0, |_, _| true).is_err()));
    // Too few particles: the state can be looked at, but is no result; nor is one that was stopped.
    let (m, few) = (medium("sa", 4.0), Resolution { max_particles: 320, ..Resolution::FINE });
    let start = || FlowMap::from_series(&circle("cos:1=0.2,2=-0.1"), few).expect("panels");
    let end = start().evolve(&m, 40.0, |_, _| true).expect("an end");
    assert!(end.end() == EvolutionEnd::UnderResolved && end.time() < 40.0);
    assert!(matches!(end.reached(), Err(Error::Numerical { .. })));
    let (state, t, end) = start().evolve(&m, 2.0, |_, _| false).expect("an end").partial();
    assert!(end == EvolutionEnd::Interrupted && t < 2.0 && state.n() >= 256);
    assert!(matches!(start().evolve(&m, 2.0, |_, _| false).and_then(Evolution::reached), Err(Error::Interrupted { .. })));
}

#[test]
fn sinkhorn_scalings_that_do_not_converge_are_errors() {
    // beta = -200: the fixed point contracts by 1 - 1/800 an iteration, and 10^4 of them leave 4e-6.
    let (m, start) = (medium("sinkhorn", -200.0), circle("cos:1=0.2"));
    let failed = |e: Option<Error>| matches!(e, Some(Error::Numerical { .. }));
    assert!(failed(Lagrangian::on_circle(&start, 48).and_then(|l| l.evolve(&m, 1e-3, |_, _| true)).err()));
    assert!(failed(start.clone().evolve(&m, 1e-3, 512, |_, _| true).err()));
    assert!(failed(FiniteVolume::from_circle(&start, 64).and_then(|v| v.evolve(&m, 1e-3, |_, _| true)).err()));
    assert!(start.negentropy_rate(&m).is_nan() && start.negentropy_rate(&medium("sinkhorn", 50.0)).is_finite());
}

#[test]
fn estimators_know_the_sign_and_size_of_their_bias() {
    // A von Mises-Fisher bump in d = 50, concentration 400: Gaussian to a few percent; its negentropy is 53.2 (Bessel functions), and the estimates are far below.
    let (d, n) = (50usize, 300usize);
    let mut stream = Stream::new(3, &["bump"]);
    let mut rows = Vec::with_capacity(n * d);
    for _ in 0..n {
        rows.push(1.0);
        rows.extend((1..d).map(|_| stream.normal() / 400f64.sqrt()));
    }
    let [neighbours, kernels] = Tokens::normalised(d, rows).and_then(|x| estimate_negentropy(&x, 3, 400.0)).expect("enough");
    for e in [neighbours, kernels] {
        let truth = e.value - 53.2;
        assert!(e.is_unreliable() && truth < -3.0 && e.bias < truth / 3.0 && e.bias > 3.0 * truth, "{e:?}");
    }
    let x = Law::parse("cap:radius=0.5").and_then(|l| l.sample(600, 3, &mut stream)).expect("tokens");
    let [neighbours, kernels] = estimate_negentropy(&x, 3, 100.0).expect("enough");
    let exact = -(0.25f64.sin().powi(2)).ln();
    for e in [neighbours, kernels] {
        assert!(!e.is_unreliable() && (e.value - exact).abs() < 4.0 * e.standard_error + 3.0 * e.bias.abs(), "{e:?} {exact}");
    }
    assert!(kernels.bias < 0.0 && neighbours.standard_error > 0.01 && neighbours.standard_error < 0.2, "{kernels:?} {neighbours:?}");
    // Coinciding tokens: infinite, and not called good.
    let same = Tokens::from_angles(&[1.0; 12]).expect("tokens");
    assert!(estimate_negentropy(&same, 3, 10.0).is_ok_and(|[e, _]| e.value.is_infinite() && e.is_unreliable()));
}
