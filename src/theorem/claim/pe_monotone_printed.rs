//! "The product of two sinusoidal positions falls with their distance."

use super::mixing_structure::MAPS;
use super::pe_shift::place;
use super::{Claim, Control, Domain, Finding, Kind, Sizes, Status};
use crate::num::{stats::nan_min, sum::dot};

/// It is a sum of cosines: it falls at first only (to 5 places for d = 64, to 43 for d = 512).
pub static ENTRY: Claim = Claim {
    name: "pe-monotone-printed",
    title: "Sinusoidal positions: inner products fall with the distance (as printed)",
    statement: "<PE(p), PE(p + k)>, d in {64, 512}, falls with every step of k from 0 to 100.",
    domain: Domain { n: Sizes::Unused, d: Sizes::List(&[64, 512]), laws: &["uniform"], ..MAPS },
    narrower: "",
    citation: "a survey of sequence models",
    status: Status::Misprinted,
    kind: Kind::Inequality,
    trials: (4, 20),
    trial: |case, ctx| {
        let p = ctx.index(1001) as f64;
        Ok(least_fall(p, case.d, 100))
    },
    perturbed: "",
    control: Control {
        what: "k up to 4",
        trial: |ctx| {
            let p = ctx.index(1001) as f64;
            Ok(least_fall(p, 64, 4))
        },
    },
    proof: None,
};

fn least_fall(p: f64, d: usize, to: usize) -> Finding {
    let product = |k: usize| dot(&place(p, d), &place(p + k as f64, d));
    let falls = (0..to).map(|k| product(k) - product(k + 1));
    Finding::nonnegative(falls.fold(f64::INFINITY, nan_min), 1.0)
}

#[test]
fn where_products_first_grow() {
    for (d, first) in [(64, 5), (512, 43)] {
        let product = |k: usize| dot(&place(0.0, d), &place(k as f64, d));
        assert_eq!((0..100).find(|k| product(*k + 1) > product(*k)), Some(first), "d = {d}");
    }
}
