//! The histogram of inner products and the number of clusters.

use crate::theorem::prelude::*;

/// k clusters have at most k (k-1)/2 inner products below 1, and fewer if distances coincide.
pub static ENTRY: Claim = Claim {
    name: "peaks-to-clusters",
    title: "k clusters: at most k (k-1)/2 peaks of inner products below 1",
    lets: "k = 2 to 8 clusters of several tokens each lie at uniform points of the sphere",
    then: "The number of different inner products below 1 is at most k (k-1)/2.",
    domain: Domain { n: Sizes::Range(2, 8), beta: Betas::Unused, ..Domain::SCORED },
    source: "a talk on 2312.10794 (ALBERT: three peaks)",
    trials: (10, 100),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        Ok(at_most_pairs(&x, x.n() * (x.n() - 1)))
    },
    control: Control {
        what: "half of this bound",
        trial: |ctx| {
            let x = ctx.tokens(&Case::new(5, 3, 0.0, "softmax weights"))?;
            Ok(at_most_pairs(&x, 10))
        },
    },
    ..Claim::INEQUALITY
};

fn at_most_pairs(places: &Tokens, twice: usize) -> Finding {
    let room = 0.5 * twice as f64;
    // Both numbers are integers.
    Finding::nonnegative(room + 0.5 - count_peaks(places) as f64, room.max(1.0))
}

/// The number of different inner products below 1 of tokens, with three tokens at each of these
/// points.
pub(crate) fn count_peaks(places: &Tokens) -> usize {
    let k = places.n();
    let mut all: Vec<f64> = (0..9 * k * k)
        .map(|e| places.inner(e / (3 * k) / 3, e % (3 * k) / 3))
        .filter(|g| *g < 1.0 - 1e-9)
        .collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
    all.len()
}
