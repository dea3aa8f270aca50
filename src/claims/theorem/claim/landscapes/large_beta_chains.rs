//! A step of the proof for large beta: some cut has no pair of near tokens.

use crate::landscape::{CriticalPoint, search::Search};
use crate::num::interval::Interval;
use crate::proofs::critical_point;
use crate::sphere::cap::{Hemisphere, hemisphere};
use crate::theorem::prelude::*;
use crate::theory::threshold::{sharp, tau_star};

/// The part of arXiv:2312.10794, Theorem 5.1, about critical points, at its sharp threshold.
///
/// # Derivation
///
/// If tokens are connected by steps of at most `tau*`, a tree of length at most `(n-1) tau* < pi`
/// joins them; so they lie in an open hemisphere (`chain-lemma`) and, being critical, are
/// consensus. So at any other critical point there is a cut such that all pairs across it are
/// further apart than `tau*`. There the kernel g is negative, and rotating one side increases the
/// energy (`block-inequality`).
pub static ENTRY: Claim = Claim {
    name: "large-beta-chains",
    title: "beta > C n^2: at every critical point other than consensus, some cut is wider than \
            tau*",
    lets: "cos tau* = (-(d-1) + sqrt((d-1)^2 + 4 beta^2))/(2 beta) and beta > (d-1) cos(pi/(n-1)) \
           / sin^2(pi/(n-1)), which is equivalent to (n-1) tau* < pi",
    then: "At every critical point other than consensus, the tokens are not connected by steps of \
           length at most tau*. The regular n-gon (n >= 5) is a counterexample below beta = (d-1) \
           cos(2 pi/n)/sin^2(2 pi/n), about a quarter of the threshold; whether there are \
           counterexamples at larger beta is open (`large-beta-polygon`).",
    tested: "at critical points that are found by a search",
    domain: Domain {
        n: Sizes::Range(4, 14),
        d: Sizes::Range(2, 4),
        beta: Betas::TimesThreshold {
            lo: 1.0001,
            hi: 20.0,
            formula: "(d-1) cos(pi/(n-1))/sin^2(pi/(n-1))",
            threshold: sharp,
        },
        ..DOMAIN
    },
    narrower: "critical points found by a search, residual 1e-12",
    source: "arXiv:2312.10794, Theorem 5.1 and appendix B; threshold sharpened (2 (n-1) tau* < 2 \
               pi for the tree walked twice)",
    trials: (24, 120),
    trial: not_connected,
    constant: "tau*",
    control: Control {
        what: "the regular 8-gon on the circle at 0.98 of cos(2 pi/8)/sin^2(2 pi/8)",
        trial: |ctx| {
            let x = ctx.tokens_with_law(8, 2, "polygon")?;
            Ok(longest_tree_edge(
                &x,
                ctx.claimed_constant(tau_star(2, 0.98 * polygon_threshold(8, 2))),
            ))
        },
    },
    ..Claim::INEQUALITY
};

pub(crate) const DOMAIN: Domain = Domain { dynamics: &["usa"], ..Domain::EQUAL_MASSES };

/// The beta at which neighbours in the regular n-gon have distance `tau*`; 0 for n <= 4.
pub(crate) fn polygon_threshold(n: usize, d: usize) -> f64 {
    let angle = std::f64::consts::TAU / n as f64;
    if n <= 4 { 0.0 } else { (d as f64 - 1.0) * angle.cos() / angle.sin().powi(2) }
}

/// Critical points with several clusters, and the number of tokens per cluster. A point in an open
/// hemisphere is consensus that the search has not resolved; it is left out.
pub(crate) fn search_critical_points(
    case: &Case,
    ctx: &mut Context,
) -> Result<Vec<(Tokens, Vec<usize>)>> {
    let found = Search {
        beta: case.beta,
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

pub(crate) fn not_connected(case: &Case, ctx: &mut Context) -> Result<Finding> {
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
        longest = longest.max(length);
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
pub(crate) fn longest_tree_edge(x: &Tokens, tau: f64) -> Finding {
    let mut nearest: Vec<f64> = (0..x.n()).map(|j| dist(x.row(0), x.row(j))).collect();
    let mut left: Vec<usize> = (1..x.n()).collect();
    let mut longest = 0.0f64;
    while let Some(k) =
        (0..left.len()).min_by(|&a, &b| nearest[left[a]].total_cmp(&nearest[left[b]]))
    {
        let next = left.swap_remove(k);
        longest = longest.max(nearest[next]);
        left.iter().for_each(|&j| nearest[j] = nearest[j].min(dist(x.row(next), x.row(j))));
    }
    // Newton's method computes positions to 1e-12.
    Finding::at_least(longest, tau).with_evaluation_error(1e-11)
}
