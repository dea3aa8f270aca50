//! Noise: the law of one step, weak and strong orders of the schemes, stationary means.

use metastable::Result;
use metastable::attention::kernel::Workspace;
use metastable::attention::noise::{CircleNoise, Isotropic, Noise, Sampler};
use metastable::attention::{Dynamics, Input, OutputForm, Properties, Sublayer};
use metastable::flow::{
    Outcome, Recorder, SdeOptions, Splitting, observable, solve_sde, solve_sde_many,
};
use metastable::num::brownian::Brownian;
use metastable::num::deviation::{largest, max_difference};
use metastable::num::{quadrature::integrate, stats::slope, stream::Stream};
use metastable::sphere::{Tokens, law::Law};
use metastable::theory::noise_step::{stationary_mean, stationary_means};

/// `E cos(s chi)` of the length chi of a normal tangent vector of d - 1 dimensions.
fn mean_cosine(d: usize, s: f64) -> f64 {
    let weight = |r: f64| r.powi(d as i32 - 2) * (-0.5 * r * r).exp();
    integrate(|r| weight(r) * (s * r).cos(), 0.0, 12.0, 1e-14).value
        / integrate(weight, 0.0, 12.0, 1e-14).value
}

#[test]
fn one_step_has_the_mean_of_brownian_motion_to_third_order() -> Result<()> {
    for d in [2usize, 3, 8] {
        let noise = Isotropic::new(4.0)?;
        let error =
            |h: f64| mean_cosine(d, noise.step_scale(d, h)) - (-(d as f64 - 1.0) * h / 4.0).exp();
        let (coarse, fine) = (error(0.2), error(0.1));
        if d == 2 {
            assert!(coarse.abs() < 1e-13, "exact on the circle: {coarse:e}");
        } else {
            assert!((coarse / fine).log2() > 2.9, "d = {d}: {coarse:e} {fine:e}");
        }
        // The control: without the correction of the angle the error is -(d-1)(d-2)/3 (h/kappa)^2.
        let plain =
            mean_cosine(d, (2.0 * 0.1f64 / 4.0).sqrt()) - (-(d as f64 - 1.0) * 0.1 / 4.0).exp();
        let stated = -((d - 1) as f64) * (d as f64 - 2.0) / 3.0 * (0.1f64 / 4.0).powi(2);
        assert!((plain - stated).abs() < 0.1 * stated.abs() + 1e-13, "{plain:e} {stated:e}");
        // The sampled steps have this mean.
        let n = 200_000;
        let pole: Vec<f64> = (0..d).map(|k| if k == 0 { 1.0 } else { 0.0 }).collect();
        let mut x = Tokens::new(d, pole.repeat(n))?;
        let mut xi = vec![0.0; n * d];
        Stream::new(2, &["noise", "step"]).normals(&mut xi);
        noise.apply(&mut x, 0.5, &xi);
        let (found, expected) = (x.mean()[0], mean_cosine(d, noise.step_scale(d, 0.5)));
        let spread = (x.rows().map(|r| (r[0] - found).powi(2)).sum::<f64>() / n as f64).sqrt();
        assert!(
            (found - expected).abs() < 4.0 * spread / (n as f64).sqrt(),
            "d = {d}: {found} {expected}"
        );
    }
    Ok(())
}

/// The drift `P m` towards a point m.
struct DriftToPoint;

impl Sublayer for DriftToPoint {
    fn evaluate(&self, input: &Input, form: OutputForm, _: &mut Workspace, out: &mut [f64]) {
        out.chunks_exact_mut(input.tokens.d()).for_each(|row| {
            row.iter_mut().enumerate().for_each(|(k, v)| *v = if k == 0 { 1.0 } else { 0.0 })
        });
        form.of_sums(input.tokens, out);
    }

    fn properties(&self) -> Properties {
        Properties { common_field: true, ..Properties::default() }
    }

    fn length_scale(&self) -> f64 {
        1.0
    }
}

