//! Densities on circles and spheres: entropy production by several methods against references,
//! growth rates against theory, orders of convergence, invariants, estimates from samples, invalid
//! input.

use crate::common::{number, reference};
use metastable::attention::TimeScale;
use metastable::continuity::{
    Evolution, EvolutionEnd, MeasureDynamics, circle::Circle, density::Density,
    finite_volume::FiniteVolume, zonal::Zonal,
};
use metastable::entropy::{
    estimate::{kernel, nearest_neighbour},
    production,
};
use metastable::num::{
    bessel::scaled_bessel_i, deviation::largest, stats::nan_max, stream::Stream,
};
use metastable::sphere::{Tokens, law::Law};
use metastable::theory::growth::{rates_sa, rates_usa};
use proptest::prelude::*;
use std::f64::consts::TAU;

fn circle(text: &str, modes: usize) -> Circle {
    Density::parse(text).and_then(|d| Circle::from_density(&d, modes)).expect("a density")
}

fn measure_dynamics(name: &str, beta: f64) -> MeasureDynamics {
    MeasureDynamics::new(name, beta, 0.0).expect("valid dynamics")
}

#[test]
fn four_computations_of_the_entropy_production_agree_with_the_references() {
    for case in reference("entropy_rate") {
        let beta = number(&case["beta"]);
        let terms: Vec<String> = case["cosine_coefficients"]
            .as_object()
            .expect("pairs")
            .iter()
            .map(|(k, v)| format!("{k}={}", number(v)))
            .collect();
        let text = format!("cos:{}", terms.join(","));
        let name = case["dynamics"].as_str().expect("a name");
        let (rho, m, expected) =
            (circle(&text, 64), measure_dynamics(name, beta), number(&case["negentropy_rate"]));
        let zonal =
            Density::parse(&text).and_then(|d| Zonal::from_density(&d, 2, 64)).expect("a density");
        let rates = [
            rho.negentropy_rate(&m).expect("a rate"),
            rho.negentropy_rate_by_derivative(&m).expect("a rate"),
            production::on_circle(&rho, &m, 512).expect("a kernel"),
            zonal.negentropy_rate(&m).expect("nodes"),
        ];
        // The sums of a thousand terms of the size of the kernel have a relative error of 1e-12;
        // in `production::on_circle` cancellation enlarges it by up to 30.
        rates.iter().for_each(|r| {
            assert!((r / expected - 1.0).abs() < 1e-11, "{name} {beta}: {rates:?} {expected}")
        });
    }
}

/// The growth rate of `cos k theta`, measured over a short time from an amplitude of 1e-5. The next
/// term is the square of the amplitude, and the tolerance 1e-13 is 2e-8 of it.
fn measured_rate(m: &MeasureDynamics, k: usize, t: f64) -> f64 {
    let rho = circle(&format!("cos:{k}=1e-5"), 32);
    let end = rho.evolve(m, t, 64, |_, _| true).and_then(Evolution::reached).expect("resolved");
    (end.c[k].re / (0.5e-5)).ln() / t
}

