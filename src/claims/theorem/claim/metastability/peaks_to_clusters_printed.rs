//! "Three peaks, so three clusters."

use super::peaks_to_clusters::count_peaks;
use crate::theorem::prelude::*;

/// This is false: a rectangle on the circle has four clusters and three inner products below 1.
pub static ENTRY: Claim = Claim {
    name: "peaks-to-clusters-printed",
    title: "p peaks of inner products imply (1 + sqrt(1 + 8 p))/2 clusters (as said)",
    then: "For clusters at the corners of a rectangle on the circle, with half-angle s in [0.1, \
           0.7] and p different inner products below 1, the number of clusters is (1 + sqrt(1 + 8 \
           p))/2.",
    domain: Domain {
        n: Sizes::Fixed(4),
        d: Sizes::Fixed(2),
        beta: Betas::Unused,
        laws: &["placed"],
        ..Domain::SCORED
    },
    source: "a talk on 2312.10794 (it adds: maybe more if distances coincide)",
    status: Status::Misprinted,
    trials: (4, 30),
    trial: |_, ctx| {
        let s = ctx.uniform_in(0.1, 0.7);
        counted(&[s, -s, PI - s, PI + s])
    },
    control: Control {
        what: "three clusters with three distances",
        trial: |_| counted(&[0.0, 1.0, 2.5]),
    },
    ..Claim::IDENTITY
};

fn counted(angles: &[f64]) -> Result<Finding> {
    let p = count_peaks(&Tokens::from_angles(angles)?) as f64;
    let clusters = 0.5 * (1.0 + (1.0 + 8.0 * p).sqrt());
    Ok(Finding::identity((clusters - angles.len() as f64).abs(), 0.5))
}
