//! Which regular polygons stay under powers.

use super::setting::{power, power_polygon_rates};
use crate::attention::interaction::RowSum;
use crate::theorem::prelude::*;
use crate::theory::interaction::polygon_rates;

const LARGEST: usize = 63;
const ROUNDINGS: f64 = 64.0;

/// All of them for even p, in time: the threshold grows like 0.215 m^2.
///
/// # Derivation
///
/// Let `q = p + 1`. By `polygon-fourier` and `cos^q t = 2^{1-q} sum_k C(q, (q-k)/2) cos(k t)` (over
/// `k = q`, `q-2`, ... > 0, and a constant) the rates of the m-gon are, up to a positive factor,
/// `sum_k B_k ([k = r] + [k = -r] - 2 [k = 0])` modulo `m`, with the whole numbers `B_k = k^2 C(q,
/// (q-k)/2) > 0`, `k = q` modulo 2.
///
/// If no such `k` is a multiple of `m`, no rate is negative, and one is positive. This is so for
/// `m > q`, and for even `m` and even `p`, where all `k` are odd. The other pairs `(p, m)` with `p
/// <= 63` and `m <= 64` are decided by their whole numbers.
///
/// One case has the largest rate 0: the square under odd `p >= 3`. There `W` is even, so a square
/// is two lines at a right angle, where `W` vanishes to the order `p + 1 >= 4` while it is positive
/// elsewhere: turning one line against the other increases `E`. So it is no maximum.
pub static ENTRY: Claim = Claim {
    name: "power-polygons",
    title: "Circle: the regular polygons that stay under `phi(s) = s^p`",
    lets: "`phi(s) = s^p` with `1 <= p <= {LARGEST}`, and let equal clusters be at the corners of \
           a regular m-gon, `m >= 3`",
    then: "This is a strict local maximum of `E` modulo rotation if and only if `m` is odd, `p` is \
           even and `p >= p_m`, where `p_3 = 2`, `p_5 = 4`, `p_7 = 10`, `p_9 = 16`, `p_11 = 26`, \
           `p_13 = 36`, `p_15 = 48`, `p_17 = 62` and `p_m > {LARGEST}` for `m >= 19`. For odd `p` \
           no polygon is a maximum.",
    tested: "with whole numbers, which floating-point rates match to `{ROUNDINGS} eps (1 + p)`",
    numbers: &[("LARGEST", LARGEST as f64), ("ROUNDINGS", ROUNDINGS)],
    domain: Domain {
        n: Sizes::Range(3, 64),
        d: Sizes::Fixed(2),
        draws: "`p`; `m = n`",
        corners: &[(3, 2, 0.0), (5, 2, 0.0), (7, 2, 0.0), (9, 2, 0.0), (17, 2, 0.0)],
        ..Domain::FREE
    },
    source: "derived",
    trials: (40, 300),
    trial: |case, ctx| {
        let p = 1 + ctx.index(LARGEST);
        Ok(Finding::all([stays(p, case.n) == claimed(p, case.n), rates_match(p, case.n)?]))
    },
    no_constant: "the sign of a whole number decides",
    control: Control {
        what: "the stronger statement that no polygon but the triangle stays, under `s^4`",
        trial: |_: &mut Context| Ok(Finding::answer(!stays(4, 5))),
    },
    proof: Some(Proof {
        whole: true,
        what: "`1 <= p <= 63` and `3 <= m <= 64`, in whole numbers; larger `m` have only positive \
               terms",
        holds: || {
            let mut all = (1..=LARGEST).flat_map(|p| (3..=64).map(move |m| (p, m)));
            Ok(all.all(|(p, m)| stays(p, m) == claimed(p, m)))
        },
    }),
    ..Claim::EXACT
};

/// The smallest even p under which the m-gon stays.
const THRESHOLDS: [(usize, usize); 8] =
    [(3, 2), (5, 4), (7, 10), (9, 16), (11, 26), (13, 36), (15, 48), (17, 62)];

/// The claim.
fn claimed(p: usize, m: usize) -> bool {
    p.is_multiple_of(2) && THRESHOLDS.iter().any(|(corners, least)| *corners == m && p >= *least)
}

/// True if all rates are negative.
fn stays(p: usize, m: usize) -> bool {
    power_polygon_rates(p, m).iter().all(|r| *r < 0)
}

/// Compares the rates with those of the library in floating-point arithmetic.
fn rates_match(p: usize, m: usize) -> Result<bool> {
    let found = polygon_rates(&power(p)?, RowSum::Plain, m)?;
    let unit = (-(p as f64 + 1.0)).exp2() / (p as f64 + 1.0);
    let exact = power_polygon_rates(p, m);
    let allowed = ROUNDINGS * f64::EPSILON * (1.0 + p as f64);
    Ok(exact.iter().zip(&found[1..]).all(|(a, b)| (*a as f64 * unit - b).abs() <= allowed))
}
