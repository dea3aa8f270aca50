//! The sentences of the sheet: there are sixty, and each has claims, checks or a reason. Each check
//! holds, and notices the error that is planted in it.

use metastable::theorem::sentences::checks::{self, Check};
use metastable::theorem::sentences::{ALL, Assessment, FILE, GROUP, claims_of, parse, sentence};
use metastable::theorem::{Case, Claim, Context, Control, Effort, Finding, Method, check, find};

#[test]
fn the_file_of_sentences_is_well_formed() {
    let all = parse(FILE).expect("a list of sentences");
    assert_eq!((all.len(), ALL.len()), (60, 60));
    let refused = |text: &str| parse(text).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(refused("[[sentence]]\nname = 'x'").contains("missing field"));
    let row = "[[sentence]]\nname = 'x'\nsource = 's'\ntext = 't'\nassessment = 'true'\n";
    assert!(parse(row).is_ok() && refused(&format!("{row}claim = []")).contains("unknown field"));
}

#[test]
fn every_sentence_has_claims_checks_or_a_reason() {
    for (k, s) in ALL.iter().enumerate() {
        let name = &s.name;
        assert_eq!(*name, format!("sentence-{}", k + 1));
        let decided = s.tests().next().is_some();
        assert!(decided || !s.reason.is_empty(), "{name}: neither a claim nor a reason");
        assert!(s.assessment == Assessment::True || !s.reason.is_empty(), "{name}: no reason");
        let claims: Vec<_> =
            s.claims.iter().map(|c| find(c).expect("a registered claim")).collect();
        let known = |c: &String| checks::ALL.iter().find(|k| k.name == *c).expect("a check");
        let refuted = claims.iter().any(|c| c.status.expects_violation())
            || s.checks.iter().map(known).any(|c| c.refutes);
        // Something finds a counterexample to a false sentence. (Sentence 57 is a misprint; its
        // rank is a theorem.)
        let exempt = !decided || name == "sentence-57";
        assert!(
            s.assessment != Assessment::False || refuted || exempt,
            "{name}: nothing refutes it"
        );
    }
}

#[test]
fn every_check_decides_a_sentence() {
    for (k, check) in checks::ALL.iter().enumerate() {
        let Check { name, says, error, .. } = check;
        assert!(ALL.iter().any(|s| s.checks.iter().any(|c| c == name)), "{name}: no sentence");
        assert!(!says.is_empty() && !error.is_empty(), "{name}");
        assert!(checks::ALL[..k].iter().all(|c| c.name != *name), "{name} is there twice");
        assert!(find(name).is_err(), "{name} is the name of a claim, too");
    }
}

/// Holds at all cases without its error, and at none with it.
fn assert_decides(of: &Check, cases: &[Case]) {
    for (k, case) in cases.iter().enumerate() {
        for wrong in [false, true] {
            let names = ["sentences", of.name, &k.to_string()];
            let mut context = Context::fresh(2, &names, Method::default());
            let held = of.holds(case, &mut context, wrong).expect("finished");
            assert_eq!(held, !wrong, "{} at {case}, with its error: {wrong}", of.name);
        }
    }
}

#[test]
fn checks_hold_and_notice_their_errors() {
    let domain = &find(GROUP).expect("registered").domain;
    for check in &checks::ALL {
        assert_decides(check, &domain.ends());
        // The control plants the errors at this case.
        assert_decides(check, &[Case::new(8, 4, 1.0, ""); 8]);
    }
}

#[test]
fn a_failed_check_is_named() {
    let own = find(GROUP).expect("registered");
    let claim = Claim {
        name: "one fails",
        domain: own.domain,
        trial: |_, ctx| {
            ctx.failed_part("chord-kernel");
            Ok(Finding::answer(false))
        },
        control: Control { what: "the same", trial: own.control.trial },
        ..Claim::EXACT
    };
    let record = check(&claim, Effort::Draws(4), 1).expect("set up");
    assert!(record.reason.contains("`chord-kernel`") && !record.as_expected, "{record:?}");
}

#[test]
fn names_of_sentences_select_claims() {
    let all = claims_of(GROUP).expect("registered");
    assert!(all.windows(2).all(|w| w[0].name < w[1].name));
    let names = |of: &str| -> Vec<&str> {
        claims_of(of).expect("registered").iter().map(|c| c.name).collect()
    };
    assert_eq!(names("sentence-36"), [GROUP]);
    assert_eq!(names("sentence-28"), ["softmax-jacobian", GROUP]);
    assert!(claims_of("sentence-4").is_err_and(|e| e.to_string().contains("exchanged")));
    assert!(claims_of("sentence-61").is_err_and(|e| e.to_string().contains("sentence-6")));
    assert!(sentence("sentence-0").is_err());
}