#[test]
fn small_modes_grow_at_the_predicted_rates() {
    for beta in [0.0, 1.0, 5.0, 7.0] {
        let (sa, usa) = (
            rates_sa(2, beta, 8).expect("rates"),
            rates_usa(2, beta, 8, TimeScale::U1, 2).expect("rates"),
        );
        let kappa = scaled_bessel_i(8, beta);
        for k in 1..=8usize {
            let close = |found: f64, expected: f64| {
                assert!(
                    (found - expected).abs() < 1e-4 * expected.abs().max(1e-2),
                    "k = {k}, beta = {beta}: {found} {expected}"
                )
            };
            let t = 0.1 / usa.iter().copied().fold(1.0, nan_max);
            close(measured_rate(&measure_dynamics("sa", beta), k, 0.1), sa[k]);
            close(measured_rate(&measure_dynamics("usa", beta), k, t), usa[k]);
            let noisy = MeasureDynamics::new("usa", beta, 0.25).expect("valid dynamics");
            close(measured_rate(&noisy, k, t), usa[k] - 0.25 * (k * k) as f64);
            if beta > 0.0 {
                let ratio = kappa[k] / kappa[0];
                close(
                    measured_rate(&measure_dynamics("sinkhorn", beta), k, 0.1),
                    (k * k) as f64 / beta * ratio / (1.0 + ratio),
                );
            }
        }
    }
    for (d, beta) in [(3usize, 5.0), (8, 7.0), (64, 50.0)] {
        let rates = rates_sa(d, beta, 4).expect("rates");
        for (k, rate) in rates.iter().enumerate().skip(1) {
            let rho = Density::parse(&format!("cos:{k}=1e-6"))
                .and_then(|r| Zonal::from_density(&r, d, 16))
                .expect("a density");
            let end = rho
                .clone()
                .evolve(&measure_dynamics("sa", beta), 0.1, 32, |_, _| true)
                .and_then(Evolution::reached)
                .expect("resolved");
            let found = (end.b[k] / rho.b[k]).ln() / 0.1;
            assert!((found / rate - 1.0).abs() < 1e-4, "d = {d}, k = {k}: {found} {rate}");
        }
    }
}

#[test]
fn spectral_solutions_add_modes_and_report_under_resolution() {
    let m = measure_dynamics("sa", 4.0);
    let start = circle("cos:1=0.3,2=-0.2+sin:1=0.1", 16);
    let fine = start
        .clone()
        .evolve(&m, 1.0, 512, |_, _| true)
        .and_then(Evolution::reached)
        .expect("resolved");
    // The state is resolved to 1e-10 at the end. With enough modes the error is that of the
    // integrator.
    let more_modes = start
        .clone()
        .with_modes(128)
        .evolve(&m, 1.0, 512, |_, _| true)
        .and_then(Evolution::reached)
        .expect("resolved");
    fine.c.iter().zip(&more_modes.c).for_each(|(a, b)| assert!((a - b).norm() < 1e-9));
    let (state, t, end) = start.evolve(&m, 50.0, 128, |_, _| true).expect("an outcome").partial();
    assert!(end == EvolutionEnd::UnderResolved && t > 1.0 && t < 50.0 && state.tail() <= 1e-10);
}

/// The L1 distance of finite volumes from the spectral solution at time 0.5.
fn volume_error(m: &MeasureDynamics, volumes: usize) -> f64 {
    let start = circle("cos:1=0.4,2=0.1+sin:3=0.05", 64);
    let averages = |c: &Circle| FiniteVolume::from_circle(c, volumes).expect("averages");
    let volume =
        averages(&start).evolve(m, 0.5, |_, _| true).and_then(Evolution::reached).expect("steps");
    let exact = averages(
        &start.evolve(m, 0.5, 512, |_, _| true).and_then(Evolution::reached).expect("resolved"),
    );
    volume.averages.iter().zip(&exact.averages).map(|(a, b)| (a - b).abs()).sum::<f64>()
        / volumes as f64
}

#[test]
fn finite_volumes_converge_at_order_two_conserve_mass_and_stay_positive() {
    for m in [
        measure_dynamics("sa", 3.0),
        measure_dynamics("usa", 1.0),
        measure_dynamics("sinkhorn", 3.0),
        measure_dynamics("sa", -3.0),
        MeasureDynamics::new("usa", 1.0, 0.2).expect("valid dynamics"),
    ] {
        let (a, b, c) = (volume_error(&m, 128), volume_error(&m, 256), volume_error(&m, 512));
        let order = (a / c).log2() / 2.0;
        assert!((order - 2.0).abs() < 0.1, "{m:?}: order {order} from {a} {b} {c}");
    }
    let volume = FiniteVolume::from_circle(&circle("vmf:kappa=30,at=2,mass=0.6", 64), 256)
        .expect("averages");
    let mut worst = 0.0f64;
    let end = volume
        .evolve(&measure_dynamics("usa", 5.0), 0.5, |_, u| {
            assert!(u.iter().all(|v| *v >= 0.0));
            worst = largest([worst, (u.iter().sum::<f64>() / u.len() as f64 - 1.0).abs()]);
            true
        })
        .expect("steps");
    // Rounding errors of 10^4 steps.
    assert!(worst < 1e-12 && end.end() == EvolutionEnd::Reached, "{worst}");
}

