//! Whole landscapes on the circle: known counts, the library's search, thresholds, certificates and
//! forged certificates.

use metastable::landscape::Exponential;
use metastable::landscape::search::{Search, SearchResult};
use metastable::num::stream::Stream;
use metastable::proofs::complete_list::{self, CompleteBy};
use metastable::proofs::landscape::{
    Benign, Landscape, Orbit, Tokens, benign, complete, morse_inequalities_hold,
};
use metastable::theory::partitions::{cyclic_partitions, threshold};
use metastable_verifier as verifier;

fn all(masses: &[f64], beta: (f64, f64), keep: bool) -> Landscape {
    let tokens = Tokens::new(masses, beta).expect("tokens");
    complete(&tokens, keep, &|_, _| true).expect("arithmetic")
}

fn is_benign(masses: &[f64], beta: (f64, f64), keep: bool) -> Benign {
    let tokens = Tokens::new(masses, beta).expect("tokens");
    benign(&tokens, keep, &|_, _| true).expect("arithmetic")
}

#[test]
fn critical_points_are_counted() {
    // For larger beta there is one critical point for every cyclically ordered set partition into k
    // clusters, and it has k - 1 unstable directions: (k - 1)! S(n, k).
    let stirling: [&[u64]; 4] =
        [&[1, 3, 2], &[1, 7, 12, 6], &[1, 15, 50, 60, 24], &[1, 31, 180, 390, 360, 120]];
    for (n, orbits, counts) in [(3, 3, 0), (4, 5, 1), (5, 7, 2), (6, 12, 3)] {
        for beta in [1.0, 2.0, 9.0, 50.0] {
            let found = all(&vec![1.0; n], (beta, beta), false);
            assert!(found.complete && found.undecided == 0, "{n} {beta}: {found:?}");
            assert_eq!(found.orbits.len(), orbits, "{n} {beta}");
            assert_eq!(found.labelled.as_deref(), Some(stirling[counts]), "{n} {beta}");
        }
    }
    // Two opposite clusters of 3 and 2 tokens branch at beta = ln(3/2) / 2 = 0.2027...; of 4 and 2
    // at ln(2) / 2 = 0.3465....
    for (n, beta, orbits) in [(5, 0.19, 6), (5, 0.22, 7), (6, 0.34, 11), (6, 0.35, 12)] {
        let found = all(&vec![1.0; n], (beta, beta), false);
        assert!(found.complete, "{n} {beta}");
        assert_eq!(found.orbits.len(), orbits, "{n} {beta}");
    }
    for (masses, orbits) in [(&[1.0, 2.0, 3.0, 4.0][..], 17), (&[3.0, 1.0, 1.0, 1.0, 1.0], 13)] {
        let found = all(masses, (4.0, 4.0), false);
        assert!(found.complete && found.orbits.len() == orbits, "{masses:?}: {found:?}");
    }
}

#[test]
fn small_beta_is_resolved() {
    for (n, beta, counts) in
        [(4, 0.01, &[1, 7, 12, 6][..]), (4, -0.02, &[1, 4, 6, 3]), (5, 0.03, &[1, 5, 40, 60, 24])]
    {
        let found = all(&vec![1.0; n], (beta, beta), true);
        assert!(found.complete, "{n} {beta} {found:?}");
        assert_eq!(found.labelled.as_deref(), Some(counts), "{n} {beta}");
        let text = found.certificate.expect("a certificate");
        assert!(text.lines().any(|l| l.starts_with("A ")));
        verifier::check(&text).expect("accepted");
    }
}

#[test]
fn counts_hold_for_all_beta() {
    for (n, orbits) in [(3, 3), (4, 5)] {
        let found = all(&vec![1.0; n], (0.05, 50.0), false);
        assert!(found.complete && found.orbits.len() == orbits, "{n}");
    }
    // The interval contains the bifurcation of 3 + 2 opposite tokens, so it cannot be complete.
    let tokens = Tokens::new(&[3.0, 1.0, 1.0], (0.15, 0.3)).expect("tokens");
    let boxes = std::sync::atomic::AtomicU64::new(0);
    let stop = |_: f64, n: u64| {
        boxes.store(n, std::sync::atomic::Ordering::Relaxed);
        n < 50_000
    };
    let found = complete(&tokens, false, &stop).expect("arithmetic");
    assert!(!found.complete && found.undecided > 0);
}

