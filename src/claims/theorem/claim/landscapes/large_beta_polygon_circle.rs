//! The range of the chain argument on the circle: a theorem.

use super::setting::polygon_threshold;
use crate::theorem::prelude::*;
use crate::theory::threshold::tau_star;

const SHARE: f64 = 0.9;
const EXCESS: f64 = 0.01;

/// For d = 2 the statement of `large-beta-polygon`, by stresses.
///
/// # Derivation
///
/// Let `h(a) = sin(a) e^{beta cos a}` up to `a = pi` and 0 beyond: it increases up to `tau = tau*`
/// and then decreases. `A` *block* of `r` gaps between neighbours is an arc between two tokens; a
/// gap's stress `S` is the sum of `h` over all blocks that contain it. The force on a token is the
/// difference of the stresses of the gaps beside it, so at a critical point all stresses are equal.
///
/// By the condition `n tau < 2 pi`, so not all gaps are at most `tau`. If the tokens are connected
/// by steps of at most `tau`, all gaps but one, `G`, are at most `c <= tau`, the largest of them.
/// Let `k` be this gap, `c > 0`. For each `r` as many blocks contain `k` and not `G` as contain `G`
/// and not `k`. The former have lengths in `[c, r c]`. The latter are at least `l_r = 2 pi - (n-r)
/// c` long, above `tau`. So `S_k > S_G` follows from `min(h(c), h(r c)) >= h(l_r)`, strictly for
/// `r = 1`. If `r c >= tau`, then `h(r c) >= h(l_r)`, since `l_r > r c`; otherwise `h(r c) >=
/// h(c)`. What is left is `h(c) > h(l_1)`, which is at least `h(l_r)`.
///
/// If `l_1 >= pi`, then `h(l_1) = 0`. Otherwise `c > pi/(n-1) > tau/2` and `l_1 > tau + (n-1) x`,
/// `x = tau - c`. As `n >= 5` it suffices that `h(tau - x) >= h(tau + 4x)` for `x <= tau/2` and
/// `tau < 2 pi/5`. For this it suffices that `f'(tau - s) <= -4 f'(tau + t)` with `t = 4s`,
/// `f'(a) = (log h)'(a) = cot a - cot(tau) sin(a)/sin(tau)`. Times `sin tau` the left side is `L =
/// sin(s)/sin(tau-s) + 2 cot(tau) cos(tau-s/2) sin(s/2)`. The first term is convex and 1 at `s =
/// tau/2`, and `cot tau <= 1/tau`, so `L <= 3 s/tau`.
///
/// - If `tau + t/2 <= pi/2`, the right side times `sin tau` is at least `4 sin(t)/sin(tau+t)`,
///   which is `4/(cos(tau) + sin(tau) cot(t))`: at least `4 t/(t + tau) >= 16 s/(3 tau)` for `t <
///   pi/2` (`tan t >= t`), and at least 4 beyond.
/// - Otherwise `-f'(tau + t) >= -cot(tau + t) >= cot tau`, and `L <= 4 cos tau` is needed. It holds
///   if `cos tau >= 3/8`, as `L <= 3/2`. For `tau` between 67.9 and 72 degrees `L` is at most its
///   value at `s = tau/2`, `1 + 2 cot(tau) cos(3 tau/4) sin(tau/4) < 1.16`, and `4 cos tau > 1.23`.
pub static ENTRY: Claim = Claim {
    name: "large-beta-polygon-circle",
    title: "Circle, `beta > C n^2/4`: at every critical point but consensus, some cut is wider \
            than `tau*`",
    lets: "`d = 2`, `n >= 5` tokens of equal masses, `tau*` the angle of `large-beta-chains` and \
           `beta > cos(2 pi/n)/sin^2(2 pi/n)`, which is `n tau* < 2 pi`",
    then: "At every critical point other than consensus, the tokens are not connected by steps of \
           length at most `tau*`: where all gaps but one are at most `tau*` and not all 0, the \
           stress of the largest of them exceeds that of the one. (The stress of a gap is the sum \
           of `sin(a) e^{beta cos a}` over all pairs whose shorter arc a covers it; the regular \
           n-gon has equal stresses.)",
    tested: "by both stresses, for random gaps up to `tau*`, and for nearly equal ones",
    numbers: &[("SHARE", SHARE), ("EXCESS", EXCESS)],
    domain: Domain {
        n: Sizes::Range(5, 16),
        d: Sizes::Fixed(2),
        beta: Betas::TimesThreshold {
            lo: 1.0001,
            hi: 8.0,
            formula: "cos(2 pi/n)/sin^2(2 pi/n)",
            threshold: polygon_threshold,
        },
        dynamics: &["usa"],
        laws: &[],
        draws: "`n - 1` gaps in `[0, tau*]`",
        ..Domain::EQUAL_MASSES
    },
    source: "derived",
    trials: (60, 400),
    trial: |case, ctx| {
        let tau = ctx.claimed_constant(tau_star(2, case.beta));
        let power = [0.05, 0.3, 1.0, 3.0][ctx.index(4)];
        let near = ctx.index(3) == 0;
        let gaps = (1..case.n).map(|_| {
            let u = ctx.uniform_in(0.0, 1.0);
            tau * if near { 1.0 - 1e-3 * u } else { u.powf(power) }
        });
        let gaps: Vec<f64> = gaps.collect();
        Ok(stresses(case.beta, &gaps))
    },
    constant: "`tau*`",
    control: Control {
        what: "nine tokens at {SHARE} of the threshold, eight gaps of `2 pi/9 + {EXCESS} < tau*`",
        trial: |_| Ok(stresses(SHARE * polygon_threshold(9, 2), &[TAU / 9.0 + EXCESS; 8])),
    },
    ..Claim::INEQUALITY
};

/// Compares the stress of the largest of these gaps with that of the gap that is left.
fn stresses(beta: f64, inner: &[f64]) -> Finding {
    let mut gaps = inner.to_vec();
    gaps.push(TAU - inner.iter().sum::<f64>());
    let n = gaps.len();
    let last = n - 1;
    if gaps[last] <= 0.0 {
        // The gaps fill the circle, which n tau* < 2 pi excludes: tau* is wrong.
        return Finding::nonnegative(-1.0, 1.0);
    }
    let largest = (0..last).fold(0, |k, i| if gaps[i] > gaps[k] { i } else { k });
    let h = |a: f64| if a < PI { a.sin() * (beta * (a.cos() - 1.0)).exp() } else { 0.0 };
    let (mut difference, mut size) = (0.0, 0.0);
    for start in 0..n {
        let (mut length, mut of_largest, mut of_last) = (0.0, false, false);
        for r in 0..last {
            let gap = (start + r) % n;
            length += gaps[gap];
            of_largest |= gap == largest;
            of_last |= gap == last;
            // Blocks of both gaps are in both stresses.
            if of_largest != of_last {
                let stress = h(length);
                difference += if of_largest { stress } else { -stress };
                size += stress;
            }
        }
    }
    let rounding = 8.0 * f64::EPSILON * n as f64 * (1.0 + beta);
    Finding::nonnegative(difference, size + TINY).with_evaluation_error(rounding)
}
