//! The referee with nothing between it and the files: what it accepts is true, whatever was done to the file.
//! `METASTABLE_MUTANTS=10000 cargo test --release --test proofs referee -- --nocapture` makes that many of each kind and prints what became of them.

use metastable::attention::{RowWeights, Variant};
use metastable::landscape::CriticalPoint;
use metastable::num::interval::Interval;
use metastable::num::stream::Stream;
use metastable::proofs::certificate::{self, Certificate};
use metastable::proofs::trajectory::{Neighbourhood, prove};
use metastable::sphere::Tokens;
use metastable_verifier as referee;

/// Certificates with few steps: tokens, inverse temperature, radius, seed.
const SMALL: [(usize, f64, f64, u64); 4] = [(3, 1.0, 0.0, 1), (3, 4.0, 1e-4, 3), (4, 2.0, 1e-8, 2), (4, 1.0, 1e-3, 7)];

fn certificate((n, beta, radius, seed): (usize, f64, f64, u64)) -> String {
    let mut s = Stream::new(seed, &["referee"]);
    let variant = Variant::mutual(RowWeights::Softmax);
    for _ in 0..1000 {
        let x = Tokens::from_angles(&(0..n).map(|_| s.uniform_in(0.0, std::f64::consts::TAU)).collect::<Vec<_>>()).expect("tokens");
        let near = Neighbourhood::new(variant, beta, &x, radius).expect("a start");
        if let Ok(proof) = prove(&near).expect("arithmetic")
            && (2..=6).contains(&proof.steps())
        {
            return proof.to_text();
        }
    }
    unreachable!("starts outside a hemisphere are not rare")
}

fn double(word: &str) -> Option<f64> {
    let (m, k) = word.split_once('p')?;
    let (m, k): (i64, i32) = (m.parse().ok()?, k.parse().ok()?);
    Some(m as f64 * 2f64.powi(k / 2) * 2f64.powi(k - k / 2))
}

/// What the head of a file says, as a question.
fn question(text: &str) -> Option<Neighbourhood> {
    let words = |key: &str| text.lines().find(|l| l.split(' ').next() == Some(key)).map(|l| l.split(' ').skip(1).collect::<Vec<_>>());
    let numbers = |key: &str| words(key)?.into_iter().map(double).collect::<Option<Vec<f64>>>();
    let name = words("dynamics")?.concat();
    let (softmax, causal) = (name.ends_with("-sa") || name == "sa", name.starts_with("causal"));
    let d = words("dimension")?.first()?.parse().ok()?;
    Some(Neighbourhood {
        softmax,
        causal,
        beta: numbers("beta")?[0],
        d,
        masses: numbers("masses")?,
        x: numbers("start")?,
        radius: numbers("radius")?[0],
    })
}

/// One thing is wrong: a number, a sign, a power, an order of words or lines, a name.
fn mutated(text: &str, s: &mut Stream) -> String {
    let mut lines: Vec<Vec<String>> =
        text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(' ').map(str::to_owned).collect()).collect();
    let (at, other) = (s.index(lines.len()), s.index(lines.len()));
    let word = 1 + s.index(lines[at].len() - 1);
    let second = 1 + s.index(lines[at].len() - 1);
    let numbers: Vec<String> = lines[other].iter().skip(1).cloned().collect();
    let found = lines[at][word].clone();
    let changed = match (found.split_once('p'), s.index(9)) {
        (Some((m, k)), 0) => format!("{}p{k}", m.parse::<i64>().map_or(0, |m| m + 1)),
        (Some((m, k)), 1) => format!("{}p{k}", m.parse::<i64>().map_or(0, |m| -m)),
        (Some((m, k)), 2) => format!("{m}p{}", k.parse::<i64>().map_or(0, |k| k + 1)),
        (Some((m, k)), 3) => format!("{m}p{}", k.parse::<i64>().map_or(0, |k| k - 1)),
        // A thousandth, a tenth of it.
        (Some(_), 4) => format!("{}p-60", (double(&found).unwrap_or(1.0) * 1.001 * 60f64.exp2()).clamp(-9e18, 9e18) as i64),
        (Some(_), 5) => format!("{}p-60", (double(&found).unwrap_or(1.0) * 0.9 * 60f64.exp2()).clamp(-9e18, 9e18) as i64),
        (_, 6) => {
            lines.swap(at, other);
            return joined(&lines);
        }
        (_, 7) => {
            lines[at].swap(word, second);
            return joined(&lines);
        }
        (_, 8) => {
            lines.remove(at);
            return joined(&lines);
        }
        (Some(_), _) => unreachable!("all choices are listed"),
        (None, k) => match (found.parse::<i64>(), k) {
            (Ok(v), 0..=2) => (v + 1).to_string(),
            (Ok(v), 3..=4) => (v - 1).to_string(),
            (Err(_), _) => ["sa", "usa", "causal-sa", "causal-usa"][s.index(4)].to_owned(),
            _ => numbers[s.index(numbers.len())].clone(),
        },
    };
    lines[at][word] = changed;
    joined(&lines)
}

