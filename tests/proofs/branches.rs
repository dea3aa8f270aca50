//! Branches over beta: known bifurcations, agreement with the landscape at one beta, refusals.

use metastable::num::deviation::least;
use metastable::proofs::landscape::branches::{
    Continuation, End, Kind, all_branches, followed_branches, one_branch,
};
use metastable::proofs::landscape::{Tokens, complete};

fn all(masses: &[f64], beta: (f64, f64)) -> Continuation {
    let tokens = Tokens::new(masses, beta).expect("tokens");
    all_branches(&tokens, &|_, _| true).expect("arithmetic")
}

/// The pieces of a branch are a chain, and its points lie in them.
fn is_a_chain(found: &Continuation) {
    for branch in &found.branches {
        for pair in branch.pieces.windows(2) {
            assert_eq!(pair[0].beta.1.to_bits(), pair[1].beta.0.to_bits(), "{pair:?}");
        }
        for s in &branch.samples {
            let near = |p: &&metastable::proofs::landscape::branches::Piece| {
                p.beta.0 <= s.beta && s.beta <= p.beta.1
            };
            for p in branch.pieces.iter().filter(near) {
                for (g, bounds) in s.gaps.iter().zip(&p.gaps) {
                    let turns = g / std::f64::consts::TAU;
                    assert!(bounds.0 - 1e-12 <= turns && turns <= bounds.1 + 1e-12, "{s:?} {p:?}");
                }
            }
        }
    }
}

#[test]
fn three_and_four_tokens_have_no_bifurcation() {
    for (n, beta, branches) in [(3, (0.05, 50.0), 3), (4, (0.5, 4.0), 5)] {
        let found = all(&vec![1.0; n], beta);
        assert!(found.complete && found.bifurcations.is_empty(), "{n}: {:?}", found.missing);
        assert_eq!(found.branches.len(), branches, "{n}");
        assert!(found.branches.iter().all(|b| b.ends == (End::Range, End::Range)), "{n}");
        is_a_chain(&found);
    }
}

#[test]
fn five_tokens_have_one_pitchfork() {
    let found = all(&[1.0; 5], (0.2, 0.206));
    assert!(found.complete, "{:?} {:?}", found.missing, found.undecided_boxes);
    assert_eq!((found.bifurcations.len(), found.branches.len()), (1, 7));
    // Two opposite clusters of 3 and 2 tokens: M - M' e^{-2 beta} = 0.
    let (b, exact) = (&found.bifurcations[0], 0.5 * 1.5f64.ln());
    assert!(b.beta.0 <= exact && exact <= b.beta.1 && b.beta.1 - b.beta.0 < 1e-12, "{b:?}");
    assert_eq!((b.kind, b.ascents, b.proved), (Kind::Pitchfork, (2, 1), true));
    let [born] = b.born[..] else { panic!("one branch begins: {b:?}") };
    let branch = &found.branches[born];
    assert_eq!(branch.clusters, [vec![1, 1, 1], vec![1], vec![1]]);
    assert_eq!((branch.ends, branch.multiplicity), ((End::Bifurcation(0), End::Range), 20));
    is_a_chain(&found);
    // The branch in closed form: the half angle between the two single tokens has the cosine c with
    // ln(2 c q / M) + beta (2 c^2 - 1 + c) = 0, here with M = 3 and q = 1.
    for s in &branch.samples {
        let smallest = least(s.gaps.iter().copied());
        let c = (0.5 * smallest).cos();
        let rest = (2.0 * c / 3.0).ln() + s.beta * (2.0 * c * c - 1.0 + c);
        // The gap is enclosed to 1e-12 where it is small; c changes by less.
        assert!(rest.abs() < 1e-11, "{s:?} {rest}");
    }
}

#[test]
fn branches_are_the_points_of_the_landscape() {
    let found = all(&[1.0; 5], (0.8, 1.2));
    assert!(found.complete && found.bifurcations.is_empty(), "{:?}", found.missing);
    for beta in [0.8, 1.2] {
        let tokens = Tokens::new(&[1.0; 5], (beta, beta)).expect("tokens");
        let point = complete(&tokens, false, &|_, _| true).expect("arithmetic");
        assert_eq!(point.labelled, Some(found.labelled(beta, 5)), "{beta}");
        for orbit in &point.orbits {
            let same = found.branches.iter().filter(|b| b.clusters == orbit.clusters).any(|b| {
                let sample = if beta < 1.0 { b.samples.first() } else { b.samples.last() };
                sample.is_some_and(|s| (s.energy_share - orbit.energy_share).abs() < 1e-12)
            });
            assert!(same, "{beta} {orbit:?}");
        }
    }
}

