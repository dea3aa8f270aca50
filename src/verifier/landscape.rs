//! Certificates of whole landscapes on the circle: every leaf of the trees is confirmed again.
//!
//! Gaps and distances are whole multiples of `2^-48` turns, so geometry is exact. The pulls
//! `u = e^{beta (cos d - 1)} sin d` and the weights `w = u'` are enclosed by intervals of doubles
//! that are rounded outwards after every operation; the assumption is IEEE arithmetic. Lemmas and
//! lines of the file are those of the documentation of `proofs::landscape`.

use crate::canonical::{canonical_lines, confirm, index, real, whole};
use crate::circle::{Cell, Circle, Gaps};
use crate::formula::Table;
use crate::kernel::{Kernel, Law, TURN as ONE};
use crate::strata::{Members, canonical, orders, strata};
use crate::tree::{Nodes, children_of, pairs_of, turns};
use crate::walk::{Progress, Watch, walk};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The lines of a file, and what is proved so far.
struct Check<'a> {
    lines: Vec<&'a str>,
    /// Number of lines that are read.
    line: usize,
    masses: Vec<u32>,
    upper: Vec<u32>,
    law: Law,
    longest: i64,
    beta: (f64, f64),
    at: f64,
    labelled: Vec<u64>,
    orbits: usize,
}

impl<'a> Check<'a> {
    fn next(&mut self) -> Result<Vec<&'a str>, String> {
        let line = self.lines.get(self.line).ok_or("the certificate is cut off")?;
        self.line += 1;
        Ok(line.split(' ').collect())
    }

    fn with_key(&mut self, key: &str) -> Result<Vec<&'a str>, String> {
        let words = self.next()?;
        confirm(words.first() == Some(&key), &format!("line {}: no `{key}`", self.line))?;
        Ok(words[1..].to_vec())
    }

    fn next_is(&self, key: &str) -> bool {
        self.lines.get(self.line).is_some_and(|l| l.split(' ').next() == Some(key))
    }

    fn masses(&mut self, key: &str) -> Result<Vec<u32>, String> {
        let masses: Option<Vec<u32>> = self.with_key(key)?.iter().map(|w| whole(w)).collect();
        masses
            .filter(|m| {
                (2..=12).contains(&m.len()) && m.iter().all(|m| (1..=1_000_000).contains(m))
            })
            .ok_or(format!("{key} are 2 to 12 whole numbers up to 10^6"))
    }

    /// The interaction, with its parameters and the largest gap; its name.
    fn interaction(&mut self) -> Result<String, String> {
        let text = self.with_key("interaction")?.join(" ");
        let (mut name, mut parameters) = (format!("phi(s) = {text}"), vec![]);
        while self.next_is("parameter") {
            let words = self.with_key("parameter")?;
            let value = words.get(1).and_then(|w| real(w)).filter(|_| words.len() == 2);
            let value = value.ok_or("a parameter without value")?;
            name.push_str(&format!(", {} = {value}", words[0]));
            parameters.push((words[0].to_owned(), value));
        }
        self.law = Law(Some(Arc::new(Table::new(&text, &parameters)?)));
        let gaps = self.with_key("gaps")?;
        confirm(gaps.len() == 1, "gaps without a bound")?;
        self.longest = turns(gaps[0])?;
        confirm(self.longest >= self.law.longest(), "the bound of the gaps is not proved")?;
        Ok(name)
    }

    fn circle(&self, clusters: Vec<Members>) -> Circle {
        Circle::new(clusters, &self.masses, &self.upper, self.law.clone())
    }

    /// Adds an orbit to the counts.
    fn add(&mut self, circle: &Circle, ascents: usize, (rotations, mirror): (u64, bool)) {
        let inside: u64 = circle.clusters.iter().map(|c| orders(c.iter())).product();
        let all = orders(self.masses.iter()) / inside / rotations.max(1);
        self.labelled[ascents] += if mirror { all } else { 2 * all };
        self.orbits += 1;
    }

    /// The zeros of a tree, each alone in its box.
    fn zeros(&mut self, circle: &Circle) -> Result<Vec<Gaps>, String> {
        let kernel = circle.law.kernel((self.at, self.at));
        let (mut boxes, mut found): (Vec<Gaps>, Vec<(usize, Gaps)>) = (vec![], vec![]);
        while self.next_is("zero") {
            let words = self.with_key("zero")?;
            confirm(words.len() == 1 + 2 * circle.k(), "a zero without its box")?;
            let r = index(words[0], circle.k())?;
            let alone = pairs_of(&words[1..])?;
            let place = circle.zero(r, &alone, &kernel)?;
            let within = |a: &[(i64, i64)], b: &[(i64, i64)]| {
                a.iter().zip(b).all(|(a, b)| b.0 <= a.0 && a.1 <= b.1)
            };
            let apart = |a: &[(i64, i64)], b: &[(i64, i64)]| {
                a.iter().zip(b).any(|(a, b)| a.1 < b.0 || b.1 < a.0)
            };
            let image = |to: &[usize]| to.iter().map(|x| place[*x]).collect::<Vec<_>>();
            let (mut known, mut rotations, mut mirror) = (false, 0, false);
            for (to, back) in &circle.symmetries {
                let image = image(to);
                for (id, other) in &found {
                    let same = within(&image, &boxes[*id]);
                    confirm(same || apart(&image, other), "two zeros were not told apart")?;
                    known |= same;
                }
                let same = within(&image, &alone);
                confirm(same || apart(&image, &place), "a symmetry of a zero is not decided")?;
                rotations += u64::from(same && !back);
                mirror |= same && *back;
            }
            boxes.push(alone);
            if !known {
                let ascents = circle.ascents(&place, &kernel)?;
                self.add(circle, ascents, (rotations, mirror));
                found.push((boxes.len() - 1, place));
            }
        }
        Ok(boxes)
    }

    /// A tree: every leaf must have a reason.
    fn tree(&mut self, goal: &str, circle: &Circle, progress: &Progress) -> Result<(), String> {
        let zeros = if goal == "zeros" { self.zeros(circle)? } else { vec![] };
        let beta = if goal == "zeros" { (self.at, self.at) } else { self.beta };
        // The lines of the tree end where no node is missing.
        let (start, mut missing, mut children) = (self.line, 1, vec![]);
        while missing > 0 {
            let line = self.next()?;
            children.push(children_of(line[0]));
            missing = missing + children_of(line[0]) - 1;
        }
        let nodes = Nodes { goal, circle, zeros: &zeros, lines: &self.lines[start..self.line] };
        let root = Cell { gaps: vec![(0, self.longest); circle.k()], beta };
        let visit = |kernel: &mut Option<(Kernel, (f64, f64))>, x: usize, cell: Cell| {
            let refused = || {
                let line = nodes.lines.get(x).unwrap_or(&"");
                format!("line {}: {line} is not confirmed", start + x + 1)
            };
            nodes.visit(x, cell, kernel)?.ok_or_else(refused)
        };
        walk(root, &children, visit, progress)
    }
}

