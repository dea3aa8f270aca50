//! What takes an interaction: couplings, energies of runs, densities, the sign of row weights,
//! sampled functions.

use metastable::Result;
use metastable::attention::interaction::{
    Interaction, InteractionAttention, InteractionEnergy, RowSum,
};
use metastable::attention::kernel::Attention;
use metastable::attention::model::Model;
use metastable::attention::{Dynamics, Energy, EnergyScale, Head, Spec};
use metastable::continuity::{
    Evolution, MeasureDynamics, circle::Circle, density::Density, finite_volume::FiniteVolume,
    lagrangian::Lagrangian, sphere2::Sphere2, zonal::Zonal, zonal_lagrangian::ZonalLagrangian,
};
use metastable::flow::observable::{RunParameters, find, linear_times};
use metastable::flow::{Observer, Options, Recorder, solve};
use metastable::num::chebyshev_samples::ChebyshevSamples;
use metastable::num::deviation::{largest, max_difference};
use metastable::num::stream::Stream;
use metastable::num::sum::dot;
use metastable::sphere::Tokens;
use metastable::sphere::geometry::{exp, project};
use metastable::theory::interaction::growth_rates;
use std::f64::consts::TAU;

fn phi(text: &str) -> Interaction {
    Interaction::parse(text, &[]).expect("an interaction")
}

fn tokens(n: usize, d: usize) -> Tokens {
    let mut rows = vec![0.0; n * d];
    Stream::new(46, &["downstream"]).normals(&mut rows);
    let masses: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
    Tokens::normalised(d, rows).and_then(|x| x.with_masses(&masses)).expect("tokens")
}

/// A symmetric matrix with eigenvalues of both signs.
fn symmetric(d: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| {
        let (i, j) = (i.min(j) as f64, i.max(j) as f64);
        0.4 * (1.3 * i + 0.7 * j * j).cos()
    };
    (0..d * d).map(|k| entry(k / d, k % d)).collect()
}

#[test]
fn the_flow_with_a_coupling_is_the_gradient_of_its_energy() -> Result<()> {
    for (n, d) in [(5, 2), (9, 4)] {
        let (x, form) = (tokens(n, d), (d, symmetric(d)));
        for text in ["power:p=3", "cosh:k=2", "exp(2*s) - s^2"] {
            let energy = InteractionEnergy::new(phi(text)).with_form(d, form.clone())?;
            let model = Model {
                interaction: Some(text.into()),
                coupling: Some(form.clone()),
                ..Model::default()
            };
            let usa = model.build("usa", false, &Spec::new(1.0, n), d)?;
            let v = usa.velocity(&x);
            // The gradient in the metric sum_i m_i |u_i|^2, and the energy that a run records.
            let gradient = energy.grad(&x);
            for ((v, g), m) in v.chunks(d).zip(gradient.chunks(d)).zip(x.masses()) {
                assert!(v.iter().zip(g).all(|(v, g)| (v - g / m).abs() < 1e-14), "{text}");
            }
            let own = usa.pair_energy().expect("an interaction");
            assert!((own.value(&x) - energy.value(&x)).abs() < 1e-16, "{text}");
            assert!(own.describe().contains('D'));
            // Derivatives along a curve.
            let mut u = vec![0.0; n * d];
            Stream::new(5, &["direction"]).normals(&mut u);
            u.chunks_mut(d).zip(x.rows()).for_each(|(u, x)| project(x, u));
            let at = |h: f64| -> Result<Tokens> {
                let rows = x
                    .rows()
                    .zip(u.chunks(d))
                    .flat_map(|(x, u)| exp(x, &u.iter().map(|v| h * v).collect::<Vec<_>>()));
                Tokens::normalised(d, rows.collect())?.with_masses(x.masses())
            };
            let h = 1e-4;
            let slope = (energy.value(&at(h)?) - energy.value(&at(-h)?)) / (2.0 * h);
            assert!((slope - dot(&gradient, &u)).abs() < 1e-6, "{text}: {slope}");
            let bend =
                (energy.value(&at(h)?) + energy.value(&at(-h)?) - 2.0 * energy.value(&x)) / (h * h);
            let product = dot(&energy.hess_vec(&x, &u), &u);
            assert!(
                (bend - product).abs() < 1e-5 * (1.0 + product.abs()),
                "{text}: {bend} {product}"
            );
            let trace: f64 = energy.hessian_eigenvalues(&x)?.iter().sum();
            let h = energy.hessian(&x)?;
            let size = n * (d - 1);
            let diagonal: f64 = (0..size).map(|k| h[k * size + k]).sum();
            assert!((trace - diagonal).abs() < 1e-12 * (1.0 + diagonal.abs()), "{text}");
        }
    }
    Ok(())
}