#[test]
fn the_stationary_mean_has_weak_order_two() -> Result<()> {
    // The scheme as an operator on functions of z = <m, x>, on S^2 at kappa = 4: the drift shifts
    // atanh z, the noise multiplies Legendre modes.
    let (modes, points, kappa) = (40, 1600, 4.0);
    let noise = Isotropic::new(kappa)?;
    let legendre = |z: f64| {
        let mut p = vec![1.0, z];
        (1..modes).for_each(|l| {
            p.push(((2 * l + 1) as f64 * z * p[l] - l as f64 * p[l - 1]) / (l + 1) as f64)
        });
        p
    };
    let mean = |h: f64, s: f64| {
        // A density on a fine grid of z, at midpoints of the angle, iterated until it is
        // stationary.
        let factor: Vec<f64> = (0..modes)
            .map(|l| {
                integrate(
                    |r| r * (-0.5 * r * r).exp() * legendre((s * r).cos())[l],
                    0.0,
                    12.0,
                    1e-12,
                )
                .value
            })
            .collect();
        let grid: Vec<f64> = (0..points)
            .map(|k| ((k as f64 + 0.5) / points as f64 * std::f64::consts::PI).cos())
            .collect();
        let weight: Vec<f64> = grid
            .iter()
            .map(|z| (1.0 - z * z).sqrt() * std::f64::consts::PI / points as f64)
            .collect();
        // Moments after a drift of time t from the density f. Between two noise steps, two half
        // drifts are one drift.
        let moved = |t: f64| -> Vec<Vec<f64>> {
            grid.iter().map(|z| legendre((z.atanh() + t).tanh())).collect()
        };
        let (whole, half, here) = (moved(h), moved(0.5 * h), moved(0.0));
        let moments = |table: &[Vec<f64>], f: &[f64]| -> Vec<f64> {
            let mut b = vec![0.0; modes];
            for ((f, w), row) in f.iter().zip(&weight).zip(table) {
                b.iter_mut().zip(row).for_each(|(b, p)| *b += f * w * p);
            }
            b
        };
        let mut f = vec![0.5; points];
        for _ in 0..(60.0 / h) as usize {
            let after: Vec<f64> = moments(&whole, &f)
                .iter()
                .zip(&factor)
                .enumerate()
                .map(|(l, (b, m))| (l as f64 + 0.5) * b * m)
                .collect();
            f = here.iter().map(|p| p.iter().zip(&after).map(|(p, a)| p * a).sum()).collect();
        }
        // The sums lose a little mass in each iteration.
        let end = moments(&half, &f);
        end[1] / end[0]
    };
    let exact = 1.0 / kappa.tanh() - 1.0 / kappa;
    let errors = [0.2, 0.1].map(|h| mean(h, noise.step_scale(3, h)) - exact);
    assert!((errors[0] / errors[1]).log2() > 1.9 && errors[0].abs() < 1e-3, "{errors:?}");
    let control = [0.2, 0.1].map(|h| mean(h, (2.0 * h / kappa).sqrt()) - exact);
    assert!((control[0] / control[1]).log2() < 1.2, "without the correction: {control:?}");
    Ok(())
}

#[test]
fn paths_reach_the_stationary_mean_and_are_reproducible() -> Result<()> {
    let (n, kappa) = (40_000, 4.0f64);
    let x = Law::parse("uniform")?.sample(n, 3, &mut Stream::new(9, &["walk"]))?;
    let noise = Isotropic::new(kappa)?;
    let towards = Dynamics::single(DriftToPoint);
    let plan = SdeOptions {
        noise: &noise,
        step: 0.2,
        seed: 7,
        splitting: Splitting::Strang,
        cancel: None,
    };
    let (end, outcome) = solve_sde(&towards, &x, 8.0, &plan, &mut [])?;
    assert_eq!(outcome, Outcome::Reached);
    let expected = 1.0 / kappa.tanh() - 1.0 / kappa + 7.2e-4;
    // The variance of z is 1 - coth^2 + 1/kappa^2.
    let spread =
        (1.0 - 1.0 / kappa.tanh().powi(2) + 1.0 / kappa.powi(2)).sqrt() / (n as f64).sqrt();
    assert!(
        (end.mean()[0] - expected).abs() < 4.0 * spread,
        "{} {expected} +- {spread}",
        end.mean()[0]
    );
    let small = Law::parse("uniform")?.sample(20, 3, &mut Stream::new(9, &["again"]))?;
    assert_eq!(
        solve_sde(&towards, &small, 1.0, &plan, &mut [])?.0,
        solve_sde(&towards, &small, 1.0, &plan, &mut [])?.0
    );
    for (step, t) in [(0.0, 1.0), (-1.0, 1.0), (f64::NAN, 1.0), (1e-12, 1e6), (0.1, f64::NAN)] {
        assert!(
            solve_sde(
                &towards,
                &small,
                t,
                &SdeOptions {
                    noise: &noise,
                    step,
                    seed: 1,
                    splitting: Splitting::Strang,
                    cancel: None
                },
                &mut []
            )
            .is_err()
        );
    }
    assert!(
        Isotropic::new(0.0).is_err()
            && Isotropic::new(-1.0).is_err()
            && Isotropic::new(f64::NAN).is_err()
    );
    Ok(())
}

