//! Flow maps: densities on the circle that are too concentrated for finite volumes or Fourier
//! series, against an exact solution, the spectral solution and independent computations. Failed
//! runs. Estimates of the negentropy.

use metastable::continuity::flow_map::{FlowMap, Resolution};
use metastable::continuity::{
    Evolution, EvolutionEnd, MeasureDynamics, circle::Circle, density::Density,
    finite_volume::FiniteVolume, lagrangian::Lagrangian,
};
use metastable::entropy::bootstrap::estimate_negentropy;
use metastable::error::Error;
use metastable::num::stream::Stream;
use metastable::sphere::{Tokens, law::Law};

fn circle(text: &str) -> Circle {
    Density::parse(text).and_then(|d| Circle::from_density(&d, 64)).expect("a density")
}

fn measure_dynamics(name: &str, beta: f64) -> MeasureDynamics {
    MeasureDynamics::new(name, beta, 0.0).expect("valid dynamics")
}

fn run(start: FlowMap, m: &MeasureDynamics, t: f64) -> FlowMap {
    start.evolve(m, t, |_, _| true).and_then(Evolution::reached).expect("resolved")
}

#[test]
fn a_collapse_with_an_exact_solution() {
    // beta = 0, Poisson kernel of parameter r: u = r^2 follows the logistic equation (Ott, Antonsen
    // 2008). The negentropy is -log(1 - u), and its rate is u.
    let u = 0.25f64;
    let poisson = |s: f64| (1.0 - u) / (1.0 - 2.0 * u.sqrt() * s.cos() + u);
    for (t, resolution) in
        [(1.0, Resolution::FINE), (30.0, Resolution::FINE), (30.0, Resolution::COARSE)]
    {
        let end = run(
            FlowMap::new(poisson, &[], resolution).expect("a density"),
            &measure_dynamics("sa", 0.0),
            t,
        );
        let odds = u / (1.0 - u) * t.exp();
        let expected = (odds.ln_1p(), odds / (1.0 + odds));
        let rate = end.negentropy_rate(&measure_dynamics("sa", 0.0)).expect("a rate");
        // Ten times the error, weighted by mass, at which panels are halved.
        let tolerance = 10.0 * resolution.max_loss;
        assert!(
            (end.negentropy() - expected.0).abs() < tolerance
                && (rate - expected.1).abs() < tolerance,
            "{t}: {} {rate} {expected:?}",
            end.negentropy()
        );
    }
}

#[test]
fn the_flow_map_agrees_with_a_resolved_series() {
    for (name, beta, t) in [
        ("sa", 4.0, 1.0),
        ("usa", 2.0, 0.5),
        ("sa", -3.0, 0.5),
        ("sinkhorn", 4.0, 1.0),
        ("usa", -3.0, 0.1),
        ("sa", 30.0, 0.2),
    ] {
        let (m, start) =
            (measure_dynamics(name, beta), circle("cos:1=0.3,2=-0.2+sin:1=0.1,3=0.05"));
        let map = run(FlowMap::from_series(&start, Resolution::FINE).expect("panels"), &m, t);
        let series =
            start.evolve(&m, t, 1024, |_, _| true).and_then(Evolution::reached).expect("resolved");
        let rates =
            (map.negentropy_rate(&m).expect("a rate"), series.negentropy_rate(&m).expect("a rate"));
        let close = |a: f64, b: f64| (a - b).abs() < 1e-8 * b.abs().max(0.01);
        assert!(
            close(map.negentropy(), series.negentropy()) && close(rates.0, rates.1),
            "{name} {beta}: {rates:?}"
        );
        assert!(
            close(map.energy(&m), series.energy(&m))
                && close(
                    map.energy_rate(&m).expect("a rate"),
                    series.energy_rate(&m).expect("a rate")
                ),
            "{name} {beta}"
        );
        map.series(8)
            .c
            .iter()
            .zip(&series.c)
            .for_each(|(a, b)| assert!((a - b).norm() < 1e-9, "{name} {beta}"));
        // The averages over finite volumes are those of the series.
        let averages = FiniteVolume::from_circle(&series, 40).expect("averages").averages;
        map.volume_averages(40)
            .iter()
            .zip(&averages)
            .for_each(|(a, b)| assert!((a - b).abs() < 1e-7, "{name} {beta}: {a} {b}"));
    }
}

#[test]
fn concentrated_densities_agree_with_independent_computations() {
    // The expected numbers 35.092245 and 20.5934 come from a script that is not in this repository:
    // composite Gauss nodes, refined from the start and moved by Runge-Kutta steps of order 4, with
    // Fourier sums.
    let end = run(
        FlowMap::from_series(&circle("cos:1=0.2,2=-0.1"), Resolution::COARSE).expect("panels"),
        &measure_dynamics("sa", 4.0),
        40.0,
    );
    let rate = end.negentropy_rate(&measure_dynamics("sa", 4.0)).expect("a rate");
    assert!(
        (end.negentropy() - 35.092_245_3).abs() < 1e-6 && (rate - 0.997_691_747).abs() < 1e-8,
        "{} {rate}",
        end.negentropy()
    );
    let m = measure_dynamics("usa", 5.0);
    let end = run(
        FlowMap::from_series(&circle("noise:amplitude=0.01"), Resolution::COARSE).expect("panels"),
        &m,
        0.7,
    );
    let rate = end.negentropy_rate(&m).expect("a rate");
    assert!(
        (end.negentropy() - 20.593_432).abs() < 1e-4 && (rate - 49.470_528).abs() < 1e-4,
        "{} {rate}",
        end.negentropy()
    );
    // The rate is below e^beta. Nearly all mass is in three clusters, and the sum of their squared
    // masses is about 1/3.
    assert!(rate < 5f64.exp() && (rate / 5f64.exp() - 1.0 / 3.0).abs() < 1e-2);
}