#[test]
fn one_branch_is_followed() {
    let tokens = Tokens::new(&[1.0; 6], (1.0, 10.0)).expect("tokens");
    let hexagon = vec![vec![1]; 6];
    let sixth = [1.0 / 6.0; 6];
    let found = one_branch(&tokens, &hexagon, &sixth, &|_, _| true).expect("a branch");
    assert!(found.missing.is_empty() && !found.complete, "{:?}", found.missing);
    let branch = &found.branches[0];
    assert_eq!(branch.ends, (End::Range, End::Range));
    let holds = |g: &(f64, f64)| g.0 < sixth[0] && sixth[0] < g.1;
    assert!(branch.pieces.iter().all(|p| p.ascents == 5 && p.gaps.iter().all(holds)));
    is_a_chain(&found);
    // A start with clusters of other tokens is refused.
    assert!(one_branch(&tokens, &hexagon[..5], &[0.2; 5], &|_, _| true).is_err());
}

/// Clusters of three and two split into three, one and one at beta = log(3/2)/2: seen from both
/// branches.
#[test]
fn a_branch_begins_where_it_splits_from_another() {
    let tokens = Tokens::new(&[1.0; 5], (0.2, 0.22)).expect("tokens");
    let three = [vec![1; 3], vec![1], vec![1]];
    let two = [vec![1; 3], vec![1; 2]];
    for clusters in [&three[..], &two[..]] {
        let k = clusters.len();
        let gaps = vec![1.0 / k as f64; k];
        let found = one_branch(&tokens, clusters, &gaps, &|_, _| true).expect("a branch");
        assert!(found.missing.is_empty() && !found.complete, "{:?}", found.missing);
        let [b] = &found.bifurcations[..] else { panic!("{:?}", found.bifurcations) };
        let at = 0.5 * 1.5f64.ln();
        assert!(b.beta.0 <= at && at <= b.beta.1 && b.beta.1 - b.beta.0 < 1e-11, "{b:?}");
        assert_eq!((b.kind, b.clusters.len()), (Kind::Pitchfork, 2));
        let [parent, rest @ ..] = &found.branches[..] else { panic!("no branch") };
        assert_eq!((parent.clusters.len(), parent.ends), (2, (End::Range, End::Range)));
        assert_eq!(rest.len(), k - 2);
        for branch in rest {
            assert_eq!(branch.ends, (End::Bifurcation(0), End::Range));
            assert_eq!(b.born, [1]);
        }
    }
    // Two different tokens, in both orders.
    let tokens = Tokens::new(&[1.0, 2.0, 3.0, 4.0], (0.387, 0.4)).expect("tokens");
    let whole = followed_branches(&tokens, &|_, _| true).expect("arithmetic");
    let mut seen = 0;
    for branch in &whole.branches {
        let (End::Bifurcation(low), End::Range) = branch.ends else { continue };
        let origin = &whole.bifurcations[low];
        seen += 1;
        let last = branch.samples.last().expect("a sample");
        let gaps: Vec<f64> = last.gaps.iter().map(|g| g / std::f64::consts::TAU).collect();
        let found = one_branch(&tokens, &branch.clusters, &gaps, &|_, _| true).expect("a branch");
        let own = found.branches.last().expect("a branch");
        let End::Bifurcation(b) = own.ends.0 else { panic!("{:?} {:?}", found.missing, own.ends) };
        let gap = (found.bifurcations[b].beta.0 - origin.beta.0).abs();
        assert!(gap < 1e-10 && found.missing.is_empty(), "{gap} {:?}", found.missing);
    }
    assert!(seen > 0, "no such branch");
}

#[test]
fn two_different_tokens_split_in_two_orders() {
    let tokens = Tokens::new(&[1.0, 2.0, 3.0, 4.0], (0.387, 0.4)).expect("tokens");
    let found = followed_branches(&tokens, &|_, _| true).expect("arithmetic");
    // The other branches were not searched.
    assert!(!found.complete && found.missing.len() == 1, "{:?}", found.missing);
    let [b] = &found.bifurcations[..] else { panic!("{:?}", found.bifurcations) };
    assert_eq!((b.kind, b.proved, b.born.len()), (Kind::Transcritical, true, 2));
    assert!(b.beta.1 - b.beta.0 < 1e-11 && (b.beta.0 - 0.387_637_870_736).abs() < 1e-11, "{b:?}");
    // On one side with the order 1, 2 and on the other side with the order 2, 1.
    let ends: Vec<_> = b.born.iter().map(|x| found.branches[*x].ends).collect();
    assert!(ends.contains(&(End::Range, End::Bifurcation(0))), "{ends:?}");
    assert!(ends.contains(&(End::Bifurcation(0), End::Range)), "{ends:?}");
    is_a_chain(&found);
}

