//! Whole landscapes on the circle: known counts, the library's search, thresholds, certificates and
//! forged certificates.

use crate::given::{
    GO, accepted, all, is_benign, refuses, tokens, trees, with_lines, with_threads,
};
use metastable::landscape::Exponential;
use metastable::landscape::search::{Search, SearchResult};
use metastable::num::stream::Stream;
use metastable::proofs::complete_list::{self, CompleteBy};
use metastable::proofs::landscape::{Landscape, Orbit, Tokens, complete, morse_inequalities_hold};
use metastable::theory::partitions::{cyclic_partitions, threshold};

/// Equal tokens.
fn equal(n: usize, beta: (f64, f64)) -> Tokens {
    tokens(&vec![1.0; n], beta)
}

fn at(masses: &[f64], beta: f64) -> Landscape {
    all(&tokens(masses, (beta, beta)), false)
}

#[test]
fn critical_points_are_counted() {
    // For larger beta there is one critical point for every cyclically ordered set partition into k
    // clusters, and it has k - 1 unstable directions: (k - 1)! S(n, k).
    for (n, orbits, stirling) in [
        (3, 3, &[1, 3, 2][..]),
        (4, 5, &[1, 7, 12, 6]),
        (5, 7, &[1, 15, 50, 60, 24]),
        (6, 12, &[1, 31, 180, 390, 360, 120]),
    ] {
        for beta in [1.0, 2.0, 9.0, 50.0] {
            let found = at(&vec![1.0; n], beta);
            assert!(found.complete && found.undecided == 0, "{n} {beta}: {found:?}");
            assert_eq!(found.orbits.len(), orbits, "{n} {beta}");
            assert_eq!(found.labelled.as_deref(), Some(stirling), "{n} {beta}");
        }
    }
    // Two opposite clusters of 3 and 2 tokens branch at beta = ln(3/2) / 2 = 0.2027...; of 4 and 2
    // at ln(2) / 2 = 0.3465....
    for (masses, beta, orbits) in [
        (&[1.0; 5][..], 0.19, 6),
        (&[1.0; 5], 0.22, 7),
        (&[1.0; 6], 0.34, 11),
        (&[1.0; 6], 0.35, 12),
        (&[1.0, 2.0, 3.0, 4.0], 4.0, 17),
        (&[3.0, 1.0, 1.0, 1.0, 1.0], 4.0, 13),
    ] {
        let found = at(masses, beta);
        assert!(found.complete && found.orbits.len() == orbits, "{masses:?} {beta}: {found:?}");
    }
}

#[test]
fn small_beta_is_resolved() {
    for (n, beta, counts) in
        [(4, 0.01, &[1, 7, 12, 6][..]), (4, -0.02, &[1, 4, 6, 3]), (5, 0.03, &[1, 5, 40, 60, 24])]
    {
        let found = all(&equal(n, (beta, beta)), true);
        assert!(found.complete, "{n} {beta} {found:?}");
        assert_eq!(found.labelled.as_deref(), Some(counts), "{n} {beta}");
        assert!(found.certificate.iter().any(|t| t.lines().any(|l| l.starts_with("A "))));
        accepted(found.certificate);
    }
}

#[test]
fn counts_hold_for_all_beta() {
    for (n, orbits) in [(3, 3), (4, 5)] {
        let found = all(&equal(n, (0.05, 50.0)), false);
        assert!(found.complete && found.orbits.len() == orbits, "{n}");
    }
    // The interval contains the bifurcation of 3 + 2 opposite tokens, so it cannot be complete.
    let given = tokens(&[3.0, 1.0, 1.0], (0.15, 0.3));
    let found = complete(&given, false, &|_, boxes| boxes < 50_000).expect("arithmetic");
    assert!(!found.complete && found.undecided > 0);
}

fn search(n: usize, beta: f64, starts: usize, max_starts: usize) -> SearchResult {
    let energy = Exponential { beta };
    let search = Search { energy, n, d: 2, starts, max_starts, fixed: true, seed: 1 };
    search.run().expect("a search")
}

#[test]
fn searches_find_the_proved_points() {
    for (n, beta) in [(3, 1.0), (4, 0.5), (4, 4.0), (5, 1.0), (5, 6.0)] {
        let proved = at(&vec![1.0; n], beta);
        let found = search(n, beta, 200, 800);
        assert_eq!(found.points.len(), proved.orbits.len(), "{n} {beta}");
        for point in &found.points {
            let share = point.log_energy.exp();
            let same = |o: &Orbit| {
                (o.energy_share - share).abs() < 1e-8 && o.ascents == Some(point.spectrum.unstable)
            };
            assert!(proved.orbits.iter().any(same), "{n} {beta}: {point:?}");
        }
    }
}