#[test]
fn searches_find_the_proved_points() {
    for (n, beta) in [(3, 1.0), (4, 0.5), (4, 4.0), (5, 1.0), (5, 6.0)] {
        let proved = all(&vec![1.0; n], (beta, beta), false);
        let search = Search {
            energy: Exponential { beta },
            n,
            d: 2,
            starts: 200,
            max_starts: 800,
            fixed: true,
            seed: 1,
        };
        let found = search.run().expect("a search");
        assert_eq!(found.points.len(), proved.orbits.len(), "{n} {beta}");
        for point in &found.points {
            let share = point.log_energy.exp();
            let same = |o: &&Orbit| {
                (o.energy_share - share).abs() < 1e-8 && o.ascents == Some(point.spectrum.unstable)
            };
            assert!(proved.orbits.iter().any(|o| same(&o)), "{n} {beta}: {point:?}");
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
        let beta = 1.0001 * threshold(m).expect("masses");
        let found = all(m, (beta, beta), false);
        let counts: Vec<u64> = cyclic_partitions(m.len()).into_iter().map(|c| c as u64).collect();
        assert!(found.complete, "{m:?} {beta}");
        assert_eq!(found.labelled, Some(counts), "{m:?} {beta}");
    }
}

#[test]
fn lists_are_proved_complete_and_completed() {
    let proceed = |_: f64, _: u64| true;
    for (n, beta, orbits) in [(3, 0.3, 3), (4, 1.0, 5), (5, 4.0, 7), (4, -1.0, 6)] {
        // Nothing was found: the proof adds all points.
        let mut found = SearchResult::default();
        let by = complete_list::prove(beta, n, &mut found, 5.0, &proceed).expect("arithmetic");
        assert!(matches!(by, Some(CompleteBy::Boxes { .. })), "{n} {beta}: {by:?}");
        assert_eq!(found.points.len(), orbits, "{n} {beta}");
        assert!(found.points.iter().all(|p| p.residual < 1e-12));
    }
    // Beyond the constant the number decides, for any n.
    let energy = Exponential { beta: 21.0 };
    let search = Search { energy, n: 8, d: 2, starts: 0, max_starts: 0, fixed: true, seed: 1 };
    let mut found = search.run().expect("a search");
    let by = complete_list::prove(21.0, 8, &mut found, 0.0, &proceed).expect("arithmetic");
    assert_eq!((by, found.points.len()), (Some(CompleteBy::Theorem), 29));
    // A missing point is not overlooked, and long proofs are left out.
    found.points.pop();
    assert_eq!(complete_list::prove(21.0, 8, &mut found, 0.0, &proceed).expect("arithmetic"), None);
    // A proof that is stopped proves nothing.
    let stop = |_: f64, _: u64| false;
    let mut found = SearchResult::default();
    assert_eq!(complete_list::prove(0.25, 6, &mut found, 60.0, &stop).expect("arithmetic"), None);
}

#[test]
fn landscapes_are_benign_down_to_the_thresholds() {
    for n in 3..=7 {
        let found = is_benign(&vec![1.0; n], (0.1, 50.0), false);
        assert!(found.proved, "{n}: {found:?}");
    }
    // Through beta = 0, where critical points form continua; and the window that is open in theory.
    for n in 3..=5 {
        assert!(is_benign(&vec![1.0; n], (-0.16, 0.1), false).proved, "{n}");
        assert!(is_benign(&vec![1.0; n], (-0.66, -0.16), false).proved, "{n}");
    }
    assert!(is_benign(&[1.0, 2.0, 3.0, 4.0], (0.5, 8.0), false).proved);
    // Below -2/3 the equilateral triangle is a local maximum. For n = 4 and 5 the thresholds lie
    // between the two numbers.
    for (n, benign_at, fails_at) in
        [(3, -0.66666, -0.66668), (4, -2.212, -2.213), (5, -1.4428, -1.45)]
    {
        assert!(is_benign(&vec![1.0; n], (benign_at, benign_at), false).proved, "{n}");
        let found = is_benign(&vec![1.0; n], (fails_at, fails_at), false);
        let (_, orbit) = found.counterexample.expect("a local maximum");
        assert_eq!((found.proved, orbit.ascents), (false, Some(0)), "{n}");
    }
}

#[test]
fn input_that_has_no_proof_is_refused() {
    let refused =
        |masses: &[f64], beta| Tokens::new(masses, beta).expect_err("refused").to_string();
    assert!(refused(&[1.0, 0.0], (1.0, 1.0)).contains("positive masses"));
    assert!(refused(&[1.0; 13], (1.0, 1.0)).contains("from 2 to 12"));
    assert!(refused(&[1.0; 3], (1.0, 1e3)).contains("beta"));
    assert!(refused(&[1.0; 3], (2.0, 1.0)).contains("a <= b"));
    let long = |n, beta| {
        let tokens = Tokens::new(&vec![1.0; n], beta).expect("tokens");
        complete(&tokens, false, &|_, _| true).expect_err("refused").to_string()
    };
    assert!(long(12, (1.0, 1.0)).contains("would take about"));
    assert!(long(4, (-1.0, 1.0)).contains("continua"));
    // A search that is stopped says so, and proves nothing.
    let tokens = Tokens::new(&[1.0; 6], (1.0, 1.0)).expect("tokens");
    let found = complete(&tokens, true, &|_, _| false).expect("arithmetic");
    assert!(found.interrupted && !found.complete && found.certificate.is_none());
}

#[test]
fn results_do_not_depend_on_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| all(&[1.0; 5], (2.0, 2.0), true))
    };
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
    let texts = [
        all(&[1.0; 5], (4.0, 4.0), true).certificate,
        all(&[1.0; 6], (50.0, 50.0), true).certificate,
        all(&[2.0, 3.0, 4.0, 5.0], (1.0, 1.0), true).certificate,
        all(&[1.0; 3], (0.05, 50.0), true).certificate,
        is_benign(&[1.0; 6], (0.1, 50.0), true).certificate,
        is_benign(&[1.0; 4], (-0.66, -0.16), true).certificate,
        is_benign(&[1.0; 4], (-2.3, -2.3), true).certificate,
    ];
    for text in texts {
        let text = text.expect("a certificate");
        let statement = verifier::check(&text).expect("accepted");
        assert!(statement.contains("tokens on the circle"), "{statement}");
    }
}