#[test]
fn particles_and_densities_have_the_same_moments() {
    // The tokens are quantiles of the density: 4000 equal masses, at a distance W1 of order 1/n.
    use metastable::attention::{Spec, dynamics};
    use metastable::flow::{Options, solve};
    let start = circle("cos:1=0.5,2=0.2", 32);
    let n = 4000;
    let mut angles = Vec::with_capacity(n);
    let fine = 200_000;
    let (mut mass, mut next) = (0.0, 0);
    for j in 0..fine {
        let t = TAU * (j as f64 + 0.5) / fine as f64;
        let rho = 1.0 + 0.5 * t.cos() + 0.2 * (2.0 * t).cos();
        mass += rho / fine as f64;
        while next < n && (next as f64 + 0.5) / n as f64 <= mass {
            angles.push(t);
            next += 1;
        }
    }
    let x = Tokens::from_angles(&angles).expect("angles");
    for name in ["sa", "usa"] {
        let flow = dynamics::build(name, false, &Spec { accuracy: 1e-9, ..Spec::new(3.0, x.n()) })
            .expect("a flow");
        let end = solve(
            &flow,
            &x,
            0.4,
            &Options { merge_radius: 0.0, rtol: 2e-8, ..Options::default() },
            &mut [],
        )
        .expect("a run")
        .clusters;
        let rho = start
            .clone()
            .evolve(&measure_dynamics(name, 3.0), 0.4, 512, |_, _| true)
            .and_then(Evolution::reached)
            .expect("resolved");
        for k in 1..=4 {
            let particle =
                end.angles().iter().map(|a| (k as f64 * a).cos()).sum::<f64>() / end.n() as f64;
            assert!(
                (particle - rho.c[k].re).abs() < 2e-3,
                "{name} {k}: {particle} {}",
                rho.c[k].re
            );
        }
    }
}

/// In high dimension the volume of a cap lies far below the smallest positive number. References:
/// mpmath with 40 digits.
#[test]
fn small_caps_in_high_dimension_have_finite_logarithms() {
    for (d, r, expected) in [
        (3, 0.01, 10.019_427_401_534_819),
        (768, 0.1, 1_771.019_822_990_8),
        (1000, 0.001, 6_904.643_040_211_995),
        (4096, 0.5, 3_014.877_614_255_781),
    ] {
        let mut rows = vec![0.0; 2 * d];
        (rows[0], rows[d], rows[d + 1]) = (1.0, f64::cos(r), f64::sin(r));
        let pair = Tokens::new(d, rows).expect("unit vectors");
        let found = nearest_neighbour(&pair, 1).expect("two tokens");
        assert!((found / expected - 1.0).abs() < 1e-11, "d = {d}, r = {r}: {found}");
    }
    let twice = Tokens::from_angles(&[1.0, 1.0]).expect("tokens");
    assert_eq!(nearest_neighbour(&twice, 1), Ok(f64::INFINITY));
}