#[test]
fn beyond_the_constant_there_is_one_point_for_every_partition() {
    let masses: [&[f64]; 6] = [
        &[1.0; 3],
        &[1.0; 4],
        &[1.0; 5],
        &[1.0, 2.0, 3.0],
        &[1.0, 1.0, 1.0, 3.0],
        &[1.0, 2.0, 3.0, 4.0],
    ];
    for m in masses {
        let found = at(m, 1.0001 * threshold(m).expect("masses"));
        let counts: Vec<u64> = cyclic_partitions(m.len()).into_iter().map(|c| c as u64).collect();
        assert!(found.complete && found.labelled == Some(counts), "{m:?} {found:?}");
    }
}

#[test]
fn lists_are_proved_complete_and_completed() {
    for (n, beta, orbits) in [(3, 0.3, 3), (4, 1.0, 5), (5, 4.0, 7), (4, -1.0, 6)] {
        // Nothing was found: the proof adds all points.
        let mut found = SearchResult::default();
        let by = complete_list::prove(beta, n, &mut found, 5.0, GO).expect("arithmetic");
        assert!(matches!(by, Some(CompleteBy::Boxes { .. })), "{n} {beta}: {by:?}");
        assert_eq!(found.points.len(), orbits, "{n} {beta}");
        assert!(found.points.iter().all(|p| p.residual < 1e-12));
    }
    // Beyond the constant the number decides, for any n.
    let mut found = search(8, 21.0, 0, 0);
    let mut by = || {
        let by = complete_list::prove(21.0, 8, &mut found, 0.0, GO).expect("arithmetic");
        let count = found.points.len();
        // A missing point is not overlooked, and long proofs are left out.
        found.points.pop();
        (by, count)
    };
    assert_eq!([by(), by()], [(Some(CompleteBy::Theorem), 29), (None, 28)]);
    // A proof that is stopped proves nothing.
    let (mut found, stop) = (SearchResult::default(), &|_: f64, _: u64| false);
    assert_eq!(complete_list::prove(0.25, 6, &mut found, 60.0, stop).expect("arithmetic"), None);
}

#[test]
fn landscapes_are_benign_down_to_the_thresholds() {
    for n in 3..=7 {
        // Through beta = 0, where critical points form continua; and the window that is open in
        // theory.
        let ranges = [(0.1, 50.0), (-0.16, 0.1), (-0.66, -0.16)];
        for beta in &ranges[..if n <= 5 { 3 } else { 1 }] {
            assert!(is_benign(&equal(n, *beta), false).proved, "{n} {beta:?}");
        }
    }
    assert!(is_benign(&tokens(&[1.0, 2.0, 3.0, 4.0], (0.5, 8.0)), false).proved);
    // Below -2/3 the equilateral triangle is a local maximum. For n = 4 and 5 the thresholds lie
    // between the two numbers.
    for (n, benign_at, fails_at) in
        [(3, -0.66666, -0.66668), (4, -2.212, -2.213), (5, -1.4428, -1.45)]
    {
        assert!(is_benign(&equal(n, (benign_at, benign_at)), false).proved, "{n}");
        let found = is_benign(&equal(n, (fails_at, fails_at)), false);
        let (_, orbit) = found.counterexample.expect("a local maximum");
        assert_eq!((found.proved, orbit.ascents), (false, Some(0)), "{n}");
    }
}

#[test]
fn input_that_has_no_proof_is_refused() {
    for (masses, beta, why) in [
        (&[1.0, 0.0][..], (1.0, 1.0), "positive masses"),
        (&[1.0; 13], (1.0, 1.0), "from 2 to 12"),
        (&[1.0; 3], (1.0, 1e3), "beta"),
        (&[1.0; 3], (2.0, 1.0), "a <= b"),
        (&[1.0; 12], (1.0, 1.0), "would take about"),
        (&[1.0; 4], (-1.0, 1.0), "continua"),
    ] {
        let found = Tokens::new(masses, beta).and_then(|t| complete(&t, false, GO));
        let error = found.expect_err("refused").to_string();
        assert!(error.contains(why), "{why}: {error}");
    }
    // A search that is stopped says so, and proves nothing.
    let found = complete(&equal(6, (1.0, 1.0)), true, &|_, _| false).expect("arithmetic");
    assert!(found.interrupted && !found.complete && found.certificate.is_none());
}

#[test]
fn results_do_not_depend_on_threads() {
    let run = |threads| with_threads(threads, || all(&equal(5, (2.0, 2.0)), true));
    assert_eq!(run(1), run(3));
}

#[test]
fn morse_inequalities_notice_missing_points() {
    assert!(morse_inequalities_hold(&[1, 7, 12, 6]));
    assert!(!morse_inequalities_hold(&[1, 7, 12, 5]));
    assert!(!morse_inequalities_hold(&[1, 2, 2, 1]));
}

