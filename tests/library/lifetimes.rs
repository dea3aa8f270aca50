//! Times under noise: two clusters, exits over saddles, phase slips. The numbers without a formula
//! were computed by other programs, the generator spectrum by Fourier-Galerkin.

use metastable::Result;
use metastable::attention::RowWeights;
use metastable::attention::interaction::{Interaction, InteractionEnergy};
use metastable::landscape::exits::{Exit, OrbitPoint, add_saddles, exits};
use metastable::landscape::search::{Search, SearchResult};
use metastable::landscape::searched::{FoundPoint, SearchedEnergy};
use metastable::landscape::{CriticalPoint, Exponential};
use metastable::num::{quadrature::integrate, roots::bracketed_root};
use metastable::sphere::Tokens;
use metastable::theory::noisy_pair::NoisyPair;
use metastable::theory::phase_slip;
use std::f64::consts::{PI, TAU};

fn pair(beta: f64, kappa: f64, d: usize, share: f64) -> NoisyPair {
    NoisyPair { beta, share, n: 16, d, kappa, weights: RowWeights::Softmax }
}

#[test]
fn two_clusters_live_as_long_as_another_program_says() -> Result<()> {
    for (beta, kappa, d, share, time, digits) in [
        (4.0, 100.0, 2, 0.5, 309.8807557_f64, 10),
        (9.0, 100.0, 2, 0.5, 842.3030035, 10),
        (9.0, 1e4, 2, 0.5, 45982.03, 7),
        (9.0, 1e4, 3, 0.5, 26027.63, 7),
        (9.0, 1e6, 2, 0.5, 1946271.0, 7),
        (20.0, 1e4, 2, 0.5, 93922.07, 7),
        (20.0, 1e4, 3, 0.5, 60897.27, 7),
        (9.0, 1e4, 2, 0.25, 33373.54, 7),
    ] {
        let found = pair(beta, kappa, d, share).passage(PI, 0.1)?;
        let unit = 10f64.powi(time.log10().floor() as i32 + 1 - digits);
        assert!((found.mean - time).abs() <= 0.51 * unit, "{beta} {kappa} {d}: {}", found.mean);
        assert!(found.mean_error < 1e-11 * found.mean, "{:e}", found.mean_error);
    }
    Ok(())
}

#[test]
fn the_life_has_its_limits_with_and_without_drift() -> Result<()> {
    // kappa -> 0 on the circle: a Brownian motion on [to, pi] with one reflecting end.
    let free = pair(4.0, 1e-9, 2, 0.5);
    let found = free.passage(2.5, 0.5)?;
    let (length, start) = (PI - 0.5, PI - 2.5);
    let exact = (length * length - start * start) / (2.0 * free.diffusion());
    assert!((found.mean / exact - 1.0).abs() < 1e-8, "{} {exact}", found.mean);
    // kappa -> infinity: the time without noise.
    let calm = pair(4.0, 1e14, 3, 0.3).passage(2.5, 0.5)?;
    let exact = metastable::theory::two_cluster::merge_time_sa(4.0, 0.3, 2.5, 0.5)?.value;
    assert!((calm.mean / exact - 1.0).abs() < 1e-9, "{} {exact}", calm.mean);
    assert!(calm.deviation < 1e-4 * calm.mean);
    Ok(())
}

#[test]
fn quantiles_belong_to_the_mean_and_the_deviation() -> Result<()> {
    // A wide and a narrow distribution, which are inverted on other contours.
    for (pair, to, narrow) in
        [(pair(9.0, 1e4, 3, 0.5), 0.1, false), (pair(2.0, 1e5, 2, 0.4), 0.5, true)]
    {
        let passage = pair.passage(2.8, to)?;
        assert_eq!(passage.deviation < 0.4 * passage.mean, narrow, "{passage:?}");
        let mut law = passage.distribution();
        // E tau^k by the survival beyond a quantile that is almost 0.
        let (first, last) = (law.quantile(1e-4)?.0, law.quantile(0.9999)?.0);
        let steps = 2000;
        let h = (last - first) / f64::from(steps);
        let (mut mean, mut square) = (first, first * first);
        for i in 0..steps {
            let t = first + (f64::from(i) + 0.5) * h;
            let beyond = 1.0 - law.probability(t)?.0;
            mean += beyond * h;
            square += 2.0 * t * beyond * h;
        }
        let deviation = (square - mean * mean).sqrt();
        assert!((mean / passage.mean - 1.0).abs() < 2e-3, "{mean} {}", passage.mean);
        assert!((deviation / passage.deviation - 1.0).abs() < 1e-2, "{deviation}");
        for p in [0.01, 0.5, 0.99] {
            let (t, error) = law.quantile(p)?;
            let (back, _) = law.probability(t)?;
            assert!((back - p).abs() < 1e-9 && error < 1e-6 * t, "{p}: {back} {error:e}");
            let step = 1e-4 * t;
            let slope =
                (law.probability(t + step)?.0 - law.probability(t - step)?.0) / (2.0 * step);
            let density = law.density(t)?.0;
            assert!((slope / density - 1.0).abs() < 1e-4, "{p}: {slope} {density}");
        }
    }
    Ok(())
}