fn joined(lines: &[Vec<String>]) -> String {
    lines.iter().map(|l| l.join(" ")).collect::<Vec<_>>().join("\n") + "\n"
}

/// How many mutants there were, how many were accepted, and how many of these say something new that a fresh proof confirms.
fn mutants(seed: u64, count: usize) -> (usize, usize, usize) {
    let mut s = Stream::new(seed, &["mutants"]);
    let (mut tried, mut accepted, mut proved) = (0, 0, 0);
    for kind in SMALL {
        let text = certificate(kind);
        let original = question(&text);
        assert!(referee::check(&text).is_ok(), "{:?}", referee::check(&text));
        for _ in 0..count / SMALL.len() {
            let mutant = mutated(&text, &mut s);
            tried += 1;
            if referee::check(&mutant).is_err() {
                continue;
            }
            accepted += 1;
            let asked = question(&mutant).expect("what was accepted can be read");
            if Some(&asked) != original.as_ref() {
                proved += 1;
                assert!(prove(&asked).expect("arithmetic").is_ok(), "accepted, and not proved again:\n{mutant}");
            }
        }
    }
    (tried, accepted, proved)
}

/// How many are asked for.
fn asked(usual: usize) -> usize {
    std::env::var("METASTABLE_MUTANTS").ok().and_then(|v| v.parse().ok()).unwrap_or(usual)
}

/// Clusters of so many tokens.
fn weighted(x: metastable::Result<Tokens>, sizes: &[usize]) -> Tokens {
    x.and_then(|x| x.with_masses(&sizes.iter().map(|s| *s as f64).collect::<Vec<_>>())).expect("tokens")
}

/// Certificates of critical points: inverse temperature, angles on the circle or rows in R^3, tokens of each.
fn saddles() -> Vec<Certificate> {
    let polygon = |n: usize| Tokens::from_angles(&(0..n).map(|k| std::f64::consts::TAU * k as f64 / n as f64).collect::<Vec<_>>());
    let tetrahedron = Tokens::normalised(3, vec![1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0]);
    let all = [
        (4.0, polygon(2), vec![3, 2]),
        (5.0, polygon(3), vec![1, 2, 1]),
        (6.0, polygon(4), vec![1, 1, 1, 1]),
        (3.0, tetrahedron, vec![1, 2, 1, 1]),
        (-1.0, polygon(3), vec![1, 1, 1]),
    ];
    let proof = |(beta, x, sizes): (f64, metastable::Result<Tokens>, Vec<usize>)| {
        let point = CriticalPoint::near(beta, &weighted(x, &sizes), &sizes).expect("a critical point");
        certificate::prove(&point).expect("a proof")
    };
    all.into_iter().map(proof).collect()
}

/// Another number: a bit, a sign, a neighbour, a thousandth or a tenth of it.
fn other(v: f64, s: &mut Stream) -> f64 {
    match s.index(7) {
        0 => f64::from_bits(v.to_bits() ^ 1 << s.index(63)),
        1 => -v,
        2 => v.next_up(),
        3 => v * 1.001,
        4 => v * 0.9,
        5 => v * 2.0,
        _ => v + 1e-15,
    }
}