#[test]
fn a_coupling_without_an_interaction_is_exponential_attention() -> Result<()> {
    let (n, d, beta) = (12, 3, 2.5);
    let (x, form) = (tokens(n, d), (d, symmetric(d)));
    let coupled = Model { coupling: Some(form.clone()), ..Model::default() };
    let head = [None, Some(form.clone()), Some(form.clone()), None];
    let heads = Model { heads: vec![head], ..Model::default() };
    for (name, causal) in [("sa", false), ("usa", false), ("sa", true)] {
        let spec = Spec::new(beta, n);
        let known = heads.build(name, causal, &spec, d)?;
        let found = coupled.build(name, causal, &spec, d)?;
        let (a, b) = (found.velocity(&x), known.velocity(&x));
        assert!(max_difference(&a, &b) < 1e-13 * beta.exp(), "{name}, causal: {causal}");
    }
    let both = Model { coupling: Some(form.clone()), ..heads };
    let spec = Spec::new(beta, n);
    let refused = |model: &Model, reason: &str| {
        let e = model.build("usa", false, &spec, d).err().expect("refused").to_string();
        assert!(e.contains(reason), "{e}");
    };
    refused(&both, "no q, k, v, o");
    let mut skew = form;
    skew.1[1] += 1e-3;
    refused(&Model { coupling: Some(skew), ..Model::default() }, "symmetric matrix D");
    let narrow = Model { coupling: Some((2, vec![0.0; 4])), ..Model::default() };
    refused(&narrow, "a 3 x 3 matrix D");
    let broken = Model { coupling: Some((3, vec![f64::NAN; 9])), ..Model::default() };
    refused(&broken, "row 1 and column 1");
    // Inner products beyond 1: the pole of the interaction is at s = 1.5.
    let wide = Model {
        interaction: Some("1/(1.5 - s)".into()),
        coupling: Some((3, vec![2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])),
        ..Model::default()
    };
    assert!(wide.build("usa", false, &spec, d).is_err());
    Ok(())
}

#[test]
fn runs_record_the_energy_of_their_interaction() -> Result<()> {
    let (n, d) = (8, 3);
    let x = tokens(n, d);
    let names = ["energy", "log-energy", "grad-norm"];
    let record = |flow: &Dynamics, beta: f64| -> Result<Vec<Vec<f64>>> {
        let observables = names.iter().map(|n| find(n)).collect::<Result<Vec<_>>>()?;
        let setting = RunParameters { n, d, beta };
        let mut recorder = Recorder::new(setting, linear_times(2.0, 9), false, observables);
        let options = Options::default();
        let end = solve(flow, &x, 2.0, &options, &mut [&mut recorder as &mut dyn Observer])?;
        assert!(end.outcome.is_success());
        Ok(recorder.table.rows)
    };
    // The exponential by name has the columns of exponential attention.
    let usa = |text: &str| -> Result<Dynamics> {
        Ok(Dynamics::single(InteractionAttention::new(phi(text), RowSum::Plain)?))
    };
    let known = Model::default().build("usa", false, &Spec::new(1.5, n), d)?;
    for (a, b) in record(&usa("exp:beta=1.5")?, 1.5)?.iter().zip(record(&known, 1.5)?) {
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-8), "{a:?} {b:?}");
    }
    // The energy of another one increases, whatever beta.
    let rows = record(&usa("power:p=3")?, 7.0)?;
    let start = InteractionEnergy::new(phi("power:p=3")).value(&x);
    assert!((rows[0][1] - start).abs() < 1e-16);
    assert!((rows[0][2] - (start / 0.125).ln()).abs() < 1e-13);
    assert!(rows.windows(2).all(|w| w[1][1] > w[0][1] && w[1][2] > w[0][2]));
    let other = Energy::new(7.0, EnergyScale::Mean).value(&x)?;
    assert!((rows[0][1] - other).abs() > 1.0);
    Ok(())
}

