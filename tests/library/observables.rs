//! Observables on single states against their formulas.

use metastable::Result;
use metastable::attention::Dynamics;
use metastable::attention::kernel::{Attention, Workspace};
use metastable::flow::observable::{Frame, RunParameters, find};
use metastable::num::{
    stats::{nan_max, nan_min},
    stream::Stream,
};
use metastable::sphere::{Tokens, law::Law};
use std::cell::RefCell;

/// The columns of an observable for the remaining tokens of a run of SA at beta = 4 that began with
/// n tokens.
fn measured(name: &str, tokens: &Tokens, n: usize) -> Vec<f64> {
    let (dynamics, setting) =
        (Dynamics::single(Attention::new(4.0)), RunParameters { n, d: tokens.d(), beta: 4.0 });
    let (labels, work) = (vec![0; n], RefCell::new(Workspace::default()));
    let frame = Frame {
        t: 0.0,
        tokens,
        labels: &labels,
        dynamics: &dynamics,
        work: &work,
        merge_radius: 0.0,
    };
    let (observable, mut row) = (find(name).expect("registered"), Vec::new());
    (observable.measure)(&setting, &frame, &mut row);
    assert_eq!(row.len(), (observable.columns)(&setting).len());
    row
}

/// Two tokens at an angle a: R = cos(a/2), 1 - R = 2 sin^2(a/4), down to angles whose cosine is 1.
#[test]
fn two_tokens_have_the_cosine_of_half_their_angle() -> Result<()> {
    for angle in [3.0, 1.0, 1e-3, 1e-9, 1e-14] {
        let row = measured("order-parameter", &Tokens::from_angles(&[0.0, angle])?, 2);
        let (length, log) = (row[0], row[1]);
        assert!((length - (angle / 2.0).cos()).abs() <= 4.0 * f64::EPSILON, "R at {angle}");
        let exact = (2.0 * (angle / 4.0).sin().powi(2)).ln();
        // The cosine of a small angle is stored as 1: only its sine remains, to a rounding error.
        assert!(
            (log - exact).abs() <= 16.0 * f64::EPSILON * exact.abs().max(1.0),
            "log (1 - R) at {angle}: {log}, {exact}"
        );
    }
    assert!(
        (measured("order-parameter", &Tokens::from_angles(&[0.3])?, 1)[0] - 1.0).abs()
            <= 2.0 * f64::EPSILON
    );
    Ok(())
}

#[test]
fn the_inner_range_is_exact_for_all_sizes() {
    for (n, d) in [(1, 3), (2, 2), (37, 3), (40, 16), (41, 17), (700, 3)] {
        let x = Law::parse("uniform")
            .and_then(|l| l.sample(n, d, &mut Stream::new(n as u64, &["range"])))
            .expect("tokens");
        let pairs = || (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| x.inner(i, j));
        let row = measured("inner-range", &x, n);
        let (low, high) = (row[0], row[1]);
        assert_eq!(low.to_bits(), pairs().fold(1.0, nan_min).to_bits(), "n = {n}, d = {d}");
        assert_eq!(
            high.to_bits(),
            pairs().fold(if n == 1 { 1.0 } else { -1.0 }, nan_max).to_bits(),
            "n = {n}, d = {d}"
        );
    }
}

#[test]
fn the_share_of_leaders_counts_initial_tokens() {
    let near = |found: [f64; 2], expected: [f64; 2]| {
        found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-12)
    };
    let leaders = |angles: &[f64], n: usize| -> [f64; 2] {
        let row = measured("attention-entropy", &Tokens::from_angles(angles).expect("tokens"), n);
        [row[4], row[5]]
    };
    // Every token leads itself.
    assert!(near(leaders(&[0.0, 1.0, 2.0, 4.0], 4), [4.0, 1.0]));
    // Two and one remaining of four tokens: all remaining tokens lead.
    assert!(near(leaders(&[0.0, 2.0], 4), [2.0, 0.5]));
    assert!(near(leaders(&[0.0], 4), [1.0, 0.25]));
}