/// The digits of a fraction as a number of turns.
fn turns(word: &str) -> f64 {
    i64::from_str_radix(&format!("{word:0<12}"), 16).expect("digits") as f64 / 2f64.powi(48)
}

/// The lines of a tree whose boxes contain a point in their interior: the first line of the node
/// and the line after its last.
fn nodes_around(lines: &[&str], first: usize, gaps: &[f64]) -> Vec<(usize, usize)> {
    // Boxes that are still to be read, and the node that each closes.
    let mut stack = vec![vec![(0.0, 0.5); gaps.len()]];
    let (mut open, mut found): (Vec<(usize, usize)>, Vec<_>) = (vec![], vec![]);
    let mut at = first;
    while let Some(mut cell) = stack.pop() {
        let inside = cell.iter().zip(gaps).all(|(c, g)| c.0 + 1e-9 < *g && *g < c.1 - 1e-9);
        let words: Vec<&str> = lines[at].split(' ').collect();
        if inside {
            open.push((at, stack.len()));
        }
        match words[0] {
            "G" => {
                let (r, t): (usize, f64) = (words[1].parse().expect("a gap"), turns(words[2]));
                let mut above = cell.clone();
                (cell[r].1, above[r].0) = (t, t);
                stack.extend([above, cell]);
            }
            "K" => {
                let bounds: Vec<f64> = words[1..].iter().map(|w| turns(w)).collect();
                stack.push(bounds.chunks(2).map(|b| (b[0], b[1])).collect());
            }
            _ => {}
        }
        at += 1;
        while let Some((start, _)) = open.last().copied().filter(|o| o.1 == stack.len()) {
            found.push((start, at));
            open.pop();
        }
    }
    found
}

