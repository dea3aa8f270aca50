//! What is proved about modes on a square of a chart, from a polynomial about its middle and bounds of what that lacks.

use super::chart::length;
use super::patch::{Polynomial, shifted, spreads};

/// What is proved.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// No mode on the square.
    None,
    /// One mode there, within `radius` of `at`; no other is within `alone` of `at`.
    One { at: [f64; 2], radius: f64, alone: f64 },
    /// Nothing; `lacking` if what the polynomial lacks is in the way, not how it varies.
    Open { lacking: bool },
}

/// Decides the square of half side `half` about the origin. `lacks` bounds what the polynomial lacks in directional derivatives of first and second order, rounding
/// included, on the square; on twice the square if `inside`. Sums of numbers that are not negative round by less than 1e-12 of themselves: a thousandth covers that.
pub(super) fn decide(c: &Polynomial, half: f64, (first, second): (f64, f64), inside: bool) -> Verdict {
    let (slopes, bend) = spreads(c, half);
    let open = Verdict::Open { lacking: first > length(slopes) || second > bend };
    let top = largest_eigenvalue(c);
    // The gradient has no zero, along itself or along an axis; or the Hessian has a positive direction.
    if length([c[1][0], c[0][1]]) > 1.001 * length(slopes) + first || top > 1.001 * bend + second {
        return Verdict::None;
    }
    if c[1][0].abs() > 1.001 * slopes[0] + first || c[0][1].abs() > 1.001 * slopes[1] + first {
        return Verdict::None;
    }
    let concavity = -(top + 1.001 * spreads(c, 2.0 * half).1 + second);
    if !inside || concavity.is_nan() || concavity <= 0.0 {
        return open;
    }
    let z = newton(c, half);
    let away = z[0].abs().max(z[1].abs());
    let there = shifted(c, z);
    // The gradient turns by at least the concavity per unit of length, so its zero is this near.
    let radius = 1.001 * (length([there[1][0], there[0][1]]) + first) / concavity + 1e-15;
    // Ten times as near as any other, so that two proofs of one mode are known as such.
    if away + 10.0 * radius < 2.0 * half {
        return if away <= half + radius { Verdict::One { at: z, radius, alone: 2.0 * half - away } } else { Verdict::None };
    }
    open
}

/// The largest eigenvalue of the Hessian at the origin of a polynomial.
fn largest_eigenvalue(c: &Polynomial) -> f64 {
    let (a, b, d) = (2.0 * c[2][0], c[1][1], 2.0 * c[0][2]);
    0.5 * (a + d) + length([0.5 * (a - d), b])
}