#[test]
fn four_masses_have_two_pitchforks_a_fold_and_a_transcritical_bifurcation() {
    let found = all(&[1.0, 2.0, 3.0, 4.0], (0.2, 0.43));
    assert!(found.complete, "{:?} {:?}", found.missing, found.undecided_boxes);
    assert_eq!(found.branches.len(), 18);
    let kinds: Vec<Kind> = found.bifurcations.iter().map(|b| b.kind).collect();
    assert_eq!(kinds, [Kind::Pitchfork, Kind::Fold, Kind::Transcritical, Kind::Pitchfork]);
    assert!(found.bifurcations.iter().all(|b| b.proved && b.beta.1 - b.beta.0 < 1e-11));
    // Two different tokens of mass m in all, opposite to all others: m = M e^{-2 beta}.
    for (x, exact) in [(0, 0.5 * 1.5f64.ln()), (3, 0.5 * (7.0f64 / 3.0).ln())] {
        let b = &found.bifurcations[x];
        assert!(b.beta.0 <= exact && exact <= b.beta.1 && b.born.len() == 1, "{b:?}");
        assert_eq!(found.branches[b.born[0]].ends, (End::Bifurcation(x), End::Range));
    }
    // A singular zero of the forces, computed with 30 digits.
    let fold = &found.bifurcations[1];
    let exact = 0.385_595_357_241_870_56;
    assert!(fold.beta.0 <= exact && exact <= fold.beta.1, "{fold:?}");
    let ends: Vec<_> = fold.born.iter().map(|x| found.branches[*x].ends).collect();
    assert_eq!(fold.ascents, (3, 2));
    assert!(ends.contains(&(End::Bifurcation(1), End::Range)), "{ends:?}");
    assert!(ends.contains(&(End::Bifurcation(1), End::Bifurcation(2))), "{ends:?}");
    is_a_chain(&found);
}

#[test]
fn three_equal_tokens_split_in_two_ways() {
    let found = all(&[4.0, 1.0, 1.0, 1.0], (0.12, 0.2));
    assert!(found.complete, "{:?} {:?}", found.missing, found.undecided_boxes);
    let [b] = &found.bifurcations[..] else { panic!("{:?}", found.bifurcations) };
    // Mass 3 opposite to mass 4.
    let exact = 0.5 * (4.0f64 / 3.0).ln();
    assert!(b.beta.0 <= exact && exact <= b.beta.1 && b.beta.1 - b.beta.0 < 1e-12, "{b:?}");
    assert_eq!((b.kind, b.ascents, b.proved), (Kind::Multiple, (3, 1), true));
    let clusters: Vec<_> = b.born.iter().map(|x| &found.branches[*x].clusters[..]).collect();
    let two: &[Vec<u32>] = &[vec![4], vec![1, 1], vec![1]];
    let three: &[Vec<u32>] = &[vec![4], vec![1], vec![1], vec![1]];
    assert_eq!(clusters, [two, three]);
    for (x, ascents) in b.born.iter().zip([2, 3]) {
        let branch = &found.branches[*x];
        assert_eq!(branch.ends, (End::Bifurcation(0), End::Range));
        assert!(branch.pieces.iter().all(|p| p.ascents == ascents));
    }
    is_a_chain(&found);
}

#[test]
fn a_pair_splits_beside_its_mirror_image() {
    // Clusters of masses 3, 2, 1, 2: the pair of the last one splits, a single token stays.
    let tokens = Tokens::new(&[3.0, 2.0, 1.0, 1.0, 1.0], (0.56, 0.57)).expect("tokens");
    let found = followed_branches(&tokens, &|_, _| true).expect("arithmetic");
    let [only] = &found.bifurcations[..] else { panic!("{:?}", found.bifurcations) };
    assert!(only.proved && only.kind == Kind::Pitchfork && only.born.len() == 1, "{only:?}");
    // The masses 2 at the angles x and -x from mass 3, and mass 1 at pi: the zero of the force and
    // of the second derivative, by 40 digits.
    let at = 0.5643608872647895;
    assert!(only.beta.0 < at && at < only.beta.1, "{only:?}");
    let born = &found.branches[only.born[0]];
    assert!(born.clusters.len() == 5 && born.ends.1 == End::Range);
}

#[test]
fn a_search_that_is_stopped_claims_nothing() {
    let tokens = Tokens::new(&[1.0; 5], (0.1, 0.4)).expect("tokens");
    let stopped = all_branches(&tokens, &|_, boxes| boxes < 500).expect("arithmetic");
    assert!(stopped.interrupted && !stopped.complete);
}

#[test]
fn bad_intervals_are_refused() {
    for (masses, beta, why) in [
        (&[1.0; 4][..], (1.0, 1.0), "an interval a..b with a < b"),
        (&[1.0; 4], (0.0, 1.0), "0.01"),
        (&[1.0; 4], (-1.0, 1.0), "0.01"),
        (&[1.0; 11], (0.1, 50.0), "would take about"),
        (&[1.0; 12], (1.0, 2.0), "would take about"),
    ] {
        let tokens = Tokens::new(masses, beta).expect("tokens");
        let error = all_branches(&tokens, &|_, _| true).expect_err("refused").to_string();
        assert!(error.contains(why), "{beta:?}: {error}");
    }
}