#[test]
fn corners_invalid_densities_and_ends_of_evolutions() {
    let step: Vec<f64> = (0..64).map(|j| if j < 32 { 1.0 } else { 0.0 }).collect();
    let map = FlowMap::from_values(&step, 0.0, Resolution::FINE).expect("panels");
    // Height 2 on 31 of 64 intervals and linear ramps on two:
    // 2 (31/64) log 2 + (2/64) integral_0^1 2u log 2u du, where the integral is log 2 - 1/2.
    let expected = 62.0 / 64.0 * 2f64.ln() + 2.0 / 64.0 * (2f64.ln() - 0.5);
    assert!((map.negentropy() - expected).abs() < 1e-8, "{} {expected}", map.negentropy());
    assert!(
        FlowMap::new(|s| s.cos(), &[], Resolution::FINE).is_err()
            && FlowMap::new(|_| 0.0, &[], Resolution::FINE).is_err()
    );
    assert!(
        MeasureDynamics::new("sa", 2.0, 0.1)
            .is_ok_and(|noisy| map.evolve(&noisy, 1.0, |_, _| true).is_err())
    );
    // With too few particles the last state can be read, but `reached` is an error. The same holds
    // for an interrupted evolution.
    let (m, few) =
        (measure_dynamics("sa", 4.0), Resolution { max_particles: 320, ..Resolution::FINE });
    let start = || FlowMap::from_series(&circle("cos:1=0.2,2=-0.1"), few).expect("panels");
    let end = start().evolve(&m, 40.0, |_, _| true).expect("an end");
    assert!(end.end() == EvolutionEnd::UnderResolved && end.time() < 40.0);
    assert!(matches!(end.reached(), Err(Error::Numerical { .. })));
    let (state, t, end) = start().evolve(&m, 2.0, |_, _| false).expect("an end").partial();
    assert!(end == EvolutionEnd::Interrupted && t < 2.0 && state.n() >= 256);
    assert!(matches!(
        start().evolve(&m, 2.0, |_, _| false).and_then(Evolution::reached),
        Err(Error::Interrupted { .. })
    ));
}

#[test]
fn sinkhorn_scalings_that_do_not_converge_are_errors() {
    // beta = -200: an iteration reduces the distance to the fixed point by the factor 1 - 1/800.
    // After 10^4 iterations 4e-6 of it is left.
    let (m, start) = (measure_dynamics("sinkhorn", -200.0), circle("cos:1=0.2"));
    let failed = |e: Option<Error>| matches!(e, Some(Error::Numerical { .. }));
    assert!(failed(
        Lagrangian::on_circle(&start, 48).and_then(|l| l.evolve(&m, 1e-3, |_, _| true)).err()
    ));
    assert!(failed(start.clone().evolve(&m, 1e-3, 512, |_, _| true).err()));
    assert!(failed(
        FiniteVolume::from_circle(&start, 64).and_then(|v| v.evolve(&m, 1e-3, |_, _| true)).err()
    ));
    assert!(
        start.negentropy_rate(&m).is_err()
            && start.negentropy_rate(&measure_dynamics("sinkhorn", 50.0)).is_ok_and(f64::is_finite)
    );
}

#[test]
fn estimated_biases_have_the_right_sign_and_size() {
    // A von Mises-Fisher bump in d = 50 with concentration 400, which is Gaussian to a few percent.
    // Its negentropy is 53.2 (Bessel functions), and the estimates are far below.
    let (d, n) = (50usize, 300usize);
    let mut stream = Stream::new(3, &["bump"]);
    let mut rows = Vec::with_capacity(n * d);
    for _ in 0..n {
        rows.push(1.0);
        rows.extend((1..d).map(|_| stream.normal() / 400f64.sqrt()));
    }
    let [neighbours, kernels] = Tokens::normalised(d, rows)
        .and_then(|x| estimate_negentropy(&x, 3, 400.0))
        .expect("enough");
    for e in [neighbours, kernels] {
        let true_bias = e.value - 53.2;
        assert!(
            e.is_unreliable()
                && true_bias < -3.0
                && e.bias < true_bias / 3.0
                && e.bias > 3.0 * true_bias,
            "{e:?}"
        );
    }
    let x =
        Law::parse("cap:radius=0.5").and_then(|l| l.sample(600, 3, &mut stream)).expect("tokens");
    let [neighbours, kernels] = estimate_negentropy(&x, 3, 100.0).expect("enough");
    let exact = -(0.25f64.sin().powi(2)).ln();
    for e in [neighbours, kernels] {
        assert!(
            !e.is_unreliable()
                && (e.value - exact).abs() < 4.0 * e.standard_error + 3.0 * e.bias.abs(),
            "{e:?} {exact}"
        );
    }
    assert!(
        kernels.bias < 0.0 && neighbours.standard_error > 0.01 && neighbours.standard_error < 0.2,
        "{kernels:?} {neighbours:?}"
    );
    // Equal tokens: the estimate is infinite, and marked as unreliable.
    let same = Tokens::from_angles(&[1.0; 12]).expect("tokens");
    assert!(
        estimate_negentropy(&same, 3, 10.0)
            .is_ok_and(|[e, _]| e.value.is_infinite() && e.is_unreliable())
    );
}