#[test]
fn estimates_from_samples_agree_with_exact_negentropies() {
    let mut stream = Stream::new(1, &["entropy"]);
    let x = Law::parse("uniform").and_then(|l| l.sample(1500, 4, &mut stream)).expect("tokens");
    // The standard error is about 1/sqrt(n).
    assert!(nearest_neighbour(&x, 3).expect("enough").abs() < 0.08);
    let cap =
        Law::parse("cap:radius=0.5").and_then(|l| l.sample(1500, 3, &mut stream)).expect("tokens");
    let exact = -(0.25f64.sin().powi(2)).ln();
    assert!((nearest_neighbour(&cap, 3).expect("enough") - exact).abs() < 0.12);
    assert!(nearest_neighbour(&x, 1500).is_err());
    // The kernel estimate of a von Mises-Fisher sample is smoothed, and therefore too low.
    let bump = Density::parse("vmf:kappa=4,at=0")
        .and_then(|d| Zonal::from_density(&d, 3, 48))
        .expect("a density");
    let exact = bump.negentropy().expect("nodes");
    let mut points = Vec::new();
    while points.len() < 3 * 1500 {
        let (z, phi): (f64, f64) = (stream.uniform_in(-1.0, 1.0), stream.uniform_in(0.0, TAU));
        if stream.uniform() < (4.0 * (z - 1.0)).exp() {
            let s = (1.0 - z * z).sqrt();
            points.extend([s * phi.cos(), s * phi.sin(), z]);
        }
    }
    let sample = Tokens::normalised(3, points).expect("tokens");
    let (by_kernels, by_neighbours) =
        (kernel(&sample, 100.0).expect("enough"), nearest_neighbour(&sample, 3).expect("enough"));
    assert!(
        by_kernels < exact + 0.03
            && by_kernels > exact - 0.12
            && (by_neighbours - exact).abs() < 0.08,
        "{exact} {by_kernels} {by_neighbours}"
    );
    assert!(
        kernel(&sample, -1.0).is_err()
            && kernel(&Tokens::from_angles(&[0.0]).expect("a token"), 1.0).is_err()
    );
}

/// Whatever the given number of modes, the negentropy of a von Mises bump on the circle is
/// `kappa I_1 / I_0 - log I_0`. That of a von Mises-Fisher bump on S^2 is `log(2 kappa) - 1`, up to
/// `e^{-2 kappa}`.
#[test]
fn narrow_densities_get_the_modes_they_need() {
    use metastable::continuity::{lagrangian::Lagrangian, sphere2::Sphere2};
    for kappa in [40.0f64, 2000.0, 1e5] {
        let i = scaled_bessel_i(1, kappa);
        let expected = kappa * (i[1] / i[0] - 1.0) - i[0].ln();
        let rho = circle(&format!("vmf:kappa={kappa},at=0.3"), 16);
        assert!(
            (rho.negentropy() - expected).abs() < 1e-9,
            "{kappa}: {} {expected}",
            rho.negentropy()
        );
        let tokens = Circle::from_tokens(&[0.3], kappa, 16).expect("an estimate");
        assert!(rho.c.len() > 16 && tokens.c.len() > 16);
        let difference = largest(rho.c.iter().zip(&tokens.c).map(|(a, b)| (a - b).norm()));
        // Rounding of the exponent kappa (cos - 1) and of the rotations of up to 2500 modes.
        assert!(difference < 4.0 * f64::EPSILON * (kappa + 2500.0), "{kappa}: {difference}");
    }
    for kappa in [40.0f64, 300.0] {
        let expected = (2.0 * kappa).ln() - 1.0;
        let density = Density::parse(&format!("vmf:kappa={kappa}")).expect("a density");
        let zonal =
            Zonal::from_density(&density, 3, 8).and_then(|z| z.negentropy()).expect("modes");
        let full = Sphere2::from_density(&density, 8).expect("degrees");
        assert!(
            (zonal - expected).abs() < 1e-8 && (full.negentropy() - expected).abs() < 1e-8,
            "{kappa}: {zonal} {} {expected}",
            full.negentropy()
        );
        // Particles have the same negentropy on a coarser grid; one that is too coarse is refused.
        assert!(Lagrangian::on_sphere2(&full, 6).is_err());
        let particles =
            Lagrangian::on_sphere2(&full, full.degree * 2 / 3).expect("a grid").negentropy();
        assert!((particles - expected).abs() < 1e-6, "{kappa}: {particles} {expected}");
    }
    assert!((circle("cos:100=0.2", 16).c[100].re - 0.1).abs() < 1e-15);
    assert!(Density::parse("vmf:kappa=2000").and_then(|d| Sphere2::from_density(&d, 8)).is_err());
    assert!(Density::parse("vmf:kappa=90000").and_then(|d| Zonal::from_density(&d, 3, 8)).is_err());
}

