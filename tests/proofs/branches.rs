//! Branches over beta: known bifurcations, agreement with the landscape at one beta, refusals.

use crate::given::{self, GO, tokens};
use metastable::num::deviation::least;
use metastable::proofs::landscape::branches::{
    Bifurcation, Continuation, End, Kind, Piece, all_branches, followed_branches, one_branch,
};

/// All branches, which are a complete list of chains.
fn all(masses: &[f64], beta: (f64, f64)) -> Continuation {
    let found = all_branches(&tokens(masses, beta), GO).expect("arithmetic");
    assert!(found.complete, "{masses:?} {:?} {:?}", found.missing, found.undecided_boxes);
    is_a_chain(&found);
    found
}

/// The only bifurcation.
fn only(found: &Continuation) -> &Bifurcation {
    let [b] = &found.bifurcations[..] else { panic!("{:?}", found.bifurcations) };
    b
}

/// The ends of the branches that begin at a bifurcation.
fn ends(found: &Continuation, b: &Bifurcation) -> Vec<(End, End)> {
    b.born.iter().map(|x| found.branches[*x].ends).collect()
}

/// A bifurcation is enclosed to this width.
fn is_at(b: &Bifurcation, exact: f64, width: f64) {
    assert!(b.beta.0 <= exact && exact <= b.beta.1 && b.beta.1 - b.beta.0 < width, "{b:?}");
}

