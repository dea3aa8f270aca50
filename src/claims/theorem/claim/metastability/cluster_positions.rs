//! Number and positions of the clusters that form from a small perturbation.

use crate::clusters::linkage::linkage;
use crate::continuity::lagrangian::Lagrangian;
use crate::num::fft::Complex64;
use crate::theorem::prelude::*;
use crate::theory::growth::{fastest_mode, rates_usa};

const SIZE: f64 = 0.01;
const TIME: f64 = 5.5;
const LEAST_MASS: f64 = 0.05;
const DISTANCE: f64 = 0.1;
const IID_BETAS: [f64; 2] = [5.0, 7.0];
const IID_SHARE: f64 = 0.8;

/// # Derivation
///
/// This is a prediction of linear growth, not a theorem. With `c_k` the mean of `e^{-ik theta}` the
/// density is `(1 + 2 sum_k Re(c_k e^{ik theta}))/(2 pi)`, and mode `k` grows like `e^{r_k t}`
/// (`mode-growth`). If one mode dominates, the maxima are those of `Re(c_k e^{ik theta})`, at
/// `delta_j = (2 pi j - arg c_k)/k`; the other modes grow more slowly, so their sum stays below a
/// twentieth of it while growth is linear. At `t = 5.5/r_k` linear growth would take the dominant
/// mode from 0.01 to 2.4: it has saturated into `k` clusters. It is an observation that the
/// clusters stay within 0.1 of the linear maxima during the nonlinear phase. They come near this
/// bound just above `beta = 1.04`, where mode 1 grows as fast as mode 2 and displaces the clusters
/// by up to 0.075; with a tenth instead of a twentieth they pass it.
///
/// For `n` iid tokens mode `j` starts at about `n^{-1/2}`; when the fastest has reached order 1,
/// mode `j` is at `n^{-(1 - r_j/r_max)/2}`. At `n = 20000` and `beta = 5` or 7 the nearest rate is
/// within 13 % of the fastest: the dominant mode is larger by a factor of only 1.9, which an
/// ordinary fluctuation of the start can compensate.
pub static ENTRY: Claim = Claim {
    name: "cluster-positions",
    title: "USA from a perturbation dominated by mode `k`: `k` clusters at `delta_j = (2 pi j - \
            arg mu_k)/k`",
    lets: "the uniform density be perturbed by the fastest mode `k` with size {SIZE}, and by other \
           modes up to {MODES} whose sizes add up to at most a twentieth of it",
    then: "At `t = {TIME}/r_k` there are clusters (of mass above {LEAST_MASS}) within {DISTANCE} \
           of each `delta_j = (2 pi j - arg mu_k)/k`, and none elsewhere.",
    tested: "with all of the twentieth in the second fastest mode, or with a part of it in each \
             mode",
    numbers: &[
        ("SIZE", SIZE),
        ("MODES", MODES as f64),
        ("TIME", TIME),
        ("LEAST_MASS", LEAST_MASS),
        ("DISTANCE", DISTANCE),
    ],
    domain: DOMAIN,
    narrower: "`d = 2` (the source also has `d > 2`; its experiments use `t = 0.3 = 5.6/r_3` at \
               `beta = 5` and `t = 0.045 = 5.4/r_4` at `beta = 7`)",
    source: "arXiv:2410.23228 and its code; the bound on the other modes is ours",
    status: Status::Observation,
    trials: (12, 80),
    trial: |case, ctx| {
        let start = dominated_by_fastest(case, ctx)?;
        Ok(Finding::at_most(
            largest_distance(case, ctx, &start, 0.0)?,
            ctx.claimed_constant(DISTANCE),
        ))
    },
    constant: "the distance 0.1",
    control: Control {
        what: "positions shifted by half a spacing",
        trial: |ctx| {
            let case = Case::new(1, 2, 5.0, "usa");
            let start = dominated_by_fastest(&case, ctx)?;
            Ok(Finding::at_most(largest_distance(&case, ctx, &start, 0.5)?, DISTANCE))
        },
    },
    variants: &[&IID],
    ..Claim::INEQUALITY
};