/// Checks a certificate and returns its statement.
pub(super) fn check(text: &str, watch: Watch) -> Result<String, String> {
    crate::interval::check_rounding()?;
    let lines = canonical_lines(text)?;
    let progress = Progress::new(watch, lines.len());
    let mut c = Check {
        lines,
        line: 0,
        masses: vec![],
        upper: vec![],
        law: Law::default(),
        longest: ONE / 2,
        beta: (0.0, 0.0),
        at: 0.0,
        labelled: vec![],
        orbits: 0,
    };
    let version = c.with_key("metastable-landscape")?;
    confirm(version == ["1"], "the version is not 1")?;
    let kind = c.with_key("kind")?.join(" ");
    c.masses = c.masses("masses")?;
    let intervals = c.next_is("upper");
    c.upper = if intervals { c.masses("upper")? } else { c.masses.clone() };
    let bounds: Vec<(u32, u32)> = c.masses.iter().copied().zip(c.upper.iter().copied()).collect();
    // Tokens with the same lower bound have the same interval.
    let agrees = |a: &(u32, u32)| a.0 <= a.1 && bounds.iter().all(|b| a.0 != b.0 || a.1 == b.1);
    confirm(c.upper.len() == c.masses.len() && bounds.iter().all(agrees), "masses without bounds")?;
    confirm(!intervals || kind == "benign", "only a benign landscape has masses in intervals")?;
    let formula = if c.next_is("interaction") { Some(c.interaction()?) } else { None };
    let beta: Vec<f64> = match formula {
        Some(_) => vec![0.0, 0.0],
        None => {
            let all: Option<Vec<f64>> = c.with_key("beta")?.iter().map(|w| real(w)).collect();
            all.ok_or("beta has numbers in another form")?
        }
    };
    let fits = beta.len() == 2 && beta[0] <= beta[1] && beta.iter().all(|b| b.abs() <= 100.0);
    confirm(fits, "beta is out of range")?;
    c.beta = (beta[0], beta[1]);
    let point = beta[0].to_bits() == beta[1].to_bits();
    confirm(point || kind != "maximum", "a local maximum is proved at one beta only")?;
    c.at = if point { beta[0] } else { 0.5 * (beta[0] + beta[1]) };
    let law = formula.unwrap_or_else(|| match point {
        true => format!("beta = {}", beta[0]),
        false => format!("all beta in [{}, {}]", beta[0], beta[1]),
    });
    // Two opposite clusters are the only pair if the interaction is positive.
    let fewest = if c.longest > ONE / 2 { 2 } else { 3 };
    let n = c.masses.len();
    c.labelled = vec![0; n];
    let all = strata(&c.masses);
    let mut goals: BTreeSet<(&str, Vec<Members>)> = BTreeSet::new();
    for clusters in all.iter().filter(|c| c.len() >= fewest) {
        match kind.as_str() {
            "complete" if point => _ = goals.insert(("zeros", clusters.clone())),
            "complete" => {
                goals.extend([("zeros", clusters.clone()), ("regular", clusters.clone())])
            }
            "benign" if clusters.len() == n => _ = goals.insert(("ascent", clusters.clone())),
            "benign" | "maximum" => {}
            _ => return Err(format!("unknown kind {kind}")),
        }
    }
    if kind == "complete" {
        simple(&mut c, &all, fewest)?;
    }
    let mut maximum = None;
    while c.next_is("tree") {
        let words = c.with_key("tree")?;
        let goal = *words.first().ok_or("a tree without goal")?;
        let members = |w: &&str| w.split(',').map(whole).collect::<Option<Members>>();
        let clusters: Option<Vec<Members>> = words[1..].iter().map(members).collect();
        let clusters = clusters.filter(|c| c.len() >= fewest).ok_or("a tree without clusters")?;
        let circle = c.circle(clusters);
        let form = canonical(&circle.clusters);
        // Equal clusters must be written alike: symmetries are read from them.
        confirm(form == circle.clusters, "clusters that are not in their order")?;
        if kind == "maximum" {
            let fits = goal == "zeros" && maximum.is_none() && all.contains(&form);
            confirm(fits, "the clusters are not the tokens")?;
            let zeros = c.zeros(&circle)?;
            confirm(zeros.len() == 1 && c.labelled[0] > 0, "the point is not a local maximum")?;
            maximum = Some(circle.clusters.len());
            continue;
        }
        let wanted = goals.iter().find(|(g, s)| *g == goal && *s == form).cloned();
        goals.remove(&wanted.ok_or("a tree that is not wanted, or comes twice")?);
        c.tree(goal, &circle, &progress)?;
    }
    confirm(goals.is_empty(), "a stratum without a tree")?;
    if kind == "complete" {
        let claimed = c.with_key("counts")?.join(" ");
        let words: Vec<String> = std::iter::once(c.orbits as u64)
            .chain(c.labelled.clone())
            .map(|v| v.to_string())
            .collect();
        confirm(claimed == words.join(" "), &format!("the counts are {}", words.join(" ")))?;
        confirm(morse(&c.labelled), "the counts violate the Morse inequalities")?;
    }
    confirm(c.with_key("end")?.is_empty(), "the last line is not `end`")?;
    confirm(c.line == c.lines.len(), "lines after the end")?;
    statement(&c, &kind, &law, maximum)
}