/// The columns of one observable at the start.
fn measured(flow: &Dynamics, x: &Tokens, beta: f64, name: &str) -> Result<Vec<f64>> {
    let setting = RunParameters { n: x.n(), d: x.d(), beta };
    let mut recorder = Recorder::new(setting, vec![0.0], false, vec![find(name)?]);
    solve(flow, x, 1e-9, &Options::default(), &mut [&mut recorder as &mut dyn Observer])?;
    let row = recorder.table.rows[0][1..].to_vec();
    // W has an error of 1e-15 of its largest value, not its logarithm.
    Ok(if name == "head-energy" { row.iter().map(|v| v.exp()).collect() } else { row })
}

#[test]
fn observables_about_weights_know_the_interaction() -> Result<()> {
    let (x, beta, d) = (tokens(40, 2), 25.0, 2);
    let normals = |name: &str| {
        let mut out = vec![0.0; d * d];
        Stream::new(5, &["downstream", name]).normals(&mut out);
        out.iter_mut().for_each(|v| *v *= 0.3);
        Some((d, out))
    };
    let heads =
        || Ok::<_, metastable::Error>(vec![Head::new(d, normals("q"), normals("k"), None)?]);
    let known = |heads| Dynamics::single(Attention { heads, ..Attention::new(beta) });
    let own = |text: &str| InteractionAttention::new(phi(text), RowSum::Normalised);
    // The exponential by name has the numbers of exponential attention, whatever the beta of the
    // run; some may be NaN.
    for (name, differs) in
        [("clusters", true), ("attention-entropy", false), ("head-energy", false)]
    {
        let expected = measured(&known(vec![Head::default()]), &x, beta, name)?;
        let found = measured(&Dynamics::single(own("exp:beta=25")?), &x, 1.0, name)?;
        assert!(
            expected[0].is_finite() && close(&found, &expected),
            "{name} {found:?} {expected:?}"
        );
        let expected = measured(&known(heads()?), &x, beta, name)?;
        let flow = Dynamics::single(own("exp:beta=25")?.with_heads(heads()?)?);
        let found = measured(&flow, &x, 1.0, name)?;
        assert!(close(&found, &expected), "{name} {found:?} {expected:?}");
        // The width of another interaction is another one, also without a beta.
        let wide = measured(&Dynamics::single(own("1 + s^2")?), &x, beta, name)?;
        assert!(!differs || wide[0] < found[0], "{name} {wide:?} {found:?}");
        assert!(!close(&wide, &expected), "{name}");
    }
    // Row weights do not change the weights, and signed weights have no entropy.
    let kappa = InteractionAttention::with_row_weights(phi("exp:beta=25"), phi("2 + s"))?;
    let entropy = measured(&Dynamics::single(own("exp:beta=25")?), &x, 1.0, "attention-entropy")?;
    let found = measured(&Dynamics::single(kappa), &x, 1.0, "attention-entropy")?;
    assert!(close(&found, &entropy));
    let signed = InteractionAttention::new(phi("s^3"), RowSum::Plain)?;
    let found = measured(&Dynamics::single(signed), &x, 1.0, "attention-entropy")?;
    assert!(found.iter().all(|v| v.is_nan()));
    Ok(())
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-12 * b.abs() + 2e-15)
}