/// Values on a grid are interpolated by one trigonometric polynomial, wherever the grid begins. A
/// density with corners is refused by the Fourier series, and accepted by finite volumes.
#[test]
fn values_are_interpolated_with_all_their_modes() {
    let rho = circle("cos:1=0.3,90=0.2+sin:2=0.1", 8);
    let at: Vec<f64> = (0..200).map(|j| 0.7 + TAU * f64::from(j) / 200.0).collect();
    let values: Vec<f64> = at
        .iter()
        .map(|t| 1.0 + 0.3 * t.cos() + 0.2 * (90.0 * t).cos() + 0.1 * (2.0 * t).sin())
        .collect();
    let restored = Circle::from_values(&values, 0.7, 8).expect("a density");
    assert!(
        restored.modes() == 90
            && rho.c.iter().zip(&restored.c).all(|(a, b)| (a - b).norm() < 1e-14)
    );
    let step: Vec<f64> = (0..64).map(|j| if j < 32 { 1.0 } else { 0.0 }).collect();
    assert!(Circle::from_values(&step, 0.0, 8).is_err());
    let volume = FiniteVolume::from_values(&step, 0.0, 1024).expect("averages");
    // Height 2 on 31 of 64 intervals and linear ramps on two:
    // 2 (31/64) log 2 + (2/64) integral_0^1 2u log 2u du, where the integral is log 2 - 1/2.
    let expected = 62.0 / 64.0 * 2f64.ln() + 2.0 / 64.0 * (2f64.ln() - 0.5);
    assert!((volume.negentropy() - expected).abs() < 1e-4, "{} {expected}", volume.negentropy());
}

