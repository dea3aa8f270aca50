//! Every claim has the verdict that the literature, with its errata, predicts, at three seeds. A
//! claim that fails by chance in one check of ten fails here with probability 1/4.
//! `metastable check --quick --seed K` measures false alarms at other seeds.

use metastable::theorem::{ALL, Effort, Kind, check};

fn at_seed(seed: u64) {
    let mut wrong = Vec::new();
    for claim in ALL.iter() {
        let r = check(claim, Effort::Quick, seed).expect("a claim that can be set up");
        if !r.as_expected {
            wrong.push(format!(
                "{} at seed {seed}: {} ({}), worst {:?}",
                r.name, r.verdict, r.reason, r.worst
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_claim_has_the_expected_verdict_at_seed_1() {
    at_seed(1);
}

#[test]
fn every_claim_has_the_expected_verdict_at_seed_2() {
    at_seed(2);
}

#[test]
fn every_claim_has_the_expected_verdict_at_seed_3() {
    at_seed(3);
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