fn medium(name: &str, text: &str) -> MeasureDynamics {
    let plain = MeasureDynamics::new(name, 0.0, 0.0).expect("known dynamics");
    plain.with_interaction(phi(text)).expect("an interaction")
}

#[test]
fn densities_of_the_exponential_as_an_interaction_are_known_ones() -> Result<()> {
    for name in ["usa", "sa"] {
        let known = MeasureDynamics::new(name, 2.0, 0.1)?;
        for text in ["exp:beta=2", "exp(2*s)"] {
            let own = known.clone().with_interaction(phi(text))?;
            let start = Density::parse("cos:1=0.3,2=0.1+sin:3=0.1")?;
            let start = Circle::from_density(&start, 24)?;
            assert!((start.energy(&known) - start.energy(&own)).abs() < 1e-14);
            let rates = |m: &MeasureDynamics| {
                [start.negentropy_rate(m).expect("a rate"), start.energy_rate(m).expect("a rate")]
            };
            let gap = max_difference(&rates(&known), &rates(&own));
            assert!(gap < 1e-12, "{name} {text}: {gap:e}");
            let end = |m: &MeasureDynamics| {
                start.clone().evolve(m, 0.3, 256, |_, _| true).and_then(Evolution::reached)
            };
            let (a, b) = (end(&known)?, end(&own)?);
            let gap = largest(a.c.iter().zip(&b.c).map(|(a, b)| (a - b).norm()));
            assert!(gap < 1e-10, "{name} {text}: {gap:e}");
            let start = Density::parse("cos:1=0.3,2=0.1")?;
            let zonal = Zonal::from_density(&start, 6, 24)?;
            let end = |m: &MeasureDynamics| {
                zonal.clone().evolve(m, 0.3, 128, |_, _| true).and_then(Evolution::reached)
            };
            let gap = max_difference(&end(&known)?.b, &end(&own)?.b);
            assert!(gap < 1e-10, "{name} {text}: {gap:e}");
            let sphere = Sphere2::from_density(&start, 12)?;
            let end = |m: &MeasureDynamics| {
                sphere.clone().evolve(m, 0.1, 64, |_, _| true).and_then(Evolution::reached)
            };
            let (a, b) = (end(&known)?.a, end(&own)?.a);
            let gap = largest(a.iter().zip(&b).map(|(a, b)| (a - b).norm()));
            assert!(gap < 1e-9, "{name} {text}: {gap:e}");
        }
    }
    Ok(())
}

/// Particles at equispaced angles whose masses are the density there: the moments agree to the
/// error of the trapezoidal rule, which is spectral while the density is smooth.
#[test]
fn densities_on_the_circle_agree_with_particles() -> Result<()> {
    let (n, t) = (256, 0.8);
    let start = Circle::from_density(&Density::parse("cos:1=0.4,2=-0.2")?, 32)?;
    let angles: Vec<f64> = (0..n).map(|j| TAU * f64::from(j) / f64::from(n)).collect();
    let x = Tokens::from_angles(&angles)?.with_masses(&start.values(n as usize))?;
    let sa = RowSum::Normalised;
    for (name, row_sum, text, tolerance) in [
        ("usa", RowSum::Plain, "power:p=3", 1e-8),
        ("usa", RowSum::Plain, "cos(2*s) + 0.5*s", 1e-8),
        ("sa", sa, "sigmoid:k=4", 1e-8),
        ("sa", sa, "1 + s^2", 1e-8),
        // A kink: its series converges slowly, with the square of the number of modes.
        ("usa", RowSum::Plain, "relu:p=1", 2e-4),
    ] {
        let m = medium(name, text);
        let end = start.clone().evolve(&m, t, 512, |_, _| true)?.reached()?;
        let flow = Dynamics::single(InteractionAttention::new(phi(text), row_sum)?);
        let particles = solve(&flow, &x, t, &Options::default(), &mut [])?;
        let moved = particles.tokens();
        for k in 1..=3 {
            let mean: f64 = moved
                .chunks(2)
                .zip(x.masses())
                .map(|(p, m)| m * (f64::from(k) * p[1].atan2(p[0])).cos())
                .sum();
            let gap = (end.c[k as usize].re - mean).abs();
            assert!(gap < tolerance, "{name} {text}, mode {k}: {gap:e}");
        }
        // The rate of the negentropy from div v, from the series, and by the change of the density.
        let (a, b) = (
            end.negentropy_rate(&m).expect("a rate"),
            end.negentropy_rate_by_derivative(&m).expect("a rate"),
        );
        assert!((a - b).abs() < 1e-7 * a.abs().max(1.0), "{name} {text}: {a} {b}");
        let volumes =
            FiniteVolume::from_circle(&start, 1024)?.evolve(&m, t, |_, _| true)?.reached()?;
        let gap = (volumes.series(1)?.c[1].re - end.c[1].re).abs();
        assert!(gap < 1e-4, "{name} {text}: finite volumes {gap:e}");
    }
    Ok(())
}