#[test]
fn invalid_densities_are_errors() {
    for text in [
        "cos:1=1.5",
        "cos:1",
        "cos:x=1",
        "vmf:kappa=1,mass=2",
        "vmf:cappa=1",
        "nonsense",
        "cos:1=nan",
        "vmf:mass=0.7+vmf:mass=0.7",
        "",
    ] {
        let result = Density::parse(text).and_then(|d| Circle::from_density(&d, 32));
        assert!(result.is_err(), "{text}");
    }
    let zonal = |text: &str, d| Density::parse(text).and_then(|r| Zonal::from_density(&r, d, 16));
    assert!(
        zonal("sin:1=0.1", 3).is_err()
            && zonal("vmf:at=1", 3).is_err()
            && zonal("cos:1=2", 3).is_err()
            && zonal("cos:1=0.1", 1).is_err()
    );
    assert!(
        Circle::from_values(&[1.0, -0.5, 1.0, 1.0], 0.0, 1).is_err()
            && Circle::from_values(&[0.0; 8], 0.0, 2).is_err()
    );
    assert!(
        FiniteVolume::new(vec![1.0; 4]).is_err() && FiniteVolume::new(vec![f64::NAN; 32]).is_err()
    );
    assert!(
        MeasureDynamics::new("sa", f64::NAN, 0.0).is_err()
            && MeasureDynamics::new("xx", 1.0, 0.0).is_err()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn production_is_bounded_and_invariant_under_rotations(a in prop::collection::vec(-0.15f64..0.15, 6), beta in 0.1f64..20.0, turn in 0.0f64..6.0) {
        let text = format!("cos:1={},2={},3={}+sin:1={},2={},3={}", a[0], a[1], a[2], a[3], a[4], a[5]);
        let rho = circle(&text, 48);
        let (usa, sa) = (measure_dynamics("usa", beta), measure_dynamics("sa", beta));
        let rate = rho.negentropy_rate(&usa).expect("a rate");
        prop_assert!(rate >= 0.0 && rate <= beta.exp());
        prop_assert!(rho.negentropy_rate(&sa).expect("a rate") <= 1.0);
        // A rotation multiplies c_k by e^{-i k turn} and changes neither negentropy nor production.
        let mut rotated = rho.clone();
        for (k, c) in rotated.c.iter_mut().enumerate() {
            let (s, co) = (k as f64 * turn).sin_cos();
            (c.re, c.im) = (c.re * co + c.im * s, c.im * co - c.re * s);
        }
        prop_assert!((rotated.negentropy_rate(&usa).expect("a rate") / rate - 1.0).abs() < 1e-9);
        prop_assert!((rotated.negentropy() - rho.negentropy()).abs() < 1e-12);
        // The rate is the slope of the negentropy along the flow.
        let h = 1e-3 / (1.0 + usa.beta.exp());
        let ahead = rho.clone().evolve(&usa, h, 256, |_, _| true).and_then(Evolution::reached).expect("resolved").negentropy();
        let middle = rate;
        prop_assert!(((ahead - rho.negentropy()) / h - middle).abs() < 0.05 * middle + 1e-6 * beta.exp());
    }
}

#[test]
fn densities_on_the_sphere_agree_with_zonal_ones_and_rotate() {
    use metastable::continuity::sphere2::Sphere2;
    let sphere = |text: &str| {
        Density::parse(text).and_then(|d| Sphere2::from_density(&d, 24)).expect("a density")
    };
    for (name, beta) in [("sa", 4.0), ("usa", 2.0)] {
        let m = measure_dynamics(name, beta);
        let text = "cos:1=0.3,2=-0.2,3=0.1";
        let zonal =
            Density::parse(text).and_then(|d| Zonal::from_density(&d, 3, 24)).expect("a density");
        let full = sphere(text);
        assert!((full.negentropy() - zonal.negentropy().expect("nodes")).abs() < 1e-13);
        assert!(
            (full.negentropy_rate(&m).expect("a rate") / zonal.negentropy_rate(&m).expect("nodes")
                - 1.0)
                .abs()
                < 1e-11
        );
        let (full, zonal) = (
            full.evolve(&m, 0.5, 64, |_, _| true).and_then(Evolution::reached).expect("resolved"),
            zonal.evolve(&m, 0.5, 64, |_, _| true).and_then(Evolution::reached).expect("resolved"),
        );
        for (a, b) in full.zonal_coefficients().iter().zip(zonal.coefficients()).take(10) {
            assert!((a - b).abs() < 1e-7, "{a} {b}");
        }
        // A bump anywhere has the negentropy and production of the bump at the pole, at both times.
        let pole = sphere("vmf:kappa=2,at=0,mass=0.7");
        let rotated = sphere("vmf:kappa=2,at=1.1,azimuth=2.3,mass=0.7");
        assert!(
            (pole.negentropy_rate(&m).expect("a rate")
                / rotated.negentropy_rate(&m).expect("a rate")
                - 1.0)
                .abs()
                < 1e-10
        );
        let end = |s: Sphere2| {
            s.evolve(&m, 0.3, 64, |_, _| true).and_then(Evolution::reached).expect("resolved")
        };
        let (pole, rotated) = (end(pole), end(rotated));
        assert!(
            (pole.negentropy() - rotated.negentropy()).abs() < 1e-8
                && (pole.mean_length() - rotated.mean_length()).abs() < 1e-8
        );
    }
}
