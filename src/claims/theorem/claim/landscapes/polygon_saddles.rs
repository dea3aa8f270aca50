//! Clusters at the corners of a regular polygon.

use super::setting::ENERGY;
use crate::num::interval::Interval;
use crate::theorem::prelude::*;

const LEAST: f64 = 1e-10;
const CONTROL_BETA: f64 = -1.0;

/// Clusters at the corners of a regular polygon have an explicit direction of ascent, the pairing
/// mode.
///
/// # Derivation
///
/// Write `u(t) = e^{beta cos t}`. For `m = 2` only pairs of opposite tokens contribute, with
/// `u''(pi) = beta e^{-beta}`: the curvature is `e^{-beta} sum m_i m_j` times the squares of their
/// relative turns, for any sizes. For `m >= 3`, `p = floor(m/2)` and `t_q = 2 pi q/m` it is a
/// positive multiple of `L = sum_q u''(t_q) (1 - cos(p t_q))` over `q = 1`, ..., `m - 1`.
///
/// Large `beta`. `u''(t) = beta u(t) (beta sin^2 t - cos t)`, and the bracket increases on `[0,
/// pi/2]` and is positive on `[pi/2, pi]`. So if `beta > cos t_1/sin^2 t_1`, every `u''(t_q)` is
/// positive, and so is `1 - cos(p t_1)`: `L > 0`. For `m = 3` and `m = 4` this is every `beta > 0`.
///
/// Small `beta`. With `u = sum_k I_k(beta) e^{ikt}`, `L` is `m` times `sum_{k = p mod m} a_k -
/// sum_{k = 0 mod m} a_k`, `a_k = k^2 I_k(beta)`, `k` any integer. The first sum has the terms
/// `|k| = p + j m` and `|k| = m - p + j m`, `j >= 0`, the second one `|k| = m + j m` twice. All of
/// these `|k|` are at least `p`. So `L > 0` if `a_k` decreases for `k >= p`, that is, if
/// `I_{k+1}/I_k < (k/(k+1))^2` there. The ratio obeys `r' = 1 - r^2 - (2k+1) r/beta` and starts
/// below the zero `beta/(c + sqrt(c^2 + beta^2))`, `c = k + 1/2`, of the right-hand side. This zero
/// increases with `beta`, so `r` never reaches it. Hence `beta <= k^2 (k+1)^2/(2 k^2 + 2 k + 1)`
/// suffices, and `k = p` is the strictest.
///
/// Every `beta`. The two ranges overlap: `cos t/sin^2 t < 1/t^2` gives `cos t_1/sin^2 t_1 < m^2/(4
/// pi^2) <= (s + 1/4)/pi^2` with `s = p (p+1)`, which is less than `s^2/(2 s + 1)` for `s >= 1`.
pub static ENTRY: Claim = Claim {
    name: "polygon-saddles",
    title: "Clusters at a regular polygon are not a local maximum of the energy",
    lets: "`beta > 0`, and let clusters be at the corners of a regular m-gon, `m >= 2`: equal \
           clusters for `m >= 3`, of any sizes for `m = 2`",
    then: "The curvature of `E_beta` along the pairing mode, which rotates corner `q` by `cos(2 pi \
           floor(m/2) q/m)`, is positive. So this critical point is not a local maximum.",
    tested: "for divisors `m` of `n` (`m = 2`: any sizes); the margin is the curvature over `1 + \
             beta` times the kernel of neighbours",
    numbers: &[("LEAST", LEAST), ("CONTROL_BETA", CONTROL_BETA)],
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.01, 300.0),
        laws: &[],
        draws: "clusters at the corners of a regular m-gon",
        // For small beta the rate is about (m/2)^2 (beta/2)^{m/2} / ((m/2)! beta).
        condition: Some(Condition {
            text: "`(beta/n)^{n/2} >= {LEAST}`, so that the rate exceeds rounding",
            holds: |c| (c.beta / c.n as f64).powf(0.5 * c.n as f64) >= LEAST,
        }),
        corners: &[(6, 2, 0.3), (12, 2, 12.5), (12, 4, 37.0), (15, 2, 4.0), (23, 3, 20.0)],
        ..ENERGY
    },
    source: "derived from arXiv:2312.10794, (B.2)-(B.3)",
    trials: (60, 400),
    trial: ascent,
    no_constant: "the statement is a sign",
    control: Control {
        what: "`beta = {CONTROL_BETA}`: the regular triangle is a strict local maximum modulo \
               rotation",
        trial: |_: &mut Context| triangle(),
    },
    proof: Some(Proof {
        whole: false,
        what: "the pairing rates of the equal m-gons, `2 <= m <= 8`, `1/2 <= beta <= 50`, any `d`",
        holds: pairing_rates_are_positive,
    }),
    ..Claim::INEQUALITY
};

/// The curvature along the pairing mode of a polygon with a random number of corners.
fn ascent(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let divisors: Vec<usize> = (2..=case.n).filter(|m| case.n.is_multiple_of(*m)).collect();
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
fn triangle() -> Result<Finding> {
    let angles: Vec<f64> = (0..3).map(|k| f64::from(k) * TAU / 3.0).collect();
    curvature(CONTROL_BETA, &Tokens::from_angles(&angles)?, |i| angles[i].cos(), 3)
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
    // The angle 2 pi r/m with r reduced to [0, m/2].
    let cosine = |r: usize| {
        let r = (r % m).min(m - r % m);
        (Interval::PI * Interval::exact(2.0 * r as f64) / Interval::exact(m as f64)).sin_cos().1
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