/// Whether the numbers of critical points by directions of ascent obey the Morse inequalities of
/// the torus of n - 1 angles: `sum_k c_k t^k - (1 + t)^{n-1}` is `1 + t` times a polynomial without
/// negative coefficients. This includes that their alternating sum is 0.
fn morse(counts: &[u64]) -> bool {
    let mut binomial: Vec<i128> = vec![1];
    for _ in 1..counts.len() {
        let left = |k: usize| if k > 0 { binomial[k - 1] } else { 0 };
        let next = |k: usize| left(k) + binomial.get(k).copied().unwrap_or(0);
        binomial = (0..=binomial.len()).map(next).collect();
    }
    let mut rest = 0;
    let fine = counts.iter().zip(binomial).all(|(c, b)| {
        rest = i128::from(*c) - b - rest;
        rest >= 0
    });
    fine && rest == 0
}

/// The statement in words.
fn statement(c: &Check, kind: &str, law: &str, maximum: Option<usize>) -> Result<String, String> {
    let mut tokens = format!("{} tokens on the circle with masses {:?}", c.masses.len(), c.masses);
    if c.masses != c.upper {
        tokens.push_str(&format!(" and all up to {:?}", c.upper));
    }
    match (kind, maximum) {
        ("complete", _) => Ok(format!(
            "{tokens}, {law}: exactly {} critical points up to rotations, reflections and \
             permutations of equal masses; labelled, modulo rotations, by directions of ascent: {:?}",
            c.orbits, c.labelled
        )),
        ("benign", _) => Ok(format!(
            "{tokens}, {law}: every critical point except one cluster has a direction in which \
             the energy increases at second order"
        )),
        (_, Some(k)) => Ok(format!(
            "{tokens}, {law}: a configuration of {k} clusters is a strict local maximum of the \
             energy modulo rotations"
        )),
        _ => Err("no maximum".into()),
    }
}

/// Adds the critical points of one and two clusters.
fn simple(c: &mut Check, all: &BTreeSet<Vec<Members>>, fewest: usize) -> Result<(), String> {
    for clusters in all.iter().filter(|s| s.len() < fewest) {
        let circle = c.circle(clusters.clone());
        if clusters.len() == 1 {
            let own = c.law.own();
            confirm(own.has_sign(), "the sign of an eigenvalue is not decided")?;
            c.add(&circle, if own.0 > 0.0 { 0 } else { c.masses.len() - 1 }, (1, true));
            continue;
        }
        // The directions that split clusters must not change over the interval of beta.
        let place = [(ONE / 2, ONE / 2); 2];
        let pairs = circle.pairs(&place, &circle.law.kernel(c.beta));
        let ascents = 1 + circle.splitting(&pairs)?;
        let rotations = if clusters[0] == clusters[1] { 2 } else { 1 };
        c.add(&circle, ascents, (rotations, true));
    }
    Ok(())
}
