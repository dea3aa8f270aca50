//! Particles and rings that carry a density, against spectral solutions and against each other.

use metastable::attention::RowWeights;
use metastable::continuity::{
    Evolution, MeasureDynamics, circle::Circle, density::Density, lagrangian::Lagrangian,
    probability_flow::ProbabilityFlow, sphere2::Sphere2, zonal::Zonal,
    zonal_lagrangian::ZonalLagrangian,
};
use metastable::num::{deviation::largest, stream::Stream};
use metastable::sphere::Tokens;
use std::f64::consts::TAU;

fn circle(text: &str, modes: usize) -> Circle {
    Density::parse(text).and_then(|d| Circle::from_density(&d, modes)).expect("a density")
}

fn measure_dynamics(name: &str, beta: f64) -> MeasureDynamics {
    MeasureDynamics::new(name, beta, 0.0).expect("valid dynamics")
}

/// Whether a is near b, relative to the larger of |b| and 0.01.
fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs().max(0.01)
}

#[test]
fn three_computations_of_the_entropy_production_agree() {
    // The formula for the spectral state, its spectral derivative, and particles that carry the
    // density from the start. The documented accuracy of resolved states is 1e-10.
    for (name, beta, t) in
        [("sa", 4.0, 1.0), ("usa", 2.0, 0.5), ("sa", -3.0, 0.5), ("sinkhorn", 4.0, 1.0)]
    {
        let (m, start) =
            (measure_dynamics(name, beta), circle("cos:1=0.3,2=-0.2+sin:1=0.1,3=0.05", 64));
        let particles = Lagrangian::on_circle(&start.without_negligible_modes(), 160)
            .expect("points")
            .evolve(&m, t, |_, _| true)
            .and_then(Evolution::reached)
            .expect("steps");
        let spectral =
            start.evolve(&m, t, 512, |_, _| true).and_then(Evolution::reached).expect("steps");
        assert!(close(particles.negentropy(), spectral.negentropy(), 1e-10), "{name} {beta}");
        let rates = [
            spectral.negentropy_rate(&m).expect("a rate"),
            spectral.negentropy_rate_by_derivative(&m).expect("a rate"),
            particles.negentropy_rate(&m).expect("a rate"),
        ];
        assert!(rates.iter().all(|r| close(*r, rates[0], 1e-10)), "{name} {beta}: {rates:?}");
        // Every particle carries the value of the spectral density at its position.
        let values = |theta: f64| {
            let wave =
                |(k, c): (usize, &_)| if k == 0 { 1.0 } else { wave_value(c, k as f64 * theta) };
            spectral.c.iter().enumerate().map(wave).sum::<f64>()
        };
        for (theta, log) in particles.x.angles().iter().zip(&particles.log_density).step_by(37) {
            assert!(
                close(log.exp(), values(*theta), 1e-8),
                "{name}: {} {}",
                log.exp(),
                values(*theta)
            );
        }
    }
}

/// `2 Re c e^{i t}`.
fn wave_value(c: &metastable::num::fft::Complex64, t: f64) -> f64 {
    2.0 * (c.re * t.cos() - c.im * t.sin())
}

#[test]
fn rings_particles_and_spectral_solutions_agree_on_spheres() {
    for (d, name, beta) in [
        (2usize, "sa", 3.0),
        (3, "usa", 2.0),
        (8, "sa", 5.0),
        (64, "sa", 6.0),
        (3, "sa", -2.0),
        (2, "usa", -2.0),
    ] {
        let (density, m) = (
            Density::parse("cos:1=0.3,2=-0.15,3=0.1").expect("a density"),
            measure_dynamics(name, beta),
        );
        let zonal = Zonal::from_density(&density, d, 64)
            .expect("nodes")
            .evolve(&m, 0.4, 256, |_, _| true)
            .and_then(Evolution::reached)
            .expect("steps");
        let rings = ZonalLagrangian::new(&density, d, 64)
            .expect("rings")
            .evolve(&m, 0.4, |_, _| true)
            .and_then(Evolution::reached)
            .expect("steps");
        assert!(close(rings.negentropy(), zonal.negentropy().expect("nodes"), 1e-10), "d = {d}");
        assert!(
            close(
                rings.negentropy_rate(&m).expect("a rate"),
                zonal.negentropy_rate(&m).expect("nodes"),
                1e-9
            ),
            "d = {d}"
        );
        assert!(
            close(rings.energy(&m).expect("an energy"), zonal.energy(&m), 1e-9),
            "d = {d}: {:?} {}",
            rings.energy(&m),
            zonal.energy(&m)
        );
        assert!((rings.axis_mean() - zonal.axis_mean()).abs() < 1e-10);
    }
    let (m, text) = (
        measure_dynamics("sa", 3.0),
        "vmf:kappa=2,at=1.1,azimuth=0.4,mass=0.6+noise:amplitude=0.02,modes=4,seed=3",
    );
    let start =
        Density::parse(text).and_then(|d| Sphere2::from_density(&d, 16)).expect("a density");
    let particles = Lagrangian::on_sphere2(&start, start.rings())
        .expect("points")
        .evolve(&m, 0.3, |_, _| true)
        .and_then(Evolution::reached)
        .expect("steps");
    let state = start.evolve(&m, 0.3, 64, |_, _| true).and_then(Evolution::reached).expect("steps");
    assert!(
        close(particles.negentropy(), state.negentropy(), 1e-8)
            && close(particles.energy(&m), state.energy(&m), 1e-8)
    );
    assert!(close(
        particles.negentropy_rate(&m).expect("a rate"),
        state.negentropy_rate(&m).expect("a rate"),
        1e-8
    ));
    // Random points in high dimension have an error of n^{-1/2}.
    let density = Density::parse("cos:1=0.5").expect("a density");
    let sampled =
        Lagrangian::from_random_points(&density, 1500, 8, &mut Stream::new(1, &["sampled"]))
            .expect("points");
    let exact = ZonalLagrangian::new(&density, 8, 32).expect("rings");
    assert!((sampled.negentropy() - exact.negentropy()).abs() < 0.02);
    assert!(
        MeasureDynamics::new("usa", 2.0, 0.1)
            .is_ok_and(|noisy| sampled.evolve(&noisy, 1.0, |_, _| true).is_err())
    );
}

