//! Certificates that the checker must reject: for every condition, a statement that fails this
//! condition alone, by about a factor of two. The formulas in the conditions are tested in
//! `formulas.rs`.

use super::check::{KrawczykTest, between_clusters, box_rows, is_contraction, point};
use super::pairs::Pairs;
use super::{Certificate, check, check_size};
use crate::dense_intervals::{IntervalMatrix, signature};
use crate::num::{dd::Dd, interval::Interval, stats::nan_max};

/// A certificate with these points.
fn certificate(
    beta: f64,
    sizes: &[usize],
    points: Vec<f64>,
    radius: f64,
    rotations: &[(usize, usize)],
    counts: (usize, usize),
) -> Certificate {
    let d = points.len() / sizes.len();
    Certificate {
        beta,
        formula: None,
        d,
        sizes: sizes.to_vec(),
        points,
        radius,
        rotations: rotations.to_vec(),
        unstable: counts.0,
        morse_index: counts.1,
    }
}

fn pairs_of(c: &Certificate) -> Pairs {
    Pairs::new(c).expect("weights")
}

fn krawczyk_ratios(c: &Certificate, pairs: &Pairs, mu_half_width: f64) -> Vec<f64> {
    KrawczykTest::new(c, pairs).expect("regular").ratios(c.radius, mu_half_width)
}

fn mu_half_width(c: &Certificate, pairs: &Pairs) -> f64 {
    KrawczykTest::new(c, pairs).expect("regular").mu_half_width(c.radius)
}

fn polygon(m: usize, d: usize) -> Vec<f64> {
    let mut x = vec![0.0; m * d];
    for (q, row) in x.chunks_exact_mut(d).enumerate() {
        (row[1], row[0]) = (std::f64::consts::TAU * q as f64 / m as f64).sin_cos();
    }
    x
}

/// The regular triangle on the circle: two unstable directions for beta > -2/3, none below.
fn triangle(beta: f64, radius: f64) -> Certificate {
    certificate(
        beta,
        &[1, 1, 1],
        polygon(3, 2),
        radius,
        &[(1, 0)],
        if beta > -2.0 / 3.0 { (2, 0) } else { (0, 2) },
    )
}

/// Two and a hundred tokens at opposite points. The pair splits where `100 e^{-2 beta} > 2`.
fn pair(beta: f64, radius: f64) -> Certificate {
    certificate(
        beta,
        &[2, 100],
        polygon(2, 2),
        radius,
        &[(1, 0)],
        if beta < 0.5 * 50f64.ln() { (2, 99) } else { (1, 100) },
    )
}

/// "accepted", or the reason for rejection.
fn answer(c: &Certificate) -> String {
    check(c).map_or_else(|e| e.to_string(), |()| "accepted".into())
}

fn rejected(c: &Certificate, why: &str) {
    assert!(answer(c).contains(why), "{}, not {why}", answer(c));
}

fn accepted(c: &Certificate) {
    assert_eq!(answer(c), "accepted");
}

const NEWTON: &str = "Newton's map does not send the box into itself";
const BETWEEN: &str = "between clusters has no certain sign";
const WITHIN: &str = "within a cluster has no certain sign";

#[test]
fn a_zero_outside_the_box_by_a_tenth_is_rejected() {
    // One corner of the triangle moved by t along the circle: the critical point on the slice of
    // the moved centre is the triangle turned by t / 3, and the corner is 2 t / 3 from it. Moved
    // outwards by t: the sphere is t away.
    let radius = 1e-9;
    for (coordinate, distance) in [(1, 2.0 / 3.0), (0, 1.0)] {
        for (share, within) in [(0.9, true), (1.1, false), (-1.1, false)] {
            let mut c = triangle(8.0, radius);
            c.points[coordinate] += share * radius / distance;
            if within { accepted(&c) } else { rejected(&c, NEWTON) }
        }
    }
}

#[test]
fn a_box_on_which_newtons_map_does_not_contract_is_rejected() {
    // Three isosceles critical points meet the triangle at beta = -2/3. The signs are certain on
    // both boxes.
    for (radius, low, high) in [(5.6e-4, 0.75, 0.8), (1.1e-3, 1.45, 1.6)] {
        let c = triangle(-0.6, radius);
        let worst = krawczyk_ratios(&c, &pairs_of(&c), mu_half_width(&c, &pairs_of(&c)))
            .into_iter()
            .fold(0.0, nan_max);
        assert!(low < worst && worst < high, "{worst}");
        assert!(
            signature(&between_clusters(&c, &pairs_of(&c), &box_rows(&c, radius), &[0.0; 3]))
                .is_some()
        );
        if worst < 1.0 { accepted(&c) } else { rejected(&c, NEWTON) }
    }
}

