//! Normalisation schemes of arXiv:2510.22026 on equiangular tokens, against their reduction to one
//! angle and one radius.

use metastable::attention::layer::Layer;
use metastable::attention::normalisation::{ALL, Normalisation, find};
use metastable::attention::{Dynamics, kernel::Attention};
use metastable::error::Result;
use metastable::flow::{Options, apply_layers, solve};
use metastable::num::deviation::{largest, max_difference};
use metastable::num::stream::Stream;
use metastable::sphere::{Tokens, law::Law};

const N: usize = 16;
const BETA: f64 = 2.0;

/// An orthonormal basis, with radii where the scheme has them.
fn orthonormal(scheme: impl Normalisation, radius: f64) -> Result<Tokens> {
    let x = Tokens::new(N, (0..N * N).map(|k| if k / N == k % N { 1.0 } else { 0.0 }).collect())?;
    if scheme.space().extra_per_token() > 0 { x.polar(&[radius; N]) } else { Ok(x) }
}

fn model(name: &str) -> Result<Dynamics> {
    Ok(Dynamics::single(Attention::new(BETA)).with_normalisation(find(name)?))
}

/// `1 - cos` of the common angle, and the common radius, at the end of a run. Checks that all
/// angles agree and all radii agree.
fn end(name: &str, radius: f64, t: f64) -> Result<(f64, f64)> {
    let start = orthonormal(find(name)?, radius)?;
    let x = solve(
        &model(name)?,
        &start,
        t,
        &Options { merge_radius: 0.0, ..Options::default() },
        &mut [],
    )?
    .clusters;
    let gap = |i: usize, j: usize| {
        0.5 * x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
    };
    let first = gap(0, 1);
    assert!((1..N).all(|i| (gap(i, 0) / first - 1.0).abs() < 1e-6), "{name}: not equiangular");
    let radii = x.extra_numbers();
    assert!(radii.iter().all(|r| (r / radii[0] - 1.0).abs() < 1e-9), "{name}: {radii:?}");
    Ok((first, radii.first().copied().unwrap_or(1.0)))
}

#[test]
fn initial_rates_of_the_angle_are_the_published_ones() -> Result<()> {
    // 2/(e^b + n - 1) and the rates of the other schemes, at n = 16, beta = 2, r = 3.
    let printed = [
        ("post", 0.0893294),
        ("cod", 0.0893294),
        ("pre", 0.0297765),
        ("ln-scaling", 0.0297765),
        ("peri", 0.0799116),
        ("ngpt", 0.2397348),
        ("ngpt:alpha=0.5", 0.1198674),
        ("mix", 0.0893294),
    ];
    for (name, rate) in printed {
        let x = orthonormal(find(name)?, 3.0)?;
        let v = model(name)?.velocity(&x);
        // The derivative <x_0', x_1> + <x_0, x_1'> for basis vectors.
        let found = v[1] + v[N];
        assert!((found - rate).abs() < 6e-8, "{name}: {found} {rate}");
    }
    Ok(())
}

#[test]
fn limiting_rates_of_the_angle_are_the_published_ones() -> Result<()> {
    for (name, slope) in [("post", -2.0), ("ngpt", -2.0)] {
        let (a, b) = (end(name, 1.0, 10.0)?.0, end(name, 1.0, 14.0)?.0);
        let found = (b / a).ln() / 4.0;
        assert!((found - slope).abs() < 1e-3, "{name}: {found}");
    }
    // As a function of the square root of the depth.
    let (a, b) = (end("cod", 1.0, 40.0)?.0, end("cod", 1.0, 80.0)?.0);
    let found = (b / a).ln() / (81f64.sqrt() - 41f64.sqrt());
    assert!((found + 4.0).abs() < 1e-2, "cod: {found}");
    // Algebraic convergence, with radii that grow at rate 1. (LN scaling tends to its slope slowly:
    // the slope at these times is -1.035.)
    for (name, slope, accuracy) in [
        ("pre", -2.0, 3e-3),
        ("peri", -2.0, 3e-3),
        ("mix", -2.0, 3e-3),
        ("ln-scaling", -1.035, 2e-3),
    ] {
        let ((a, _), (b, r)) = (end(name, 1.0, 1e3)?, end(name, 1.0, 1e4)?);
        let found = (b / a).ln() / 10f64.ln();
        assert!((found - slope).abs() < accuracy, "{name}: {found}");
        assert!(name == "ln-scaling" || (r / 1e4 - 1.0).abs() < 1e-3, "{name}: {r}");
    }
    Ok(())
}