/// One thing of a statement is wrong.
fn bent(c: &Certificate, s: &mut Stream) -> Certificate {
    let mut c = c.clone();
    let (k, d) = (c.sizes.len(), c.d);
    let (q, p) = (s.index(k), s.index(k));
    match s.index(12) {
        0 => c.beta = other(c.beta, s),
        1 => c.radius = other(c.radius, s),
        2 => c.sizes[q] += 1,
        3 => c.sizes[q] -= usize::from(c.sizes[q] > 1),
        4 => c.sizes.swap(q, p),
        5 => (0..d).for_each(|a| c.points.swap(q * d + a, p * d + a)),
        6 => c.unstable += 1,
        7 => (c.unstable, c.morse_index) = (c.morse_index, c.unstable),
        8 => c.morse_index = c.morse_index.saturating_sub(1),
        9 => drop(c.rotations.pop()),
        10 => c.rotations.push((1, 0)),
        _ => {
            let at = s.index(k * d);
            c.points[at] = other(c.points[at], s);
        }
    }
    c
}

#[test]
fn bent_statements_about_critical_points_are_accepted_only_when_they_are_true() {
    let (mut s, mut tried, mut accepted, mut new, mut open) = (Stream::new(2, &["bent"]), 0, 0, 0, 0);
    let all = saddles();
    for proof in &all {
        let said = referee::check(&proof.to_text()).expect("the referee agrees");
        assert!(said.contains(&format!("{} positive and {} negative", proof.unstable, proof.morse_index)), "{said}");
    }
    for k in 0..asked(300) {
        let (proof, mut text) = (&all[k % all.len()], String::new());
        let mutant = bent(proof, &mut s);
        if mutant.points.iter().chain([&mutant.beta, &mutant.radius]).all(|v| v.is_finite()) {
            text = mutant.to_text();
        }
        tried += 1;
        if referee::check(&text).is_err() {
            continue;
        }
        accepted += 1;
        if mutant == *proof {
            continue;
        }
        new += 1;
        // The same statement by the library's own checker; where doubles do not decide, by a new proof of a point in the box with the same signs.
        if certificate::check(&mutant).is_err() {
            open += 1;
            let x = weighted(Tokens::normalised(mutant.d, mutant.points.clone()), &mutant.sizes);
            let again = CriticalPoint::near(mutant.beta, &x, &mutant.sizes).and_then(|p| certificate::prove(&p)).expect("a fresh proof");
            let near = again.points.iter().zip(&mutant.points).all(|(a, b)| (a - b).abs() <= again.radius + mutant.radius);
            assert!(near && (again.unstable, again.morse_index) == (mutant.unstable, mutant.morse_index), "{mutant:?}");
        }
    }
    // A radius or a last digit may change within the slack of the proof; most changes are wrong.
    assert!(accepted > 0 && accepted < tried / 2, "{tried} {accepted}");
    println_numbers(
        "critical points",
        &[("tried", tried), ("accepted", accepted), ("of another statement", new), ("not decided by doubles", open)],
    );
}

#[test]
fn files_about_critical_points_are_read_whole_or_not_at_all() {
    let text = saddles()[0].to_text();
    for (from, to) in [
        ("4e0", "5e0"),
        ("version 2", "version 1"),
        ("\"radius\"", "\"radios\""),
        ("4010000000000000", "401000000000000"),
        ("\"d\": 2", "\"d\": 3"),
    ] {
        assert!(text.contains(from) && referee::check(&text.replacen(from, to, 1)).is_err(), "{from}");
    }
    assert!(referee::check("{}").is_err() && referee::check("{").is_err());
    // A zero of the equations that is no configuration: a cluster at the origin.
    let mut origin = saddles()[0].clone();
    origin.points[2] = 0.0;
    assert!(referee::check(&origin.to_text()).expect_err("no point of the sphere").contains("sphere"));
}

/// Numbers for a closing note, when they are asked for.
fn println_numbers(kind: &str, numbers: &[(&str, usize)]) {
    if std::env::var_os("METASTABLE_MUTANTS").is_some() {
        let said: Vec<String> = numbers.iter().map(|(name, v)| format!("{v} {name}")).collect();
        let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{kind}: {}\n", said.join(", ")).as_bytes());
    }
}

/// How many lines say something: comments and empty lines do not.
fn lines_of_code(name: &str) -> usize {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let text = std::fs::read_to_string(path).expect("a source file");
    assert!(!text.contains("rustfmt::skip"), "{name}");
    text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("//")).count()
}

