//! Whole landscapes on spheres: known lists, the library's search, the circle, Morse inequalities,
//! certificates and forged certificates.

use crate::given::{self, GO, accepted, refuses, with_lines, with_threads};
use metastable::landscape::search::Search;
use metastable::landscape::{CriticalPoint, Exponential};
use metastable::num::{deviation::largest, stream::Stream};
use metastable::proofs::landscape as circle;
use metastable::proofs::spheres::{Landscape, Orbit, Tokens, benign, complete};

fn all(masses: &[f64], beta: f64, d: Option<usize>, keep: bool) -> Landscape {
    interval(masses, (beta, beta), d, keep)
}

fn interval(masses: &[f64], beta: (f64, f64), d: Option<usize>, keep: bool) -> Landscape {
    let tokens = Tokens::new(masses, beta).expect("tokens");
    complete(&tokens, d, keep, GO).expect("arithmetic")
}

/// Whether two lists are the same: energies and directions of ascent in `R^d`.
fn agree(proved: &[Orbit], searched: &[CriticalPoint], d: usize) {
    let proved: Vec<&Orbit> = proved.iter().filter(|o| o.rank <= d).collect();
    assert_eq!(proved.len(), searched.len(), "d = {d}");
    for point in searched {
        // The search finds points to about 1e-12; the energy is stationary there.
        let near = |o: &&&Orbit| {
            (o.energy_share - point.log_energy.exp()).abs() < 1e-10
                && o.index(d) == Some(point.spectrum.unstable)
                && o.sizes().len() == point.sizes.len()
        };
        assert_eq!(proved.iter().filter(near).count(), 1, "d = {d}: {point:?}");
    }
}

fn search(n: usize, d: usize, beta: f64) -> Vec<CriticalPoint> {
    let energy = Exponential { beta };
    let search = Search { energy, n, d, starts: 60, max_starts: 60, fixed: true, seed: 1 };
    search.run().expect("a search").points
}

#[test]
fn few_tokens_have_the_known_points() {
    for beta in [0.1, 1.0, 4.0, 16.0, 100.0] {
        let found = all(&[1.0; 3], beta, None, false);
        assert!(found.complete && found.orbits.len() == 3, "{beta}: {found:?}");
        let found = all(&[1.0; 4], beta, Some(3), false);
        assert!(found.complete, "{beta}: {found:?}");
        // Consensus, 3|1, 2|2, two tokens and two, the square, the tetrahedron. By reflection in
        // its span every point of rank 1 or 2 has one direction of ascent for every further
        // dimension.
        let of = |o: &Orbit| (o.rank, o.sizes().len(), o.multiplicity, o.symmetries, o.index(3));
        let wanted = [
            (1, 1, 1, 1, Some(0)),
            (1, 2, 4, 1, Some(2)),
            (1, 2, 3, 2, Some(2)),
            (2, 3, 6, 2, Some(3)),
            (2, 4, 3, 8, Some(4)),
            (3, 4, 1, 24, Some(5)),
        ];
        assert_eq!(found.orbits.iter().map(of).collect::<Vec<_>>(), wanted, "{beta}");
        assert_eq!(found.labelled.as_deref(), Some(&[1, 0, 7, 6, 3, 1][..]));
        let tetrahedron = &found.orbits[5];
        let worst = tetrahedron.gram.iter().enumerate().flat_map(|(a, row)| {
            row.iter().enumerate().filter(move |(b, _)| *b != a).map(|(_, g)| (g + 1.0 / 3.0).abs())
        });
        assert!(largest(worst) <= tetrahedron.gram_error);
    }
}

#[test]
fn searches_find_the_proved_points_on_spheres() {
    for beta in [0.5, 2.0, 6.0] {
        let proved = all(&[1.0; 4], beta, None, false);
        assert!(proved.complete);
        for d in [3, 4] {
            agree(&proved.orbits, &search(4, d, beta), d);
        }
    }
}

/// Five tokens: the search in two dimensions, and the verifier.
#[test]
fn five_tokens_have_eleven_points() {
    let proved = all(&[1.0; 5], 4.0, None, true);
    assert!(proved.complete && proved.orbits.len() == 11, "{proved:?}");
    for (d, count) in [(3, 10), (4, 11)] {
        assert_eq!(proved.orbits.iter().filter(|o| o.rank <= d).count(), count);
        agree(&proved.orbits, &search(5, d, 4.0), d);
    }
    let statement = accepted(proved.certificate);
    assert!(statement.contains("exactly 11 critical points"), "{statement}");
}

