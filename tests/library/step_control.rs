//! The step controller: the allowed error of a step, the growth and reduction of steps, failures.

use metastable::flow::Outcome;
use metastable::flow::step_control::{
    ERROR_FLOOR, ErrorControl, MAX_NONFINITE_STEPS, StepController, StepVerdict,
};

const RULE: ErrorControl = ErrorControl { rtol: 1e-6, width: Some(0.1), max_steps: 10 };

/// The verdicts on two steps whose errors are a thousandth below and above `limit`.
fn verdicts_near(rule: &ErrorControl, displacement: f64, limit: f64) -> [StepVerdict; 2] {
    [0.999, 1.001].map(|share| {
        StepController::new(1.0, 0.1, &[]).judge(rule, Some(5), 0.1, share * limit, displacement)
    })
}

#[test]
fn the_allowed_error_of_a_step_is_rtol_times_width_times_displacement() {
    // Each of the three factors matters. Without the kernel width, for example, the second step of
    // each pair would be accepted unless the width is 1.
    const EXPECTED: [StepVerdict; 2] = [StepVerdict::Accepted, StepVerdict::Rejected];
    for width in [1.0, 0.1, 0.01] {
        for rtol in [1e-6, 1e-3] {
            for displacement in [1e-3, 1.0] {
                let rule = ErrorControl { rtol, width: Some(width), ..RULE };
                assert_eq!(
                    verdicts_near(&rule, displacement, rtol * width * displacement),
                    EXPECTED,
                    "{rule:?} {displacement}"
                );
            }
        }
    }
    // Displacements count as at most 1, and the allowed error is at least `ERROR_FLOOR`.
    assert_eq!(verdicts_near(&RULE, 40.0, 1e-7), EXPECTED);
    assert_eq!(verdicts_near(&ErrorControl { rtol: 1e-15, ..RULE }, 1e-3, ERROR_FLOOR), EXPECTED);
}

#[test]
fn steps_grow_by_the_fifth_root_of_the_error_ratio_and_shrink_after_a_rejection() {
    let mut controller = StepController::new(1e9, 0.1, &[]);
    // 1/32 of the allowed error: the step doubles, times the safety factor 0.9.
    assert_eq!(controller.judge(&RULE, Some(5), 0.1, 1e-9 / 32.0, 0.01), StepVerdict::Accepted);
    assert!((controller.h - 0.18).abs() < 1e-12, "{}", controller.h);
    assert_eq!(controller.judge(&RULE, Some(5), 0.18, 32e-9, 0.01), StepVerdict::Rejected);
    assert!((controller.h - 0.081).abs() < 1e-12, "{}", controller.h);
    // Right after a rejection the step does not grow, although its error would allow ten times the
    // length.
    assert_eq!(controller.judge(&RULE, Some(5), 0.081, 0.0, 0.01), StepVerdict::Accepted);
    assert!((controller.h - 0.081).abs() < 1e-12, "{}", controller.h);
    assert_eq!(controller.judge(&RULE, Some(5), 0.081, 0.0, 0.01), StepVerdict::Accepted);
    assert!((controller.h - 0.81).abs() < 1e-12, "{}", controller.h);
    assert_eq!((controller.stats.steps, controller.stats.rejected), (3, 1));
}

#[test]
fn a_run_fails_only_when_steps_no_longer_move_a_token() {
    let mut controller = StepController::new(1.0, 0.1, &[]);
    // A step that is not finite is shortened, at most eight times in a row, as long as it moves a
    // token by more than a thousand times `ERROR_FLOOR`.
    for k in 0..=MAX_NONFINITE_STEPS {
        let verdict = controller.judge(&RULE, Some(5), 0.1, f64::NAN, 0.01);
        assert_eq!(verdict, StepVerdict::NonFinite);
        assert_eq!(
            controller.failure(verdict, 0.1, 1.0).is_some(),
            k == MAX_NONFINITE_STEPS,
            "{k}"
        );
    }
    controller.reset_nonfinite_steps();
    assert!(controller.failure(StepVerdict::NonFinite, 1.001e3 * ERROR_FLOOR, 1.0).is_none());
    assert!(matches!(
        controller.failure(StepVerdict::NonFinite, 0.999e3 * ERROR_FLOOR, 1.0),
        Some(Outcome::NonFinite { .. })
    ));
    for (share, fails) in [(1.001, false), (0.999, true)] {
        controller.h = share * 1e-3 * ERROR_FLOOR;
        assert_eq!(
            matches!(
                controller.failure(StepVerdict::Rejected, 0.1, 1.0),
                Some(Outcome::StepTooSmall { .. })
            ),
            fails,
            "{share}"
        );
    }
}

#[test]
fn a_short_remainder_is_added_to_the_last_step() {
    for (remainder, added) in [(0.99e-6, true), (1.01e-6, false)] {
        let h = StepController::new(1.0 + remainder, 1.0, &[]).next_step();
        assert_eq!(h > 1.0, added, "{remainder}");
    }
    // No step crosses a jump of the dynamics: the step ends exactly at its time.
    let mut controller = StepController::new(10.0, 4.0, &[3.0, 7.0]);
    assert!((controller.next_step() - 3.0).abs() < 1e-15);
    assert!(
        controller.advance(3.0, true)
            && controller.now().to_bits() == 3f64.to_bits()
            && controller.next_jump().to_bits() == 7f64.to_bits()
    );
}
