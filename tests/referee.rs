//! The referee of proofs of convergence, with nothing between it and the files: what it accepts is true, whatever was done to the file.

#[path = "../src/cli/certify/referee/mod.rs"]
mod referee;

use metastable::attention::{RowWeights, Variant};
use metastable::landscape::trajectory::{Neighbourhood, prove};
use metastable::num::stream::Stream;
use metastable::sphere::Tokens;

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

#[test]
fn mutants_are_accepted_only_when_what_they_say_is_true() {
    let (tried, accepted, proved) = mutants(1, 240);
    // Growth rates and tubes may be larger than needed, a start may move within the slack of the first tube; most changes are wrong.
    assert!(accepted > 0 && accepted < tried / 2 && proved <= accepted, "{tried} {accepted} {proved}");
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
    assert!(referee::check("").is_err() && referee::check("metastable-trajectory 2").is_err());
}
