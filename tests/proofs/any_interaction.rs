//! Landscapes of other interactions, of masses in intervals, and proofs in several parts.

use crate::given::{self, GO, accepted, phi, refuses, tokens, under};
use metastable::attention::interaction::Interaction;
use metastable::proofs::landscape::{
    Benign, Landscape, Partial, Work, benign_with, complete, complete_with,
};
use metastable_verifier as verifier;

fn is_benign(n: usize, phi: &str) -> Benign {
    given::is_benign(&under(n, phi), true)
}

fn all(n: usize, phi: &str) -> Landscape {
    given::all(&under(n, phi), true)
}

/// The sigmoid on which five tokens stay at a regular pentagon.
const SIGMOID: &str = "1/(1 + exp(-10*(s + 0.25)))";

#[test]
fn the_exponential_as_a_formula_has_its_landscape() {
    for (n, beta, phi) in [(3, 1.0, "exp(s)"), (4, 4.0, "exp:beta=4"), (5, 2.0, "exp(2*s)/3")] {
        let own = given::all(&tokens(&vec![1.0; n], (beta, beta)), false);
        let found = all(n, phi);
        assert!(own.complete && found.complete && own.labelled == found.labelled, "{phi}");
        for (a, b) in own.orbits.iter().zip(&found.orbits) {
            assert_eq!((&a.clusters, a.ascents), (&b.clusters, b.ascents));
            let close = |x: &f64, y: &f64| (x - y).abs() <= a.gap_error + b.gap_error;
            assert!(a.gaps.iter().zip(&b.gaps).all(|(x, y)| close(x, y)), "{a:?} {b:?}");
            // W - W(0) is the energy, up to the constant 1/beta of the papers.
            assert!(!phi.starts_with("exp:") || (a.energy_share - b.energy_share).abs() < 1e-12);
        }
        let statement = accepted(found.certificate);
        assert!(statement.contains("phi(s) = exp(") && !statement.contains("all beta"));
    }
}

#[test]
fn increasing_interactions_may_have_other_maxima() {
    // A sigmoid is positive and increasing: benign up to four tokens, not for five.
    // W = ln(1 + e^{10 s})/10 is convex and increasing: not benign for the hexagon.
    for (n, phi) in
        [(3, SIGMOID), (4, SIGMOID), (3, "sigmoid:k=10"), (4, "sigmoid:k=10"), (5, "sigmoid:k=10")]
    {
        let found = is_benign(n, phi);
        assert!(found.proved, "{n}: {found:?}");
        accepted(found.certificate);
    }
    let found = is_benign(5, SIGMOID);
    let (_, orbit) = found.counterexample.expect("a pentagon");
    assert_eq!((orbit.clusters.len(), orbit.rotations, orbit.ascents), (5, 5, Some(0)));
    assert!(accepted(found.certificate).contains("5 clusters is a strict local maximum"));
    let found = is_benign(6, "sigmoid:k=10");
    assert_eq!(found.counterexample.expect("a hexagon").1.clusters.len(), 6);
    accepted(found.certificate);
}

#[test]
fn powers_have_other_maxima() {
    // Odd powers do not tell x from -x: two opposite clusters are a maximum.
    for (n, phi) in [(2, "s^3"), (3, "s^3"), (4, "power:p=5")] {
        let found = is_benign(n, phi);
        let (_, orbit) = found.counterexample.expect("a maximum");
        assert_eq!(orbit.clusters.len(), 2, "{phi}");
        assert!((orbit.gaps[0] - std::f64::consts::PI).abs() <= orbit.gap_error);
        accepted(found.certificate);
    }
    // Even powers: the regular triangle.
    let found = is_benign(3, "s^2");
    assert_eq!(found.counterexample.expect("a triangle").1.rotations, 3);
    accepted(found.certificate);
}

#[test]
fn interactions_that_change_their_sign_are_searched_beyond_half_a_turn() {
    // Tokens repel each other beyond 72.54 degrees.
    let tokens = under(3, "s - 0.3");
    assert!(!tokens.is_positive() && tokens.longest_gap() > 0.79 && tokens.longest_gap() < 0.81);
    let found = all(3, "s - 0.3");
    assert!(found.complete, "{found:?}");
    // Pairs at 72.54 degrees and at 180 degrees.
    assert!(found.orbits.iter().filter(|o| o.clusters.len() == 2).count() >= 2);
    // The bound of the gaps must be proved; other formulas have another landscape.
    let text = found.certificate.expect("a certificate");
    refuses(
        &text,
        &[
            ("interaction s - 0.3", "interaction s - 0.4"),
            ("interaction s - 0.3", "interaction s - 0.3 +"),
            ("interaction s - 0.3", "interaction relu(s) - 0.3"),
            ("interaction s - 0.3", "interaction s - beta"),
            ("gaps ", "gaps 8\ngaps "),
        ],
    );
    accepted(Some(text));
}

