//! Regions of undecided boxes enclose the degenerate critical points on the circle.

use crate::given::{all, tokens, under};
use metastable::num::{deviation::largest, stats::nan_min};
use metastable::proofs::landscape::{Landscape, Region};

/// Sizes of clusters in cyclic order, and the gaps after them in turns.
type Place = (Vec<usize>, Vec<f64>);

/// The places of n tokens at quarter turns that are not all on one axis. With `phi = s^p`, p >= 2,
/// the force `f(a) = cos^p a sin a` vanishes at all multiples of a quarter turn, so they are
/// critical. `f'(pi/2) = 0`, so each axis can turn alone at second order: they are degenerate.
fn on_both_axes(n: usize) -> Vec<Place> {
    let placements = (0..4usize.pow(n as u32 - 1)).filter_map(|code| {
        // The first token is at 0.
        let quarter = |i: u32| if i == 0 { 0 } else { code / 4usize.pow(i - 1) % 4 };
        let mut sizes = [0; 4];
        (0..n as u32).for_each(|i| sizes[quarter(i)] += 1);
        let taken: Vec<usize> = (0..4).filter(|q| sizes[*q] > 0).collect();
        let gap = |x: usize| {
            let next = if x + 1 < taken.len() { taken[x + 1] } else { taken[0] + 4 };
            0.25 * (next - taken[x]) as f64
        };
        let place =
            (taken.iter().map(|q| sizes[*q]).collect(), (0..taken.len()).map(gap).collect());
        (sizes[1] + sizes[3] > 0).then_some(place)
    });
    placements.collect()
}

/// The images of a place under rotations and the reflection.
fn images((sizes, gaps): &Place) -> Vec<Place> {
    let k = sizes.len();
    let rotated = |r: usize| -> Place {
        ((0..k).map(|x| sizes[(x + r) % k]).collect(), (0..k).map(|x| gaps[(x + r) % k]).collect())
    };
    let mirrored = |r: usize| -> Place {
        // The gap after a cluster is the one before it in the other direction.
        let at = |x: usize| (r + k - x) % k;
        ((0..k).map(|x| sizes[at(x)]).collect(), (0..k).map(|x| gaps[at(x + 1)]).collect())
    };
    (0..k).flat_map(|r| [rotated(r), mirrored(r)]).collect()
}

/// The largest distance in turns of a gap of the place, or of an image of it, from the region.
fn distance(region: &Region, place: &Place) -> f64 {
    let sizes: Vec<usize> = region.clusters.iter().map(Vec::len).collect();
    let outside = |(gap, bounds): (&f64, &(f64, f64))| largest([bounds.0 - gap, gap - bounds.1]);
    let far = |gaps: &[f64]| largest(gaps.iter().zip(&region.gaps).map(outside));
    let same = images(place).into_iter().filter(|image| image.0 == sizes);
    same.map(|image| far(&image.1)).fold(f64::INFINITY, nan_min)
}

/// Regions of the same clusters have a gap whose bounds do not meet.
fn are_disjoint(regions: &[Region]) -> bool {
    let apart = |a: &Region, b: &Region| {
        a.clusters != b.clusters
            || a.gaps.iter().zip(&b.gaps).any(|(x, y)| x.1 < y.0 || y.1 < x.0)
            || a.beta.1 < b.beta.0
            || b.beta.1 < a.beta.0
    };
    regions.iter().enumerate().all(|(k, a)| regions[..k].iter().all(|b| apart(a, b)))
}

/// The parts of [`Landscape`] about regions agree.
fn check(found: &Landscape) {
    assert!(!found.complete && found.undecided > 0 && found.morse.is_none());
    assert!(are_disjoint(&found.regions), "{:?}", found.regions);
    assert_eq!(found.regions.iter().map(|r| r.boxes).sum::<u64>(), found.undecided);
    for own in &found.undecided_boxes {
        let inside = |r: &&Region| {
            let within = |(a, b): (&(f64, f64), &(f64, f64))| b.0 <= a.0 && a.1 <= b.1;
            r.clusters == own.clusters && own.gaps.iter().zip(&r.gaps).all(within)
        };
        assert_eq!(found.regions.iter().filter(inside).count(), 1, "{own:?}");
    }
}

#[test]
fn regions_of_a_cubic_interaction_are_its_degenerate_points() {
    // Up to symmetries: 2+1 and 1+1+1 for three tokens; 2+2, 3+1, 2+1+1 with the pair alone on its
    // axis or not, and the square for four.
    for (n, count) in [(3, 2), (4, 5)] {
        let (found, places) = (all(&under(n, "power:p=3"), false), on_both_axes(n));
        check(&found);
        assert_eq!(found.regions.len(), count, "{n}: {:?}", found.regions);
        for place in &places {
            let around = found.regions.iter().filter(|r| distance(r, place) == 0.0).count();
            assert_eq!(around, 1, "{n}: {place:?}");
        }
        for region in &found.regions {
            assert!(places.iter().any(|place| distance(region, place) == 0.0), "{n}: {region:?}");
            let narrow = region.gaps.iter().all(|g| g.1 - g.0 < 1e-3);
            assert!(narrow, "{n}: {region:?}");
            // The force of two clusters changes its sign at a right angle.
            assert_eq!(region.has_point, region.clusters.len() == 2, "{n}: {region:?}");
        }
    }
}

#[test]
fn regions_of_a_quadratic_interaction_enclose_its_degenerate_points() {
    let (found, places) = (all(&under(3, "power:p=2"), false), on_both_axes(3));
    check(&found);
    for place in &places {
        assert!(found.regions.iter().any(|r| distance(r, place) == 0.0), "{place:?}");
    }
    for region in &found.regions {
        // Places close to a degenerate point are nearly critical, so a region may have none.
        assert!(places.iter().any(|place| distance(region, place) < 1e-3), "{region:?}");
        // The force of two clusters has a double zero: it keeps its sign.
        assert!(!region.has_point, "{region:?}");
    }
}

#[test]
fn a_pitchfork_lies_in_a_region_and_a_nondegenerate_landscape_has_none() {
    // Two opposite clusters of 2 tokens and 1 branch where 1 = 2 e^{-2 |beta|}: the pair opens.
    let beta = -0.5 * 2f64.ln();
    let found = all(&tokens(&[1.0; 3], (beta, beta)), false);
    check(&found);
    let opposite = (vec![1, 1, 1], vec![0.0, 0.5, 0.5]);
    assert!(found.regions.iter().all(|r| distance(r, &opposite) == 0.0), "{:?}", found.regions);
    // Far from the pitchfork, and where all points are nondegenerate.
    for (n, beta) in [(3, -0.3), (3, -0.4), (4, 1.0)] {
        let found = all(&tokens(&vec![1.0; n], (beta, beta)), false);
        assert!(found.complete && found.regions.is_empty() && found.undecided == 0, "{n} {beta}");
    }
}
