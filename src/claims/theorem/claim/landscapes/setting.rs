//! What several claims about landscapes use: searches for critical points, chains of tokens, sharp
//! configurations.

use crate::attention::kernel::log_kernel;
use crate::landscape::{CriticalPoint, Exponential, search::Search};
use crate::num::interval::Interval;
use crate::proofs::landscape::Landscape;
use crate::proofs::{critical_point, landscape};
use crate::sphere::cap::{Hemisphere, hemisphere};
use crate::theorem::prelude::*;
use crate::theory::threshold::tau_star;

/// Factor of eps in [`hessian_rounding`].
pub(super) const ROUNDINGS: f64 = 16.0;
/// Tokens of the largest regular polygon in the lists.
pub(super) const LARGEST_POLYGON: usize = 32;

/// The energy of tokens of equal masses.
pub(super) const ENERGY: Domain = Domain { dynamics: &["usa"], ..Domain::EQUAL_MASSES };

/// Equal tokens on the circle, without a dynamics: proofs about all configurations.
pub(super) const CIRCLE: Domain = Domain {
    d: Sizes::Fixed(2),
    draws: "`n` and `beta`; the proof is about all configurations",
    ..Domain::FREE
};

/// Equal tokens on the circle for a proof.
pub(super) fn equal_tokens(n: usize, beta: (f64, f64)) -> Result<landscape::Tokens> {
    landscape::Tokens::new(&vec![1.0; n], beta)
}

/// Whether the landscape of n equal tokens is proved to be benign for all these beta, and the
/// verifier accepts the proof.
pub(super) fn is_benign(n: usize, beta: (f64, f64)) -> Result<Finding> {
    let found = landscape::benign(&equal_tokens(n, beta)?, true, &|_, _| true)?;
    Ok(Finding::answer(found.proved && is_accepted(found.certificate.as_deref())))
}

/// All critical points of tokens, if they are proved to be all.
///
/// **Errors** as the proof; a proof that the verifier, which shares no code with it, refuses.
pub(super) fn accepted_landscape(tokens: &landscape::Tokens) -> Result<Option<Landscape>> {
    let found = landscape::complete(tokens, true, &|_, _| true)?;
    if found.complete && !is_accepted(found.certificate.as_deref()) {
        let what = "the verifier refuses the proof of a complete list of critical points".into();
        return Err(Error::Numerical { what });
    }
    Ok(found.complete.then_some(found))
}

fn is_accepted(certificate: Option<&str>) -> bool {
    certificate.is_some_and(|text| metastable_verifier::check(text).is_ok())
}

