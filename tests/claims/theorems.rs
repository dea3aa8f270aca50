//! Every claim has the verdict that the literature, with its errata, predicts, at seed 2;
//! `metastable` without arguments tests seed 1. `metastable check --quick --seed K` measures false
//! alarms at other seeds.

use metastable::theorem::{ALL, Effort, Kind, TOPICS, check};
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
        let text = claim.domain.to_string();
        assert!(
            !text.is_empty() && !claim.then.is_empty() && !claim.source.is_empty(),
            "{}",
            claim.name
        );
        assert!(!claim.control.what.is_empty(), "{}", claim.name);
        // What the check can resolve is measured, by a constant or by the slack of a bound, or the
        // claim says why there is nothing to measure.
        assert!(
            claim.status.expects_violation()
                || !claim.constant.is_empty()
                || claim.kind == Kind::Inequality
                || !claim.no_constant.is_empty(),
            "{}: no constant, and no reason why",
            claim.name
        );
        assert!(claim.trials.0 >= 1 && claim.trials.1 >= claim.trials.0, "{}", claim.name);
        assert!(
            claim.domain.ends().iter().all(|c| claim.domain.violated_hypothesis(c).is_none()),
            "{}: an end outside its own hypotheses",
            claim.name
        );
        assert!(
            !claim.domain.ends().is_empty(),
            "{}: no end of its ranges meets its hypotheses",
            claim.name
        );
        // Otherwise every quick check would be inconclusive.
        if let (Kind::Every(exceptions), false) = (claim.kind, claim.status.expects_violation()) {
            let bound = metastable::num::stats::failure_bound(
                0,
                claim.trials.0.max(claim.domain.ends().len()),
                0.999,
            );
            assert!(
                bound <= exceptions,
                "{}: {} draws bound exceptions by {bound} only",
                claim.name,
                claim.trials.0
            );
        }
    }
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
            imports.extend(
                text.lines()
                    .filter(|l| {
                        l.starts_with("use super::") || l.starts_with("use crate::theorem::claim::")
                    })
                    .filter(|l| !l.starts_with("use super::setting::"))
                    .map(|l| format!("{}: {l}", claim.name)),
            );
        }
    }
    assert!(imports.is_empty(), "put what claims share into setting.rs:\n{}", imports.join("\n"));
}
