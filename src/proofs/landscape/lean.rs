//! A benign landscape as goals for LeanCert, a tool for Lean 4.
//!
//! Every leaf of a tree becomes inequalities without the constraint that the gaps have the sum 1:
//! one gap is the rest of a turn. A box of the other gaps that leaves the bounds of this gap is
//! halved until the inequality holds on all of it or the box is outside.

use super::cell::{Arrangement, Cell, GRID, Pairs};
use super::node::Node;
use super::partial::{Branches, below};
use std::fmt::Write;

/// Largest number of goals.
const MOST: usize = 2000;

/// The number of halvings of a leaf.
const DEPTH: u32 = 40;

/// A rational number in Lean.
fn rational(v: f64) -> String {
    // A double is m 2^-k.
    let (mut m, mut k) = (v, 0u32);
    while m.fract().abs() > 0.0 && k < 1000 {
        (m, k) = (2.0 * m, k + 1);
    }
    if k == 0 { format!("{m:.0}") } else { format!("({m:.0} / 2 ^ {k})") }
}

/// The inequality of a leaf on a box of all gaps but r, in the order after r.
struct Goal<'a> {
    arrangement: &'a Arrangement,
    node: &'a Node,
    r: usize,
    beta: String,
}

impl Goal<'_> {
    /// The factor of a pair: for p and q, the number that its pull or weight is multiplied by.
    fn factor(&self, p: usize, q: usize) -> f64 {
        let mass = self.arrangement.mass[p] * self.arrangement.mass[q];
        let arc = |a: usize, b: usize, x: usize| a <= x && x <= b;
        mass * match self.node {
            Node::Force(a, b) | Node::Cut(a, b) => {
                let (in_p, in_q) = (arc(*a, *b, p), arc(*a, *b, q));
                match self.node {
                    _ if in_p == in_q => 0.0,
                    Node::Force(..) if in_q => -1.0,
                    _ => 1.0,
                }
            }
            Node::Vector(v) => (f64::from(v[p]) - f64::from(v[q])).powi(2),
            _ => 0.0,
        }
    }

    /// The left side of the inequality.
    fn expression(&self) -> String {
        let k = self.arrangement.k;
        let cluster = |x: usize| (self.r + 1 + x) % k;
        let mut terms = Vec::new();
        for (x, y) in (0..k).flat_map(|x| (x + 1..k).map(move |y| (x, y))) {
            let factor = self.factor(cluster(x), cluster(y));
            if factor.abs() <= 0.0 {
                continue;
            }
            let gaps: Vec<String> = (x..y).map(|l| format!("g{l}")).collect();
            let d = format!("(2 * Real.pi * ({}))", gaps.join(" + "));
            let kernel = format!("Real.exp ({} * (Real.cos {d} - 1))", self.beta);
            let other = match self.node {
                Node::Force(..) => format!("Real.sin {d}"),
                _ => format!("(Real.cos {d} - {} * Real.sin {d} ^ 2)", self.beta),
            };
            terms.push(format!("({}) * ({kernel} * {other})", rational(factor)));
        }
        terms.join(" + ")
    }

    /// 1 or -1 if the inequality holds with that sign on a box.
    fn sign(&self, pairs: &Pairs) -> Option<f64> {
        let arrangement = self.arrangement;
        let mut sum = super::cell::ZERO;
        for p in 0..arrangement.k {
            for q in p + 1..arrangement.k {
                let mass = arrangement.mass[p] * arrangement.mass[q];
                let number = crate::num::interval::Interval::exact;
                // The pulls of the table are from p to q > p.
                let factor = number(self.factor(p, q) / mass);
                let of = if matches!(self.node, Node::Force(..)) { pairs.u } else { pairs.w };
                sum = sum + factor * of[p][q];
            }
        }
        // The order after r may reverse a pair, but a pull and its factor reverse together.
        let sign = if sum.is_positive() { 1.0 } else { -1.0 };
        (sum.is_negative() || sum.is_positive() && matches!(self.node, Node::Force(..)))
            .then_some(sign)
    }
}

/// The goals of a leaf; `None` if there are too many.
fn leaf(
    out: &mut String,
    count: &mut usize,
    arrangement: &Arrangement,
    node: &Node,
    leaf: &Cell,
) -> Option<()> {
    let k = arrangement.k;
    let r = (0..k).max_by(|a, b| leaf.gaps[*a].0.total_cmp(&leaf.gaps[*b].0))?;
    let point = leaf.beta.0.to_bits() == leaf.beta.1.to_bits();
    let beta = if point { format!("({})", rational(leaf.beta.0)) } else { "b".to_owned() };
    let goal = Goal { arrangement, node, r, beta };
    let mut stack = vec![(*leaf, 0)];
    while let Some((mut cell, depth)) = stack.pop() {
        let others = || (0..k).filter(|x| *x != r);
        let (low, high) =
            others().fold((0.0, 0.0), |s, x| (s.0 + cell.gaps[x].0, s.1 + cell.gaps[x].1));
        cell.gaps[r] = (1.0 - high, 1.0 - low);
        if cell.gaps[r].1 < leaf.gaps[r].0 || cell.gaps[r].0 > leaf.gaps[r].1 {
            continue;
        }
        let fits = cell.gaps[r].0 >= 0.0;
        let pairs = fits.then(|| arrangement.pairs(&cell, &arrangement.law.kernel(cell.beta)));
        if let Some(sign) = pairs.and_then(|pairs| goal.sign(&pairs)) {
            *count += 1;
            if *count > MOST {
                return None;
            }
            let _ = write!(out, "\ntheorem leaf_{count} :");
            if !point {
                let (low, high) = (rational(cell.beta.0), rational(cell.beta.1));
                let _ = write!(out, "\n    ∀ b ∈ Set.Icc ({low} : ℝ) {high},");
            }
            for x in 0..k - 1 {
                let gap = cell.gaps[(r + 1 + x) % k];
                let (low, high) = (rational(gap.0), rational(gap.1));
                let _ = write!(out, "\n    ∀ g{x} ∈ Set.Icc ({low} : ℝ) {high},");
            }
            let relation = if sign > 0.0 { ">" } else { "<" };
            let _ = writeln!(
                out,
                "\n    {} {relation} 0 := by\n  multivariate_bound",
                goal.expression()
            );
            continue;
        }
        let widest = others().max_by(|a, b| {
            let width = |x: usize| cell.gaps[x].1 - cell.gaps[x].0;
            width(*a).total_cmp(&width(*b))
        })?;
        let (low, high) = cell.gaps[widest];
        let middle = ((0.5 * (low + high)) * GRID).floor() / GRID;
        if depth >= DEPTH || middle <= low || middle >= high {
            return None;
        }
        let (mut a, mut b) = (cell, cell);
        (a.gaps[widest].1, b.gaps[widest].0) = (middle, middle);
        stack.extend([(b, depth + 1), (a, depth + 1)]);
    }
    Some(())
}

/// The goals of a tree; `None` if there are too many.
pub(super) fn goals(
    out: &mut String,
    count: &mut usize,
    arrangement: &Arrangement,
    tree: &Branches,
    root: Cell,
) -> Option<()> {
    let mut stack = vec![root];
    for node in &tree.nodes {
        let mut cell = stack.pop()?;
        cell.close(arrangement.k);
        match node {
            Node::Force(..) | Node::Cut(..) | Node::Vector(_) => {
                leaf(out, count, arrangement, node, &cell)?;
            }
            // Boxes without points, and images of others.
            Node::Open | Node::Image => {}
            inner => stack.extend(below(inner, cell)),
        }
    }
    Some(())
}
