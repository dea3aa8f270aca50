//! Folklore: the nearest pair of clusters merges first, whatever the masses.

use super::nearest_first;
use crate::theorem::prelude::*;

/// This is false: under SA a pair of unequal masses closes faster by the factor `(m/m' + m'/m)/2`,
/// under USA a heavy pair by the factor `m + m'`. A difference of `3/beta` in `1 - cos` corresponds
/// only to a factor of 20.
///
/// # Derivation
///
/// A pair of masses m, m' at gap g has the lifetime `e^{beta (1 - cos g)} / (beta c sin^2 g)` with
/// `c = m/m' + m'/m` for SA, `m + m'` for USA (`nearest-first`). A difference of `3/beta` in
/// `1 - cos g` corresponds to the factor `e^3 = 20`; SA at masses 50 : 1 has c = 50 instead of 2.
pub static ENTRY: Claim = Claim {
    name: "nearest-first-folklore",
    title: "From saddle to saddle: the nearest pair of clusters merges first, whatever the masses",
    lets: "clusters lie on an arc with all gaps at least 2 log(beta)/sqrt(beta), and let 1 - cos \
           of the smallest gap be smaller than that of every other gap by at least 3/beta",
    then: "The first merger joins the nearest pair, and until then no other gap has lost half of \
           its 1 - cos.",
    domain: nearest_first::DOMAIN,
    narrower: "neighbours on a circle only; the first merger of a run",
    source: "the reading of arXiv:2410.06833, section 6, for clusters; corrected in \
               `nearest-first`",
    status: Status::Folklore,
    trials: (80, 400),
    trial: |case, ctx| nearest_first::first(case, ctx, nearest_first::First::Nearest),
    control: Control {
        what: "equal masses",
        trial: |ctx| {
            nearest_first::first(
                &Case::new(4, 2, 1000.0, "sa").with_law("placed"),
                ctx,
                nearest_first::First::NearestOfEqual,
            )
        },
    },
    ..Claim::INEQUALITY
};
