//! Clusters at the corners of a regular polygon.

use crate::num::interval::Interval;
use crate::theorem::prelude::*;

/// Clusters at the corners of a regular polygon have an explicit direction of ascent, the pairing
/// mode.
///
/// # Derivation
///
/// For m = 2 only pairs of opposite tokens contribute, with `g(pi) = -e^{-beta}`: the curvature is
/// `e^{-beta} sum m_i m_j` times the squares of their relative turns, for any sizes. For m >= 3 and
/// the mode p the curvature is a positive multiple of
/// `Lambda_p = (1/m) sum_q g(t_q) (cos(p t_q) - 1)`, `t_q = 2 pi q/m`, and `g = -u''/beta` for
/// `u = e^{beta cos}`.
///
/// Even m, p = m/2 = M: `1 - cos(p t_q)` is 2 for odd q and 0 else, so the sign is that of
/// `sum u''` over the odd q, the second derivative at `phi = pi/M` of
/// `S(phi) = sum_j u(phi + 2 pi j/M)`. The numbers `x_j = cos(phi + 2 pi j/M)` are the roots of
/// `T_M(x) = y`, `y = cos(M phi)`, T_M Chebyshev's polynomial. So S = F(y) with
/// `F'(y) = sum_j beta e^{beta x_j} / T_M'(x_j)`, which is `beta/2^{M-1}` times the divided
/// difference of `e^{beta x}` at the M roots, hence
/// `F'(y) = beta^M e^{beta xi} / ((M-1)! 2^{M-1}) > 0` for some xi in [-1, 1]. And
/// `S'' = M^2 F'(-1) > 0` at `phi = pi/M`.
///
/// Odd m: the mode is `(-1)^q cos(t_q/2)`, and no such closed form is known to us. Interval
/// arithmetic proves m = 3, 5, 7 for `1/2 <= beta <= 50`; the leading term for small beta,
/// `(p^2/beta) (beta/2)^p/p!`, and for large beta the neighbours' `g < 0` give the sign. Other odd
/// m are only tested by trials, in `polygon-saddles-odd`.
pub static ENTRY: Claim = Claim {
    name: "polygon-saddles",
    title: "Clusters at a regular polygon are not a local maximum of the energy",
    then: "Consider a critical point whose clusters are the corners of a regular m-gon (equal \
           clusters for m >= 3, of any sizes for m = 2), where m is even and beta > 0, or m is 3, \
           5 or 7 and 1/2 <= beta <= 50. The curvature of E_beta along the pairing mode, which \
           rotates corner q by cos(2 pi floor(m/2) q/m), is positive. So the point is not a local \
           maximum.",
    domain: POLYGONS,
    narrower: "m divides n",
    source: "linearisation at the m-gon; arXiv:2312.10794, (B.2)-(B.3)",
    trials: (60, 400),
    trial: |case, ctx| {
        ascent(case, ctx, |m| m % 2 == 0 || (m <= 7 && (0.5..=50.0).contains(&case.beta)))
    },
    control: Control {
        what: "beta = -1: the regular triangle is a strict local maximum modulo rotation",
        trial: |_: &mut Context| triangle(),
    },
    proof: Some(Proof {
        whole: false,
        what: "the pairing rates of the equal m-gons, 2 <= m <= 8, 1/2 <= beta <= 50, any d",
        holds: pairing_rates_are_positive,
    }),
    ..Claim::INEQUALITY
};

/// The range of both claims on polygons.
pub(crate) const POLYGONS: Domain = Domain {
    n: Sizes::Range(2, 24),
    d: Sizes::Range(2, 8),
    beta: Betas::Log(0.01, 300.0),
    dynamics: &["usa"],
    laws: &["polygon"],
    masses: Masses::Equal,
    // For small beta the rate is about (m/2)^2 (beta/2)^{m/2} / ((m/2)! beta).
    condition: Some(Condition {
        text: "(beta/n)^{n/2} >= 1e-10, so that the rate exceeds rounding",
        holds: is_resolved,
    }),
    corners: &[(6, 2, 0.3), (12, 2, 12.5), (12, 4, 37.0)],
    ..Domain::ATTENTION
};

pub(crate) fn is_resolved(c: &Case) -> bool {
    (c.beta / c.n as f64).powf(0.5 * c.n as f64) >= 1e-10
}