#[test]
fn certificates_are_accepted() {
    let points = [
        (&[1.0; 5][..], (4.0, 4.0)),
        (&[1.0; 6], (50.0, 50.0)),
        (&[2.0, 3.0, 4.0, 5.0], (1.0, 1.0)),
        (&[1.0; 3], (0.05, 50.0)),
    ];
    let benign = [(6, (0.1, 50.0)), (4, (-0.66, -0.16)), (4, (-2.3, -2.3))];
    let points = points.map(|(masses, beta)| all(&tokens(masses, beta), true).certificate);
    let benign = benign.map(|(n, beta)| is_benign(&equal(n, beta), true).certificate);
    for text in points.into_iter().chain(benign) {
        let statement = accepted(text);
        assert!(statement.contains("tokens on the circle"), "{statement}");
    }
}

/// Trees in which the box of a proved critical point gets a reason that says it has none.
#[test]
fn false_leaves_are_refused() {
    let mut forged = 0;
    for (n, beta) in [(3, 1.0), (3, 9.0), (4, 2.0)] {
        let found = all(&equal(n, (beta, beta)), true);
        let text = found.certificate.expect("a certificate");
        let lines: Vec<&str> = text.lines().collect();
        let trees = trees(&lines);
        for orbit in found.orbits.iter().filter(|o| o.clusters.len() > 2) {
            let k = orbit.clusters.len();
            let words = |c: &Vec<u32>| c.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            let clusters: Vec<String> = orbit.clusters.iter().map(words).collect();
            let head = format!("tree zeros {}", clusters.join(" "));
            let tree = trees.iter().find(|t| t.head == head).expect("its tree");
            let gaps: Vec<f64> = orbit.gaps.iter().map(|g| g / std::f64::consts::TAU).collect();
            let inside = |(c, g): (&(f64, f64), &f64)| c.0 + 1e-9 < *g && *g < c.1 - 1e-9;
            let mut leaves = vec!["E".to_owned(), "N".to_owned(), "X".to_owned(), "R".to_owned()];
            leaves.extend((0..k).map(|p| format!("Q {p}")));
            leaves.extend((0..k).flat_map(|a| (a..k).map(move |b| format!("F {a} {b}"))));
            leaves.extend([format!("C 0 {}", k - 2), "U 99".into(), "V 1 0 0".into()]);
            for node in tree.nodes.iter().filter(|n| n.gaps.iter().zip(&gaps).all(inside)) {
                for leaf in &leaves {
                    let answer = with_lines(&lines, node.lines.clone(), &[leaf.as_str()]);
                    assert!(answer.is_err(), "{:?} became {leaf}: {answer:?}", node.lines);
                    forged += 1;
                }
            }
        }
    }
    println!("{forged} forged certificates were refused");
    assert!(forged > 300, "{forged}");
}

#[test]
fn changed_certificates_are_refused() {
    let text = all(&equal(4, (2.0, 2.0)), true).certificate.expect("a certificate");
    let lines: Vec<&str> = text.lines().collect();
    // A line less, at any place, and every beginning of the file.
    for skipped in 0..lines.len() {
        // Without the result of Newton's method, the reasons of the children may still hold.
        let less = with_lines(&lines, skipped..skipped + 1, &[]);
        assert!(lines[skipped].starts_with('K') || less.is_err(), "without line {skipped}");
        assert!(with_lines(&lines, skipped..lines.len(), &[]).is_err(), "{skipped} lines");
    }
    refuses(
        &text,
        &[
            ("counts 5 1 7 12 6", "counts 6 1 7 12 6"),
            ("masses 1 1 1 1", "masses 1 1 1 2"),
            ("masses 1 1 1 1", "masses 1 1 1 1 1"),
            ("kind complete", "kind benign"),
            ("beta 2.0 2.0", "beta 2.0 3.0"),
            ("beta 2.0 2.0", "beta nan nan"),
        ],
    );
    // Exchanged reasons: an empty box has no other reason, and other boxes are not empty.
    let mut s = Stream::new(1, &["landscape certificates"]);
    let leaves: Vec<usize> =
        (0..lines.len()).filter(|l| ["E", "F", "Q", "Y"].contains(&&lines[*l][..1])).collect();
    for _ in 0..300 {
        let at = leaves[s.index(leaves.len())];
        let other = if lines[at] == "E" { "F 0 0" } else { "E" };
        assert!(with_lines(&lines, at..at + 1, &[other]).is_err(), "line {at}");
    }
    let benign = is_benign(&equal(4, (0.5, 4.0)), true).certificate.expect("a certificate");
    let lines: Vec<&str> = benign.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let other = match line.split(' ').next() {
            Some("V") => "V 1 1 1 1",
            Some("C") => "C 0 3",
            _ => continue,
        };
        let answer = with_lines(&lines, at..at + 1, &[other]);
        assert!(other == *line || answer.is_err(), "line {at}");
    }
}
