//! The detection of steady states: each condition is violated alone, by a state that meets all the
//! others.

use metastable::attention::kernel::{Attention, Workspace};
use metastable::attention::normalisation::Pre;
use metastable::attention::{Dynamics, Input, OutputForm, Properties, Sublayer};
use metastable::flow::Residual;
use metastable::flow::steady_state::{MAX_QUIET_DISPLACEMENT, SteadyStateDetector};
use metastable::sphere::Tokens;

/// `x' = P (-D x)` with D = diag(0, 1, slow, 1, 1, ...). At the first axis, modes decay at the
/// rates 1 and `slow`.
struct DiagonalDrift {
    slow: f64,
    width: f64,
    facts: Properties,
}

impl Sublayer for DiagonalDrift {
    fn evaluate(&self, input: &Input, form: OutputForm, _: &mut Workspace, out: &mut [f64]) {
        for (x, v) in input.tokens.rows().zip(out.chunks_exact_mut(input.tokens.d())) {
            v.iter_mut()
                .zip(x)
                .enumerate()
                .for_each(|(k, (v, x))| *v = -x * [0.0, 1.0, self.slow, 1.0][k.min(3)]);
        }
        form.of_sums(input.tokens, out);
    }

    fn properties(&self) -> Properties {
        self.facts
    }

    fn length_scale(&self) -> f64 {
        self.width
    }
}

const FACTS: Properties = Properties {
    common_field: true,
    rotation_equivariant: false,
    permutation_equivariant: true,
    causal: false,
    odd: true,
    autonomous: true,
    energy_sign: 0,
    cone_invariant: false,
    speed_bound: None,
};

fn diagonal_drift(slow: f64, width: f64) -> Dynamics {
    Dynamics::single(DiagonalDrift { slow, width, facts: FACTS })
}

fn pole(n: usize, d: usize) -> Tokens {
    Tokens::new(d, (0..n * d).map(|k| if k % d == 0 { 1.0 } else { 0.0 }).collect())
        .expect("unit rows")
}

/// The detector's answer for one token at the pole of S^2 with the velocity `speed`.
fn examined_at_pole(dynamics: &Dynamics, speed: f64, rtol: f64) -> Option<Residual> {
    SteadyStateDetector::default().examine(dynamics, &pole(1, 3), &[0.0, speed, 0.0], rtol)
}

#[test]
fn a_steady_state_is_detected_with_its_decay_rate_and_distance() {
    let found = examined_at_pole(&diagonal_drift(0.5, 1.0), 1e-15, 1e-10).unwrap();
    assert!(
        (found.decay_rate - 0.5).abs() < 1e-6 && (found.speed - 1e-15).abs() < 1e-25,
        "{found:?}"
    );
    assert!((found.remaining_distance / 2e-15 - 1.0).abs() < 1e-5, "{found:?}");
}

#[test]
fn a_velocity_above_the_rounding_of_positions_is_motion() {
    // Condition 2 alone: the bound is 256 rounding units times the largest rate, which is 1. The
    // remaining distance, below 1e-12, meets condition 4. With a bound 4e6 times as large, all
    // three would be steady.
    let one = diagonal_drift(1.0, 1.0);
    for (roundings, steady) in [(250.0, true), (262.0, false), (1000.0, false)] {
        assert_eq!(
            examined_at_pole(&one, roundings * f64::EPSILON, 1e-10).is_some(),
            steady,
            "{roundings}"
        );
    }
    // The bound is proportional to the rate: at rates of 1e-4, velocities must be 1e-4 times as
    // large.
    struct Slowed(DiagonalDrift);
    impl Sublayer for Slowed {
        fn evaluate(&self, input: &Input, form: OutputForm, work: &mut Workspace, out: &mut [f64]) {
            self.0.evaluate(input, form, work, out);
            out.iter_mut().for_each(|v| *v *= 1e-4);
        }
        fn properties(&self) -> Properties {
            self.0.facts
        }
        fn length_scale(&self) -> f64 {
            1.0
        }
    }
    let slowed = Dynamics::single(Slowed(DiagonalDrift { slow: 1.0, width: 1.0, facts: FACTS }));
    assert!(examined_at_pole(&slowed, 250e-4 * f64::EPSILON, 1e-10).is_some());
    assert!(examined_at_pole(&slowed, 262e-4 * f64::EPSILON, 1e-10).is_none());
}

#[test]
fn unresolved_or_growing_modes_exclude_a_steady_state() {
    // Condition 3 alone: velocities of 1e-20 meet the others.
    for (slow, steady) in
        [(1.1e-6, true), (0.9e-6, false), (0.0, false), (-1e-3, false), (-2.0, false)]
    {
        assert_eq!(
            examined_at_pole(&diagonal_drift(slow, 1.0), 1e-20, 1e-10).is_some(),
            steady,
            "{slow:e}"
        );
    }
}

