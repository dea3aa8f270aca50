//! The checker of modes on S^2 from the wrong side: every bound against its derivation, halved bounds refused.

use super::*;

#[test]
fn cells_beyond_the_attraction_of_all_samples_hold_no_mode() {
    for beta in [0.1, 1.0, 40.0, 1e6] {
        // 1 - cos t of the chord, without a difference.
        let drop = 0.5 * attraction(beta) * attraction(beta);
        let (cosine, square) = (1.0 - drop, drop * (2.0 - drop));
        assert!(beta * square >= 2.0 * cosine && beta * square <= 2.0 * cosine * (1.0 + 1e-7) + 1e-7 * beta);
    }
    // Forty samples on a ring of 0.97 of that radius have their one mode in the middle, as far from all of them as a mode can be.
    let beta = 40.0;
    let angle = 2.0 * (0.5 * 0.97 * attraction(beta)).asin();
    let ring = (0..40).flat_map(|k| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / 40.0).sin_cos();
        [angle.sin() * cos, angle.sin() * sin, angle.cos()]
    });
    let found = Tokens::normalised(3, ring.collect()).and_then(|x| sphere(&x, beta)).expect("valid");
    assert!(found.proved() == Ok(1) && chord2(&found.located()[0], &[0.0, 0.0, 1.0]) < 1e-20, "{found:?}");
}

fn cover(few: &Sources, beta: f64) -> Cover<'_> {
    Cover { few, beta, range: 30.0, depth: 0, attraction: attraction(beta) }
}

#[test]
fn samples_left_out_are_out_of_range_of_every_centre() {
    let x = Tokens::new(3, vec![1.0, 0.0, 0.0, 0.0, 0.6, 0.8]).expect("tokens");
    let few = Sources::new(&x, 50.0);
    let cover = cover(&few, 50.0);
    // A centre two radii from the middle of the cell, a sample at the reach: its exponent is 30.
    let left = cover.reach(0.01) - 0.02;
    assert!(0.5 * 50.0 * left * left >= 30.0);
    // Centres farther away than that, by less than a factor of two, get no bound.
    let cell = Cell::new(4, (0, 0), 1);
    let Chart { centre: home, axes } = cell.chart();
    let near = Near { columns: Columns::default(), all: false, home, stray: 0.02, farthest: 0.1 };
    // What is left out may weigh as much as all points that replace samples: eleven times their mass and more.
    let missing = Missing { far: 11.2 * few.total, range: 30.0, farthest: 0.1, lost: few.lost };
    let found = cover.patch(cell.chart(), &near, 0.01).lacks;
    let least = Patch::new(&near.columns, 50.0, cell.chart(), &missing, 0.01).lacks;
    assert!(found.0 >= least.0 && found.1 >= least.1, "{found:?} {least:?}");
    let lacks = |by: f64| {
        let mut c: [f64; 3] = std::array::from_fn(|k| home[k] + by * axes[0][k]);
        crate::sphere::geometry::retract(&mut c);
        cover.patch(Chart { centre: c, axes }, &near, 0.01).lacks.0
    };
    assert!(lacks(0.019).is_finite() && !lacks(0.03).is_finite());
}

#[test]
fn twins_are_one_mode_only_where_a_proof_says_so() {
    let at = |angle: f64| [angle.sin(), 0.0, angle.cos()];
    let count = |apart: f64, radius: f64, alone: f64| {
        let modes = [at(0.5 + apart), at(0.5)].map(|at| Mode { at, radius, alone });
        let mut undecided = Vec::new();
        (distinct(&modes, &mut undecided).len(), undecided.len())
    };
    // Discs that meet: one mode if one disc lies within the other's solitude, 0.015 + 0.01; otherwise nothing is known.
    assert_eq!((count(0.015, 0.01, 0.026), count(0.015, 0.01, 0.024), count(0.015, 0.01, 0.013)), ((1, 0), (1, 1), (1, 1)));
    // Discs that do not meet hold two modes.
    assert_eq!((count(0.021, 0.01, 0.02), count(0.019, 0.01, 0.02)), ((2, 0), (1, 1)));
}

/// Points lie in the new square of a chart turned by the way to its centre.
#[test]
fn squares_of_new_charts_cover_the_old_ones() {
    let cell = Cell::new(0, (0, 3), 16);
    let chart = cell.chart();
    let half = cell.half_side();
    for (middle, h) in [([0.75 * half, -0.75 * half], 0.25 * half), ([-0.5 * half, 0.9 * half], 0.1 * half), ([0.0, 0.0], half)] {
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
