//! The sentences of the sheet: there are sixty, and each has claims or a reason.

use metastable::theorem::find;
use metastable::theorem::sentences::{ALL, Assessment, GROUP, claims_of, sentence};

#[test]
fn every_sentence_has_claims_or_a_reason() {
    assert_eq!(ALL.len(), 60);
    for (k, s) in ALL.iter().enumerate() {
        assert_eq!(s.name, format!("sentence-{}", k + 1));
        assert!(
            !s.claims.is_empty() || !s.reason.is_empty(),
            "{}: neither a claim nor a reason",
            s.name
        );
        assert!(s.assessment == Assessment::True || !s.reason.is_empty(), "{}: no reason", s.name);
        let claims: Vec<_> =
            s.claims.iter().map(|c| find(c).expect("a registered claim")).collect();
        let printed = claims.iter().any(|c| c.status.expects_violation());
        // A false sentence has a claim that states it as printed. (Sentence 57 is a misprint; its
        // rank is a theorem.)
        let exempt = claims.is_empty() || s.name == "sentence-57";
        assert!(
            s.assessment != Assessment::False || printed || exempt,
            "{}: no claim states it as printed",
            s.name
        );
    }
}

#[test]
fn names_of_sentences_select_claims() {
    let all = claims_of(GROUP).expect("registered");
    assert!(all.windows(2).all(|w| w[0].name < w[1].name));
    assert_eq!(claims_of("sentence-36").expect("registered").len(), 2);
    assert!(claims_of("sentence-4").is_err_and(|e| e.to_string().contains("exchanged")));
    assert!(claims_of("sentence-61").is_err_and(|e| e.to_string().contains("sentence-6")));
    assert!(sentence("sentence-0").is_err());
}