#[test]
fn slips_have_their_law_and_their_exact_rates() -> Result<()> {
    for (n, beta, prefactor, barrier) in [
        (2, 1.0, 0.1591549431, 1.1752011936),
        (2, 2.0, 0.1591549431, 1.8134302039),
        (3, 1.0, 0.2018739972, 1.5669349249),
        (3, 2.0, 0.1958229181, 2.4179069386),
        (4, 1.0, 0.2222318614, 1.7628017905),
        (5, 1.0, 0.2342110628, 1.8803219098),
        (8, 1.0, 0.2519022819, 2.0566020889),
    ] {
        let found = phase_slip::barrier(n, beta)?;
        let factor = (phase_slip::log_rate(n, beta, 7.0)? + 7.0 * found).exp();
        assert!((found - barrier).abs() < 6e-11, "{found}");
        assert!((factor - prefactor).abs() < 6e-11, "{factor}");
    }
    for (beta, kappa, log) in [
        (1.0, 10.0, -13.543093085041),
        (1.0, 40.0, -48.825918547643),
        (2.0, 20.0, -37.890502877487),
    ] {
        assert!((phase_slip::log_rate_of_two(beta, kappa)? - log).abs() < 1e-11);
    }
    for beta in [1.0, 2.0] {
        // The next order of the law, and that what is left is of the order after it.
        let kappa = 2000.0;
        let log = phase_slip::log_rate_of_two(beta, kappa)?;
        let ratio = (log - phase_slip::log_rate(2, beta, kappa)?).exp_m1();
        let next = ((1.0 + 3.0 * beta) * (-beta).exp() + (1.0 - 3.0 * beta) * beta.exp()) / 4.0;
        assert!((ratio + next / kappa).abs() < 15.0 * (next / kappa).powi(2), "{ratio}");
    }
    for (kappa, rate) in [(4.0, 4.16178364e-4), (6.0, 1.89404531e-5), (8.0, 8.11434394e-7)] {
        let (log, error) = phase_slip::log_rate_of_three(1.0, kappa)?;
        assert!(
            (log.exp() / rate - 1.0).abs() < 1e-8 + error && error < 1e-5,
            "{kappa}: {error:e}"
        );
    }
    assert!(phase_slip::log_rate_of_three(1.0, 100.0).is_err());
    Ok(())
}

/// Critical points with the saddles around maxima, and the exits.
fn landscape(n: usize, d: usize, beta: f64) -> Result<(SearchResult<CriticalPoint>, Vec<Exit>)> {
    let energy = Exponential { beta };
    let search = Search { energy, n, d, starts: 40, max_starts: 40, fixed: true, seed: 1 };
    let mut found = search.run()?;
    add_saddles(&energy, &mut found, 40, 1)?;
    let ways = exits(&energy, &mut found)?;
    assert!(ways.degenerate.is_empty() && ways.without_end == 0);
    Ok((found, ways.all))
}

#[test]
fn triangles_are_left_at_the_rates_of_the_generator() -> Result<()> {
    // The two smallest gaps of the generator, and their ratio to the law.
    for (beta, barrier, kappa, gap, ratio) in [
        (-2.0, 0.2324253929, 16.0, 3.464167e-2, 0.8534),
        (-2.0, 0.2324253929, 45.0, 4.5567e-5, 0.9495),
        (-3.0, 0.9690612092, 8.0, 2.724737e-3, 0.8732),
        (-3.0, 0.9690612092, 12.0, 5.92097e-5, 0.9154),
    ] {
        let (found, all) = landscape(3, 2, beta)?;
        let way = all.iter().find(|w| found.points[w.from].sizes.len() == 3).expect("an exit");
        assert!((way.barrier - barrier).abs() < 6e-11, "{way:?}");
        assert_eq!(way.saddles as usize, 3);
        let law = way.log_rate(kappa).exp();
        assert!((gap / law - ratio).abs() < 6e-5, "{beta} {kappa}: {}", gap / law);
        // (1 - ratio) kappa barrier tends to a constant.
        assert!((1.0 - gap / law) * kappa * barrier < 2.5);
        assert_eq!(found.points[way.to].sizes, [3]);
    }
    Ok(())
}