#[test]
fn the_referee_is_short() {
    let own = |name: &str| lines_of_code(&format!("src/verifier/{name}.rs"));
    let program = lines_of_code("examples/referee.rs") + own("lib");
    let (shared, convergence, critical) = (own("number") + own("flow"), own("errors") + own("trajectory"), own("critical"));
    // What checks a proof of convergence is a program of at most 400 lines; what both kinds share is counted once in the last.
    assert!(program + shared + convergence <= 400, "{program} {shared} {convergence}");
    assert!(program + shared + critical <= 300, "{program} {shared} {critical}");
    assert!(program + shared + convergence + critical <= 500, "{program} {shared} {convergence} {critical}");
}

/// A double as the referee has it; exact for multiples of 2^-128.
fn exactly(v: f64) -> referee::number::I {
    let (bits, sign) = (v.abs().to_bits(), if v < 0.0 { -1 } else { 1 });
    let (whole, power) = ((bits & ((1 << 52) - 1)) as i64, (bits >> 52) as i64);
    referee::number::dyadic(sign * if power == 0 { whole } else { whole | 1 << 52 }, power.max(1) - 1075)
}

#[test]
fn a_million_operations_on_intervals_enclose_what_the_referee_finds() {
    let mut s = Stream::new(5, &["operations"]);
    let size = |s: &mut Stream| s.normal() * f64::from(1 << s.index(8)) / f64::from(1 << s.index(20));
    let mut draw = |wide: bool| {
        let (a, b) = (size(&mut s), size(&mut s));
        if wide { (a.min(b), a.max(b)) } else { (a, a) }
    };
    let pair = |(lo, hi): (f64, f64)| (Interval::new(lo, hi), referee::number::I(exactly(lo).0, exactly(hi).1));
    // The referee rounds to 2^-128, a few times in a row; where it lies strictly inside, doubles could not see it.
    let slack = exactly(2f64.powi(-110)).1;
    let mut count = 0;
    for k in 0..180_000 {
        let ((a, x), (b, y)) = (pair(draw(k % 2 == 0)), pair(draw(k % 3 == 0)));
        let mut found = vec![(a + b, &x + &y), (a - b, &x - &y), (a * b, &x * &y), (a * a, &x * &x)];
        if b.is_positive() {
            found.push((a / b, &x / &y));
        }
        if a.lo() >= 0.0 {
            found.push((a.sqrt(), x.sqrt()));
        }
        if a.mag() < 16.0 {
            found.push((a.exp(), x.exp()));
        }
        for (own, exact) in found {
            count += 1;
            assert!(exactly(own.lo()).0 <= &exact.0 + &slack && exact.1 <= exactly(own.hi()).1 + &slack, "{a:?} {b:?} {own:?}");
        }
    }
    assert!(count >= 1_000_000, "{count}");
}

#[test]
fn mutants_are_accepted_only_when_what_they_say_is_true() {
    let (tried, accepted, proved) = mutants(1, asked(240));
    println_numbers("convergence", &[("tried", tried), ("accepted", accepted), ("of another statement", proved)]);
    // Growth rates and tubes may be larger than needed, a start may move within the slack of the first tube; most changes are wrong.
    assert!(accepted > 0 && accepted < tried / 2 && proved <= accepted, "{tried} {accepted} {proved}");
}