#[test]
fn modes_of_densities_grow_at_the_rates_of_the_interaction() -> Result<()> {
    let time = 0.1;
    for (name, row_sum, text) in [
        ("usa", RowSum::Plain, "power:p=3"),
        ("usa", RowSum::Plain, "relu:p=2"),
        ("sa", RowSum::Normalised, "sigmoid:k=6"),
    ] {
        let m = medium(name, text);
        for d in [2, 5] {
            let rates = growth_rates(&phi(text), row_sum, d, 3)?;
            for (k, rate) in rates.iter().enumerate().skip(1) {
                let start = Density::parse(&format!("cos:{k}=1e-5"))?;
                let start = Zonal::from_density(&start, d, 24)?;
                let before = start.b[k];
                let end = start.evolve(&m, time, 64, |_, _| true)?.reached()?;
                let (found, expected) = ((end.b[k] / before).ln() / time, rate.value);
                let gap = (found - expected).abs();
                assert!(
                    gap < 1e-4 * expected.abs().max(1e-1),
                    "{text} d {d} k {k}: {found} {expected}"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn particles_of_densities_move_under_the_interaction() -> Result<()> {
    let near = |a: f64, b: f64, what: &str| {
        assert!((a - b).abs() < 1e-8 * (1.0 + b.abs()), "{what}: {a} {b}");
    };
    // Rings against series in Gegenbauer polynomials, and against e^{beta s}.
    let density = Density::parse("cos:1=0.3,2=-0.15,3=0.1")?;
    for (d, name, text) in [
        (2, "usa", "power:p=3"),
        (3, "sa", "sigmoid:k=6"),
        (3, "usa", "cos(3*s) + 0.3*s^5"),
        (8, "sa", "exp:beta=3"),
    ] {
        let m = medium(name, text);
        let series = Zonal::from_density(&density, d, 48)?;
        let series = series.evolve(&m, 0.3, 256, |_, _| true)?.reached()?;
        let rings = ZonalLagrangian::new(&density, d, 64)?;
        let rings = rings.evolve(&m, 0.3, |_, _| true)?.reached()?;
        near(rings.negentropy(), series.negentropy()?, text);
        near(rings.negentropy_rate(&m)?, series.negentropy_rate(&m)?, text);
        near(rings.energy(&m)?, series.energy(&m), text);
        near(rings.axis_mean(), series.axis_mean(), text);
        if text.starts_with("exp") {
            let known = MeasureDynamics::new(name, 3.0, 0.0)?;
            near(rings.negentropy_rate(&m)?, rings.negentropy_rate(&known)?, text);
            near(rings.energy(&m)?, rings.energy(&known)?, text);
        }
    }
    let kinked = medium("usa", "relu:p=1");
    let rings = ZonalLagrangian::new(&density, 3, 16)?;
    let found = rings.evolve(&kinked, 0.1, |_, _| true).expect_err("a kink").to_string();
    assert!(found.contains("kink"), "{found}");
    // Particles on S^2 against spherical harmonics, also without symmetry.
    let text = "vmf:kappa=2,at=1.1,azimuth=0.4,mass=0.6+noise:amplitude=0.02,modes=4,seed=3";
    let start = Sphere2::from_density(&Density::parse(text)?, 16)?;
    let m = medium("sa", "sigmoid:k=6");
    let particles = Lagrangian::on_sphere2(&start, start.rings())?;
    let particles = particles.evolve(&m, 0.2, |_, _| true)?.reached()?;
    let series = start.evolve(&m, 0.2, 64, |_, _| true)?.reached()?;
    near(particles.negentropy(), series.negentropy(), "particles");
    near(particles.negentropy_rate(&m)?, series.negentropy_rate(&m).expect("a rate"), "particles");
    near(particles.energy(&m), series.energy(&m), "particles");
    // Another interaction has another energy.
    assert!((particles.energy(&medium("sa", "s^2")) - series.energy(&m)).abs() > 1e-4);
    Ok(())
}

#[test]
fn measures_refuse_what_they_do_not_know() -> Result<()> {
    let plain = |name: &str| MeasureDynamics::new(name, 1.0, 0.0);
    let reason = |r: Result<MeasureDynamics>| r.expect_err("refused").to_string();
    assert!(reason(plain("sinkhorn")?.with_interaction(phi("power:p=2"))).contains("sa or usa"));
    let found = reason(plain("sa")?.with_interaction(phi("power:p=3")));
    assert!(found.contains("weights that are not negative"), "{found}");
    // Weights that vanish: no mass of one point is visible from the opposite side.
    let narrow = Circle::from_density(&Density::parse("vmf:kappa=40")?, 64)?;
    let end = narrow.evolve(&medium("sa", "relu(s - 0.5)^4"), 0.1, 128, |_, _| true);
    assert!(end.expect_err("refused").to_string().contains("row sum"));
    Ok(())
}

#[test]
fn the_sign_of_row_weights_is_proved() -> Result<()> {
    for good in [
        "power:p=2",
        "relu:p=3",
        "(s - 0.3)^2",
        "(s + 1)^3",
        "abs(s) - s",
        "1 + cos(3*s)",
        "(abs(s) - 0.5)^2",
        "exp(2*s) - 1 - 2*s - 2*s^2 + 2*s^2",
        "softplus:k=30",
        "0*s",
    ] {
        assert!(phi(good).check_row_weights().is_ok(), "{good}");
    }
    // Negative between two samples: the distance of samples is 2/4096.
    for (bad, place) in [
        ("(s - 0.3001)^2 - 1e-9", "s = 0.300"),
        ("s^3", "s = -1"),
        ("abs(s - 0.1001) - 1e-5", "s = 0.100"),
        ("1 + cos(3*s) - 0.02", "s = "),
    ] {
        let found = phi(bad).check_row_weights().expect_err(bad).to_string();
        assert!(found.contains(place) && found.contains("not negative"), "{bad}: {found}");
        assert!(InteractionAttention::new(phi(bad), RowSum::Normalised).is_err());
    }
    Ok(())
}

#[test]
fn row_weights_by_which_others_are_divided_are_proved_to_be_positive() -> Result<()> {
    for good in ["exp:beta=200", "1e-5 + (s - 0.3)^2", "2 + s", "0.1 + relu(s)", "chebyshev:2,1"] {
        assert!(phi(good).check_positive().is_ok(), "{good}");
        assert!(InteractionAttention::with_row_weights(phi("s^3"), phi(good)).is_ok());
    }
    // The distance of samples is 2/4096, so only a proof finds these.
    for (bad, place) in [
        ("1e-9 - relu(1e-8 - (s - 0.3001)^2)", "s = 0.300"),
        ("(s - 0.3001)^2", "s = 0.300"),
        ("relu(s)", "0 at s = -1"),
        ("1e-14 + relu(s)", "0.00000000000001 at s = -1"),
        ("s", "-1 at s = -1"),
        ("chebyshev:0,1", "-1 at s = -1"),
    ] {
        for found in [
            phi(bad).check_positive().expect_err(bad),
            InteractionAttention::with_row_weights(phi("1"), phi(bad)).err().expect(bad),
        ] {
            let found = found.to_string();
            assert!(found.starts_with("row_weights") && found.contains(place), "{bad}: {found}");
        }
    }
    Ok(())
}

#[test]
fn the_energy_rises_under_any_row_weights() -> Result<()> {
    use metastable::flow::{Options, solve};
    let form = (3, vec![0.5, 0.2, 0.0, 0.2, -0.4, 0.1, 0.0, 0.1, 0.3]);
    let x = tokens(12, 3);
    for (text, kappa) in [("s^3", "2 + s"), ("-exp(2*s)", "exp:beta=5"), ("sin(4*s)", "cosh:k=3")] {
        let flow = InteractionAttention::with_row_weights(phi(text), phi(kappa))?
            .with_form(3, form.clone())?;
        let energy = InteractionEnergy::new(phi(text)).with_form(3, form.clone())?;
        let (flow, mut y) = (Dynamics::single(flow), x.clone());
        for _ in 0..5 {
            let end = solve(&flow, &y, 0.3, &Options::default(), &mut [])?.clusters;
            assert!(energy.value(&end) > energy.value(&y), "{text} over {kappa}");
            y = end;
        }
    }
    Ok(())
}

#[test]
fn sampled_functions_are_chebyshev_sums() -> Result<()> {
    let values = |f: fn(f64) -> f64| move |s: &[f64]| Ok(s.iter().map(|s| f(*s)).collect());
    for (f, formula) in [
        ((|s| (3.0 * s).tanh() + 1.1) as fn(f64) -> f64, "tanh(3*s) + 1.1"),
        (|s| s * s * s, "s^3"),
        (|s| (5.0 * s).sin(), "sin(5*s)"),
        (|_| 2.0, "2 + 0*s"),
    ] {
        let (text, error) = Interaction::text_of_values(values(f))?;
        let (found, known) = (phi(&text), phi(formula));
        assert!(error < 2e-14, "{formula}: {error:e}");
        for k in 0..=50 {
            let s = f64::from(k) / 25.0 - 1.0;
            assert!((found.value(s)? - known.value(s)?).abs() < 2e-14, "{formula} at {s}");
            let gap = (found.derivative(s)? - known.derivative(s)?).abs();
            assert!(gap < 1e-10, "{formula}' at {s}: {gap:e}");
            assert!((found.potential(s) - known.potential(s)).abs() < 2e-14, "{formula}");
        }
        let x = tokens(20, 3);
        let usa = |phi: Interaction| -> Result<Vec<f64>> {
            Ok(Dynamics::single(InteractionAttention::new(phi, RowSum::Plain)?).velocity(&x))
        };
        let gap = max_difference(&usa(found)?, &usa(known)?);
        assert!(gap < 1e-13, "{formula}: {gap:e}");
    }
    let refused = |f: fn(f64) -> f64, reason: &str| {
        let e = ChebyshevSamples::of(values(f)).expect_err("refused").to_string();
        assert!(e.contains(reason), "{e}");
    };
    refused(|s| 1.0 / s, "at s = 0");
    refused(|s| s.abs().sqrt(), "more than 4096 terms");
    let short = ChebyshevSamples::of(|_| Ok(vec![1.0])).expect_err("refused").to_string();
    assert!(short.contains("1 values") && short.contains("17"), "{short}");
    // A sum has no values beyond 1, where a coupling may lead.
    let model = Model {
        interaction: Some("chebyshev:0,0.5,0.25".into()),
        coupling: Some((2, vec![2.0, 0.0, 0.0, 2.0])),
        ..Model::default()
    };
    let e = model.build("usa", false, &Spec::new(1.0, 3), 2).err().expect("refused").to_string();
    assert!(e.contains("matrices of norm at most 1"), "{e}");
    Ok(())
}
