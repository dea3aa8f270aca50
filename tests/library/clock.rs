//! Step sizes: what a step may err, how steps grow and shrink, when a run fails.

use metastable::flow::Outcome;
use metastable::flow::step_control::{ERROR_FLOOR, ErrorControl, MAX_NONFINITE_STEPS, StepController, StepVerdict};

const RULE: ErrorControl = ErrorControl { rtol: 1e-6, width: Some(0.1), max_steps: 10 };

/// How a step of this displacement is judged at the edges of what it may err: a thousandth less
/// and more than `limit`.
fn edges(rule: &ErrorControl, displacement: f64, limit: f64) -> [StepVerdict; 2] {
    [0.999, 1.001].map(|share| StepController::new(1.0, 0.1, &[]).judge(rule, Some(5), 0.1, share * limit, displacement))
}

#[test]
fn a_step_may_err_by_the_tolerance_times_width_times_displacement() {
    // The unit of each of the three factors: without the kernel width the second step of every
    // pair but those of width 1 passes.
    const EDGE: [StepVerdict; 2] = [StepVerdict::Accepted, StepVerdict::Rejected];
    for width in [1.0, 0.1, 0.01] {
        for rtol in [1e-6, 1e-3] {
            for displacement in [1e-3, 1.0] {
                let rule = ErrorControl { rtol, width: Some(width), ..RULE };
                assert_eq!(edges(&rule, displacement, rtol * width * displacement), EDGE, "{rule:?} {displacement}");
            }
        }
    }
    // Displacements count up to 1, and below rounding nothing is asked.
    assert_eq!(edges(&RULE, 40.0, 1e-7), EDGE);
    assert_eq!(edges(&ErrorControl { rtol: 1e-15, ..RULE }, 1e-3, ERROR_FLOOR), EDGE);
}

#[test]
fn steps_grow_by_the_root_of_what_was_left_and_shrink_after_a_refusal() {
    let mut clock = StepController::new(1e9, 0.1, &[]);
    // A thirty-second of the error allowed: twice the step, by the safety factor less.
    assert_eq!(clock.judge(&RULE, Some(5), 0.1, 1e-9 / 32.0, 0.01), StepVerdict::Accepted);
    assert!((clock.h - 0.18).abs() < 1e-12, "{}", clock.h);
    assert_eq!(clock.judge(&RULE, Some(5), 0.18, 32e-9, 0.01), StepVerdict::Rejected);
    assert!((clock.h - 0.081).abs() < 1e-12, "{}", clock.h);
    // No longer than the one that passed after a refusal, though its error allows ten times.
    assert_eq!(clock.judge(&RULE, Some(5), 0.081, 0.0, 0.01), StepVerdict::Accepted);
    assert!((clock.h - 0.081).abs() < 1e-12, "{}", clock.h);
    assert_eq!(clock.judge(&RULE, Some(5), 0.081, 0.0, 0.01), StepVerdict::Accepted);
    assert!((clock.h - 0.81).abs() < 1e-12, "{}", clock.h);
    assert_eq!((clock.stats.steps, clock.stats.rejected), (3, 1));
}

#[test]
fn a_run_fails_where_no_step_moves_a_token_and_not_before() {
    let mut clock = StepController::new(1.0, 0.1, &[]);
    // Steps that still move a token by more than a thousand roundings are shortened, up to
    // eight times in a row.
    for k in 0..=MAX_NONFINITE_STEPS {
        let verdict = clock.judge(&RULE, Some(5), 0.1, f64::NAN, 0.01);
        assert_eq!(verdict, StepVerdict::NonFinite);
        assert_eq!(clock.failure(verdict, 0.1, 1.0).is_some(), k == MAX_NONFINITE_STEPS, "{k}");
    }
    clock.reset_nonfinite_steps();
    assert!(clock.failure(StepVerdict::NonFinite, 1.001e3 * ERROR_FLOOR, 1.0).is_none());
    assert!(matches!(clock.failure(StepVerdict::NonFinite, 0.999e3 * ERROR_FLOOR, 1.0), Some(Outcome::NonFinite { .. })));
    for (share, fails) in [(1.001, false), (0.999, true)] {
        clock.h = share * 1e-3 * ERROR_FLOOR;
        assert_eq!(matches!(clock.failure(StepVerdict::Rejected, 0.1, 1.0), Some(Outcome::StepTooSmall { .. })), fails, "{share}");
    }
}

#[test]
fn a_rest_of_a_step_joins_the_last_one() {
    for (rest, joins) in [(0.99e-6, true), (1.01e-6, false)] {
        let h = StepController::new(1.0 + rest, 1.0, &[]).next_step();
        assert_eq!(h > 1.0, joins, "{rest}");
    }
    // No step crosses a jump of the weights, and the time is that of the jump.
    let mut clock = StepController::new(10.0, 4.0, &[3.0, 7.0]);
    assert!((clock.next_step() - 3.0).abs() < 1e-15);
    assert!(clock.advance(3.0, true) && clock.now().to_bits() == 3f64.to_bits() && clock.next_jump().to_bits() == 7f64.to_bits());
}