/// In the plane the list is that of the proof on the circle, which shares no test.
#[test]
fn ranks_up_to_two_are_the_circle() {
    for (masses, beta) in
        [(&[1.0; 4][..], 2.0), (&[3.0, 1.0, 1.0, 1.0], 1.0), (&[1.0, 2.0, 3.0, 4.0], 1.0)]
    {
        let sphere = all(masses, beta, Some(2), false);
        let plane = given::all(&given::tokens(masses, (beta, beta)), false);
        assert!(sphere.complete && plane.complete, "{masses:?}");
        // Energies to nine digits: they are rounded values of the same numbers.
        let digits = |share: f64| (share * 1e9).round() as i64;
        // Modulo rotations alone, a mirror image of labelled points is another one, unless all lie
        // on a line: then the rank is 1.
        let of_sphere = |o: &Orbit| {
            (digits(o.energy_share), o.index(2), o.rank as u64 * o.multiplicity, o.sizes().len())
        };
        let of_plane = |o: &circle::Orbit| {
            (digits(o.energy_share), o.ascents, o.multiplicity, o.sizes().len())
        };
        let mut found: Vec<_> = sphere.orbits.iter().map(of_sphere).collect();
        let mut wanted: Vec<_> = plane.orbits.iter().map(of_plane).collect();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{masses:?}");
    }
}

#[test]
fn unequal_masses_and_negative_beta_are_complete() {
    for (masses, beta, orbits) in [
        (&[3.0, 1.0, 1.0, 1.0][..], 1.0, 8),
        (&[1.0, 2.0, 3.0, 4.0], 1.0, 18),
        (&[1.0; 3], -1.0, 4),
        (&[1.0; 4], -1.0, 8),
    ] {
        let found = all(masses, beta, None, false);
        assert!(found.complete, "{masses:?} {beta}: {found:?}");
        assert_eq!(found.orbits.len(), orbits, "{masses:?} {beta}");
    }
}

#[test]
fn what_cannot_be_proved_says_so() {
    // At beta = -3/2 the tetrahedron is degenerate.
    let tokens = Tokens::new(&[1.0; 4], (-1.5, -1.5)).expect("tokens");
    let found = complete(&tokens, None, true, &|_, boxes| boxes < 20_000).expect("arithmetic");
    assert!(!found.complete && found.undecided > 0 && found.certificate.is_none());
    let found = complete(&tokens, None, true, &|_, _| false).expect("arithmetic");
    assert!(found.interrupted && !found.complete && found.certificate.is_none());
    for (masses, beta, d, why) in [
        (&[1.0; 6][..], 1.0, None, "from 2 to 5"),
        (&[1.0; 3], 0.0, None, "continua"),
        (&[1.0, 1.0, 0.0], 1.0, None, "positive masses"),
        (&[1.0; 3], 1e3, None, "beta"),
        (&[1.0; 3], 1.0, Some(1), "from 2 to 1000"),
    ] {
        let found = Tokens::new(masses, (beta, beta)).and_then(|t| complete(&t, d, false, GO));
        let error = found.expect_err("refused").to_string();
        assert!(error.contains(why), "{why}: {error}");
    }
}

#[test]
fn lists_do_not_depend_on_threads() {
    let run = |threads| with_threads(threads, || all(&[1.0; 4], 2.0, None, true));
    assert_eq!(run(1), run(3));
}

#[test]
fn certificates_of_spheres_are_accepted() {
    for (masses, beta) in [
        (&[1.0; 2][..], 1.0),
        (&[1.0; 3], 100.0),
        (&[1.0; 4], 0.1),
        (&[1.0; 4], 100.0),
        (&[1.0, 2.0, 3.0, 4.0], 1.0),
        (&[1.0; 4], -5.0),
    ] {
        let statement = accepted(all(masses, beta, Some(3), true).certificate);
        assert!(statement.contains("on spheres"), "{statement}");
    }
}

