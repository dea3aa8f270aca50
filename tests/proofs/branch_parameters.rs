//! Branches over a mass or over a parameter of an interaction: thresholds in closed form, the same
//! bifurcations as over beta, agreement with the landscape at one value, refusals.

use crate::given::{self, GO, tokens};
use metastable::proofs::landscape::branches::{
    Bifurcation, Continuation, Kind, all_branches, followed_branches,
};
use metastable::proofs::landscape::{Parameter, Tokens, complete};

/// Tokens with these masses, of which the last one lies between two bounds.
fn last_mass(masses: &[f64], (low, high): (f64, f64), beta: f64) -> Tokens {
    let (mut all, token) = (masses.to_vec(), masses.len());
    all.push(low);
    let equal = tokens(&vec![1.0; all.len()], (beta, beta));
    equal.with_mass_up_to(&all, token, high, None).expect("a mass in an interval")
}

fn with_interactions(n: usize, text: &str) -> Tokens {
    let equal = tokens(&vec![1.0; n], (0.0, 0.0));
    equal.with_interactions(text).expect("an interaction with a parameter")
}

fn all(tokens: &Tokens) -> Continuation {
    let found = all_branches(tokens, GO).expect("arithmetic");
    assert!(found.complete, "{:?} {:?}", found.missing, found.undecided_boxes);
    found
}

fn is_at(b: &Bifurcation, exact: f64, kind: Kind) {
    let slack = 4.0 * f64::EPSILON * exact;
    assert!(b.beta.0 - slack <= exact && exact <= b.beta.1 + slack, "{exact} {b:?}");
    assert!(b.beta.1 - b.beta.0 < 1e-11 && b.kind == kind && b.proved, "{b:?}");
}

#[test]
fn opposite_clusters_split_at_a_mass_in_closed_form() {
    // The lighter of two opposite clusters of masses M > M' splits where M' = M e^{-2 beta}.
    let factor = 0.4f64.exp();
    let tokens = last_mass(&[1.0, 1.0], (0.5, 4.0), 0.2);
    assert_eq!(tokens.parameter(), Parameter::Mass);
    let found = all(&tokens);
    let [b] = &found.bifurcations[..] else { panic!("{:?}", found.bifurcations) };
    is_at(b, 2.0 * factor, Kind::Pitchfork);
    // The mass belongs to the cluster that splits, and to the other one.
    let found = all(&last_mass(&[1.0, 2.0], (0.2, 8.0), 0.2));
    let [one, two] = &found.bifurcations[..] else { panic!("{:?}", found.bifurcations) };
    is_at(one, 2.0 / factor - 1.0, Kind::Pitchfork);
    is_at(two, 3.0 * factor, Kind::Pitchfork);
    assert_eq!(one.born, two.born);
    // Three equal tokens split in two ways.
    let found = all(&last_mass(&[1.0, 1.0, 1.0], (4.3, 4.7), 0.2));
    let [b] = &found.bifurcations[..] else { panic!("{:?}", found.bifurcations) };
    is_at(b, 3.0 * factor, Kind::Multiple);
    assert_eq!((b.born.len(), b.ascents), (2, (1, 3)));
}

#[test]
fn bifurcations_over_a_mass_are_those_over_beta() {
    // The fold and the bifurcations of masses 1, 2, 3, 4, each at its beta: the mass is 1 there.
    let masses = [2.0, 3.0, 4.0];
    for (beta, kind) in [
        (0.385_595_357_241_870_56, Kind::Fold),
        (0.387_637_870_736, Kind::Transcritical),
        (0.5 * (7.0f64 / 3.0).ln(), Kind::Pitchfork),
    ] {
        let found = followed_branches(&last_mass(&masses, (0.98, 1.02), beta), GO);
        let found = found.expect("arithmetic");
        let near = |b: &&Bifurcation| (0.5 * (b.beta.0 + b.beta.1) - 1.0).abs() < 1e-10;
        let near: Vec<_> = found.bifurcations.iter().filter(near).collect();
        let [b] = near[..] else { panic!("{beta}: {:?}", found.bifurcations) };
        assert!(b.kind == kind && b.proved && b.beta.1 - b.beta.0 < 1e-10, "{b:?}");
    }
}