#[test]
fn probability_flow_solves_the_equation_with_noise() {
    for (name, beta, diffusion) in [("usa", 2.0, 0.3), ("sa", 4.0, 0.1), ("sa", -2.0, 0.2)] {
        let m = MeasureDynamics::new(name, beta, diffusion).expect("valid dynamics");
        let start = circle("cos:1=0.3,2=-0.2+sin:1=0.1", 24);
        let particles =
            ProbabilityFlow::new(&start, 96).expect("points").evolve(&m, 0.5).expect("steps");
        let state =
            start.evolve(&m, 0.5, 256, |_, _| true).and_then(Evolution::reached).expect("steps");
        assert!(
            close(particles.negentropy(), state.negentropy(), 1e-9),
            "{name}: {} {}",
            particles.negentropy(),
            state.negentropy()
        );
        for k in 1..5 {
            let (c, s) = particles.moment(k);
            assert!((c - state.c[k].re).abs() < 1e-10 && (s + state.c[k].im).abs() < 1e-10);
        }
    }
    assert!(
        ProbabilityFlow::new(&circle("uniform", 8), 63).is_err()
            && ProbabilityFlow::new(&circle("cos:1=1", 8), 64).is_err()
    );
}

#[test]
fn after_a_collapse_the_entropy_production_is_d_minus_1() {
    // d = 64, from noise to one point. After the collapse the entropy production is d - 1. Half as
    // many rings give the same negentropy.
    let (density, m) = (
        Density::parse("noise:amplitude=0.01,modes=8").expect("a density"),
        measure_dynamics("sa", 5.0),
    );
    let run = |n: usize| {
        ZonalLagrangian::new(&density, 64, n)
            .expect("rings")
            .evolve(&m, 30.0, |_, _| true)
            .and_then(Evolution::reached)
            .expect("steps")
    };
    let (fine, coarse) = (run(48), run(24));
    assert!(
        (fine.negentropy_rate(&m).expect("a rate") - 63.0).abs() < 1e-9
            && (fine.axis_mean() - 1.0).abs() < 1e-9
    );
    assert!((fine.negentropy() / coarse.negentropy() - 1.0).abs() < 1e-8);
}

#[test]
fn spectral_convergence_reaches_1e_minus_12() {
    let m = measure_dynamics("sa", 4.0);
    let start = circle("cos:1=0.3,2=-0.2+sin:1=0.1", 128);
    let exact = start.evolve_unchecked(&m, 1.0).expect("steps");
    let error = |modes: usize| {
        let end = start.with_modes(modes).evolve_unchecked(&m, 1.0).expect("steps");
        let found = |k: usize| end.c.get(k).copied().unwrap_or_default();
        largest(exact.c.iter().enumerate().map(|(k, c)| (c - found(k)).norm()))
    };
    let errors: Vec<f64> = [4, 8, 16, 32, 48].into_iter().map(error).collect();
    // Geometric convergence: twice as many modes square the error, up to constants, until rounding.
    assert!(
        errors[1] < 0.2 * errors[0] && errors[2] < 100.0 * errors[1].powi(2).max(1e-12),
        "{errors:?}"
    );
    assert!(errors[4] < 1e-12, "{errors:?}");
}

