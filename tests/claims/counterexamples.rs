//! Claims hold on draws that refuted an earlier version of them. A hunt found each within seconds,
//! where a tolerance was relative to the result of a cancellation.

use metastable::theorem::{
    Case, Context, Finding, Masses, Method, Tape, find, hunt, run_trial, sentences,
};
use serde_json::Value;

/// The name of a claim, the former margin, and the case and the draws that gave it.
fn counterexamples() -> Vec<(String, f64, Case, Tape)> {
    let all: Vec<Value> =
        serde_json::from_str(include_str!("../data/counterexamples.json")).expect("a list");
    let read = |v: &Value| {
        let (name, case) = (v["claim"].as_str().expect("a name"), &v["case"]);
        let domain = find(name).expect("registered").domain;
        let size = |key: &str| case[key].as_u64().expect("a number") as usize;
        let known = |key: &str, among: &[&'static str]| match among {
            [] => "",
            _ => *among.iter().find(|k| case[key] == **k).expect("of the domain"),
        };
        let masses = if case["equal_masses"] == true { Masses::Equal } else { Masses::Random };
        let beta = case["beta"].as_f64().expect("a number");
        let (dynamics, law) = (known("dynamics", domain.dynamics), known("law", domain.laws));
        let place = Case { n: size("n"), d: size("d"), beta, dynamics, law, masses };
        let draws = serde_json::from_value(v["draws"].clone()).expect("draws");
        (name.to_owned(), v["margin"].as_f64().expect("a number"), place, draws)
    };
    all.iter().map(read).collect()
}

#[test]
fn former_counterexamples_no_longer_refute_their_claims() {
    let all = counterexamples();
    assert_eq!(all.len(), 8);
    for (name, before, case, tape) in all {
        let claim = find(&name).expect("registered");
        assert!(
            before < 0.0 && claim.domain.violated_hypothesis(&case).is_none(),
            "{name}: {case}"
        );
        let found = run_trial(
            claim,
            &case,
            Context::replay(tape, 1, &["shrink", claim.name], Method::default()),
        )
        .expect("set up");
        // A token that leads by too little no longer meets the hypotheses.
        let holds = match &found.finding {
            Finding::Margin(m) => m.held(),
            other => *other == Finding::HypothesesMissed,
        };
        assert!(holds, "{name}: {:?}", found.finding);
    }
}

#[test]
fn hunts_do_not_refute_identities_with_extreme_scales() {
    // The hunts that found the former counterexamples, with as many trials.
    for name in [
        "linear-attention",
        "heads-average",
        "heads-sum",
        "query-key-product",
        "force-field",
        "key-bias",
    ] {
        let claim = find(name).expect("registered");
        let count = std::sync::atomic::AtomicU64::new(0);
        let go_on = |_: u64, _: Option<f64>| {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 40_000
        };
        let seen = hunt::hunt(
            claim,
            &metastable::theorem::Region::default(),
            1,
            &hunt::TimeLimit::new(&go_on),
        )
        .expect("set up");
        assert!(
            !seen.found() && seen.margin() > Some(0.0),
            "{name}: {:?} in {} trials",
            seen.margin(),
            seen.evaluations
        );
    }
}

#[test]
fn errors_of_unknown_names_count_claims_and_sentences() {
    let message = |name: &str| sentences::claims_of(name).err().expect("unknown").to_string();
    let theorems = metastable::theorem::ALL.len();
    let claim = message("cone-sped");
    assert!(
        claim.starts_with("unknown theorem `cone-sped`; did you mean `cone-speed`?"),
        "{claim}"
    );
    assert!(claim.contains(&format!("nearest of {theorems}:")), "{claim}");
    let sentence = message("sentence-61");
    assert!(
        sentence.starts_with("unknown sentence `sentence-61`")
            && sentence.contains("nearest of 61:"),
        "{sentence}"
    );
}
