//! Claims hold on what once refuted them: draws inside their hypotheses, each found by a hunt within seconds, where a tolerance was a share of what was
//! left after cancellation.

use metastable::theorem::{Case, Context, Finding, Masses, Method, Tape, attempt, find, hunt, seeds};
use serde_json::Value;

/// A claim, the margin that it had, and the case and the draws that gave it.
fn counterexamples() -> Vec<(String, f64, Case, Tape)> {
    let all: Vec<Value> = serde_json::from_str(include_str!("../data/counterexamples.json")).expect("a list");
    let read = |v: &Value| {
        let (name, case) = (v["claim"].as_str().expect("a name"), &v["case"]);
        let domain = find(name).expect("registered").domain;
        let size = |key: &str| case[key].as_u64().expect("a number") as usize;
        let known = |key: &str, among: &[&'static str]| *among.iter().find(|k| case[key] == **k).expect("of the domain");
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
fn what_refuted_a_claim_does_not_refute_it_as_it_is_stated_now() {
    let all = counterexamples();
    assert_eq!(all.len(), 9);
    for (name, before, case, tape) in all {
        let claim = find(&name).expect("registered");
        assert!(before < 0.0 && claim.domain.misses(&case).is_none(), "{name}: {case}");
        let found = attempt(claim, &case, Context::replay(tape, 1, &["shrink", claim.name], Method::default())).expect("set up");
        // A leader by too little is none of the statement any more.
        let holds = match &found.finding {
            Finding::Margin(m) => m.held(),
            other => *other == Finding::Missed,
        };
        assert!(holds, "{name}: {:?}", found.finding);
    }
}

#[test]
fn hunts_do_not_refute_identities_by_scales() {
    // The same hunts that found them, as long as it took.
    for name in ["linear-attention", "heads-average", "heads-sum", "query-key-product", "force-field", "hm-leaders", "key-bias"] {
        let claim = find(name).expect("registered");
        let count = std::sync::atomic::AtomicU64::new(0);
        let go_on = |_: u64, _: Option<f64>| count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 40_000;
        let seen = hunt::hunt(claim, &metastable::theorem::Region::default(), 1, &hunt::Timekeeper::asked(&go_on)).expect("set up");
        assert!(!seen.found() && seen.margin() > Some(0.0), "{name}: {:?} in {} trials", seen.margin(), seen.evaluations);
    }
}

#[test]
fn unknown_names_are_counted_as_the_table_counts_them() {
    let words = |name: &str| seeds::claims_of(name).err().expect("unknown").to_string();
    let theorems = metastable::theorem::ALL.len();
    let slip = words("cone-sped");
    assert!(slip.starts_with("unknown theorem `cone-sped`; did you mean `cone-speed`?"), "{slip}");
    assert!(slip.contains(&format!("nearest of {theorems}:")), "{slip}");
    let sentence = words("seed-61");
    assert!(sentence.starts_with("unknown sentence of the seeds `seed-61`") && sentence.contains("nearest of 61:"), "{sentence}");
}