#[test]
fn a_wait_of_a_million_units_of_time_is_checked() {
    // Three pairs of tokens at beta = 16: they become points, and those wait.
    let third = std::f64::consts::TAU / 3.0;
    let x = Tokens::from_angles(&[0.0, 0.05, third, third + 0.1, 2.0 * third + 0.02, 2.0 * third - 0.03]).expect("tokens");
    let near = Neighbourhood::new(Variant::mutual(RowWeights::Softmax), 16.0, &x, 0.0).expect("a start");
    let proof = prove(&near).expect("arithmetic").expect("a proof");
    let text = proof.to_text();
    let said = referee::check(&text).expect("the referee agrees");
    assert!(proof.t > 1e6 && text.contains("merge") && said.contains("converge to one point"), "{} {said}", proof.t);
    // A piece where time is chosen: another kappa, a growth below the true one, no room for the error.
    let line = text.lines().find(|l| l.starts_with("piece") && !l.ends_with(" 0p0")).expect("a piece");
    let words: Vec<&str> = line.split(' ').collect();
    let with = |at: usize, word: &str| {
        let mut words = words.clone();
        words[at] = word;
        text.replacen(line, &words.join(" "), 1)
    };
    let refused = |text: String, why: &str| {
        let found = referee::check(&text).expect_err("not so");
        assert!(found.contains(why), "{found}");
    };
    refused(with(2, "0p0"), "grow faster");
    refused(with(3, "0p0"), "leaves its tube");
    refused(with(4, &format!("-{}", words[4])), "not in order");
    // So large a kappa makes the enclosure of `kappa f f^T` wider than all growth.
    refused(with(4, "1p90"), "grow faster");
    // Tokens that are nobody's: without the merger the steps are too long.
    let apart = text.lines().filter(|l| !l.starts_with("merge") && !l.starts_with("points")).collect::<Vec<_>>().join("\n");
    assert!(referee::check(&apart).is_err());
}

#[test]
fn time_is_not_chosen_for_clusters_that_may_part() {
    // Opposite a heavy token the deviations of a cluster of light ones grow, and no kappa sees them: with one, false statements could be accepted.
    let text = "metastable-trajectory 2\ndynamics sa\ntokens 4\ndimension 2\nbeta 0p0\nradius 0p0\nmasses 1p0 1p-20 1p-20 1p-20\n\
                start -1p0 0p0 1p0 0p0 1p0 0p0 1p0 0p0\norder 4\nfirst -1p0 0p0 1p0 0p0 1p0 0p0 1p0 0p0\n\
                step 1p-40\npiece 1p-40 1p4 1p-50 0p0\nnext -1p0 0p0 1p0 0p0 1p0 0p0 1p0 0p0\nmerge 0 1 1 1\npoints -1p0 0p0 1p0 0p0\n\
                step 1p-40\npiece 1p-40 1p4 1p-50 1p0\nnext -1p0 0p0 1p0 0p0\nend 1p0 0p0\n";
    let why = |text: &str| referee::check(text).expect_err("false");
    assert!(why(text).contains("step 2: time is chosen for clusters that may part"), "{}", why(text));
    let plain = text.replace("1p-50 1p0", "1p-50 0p0");
    assert!(why(&plain).contains("no open hemisphere"), "{}", why(&plain));
}

#[test]
fn a_statement_that_is_false_finds_no_acceptance() {
    // Of a certificate with radius 0: the start is moved to the regular triangle, the end is kept; the radius is made to hold it.
    let text = certificate(SMALL[0]);
    let line = |key: &str| text.lines().find(|l| l.starts_with(key)).expect("a line").to_owned();
    let triangle = "1p0 0p0 -1p-1 7800463371553962p-53 -1p-1 -7800463371553962p-53";
    let moved = text.replace(&line("start"), &format!("start {triangle}")).replace(&line("first"), &format!("first {triangle}"));
    assert!(referee::check(&moved).expect_err("false").starts_with("step 1: "));
    assert!(referee::check(&text.replace(&line("start"), &format!("start {triangle}"))).is_err());
    assert!(referee::check(&text.replace(&line("radius"), "radius 1p1")).is_err());
    // Claims that a checker could forget to look at.
    for (key, count) in [("piece", 3), ("step", 1)] {
        for k in 0..count {
            let mut words: Vec<String> = line(key).split(' ').map(str::to_owned).collect();
            words[k + 1] = "0p0".into();
            let wrong = referee::check(&text.replacen(&line(key), &words.join(" "), 1));
            // The last piece ends with its step, whatever is written.
            assert!(wrong.is_err() || (key, k) == ("piece", 0), "{key} {k}");
        }
    }
    // More points than tokens would be points without tokens, and as much memory as a file likes to ask for.
    let merged = text.replacen(&line("next"), &format!("{}\nmerge 0 0 {}", line("next"), usize::MAX), 1);
    assert!(referee::check(&merged).expect_err("false").contains("more points than tokens"));
    assert!(referee::check("").is_err() && referee::check("metastable-trajectory 2").is_err());
}