/// Trees in which the box of a proved critical point gets a reason that says it has none.
#[test]
fn false_leaves_are_refused() {
    let mut forged = 0;
    for (n, beta) in [(3, 1.0), (3, 9.0), (4, 2.0)] {
        let found = all(&vec![1.0; n], (beta, beta), true);
        let text = found.certificate.expect("a certificate");
        let lines: Vec<&str> = text.lines().collect();
        for orbit in found.orbits.iter().filter(|o| o.clusters.len() > 2) {
            let k = orbit.clusters.len();
            let words = |c: &Vec<u32>| c.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            let clusters: Vec<String> = orbit.clusters.iter().map(words).collect();
            let head = format!("tree zeros {}", clusters.join(" "));
            let mut first = 1 + lines.iter().position(|l| *l == head).expect("its tree");
            while lines[first].starts_with("zero") {
                first += 1;
            }
            let gaps: Vec<f64> = orbit.gaps.iter().map(|g| g / std::f64::consts::TAU).collect();
            let mut leaves = vec!["E".to_owned(), "N".to_owned(), "X".to_owned(), "R".to_owned()];
            leaves.extend((0..k).map(|p| format!("Q {p}")));
            leaves.extend((0..k).flat_map(|a| (a..k).map(move |b| format!("F {a} {b}"))));
            leaves.extend([format!("C 0 {}", k - 2), "U 99".into(), "V 1 0 0".into()]);
            for (from, to) in nodes_around(&lines, first, &gaps) {
                for leaf in &leaves {
                    let changed =
                        [&lines[..from], &[leaf.as_str()], &lines[to..]].concat().join("\n") + "\n";
                    let answer = verifier::check(&changed);
                    assert!(answer.is_err(), "line {from} became {leaf}: {answer:?}");
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
    let text = all(&[1.0; 4], (2.0, 2.0), true).certificate.expect("a certificate");
    let lines: Vec<&str> = text.lines().collect();
    // A line less, at any place, and every beginning of the file.
    for skipped in 0..lines.len() {
        let changed = [&lines[..skipped], &lines[skipped + 1..]].concat().join("\n") + "\n";
        // Without the result of Newton's method, the reasons of the children may still hold.
        assert!(
            lines[skipped].starts_with('K') || verifier::check(&changed).is_err(),
            "without line {skipped}"
        );
        assert!(verifier::check(&(lines[..skipped].join("\n") + "\n")).is_err(), "{skipped} lines");
    }
    for (from, to) in [
        ("counts 5 1 7 12 6", "counts 6 1 7 12 6"),
        ("masses 1 1 1 1", "masses 1 1 1 2"),
        ("masses 1 1 1 1", "masses 1 1 1 1 1"),
        ("kind complete", "kind benign"),
        ("beta 2.0 2.0", "beta 2.0 3.0"),
        ("beta 2.0 2.0", "beta nan nan"),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(verifier::check(&text.replace(from, to)).is_err(), "{to}");
    }
    // Exchanged reasons: an empty box has no other reason, and other boxes are not empty.
    let mut s = Stream::new(1, &["landscape certificates"]);
    let leaves: Vec<usize> =
        (0..lines.len()).filter(|l| ["E", "F", "Q", "Y"].contains(&&lines[*l][..1])).collect();
    for _ in 0..300 {
        let at = leaves[s.index(leaves.len())];
        let mut changed = lines.clone();
        changed[at] = if changed[at] == "E" { "F 0 0" } else { "E" };
        assert!(verifier::check(&(changed.join("\n") + "\n")).is_err(), "line {at}");
    }
    let benign = is_benign(&[1.0; 4], (0.5, 4.0), true).certificate.expect("a certificate");
    let changed = |line: &str| match line.split(' ').next() {
        Some("V") => "V 1 1 1 1".to_owned(),
        Some("C") => "C 0 3".to_owned(),
        _ => line.to_owned(),
    };
    for at in 0..benign.lines().count() {
        let forged: Vec<String> = benign
            .lines()
            .enumerate()
            .map(|(x, l)| if x == at { changed(l) } else { l.to_owned() })
            .collect();
        if forged.join("\n") + "\n" != benign {
            assert!(verifier::check(&(forged.join("\n") + "\n")).is_err(), "line {at}");
        }
    }
}