#[test]
fn a_tetrahedron_has_four_saddles_with_their_volumes() -> Result<()> {
    for (beta, potential, products, with, without) in [
        (-2.0, 1.4946343516, (-0.427, -0.2206), 0.0393217, 0.0393930),
        (-3.0, 1.3674387590, (-0.4823, -0.1087), 0.2185390, 0.2195304),
        (-4.0, 1.4249149154, (-0.4949, -0.0581), 0.6691127, 0.6726783),
    ] {
        let (found, all) = landscape(4, 3, beta)?;
        let way = all.iter().find(|w| found.points[w.from].sizes.len() == 4).expect("an exit");
        let (well, saddle) = (&found.points[way.from], &found.points[way.over]);
        assert!((well.potential() - potential).abs() < 6e-11);
        assert_eq!((way.saddles as usize, way.orbit_dimensions), (4, 0));
        assert!((way.log_prefactor.exp() - with).abs() < 6e-8, "{}", way.log_prefactor.exp());
        let plain = (way.log_prefactor - way.log_volume_ratio).exp();
        assert!((plain - without).abs() < 6e-8, "{plain}");
        let mut inner: Vec<f64> = (0..4)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| saddle.clusters.inner(i, j))
            .collect();
        inner.sort_by(f64::total_cmp);
        for (k, value) in inner.iter().enumerate() {
            let stated = if k < 3 { products.0 } else { products.1 };
            assert!((value - stated).abs() < 6e-4, "{inner:?}");
        }
    }
    Ok(())
}

#[test]
fn one_cluster_is_left_by_phase_slips() -> Result<()> {
    for n in [3, 4, 5] {
        let (found, all) = landscape(n, 2, 1.0)?;
        let slip = &all[0];
        assert_eq!(found.points[slip.from].sizes, [n]);
        assert_eq!((slip.from, slip.saddles as usize), (slip.to, 2 * n));
        let one = slip.log_rate_of_one(9.0);
        let exact = phase_slip::log_rate(n, 1.0, 9.0)?;
        assert!((one - exact).abs() < 1e-9, "{one} {exact}");
    }
    Ok(())
}

/// The mean time from one token on another to the second well, times the rate, for two tokens on
/// S^2 whose angle has the potential W(theta) = -0.3 cos(theta) - cos(3 theta).
fn exact_time(kappa: f64) -> f64 {
    let slope = |theta: f64| 0.3 * theta.sin() + 3.0 * (3.0 * theta).sin();
    let second = bracketed_root(slope, 1.8, 2.4, 1e-14).expect("a minimum");
    let potential = |theta: f64| -0.3 * theta.cos() - (3.0 * theta).cos();
    let inner = |y: f64| {
        integrate(|z| z.sin() * (-kappa * (potential(z) - potential(0.0))).exp(), 0.0, y, 1e-12)
            .value
    };
    let outer =
        |y: f64| 0.5 * kappa * (kappa * (potential(y) - potential(0.0))).exp() / y.sin() * inner(y);
    integrate(outer, 1e-9, second, 1e-10).value
}

#[test]
fn volumes_and_powers_of_kappa_of_the_orbits_are_needed() -> Result<()> {
    // For n = 2, -n E is -V(s)/2 and a constant, V' = phi. So phi = 2 (0.3 s + T_3(s))'.
    let energy = InteractionEnergy::new(Interaction::parse("0.6 + 24*s^2 - 6", &[])?);
    let points = [&[0.0, 0.0][..], &[0.0, 1.1], &[0.0, 2.1]];
    let mut found = SearchResult::default();
    for angles in points {
        let x: Vec<f64> = angles.iter().flat_map(|a: &f64| [a.cos(), a.sin(), 0.0]).collect();
        found.append(energy.near(&Tokens::new(3, x)?, &[1, 1])?);
    }
    let ways = exits(&energy, &mut found)?.all;
    let way = ways.iter().find(|w| found.points[w.from].sizes().len() == 1).expect("an exit");
    assert_eq!((way.orbit_dimensions, way.saddles as usize), (-1, 1));
    for (kappa, product) in
        [(5.0, 1.12097800), (10.0, 1.05372475), (40.0, 1.01252419), (160.0, 1.00308135)]
    {
        let found = exact_time(kappa) * way.log_rate(kappa).exp();
        assert!((found - product).abs() < 1e-6, "{kappa}: {found}");
        // The control: without the volumes and the power of kappa.
        let plain = found / (way.log_volume_ratio - 0.5 * (TAU / kappa).ln()).exp();
        assert!(plain < 0.4, "{kappa}: {plain}");
    }
    Ok(())
}
