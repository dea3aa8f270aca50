//! Every claim on its quick grid has the verdict the literature (with its errata) predicts, and its negative control fails.

use metastable::theorem::{ALL, Effort, check};

#[test]
fn every_claim_has_the_expected_verdict_and_a_failing_control() {
    let mut wrong = Vec::new();
    for claim in ALL {
        let started = std::time::Instant::now();
        let record = check(claim, Effort::Quick, 1).expect("a claim that can be set up");
        let margin = record.margin.map_or(f64::NAN, |m| m.value);
        println!(
            "{:30} {:13} margin {margin:.2e} +- {:.1e} trials {} missed {} unfinished {} control {} {:.2} s",
            claim.name,
            record.verdict.to_string(),
            record.margin.map_or(f64::NAN, |m| m.error()),
            record.trials,
            record.missed,
            record.unfinished.0,
            record.control_failed,
            started.elapsed().as_secs_f64()
        );
        if !record.as_expected {
            wrong.push(format!("{record:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
