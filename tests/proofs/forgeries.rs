//! Ten thousand forged certificates of landscapes: a node of a tree gets a reason that is false at
//! points of its box, and the verifier refuses.

use crate::given::{Node, all, is_benign, tokens, trees, with_lines};
use metastable::num::stream::Stream;
use metastable_verifier as verifier;
use rayon::prelude::*;

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

/// Forged lines: the number of the lines that each replaces, and itself.
type Forgery = (std::ops::Range<usize>, String);

fn forge(lines: &[&str], count: usize, seed: u64) -> Vec<Forgery> {
    let mut s = Stream::new(seed, &["forged certificates"]);
    let (trees, mut all) = (trees(lines), Vec::new());
    for _ in 0..50 * count {
        let tree = &trees[s.index(trees.len())];
        let node = &tree.nodes[s.index(tree.nodes.len())];
        let ascent = tree.head.starts_with("tree ascent");
        all.extend(lie(&tree.masses, node, ascent, &mut s).map(|line| (node.lines.clone(), line)));
        if all.len() == count {
            break;
        }
    }
    all
}

#[test]
fn ten_thousand_forged_certificates_are_refused() {
    let complete = |masses: &[f64], beta: f64| all(&tokens(masses, (beta, beta)), true).certificate;
    let benign = |n: usize, beta| is_benign(&tokens(&vec![1.0; n], beta), true).certificate;
    let texts = [
        (complete(&[1.0; 3], 1.0), 2000),
        (complete(&[1.0; 3], 9.0), 1000),
        (complete(&[2.0, 1.0, 1.0], 0.1), 500),
        (complete(&[3.0, 2.0, 1.0], 2.0), 1500),
        (complete(&[1.0; 4], 2.0), 500),
        (benign(3, (0.1, 2.0)), 2000),
        (benign(3, (-0.6, -0.1)), 1000),
        (benign(4, (1.0, 1.0)), 1500),
    ];
    for (seed, (text, count)) in texts.into_iter().enumerate() {
        let text = text.expect("a certificate");
        verifier::check(&text).expect("the true certificate is accepted");
        let lines: Vec<&str> = text.lines().collect();
        let forged = forge(&lines, count, seed as u64);
        assert_eq!(forged.len(), count, "too few lies are found: {seed}");
        forged.par_iter().for_each(|(at, line)| {
            let answer = with_lines(&lines, at.clone(), &[line.as_str()]);
            assert!(answer.is_err(), "{seed}: lines {at:?} became {line}: {answer:?}");
        });
    }
}
