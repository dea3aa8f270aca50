//! Inputs of which a proof once said what is false, and others of their kinds. The answers are
//! known by other means.

use crate::given::{GO, all, is_benign, phi, tokens};
use metastable::attention::interaction::Interaction;
use metastable::proofs::landscape::branches;
use metastable::proofs::{modes, spheres};
use std::collections::BTreeMap;

#[test]
fn kinks_are_found_in_every_form() {
    // A hat as a second difference, a parabola inside relu, and kinks in products and powers.
    let hats = [
        "1 - 16736.439710*(relu (s-0.895335135208) - 2*relu (s-0.895454634936) + relu (s-0.895574134665))",
        "1 - 1.9*relu (1 - (7316.549*(s-0.895113010))^2)",
        "1 - 2*relu(1 - abs(s - 0.3)*1e5)",
        "1 - 2*relu(1 - ((s - 0.3)^2)^0.5*1e5)",
        "1 - 2*relu(1e5*(s-0.3)+1)*relu(1-1e5*(s-0.3))",
        "1 - 1e5*(abs(s-0.30001)+abs(s-0.29999)-2*abs(s-0.3))",
    ];
    for text in hats {
        let two = tokens(&[1.0; 2], (0.0, 0.0));
        // Either the kink is the reason of a refusal, or the search sees the hat.
        match Interaction::parse(text, &[]).and_then(|phi| two.with_interaction(&phi)) {
            Err(refusal) => {
                let reason = refusal.to_string();
                let about = ["kink", "singular point"].iter().any(|w| reason.contains(w));
                assert!(about, "{text}: {reason}");
            }
            Ok(two) => {
                let found = all(&two, false);
                assert!(!found.complete || found.orbits.len() == 4, "{text}: {found:?}");
                assert!(!is_benign(&two, false).proved, "{text}");
            }
        }
    }
    let steep = phi("s + 2000000*relu(0.00000001 - (s-0.3)^2)");
    let found = modes::interaction(&[0.0], &steep);
    assert!(found.is_err() || found.is_ok_and(|m| m.count().is_ok_and(|c| c == 3)));
}

#[test]
fn counts_do_not_overflow_in_high_dimensions() {
    for (n, d) in [(3, 1000), (4, 999), (4, 64)] {
        let tokens = spheres::Tokens::new(&vec![1.0; n], (2.0, 2.0)).expect("tokens");
        let found = spheres::complete(&tokens, Some(d), false, GO).expect("a search");
        assert!(found.complete && found.morse == Some(true), "{n} {d}");
        // One point less violates them.
        let of = |o: &spheres::Orbit| {
            let (count, index) = (o.multiplicity, o.index(d).expect("an index"));
            spheres::Labelled { count, index, rank: o.rank }
        };
        let mut points: Vec<_> = found.orbits.iter().map(of).collect();
        assert!(spheres::morse_inequalities_hold(n, d, &points), "{n} {d}");
        points.pop();
        assert!(!spheres::morse_inequalities_hold(n, d, &points), "{n} {d}");
    }
}

#[test]
fn modes_of_huge_samples_are_refused_or_right() {
    let mut answered = 0;
    for far in [1e17, 1e100, 1e154, 1e308, f64::MAX] {
        for samples in [vec![far, -far], vec![far, far.next_down()], vec![0.0, far]] {
            let Ok(found) = modes::line(&samples, 1.0) else { continue };
            let Ok(count) = found.count() else { continue };
            assert_eq!(count, 2, "{samples:?}");
            answered += 1;
            for (x, error) in found.approximate_locations().iter().zip(found.location_errors()) {
                let near = samples.iter().any(|s| (x - s).abs() <= *error);
                assert!(x.is_finite() && error.is_finite() && near, "{samples:?}: {x} +- {error}");
            }
        }
        // Here neighbouring doubles are many turns apart.
        assert!(far < 1e18 || modes::circle(&[far, 1.0], 4.0).is_err(), "{far}");
    }
    assert_eq!(answered, 15, "none of them is refused today");
}

/// Branches, with what is known of them by whole landscapes at some beta.
fn indices_agree(masses: &[f64], beta: (f64, f64), at: &[f64]) {
    let found = branches::followed_branches(&tokens(masses, beta), GO).expect("branches");
    let mut compared = 0;
    for beta in at {
        let all = all(&tokens(masses, (*beta, *beta)), false);
        assert!(all.complete, "{masses:?} {beta}");
        let mut left: BTreeMap<(Vec<Vec<u32>>, usize), usize> = BTreeMap::new();
        for orbit in &all.orbits {
            let index = orbit.ascents.expect("an index");
            *left.entry((orbit.clusters.clone(), index)).or_default() += 1;
        }
        for branch in &found.branches {
            let Some(index) = branch.ascents_at(*beta, &found.bifurcations) else { continue };
            let known = left.get_mut(&(branch.clusters.clone(), index)).filter(|c| **c > 0);
            let what = format!("{masses:?}, beta {beta}: {:?}, index {index}", branch.clusters);
            *known.unwrap_or_else(|| panic!("{what} is not in the landscape")) -= 1;
            compared += 1;
        }
    }
    assert!(compared >= at.len(), "{compared} branches at {} beta", at.len());
}

#[test]
fn a_cluster_that_splits_beside_a_birth_is_seen() {
    // Two pairs of nearly equal tokens opposite to a heavy one: their bifurcations are near each
    // other, and one lies in the box of the other's birth.
    indices_agree(&[3.0, 1.0, 1.0, 1.002, 1.002], (0.4985, 0.504), &[0.4985, 0.503]);
}
