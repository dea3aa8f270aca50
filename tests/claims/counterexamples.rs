//! Claims hold on draws that refuted an earlier version of them. A hunt found each within seconds,
//! where a tolerance was relative to the result of a cancellation.

use metastable::theorem::{
    Case, Context, Finding, Masses, Method, Region, Tape, find, hunt, run_trial, sentences,
};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};

/// The name of a claim, the former margin, and the case and the draws that gave it.
fn counterexamples() -> Vec<(String, f64, Case, Tape)> {
    let all: Vec<Value> =
        serde_json::from_str(include_str!("../data/counterexamples.json")).expect("a list");
    let read = |v: &Value| {
        let (name, case) = (v["claim"].as_str().expect("a name"), &v["case"]);
        let domain = find(name).expect("registered").domain;
        let size = |key: &str| case[key].as_u64().expect("a number") as usize;
        // A claim about other objects has neither.
        let known = |key: &str, among: &[&'static str]| {
            among.iter().find(|k| case[key] == **k).copied().unwrap_or_default()
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
    assert_eq!(all.len(), 2);
    for (name, before, case, tape) in all {
        let claim = find(&name).expect("registered");
        let inside = claim.domain.violated_hypothesis(&case).is_none();
        assert!(before < 0.0 && inside, "{name}: {case}");
        let context = Context::replay(tape, 1, &["shrink", claim.name], Method::default());
        let found = run_trial(claim, &case, context).expect("set up");
        let holds = matches!(&found.finding, Finding::Margin(m) if m.held());
        assert!(holds, "{name}: {:?}", found.finding);
    }
}

#[test]
fn hunts_do_not_refute_claims_at_extreme_scales() {
    // As many trials as found the former counterexamples.
    for name in ["min-inner", "softmax-jacobian"] {
        let claim = find(name).expect("registered");
        let count = AtomicU64::new(0);
        let go_on = |_: u64, _: Option<f64>| count.fetch_add(1, Ordering::Relaxed) < 40_000;
        let time = hunt::TimeLimit::new(&go_on);
        let seen = hunt::hunt(claim, &Region::default(), 1, &time).expect("set up");
        let holds = !seen.found() && seen.margin() > Some(0.0);
        assert!(holds, "{name}: {:?} in {} trials", seen.margin(), seen.evaluations);
    }
}

#[test]
fn errors_of_unknown_names_count_claims_and_sentences() {
    let theorems = metastable::theorem::ALL.len();
    for (name, begin, count) in [
        ("cone-sped", "unknown theorem `cone-sped`; did you mean `cone-speed`?", theorems),
        ("sentence-61", "unknown sentence `sentence-61`", 61),
    ] {
        let message = sentences::claims_of(name).err().expect("unknown").to_string();
        let counted = message.contains(&format!("nearest of {count}:"));
        assert!(message.starts_with(begin) && counted, "{message}");
    }
}