/// All leaves that name a point get another reason. The point is a proved zero, and the boxes of
/// the tree cover it, so one of the leaves is false.
#[test]
fn false_leaves_of_spheres_are_refused() {
    let mut s = Stream::new(1, &["forged spheres"]);
    let mut forged = 0;
    for (n, beta) in [(3, 1.0), (4, 2.0)] {
        let text = all(&vec![1.0; n], beta, None, true).certificate.expect("a certificate");
        let points = text.lines().filter(|l| l.starts_with("point ")).count();
        let mut reasons = vec!["N".to_owned(), "E".to_owned(), "X".to_owned()];
        for (i, k) in (0..n).flat_map(|i| (0..n).map(move |k| (i, k))) {
            reasons.extend([format!("F {i} {k}"), format!("Q {i} {k}")]);
        }
        reasons.extend((0..1 << n).map(|set| format!("H {set}")));
        for _ in 0..20 {
            let v: Vec<String> = (0..n).map(|_| (s.index(41) as i64 - 20).to_string()).collect();
            reasons.push(format!("P {}", v.join(" ")));
        }
        let order: Vec<String> = (0..n).map(|x| x.to_string()).collect();
        for point in 0..points {
            let head = format!("Z {point} ");
            if !text.lines().any(|l| l.starts_with(&head)) {
                continue;
            }
            let others = (0..=points).filter(|q| *q != point);
            let others = others.map(|q| format!("Z {q} {}", order.join(" ")));
            for reason in reasons.iter().cloned().chain(others) {
                let own = |l: &str| l.starts_with(&head);
                let changed: Vec<&str> =
                    text.lines().map(|l| if own(l) { &reason[..] } else { l }).collect();
                let answer = with_lines(&changed, 0..0, &[]);
                assert!(answer.is_err(), "point {point} became {reason}: {answer:?}");
                forged += 1;
            }
        }
    }
    println!("{forged} forged certificates were refused");
    assert!(forged > 300, "{forged}");
}

#[test]
fn changed_certificates_of_spheres_are_refused() {
    let text = all(&[1.0; 4], 2.0, None, true).certificate.expect("a certificate");
    let lines: Vec<&str> = text.lines().collect();
    // A line less, at every fourth place, and beginnings of the file.
    for skipped in (0..lines.len()).step_by(4) {
        // Without a shrunken box, the reasons of its children may still hold.
        let less = with_lines(&lines, skipped..skipped + 1, &[]);
        let shrinks = lines[skipped].starts_with(['J', 'K']);
        assert!(shrinks || less.is_err(), "without line {skipped}, `{}`", lines[skipped]);
        assert!(with_lines(&lines, skipped..lines.len(), &[]).is_err(), "{skipped} lines");
    }
    refuses(
        &text,
        &[
            ("masses 1 1 1 1", "masses 1 1 1 2"),
            ("masses 1 1 1 1", "masses 1 1 1"),
            ("masses 1 1 1 1", "masses 1 1 1 1 1 1"),
            ("beta 2.0", "beta 2.5"),
            ("beta 2.0", "beta nan"),
            ("beta 2.0", "beta 2.0 3.0"),
            ("beta 2.0", "beta 0.0"),
            ("beta 2.0", "beta 2.0\naverage 2"),
            ("metastable-spheres 1", "metastable-spheres 2"),
        ],
    );
    // Points: another number of signs or copies, a missing point, another place.
    for (at, line) in lines.iter().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |k: usize| words[k].parse::<usize>().expect("a number");
        let forged = match words[0] {
            "signs" => format!("signs {} {}", number(1) + 1, words[2]),
            "copies" => format!("copies {}", number(1) * 2),
            "at" => format!("{} {:x}", words[..words.len() - 1].join(" "), 0.123f64.to_bits()),
            "radii" => line.replacen(words[1], "0", 1),
            "base" => "base 7".to_owned(),
            _ => continue,
        };
        assert!(with_lines(&lines, at..at + 1, &[forged.as_str()]).is_err(), "{forged}");
    }
}

/// The counts of an interval are those of lists at single beta, and of the circle.
#[test]
fn intervals_of_beta_are_complete_on_spheres() {
    for (masses, beta, orbits) in [
        (&[1.0; 4][..], (0.5, 4.0), 6),
        (&[3.0, 1.0, 1.0], (1.0, 2.0), 4),
        (&[1.0; 3], (-1.2, -1.0), 4),
    ] {
        let found = interval(masses, beta, None, true);
        assert!(found.complete && found.open.is_empty(), "{masses:?} {beta:?}: {found:?}");
        assert_eq!(found.orbits.len(), orbits, "{masses:?} {beta:?}");
        for at in [beta.0, beta.1] {
            let same = |a: &Orbit, b: &Orbit| {
                (a.rank, a.inside, a.outside, a.multiplicity, a.symmetries, a.sizes())
                    == (b.rank, b.inside, b.outside, b.multiplicity, b.symmetries, b.sizes())
            };
            let list = all(masses, at, None, false).orbits;
            let once = |o: &Orbit| {
                let count = |all: &[Orbit]| all.iter().filter(|q| same(o, q)).count();
                count(&list) == count(&found.orbits)
            };
            assert!(list.len() == orbits && list.iter().all(once), "{masses:?} {at}");
        }
        let statement = accepted(found.certificate);
        let wanted = format!("all beta in [{}, {}]: exactly {orbits} critical", beta.0, beta.1);
        assert!(statement.contains(&wanted), "{statement}");
    }
}

