//! When a state counts as at rest: every condition from its wrong side, a state that all others let pass.

use metastable::attention::kernel::{Attention, Workspace};
use metastable::attention::normalisation::Pre;
use metastable::attention::{Dynamics, Input, OutputForm, Properties, Sublayer};
use metastable::flow::Residual;
use metastable::flow::steady_state::{MAX_QUIET_DISPLACEMENT, SteadyStateDetector};
use metastable::sphere::Tokens;

/// `x' = P (-D x)` with D = diag(0, 1, slow, 1, 1, ...): at the first axis modes decay at the
/// rates 1 and `slow`.
struct Valley {
    slow: f64,
    width: f64,
    facts: Properties,
}

impl Sublayer for Valley {
    fn evaluate(&self, input: &Input, form: OutputForm, _: &mut Workspace, out: &mut [f64]) {
        for (x, v) in input.tokens.rows().zip(out.chunks_exact_mut(input.tokens.d())) {
            v.iter_mut().zip(x).enumerate().for_each(|(k, (v, x))| *v = -x * [0.0, 1.0, self.slow, 1.0][k.min(3)]);
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

fn valley(slow: f64, width: f64) -> Dynamics {
    Dynamics::single(Valley { slow, width, facts: FACTS })
}

fn pole(n: usize, d: usize) -> Tokens {
    Tokens::new(d, (0..n * d).map(|k| if k % d == 0 { 1.0 } else { 0.0 }).collect()).expect("unit rows")
}

/// What is said of one token at the pole of S^2 whose velocity is taken to be `speed`.
fn seen(dynamics: &Dynamics, speed: f64, rtol: f64) -> Option<Residual> {
    SteadyStateDetector::default().examine(dynamics, &pole(1, 3), &[0.0, speed, 0.0], rtol)
}

#[test]
fn a_state_at_rest_is_found_with_its_numbers() {
    let found = seen(&valley(0.5, 1.0), 1e-15, 1e-10).unwrap();
    assert!((found.decay_rate - 0.5).abs() < 1e-6 && (found.speed - 1e-15).abs() < 1e-25, "{found:?}");
    assert!((found.remaining_distance / 2e-15 - 1.0).abs() < 1e-5, "{found:?}");
}

#[test]
fn a_velocity_beyond_the_rounding_of_positions_is_motion() {
    // Condition 2 alone: 256 roundings of the largest rate, which is 1. What is left, below
    // 1e-12, passes condition 4. With the factor 4e6 times as large both of each pair are at
    // rest.
    let one = valley(1.0, 1.0);
    for (roundings, rests) in [(250.0, true), (262.0, false), (1000.0, false)] {
        assert_eq!(seen(&one, roundings * f64::EPSILON, 1e-10).is_some(), rests, "{roundings}");
    }
    // It is the rate that counts: rates of 1e-4 let velocities of 1e-4 of the size pass.
    struct Slowed(Valley);
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
    let slowed = Dynamics::single(Slowed(Valley { slow: 1.0, width: 1.0, facts: FACTS }));
    assert!(seen(&slowed, 250e-4 * f64::EPSILON, 1e-10).is_some());
    assert!(seen(&slowed, 262e-4 * f64::EPSILON, 1e-10).is_none());
}

#[test]
fn modes_that_are_not_resolved_or_grow_are_not_at_rest() {
    // Condition 3 alone: velocities of 1e-20 pass the others.
    for (slow, rests) in [(1.1e-6, true), (0.9e-6, false), (0.0, false), (-1e-3, false), (-2.0, false)] {
        assert_eq!(seen(&valley(slow, 1.0), 1e-20, 1e-10).is_some(), rests, "{slow:e}");
    }
}

#[test]
fn what_is_left_is_below_the_tolerance_in_kernel_widths() {
    // Condition 4 alone: 1e-14 at the rate 1e-3 leaves 1e-11; the velocity is below 256
    // roundings of 1.
    for (width, rtol, rests) in [(1.0, 1.1e-11, true), (1.0, 0.9e-11, false), (0.1, 1.1e-10, true), (0.1, 0.9e-10, false)] {
        assert_eq!(seen(&valley(1e-3, width), 1e-14, rtol).is_some(), rests, "width {width}, rtol {rtol:e}");
    }
    // Never less than 1e-12, which rounding leaves: 9e-13 passes any tolerance and 1.1e-12
    // none.
    assert!(seen(&valley(1e-2, 1.0), 0.9e-14, 1e-15).is_some() && seen(&valley(1e-2, 1.0), 1.1e-14, 1e-15).is_none());
}

#[test]
fn rotations_of_all_tokens_count_only_where_nothing_is_known_of_them() {
    // Tokens of SA in one place turn together at no cost: at rest, as SA commutes with
    // rotations.
    let sa = Dynamics::single(Attention::new(1.0));
    let (x, still) = (pole(3, 3), [0.0; 9]);
    assert!(SteadyStateDetector::default().examine(&sa, &x, &still, 1e-10).is_some_and(|r| (r.decay_rate - 1.0).abs() < 1e-5));
    // The same numbers without the fact: two modes that do not decay.
    struct Unsaid(Attention);
    impl Sublayer for Unsaid {
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
    let unsaid = Dynamics::single(Unsaid(Attention::new(1.0)));
    assert!(SteadyStateDetector::default().examine(&unsaid, &x, &still, 1e-10).is_none());
}

#[test]
fn what_cannot_be_linearised_is_not_examined() {
    let still = vec![0.0; 3 * 301];
    let timed = Properties { autonomous: false, ..FACTS };
    assert!(seen(&Dynamics::single(Valley { slow: 1.0, width: 1.0, facts: timed }), 0.0, 1e-10).is_none(), "weights change");
    let polar = pole(1, 3).polar(&[1.0]).unwrap();
    let pre = valley(1.0, 1.0).with_normalisation(Pre);
    assert!(SteadyStateDetector::default().examine(&pre, &polar, &still[..3], 1e-10).is_none(), "radii");
    // 600 coordinates are the most.
    let examined = |n: usize| SteadyStateDetector::default().examine(&valley(1.0, 1.0), &pole(n, 3), &still[..3 * n], 1e-10).is_some();
    assert!(examined(3) && !examined(301));
}

#[test]
fn steps_are_quiet_in_a_row_that_does_not_grow() {
    let row = |h: f64, moved: f64, steps: u32| {
        let mut rest = SteadyStateDetector::default();
        (0..steps).map(|_| rest.needs_examination(h, 1e9, moved)).collect::<Vec<_>>()
    };
    // Condition 1: the sixteenth quiet step is due; longer ones never.
    assert_eq!(row(1.0, MAX_QUIET_DISPLACEMENT, 16), [vec![false; 15], vec![true]].concat());
    assert_eq!(row(1.0, 1.001 * MAX_QUIET_DISPLACEMENT, 40), vec![false; 40]);
    // Growing beyond a hundred times the first begins anew.
    for (last, due) in [(100.0, true), (101.0, false)] {
        let mut rest = SteadyStateDetector::default();
        assert!((0..15).all(|_| !rest.needs_examination(1.0, 1e9, 0.0)));
        assert_eq!(rest.needs_examination(last, 1e9, 0.0), due, "{last}");
    }
    // The end time is nearer than a hundred steps.
    for (remaining, due) in [(101.0, true), (99.0, false)] {
        let mut rest = SteadyStateDetector::default();
        assert!((0..15).all(|_| !rest.needs_examination(1.0, 1e9, 0.0)));
        assert_eq!(rest.needs_examination(1.0, remaining, 0.0), due, "{remaining}");
    }
    // An examination in vain doubles the patience.
    let mut rest = SteadyStateDetector::default();
    assert!(rest.examine(&valley(-1.0, 1.0), &pole(1, 3), &[0.0; 3], 1e-10).is_none());
    assert!((0..31).all(|_| !rest.needs_examination(1.0, 1e9, 0.0)) && rest.needs_examination(1.0, 1e9, 0.0));
}
