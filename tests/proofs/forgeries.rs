//! Ten thousand forged certificates of landscapes: a node of a tree gets a reason that is false at
//! points of its box, and the verifier refuses.

use metastable::num::stream::Stream;
use metastable::proofs::landscape::{Tokens, benign, complete};
use metastable_verifier as verifier;
use rayon::prelude::*;

/// A node with its lines and its box.
struct Node {
    first: usize,
    end: usize,
    gaps: Vec<(f64, f64)>,
    beta: f64,
}

/// A certificate with a point of view: what its lines claim of which boxes.
struct Certificate {
    lines: Vec<String>,
    /// The masses of the clusters and the nodes of every tree, and whether it is about ascent.
    trees: Vec<(Vec<f64>, Vec<Node>, bool)>,
}

/// The digits of a fraction as a number of turns.
fn turns(word: &str) -> f64 {
    i64::from_str_radix(&format!("{word:0<12}"), 16).expect("digits") as f64 / 2f64.powi(48)
}

/// The nodes of the tree whose first line is given, and the line after it.
fn nodes(lines: &[String], start: usize, k: usize, beta: (f64, f64)) -> (Vec<Node>, usize) {
    let mut stack = vec![(vec![(0.0, 0.5); k], beta)];
    // Nodes that wait for the end of their children, with the height of the stack there.
    let (mut open, mut found): (Vec<(usize, usize)>, Vec<Node>) = (vec![], vec![]);
    let mut at = start;
    while let Some((gaps, beta)) = stack.pop() {
        let words: Vec<&str> = lines[at].split(' ').collect();
        open.push((found.len(), stack.len()));
        let middle = 0.5 * (beta.0 + beta.1);
        found.push(Node { first: at, end: 0, gaps: gaps.clone(), beta: middle });
        match words[0] {
            "G" => {
                let (r, t): (usize, f64) = (words[1].parse().expect("a gap"), turns(words[2]));
                let (mut below, mut above) = (gaps.clone(), gaps);
                (below[r].1, above[r].0) = (t, t);
                stack.extend([(above, beta), (below, beta)]);
            }
            "B" => {
                let b = words[1].parse().expect("a beta");
                stack.extend([(gaps.clone(), (b, beta.1)), (gaps, (beta.0, b))]);
            }
            "K" => {
                let bounds: Vec<f64> = words[1..].iter().map(|w| turns(w)).collect();
                stack.push((bounds.chunks(2).map(|b| (b[0], b[1])).collect(), beta));
            }
            _ => {}
        }
        at += 1;
        while let Some((node, _)) = open.pop_if(|o| o.1 == stack.len()) {
            found[node].end = at;
        }
    }
    (found, at)
}

fn read(text: &str) -> Certificate {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (mut trees, mut at, mut beta) = (vec![], 0, (0.0, 0.0));
    while at < lines.len() {
        let words: Vec<&str> = lines[at].split(' ').collect();
        at += 1;
        if words[0] == "beta" {
            beta = (words[1].parse().expect("a beta"), words[2].parse().expect("a beta"));
        }
        if words[0] != "tree" {
            continue;
        }
        let mass = |w: &&str| w.split(',').map(|m| m.parse::<f64>().expect("a mass")).sum();
        let masses: Vec<f64> = words[2..].iter().map(mass).collect();
        let ascent = words[1] == "ascent";
        while lines[at].starts_with("zero") {
            at += 1;
        }
        let (found, end) = nodes(&lines, at, masses.len(), beta);
        at = end;
        trees.push((masses, found, ascent));
    }
    Certificate { lines, trees }
}

/// Points of a box whose gaps have the sum 1; none if there is no such point in its interior.
fn points(gaps: &[(f64, f64)], s: &mut Stream) -> Vec<Vec<f64>> {
    let (low, high) = gaps.iter().fold((0.0, 0.0), |s, g| (s.0 + g.0, s.1 + g.1));
    if low > 1.0 - 1e-9 || high < 1.0 + 1e-9 {
        return vec![];
    }
    let share = (1.0 - low) / (high - low);
    let middle: Vec<f64> = gaps.iter().map(|g| g.0 + share * (g.1 - g.0)).collect();
    let mut all = vec![middle.clone()];
    for _ in 0..8 {
        let (up, down) = (s.index(gaps.len()), s.index(gaps.len()));
        let mut point = middle.clone();
        let step = 0.9 * (gaps[up].1 - point[up]).min(point[down] - gaps[down].0);
        if up != down {
            point[up] += step;
            point[down] -= step;
        }
        all.push(point);
    }
    all
}

/// `sum m_p m_q f(distance)` over pairs of a cluster inside and one outside a set, and the sum of
/// the absolute terms.
fn across(
    masses: &[f64],
    gaps: &[f64],
    inside: impl Fn(usize, usize) -> f64,
    f: impl Fn(f64) -> f64,
) -> (f64, f64) {
    let k = masses.len();
    let place: Vec<f64> =
        (0..k).map(|p| gaps[..p].iter().sum::<f64>() * std::f64::consts::TAU).collect();
    let (mut sum, mut size) = (0.0, 0.0);
    for (p, q) in (0..k).flat_map(|p| (0..k).map(move |q| (p, q))).filter(|(p, q)| p != q) {
        let term = inside(p, q) * masses[p] * masses[q] * f(place[q] - place[p]);
        (sum, size) = (sum + term, size + term.abs());
    }
    (sum, size)
}

