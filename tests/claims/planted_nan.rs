//! NaN is noticed: a finding with NaN neither holds nor fails, its verdict is inconclusive, and the
//! reason names the number. No claim has its expected outcome with NaN in the place of its
//! constant.

use metastable::Result;
use metastable::num::deviation::{largest, max_difference};
use metastable::num::stream::Stream;
use metastable::theorem::rounding::max_relative_deviation;
use metastable::theorem::{
    ALL, Case, Claim, Context, Control, Domain, Effort, Finding, Method, Verdict, check, run_trial,
    sentences,
};
use rayon::prelude::*;

const NAN: f64 = f64::NAN;

fn holds() -> Finding {
    Finding::nonnegative(1.0, 1.0)
}

/// A claim whose trial is replaced.
const PLANTED: Claim = Claim {
    name: "planted",
    title: "A claim with NaN",
    then: "1 >= 0",
    domain: Domain { dynamics: &["sa"], ..Domain::ATTENTION },
    source: "none",
    trials: (4, 4),
    trial: |_, _| Ok(holds()),
    control: Control { what: "-1 >= 0", trial: |_| Ok(Finding::nonnegative(-1.0, 1.0)) },
    ..Claim::INEQUALITY
};

type Trial = fn(&Case, &mut Context) -> Result<Finding>;

/// Every way to build a finding, with NaN in every place.
const TRIALS: [Trial; 20] = [
    |_, _| Ok(Finding::identity(NAN, 1.0)),
    |_, _| Ok(Finding::identity(0.0, NAN)),
    |_, _| Ok(Finding::identity(largest([NAN, 0.0]), 1.0)),
    |_, _| Ok(Finding::identity(max_difference(&[NAN, 0.0], &[NAN, 0.0]), 1.0)),
    |_, _| Ok(Finding::identity(max_relative_deviation(&[NAN], &[0.0], &[1.0]), 1.0)),
    |_, _| Ok(Finding::at_most(NAN, 1.0)),
    |_, _| Ok(Finding::at_most(0.5, NAN)),
    |_, _| Ok(Finding::at_least(NAN, 1.0)),
    |_, _| Ok(Finding::at_least(2.0, NAN)),
    |_, _| Ok(Finding::nonnegative(NAN, 1.0)),
    |_, _| Ok(Finding::nonnegative(1.0, NAN)),
    |_, _| Ok(Finding::law(NAN, 1.0, 1.0, 0.0)),
    |_, _| Ok(Finding::law(1.0, NAN, 1.0, 0.0)),
    |_, _| Ok(Finding::law(1.0, 1.0, NAN, 0.0)),
    |_, _| Ok(Finding::law(1.0, 1.0, 1.0, NAN)),
    |_, _| Ok(holds().with_evaluation_error(NAN)),
    |_, _| Ok(holds().with_sampling_error(NAN)),
    |_, _| Ok(holds().and(Finding::at_most(NAN, 1.0))),
    |_, _| Ok(Finding::at_most(NAN, 1.0).and(holds())),
    |_, _| Ok(Finding::answer(true).and(Finding::at_most(NAN, 1.0)).and(holds())),
];

#[test]
fn a_finding_with_nan_makes_the_verdict_inconclusive_and_is_named() {
    // The claim without NaN is supported.
    let whole = check(&PLANTED, Effort::Quick, 1).expect("set up");
    assert_eq!(whole.verdict, Verdict::Supported, "{}", whole.reason);
    for (k, trial) in TRIALS.into_iter().enumerate() {
        let record = check(&Claim { trial, ..PLANTED }, Effort::Quick, 1).expect("set up");
        assert_eq!((record.verdict, record.trials), (Verdict::Inconclusive, 0), "trial {k}");
        let reason = record.reason;
        let number = ["NaN", "inf"].iter().any(|number| reason.contains(number));
        assert!(number && reason.contains("a margin is not finite"), "trial {k}: {reason}");
    }
    // A control with NaN does not have its expected result.
    let control = Control { what: "NaN", trial: |_| Ok(Finding::at_most(NAN, 1.0)) };
    let record = check(&Claim { control, ..PLANTED }, Effort::Quick, 1).expect("set up");
    assert!(record.verdict == Verdict::Inconclusive && !record.control_ok);
}

/// True if a check expects this of a trial: that it holds, or that it refutes a claim that is
/// false.
fn is_expected(claim: &Claim, finding: &Finding) -> bool {
    match finding {
        Finding::Margin(m) if claim.status.expects_violation() => m.failed(),
        Finding::Margin(m) => m.held(),
        Finding::Answer(yes) => *yes != claim.status.expects_violation(),
        Finding::HypothesesMissed | Finding::Unfinished(_) => false,
    }
}

/// True if a trial that has the expected outcome loses it with NaN for the constant. Some trials do
/// not depend on the constant.
fn notices(claim: &Claim) -> bool {
    let cases = claim.domain.cases(12, &mut Stream::new(1, &["planted", claim.name]));
    cases.iter().enumerate().any(|(k, case)| {
        let draw = k.to_string();
        let fresh = || Context::fresh(1, &["planted", claim.name, &draw], Method::default());
        let whole = run_trial(claim, case, fresh()).expect("set up");
        if !whole.used.claimed_constant || !is_expected(claim, &whole.finding) {
            return false;
        }
        match run_trial(claim, case, fresh().with_constant_times(NAN)) {
            Ok(planted) => !is_expected(claim, &planted.finding),
            Err(_) => true,
        }
    })
}

#[test]
fn every_claim_notices_nan_in_the_place_of_its_constant() {
    let with_constant: Vec<&Claim> =
        ALL.iter().copied().filter(|c| !c.constant.is_empty()).collect();
    assert!(with_constant.len() > 80, "{} claims have a constant", with_constant.len());
    let silent: Vec<&str> =
        with_constant.into_par_iter().filter(|c| !notices(c)).map(|c| c.name).collect();
    assert!(silent.is_empty(), "NaN is not noticed: {silent:?}");
}

#[test]
fn a_check_of_a_sentence_with_nan_is_an_error_that_names_it() {
    let case = Case::new(4, 3, 1.0, "sa");
    let known = &sentences::checks::ALL[0];
    let planted =
        sentences::checks::Check { run: |_, _, _| Ok(Finding::at_most(NAN, 1.0)), ..*known };
    for wrong in [false, true] {
        let mut ctx = Context::fresh(1, &["planted"], Method::default());
        let message = planted.holds(&case, &mut ctx, wrong).expect_err("NaN").to_string();
        assert!(message.contains(planted.name) && message.contains("NaN"), "{message}");
    }
}