static IID: Claim = Claim {
    name: "cluster-positions-iid",
    title: "The prediction of cluster positions, drawn for one random seed, holds for at least 80 \
            % of seeds at `n = 20000`",
    lets: "the uniform density be perturbed by the moments of `n = {TOKENS}` iid tokens, and let \
           `beta` be {FIRST} or {SECOND}",
    then: "For at least {PERCENT} % of all draws, under USA at `t = {TIME}/r_k` the clusters lie \
           within {DISTANCE} of the predicted `delta_j` of the fastest mode `k`, one at each.",
    numbers: &[
        ("TOKENS", TOKENS as f64),
        ("FIRST", IID_BETAS[0]),
        ("SECOND", IID_BETAS[1]),
        ("PERCENT", 100.0 * IID_SHARE),
        ("TIME", TIME),
        ("DISTANCE", DISTANCE),
        ("MODES", MODES as f64),
    ],
    domain: Domain {
        n: Sizes::Fixed(TOKENS),
        beta: Betas::List(&IID_BETAS),
        draws: "the moments 1 to {MODES}",
        corners: &[],
        ..DOMAIN
    },
    source: "code of arXiv:2410.23228, which draws the prediction at this n; its theorem is for n \
             -> infinity, the share of draws is ours",
    status: Status::Folklore,
    kind: Kind::Share(IID_SHARE),
    trials: (24, 300),
    trial: |case, ctx| {
        let start = moments_of_tokens(case, ctx);
        Ok(Finding::answer(largest_distance(case, ctx, &start, 0.0)? <= DISTANCE))
    },
    control: Control {
        what: "the other modes at most a twentieth of the fastest, as in `cluster-positions`",
        trial: |ctx| {
            let case = Case::new(TOKENS, 2, 5.0, "usa");
            let start = dominated_by_fastest(&case, ctx)?;
            Ok(Finding::answer(largest_distance(&case, ctx, &start, 0.0)? <= DISTANCE))
        },
    },
    ..Claim::INEQUALITY
};

const DOMAIN: Domain = Domain {
    n: Sizes::Unused,
    d: Sizes::Fixed(2),
    beta: Betas::Log(0.3, 28.0),
    dynamics: &["usa"],
    laws: &[],
    draws: "sizes and phases of the modes",
    corners: &[(2, 2, 5.0), (2, 2, 7.0), (2, 2, 1.045), (2, 2, 1.05), (2, 2, 1.06)],
    ..Domain::EQUAL_MASSES
};

/// Number of tokens whose moments are drawn.
const TOKENS: usize = 20_000;

/// Number of modes of the perturbation.
const MODES: usize = 12;

/// Rates at the case's beta.
fn rates(case: &Case) -> Result<Vec<f64>> {
    rates_usa(2, case.beta, MODES, TimeScale::U1, 2)
}

/// The fastest mode with a random phase, and others whose sizes add up to at most a twentieth.
fn dominated_by_fastest(case: &Case, ctx: &mut Context) -> Result<Circle> {
    let rates = rates(case)?;
    let k = fastest_mode(&rates);
    let one = ctx.index(2) == 0;
    let mut others: Vec<usize> = (1..=MODES).filter(|j| *j != k).collect();
    if one {
        others.sort_by(|a, b| rates[*b].total_cmp(&rates[*a]));
        others.truncate(1);
    }
    let mut c = vec![Complex64::new(0.0, 0.0); MODES + 1];
    c[0].re = 1.0;
    c[k] = Complex64::from_polar(0.5 * SIZE, ctx.uniform_in(0.0, TAU));
    for j in &others {
        let share = if one { 1.0 } else { ctx.uniform_in(0.0, 1.0) };
        let size = 0.5 * SIZE / 20.0 * share / others.len() as f64;
        c[*j] = Complex64::from_polar(size, ctx.uniform_in(0.0, TAU));
    }
    Ok(Circle { c })
}

/// Moments of iid tokens: independent normal numbers of variance 1/(2n) in each part.
fn moments_of_tokens(case: &Case, ctx: &mut Context) -> Circle {
    let size = (0.5 / case.n as f64).sqrt();
    let z = ctx.normals(2 * MODES);
    let waves = z.chunks_exact(2).map(|p| Complex64::new(size * p[0], size * p[1]));
    Circle { c: std::iter::once(Complex64::new(1.0, 0.0)).chain(waves).collect() }
}

/// The largest distance from a predicted position, shifted by `shift` spacings, to the nearest
/// cluster at t = 5.5/r_k, or from a cluster to the nearest position.
fn largest_distance(case: &Case, ctx: &mut Context, start: &Circle, shift: f64) -> Result<f64> {
    let rates = rates(case)?;
    let k = fastest_mode(&rates);
    let x = Lagrangian::on_circle(start, 160)?.x;
    let end = ctx.flow_to(&build_dynamics("usa", case.beta, x.n())?, &x, TIME / rates[k])?;
    let centres = linkage(&end, 0.05)?.centres;
    let large: Vec<f64> = centres
        .angles()
        .iter()
        .zip(centres.masses())
        .filter(|(_, m)| **m > LEAST_MASS)
        .map(|(t, _)| *t)
        .collect();
    let predicted: Vec<f64> =
        (0..k).map(|j| (TAU * (j as f64 + shift) - start.c[k].arg()) / k as f64).collect();
    let apart = |a: f64, b: f64| (a - b - TAU * ((a - b) / TAU).round()).abs();
    let one_way = |from: &[f64], to: &[f64]| {
        let nearest = |a: &f64| to.iter().map(|b| apart(*a, *b)).fold(PI, nan_min);
        largest(from.iter().map(nearest))
    };
    Ok(largest([one_way(&predicted, &large), one_way(&large, &predicted)]))
}