/// Three tokens: at beta = -2/3 the regular triangle becomes a maximum on the circle.
#[test]
fn bifurcations_on_spheres_are_enclosed() {
    let found = interval(&[1.0; 3], (-0.8, -0.5), None, true);
    assert!(!found.complete && found.certificate.is_none(), "{found:?}");
    assert!(found.open.iter().any(|o| o.0 <= -2.0 / 3.0 && -2.0 / 3.0 <= o.1), "{:?}", found.open);
    assert!(found.open.iter().map(|o| o.1 - o.0).sum::<f64>() < 0.05, "{:?}", found.open);
    let ends = [&found.pieces[0], &found.pieces[found.pieces.len() - 1]];
    let counts = ends.map(|p| (p.complete, p.orbits.len()));
    let alone = [-0.8, -0.5].map(|beta| (true, all(&[1.0; 3], beta, None, false).orbits.len()));
    assert_eq!(counts, alone);
}

#[test]
fn benign_landscapes_on_spheres() {
    let run = |masses: &[f64], beta, d| {
        let tokens = Tokens::new(masses, beta).expect("tokens");
        benign(&tokens, d, true, GO).expect("arithmetic")
    };
    // The average over directions: no boxes, also through beta = 0.
    let found = run(&[1.0; 5], (-0.5, 100.0), Some(3));
    assert!(found.proved && found.average && found.boxes == 0);
    let text = found.certificate.expect("a certificate");
    let changes = [
        ("-0.5", "-0.51"),
        ("average 3", "average 2"),
        ("average 3", "average 1001"),
        ("end", "R\nend"),
    ];
    refuses(&text, &changes);
    assert!(accepted(Some(text)).contains("benign in R^3"));
    // All dimensions: from the complete list.
    let found = run(&[1.0; 4], (2.0, 3.0), None);
    assert!(found.proved && !found.average && found.boxes > 1000);
    let statement = accepted(found.certificate);
    assert!(statement.contains("benign in all"), "{statement}");
    // In R^3 beyond the average, until the tetrahedron is a maximum.
    assert!(run(&[1.0; 4], (-1.0, -0.9), Some(3)).proved);
    let (beta, d, point) =
        run(&[1.0; 4], (-1.7, -1.65), Some(3)).counterexample.expect("a maximum");
    let inside = (-1.7..=-1.65).contains(&beta);
    assert!(inside && (d, point.symmetries) == (3, 24), "{beta} {point:?}");
    // On the circle three tokens fail earlier than in space.
    assert_eq!(run(&[1.0; 3], (-0.7, -0.7), None).counterexample.expect("a maximum").1, 2);
    assert!(run(&[1.0; 3], (-0.7, -0.7), Some(3)).proved);
}

/// A leaf of the second tree gets another reason, or an interval of beta is split elsewhere.
#[test]
fn false_intervals_of_beta_are_refused() {
    let text = interval(&[1.0; 3], (1.0, 2.0), None, true).certificate.expect("a certificate");
    let lines: Vec<&str> = text.lines().collect();
    let change = |at: usize, line: &str| with_lines(&lines, at..at + 1, &[line]);
    let regular: Vec<usize> = (0..lines.len()).filter(|l| lines[*l] == "R").collect();
    assert!(regular.len() > 3);
    let mut refused = 0;
    for at in &regular {
        // Some boxes have no zero; a point is never a reason for an interval.
        refused += usize::from(change(*at, "F 0 1").is_err());
        assert!(change(*at, "Z 0 0 1 2").is_err() && change(*at, "E").is_err());
    }
    assert!(refused > 1, "{refused}");
    let split = lines.iter().position(|l| l.starts_with("B ")).expect("a split");
    for wrong in ["B 0.5", "B 2.0", "B nan", "B", "R"] {
        assert!(change(split, wrong).is_err(), "{wrong}");
    }
    let changes = ["beta 1.0", "beta 1.0 2.5", "beta 2.0 1.0"].map(|to| ("beta 1.0 2.0", to));
    refuses(&text, &changes);
}