/// A zero of the gradient near the origin by Newton's method, at most four `half` away; a guess, proved by the caller.
fn newton(c: &Polynomial, half: f64) -> [f64; 2] {
    let mut z = [0.0; 2];
    for _ in 0..30 {
        let there = shifted(c, z);
        let (g, (a, b, d)) = ([there[1][0], there[0][1]], (2.0 * there[2][0], there[1][1], 2.0 * there[0][2]));
        let det = a * d - b * b;
        let step = [-(d * g[0] - b * g[1]) / det, -(a * g[1] - b * g[0]) / det];
        let length = step[0].abs().max(step[1].abs());
        if !length.is_finite() || z[0].abs().max(z[1].abs()) + length > 4.0 * half {
            return [4.0 * half; 2];
        }
        z = [z[0] + step[0], z[1] + step[1]];
        if length < 1e-14 * half {
            break;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A polynomial from `(i, k, coefficient of a^i b^k)`.
    fn polynomial(terms: &[(usize, usize, f64)]) -> Polynomial {
        let mut c = Polynomial::default();
        terms.iter().for_each(|(i, k, v)| c[*i][*k] = *v);
        c
    }

    const OPEN: [Verdict; 2] = [Verdict::Open { lacking: false }, Verdict::Open { lacking: true }];

    /// Each condition alone, failing by less than a factor of two: nothing may be concluded; met by a little, it may.
    #[test]
    fn conditions_that_fail_by_a_factor_below_two_prove_nothing() {
        let decides = |terms: &[(usize, usize, f64)], half: f64, lacks: (f64, f64)| decide(&polynomial(terms), half, lacks, true);
        // Slope 1 along a, its error 1.4 and then 0.9; no curvature.
        assert!(OPEN.contains(&decides(&[(1, 0, 1.0)], 0.5, (1.4, 9.0))));
        assert_eq!(decides(&[(1, 0, 1.0)], 0.5, (0.9, 9.0)), Verdict::None);
        // Slope 1, which the term 0.7 a^2 makes vary by 1.4 on |a| <= 1: it vanishes at -1/1.4; with 0.45 a^2 it does not. The Hessian 2 * 0.7 is within its error.
        assert!(OPEN.contains(&decides(&[(1, 0, 1.0), (2, 0, 0.7)], 1.0, (0.0, 9.0))));
        assert_eq!(decides(&[(1, 0, 1.0), (2, 0, 0.45)], 1.0, (0.0, 9.0)), Verdict::None);
        // The gradient (1, 1) with errors 1.2: no axis sees it, its length 1.41 does; with errors 2 nothing does.
        assert_eq!(decides(&[(1, 0, 1.0), (0, 1, 1.0)], 0.5, (1.2, 9.0)), Verdict::None);
        assert!(OPEN.contains(&decides(&[(1, 0, 1.0), (0, 1, 1.0)], 0.5, (2.0, 9.0))));
        // Only the axis a sees the slope 1 beside large variation 0.8 along b and along a.
        assert_eq!(decides(&[(1, 0, 1.0), (2, 0, 0.4), (0, 2, -3.0)], 1.0, (0.1, 9.0)), Verdict::None);
        assert!(OPEN.contains(&decides(&[(1, 0, 1.0), (2, 0, 0.7), (0, 2, -3.0)], 1.0, (0.1, 9.0))));
        assert!(OPEN.contains(&decides(&[(0, 1, 1.0), (0, 2, 0.7), (2, 0, -3.0)], 1.0, (0.1, 9.0))));
        // A Hessian of largest eigenvalue 1 with error 1.4, or varying by 6 * 0.24 a: no positive direction is proved; with 0.9 and 6 * 0.15 it is.
        let saddle = [(2, 0, 0.5), (0, 2, -0.5)];
        assert!(OPEN.contains(&decides(&saddle, 1.0, (9.0, 1.4))));
        assert_eq!(decides(&saddle, 1.0, (9.0, 0.9)), Verdict::None);
        assert!(OPEN.contains(&decides(&[saddle[0], saddle[1], (3, 0, 0.24)], 1.0, (9.0, 0.0))));
        assert_eq!(decides(&[saddle[0], saddle[1], (3, 0, 0.15)], 1.0, (9.0, 0.0)), Verdict::None);
    }

    #[test]
    fn one_mode_needs_concavity_room_and_a_close_zero() {
        let cap = [(2, 0, -0.5), (0, 2, -0.5)];
        let decides = |more: &[(usize, usize, f64)], lacks: (f64, f64), inside: bool| {
            decide(&polynomial(&[&cap[..], more].concat()), 1.0, lacks, inside)
        };
        assert!(matches!(decides(&[], (0.01, 0.1), true), Verdict::One { radius, alone, .. } if radius > 0.01 / 0.9 && alone <= 2.0));
        // Not known on twice the square.
        assert!(OPEN.contains(&decides(&[], (0.01, 0.1), false)));
        // Concavity 1: an error of 1.4, or a variation of 6 * 0.12 * 2 on twice the square, is too much; 6 * 0.12 on the square itself would pass.
        assert!(OPEN.contains(&decides(&[], (0.01, 1.4), true)));
        assert!(OPEN.contains(&decides(&[(3, 0, 0.12)], (0.001, 0.0), true)));
        assert!(matches!(decides(&[(3, 0, 0.07)], (0.001, 0.0), true), Verdict::One { .. }));
        // The zero is within 0.3 of the origin: not ten times as near as the edge of twice the square.
        assert!(OPEN.contains(&decides(&[], (0.3, 0.0), true)));
        assert!(matches!(decides(&[], (0.19, 0.0), true), Verdict::One { radius, .. } if radius >= 0.19));
        // A mode at a = 1.05 may lie on the square if it is known to 0.06, not if it is known to 0.03; the neighbour finds it.
        assert!(matches!(decides(&[(1, 0, 1.05)], (0.06, 0.0), true), Verdict::One { .. }));
        assert_eq!(decides(&[(1, 0, 1.05)], (0.03, 0.0), true), Verdict::None);
    }
}
