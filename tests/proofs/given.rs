//! What tests of proofs share: tokens and their landscapes, and certificates of which lines are
//! changed.

use metastable::attention::interaction::Interaction;
use metastable::proofs::landscape::{Benign, Landscape, Report, Tokens, benign, complete};
use metastable::sphere;
use metastable_verifier as verifier;
use std::ops::Range;

/// A search that nothing stops.
pub const GO: Report = &|_, _| true;

pub fn tokens(masses: &[f64], beta: (f64, f64)) -> Tokens {
    Tokens::new(masses, beta).expect("tokens")
}

pub fn phi(text: &str) -> Interaction {
    Interaction::parse(text, &[]).expect("an interaction")
}

/// Equal tokens under an interaction.
pub fn under(n: usize, text: &str) -> Tokens {
    tokens(&vec![1.0; n], (0.0, 0.0)).with_interaction(&phi(text)).expect("two derivatives")
}

pub fn all(tokens: &Tokens, keep: bool) -> Landscape {
    complete(tokens, keep, GO).expect("arithmetic")
}

pub fn is_benign(tokens: &Tokens, keep: bool) -> Benign {
    benign(tokens, keep, GO).expect("arithmetic")
}

/// A regular polygon on the circle.
pub fn polygon(n: usize) -> sphere::Tokens {
    let angle = |k: usize| std::f64::consts::TAU * k as f64 / n as f64;
    sphere::Tokens::from_angles(&(0..n).map(angle).collect::<Vec<_>>()).expect("tokens")
}

/// A regular tetrahedron.
pub fn tetrahedron() -> sphere::Tokens {
    let rows = vec![1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0];
    sphere::Tokens::normalised(3, rows).expect("tokens")
}

/// The sentence of an accepted certificate.
pub fn accepted(text: Option<String>) -> String {
    verifier::check(&text.expect("a certificate")).expect("accepted")
}

/// **Panics** a change, of one text into another, after which the certificate is accepted.
pub fn refuses(text: &str, changes: &[(&str, &str)]) {
    for (from, to) in changes {
        let changed = text.replacen(from, to, 1);
        assert!(changed != text && verifier::check(&changed).is_err(), "{from} became {to}");
    }
}

/// What the verifier says with other lines in the place of some.
pub fn with_lines(lines: &[&str], at: Range<usize>, other: &[&str]) -> Result<String, String> {
    let changed = [&lines[..at.start], other, &lines[at.end..]].concat();
    verifier::check(&(changed.join("\n") + "\n"))
}

/// The result with this number of threads.
pub fn with_threads<T: Send>(threads: usize, of: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(of)
}

/// A node of a tree: its lines, its box, and the middle of its beta.
pub struct Node {
    pub lines: Range<usize>,
    pub gaps: Vec<(f64, f64)>,
    pub beta: f64,
}

/// A tree of a certificate of a landscape on the circle: its first line, the masses of the
/// clusters, and its nodes.
pub struct Tree<'a> {
    pub head: &'a str,
    pub masses: Vec<f64>,
    pub nodes: Vec<Node>,
}

/// The digits of a fraction as a number of turns.
fn turns(word: &str) -> f64 {
    i64::from_str_radix(&format!("{word:0<12}"), 16).expect("digits") as f64 / 2f64.powi(48)
}

/// The nodes of the tree whose first line is given.
fn nodes(lines: &[&str], start: usize, k: usize, beta: (f64, f64)) -> Vec<Node> {
    let mut stack = vec![(vec![(0.0, 0.5); k], beta)];
    // Nodes that wait for the end of their children, with the height of the stack there.
    let (mut open, mut found): (Vec<(usize, usize)>, Vec<Node>) = (vec![], vec![]);
    let mut at = start;
    while let Some((gaps, beta)) = stack.pop() {
        let words: Vec<&str> = lines[at].split(' ').collect();
        open.push((found.len(), stack.len()));
        let middle = 0.5 * (beta.0 + beta.1);
        found.push(Node { lines: at..at, gaps: gaps.clone(), beta: middle });
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
            found[node].lines.end = at;
        }
    }
    found
}

/// The trees of a certificate.
pub fn trees<'a>(lines: &[&'a str]) -> Vec<Tree<'a>> {
    let (mut found, mut beta) = (vec![], (0.0, 0.0));
    for (at, &head) in lines.iter().enumerate() {
        let words: Vec<&str> = head.split(' ').collect();
        match words[0] {
            "beta" => beta = (words[1].parse().expect("a beta"), words[2].parse().expect("a beta")),
            "tree" => {
                let mass = |w: &&str| w.split(',').map(|m| m.parse::<f64>().expect("a mass")).sum();
                let masses: Vec<f64> = words[2..].iter().map(mass).collect();
                let zeros = lines[at + 1..].iter().take_while(|l| l.starts_with("zero")).count();
                let nodes = nodes(lines, at + 1 + zeros, masses.len(), beta);
                found.push(Tree { head, masses, nodes });
            }
            _ => {}
        }
    }
    found
}
