//! The verifier on changed files: it accepts only true statements.
//!
//! `METASTABLE_MUTANTS=10000 cargo test --release --test proofs verifier -- --nocapture` makes this
//! number of changed files of each kind and prints how many were accepted.

use crate::given::{polygon, refuses, tetrahedron};
use metastable::attention::{RowWeights, Variant};
use metastable::landscape::CriticalPoint;
use metastable::num::interval::Interval;
use metastable::num::stream::Stream;
use metastable::proofs::critical_point::{self, Certificate};
use metastable::proofs::trajectory::{Neighbourhood, prove};
use metastable::sphere::Tokens;
use metastable_verifier as verifier;

/// Certificates with few steps: tokens, inverse temperature, radius, seed.
const SMALL: [(usize, f64, f64, u64); 4] =
    [(3, 1.0, 0.0, 1), (3, 4.0, 1e-4, 3), (4, 2.0, 1e-8, 2), (4, 1.0, 1e-3, 7)];

fn certificate((n, beta, radius, seed): (usize, f64, f64, u64)) -> String {
    let mut s = Stream::new(seed, &["referee"]);
    let variant = Variant::mutual(RowWeights::Softmax);
    for _ in 0..1000 {
        let x: Vec<f64> = (0..n).map(|_| s.uniform_in(0.0, std::f64::consts::TAU)).collect();
        let x = Tokens::from_angles(&x).expect("tokens");
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

/// The hypothesis in the head of a file.
fn hypothesis(text: &str) -> Option<Neighbourhood> {
    let words = |key: &str| {
        let line = text.lines().find(|l| l.split(' ').next() == Some(key))?;
        Some(line.split(' ').skip(1).collect::<Vec<_>>())
    };
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

/// A certificate with one error: in a number, a sign, a power, the order of words or lines, or a
/// name.
fn mutated(text: &str, s: &mut Stream) -> String {
    let mut lines: Vec<Vec<String>> = text
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| l.split(' ').map(str::to_owned).collect())
        .collect();
    let (at, other) = (s.index(lines.len()), s.index(lines.len()));
    let word = 1 + s.index(lines[at].len() - 1);
    let second = 1 + s.index(lines[at].len() - 1);
    let numbers: Vec<String> = lines[other].iter().skip(1).cloned().collect();
    let found = lines[at][word].clone();
    let whole = |v: &str| v.parse::<i64>().unwrap_or(0);
    // By a thousandth, by a tenth.
    let scaled = |by: f64| {
        let v = double(&found).unwrap_or(1.0) * by * 60f64.exp2();
        format!("{}p-60", v.clamp(-9e18, 9e18) as i64)
    };
    let changed = match (found.split_once('p'), s.index(9)) {
        (Some((m, k)), 0) => format!("{}p{k}", whole(m) + 1),
        (Some((m, k)), 1) => format!("{}p{k}", -whole(m)),
        (Some((m, k)), 2) => format!("{m}p{}", whole(k) + 1),
        (Some((m, k)), 3) => format!("{m}p{}", whole(k) - 1),
        (Some(_), 4) => scaled(1.001),
        (Some(_), 5) => scaled(0.9),
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

/// The number of changed certificates, of accepted ones, and of those with another statement, which
/// a new proof confirms.
fn mutants(seed: u64, count: usize) -> (usize, usize, usize) {
    let mut s = Stream::new(seed, &["mutants"]);
    let (mut tried, mut accepted, mut proved) = (0, 0, 0);
    for kind in SMALL {
        let text = certificate(kind);
        let original = hypothesis(&text);
        assert!(verifier::check(&text).is_ok(), "{:?}", verifier::check(&text));
        for _ in 0..count / SMALL.len() {
            let mutant = mutated(&text, &mut s);
            tried += 1;
            if verifier::check(&mutant).is_err() {
                continue;
            }
            accepted += 1;
            let stated = hypothesis(&mutant).expect("an accepted file can be read");
            if Some(&stated) != original.as_ref() {
                proved += 1;
                let again = prove(&stated).expect("arithmetic").is_ok();
                assert!(again, "accepted, but not proved again:\n{mutant}");
            }
        }
    }
    (tried, accepted, proved)
}

/// The number of changed files: METASTABLE_MUTANTS, or the usual number.
fn count_or(usual: usize) -> usize {
    std::env::var("METASTABLE_MUTANTS").ok().and_then(|v| v.parse().ok()).unwrap_or(usual)
}

/// Clusters of these sizes.
fn weighted(x: Tokens, sizes: &[usize]) -> Tokens {
    let masses: Vec<f64> = sizes.iter().map(|s| *s as f64).collect();
    x.with_masses(&masses).expect("masses")
}

/// Certificates of critical points.
fn saddles() -> Vec<Certificate> {
    // The inverse temperature, the points and the sizes of the clusters.
    let all = [
        (4.0, polygon(2), vec![3, 2]),
        (5.0, polygon(3), vec![1, 2, 1]),
        (6.0, polygon(4), vec![1, 1, 1, 1]),
        (3.0, tetrahedron(), vec![1, 2, 1, 1]),
        (-1.0, polygon(3), vec![1, 1, 1]),
    ];
    let proof = |(beta, x, sizes): (f64, Tokens, Vec<usize>)| {
        let x = weighted(x, &sizes);
        let point = CriticalPoint::near(beta, &x, &sizes).expect("a critical point");
        critical_point::prove(&point).expect("a proof")
    };
    all.into_iter().map(proof).collect()
}

/// Another number: one bit, the sign, a neighbour, or by a thousandth, a tenth, a factor of two.
fn perturbed(v: f64, s: &mut Stream) -> f64 {
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

/// A certificate with one error in its statement.
fn changed(c: &Certificate, s: &mut Stream) -> Certificate {
    let mut c = c.clone();
    let (k, d) = (c.sizes.len(), c.d);
    let (q, p) = (s.index(k), s.index(k));
    match s.index(12) {
        0 => c.beta = perturbed(c.beta, s),
        1 => c.radius = perturbed(c.radius, s),
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
            c.points[at] = perturbed(c.points[at], s);
        }
    }
    c
}

#[test]
fn changed_statements_about_critical_points_are_accepted_only_if_true() {
    let (mut s, mut tried, mut accepted, mut new, mut open) =
        (Stream::new(2, &["bent"]), 0, 0, 0, 0);
    let all = saddles();
    for proof in &all {
        let statement = verifier::check(&proof.to_text()).expect("the verifier accepts it");
        let signs = format!("{} positive and {} negative", proof.unstable, proof.morse_index);
        assert!(statement.contains(&signs), "{statement}");
    }
    for k in 0..count_or(300) {
        let (proof, mut text) = (&all[k % all.len()], String::new());
        let mutant = changed(proof, &mut s);
        if mutant.points.iter().chain([&mutant.beta, &mutant.radius]).all(|v| v.is_finite()) {
            text = mutant.to_text();
        }
        tried += 1;
        if verifier::check(&text).is_err() {
            continue;
        }
        accepted += 1;
        if mutant == *proof {
            continue;
        }
        new += 1;
        // The checker of the library confirms the statement; where doubles do not decide, a new
        // proof of a point in the box with the same signs does.
        if critical_point::check(&mutant).is_err() {
            open += 1;
            let x = Tokens::normalised(mutant.d, mutant.points.clone()).expect("tokens");
            let again =
                CriticalPoint::near(mutant.beta, &weighted(x, &mutant.sizes), &mutant.sizes)
                    .and_then(|p| critical_point::prove(&p))
                    .expect("a fresh proof");
            let mut places = again.points.iter().zip(&mutant.points);
            assert!(places.all(|(a, b)| (a - b).abs() <= again.radius + mutant.radius));
            let signs = |c: &Certificate| (c.unstable, c.morse_index);
            assert_eq!(signs(&again), signs(&mutant), "{mutant:?}");
        }
    }
    // A radius or a last digit may change within the margins of the proof; most changes are false.
    assert!(accepted > 0 && accepted < tried / 2, "{tried} {accepted}");
    tell(&format!(
        "critical points: {tried} tried, {accepted} accepted, {new} of another statement, \
         {open} not decided by doubles"
    ));
}

#[test]
fn damaged_files_about_critical_points_are_rejected() {
    let mut origin = saddles().remove(0);
    let changes = [
        ("4e0", "5e0"),
        ("version 3", "version 2"),
        ("\"radius\"", "\"radios\""),
        ("4010000000000000", "401000000000000"),
        ("\"d\": 2", "\"d\": 3"),
    ];
    refuses(&origin.to_text(), &changes);
    assert!(verifier::check("{}").is_err() && verifier::check("{").is_err());
    // A zero of the equations that is not on the sphere: a cluster at the origin.
    origin.points[2] = 0.0;
    let why = verifier::check(&origin.to_text()).expect_err("no point of the sphere");
    assert!(why.contains("sphere"), "{why}");
}

/// Prints a line if METASTABLE_MUTANTS is set.
fn tell(line: &str) {
    if std::env::var_os("METASTABLE_MUTANTS").is_some() {
        let text = format!("{line}\n");
        let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
    }
}

/// Number of lines without comments and empty lines.
fn lines_of_code(name: &str) -> usize {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let text = std::fs::read_to_string(path).expect("a source file");
    assert!(!text.contains("rustfmt::skip"), "{name}");
    text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("//")).count()
}

/// The files that a reader of one kind of certificate has to read, and the most lines of code.
const LENGTHS: [(&str, &str, usize); 7] = [
    ("a start", "number flow errors trajectory", 720),
    ("a critical point", "number flow critical", 620),
    (
        "a landscape on the circle",
        "interval walk kernel landscape circle tree strata balance",
        1340,
    ),
    ("a landscape on spheres", "interval walk sphere sphere_point", 1180),
    ("a time", "interval time", 380),
    ("modes", "interval modes", 410),
    ("formulas", "expression phi formula", 690),
];

#[test]
fn the_verifier_is_short() {
    let own = |name: &str| lines_of_code(&format!("src/verifier/{name}.rs"));
    let program = lines_of_code("examples/verifier.rs") + own("lib") + own("canonical");
    for (kind, files, most) in LENGTHS {
        let lines = program + files.split(' ').map(own).sum::<usize>();
        assert!(lines <= most, "{kind}: {lines} lines");
    }
}

/// A double in the fixed point of the verifier; exact for multiples of 2^-128.
fn fixed_point(v: f64) -> verifier::number::I {
    let (bits, sign) = (v.abs().to_bits(), if v < 0.0 { -1 } else { 1 });
    let (whole, power) = ((bits & ((1 << 52) - 1)) as i64, (bits >> 52) as i64);
    verifier::number::dyadic(
        sign * if power == 0 { whole } else { whole | 1 << 52 },
        power.max(1) - 1075,
    )
}

#[test]
fn operations_on_intervals_enclose_those_of_the_verifier() {
    let mut s = Stream::new(5, &["operations"]);
    let size =
        |s: &mut Stream| s.normal() * f64::from(1 << s.index(8)) / f64::from(1 << s.index(20));
    let mut draw = |wide: bool| {
        let (a, b) = (size(&mut s), size(&mut s));
        if wide { (a.min(b), a.max(b)) } else { (a, a) }
    };
    let pair = |(lo, hi): (f64, f64)| {
        (Interval::new(lo, hi), verifier::number::I(fixed_point(lo).0, fixed_point(hi).1))
    };
    // The tolerance covers the rounding of the verifier, a few times 2^-128.
    let tolerance = fixed_point(2f64.powi(-110)).1;
    let mut count = 0;
    for k in 0..36_000 {
        let ((a, x), (b, y)) = (pair(draw(k % 2 == 0)), pair(draw(k % 3 == 0)));
        let mut found =
            vec![(a + b, &x + &y), (a - b, &x - &y), (a * b, &x * &y), (a * a, &x * &x)];
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
            let below = fixed_point(own.lo()).0 <= &exact.0 + &tolerance;
            let above = exact.1 <= fixed_point(own.hi()).1 + &tolerance;
            assert!(below && above, "{a:?} {b:?} {own:?}");
        }
    }
    assert!(count >= 200_000, "{count}");
}

#[test]
fn changed_certificates_are_accepted_only_if_true() {
    let (tried, accepted, proved) = mutants(1, count_or(120));
    tell(&format!("convergence: {tried} tried, {accepted} accepted, {proved} of other statements"));
    // Growth rates and tubes may be larger than needed, and a start may move within the first tube;
    // most changes are false.
    let few = accepted > 0 && accepted < tried / 2 && proved <= accepted;
    assert!(few, "{tried} {accepted} {proved}");
}

#[test]
fn a_wait_of_a_million_units_of_time_is_checked() {
    // Three pairs of tokens at beta = 16: they merge to three points, which wait.
    let third = std::f64::consts::TAU / 3.0;
    let places = [0.0, 0.05, third, third + 0.1, 2.0 * third + 0.02, 2.0 * third - 0.03];
    let x = Tokens::from_angles(&places).expect("tokens");
    let variant = Variant::mutual(RowWeights::Softmax);
    let near = Neighbourhood::new(variant, 16.0, &x, 0.0).expect("a start");
    let proof = prove(&near).expect("arithmetic").expect("a proof");
    let text = proof.to_text();
    let statement = verifier::check(&text).expect("the verifier accepts it");
    assert!(proof.t > 1e6 && text.contains("merge"), "{}", proof.t);
    assert!(statement.contains("converge to one point"), "{statement}");
    // A piece with kappa > 0: too small a growth rate, no space for the error, another kappa.
    let line =
        text.lines().find(|l| l.starts_with("piece") && !l.ends_with(" 0p0")).expect("a piece");
    let words: Vec<&str> = line.split(' ').collect();
    // With so large a kappa the enclosure of `kappa f f^T` is wider than the growth.
    for (at, word, why) in [
        (2, "0p0", "grow faster"),
        (3, "0p0", "leaves its tube"),
        (4, &format!("-{}", words[4])[..], "not in order"),
        (4, "1p90", "grow faster"),
    ] {
        let mut words = words.clone();
        words[at] = word;
        let changed = text.replacen(line, &words.join(" "), 1);
        let found = verifier::check(&changed).expect_err("not so");
        assert!(found.contains(why), "{found}");
    }
    // Without the merger the steps are too long.
    let apart = text.lines().filter(|l| !l.starts_with("merge") && !l.starts_with("points"));
    assert!(verifier::check(&apart.map(|l| format!("{l}\n")).collect::<String>()).is_err());
}

#[test]
fn kappa_is_rejected_for_clusters_that_may_part() {
    // Opposite a heavy token the deviations of a cluster of light tokens grow, and no kappa reduces
    // them: with kappa > 0 false statements could be accepted.
    let text = "metastable-trajectory 3\ndynamics sa\ntokens 4\ndimension 2\nbeta 0p0\nradius 0p0\nmasses 1p0 1p-20 1p-20 1p-20\n\
                start -1p0 0p0 1p0 0p0 1p0 0p0 1p0 0p0\norder 4\nfirst -1p0 0p0 1p0 0p0 1p0 0p0 1p0 0p0\n\
                step 1p-40\npiece 1p-40 1p4 1p-50 0p0\nnext -1p0 0p0 1p0 0p0 1p0 0p0 1p0 0p0\nmerge 0 1 1 1\npoints -1p0 0p0 1p0 0p0\n\
                step 1p-40\npiece 1p-40 1p4 1p-50 1p0\nnext -1p0 0p0 1p0 0p0\nend 1p0 0p0\n";
    let why = |text: &str| verifier::check(text).expect_err("false");
    assert!(why(text).contains("step 2: kappa must be 0, as clusters may part"), "{}", why(text));
    let plain = text.replace("1p-50 1p0", "1p-50 0p0");
    assert!(why(&plain).contains("do not provably end in an open hemisphere"), "{}", why(&plain));
}

#[test]
fn false_statements_are_rejected() {
    // From a certificate with radius 0: the start moved to the regular triangle, with and without
    // `first`; a radius that contains it.
    let text = certificate(SMALL[0]);
    let line = |key: &str| text.lines().find(|l| l.starts_with(key)).expect("a line").to_owned();
    let triangle = "1p0 0p0 -1p-1 3900231685776981p-52 -1p-1 -3900231685776981p-52";
    let moved = text
        .replace(&line("start"), &format!("start {triangle}"))
        .replace(&line("first"), &format!("first {triangle}"));
    assert!(verifier::check(&moved).expect_err("false").starts_with("step 1: "));
    assert!(verifier::check(&text.replace(&line("start"), &format!("start {triangle}"))).is_err());
    assert!(verifier::check(&text.replace(&line("radius"), "radius 1p1")).is_err());
    // Numbers that a checker might ignore.
    for (key, count) in [("piece", 3), ("step", 1)] {
        for k in 0..count {
            let mut words: Vec<String> = line(key).split(' ').map(str::to_owned).collect();
            words[k + 1] = "0p0".into();
            let wrong = verifier::check(&text.replacen(&line(key), &words.join(" "), 1));
            // The last piece ends with its step, whatever the file says.
            assert!(wrong.is_err() || (key, k) == ("piece", 0), "{key} {k}");
        }
    }
    // More points than tokens: some points would have no token, and the file could demand any
    // amount of memory.
    let merged =
        text.replacen(&line("next"), &format!("{}\nmerge 0 0 {}", line("next"), usize::MAX), 1);
    assert!(verifier::check(&merged).expect_err("false").contains("more points than tokens"));
    assert!(verifier::check("").is_err() && verifier::check("metastable-trajectory 3").is_err());
}
