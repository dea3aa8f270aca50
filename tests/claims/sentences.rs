//! The sentences of the sheet: there are sixty, each with its context, its assessment and what is
//! known beyond. Each check holds, and notices the error that is planted in it.

use metastable::theorem::sentences::checks::{self, Check};
use metastable::theorem::sentences::{ALL, Assessment, FILE, GROUP, claims_of, parse, sentence};
use metastable::theorem::{Case, Claim, Context, Control, Effort, Finding, Method, check, find};

#[test]
fn the_file_of_sentences_is_well_formed() {
    let all = parse(FILE).expect("a list of sentences");
    assert_eq!((all.len(), ALL.len()), (60, 60));
    let refused = |text: &str| parse(text).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(refused("[[sentence]]\nname = 'x'").contains("missing field"));
    let row = "[[sentence]]\nname = 'x'\nsource = 's'\ntext = 't'\ncontext = 'c'\n\
               as_said = 'true'\nbeyond = 'b'\n";
    assert!(parse(row).is_ok() && refused(&format!("{row}claim = []")).contains("unknown field"));
    let informal = row.replace("'true'", "'informal'");
    assert!(refused(&informal).contains("unknown variant"), "{}", refused(&informal));
    let part = "parts = [{ part = 'a', says = 's', as_said = 'false', why = 'w' }]";
    let split = parse(&format!("{row}{part}")).expect("a part");
    assert!(split[0].is_false_in_part() && split[0].as_said == Assessment::True);
    assert!(refused(&format!("{row}parts = [{{ part = 'a' }}]")).contains("missing field"));
}

#[test]
fn sentences_are_judged_where_they_stand() {
    let names = |of: Assessment| -> Vec<&str> {
        let found = ALL.iter().filter(|s| s.as_said == of);
        found.map(|s| s.name.trim_start_matches("sentence-")).collect()
    };
    let count = |of: Assessment| names(of).len();
    assert_eq!(Assessment::ALL.map(count), [19, 31, 10]);
    let false_ones = ["25", "29", "30", "33", "36", "41", "45", "52", "54", "57"];
    assert_eq!(names(Assessment::False), false_ones);
    let needs: Vec<&str> =
        ALL.iter().filter(|s| !s.needs.is_empty()).map(|s| s.name.as_str()).collect();
    let open = ["1", "10", "17", "27", "28", "46", "49"].map(|k| format!("sentence-{k}"));
    assert_eq!(needs, open);
    // A hypothesis is missing only of a sentence that something sharper is known of.
    assert!(ALL.iter().all(|s| s.needs.is_empty() || s.as_said == Assessment::Sharper));
}

#[test]
fn every_sentence_has_its_fields_and_what_decides_it() {
    for (k, s) in ALL.iter().enumerate() {
        let name = &s.name;
        assert_eq!(*name, format!("sentence-{}", k + 1));
        for text in [&s.source, &s.text, &s.context, &s.beyond] {
            assert!(!text.is_empty(), "{name}");
        }
        // Sentence 4 is a definition.
        let decided = s.tests().next().is_some();
        assert!(decided || name == "sentence-4", "{name}: neither a claim nor a check");
        for (letter, part) in ('a'..).zip(&s.parts) {
            assert_eq!(part.part, letter.to_string(), "{name}");
            assert!(!part.says.is_empty() && !part.why.is_empty(), "{name}, {letter}");
        }
        assert!(s.parts.len() != 1, "{name} has one part");
        let claims: Vec<_> =
            s.claims.iter().map(|c| find(c).expect("a registered claim")).collect();
        let known = |c: &String| checks::ALL.iter().find(|k| k.name == *c).expect("a check");
        let refuted = claims.iter().any(|c| c.status.expects_violation())
            || s.checks.iter().map(known).any(|c| c.refutes);
        // Something finds a counterexample to a false sentence. (Sentence 57 is a misprint; its
        // rank is a theorem.)
        let exempt = name == "sentence-57";
        assert!(s.as_said != Assessment::False || refuted || exempt, "{name}: nothing refutes it");
        // A check refutes nothing that is true.
        let refutes = s.checks.iter().map(known).any(|c| c.refutes);
        assert!(!refutes || s.is_false_in_part(), "{name} is true, and a check refutes it");
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
    for (of, names) in
        [("sentence-36", &[GROUP][..]), ("sentence-28", &["softmax-jacobian", GROUP])]
    {
        let found = claims_of(of).expect("registered");
        assert!(found.iter().map(|c| c.name).eq(names.iter().copied()), "{of}");
    }
    assert!(claims_of("sentence-4").is_err_and(|e| e.to_string().contains("a definition")));
    assert!(claims_of("sentence-61").is_err_and(|e| e.to_string().contains("sentence-6")));
    assert!(sentence("sentence-0").is_err());
}
