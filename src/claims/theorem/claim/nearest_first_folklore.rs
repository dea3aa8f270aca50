//! The nearest pair of clusters merges first, whatever their masses: what is said.

use super::nearest_first;
use crate::theorem::prelude::*;

/// False: a pair of unequal masses closes `m/m' + m'/m` over 2 times as fast under SA, a heavy pair `m + m'` times under USA, and
/// `3/beta` in `1 - cos` is worth a factor 20 only.
///
/// # Derivation
///
/// A pair of masses m, m' at gap g lives `e^{beta (1 - cos g)} / (beta c sin^2 g)` with `c = m/m' + m'/m` for SA, `m + m'` for USA
/// (`nearest-first`). A difference of `3/beta` in `1 - cos g` is worth the factor `e^3 = 20`; SA at masses 50 : 1 has c = 50 instead of
/// 2.
pub static ENTRY: Claim = Claim {
    name: "nearest-first-folklore",
    title: "Saddle to saddle: the nearest pair of clusters merges first, whatever their masses",
    statement: "Clusters on an arc with all gaps at least 2 log(beta)/sqrt(beta), the smallest smaller than every other by at least 3/beta in 1 - cos: the first merger joins the nearest pair; no other gap has lost half \
                of its 1 - cos by then.",
    domain: nearest_first::DOMAIN,
    narrower: "neighbours on a circle only; the first merger of a run",
    citation: "the reading of arXiv:2410.06833, section 6, for clusters; corrected in `nearest-first`",
    status: Status::Folklore,
    trials: (80, 400),
    trial: |case, ctx| nearest_first::first(case, ctx, nearest_first::First::Nearest),
    control: Control {
        what: "equal masses",
        trial: |ctx| nearest_first::first(&Case::new(4, 2, 1000.0, "sa").with_law("placed"), ctx, nearest_first::First::NearestOfEqual),
    },
    ..Claim::INEQUALITY
};