#[test]
fn smaller_steps_refine_the_same_brownian_motion() {
    // Over 64 steps, sums of fine increments equal the coarse ones, which are normal and
    // independent.
    let (mut coarse, mut fine) = (Brownian::new(3, 0.3, 500), Brownian::new(3, 0.075, 500));
    let mut before: Vec<f64> = Vec::new();
    for k in 0..64 {
        let whole = coarse.step(k).to_vec();
        let mut sum = vec![0.0; 500];
        (4 * k..4 * k + 4)
            .for_each(|j| sum.iter_mut().zip(fine.step(j)).for_each(|(s, w)| *s += 0.5 * w));
        assert!(whole.iter().zip(&sum).all(|(a, b)| (a - b).abs() < 1e-14));
        let square = whole.iter().map(|w| w * w).sum::<f64>() / 500.0;
        assert!((square - 1.0).abs() < 5.0 * (2.0f64 / 500.0).sqrt(), "{square}");
        let with_last = whole.iter().zip(&before).map(|(a, b)| a * b).sum::<f64>() / 500.0;
        assert!(with_last.abs() < 5.0 / 500f64.sqrt(), "{with_last}");
        before = whole;
    }
    // The numbers do not depend on the order of calls. Another seed gives other numbers.
    assert_eq!(coarse.step(17).to_vec(), Brownian::new(3, 0.3, 500).step(17));
    assert_ne!(coarse.step(17).to_vec(), Brownian::new(4, 0.3, 500).step(17));
    // A part of a step is a point of the same path, so the remaining increment is independent of
    // it.
    let (whole, part) = (coarse.step(5).to_vec(), coarse.partial_increment(5, 0.25).to_vec());
    let remaining: Vec<f64> = whole.iter().zip(&part).map(|(w, p)| w - 0.5 * p).collect();
    let along = remaining.iter().zip(&part).map(|(a, b)| a * b).sum::<f64>() / 500.0;
    assert!(along.abs() < 5.0 / 500f64.sqrt(), "{along}");
}

/// The order of convergence of root mean square distances to the path of 1024 steps, for tokens
/// with one start under the drift.
fn strong_slope(noise: &dyn Noise, d: usize) -> Result<f64> {
    let n = 400;
    let start = Tokens::new(d, [&[0.6, 0.8][..], &vec![0.0; d - 2]].concat().repeat(n))?;
    let end = |steps: u32| -> Result<Tokens> {
        let plan = SdeOptions {
            noise,
            step: 0.5 / f64::from(steps),
            seed: 11,
            splitting: Splitting::Strang,
            cancel: None,
        };
        Ok(solve_sde(&Dynamics::single(DriftToPoint), &start, 0.5, &plan, &mut [])?.0)
    };
    let exact = end(1024)?;
    let mut points = Vec::new();
    for steps in [8, 16, 32, 64] {
        let gaps = end(steps)?
            .coordinates()
            .iter()
            .zip(exact.coordinates())
            .map(|(a, b)| (a - b).powi(2))
            .sum::<f64>();
        points.push((-f64::from(steps).ln(), 0.5 * (gaps / n as f64).ln()));
    }
    Ok(slope(&points))
}

#[test]
fn strong_orders_one_half_and_one() -> Result<()> {
    for d in [2, 3] {
        let found = strong_slope(&Isotropic::new(1.0)?, d)?;
        assert!((found - 0.5).abs() < 0.1, "ambient noise, d = {d}: {found}");
    }
    let found = strong_slope(&CircleNoise::new(1.0)?, 2)?;
    assert!((found - 1.0).abs() < 0.1, "angle noise: {found}");
    Ok(())
}