/// Both readers of formulas bind alike: a landscape of one is accepted by the other.
#[test]
fn the_verifier_reads_formulas_as_the_library_does() {
    for phi in [
        "4 + s/2*3/4 - s - 2 + 3*s",
        "-s^2 + 3*s + 5",
        "2^(2^s) + (s^2)^2 + s",
        "2*exp(-(1 - s)^2/0.5) + .5e-1",
        "3/(2 - s)/2*4 - 0.5",
        "sqrt(3 + 2*s) + ln(3 + s)*tanh(2*s) + sinh(s)/cosh(s) + 1",
        "2 + sin(2*s) + cos(pi*s/4) + tan(s/2) + (2 + s)^1.5",
    ] {
        let found = all(3, phi);
        assert!(found.complete, "{phi} {found:?}");
        accepted(found.certificate);
    }
    // Neither reads what people read in two ways.
    let text = all(3, "2^(3^2)*s/512 + 2").certificate.expect("a certificate");
    for ambiguous in ["interaction 2^3^2*s/512 + 2", "interaction 2*-s"] {
        assert!(Interaction::parse(&ambiguous["interaction ".len()..], &[]).is_err());
        refuses(&text, &[("interaction 2^(3^2)*s/512 + 2", ambiguous)]);
    }
}

#[test]
fn masses_in_intervals_have_benign_landscapes() {
    let lower = [1.0, 1.0, 2.0];
    let up_to = |upper: &[f64]| tokens(&lower, (1.0, 1.0)).with_masses_up_to(&lower, upper);
    let within = up_to(&[1.1, 1.1, 2.3]).expect("intervals");
    let found = given::is_benign(&within, true);
    assert!(found.proved);
    let text = found.certificate.expect("a certificate");
    let others = ["upper 11 12 23", "upper 11 11 19", "upper 11 11"];
    refuses(&text, &others.map(|to| ("upper 11 11 23", to)));
    let statement = accepted(Some(text));
    assert!(statement.contains("[10, 10, 20] and all up to [11, 11, 23]"), "{statement}");
    let why = complete(&within, false, GO).expect_err("refused").to_string();
    assert!(why.contains("benign"), "{why}");
    for (upper, why) in [([0.9, 0.9, 2.0], "a <= b"), ([1.1, 1.2, 2.0], "equal upper bounds")] {
        let error = up_to(&upper).expect_err("refused").to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn interactions_without_a_proof_are_refused() {
    for (text, why) in [
        ("relu(s)", "two derivatives"),
        ("-exp(s)", "phi(1) > 0"),
        ("0*s + 1 - 1", "isolated extrema"),
    ] {
        let own = tokens(&[1.0; 3], (0.0, 0.0)).with_interaction(&phi(text));
        let found = own.and_then(|t| benign_with(&t, &Work::default(), GO));
        let error = found.expect_err("refused").to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// An interrupted run goes on, and shares are joined: the certificate is that of one run.
#[test]
fn proofs_are_continued_and_joined() {
    let five = tokens(&[1.0; 5], (2.0, 2.0));
    let keep = Work { keep: true, ..Work::default() };
    let found = complete_with(&five, &keep, &|_, boxes| boxes < 300).expect("arithmetic");
    assert!(found.interrupted && found.certificate.is_none());
    let text = found.partial.expect("what was decided");
    assert!(verifier::check(&text).is_err());
    let earlier = Partial::read(&text).expect("own file");
    let work = Work { earlier: earlier.clone(), ..keep.clone() };
    let rest = complete_with(&five, &work, GO).expect("arithmetic");
    assert!(rest.complete && rest.labelled == Some(vec![1, 15, 50, 60, 24]), "{rest:?}");
    accepted(rest.certificate);
    // Three machines.
    let five = tokens(&[1.0; 5], (0.5, 8.0));
    let mut joined = Partial::default();
    for k in 0..3 {
        let share = Work { shard: (k, 3), ..keep.clone() };
        let found = benign_with(&five, &share, GO).expect("arithmetic");
        assert!(!found.proved && found.counterexample.is_none());
        let own = Partial::read(&found.partial.expect("a share")).expect("own");
        joined = joined.join(own).expect("one landscape");
    }
    let work = Work { earlier: joined, ..keep.clone() };
    let found = benign_with(&five, &work, GO).expect("arithmetic");
    let whole = given::is_benign(&five, true);
    assert!(found.proved && found.certificate == whole.certificate);
    // Work about another landscape, and files that are cut off, are refused.
    let work = Work { earlier, ..keep };
    let why = benign_with(&five, &work, GO).expect_err("refused").to_string();
    assert!(why.contains("kind"), "{why}");
    assert!(Partial::read(&text[..text.len() / 2]).is_err() && Partial::read("{}").is_err());
}