/// The pieces of a branch are a chain, and its points lie in them.
fn is_a_chain(found: &Continuation) {
    for branch in &found.branches {
        for pair in branch.pieces.windows(2) {
            assert_eq!(pair[0].beta.1.to_bits(), pair[1].beta.0.to_bits(), "{pair:?}");
        }
        for s in &branch.samples {
            let near = |p: &&Piece| p.beta.0 <= s.beta && s.beta <= p.beta.1;
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
        assert!(found.bifurcations.is_empty(), "{n}: {:?}", found.bifurcations);
        assert_eq!(found.branches.len(), branches, "{n}");
        assert!(found.branches.iter().all(|b| b.ends == (End::Range, End::Range)), "{n}");
    }
}

#[test]
fn five_tokens_have_one_pitchfork() {
    let found = all(&[1.0; 5], (0.2, 0.206));
    assert_eq!(found.branches.len(), 7);
    // Two opposite clusters of 3 and 2 tokens: M - M' e^{-2 beta} = 0.
    let b = only(&found);
    is_at(b, 0.5 * 1.5f64.ln(), 1e-12);
    assert_eq!((b.kind, b.ascents, b.proved), (Kind::Pitchfork, (2, 1), true));
    let [born] = b.born[..] else { panic!("one branch begins: {b:?}") };
    let branch = &found.branches[born];
    assert_eq!(branch.clusters, [vec![1, 1, 1], vec![1], vec![1]]);
    assert_eq!((branch.ends, branch.multiplicity), ((End::Bifurcation(0), End::Range), 20));
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
    assert!(found.bifurcations.is_empty(), "{:?}", found.bifurcations);
    for beta in [0.8, 1.2] {
        let point = given::all(&tokens(&[1.0; 5], (beta, beta)), false);
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
    let six = tokens(&[1.0; 6], (1.0, 10.0));
    let hexagon = vec![vec![1]; 6];
    let sixth = [1.0 / 6.0; 6];
    let found = one_branch(&six, &hexagon, &sixth, GO).expect("a branch");
    assert!(found.missing.is_empty() && !found.complete, "{:?}", found.missing);
    let branch = &found.branches[0];
    assert_eq!(branch.ends, (End::Range, End::Range));
    let holds = |g: &(f64, f64)| g.0 < sixth[0] && sixth[0] < g.1;
    assert!(branch.pieces.iter().all(|p| p.ascents == 5 && p.gaps.iter().all(holds)));
    is_a_chain(&found);
    // A start with clusters of other tokens is refused.
    assert!(one_branch(&six, &hexagon[..5], &[0.2; 5], GO).is_err());
}

/// Clusters of three and two split into three, one and one at beta = log(3/2)/2: seen from both
/// branches.
#[test]
fn a_branch_begins_where_it_splits_from_another() {
    let five = tokens(&[1.0; 5], (0.2, 0.22));
    let three = [vec![1; 3], vec![1], vec![1]];
    let two = [vec![1; 3], vec![1; 2]];
    for clusters in [&three[..], &two[..]] {
        let k = clusters.len();
        let gaps = vec![1.0 / k as f64; k];
        let found = one_branch(&five, clusters, &gaps, GO).expect("a branch");
        assert!(found.missing.is_empty() && !found.complete, "{:?}", found.missing);
        let b = only(&found);
        is_at(b, 0.5 * 1.5f64.ln(), 1e-11);
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
    let four = tokens(&[1.0, 2.0, 3.0, 4.0], (0.387, 0.4));
    let whole = followed_branches(&four, GO).expect("arithmetic");
    let mut seen = 0;
    for branch in &whole.branches {
        let (End::Bifurcation(low), End::Range) = branch.ends else { continue };
        let origin = &whole.bifurcations[low];
        seen += 1;
        let last = branch.samples.last().expect("a sample");
        let gaps: Vec<f64> = last.gaps.iter().map(|g| g / std::f64::consts::TAU).collect();
        let found = one_branch(&four, &branch.clusters, &gaps, GO).expect("a branch");
        let own = found.branches.last().expect("a branch");
        let End::Bifurcation(b) = own.ends.0 else { panic!("{:?} {:?}", found.missing, own.ends) };
        let gap = (found.bifurcations[b].beta.0 - origin.beta.0).abs();
        assert!(gap < 1e-10 && found.missing.is_empty(), "{gap} {:?}", found.missing);
    }
    assert!(seen > 0, "no such branch");
    // The other branches were not searched.
    assert!(!whole.complete && whole.missing.len() == 1, "{:?}", whole.missing);
    let b = only(&whole);
    assert_eq!((b.kind, b.proved, b.born.len()), (Kind::Transcritical, true, 2));
    assert!(b.beta.1 - b.beta.0 < 1e-11 && (b.beta.0 - 0.387_637_870_736).abs() < 1e-11, "{b:?}");
    // On one side with the order 1, 2 and on the other side with the order 2, 1.
    let sides = [(End::Range, End::Bifurcation(0)), (End::Bifurcation(0), End::Range)];
    assert!(sides.iter().all(|side| ends(&whole, b).contains(side)), "{:?}", ends(&whole, b));
    is_a_chain(&whole);
}

#[test]
fn four_masses_have_two_pitchforks_a_fold_and_a_transcritical_bifurcation() {
    let found = all(&[1.0, 2.0, 3.0, 4.0], (0.2, 0.43));
    assert_eq!(found.branches.len(), 18);
    let kinds: Vec<Kind> = found.bifurcations.iter().map(|b| b.kind).collect();
    assert_eq!(kinds, [Kind::Pitchfork, Kind::Fold, Kind::Transcritical, Kind::Pitchfork]);
    assert!(found.bifurcations.iter().all(|b| b.proved && b.beta.1 - b.beta.0 < 1e-11));
    // Two different tokens of mass m in all, opposite to all others: m = M e^{-2 beta}.
    for (x, exact) in [(0, 0.5 * 1.5f64.ln()), (3, 0.5 * (7.0f64 / 3.0).ln())] {
        let b = &found.bifurcations[x];
        is_at(b, exact, 1e-11);
        assert_eq!(ends(&found, b), [(End::Bifurcation(x), End::Range)]);
    }
    // A singular zero of the forces, computed with 30 digits.
    let fold = &found.bifurcations[1];
    is_at(fold, 0.385_595_357_241_870_56, 1e-11);
    assert_eq!(fold.ascents, (3, 2));
    for end in [End::Range, End::Bifurcation(2)] {
        assert!(ends(&found, fold).contains(&(End::Bifurcation(1), end)), "{fold:?}");
    }
}

#[test]
fn three_equal_tokens_split_in_two_ways() {
    let found = all(&[4.0, 1.0, 1.0, 1.0], (0.12, 0.2));
    let b = only(&found);
    // Mass 3 opposite to mass 4.
    is_at(b, 0.5 * (4.0f64 / 3.0).ln(), 1e-12);
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
}

#[test]
fn a_pair_splits_beside_its_mirror_image() {
    // Clusters of masses 3, 2, 1, 2: the pair of the last one splits, a single token stays.
    let five = tokens(&[3.0, 2.0, 1.0, 1.0, 1.0], (0.56, 0.57));
    let found = followed_branches(&five, GO).expect("arithmetic");
    let b = only(&found);
    assert!(b.proved && b.kind == Kind::Pitchfork && b.born.len() == 1, "{b:?}");
    // The masses 2 at the angles x and -x from mass 3, and mass 1 at pi: the zero of the force and
    // of the second derivative, by 40 digits.
    let at = 0.5643608872647895;
    assert!(b.beta.0 < at && at < b.beta.1, "{b:?}");
    let born = &found.branches[b.born[0]];
    assert!(born.clusters.len() == 5 && born.ends.1 == End::Range);
}

#[test]
fn a_search_that_is_stopped_claims_nothing() {
    let five = tokens(&[1.0; 5], (0.1, 0.4));
    let stopped = all_branches(&five, &|_, boxes| boxes < 500).expect("arithmetic");
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
        let found = all_branches(&tokens(masses, beta), GO);
        let error = found.expect_err("refused").to_string();
        assert!(error.contains(why), "{beta:?}: {error}");
    }
}