/// A reason of a random kind that is false at points of a box, with its line.
fn lie(masses: &[f64], node: &Node, ascent: bool, s: &mut Stream) -> Option<String> {
    let (k, beta) = (masses.len(), node.beta);
    let points = points(&node.gaps, s);
    if points.is_empty() {
        // An empty box: reasons other than that are refused.
        return Some("F 0 0".into());
    }
    let u = |d: f64| (beta * (d.cos() - 1.0)).exp() * d.sin();
    let w = |d: f64| (beta * (d.cos() - 1.0)).exp() * (d.cos() - beta * d.sin() * d.sin());
    let (a, b) = (s.index(k), s.index(k));
    let (a, b) = (a.min(b), a.max(b));
    let arc = |p: usize, q: usize| {
        let inside = |x: usize| a <= x && x <= b;
        if inside(p) && !inside(q) { 1.0 } else { 0.0 }
    };
    match s.index(4) {
        0 => Some("E".into()),
        1 => {
            // The force takes both signs in the box; that on all clusters is 0.
            let all: Vec<(f64, f64)> = points.iter().map(|p| across(masses, p, arc, u)).collect();
            let has = |sign: f64| all.iter().any(|v| sign * v.0 > 1e-9 * v.1);
            let whole = (a, b) == (0, k - 1);
            (whole || has(1.0) && has(-1.0)).then(|| format!("F {a} {b}"))
        }
        2 if ascent => {
            let no = points.iter().map(|p| across(masses, p, arc, w)).any(|v| v.0 > 1e-9 * v.1);
            (no || (a, b) == (0, k - 1)).then(|| format!("C {a} {b}"))
        }
        2 => Some(format!("U {}", 1000 + s.index(1000))),
        3 if !ascent => {
            // A combination of forces that takes both signs in the box.
            let a: Vec<f64> = (0..k).map(|_| s.uniform_in(-1e6, 1e6).round()).collect();
            let of = |p: usize, _: usize| a[p] / masses[p];
            let all: Vec<(f64, f64)> = points.iter().map(|p| across(masses, p, of, u)).collect();
            let has = |sign: f64| all.iter().any(|v| sign * v.0 > 1e-9 * v.1);
            let words: Vec<String> = a.iter().map(f64::to_string).collect();
            (has(1.0) && has(-1.0)).then(|| format!("A - 0 {}", words.join(" ")))
        }
        _ => {
            let v: Vec<f64> = (0..k).map(|_| (s.uniform_in(-999.0, 999.0)).round()).collect();
            let apart = |p: usize, q: usize| (v[p] - v[q]).powi(2);
            let no = points.iter().map(|p| across(masses, p, apart, w)).any(|v| v.0 > 1e-9 * v.1);
            let words: Vec<String> = v.iter().map(f64::to_string).collect();
            no.then(|| format!("V {}", words.join(" ")))
        }
    }
}

/// Forged certificates, with what was forged.
fn forge(certificate: &Certificate, count: usize, seed: u64) -> Vec<(String, String)> {
    let mut s = Stream::new(seed, &["forged certificates"]);
    let mut all = Vec::new();
    for _ in 0..50 * count {
        let (masses, nodes, ascent) = &certificate.trees[s.index(certificate.trees.len())];
        let node = &nodes[s.index(nodes.len())];
        let Some(line) = lie(masses, node, *ascent, &mut s) else { continue };
        let (before, after) = (&certificate.lines[..node.first], &certificate.lines[node.end..]);
        let text = [before, std::slice::from_ref(&line), after].concat().join("\n") + "\n";
        all.push((text, format!("line {} became {line}", node.first)));
        if all.len() == count {
            break;
        }
    }
    all
}

#[test]
fn ten_thousand_forged_certificates_are_refused() {
    let tokens = |masses: &[f64], beta| Tokens::new(masses, beta).expect("tokens");
    let all = |masses: &[f64], beta| {
        let found = complete(&tokens(masses, beta), true, &|_, _| true).expect("arithmetic");
        found.certificate.expect("a certificate")
    };
    let is_benign = |masses: &[f64], beta| {
        let found = benign(&tokens(masses, beta), true, &|_, _| true).expect("arithmetic");
        found.certificate.expect("a certificate")
    };
    let texts = [
        (all(&[1.0; 3], (1.0, 1.0)), 2000),
        (all(&[1.0; 3], (9.0, 9.0)), 1000),
        (all(&[2.0, 1.0, 1.0], (0.1, 0.1)), 500),
        (all(&[3.0, 2.0, 1.0], (2.0, 2.0)), 1500),
        (all(&[1.0; 4], (2.0, 2.0)), 500),
        (is_benign(&[1.0; 3], (0.1, 2.0)), 2000),
        (is_benign(&[1.0; 3], (-0.6, -0.1)), 1000),
        (is_benign(&[1.0; 4], (1.0, 1.0)), 1500),
    ];
    let mut refused = 0;
    for (seed, (text, count)) in texts.iter().enumerate() {
        verifier::check(text).expect("the true certificate is accepted");
        let forged = forge(&read(text), *count, seed as u64);
        assert_eq!(forged.len(), *count, "too few lies are found: {seed}");
        forged.par_iter().for_each(|(changed, what)| {
            let answer = verifier::check(changed);
            assert!(answer.is_err(), "{seed}: {what}: {answer:?}");
        });
        refused += forged.len();
    }
    assert_eq!(refused, 10_000);
}