#[test]
fn the_remaining_distance_is_below_the_tolerance_in_kernel_widths() {
    // Condition 4 alone: the velocity 1e-14 at the rate 1e-3 leaves the distance 1e-11. The
    // velocity is below 256 rounding units.
    for (width, rtol, steady) in
        [(1.0, 1.1e-11, true), (1.0, 0.9e-11, false), (0.1, 1.1e-10, true), (0.1, 0.9e-10, false)]
    {
        assert_eq!(
            examined_at_pole(&diagonal_drift(1e-3, width), 1e-14, rtol).is_some(),
            steady,
            "width {width}, rtol {rtol:e}"
        );
    }
    // The bound is never below 1e-12, which is the effect of rounding: 9e-13 meets every tolerance,
    // 1.1e-12 does not meet 1e-15.
    assert!(
        examined_at_pole(&diagonal_drift(1e-2, 1.0), 0.9e-14, 1e-15).is_some()
            && examined_at_pole(&diagonal_drift(1e-2, 1.0), 1.1e-14, 1e-15).is_none()
    );
}

#[test]
fn neutral_rotations_count_only_without_declared_equivariance() {
    // Tokens of SA at one point can rotate together with velocity 0. This is a steady state, since
    // SA commutes with rotations.
    let sa = Dynamics::single(Attention::new(1.0));
    let (x, still) = (pole(3, 3), [0.0; 9]);
    assert!(
        SteadyStateDetector::default().examine(&sa, &x, &still, 1e-10).is_some_and(|r| (r
            .decay_rate
            - 1.0)
            .abs()
            < 1e-5)
    );
    // The same velocities without the declared equivariance: two modes do not decay.
    struct Undeclared(Attention);
    impl Sublayer for Undeclared {
        fn evaluate(&self, input: &Input, form: OutputForm, work: &mut Workspace, out: &mut [f64]) {
            self.0.evaluate(input, form, work, out);
        }
        fn properties(&self) -> Properties {
            FACTS
        }
        fn length_scale(&self) -> f64 {
            1.0
        }
    }
    let undeclared = Dynamics::single(Undeclared(Attention::new(1.0)));
    assert!(SteadyStateDetector::default().examine(&undeclared, &x, &still, 1e-10).is_none());
}

#[test]
fn dynamics_without_linearisation_are_not_examined() {
    let still = vec![0.0; 3 * 301];
    let time_dependent = Properties { autonomous: false, ..FACTS };
    assert!(
        examined_at_pole(
            &Dynamics::single(DiagonalDrift { slow: 1.0, width: 1.0, facts: time_dependent }),
            0.0,
            1e-10
        )
        .is_none(),
        "weights change"
    );
    let polar = pole(1, 3).polar(&[1.0]).unwrap();
    let pre = diagonal_drift(1.0, 1.0).with_normalisation(Pre);
    assert!(
        SteadyStateDetector::default().examine(&pre, &polar, &still[..3], 1e-10).is_none(),
        "radii"
    );
    // At most 600 coordinates are examined.
    let examined = |n: usize| {
        SteadyStateDetector::default()
            .examine(&diagonal_drift(1.0, 1.0), &pole(n, 3), &still[..3 * n], 1e-10)
            .is_some()
    };
    assert!(examined(3) && !examined(301));
}

#[test]
fn an_examination_needs_sixteen_quiet_steps_of_similar_length() {
    let row = |h: f64, moved: f64, steps: u32| {
        let mut detector = SteadyStateDetector::default();
        (0..steps).map(|_| detector.needs_examination(h, 1e9, moved)).collect::<Vec<_>>()
    };
    // Condition 1: the sixteenth quiet step leads to an examination; steps with a larger
    // displacement never do.
    assert_eq!(row(1.0, MAX_QUIET_DISPLACEMENT, 16), [vec![false; 15], vec![true]].concat());
    assert_eq!(row(1.0, 1.001 * MAX_QUIET_DISPLACEMENT, 40), vec![false; 40]);
    // A step more than a hundred times as long as the first starts a new count.
    for (last, due) in [(100.0, true), (101.0, false)] {
        let mut detector = SteadyStateDetector::default();
        assert!((0..15).all(|_| !detector.needs_examination(1.0, 1e9, 0.0)));
        assert_eq!(detector.needs_examination(last, 1e9, 0.0), due, "{last}");
    }
    // No examination if the end time is less than a hundred steps away.
    for (remaining, due) in [(101.0, true), (99.0, false)] {
        let mut detector = SteadyStateDetector::default();
        assert!((0..15).all(|_| !detector.needs_examination(1.0, 1e9, 0.0)));
        assert_eq!(detector.needs_examination(1.0, remaining, 0.0), due, "{remaining}");
    }
    // After an examination without success, twice as many quiet steps are needed.
    let mut detector = SteadyStateDetector::default();
    assert!(detector.examine(&diagonal_drift(-1.0, 1.0), &pole(1, 3), &[0.0; 3], 1e-10).is_none());
    assert!(
        (0..31).all(|_| !detector.needs_examination(1.0, 1e9, 0.0))
            && detector.needs_examination(1.0, 1e9, 0.0)
    );
}