#[test]
fn pre_peri_and_ln_scaling_follow_one_orbit() -> Result<()> {
    // The limit of (1 - gamma) r^2 is the same for the three schemes, and another one for the
    // control `mix`.
    for (name, limit, accuracy) in [
        ("pre", 2.368356, 2e-6),
        ("peri", 2.368355, 2e-6),
        ("ln-scaling", 2.36834, 2e-5),
        ("mix", 1.17429, 1e-5),
    ] {
        let (gap, r) = end(name, 1.0, 1e4)?;
        assert!((gap * r * r - limit).abs() < accuracy, "{name}: {}", gap * r * r);
    }
    Ok(())
}

#[test]
fn layers_of_every_scheme_are_euler_steps_of_its_flow() -> Result<()> {
    let mut names: Vec<&str> =
        ALL.iter().map(|s| s.name()).filter(|n| !["none", "rescaled"].contains(n)).collect();
    // The second half of the scheme as well.
    names.push("mix:tau=0.5");
    for name in names {
        let start = orthonormal(find(name)?, 1.5)?;
        let flow = solve(
            &model(name)?,
            &start,
            1.0,
            &Options { merge_radius: 0.0, ..Options::default() },
            &mut [],
        )?
        .clusters;
        let deviation = |count: usize| -> Result<f64> {
            let eta = 1.0 / count as f64;
            let x =
                apply_layers(&model(name)?, &start, Layer::new(eta)?, count, eta, None, &mut [])?.0;
            Ok(max_difference(x.numbers(), flow.numbers()))
        };
        let (coarse, fine) = (deviation(64)?, deviation(128)?);
        let order = (coarse / fine).log2();
        assert!((order - 1.0).abs() < 0.05 && fine < 0.01, "{name}: {coarse:e} {fine:e}");
    }
    Ok(())
}

/// If x' = g(t) f(x) with one positive function g for all components, then x(t) = y(tau(t)) with
/// y' = f(y) and tau' = g. CoD is post, and LN scaling is pre, with g = 1/sqrt(t + 1).
#[test]
fn a_factor_common_to_all_tokens_only_changes_the_time() -> Result<()> {
    let run = |name: &str, x: &Tokens, radii: &[f64], beta: f64, t: f64| -> Result<Tokens> {
        let scheme = find(name)?;
        let x =
            if scheme.space().extra_per_token() > 0 { x.clone().polar(radii)? } else { x.clone() };
        let flow = Dynamics::single(Attention::new(beta)).with_normalisation(scheme);
        let options = Options { rtol: 1e-11, merge_radius: 0.0, ..Options::default() };
        let end = solve(&flow, &x, t, &options, &mut [])?;
        assert!(end.outcome.end_state_is_known(), "{name}: {}", end.outcome);
        Ok(end.clusters)
    };
    let mut control = 0.0f64;
    for (k, (n, d)) in [(2, 2), (5, 3), (12, 12), (3, 7)].into_iter().enumerate() {
        let mut stream = Stream::new(1, &["time change", &k.to_string()]);
        let x = Law::parse("uniform")?.sample(n, d, &mut stream)?;
        let radii: Vec<f64> = (0..n).map(|_| stream.uniform_in(0.5, 3.0)).collect();
        let (beta, t) = (k as f64, stream.uniform_in(0.5, 6.0));
        let off = |slow: &str, fast: &str| -> Result<f64> {
            let late = run(slow, &x, &radii, beta, t)?;
            let early = run(fast, &x, &radii, beta, 2.0 * ((t + 1.0).sqrt() - 1.0))?;
            let apart = late.coordinates().iter().zip(early.coordinates()).map(|(a, b)| a - b);
            let extra = late.extra_numbers().iter().zip(early.extra_numbers());
            let apart = apart.chain(extra.map(|(a, b)| a / b - 1.0));
            Ok(largest(apart.map(f64::abs)))
        };
        assert!(off("cod", "post")? < 1e-9 && off("ln-scaling", "pre")? < 1e-9, "{n}, {d}");
        // The factors of pre differ between tokens.
        control = largest([control, off("cod", "pre")?]);
    }
    assert!((1e-3..f64::INFINITY).contains(&control), "{control}");
    Ok(())
}

#[test]
fn parameters_are_checked() {
    for (name, word) in [
        ("ngtp", "ngpt"),
        ("mix:tau=-1", "mix tau: found -1"),
        ("mix:alpha=1", "unknown norm parameter `alpha`"),
        ("post:tau=1", "there are none"),
        ("ngpt:alpha=x", "ngpt alpha: found x"),
    ] {
        let Err(error) = find(name) else { panic!("{name} was accepted") };
        assert!(error.to_string().contains(word), "{name}: {error}");
    }
}
