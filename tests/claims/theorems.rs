//! Every claim has the verdict that the literature, with its errata, predicts, at seed 2;
//! `metastable` without arguments tests seed 1. `metastable check --quick --seed K` measures false
//! alarms at other seeds.

use metastable::theorem::{ALL, Claim, Effort, Kind, TOPICS, check};
use std::path::Path;

fn have_expected_verdicts(topic: &str) {
    let topic = TOPICS.iter().find(|t| t.name == topic).expect("a topic");
    let mut wrong = Vec::new();
    for claim in topic.claims.iter().flat_map(|c| c.with_variants()) {
        let r = check(claim, Effort::Quick, 2).expect("a claim that can be set up");
        if !r.as_expected {
            wrong.push(format!("{}: {} ({}), worst {:?}", r.name, r.verdict, r.reason, r.worst));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// One test for each topic, and one that no topic is missing.
macro_rules! topics {
    ($($test:ident: $name:literal),*) => {
        mod expected_verdicts {
            $(#[test]
            fn $test() {
                super::have_expected_verdicts($name);
            })*
        }

        #[test]
        fn every_topic_is_tested() {
            let all: Vec<&str> = TOPICS.iter().map(|t| t.name).collect();
            assert_eq!([$($name),*].as_slice(), all);
        }
    };
}

topics! {
    energy: "energy",
    cones: "cones",
    metastability: "metastability",
    landscapes: "landscapes",
    interactions: "interactions",
    modes: "modes",
    mean_field: "mean-field",
    causal: "causal",
    noise: "noise",
    random_weights: "random-weights",
    flat: "flat",
    hardmax: "hardmax",
    normalisation: "normalisation",
    heads: "heads",
    recurrent: "recurrent"
}

#[test]
fn every_claim_is_complete() {
    for claim in ALL.iter() {
        let (name, false_one) = (claim.name, claim.status.expects_violation());
        for text in [&claim.hypotheses()[..], claim.then, claim.source, claim.control.what] {
            assert!(!text.is_empty(), "{name}");
        }
        // What the check can resolve is measured, by a constant or by the slack of a bound, or the
        // claim says why there is nothing to measure.
        let measured = !claim.constant.is_empty() || claim.kind == Kind::Inequality;
        let told = false_one || measured || !claim.no_constant.is_empty();
        assert!(told, "{name}: no constant, and no reason why");
        assert!(claim.trials.0 >= 1 && claim.trials.1 >= claim.trials.0, "{name}");
        let ends = claim.domain.ends();
        assert!(!ends.is_empty(), "{name}: no end of its ranges meets its hypotheses");
        let inside = ends.iter().all(|c| claim.domain.violated_hypothesis(c).is_none());
        assert!(inside, "{name}: an end outside its own hypotheses");
        // Otherwise every quick check would be inconclusive.
        if let (Kind::Every(exceptions), false) = (claim.kind, false_one) {
            let draws = claim.trials.0.max(ends.len());
            let bound = metastable::num::stats::failure_bound(0, draws, 0.999);
            assert!(bound <= exceptions, "{name}: {draws} draws bound exceptions by {bound} only");
        }
    }
}

/// The texts of a claim that are printed with its numbers, as they are typed.
fn with_numbers(c: &Claim) -> [String; 7] {
    let hypotheses = c.domain.to_string();
    [c.lets, c.then, c.tested, c.narrower, c.correct, c.control.what, &hypotheses]
        .map(str::to_owned)
}

/// The names of numbers in a text: `{NAME}` of at least three capital letters.
fn names(text: &str) -> Vec<&str> {
    let is_name = |s: &&str| {
        s.len() > 2
            && s.chars().next().is_some_and(|c| c.is_ascii_uppercase())
            && s.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    text.split('{').skip(1).filter_map(|s| Some(s.split_once('}')?.0)).filter(is_name).collect()
}

#[test]
fn texts_print_each_number_of_their_claim_and_no_name() {
    let mut count = 0;
    for claim in ALL.iter() {
        let texts = with_numbers(claim);
        for (name, value) in claim.numbers {
            assert_eq!(names(&format!("{{{name}}}")), [*name], "{}", claim.name);
            assert!(value.is_finite(), "{}: {name}", claim.name);
            let used = texts.iter().any(|t| names(t).contains(name));
            assert!(used, "{}: no text contains {name}", claim.name);
        }
        for text in texts {
            count += names(&text).len();
            let printed = claim.printed(&text);
            assert!(names(&printed).is_empty(), "{}: {printed}", claim.name);
        }
        // These texts are printed as they are typed.
        let box_of_proof = claim.proof.as_ref().map_or("", |p| p.what);
        let plain = [claim.title, claim.source, claim.constant, claim.no_constant, box_of_proof];
        for text in plain {
            assert!(names(text).is_empty(), "{}: {text}", claim.name);
        }
        let shown = claim.statement() + &claim.hypotheses();
        assert!(names(&shown).is_empty(), "{}: {shown}", claim.name);
    }
    assert!(count > 200, "only {count} names");
}

#[test]
fn names_of_numbers_are_told_from_formulas() {
    assert_eq!(names("{RADIUS} at e^{-C t} and x_{AB}, {TIME_2}"), ["RADIUS", "TIME_2"]);
    assert!(names("e^{-c}, {}, }{, {Radius}, {1ABC}").is_empty());
}

#[test]
fn every_topic_has_a_page_and_its_claims_do_not_import_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/claims/theorem/claim");
    let mut imports = Vec::new();
    for topic in &TOPICS {
        assert!(topic.page.len() > 200, "{}: no page", topic.name);
        let folder = root.join(topic.name.replace('-', "_"));
        for claim in topic.claims {
            let file = folder.join(format!("{}.rs", claim.name.replace('-', "_")));
            let text = std::fs::read_to_string(&file).expect("each claim has a file of its name");
            let uses = text.lines().filter(|l| {
                ["use super::", "use crate::theorem::claim::"].iter().any(|p| l.starts_with(p))
            });
            let foreign = uses.filter(|l| !l.starts_with("use super::setting::"));
            imports.extend(foreign.map(|l| format!("{}: {l}", claim.name)));
        }
    }
    assert!(imports.is_empty(), "put what claims share into setting.rs:\n{}", imports.join("\n"));
}