#[test]
fn the_multipliers_of_rotations_need_their_half_width() {
    let c = triangle(-0.6, 1e-4);
    let of = |mu_half_width: f64| krawczyk_ratios(&c, &pairs_of(&c), mu_half_width);
    // The image is 1.3e-6 wide in mu: half of that is too narrow a box, while y contracts.
    let needed = of(mu_half_width(&c, &pairs_of(&c)))[6] * mu_half_width(&c, &pairs_of(&c));
    let (wide, narrow) = (of(2.0 * needed), of(0.5 * needed));
    assert!(is_contraction(&wide), "{wide:?}");
    assert!(
        narrow[6] > 1.5 && is_contraction(&narrow[..6]) && !is_contraction(&narrow),
        "{narrow:?}"
    );
    assert!(!is_contraction(&[0.5, f64::NAN]) && !is_contraction(&[0.5, 1.0]));
    assert!((needed / 1.3e-6 - 1.0).abs() < 0.2, "{needed}");
    // Mu within 0.01 of 0 varies the derivative in y by as much, and the inverse multiplies that by
    // 27, nearly 2 / (beta + 2/3).
    let worst = |ratios: &[f64]| ratios[..6].iter().copied().fold(0.0, nan_max);
    let more = worst(&of(0.01)) - worst(&of(0.0001));
    assert!((more / 0.268 - 1.0).abs() < 0.2, "{more}");
}

#[test]
fn signs_that_the_box_does_not_decide_are_rejected() {
    // The image of Newton's map takes 0.39 of these boxes.
    accepted(&triangle(8.0, 4.5e-4));
    rejected(&triangle(8.0, 5.7e-4), BETWEEN);
    // The pair is 1e-3 above the inverse temperature where the curvature within the two tokens
    // vanishes.
    let beta = 0.5 * 50f64.ln() - 1e-3;
    accepted(&pair(beta, 1e-4));
    rejected(&pair(beta, 2e-4), WITHIN);
    // At the thresholds no box passes: the kernel is larger than the rotations.
    rejected(&pair(0.5 * 50f64.ln(), 1e-12), WITHIN);
    rejected(&triangle(-2.0 / 3.0, 1e-12), "");
}

#[test]
fn signs_change_at_the_thresholds_of_the_theory() {
    for side in [-0.01, 0.01] {
        for mut c in [triangle(-2.0 / 3.0 + side, 1e-12), pair(0.5 * 50f64.ln() + side, 1e-12)] {
            accepted(&c);
            let counts = (c.unstable, c.morse_index);
            for other in [
                (counts.0 + 1, counts.1),
                (counts.0, counts.1 + 1),
                (counts.0 + 1, counts.1 - counts.1.min(1)),
                (counts.1, counts.0),
            ] {
                (c.unstable, c.morse_index) = other;
                if other != counts {
                    rejected(&c, "eigenvalues, not");
                }
            }
        }
    }
}

#[test]
fn families_of_matrices_that_change_sign_are_undecided() {
    // Diagonal 1, all other entries within t of 0: regular for t < 1 / (size - 1); beyond, a matrix
    // with equal entries is singular.
    for size in [2usize, 3, 5] {
        let family = |diagonal: f64, t: f64| -> IntervalMatrix {
            (0..size)
                .map(|i| {
                    (0..size)
                        .map(|j| if i == j { point(diagonal) } else { Interval::symmetric(t) })
                        .collect()
                })
                .collect()
        };
        let limit = 1.0 / (size - 1) as f64;
        assert_eq!(
            (signature(&family(1.0, 0.99 * limit)), signature(&family(-1.0, 0.99 * limit))),
            (Some((size, 0)), Some((0, size)))
        );
        assert_eq!(
            (signature(&family(1.0, 1.01 * limit)), signature(&family(-1.0, 1.01 * limit))),
            (None, None)
        );
    }
    // The diagonal itself.
    for (low, high, wanted) in [
        (0.01, 1.0, Some((1, 0))),
        (-0.01, 1.0, None),
        (-1.0, 0.01, None),
        (-1.0, -0.01, Some((0, 1))),
    ] {
        assert_eq!(signature(&vec![vec![Interval::new(low, high)]]), wanted);
    }
    assert_eq!(signature(&vec![vec![point(0.0)]]), None);
    assert_eq!(signature(&vec![vec![point(f64::NAN)]]), None);
}

