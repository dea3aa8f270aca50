//! Tests of the proofs on S^2: every bound against its derivation, and examples that must stay
//! undecided.

use super::*;

#[test]
fn cells_beyond_the_attraction_of_all_samples_hold_no_mode() {
    for beta in [0.1, 1.0, 40.0, 1e6] {
        // 1 - cos t of the chord, without a difference.
        let drop = 0.5 * mode_distance(beta) * mode_distance(beta);
        let (cosine, square) = (1.0 - drop, drop * (2.0 - drop));
        assert!(
            beta * square >= 2.0 * cosine
                && beta * square <= 2.0 * cosine * (1.0 + 1e-7) + 1e-7 * beta
        );
    }
    // Forty samples on a ring of 0.97 of that radius have one mode in the middle, as far from all
    // samples as a mode can be.
    let beta = 40.0;
    let angle = 2.0 * (0.5 * 0.97 * mode_distance(beta)).asin();
    let ring = (0..40).flat_map(|k| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / 40.0).sin_cos();
        [angle.sin() * cos, angle.sin() * sin, angle.cos()]
    });
    let found =
        Tokens::normalised(3, ring.collect()).and_then(|x| sphere(&x, beta)).expect("valid");
    assert!(
        found.count() == Ok(1)
            && chord2(&found.approximate_locations()[0], &[0.0, 0.0, 1.0]) < 1e-20,
        "{found:?}"
    );
}

fn search(sources: &Sources, beta: f64) -> ModeSearch<'_> {
    ModeSearch { sources, beta, range: 30.0, depth: 0, mode_distance: mode_distance(beta) }
}

#[test]
fn omitted_samples_are_out_of_range_of_every_centre() {
    let x = Tokens::new(3, vec![1.0, 0.0, 0.0, 0.0, 0.6, 0.8]).expect("tokens");
    let sources = Sources::new(&x, 50.0);
    let search = search(&sources, 50.0);
    // A centre two radii from the middle of the facet, a sample at the reach: its exponent is 30.
    let left = search.reach(0.01) - 0.02;
    assert!(0.5 * 50.0 * left * left >= 30.0);
    // Centres that are farther away, by less than a factor of two, get no bound.
    let facet = Facet::new(4, (0, 0), 1);
    let Chart { centre: origin, axes } = facet.chart();
    let near = Neighbours {
        columns: Columns::default(),
        all: false,
        origin,
        max_offset: 0.02,
        farthest: 0.1,
    };
    // The omitted mass may be that of all points that replace samples: over eleven times the mass
    // of the samples.
    let omitted = Omitted {
        mass: 11.2 * sources.total,
        range: 30.0,
        farthest: 0.1,
        replacement_error: sources.replacement_error,
    };
    let found = search.expansion(facet.chart(), &near, 0.01).remainder;
    let least = Expansion::new(&near.columns, 50.0, facet.chart(), &omitted, 0.01).remainder;
    assert!(found.0 >= least.0 && found.1 >= least.1, "{found:?} {least:?}");
    let remainder = |by: f64| {
        let mut c: [f64; 3] = std::array::from_fn(|k| origin[k] + by * axes[0][k]);
        crate::sphere::geometry::retract(&mut c);
        search.expansion(Chart { centre: c, axes }, &near, 0.01).remainder.0
    };
    assert!(remainder(0.019).is_finite() && !remainder(0.03).is_finite());
}

#[test]
fn two_proofs_are_of_one_mode_only_if_an_isolation_says_so() {
    let at = |angle: f64| [angle.sin(), 0.0, angle.cos()];
    let count = |apart: f64, radius: f64, isolation: f64| {
        let modes = [at(0.5 + apart), at(0.5)].map(|at| Mode { at, radius, isolation });
        let mut undecided = Vec::new();
        (distinct(&modes, &mut undecided).len(), undecided.len())
    };
    // Discs that meet: one mode if one disc lies within the isolation of the other, 0.015 + 0.01;
    // otherwise undecided.
    assert_eq!(
        (count(0.015, 0.01, 0.026), count(0.015, 0.01, 0.024), count(0.015, 0.01, 0.013)),
        ((1, 0), (1, 1), (1, 1))
    );
    // Discs that do not meet contain two modes.
    assert_eq!((count(0.021, 0.01, 0.02), count(0.019, 0.01, 0.02)), ((2, 0), (1, 1)));
}

/// Points of a square lie in the new square about another centre.
#[test]
fn squares_of_new_charts_cover_the_old_ones() {
    let facet = Facet::new(0, (0, 3), 16);
    let chart = facet.chart();
    let half = facet.half_side();
    for (middle, h) in [
        ([0.75 * half, -0.75 * half], 0.25 * half),
        ([-0.5 * half, 0.9 * half], 0.1 * half),
        ([0.0, 0.0], half),
    ] {
        let (next, wide) = chart.about(middle, h);
        for k in 0..64 {
            let edge = [-1.0, -0.5, 0.0, 0.5, 1.0, 0.3, -0.7, 0.9];
            let x = chart.point([middle[0] + h * edge[k % 8], middle[1] + h * edge[k / 8]]);
            let place = next.axes.map(|e| (0..3).map(|i| e[i] * x[i]).sum::<f64>().abs());
            assert!(place[0] <= wide && place[1] <= wide, "{place:?} {wide}");
        }
        assert!(wide < 1.16 * h);
    }
}