#[test]
fn clusters_split_at_a_parameter_of_the_interaction_in_closed_form() {
    // M' phi(1) = M phi(-1): the ratio of the sigmoid is e^k, that of the exponential e^{2 beta}.
    let three_to_two = 1.5f64.ln();
    for (text, exact) in [
        ("sigmoid:k=0.39..0.42", three_to_two),
        ("exp(2*b*s) ; b=0.1..0.11", 0.25 * three_to_two),
        ("a/(a + a*(c - s)) ; a=2, c=3.9..4.1", 4.0),
    ] {
        let tokens = with_interactions(5, text);
        let found = followed_branches(&tokens, GO).expect("arithmetic");
        let [b] = &found.bifurcations[..] else { panic!("{text}: {:?}", found.bifurcations) };
        is_at(b, exact, Kind::Pitchfork);
        assert_eq!(b.born.len(), 1, "{text}");
    }
}

#[test]
fn branches_are_the_points_of_the_landscape() {
    // The exponential as an interaction has the branches of the exponential.
    let plain = all(&tokens(&[1.0; 4], (0.9, 1.1)));
    let found = all(&with_interactions(4, "exp:beta=0.9..1.1"));
    assert_eq!(found.branches.len(), plain.branches.len());
    for (a, b) in found.branches.iter().zip(&plain.branches) {
        let ends = |b: &metastable::proofs::landscape::branches::Branch| {
            [b.samples.first(), b.samples.last()].map(|s| s.map_or(f64::NAN, |s| s.energy_share))
        };
        for (a, b) in ends(a).iter().zip(ends(b)) {
            assert!((a - b).abs() < 1e-11, "{a} {b}");
        }
    }
    for (over, at) in [
        (with_interactions(4, "sigmoid:k=1.5..2.5"), given::under(4, "sigmoid:k=2")),
        (last_mass(&[1.0, 1.0, 1.0], (1.5, 2.5), 1.0), tokens(&[1.0, 1.0, 1.0, 2.0], (1.0, 1.0))),
    ] {
        assert_eq!(Some(all(&over).labelled(2.0, 4)), given::all(&at, false).labelled);
    }
}

#[test]
fn bad_parameters_are_refused() {
    let three = || tokens(&[1.0; 3], (1.0, 1.0));
    for (text, why) in [
        ("sigmoid:k=2", "such as sigmoid:k=1..9"),
        ("sigmoid:k=2..1", "A < B"),
        ("sigmoid:k=a..1", "such as sigmoid:k=1..9"),
        ("sigmoid:k=1..9000", "300"),
        ("sigmoid:j=1..2", "k"),
        ("exp(k*s); k=1..2, k=2..3", "one parameter"),
        ("exp(s); k=1..2", "occurs in the formula"),
        ("power:p=2..3", "positive"),
        ("s + c; c=0.5..2", "positive"),
        ("relu(s) + c; c=1..2", "two derivatives"),
        ("1/(c - s); c=0.9..2", "interaction"),
    ] {
        let error = three().with_interactions(text).expect_err(text).to_string();
        assert!(error.contains("interaction") && error.contains(why), "{text}: {error}");
    }
    for (masses, token, upper, why) in [
        (vec![1.0, 1.0, 0.0], 2, 1.0, "0 < A < B"),
        (vec![1.0, 1.0, 2.0], 2, 2.0, "0 < A < B"),
        (vec![1.0, 0.5, 1.0], 2, 2.0, "whole numbers"),
        (vec![1.0, 1.0, 1.0], 3, 2.0, "a token of the list"),
        (vec![1.0, 1.0], 1, 2.0, "a token of the list"),
    ] {
        let error = three().with_mass_up_to(&masses, token, upper, None).expect_err("refused");
        assert!(error.to_string().contains(why), "{error}");
    }
    let interval = tokens(&[1.0; 3], (1.0, 2.0));
    let error = interval.with_mass_up_to(&[1.0; 3], 2, 2.0, None).expect_err("refused").to_string();
    assert!(error.contains("one number"), "{error}");
    let negative = last_mass(&[1.0, 1.0], (0.5, 2.0), -0.3);
    let error = all_branches(&negative, GO).expect_err("refused").to_string();
    assert!(error.contains("beta") && error.contains("0.01"), "{error}");
    // Only branches have parameters.
    let error = complete(&with_interactions(3, "sigmoid:k=1..2"), false, GO);
    assert!(error.expect_err("refused").to_string().contains("an interval of k"));
}