#[test]
fn rotations_must_be_complete_and_independent() {
    let square =
        |planes: &[(usize, usize)]| certificate(0.5, &[1; 4], polygon(4, 3), 1e-12, planes, (4, 1));
    accepted(&square(&[(1, 0), (2, 0), (2, 1)]));
    // One missing, one twice, none.
    for planes in [&[(1, 0), (2, 0)][..], &[(1, 0), (2, 0), (2, 0)], &[(2, 0), (2, 1)], &[]] {
        assert_ne!(answer(&square(planes)), "accepted", "{planes:?}");
    }
    // The plane across the axis of an antipodal pair moves nothing.
    let axis =
        |planes: &[(usize, usize)]| certificate(1.0, &[1, 1], polygon(2, 3), 1e-12, planes, (2, 0));
    accepted(&axis(&[(1, 0), (2, 0)]));
    assert_ne!(answer(&axis(&[(1, 0), (2, 0), (2, 1)])), "accepted");
    // Pairs that are no plane of R^3.
    for plane in [(3, 0), (1, 1), (0, 1)] {
        rejected(&square(&[(1, 0), (2, 0), plane]), "the rotation plane");
    }
    rejected(
        &axis(&[(1, 0), (2, 0), (1, 0), (2, 0), (1, 0)]),
        "5 rotations of 4 degrees of freedom",
    );
}

#[test]
fn zeros_that_are_no_critical_points_are_rejected() {
    // A cluster at the origin neither feels nor exerts a force in the equations: they vanish, and
    // the matrix of the signs is singular.
    let mut points = polygon(3, 2);
    points.extend([0.0, 0.0]);
    let c = certificate(8.0, &[1; 4], points, 1e-9, &[(1, 0)], (2, 0));
    assert!(is_contraction(&krawczyk_ratios(&c, &pairs_of(&c), mu_half_width(&c, &pairs_of(&c)))));
    rejected(&c, BETWEEN);
    // NaN and infinity.
    for bad in [f64::NAN, f64::INFINITY] {
        let mut c = triangle(8.0, 1e-12);
        c.points[3] = bad;
        assert_ne!(answer(&c), "accepted");
        let mut c = triangle(8.0, 1e-12);
        c.beta = bad;
        assert_ne!(answer(&c), "accepted");
    }
}

#[test]
fn sizes_and_ranges_are_capped() {
    let shape = "a statement about clusters on a sphere";
    let changed = |change: fn(&mut Certificate)| {
        let mut c = triangle(8.0, 1e-12);
        change(&mut c);
        c
    };
    accepted(&changed(|_| ()));
    rejected(&changed(|c| c.radius = 0.1), shape);
    rejected(&changed(|c| c.radius = 0.0999), NEWTON);
    rejected(&changed(|c| c.radius = 0.0), shape);
    rejected(&changed(|c| c.radius = f64::NAN), shape);
    rejected(&changed(|c| c.beta = 1.1e8), shape);
    rejected(&changed(|c| c.sizes[2] = 0), shape);
    rejected(&changed(|c| c.sizes[2] = (1 << 40) + 1), shape);
    rejected(&changed(|c| c.sizes.push(1)), shape);
    rejected(&changed(|c| c.points.truncate(5)), shape);
    rejected(&certificate(1.0, &[1], vec![1.0], 1e-12, &[], (0, 0)), shape);
    rejected(
        &Certificate {
            sizes: Vec::new(),
            points: Vec::new(),
            rotations: Vec::new(),
            unstable: 0,
            ..triangle(8.0, 1e-12)
        },
        shape,
    );
    // K (d + 1) <= 2000 and K <= 400.
    assert!(
        check_size(400, 4).is_ok() && check_size(400, 5).is_err() && check_size(401, 2).is_err()
    );
    assert!(
        check_size(1, 1999).is_ok()
            && check_size(1, 2000).is_err()
            && check_size(usize::MAX, usize::MAX).is_err()
    );
    rejected(
        &certificate(8.0, &vec![1; 401], polygon(401, 2), 1e-12, &[(1, 0)], (0, 0)),
        "clusters: found 401, expected at most 400",
    );
    let wide = certificate(8.0, &[1; 400], vec![0.1; 400 * 64], 1e-12, &[], (0, 0));
    rejected(
        &wide,
        "clusters times (d + 1): found 400 x 65 = 26000, expected at most 2000 unknowns",
    );
}

#[test]
fn boxes_contain_the_points_of_their_statement() {
    let c = triangle(8.0, 1e-9);
    for (row, centre) in box_rows(&c, c.radius).iter().flatten().zip(&c.points) {
        // Exactly: the sums of two doubles in twice the precision.
        for end in [Dd::from(*centre) - Dd::from(c.radius), Dd::from(*centre) + Dd::from(c.radius)]
        {
            assert!(Dd::from(row.lo()) <= end && end <= Dd::from(row.hi()));
        }
    }
}