#[test]
fn four_schemes_have_the_stationary_means_of_their_transfer_operators() -> Result<()> {
    let (n, kappa, h) = (40_000, 4.0f64, 0.4);
    let x = Law::parse("uniform")?.sample(n, 3, &mut Stream::new(9, &["four"]))?;
    let spread =
        (1.0 - 1.0 / kappa.tanh().powi(2) + 1.0 / kappa.powi(2)).sqrt() / (n as f64).sqrt();
    for (splitting, sampler) in [
        (Splitting::Strang, Sampler::Corrected),
        (Splitting::Strang, Sampler::Geodesic),
        (Splitting::Lie, Sampler::Geodesic),
        (Splitting::Lie, Sampler::Normalised),
    ] {
        let noise = Isotropic::new(kappa)?.with_sampler(sampler);
        let plan = SdeOptions { noise: &noise, step: h, seed: 7, splitting, cancel: None };
        let found =
            solve_sde(&Dynamics::single(DriftToPoint), &x, 8.0, &plan, &mut [])?.0.mean()[0];
        let (lie, strang) = stationary_means(sampler, kappa, h);
        let stated = if splitting == Splitting::Lie { lie } else { strang };
        assert!(
            (found - stated).abs() < 4.0 * spread,
            "{splitting:?} {sampler:?}: {found} {stated} +- {spread}"
        );
        // The control: at this step, the schemes of order 1 visibly miss the stationary law of the
        // equation.
        let differs = (found - stationary_mean(kappa)).abs() > 4.0 * spread;
        assert!(differs || splitting == Splitting::Strang, "{splitting:?} {sampler:?}: {found}");
    }
    Ok(())
}

#[test]
fn systems_in_an_ensemble_agree_with_single_runs() -> Result<()> {
    use metastable::attention::{Head, Spec, dynamics};
    let turned =
        Head::new(3, None, None, Some((3, vec![0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0])))?;
    let plain = dynamics::build("sa", false, &Spec::new(3.0, 12))?;
    let valued = dynamics::build("sa", false, &Spec { heads: vec![turned], ..Spec::new(3.0, 12) })?;
    let noise = Isotropic::new(20.0)?;
    let starts = (0..11)
        .map(|k| Law::parse("uniform")?.sample(12, 3, &mut Stream::new(k, &["lanes"])))
        .collect::<Result<Vec<_>>>()?;
    let seeds: Vec<u64> = (100..111).collect();
    let setting = observable::RunParameters { n: 12, d: 3, beta: 3.0 };
    for (sa, splitting) in
        [(&plain, Splitting::Strang), (&plain, Splitting::Lie), (&valued, Splitting::Strang)]
    {
        // The last step is shorter.
        let plan = SdeOptions { noise: &noise, step: 0.03, seed: 0, splitting, cancel: None };
        let recorder = || {
            Ok(Recorder::new(
                setting,
                vec![0.0, 0.5, 1.0],
                false,
                vec![observable::find("mean-cosine")?],
            ))
        };
        let mut recorders = starts.iter().map(|_| recorder()).collect::<Result<Vec<_>>>()?;
        let ends = solve_sde_many(sa, &starts, 1.0, &plan, &seeds, &mut recorders)?;
        for (k, (end, outcome)) in ends.iter().enumerate() {
            let mut own = recorder()?;
            let (alone, _) = solve_sde(
                sa,
                &starts[k],
                1.0,
                &SdeOptions { seed: seeds[k], ..plan },
                &mut [&mut own],
            )?;
            assert_eq!(*outcome, Outcome::Reached);
            let deviation = max_difference(end.coordinates(), alone.coordinates());
            assert!(deviation < 1e-12, "{splitting:?} {k}: {deviation:e}");
            assert_eq!(own.table.rows.len(), recorders[k].table.rows.len());
            assert!(
                own.table
                    .rows
                    .iter()
                    .zip(&recorders[k].table.rows)
                    .all(|(a, b)| (a[0] - b[0]).abs() < 1e-15 && (a[1] - b[1]).abs() < 1e-12)
            );
        }
        // The result does not depend on the other systems of the ensemble.
        let mut few = vec![recorder()?];
        let single = solve_sde_many(sa, &starts[4..5], 1.0, &plan, &seeds[4..5], &mut few)?;
        assert_eq!(single[0].0, ends[4].0);
    }
    Ok(())
}

/// A sublayer with velocity 0.
struct ZeroField;

impl Sublayer for ZeroField {
    fn evaluate(&self, _: &Input, _: OutputForm, _: &mut Workspace, out: &mut [f64]) {
        out.fill(0.0);
    }

    fn properties(&self) -> Properties {
        Properties { common_field: true, ..Properties::default() }
    }

    fn length_scale(&self) -> f64 {
        1.0
    }
}