/// As [`is_benign`], for several n.
pub(super) fn are_benign(sizes: &[usize], beta: (f64, f64)) -> Result<bool> {
    for n in sizes {
        if !landscape::benign(&equal_tokens(*n, beta)?, false, &|_, _| true)?.proved {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Bound on the rounding error of second derivatives along displacements of the tokens `moved`,
/// summed over displacements with `sum |u_i|^2 = planes`: the size of the terms times
/// `16 eps (n + d + |beta|)`, since exponents `beta G` have the error `|beta| eps` and sums of n
/// and of d terms n eps and d eps.
pub(super) fn hessian_rounding(
    case: &Case,
    x: &Tokens,
    planes: f64,
    moved: impl Fn(usize) -> bool,
) -> f64 {
    let terms = |i: usize, j: usize| {
        weight(case.beta, x, i, j) * (2.0 * planes + 4.0 * case.beta.abs() * sine(x, i, j).powi(2))
    };
    let pairs = (0..case.n)
        .filter(|&i| moved(i))
        .flat_map(|i| (0..case.n).filter(move |&j| j != i).map(move |j| (i, j)));
    let size: f64 = pairs.map(|(i, j)| terms(i, j)).sum();
    ROUNDINGS * f64::EPSILON * ((case.n + case.d) as f64 + case.beta.abs()) * (size + TINY)
}

/// The beta at which neighbours in the regular n-gon have distance `tau*`; 0 for n <= 4.
pub(super) fn polygon_threshold(n: usize, d: usize) -> f64 {
    let angle = TAU / n as f64;
    if n <= 4 { 0.0 } else { (d as f64 - 1.0) * angle.cos() / angle.sin().powi(2) }
}

/// Critical points with several clusters, and the number of tokens per cluster. A point in an open
/// hemisphere is consensus that the search has not resolved; it is left out.
pub(super) fn search_critical_points(
    case: &Case,
    ctx: &mut Context,
) -> Result<Vec<(Tokens, Vec<usize>)>> {
    let found = Search {
        energy: Exponential { beta: case.beta },
        n: case.n,
        d: case.d,
        starts: 4,
        max_starts: 4,
        fixed: false,
        seed: ctx.seed(),
    }
    .run()?;
    let several = found.points.into_iter().filter(|p| {
        p.clusters.n() > 1 && matches!(hemisphere(&p.clusters), Hemisphere::None { .. })
    });
    Ok(several.map(|p| (p.clusters, p.sizes)).collect())
}

/// The trial of the claims on chains: no critical point is connected by steps of at most `tau*`.
pub(super) fn not_connected(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let points = search_critical_points(case, ctx)?;
    let tau = ctx.claimed_constant(tau_star(case.d, case.beta));
    let connected = points
        .iter()
        .find(|(x, _)| matches!(longest_tree_edge(x, tau), Finding::Margin(m) if m.failed()));
    if let Some((x, sizes)) = connected {
        ctx.certified_margin(certified_margin(case, x, sizes)?);
    }
    Ok(points
        .iter()
        .map(|(x, _)| longest_tree_edge(x, tau))
        .reduce(Finding::and)
        .unwrap_or(Finding::HypothesesMissed))
}

/// Rigorous upper bound on the margin at a critical point by interval arithmetic: certifies the
/// point and compares the chords of a tree that connects its clusters with the chord of tau*.
/// `None` if the intervals do not decide.
/// `cos tau* = (-(d-1) + ((d-1)^2 + 4 beta^2)^(1/2)) / (2 beta)`; the margin `longest / tau* - 1`
/// is at most `c / c* - 1`, c the chord `2 sin(longest / 2)`, as `sin` is concave.
fn certified_margin(case: &Case, x: &Tokens, sizes: &[usize]) -> Result<Option<f64>> {
    let number = Interval::exact;
    let Ok(proof) =
        CriticalPoint::near(case.beta, x, sizes).and_then(|p| critical_point::prove(&p))
    else {
        return Ok(None);
    };
    let (k, d, around) = (proof.sizes.len(), proof.d, Interval::symmetric(proof.radius));
    let at = |q: usize, c: usize| number(proof.points[q * d + c]) + around;
    let chord = |p: usize, q: usize| {
        (0..d).fold(number(0.0), |s, c| s + (at(p, c) - at(q, c)).sqr()).sqrt()
    };
    let (mut joined, mut longest) = (vec![0], 0.0f64);
    while joined.len() < k {
        let pairs = joined
            .iter()
            .flat_map(|p| (0..k).filter(|q| !joined.contains(q)).map(|q| (chord(*p, q).hi(), q)));
        let Some((length, next)) = pairs.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            return Ok(None);
        };
        longest = nan_max(longest, length);
        joined.push(next);
    }
    if k < 2 {
        return Ok(None);
    }
    let (rest, beta) = (number(case.d as f64 - 1.0), number(case.beta));
    let root = (rest.sqr() + number(4.0) * beta.sqr()).sqrt();
    let cosine = (root - rest) / (number(2.0) * beta);
    let allowed = (number(2.0) * (number(1.0) - cosine)).sqrt();
    let margin = (number(longest) / allowed - number(1.0)).hi();
    Ok((margin < 0.0).then_some(margin))
}

/// Compares the longest edge of the minimal spanning tree of the tokens with tau.
pub(super) fn longest_tree_edge(x: &Tokens, tau: f64) -> Finding {
    let mut nearest: Vec<f64> = (0..x.n()).map(|j| dist(x.row(0), x.row(j))).collect();
    let mut left: Vec<usize> = (1..x.n()).collect();
    let mut longest = 0.0f64;
    while let Some(k) =
        (0..left.len()).min_by(|&a, &b| nearest[left[a]].total_cmp(&nearest[left[b]]))
    {
        let next = left.swap_remove(k);
        longest = nan_max(longest, nearest[next]);
        left.iter().for_each(|&j| nearest[j] = nan_min(nearest[j], dist(x.row(next), x.row(j))));
    }
    // Newton's method computes positions to 1e-12.
    Finding::at_least(longest, tau).with_evaluation_error(1e-11)
}

/// True if one of the listed families of sharp configurations has n points in d dimensions.
pub(super) fn is_listed(n: usize, d: usize) -> bool {
    n <= d + 1
        || n == 2 * d
        || (d == 2 && n <= LARGEST_POLYGON)
        || [(12, 3), (240, 8)].contains(&(n, d))
}

/// Coordinates of the sharp configuration of n points, if one of the listed families has one.
pub(super) fn sharp_configuration(n: usize, d: usize) -> Option<Vec<f64>> {
    let axis = |k: usize, s: f64| (0..d).map(move |c| if c == k { s } else { 0.0 });
    let law = |name: &str| {
        let x = Law::parse(name).and_then(|l| l.sample(n, d, &mut Stream::new(1, &["sharp"])));
        x.ok().map(|x| x.coordinates().to_vec())
    };
    if !is_listed(n, d) {
        None
    } else if n <= d + 1 {
        law("simplex")
    } else if n == 2 * d {
        Some((0..d).flat_map(|k| axis(k, 1.0).chain(axis(k, -1.0)).collect::<Vec<_>>()).collect())
    } else if d == 2 {
        law("polygon")
    } else if d == 3 {
        let g = 0.5 * (1.0 + 5f64.sqrt());
        let points = [1.0, -1.0].into_iter().flat_map(|a| [g, -g].into_iter().map(move |b| (a, b)));
        Some(points.flat_map(|(a, b)| vec![0.0, a, b, a, b, 0.0, b, 0.0, a]).collect())
    } else {
        Some(roots())
    }
}

/// The 112 vectors `+-e_i +- e_j` and the 128 vectors `(+-1/2)^8` with an even number of minus
/// signs.
fn roots() -> Vec<f64> {
    let mut out = Vec::with_capacity(240 * 8);
    for (i, j) in pairs(8) {
        for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            out.extend((0..8).map(|c| {
                if c == i {
                    a
                } else if c == j {
                    b
                } else {
                    0.0
                }
            }));
        }
    }
    for signs in (0..256u32).filter(|s| s.count_ones() % 2 == 0) {
        out.extend((0..8).map(|c| if signs >> c & 1 == 1 { -0.5 } else { 0.5 }));
    }
    out
}

/// `log sum_{i > j} e^{beta G_ij}`.
pub(super) fn log_pairs(beta: f64, x: &Tokens) -> f64 {
    let logs: Vec<f64> = pairs(x.n()).map(|(i, j)| log_kernel(beta, x.row(i), x.row(j))).collect();
    let top = vector::max(&logs);
    top + logs.iter().map(|l| (l - top).exp()).sum::<f64>().ln()
}