#[test]
fn energy_rates_are_slopes_of_the_energy_and_usa_conserves_the_mean_angle() {
    for (name, beta, diffusion) in [
        ("sa", 3.0, 0.0),
        ("usa", 2.0, 0.0),
        ("usa", 2.0, 0.3),
        ("sinkhorn", 3.0, 0.0),
        ("sa", -2.0, 0.1),
    ] {
        let m = MeasureDynamics::new(name, beta, diffusion).expect("valid dynamics");
        let h = 1e-3;
        let at = |t: f64| {
            circle("cos:1=0.3,2=-0.2+sin:1=0.1", 64)
                .evolve(&m, t, 256, |_, _| true)
                .and_then(Evolution::reached)
                .expect("steps")
        };
        let (before, here, after) = (at(0.1 - h), at(0.1), at(0.1 + h));
        let slope = (after.energy(&m) - before.energy(&m)) / (2.0 * h);
        // Central differences have an error of h^2 times a third derivative of order e^beta.
        assert!(
            close(here.energy_rate(&m).expect("a rate"), slope, 1e-4),
            "{name} {beta}: {} {slope}",
            here.energy_rate(&m).expect("a rate")
        );
        assert!(diffusion > 0.0 || beta < 0.0 || here.energy_rate(&m).expect("a rate") > 0.0);
        if m.weights == RowWeights::Exponential {
            assert!(here.momentum(&m).expect("a rate").abs() < 1e-14 * beta.exp());
        }
    }
    assert!(
        circle("cos:1=0.3,2=-0.2+sin:1=0.1", 32)
            .momentum(&measure_dynamics("sa", 3.0))
            .expect("a rate")
            .abs()
            > 1e-4
    );
    let m = measure_dynamics("sa", 2.0);
    let zonal = |t: f64| {
        Density::parse("cos:1=0.3,2=0.1")
            .and_then(|d| Zonal::from_density(&d, 5, 32))
            .and_then(|z| z.evolve(&m, t, 64, |_, _| true))
            .and_then(Evolution::reached)
            .expect("steps")
    };
    let sphere = |t: f64| {
        Density::parse("vmf:kappa=2,at=1,mass=0.5")
            .and_then(|d| Sphere2::from_density(&d, 24))
            .and_then(|z| z.evolve(&m, t, 64, |_, _| true))
            .and_then(Evolution::reached)
            .expect("steps")
    };
    let (a, b) = (zonal(0.099), zonal(0.101));
    assert!(close(
        (b.energy(&m) - a.energy(&m)) / 2e-3,
        zonal(0.1).energy_rate(&m).expect("nodes"),
        1e-4
    ));
    let (a, b) = (sphere(0.099), sphere(0.101));
    assert!(close(
        (b.energy(&m) - a.energy(&m)) / 2e-3,
        sphere(0.1).energy_rate(&m).expect("a rate"),
        1e-4
    ));
}

#[test]
fn densities_can_be_made_from_tokens_and_from_arrays() {
    // Kernel density estimates on the sphere: zonal coefficients, and a sum of four bumps.
    let x = Tokens::new(3, vec![0.6, 0.0, 0.8, 0.0, 0.6, 0.8, -0.6, 0.0, 0.8, 0.0, -0.6, 0.8])
        .expect("tokens");
    let zonal = Zonal::from_tokens(&x, 5.0, 32).expect("a density");
    let sphere = Sphere2::from_tokens(&x, 5.0, 32).expect("a density");
    for (a, b) in sphere.zonal_coefficients().iter().zip(zonal.coefficients()) {
        assert!((a - b).abs() < 1e-13);
    }
    let bumps: Vec<String> = (0..4)
        .map(|k| {
            format!(
                "vmf:kappa=5,at={},azimuth={},mass=0.25",
                0.8f64.acos(),
                TAU * f64::from(k) / 4.0
            )
        })
        .collect();
    let direct = Density::parse(&bumps.join("+"))
        .and_then(|d| Sphere2::from_density(&d, 32))
        .expect("a density");
    sphere.a.iter().zip(&direct.a).for_each(|(a, b)| assert!((a - b).norm() < 1e-13));
    // Densities restored from their values.
    let restored = Sphere2::from_values(&direct.values(), direct.rings()).expect("a grid");
    restored.a.iter().zip(&direct.a).for_each(|(a, b)| assert!((a - b).norm() < 1e-12));
    let restored = Zonal::from_values(&zonal.values(257), 3, 32).expect("a grid");
    restored.b.iter().zip(&zonal.b).for_each(|(a, b)| assert!((a - b).abs() < 1e-11));
    assert!(
        Zonal::from_values(&[1.0; 3], 3, 8).is_err()
            && Zonal::from_values(&[1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 3, 8).is_err()
    );
    assert!(
        Sphere2::from_values(&[1.0; 10], 2).is_err()
            && Sphere2::from_values(&vec![-1.0; 2 * 26 * 26], 26).is_err()
    );
    assert!(Sphere2::from_tokens(&Tokens::from_angles(&[0.0]).expect("a token"), 5.0, 8).is_err());
    let opposite = Tokens::from_angles(&[0.0, std::f64::consts::PI]).expect("tokens");
    assert!(
        Zonal::from_tokens(&Tokens::new(2, vec![1.0, 0.0, -1.0, 0.0]).expect("tokens"), 5.0, 8)
            .is_err(),
        "{opposite:?}"
    );
    assert!(
        Density::parse("noise:amplitude=9").and_then(|d| Sphere2::from_density(&d, 16)).is_err()
    );
}