/// The size of a step in every space, number by number, so that a wrong factor is detected also for
/// tokens in R^d.
#[test]
fn one_step_has_the_stated_size_in_every_space() -> Result<()> {
    let (kappa, h, d) = (3.0f64, 0.05, 3);
    let sigma = (2.0 * h / kappa).sqrt();
    // The bound covers some ten operations on numbers of size 1.
    let rounding = 16.0 * f64::EPSILON;
    let xi = [0.4, -1.3, 0.7, 2.0, 0.1, -0.6];
    let noise = Isotropic::new(kappa)?;
    // In R^d every coordinate moves by sqrt(2 h / kappa) times its own normal number, for every
    // sampler.
    let start = Tokens::flat(d, vec![1.0, -2.0, 0.5, 0.0, 10.0, -1.0])?;
    for sampler in Sampler::ALL {
        let mut x = start.clone();
        noise.with_sampler(sampler).apply(&mut x, h, &xi);
        for ((moved, from), xi) in x.coordinates().iter().zip(start.coordinates()).zip(xi) {
            assert!(
                (moved - from - sigma * xi).abs() < 10.0 * rounding,
                "{sampler:?}: {moved} {from} {xi}"
            );
        }
    }
    // On the sphere the step goes along the tangent part. Its angle is the sampler's factor times
    // the length of that part.
    let pole = Tokens::new(d, [1.0, 0.0, 0.0].repeat(2))?;
    let angle = |sampler: Sampler, length: f64| match sampler {
        Sampler::Normalised => (sigma * length).atan(),
        Sampler::Geodesic => sigma * length,
        Sampler::Corrected => sigma * (1.0 - h / (3.0 * kappa)).sqrt() * length,
    };
    for sampler in Sampler::ALL {
        let mut x = pole.clone();
        noise.with_sampler(sampler).apply(&mut x, h, &xi);
        // Noise moves directions and leaves radii unchanged.
        let mut polar = pole.clone().polar(&[2.0, 0.3])?;
        noise.with_sampler(sampler).apply(&mut polar, h, &xi);
        assert!(
            polar
                .extra_numbers()
                .iter()
                .zip([2.0, 0.3])
                .all(|(r, stays)| r.to_bits() == f64::to_bits(stays))
        );
        assert!(
            polar.coordinates().iter().zip(x.coordinates()).all(|(a, b)| (a - b).abs() < rounding)
        );
        for (row, xi) in x.rows().zip(xi.chunks_exact(d)) {
            let length = xi[1].hypot(xi[2]);
            let angle = angle(sampler, length);
            for (found, expected) in row.iter().zip([
                angle.cos(),
                angle.sin() * xi[1] / length,
                angle.sin() * xi[2] / length,
            ]) {
                assert!((found - expected).abs() < rounding, "{sampler:?}: {row:?} {angle}");
            }
        }
    }
    // Noise of the angle on the circle uses only the first of the two numbers.
    let mut x = Tokens::from_angles(&[0.3])?;
    CircleNoise::new(kappa)?.apply(&mut x, h, &[0.9, 5.0]);
    assert!((x.angles()[0] - 0.3 - sigma * 0.9).abs() < rounding);
    Ok(())
}

/// Diffusion alone: after every step, tokens in R^d are at `sqrt(2/kappa)` times their Brownian
/// motions.
#[test]
fn tokens_of_rd_without_drift_are_brownian_motion() -> Result<()> {
    use metastable::attention::normalisation::Unnormalised;
    let (n, d, kappa, step, seed) = (500, 3, 5.0f64, 0.05, 8);
    let start = Tokens::flat(d, vec![0.25; n * d])?;
    let noise = Isotropic::new(kappa)?;
    let still = Dynamics::single(ZeroField).with_normalisation(Unnormalised);
    for splitting in [Splitting::Strang, Splitting::Lie] {
        let plan = SdeOptions { noise: &noise, step, seed, splitting, cancel: None };
        let (end, _) = solve_sde(&still, &start, 1.0, &plan, &mut [])?;
        let mut motion = Brownian::new(seed, step, n * d);
        let mut sums = vec![0.0; n * d];
        (0..20).for_each(|k| sums.iter_mut().zip(motion.step(k)).for_each(|(s, xi)| *s += xi));
        let size = (2.0 * step / kappa).sqrt();
        let both = end.coordinates().iter().zip(&sums);
        let deviation = largest(both.map(|(x, s)| (x - 0.25 - size * s).abs()));
        assert!(deviation < 1e-13, "{splitting:?}: {deviation:e}");
        // The mean square of a coordinate is therefore 2 t / kappa = 0.4, to five standard errors
        // of 1500 numbers.
        let square =
            end.coordinates().iter().map(|x| (x - 0.25).powi(2)).sum::<f64>() / (n * d) as f64;
        assert!((square / 0.4 - 1.0).abs() < 5.0 * (2.0 / (n * d) as f64).sqrt(), "{square}");
    }
    Ok(())
}