/// The curvature along the pairing mode of a random polygon with an admitted number of corners.
pub(crate) fn ascent(
    case: &Case,
    ctx: &mut Context,
    admitted: impl Fn(usize) -> bool,
) -> Result<Finding> {
    let divisors: Vec<usize> =
        (2..=case.n).filter(|m| case.n.is_multiple_of(*m) && admitted(*m)).collect();
    if divisors.is_empty() {
        return Ok(Finding::HypothesesMissed);
    }
    let m = divisors[ctx.index(divisors.len())];
    // At m = 2 the two clusters may have any sizes.
    let first = if m == 2 { 1 + ctx.index(case.n - 1) } else { 0 };
    let vertex = |i: usize| if m == 2 { usize::from(i >= first) } else { i % m };
    let mut x = vec![0.0; case.n * case.d];
    for (i, row) in x.chunks_exact_mut(case.d).enumerate() {
        let angle = TAU * vertex(i) as f64 / m as f64;
        (row[0], row[1]) = (angle.cos(), angle.sin());
    }
    let mode = |i: usize| {
        if m == 2 {
            vertex(i) as f64
        } else {
            ((vertex(i) * (m / 2)) as f64 * TAU / m as f64).cos()
        }
    };
    curvature(case.beta, &Tokens::new(case.d, x)?, mode, m)
}

/// A polygon that is a local maximum.
pub(crate) fn triangle() -> Result<Finding> {
    let angles: Vec<f64> = (0..3).map(|k| f64::from(k) * TAU / 3.0).collect();
    curvature(-1.0, &Tokens::from_angles(&angles)?, |i| angles[i].cos(), 3)
}

/// Curvature of the energy along the rotation of vertex clusters in their plane by `speed(i)` (the
/// pairing mode of the m-gon), over `1 + |beta|` times the kernel between neighbouring vertices:
/// positive means an ascent direction. Pairs within a cluster cancel exactly, so that e^{-2 beta}
/// is resolved.
fn curvature(beta: f64, x: &Tokens, speed: impl Fn(usize) -> f64, m: usize) -> Result<Finding> {
    let mut u = vec![0.0; x.coordinates().len()];
    for (i, (row, x)) in u.chunks_exact_mut(x.d()).zip(x.rows()).enumerate() {
        (row[0], row[1]) = (-speed(i) * x[1], speed(i) * x[0]);
    }
    let mut h = vec![0.0; u.len()];
    Energy::new(beta, EnergyScale::Shifted).scaled_hess_vec(
        x,
        &u,
        &mut Workspace::default(),
        &mut h,
    );
    let neighbour = (-beta.abs() * (1.0 - (TAU / m as f64).cos())).exp();
    let size = dot(&u, &u) * neighbour * (1.0 + beta.abs()) / x.n() as f64;
    // Rounding of the coordinates by 1e-16 changes the kernel by a relative beta eps.
    Ok(Finding::nonnegative(dot(&u, &h), size)
        .with_evaluation_error(64.0 * f64::EPSILON * (1.0 + beta.abs())))
}

/// Encloses `-sum_q e^{beta (cos t_q - cos t_1)} (cos t_q - beta sin^2 t_q) (1 - cos(p t_q))`,
/// `t_q = 2 pi q/m`, `p = floor(m/2)`: m times the pairing rate over the kernel of neighbours.
fn pairing_rate(m: usize, beta: Interval) -> Interval {
    // The f64 pi is below pi, its successor above. The angle 2 pi r/m with r reduced to [0, m/2].
    let pi = Interval::new(PI, PI.next_up());
    let cosine = |r: usize| {
        let r = (r % m).min(m - r % m);
        (pi * Interval::exact(2.0 * r as f64) / Interval::exact(m as f64)).sin_cos().1
    };
    let one = Interval::exact(1.0);
    (1..m).fold(Interval::exact(0.0), |sum, q| {
        let c = cosine(q);
        let kernel = if q == 1 || q + 1 == m { one } else { (beta * (c - cosine(1))).exp() };
        sum + kernel * (beta * (one - c.sqr()) - c) * (one - cosine(m / 2 * q))
    })
}

/// True if every pairing rate is positive on the whole box; bisects beta.
fn pairing_rates_are_positive() -> Result<bool> {
    for m in 2..=8 {
        let mut open = vec![(0.5, 50.0)];
        while let Some((lo, hi)) = open.pop() {
            if !pairing_rate(m, Interval::new(lo, hi)).is_positive() {
                let middle = 0.5 * (lo + hi);
                if hi - lo < 1e-6 {
                    return Ok(false);
                }
                open.extend([(lo, middle), (middle, hi)]);
            }
        }
    }
    Ok(true)
}
