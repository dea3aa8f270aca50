//! Certificates of whole landscapes on the circle: every leaf of the trees is confirmed again.
//!
//! Gaps and distances are whole multiples of `2^-48` turns, so geometry is exact. The pulls
//! `u = e^{beta (cos d - 1)} sin d` and the weights `w = u'` are enclosed by intervals of doubles
//! that are rounded outwards after every operation; the assumption is IEEE arithmetic. Lemmas and
//! lines of the file are those of the documentation of `proofs::landscape`.

use crate::balance::Balance;
use crate::formula::Table;
use crate::interval::F;
use crate::kernel::{Kernel, Law, TURN};
use crate::number::confirm;
use crate::strata::{Members, canonical, orders, strata};
use std::collections::BTreeSet;
use std::rc::Rc;

/// One whole turn.
const ONE: i64 = TURN;

/// Bounds of gaps.
type Gaps = Vec<(i64, i64)>;

/// Bounds of gaps, and of beta.
#[derive(Clone)]
struct Cell {
    gaps: Gaps,
    beta: (f64, f64),
}

/// Clusters in cyclic order.
struct Circle {
    clusters: Vec<Members>,
    mass: Vec<f64>,
    /// Upper bounds of the masses.
    upper: Vec<f64>,
    law: Law,
    /// Images of the gaps; true for reflections.
    symmetries: Vec<(Vec<usize>, bool)>,
}

/// Ranges of distances and, times both masses, of u and w, for p < q.
struct Pairs {
    distance: Vec<Vec<(i64, i64)>>,
    u: Vec<Vec<F>>,
    w: Vec<Vec<F>>,
}

/// What Newton's method says.
struct Newton {
    gaps: Option<Gaps>,
    unique: bool,
    regular: bool,
}

/// Shrinks the gaps to those whose sum can be 1; false if there are none.
fn close(gaps: &mut [(i64, i64)]) -> bool {
    for _ in 0..2 {
        let (mut low, mut high) = gaps.iter().fold((0, 0), |s, g| (s.0 + g.0, s.1 + g.1));
        for g in gaps.iter_mut() {
            let new = (g.0.max(ONE - (high - g.1)), g.1.min(ONE - (low - g.0)));
            if new.0 > new.1 {
                return false;
            }
            (low, high) = (low + new.0 - g.0, high + new.1 - g.1);
            *g = new;
        }
    }
    true
}

fn widest(gaps: &[(i64, i64)]) -> usize {
    (0..gaps.len()).rev().max_by_key(|x| gaps[*x].1 - gaps[*x].0).unwrap_or(0)
}

/// The inverse of a matrix in floating point: any matrix will do.
pub(super) fn inverse(a: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = a.len();
    let unit = |x: usize| (0..n).map(move |y| if x == y { 1.0 } else { 0.0 });
    let mut rows: Vec<Vec<f64>> =
        a.iter().enumerate().map(|(x, r)| r.iter().copied().chain(unit(x)).collect()).collect();
    for c in 0..n {
        let size = |x: &usize| {
            rows[*x][c].abs() / rows[*x][c..n].iter().fold(1e-300, |m: f64, v| m.max(v.abs()))
        };
        let pivot = (c..n).max_by(|x, y| size(x).total_cmp(&size(y)))?;
        rows.swap(c, pivot);
        let by = rows[c][c];
        if by.abs() <= 0.0 || !by.is_finite() {
            return None;
        }
        let row: Vec<f64> = rows[c].iter().map(|v| v / by).collect();
        for x in (0..n).filter(|x| *x != c) {
            let factor = rows[x][c];
            rows[x].iter_mut().zip(&row).for_each(|(v, r)| *v -= factor * r);
        }
        rows[c] = row;
    }
    Some(rows.into_iter().map(|r| r[n..].to_vec()).collect())
}

impl Circle {
    fn new(clusters: Vec<Members>, check: &Check) -> Self {
        let k = clusters.len();
        let mass = clusters.iter().map(|c| f64::from(c.iter().sum::<u32>())).collect();
        let largest =
            |m: &u32| check.masses.iter().position(|own| own == m).map(|x| check.upper[x]);
        let sum = |c: &Members| c.iter().filter_map(largest).map(f64::from).sum();
        let (upper, law) = (clusters.iter().map(sum).collect(), check.law.clone());
        let mut symmetries = vec![];
        for r in 0..k {
            if (0..k).all(|x| clusters[(x + r) % k] == clusters[x]) {
                symmetries.push(((0..k).map(|x| (x + r) % k).collect(), false));
            }
            // Cluster x goes to r - x, so the gap after x goes to the gap after r - x - 1.
            if (0..k).all(|x| clusters[(r + k - x) % k] == clusters[x]) {
                symmetries.push(((0..k).map(|x| (r + 2 * k - x - 1) % k).collect(), true));
            }
        }
        Self { clusters, mass, upper, law, symmetries }
    }

    fn k(&self) -> usize {
        self.mass.len()
    }

    fn is_image(&self, gaps: &[(i64, i64)]) -> bool {
        self.symmetries.iter().any(|(to, _)| {
            (0..self.k()).find(|x| to[*x] != *x).is_some_and(|x| gaps[x].1 < gaps[to[x]].0)
        })
    }

    fn pairs(&self, gaps: &[(i64, i64)], kernel: &Kernel) -> Pairs {
        let k = self.k();
        let zero = vec![vec![F::int(0.0); k]; k];
        let (mut u, mut w) = (zero.clone(), zero);
        let mut distance = vec![vec![(0, 0); k]; k];
        let all = gaps.iter().fold((0, 0), |s, g| (s.0 + g.0, s.1 + g.1));
        for p in 0..k {
            let (mut low, mut high) = (0, 0);
            for q in p + 1..k {
                (low, high) = (low + gaps[q - 1].0, high + gaps[q - 1].1);
                let bounds =
                    (low.max(ONE - (all.1 - high)).max(0), high.min(ONE - (all.0 - low)).min(ONE));
                let (pull, weight) = kernel.ranges(bounds);
                let mass = F(self.mass[p] * self.mass[q], self.upper[p] * self.upper[q]);
                (u[p][q], w[p][q], distance[p][q]) = (pull * mass, weight * mass, bounds);
            }
        }
        Pairs { distance, u, w }
    }

    /// Sums over pairs of a cluster in a..=b and one outside; a pair (q, p) with q before the arc
    /// has the sign.
    fn between(&self, table: &[Vec<F>], (a, b): (usize, usize), sign: f64) -> F {
        let after = table[a..=b].iter().flat_map(|row| &row[b + 1..]);
        let before = table[..a].iter().flat_map(|row| &row[a..=b]);
        let sum = after.fold(F::int(0.0), |s, v| s + *v);
        sum + F::int(sign) * before.fold(F::int(0.0), |s, v| s + *v)
    }

    fn quotient(&self, gaps: &[(i64, i64)], pairs: &Pairs, kernel: &Kernel, p: usize) -> bool {
        let (k, gap) = (self.k(), gaps[p]);
        let q = (p + 1) % k;
        if gap.1 > ONE / 2 {
            return false;
        }
        let mut own = kernel.ranges((0, gap.1)).1;
        if gap.0 > 0 {
            let radians = F::pi() * F(gap.0 as f64, gap.1 as f64) / F::int((ONE / 2) as f64);
            own = own.meet(&(kernel.ranges(gap).0 / radians)).unwrap_or(own);
        }
        let mut sum = own * F::int(self.mass[p] + self.mass[q]);
        for t in (0..k).filter(|t| *t != p && *t != q) {
            let to = |x: usize| match t < x {
                true => pairs.distance[t][x],
                false => (ONE - pairs.distance[x][t].1, ONE - pairs.distance[x][t].0),
            };
            let hull = (to(p).0, to(q).1);
            if hull.0 > hull.1 {
                return false;
            }
            sum = sum + kernel.ranges(hull).1 * F::int(self.mass[t]);
        }
        sum.has_sign()
    }

    /// Whether a combination of forces, whose numbers are the words, excludes equilibria.
    fn balances(&self, cell: &Cell, kernel: &Kernel, words: &[&str]) -> Result<bool, String> {
        let k = self.k();
        let numbers: Option<Vec<i32>> = words.iter().skip(2).map(|w| w.parse().ok()).collect();
        let numbers = numbers
            .filter(|a| a.len() == k + 1 && a.iter().all(|a| a.unsigned_abs() <= 1 << 20))
            .ok_or("a combination without its numbers")?;
        let quotient = if words[1] == "-" { None } else { Some((index(words[1], k)?, numbers[0])) };
        let pairs = self.pairs(&cell.gaps, kernel);
        let balance = Balance {
            mass: &self.mass,
            gaps: &cell.gaps,
            distance: &pairs.distance,
            beta: F(cell.beta.0, cell.beta.1),
            turns: Kernel::new((0.0, 0.0)),
        };
        Ok(self.law.0.is_none() && balance.excludes(quotient, &numbers[1..]))
    }

    /// The derivative of the forces on the first clusters after gap r.
    fn derivative(&self, r: usize, w: &[Vec<F>]) -> Vec<Vec<F>> {
        let (k, at) = (self.k(), |x: usize| (r + 1 + x) % self.k());
        let weight = |x: usize, y: usize| w[at(x).min(at(y))][at(x).max(at(y))];
        let entry = |l: usize, m: usize| {
            let (first, last) = (l.min(m), l.max(m));
            let inner = |x: usize| (last + 1..k).fold(F::int(0.0), |s, y| s + weight(x, y));
            (0..=first).fold(F::int(0.0), |s, x| s + inner(x))
        };
        (0..k - 1).map(|l| (0..k - 1).map(|m| entry(l, m)).collect()).collect()
    }

    /// Newton's method for the gaps without gap r.
    fn newton(&self, gaps: &[(i64, i64)], kernel: &Kernel, r: usize) -> Newton {
        let (k, n) = (self.k(), self.k() - 1);
        let nothing = |gaps: &[(i64, i64)]| Newton {
            gaps: Some(gaps.to_vec()),
            unique: false,
            regular: false,
        };
        let at = |x: usize| (r + 1 + x) % k;
        let a = self.derivative(r, &self.pairs(gaps, kernel).w);
        // A point of the box with the sum 1: the way from it to a zero stays in all ranges.
        let (low, wide) = gaps.iter().fold((0, 0), |s, g| (s.0 + g.0, s.1 + g.1 - g.0));
        let share = if wide > 0 { (ONE - low) as f64 / wide as f64 } else { 0.5 };
        let between = |g: (i64, i64)| {
            ((g.0 as f64 + share * (g.1 - g.0) as f64).floor() as i64).clamp(g.0, g.1)
        };
        let centre: Vec<i64> = (0..n).map(|l| between(gaps[at(l)])).collect();
        let rest = ONE - centre.iter().sum::<i64>();
        if rest < gaps[r].0 || rest > gaps[r].1 {
            return nothing(gaps);
        }
        let mut point = vec![(0, 0); k];
        (0..n).for_each(|l| point[at(l)] = (centre[l], centre[l]));
        point[r] = (rest, rest);
        let here = self.pairs(&point, kernel);
        let middle: Vec<Vec<f64>> = self
            .derivative(r, &self.pairs(&point, &kernel.middle()).w)
            .iter()
            .map(|row| row.iter().map(F::mid).collect())
            .collect();
        let Some(y) = inverse(&middle) else { return nothing(gaps) };
        // The force on the first clusters after gap r.
        let pull = |x: usize, y: usize| {
            let (p, q) = (at(x), at(y));
            if p < q { here.u[p][q] } else { here.u[q][p] * F::int(-1.0) }
        };
        let force = |l: usize| {
            let inner = |x: usize| (l + 1..k).fold(F::int(0.0), |s, y| s + pull(x, y));
            (0..=l).fold(F::int(0.0), |s, x| s + inner(x))
        };
        let g: Vec<F> = (0..n).map(force).collect();
        let sum = |terms: &mut dyn Iterator<Item = F>| terms.fold(F::int(0.0), |s, v| s + v);
        let yg: Vec<F> = (0..n).map(|l| sum(&mut (0..n).map(|t| F::int(y[l][t]) * g[t]))).collect();
        let ya = |l: usize, m: usize| sum(&mut (0..n).map(|t| F::int(y[l][t]) * a[t][m]));
        let ya: Vec<Vec<F>> = (0..n).map(|l| (0..n).map(|m| ya(l, m)).collect()).collect();
        let off = |l: usize, m: usize| F::int(if l == m { 1.0 } else { 0.0 }) - ya[l][m];
        let to_radians = F::pi() / F::int((ONE / 2) as f64);
        let box_of = |l: usize| {
            let gap = gaps[at(l)];
            F((gap.0 - centre[l]) as f64, (gap.1 - centre[l]) as f64)
        };
        // X - c in units of 2^-48 turns: exact.
        let start: Vec<F> = (0..n).map(box_of).collect();
        let yg: Vec<F> = yg.into_iter().map(|v| v / to_radians).collect();
        let minus = |v: F| F::int(0.0) - v;
        let unique = (0..n).all(|l| {
            let image = minus(yg[l]) + sum(&mut (0..n).map(|m| off(l, m) * start[m]));
            start[l].0 < image.0 && image.1 < start[l].1
        });
        let row = |l: usize, scale: &dyn Fn(usize) -> f64| {
            sum(&mut (0..n).map(|m| F::int(off(l, m).mag()) * F::int(scale(m)))).1
        };
        let regular = (0..n).all(|l| row(l, &|_| 1.0) < 1.0)
            || (0..n).all(|l| row(l, &|m| start[m].mag()) < start[l].mag());
        let (mut z, mut gaps) = (start, gaps.to_vec());
        for l in 0..n {
            if !ya[l][l].has_sign() {
                continue;
            }
            let others = sum(&mut (0..n).filter(|m| *m != l).map(|m| ya[l][m] * z[m]));
            match z[l].meet(&((minus(yg[l]) - others) / ya[l][l])) {
                Some(new) => z[l] = new,
                None => return Newton { gaps: None, unique: false, regular },
            }
        }
        for l in 0..n {
            let gap = &mut gaps[at(l)];
            let (low, high) = (z[l].0.floor() as i64 + centre[l], z[l].1.ceil() as i64 + centre[l]);
            *gap = (gap.0.max(low), gap.1.min(high));
        }
        Newton { gaps: Some(gaps), unique, regular }
    }

    /// A narrow enclosure of the only zero of a box, or why it is not the only one.
    fn zero(&self, r: usize, alone: &[(i64, i64)], kernel: &Kernel) -> Result<Gaps, String> {
        let sum = |end: fn(&(i64, i64)) -> i64| {
            (0..self.k()).filter(|x| *x != r).map(|x| end(&alone[x])).sum::<i64>()
        };
        let whole = alone[r] == (ONE - sum(|g| g.1), ONE - sum(|g| g.0));
        confirm(whole && alone.iter().all(|g| g.0 > 0 && g.1 < ONE), "the box of a zero is cut")?;
        let first = self.newton(alone, kernel, r);
        confirm(first.unique, "Newton's map does not send the box of a zero into itself")?;
        let mut place = first.gaps.unwrap_or_default();
        for _ in 0..8 {
            confirm(close(&mut place), "the box of a zero has none")?;
            let step = self.newton(&place, kernel, widest(&place));
            place = step.gaps.ok_or("the box of a zero has none")?;
        }
        confirm(close(&mut place), "the box of a zero has none")?;
        Ok(place)
    }

    /// Number of directions of ascent at a zero.
    fn ascents(&self, place: &[(i64, i64)], kernel: &Kernel) -> Result<usize, String> {
        let pairs = self.pairs(place, kernel);
        let mut a = self.derivative(widest(place), &pairs.w);
        let (mut left, mut count): (Vec<usize>, usize) = ((0..a.len()).collect(), 0);
        while let Some(x) = left.iter().copied().max_by(|x, y| {
            let size = |x: usize| if a[x][x].has_sign() { a[x][x].mid().abs() } else { -1.0 };
            size(*x).total_cmp(&size(*y))
        }) {
            let own = a[x].clone();
            confirm(own[x].has_sign(), "the sign of an eigenvalue is not decided")?;
            count += usize::from(own[x].1 < 0.0);
            left.retain(|y| *y != x);
            for y in left.iter().copied() {
                let factor = a[y][x] / own[x];
                a[y].iter_mut().zip(&own).for_each(|(v, o)| *v = *v - factor * *o);
            }
        }
        Ok(count + self.splitting(&pairs)?)
    }

    /// Number of directions of ascent that split a cluster.
    fn splitting(&self, pairs: &Pairs) -> Result<usize, String> {
        let mut count = 0;
        for (p, c) in self.clusters.iter().enumerate().filter(|(_, c)| c.len() > 1) {
            let own = F::int(self.mass[p] * self.mass[p]) * self.law.own();
            let sum = own + self.between(&pairs.w, (p, p), 1.0);
            confirm(sum.has_sign(), "the sign of an eigenvalue is not decided")?;
            count += if sum.1 < 0.0 { c.len() - 1 } else { 0 };
        }
        Ok(count)
    }
}

/// The lines of a file, and what is proved so far.
struct Check<'a> {
    lines: std::iter::Peekable<std::str::Lines<'a>>,
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
        self.line += 1;
        let line = self.lines.next().ok_or("the certificate is cut off")?;
        Ok(line.split_whitespace().collect())
    }

    fn with_key(&mut self, key: &str) -> Result<Vec<&'a str>, String> {
        let words = self.next()?;
        confirm(words.first() == Some(&key), &format!("line {}: no `{key}`", self.line))?;
        Ok(words[1..].to_vec())
    }

    fn next_is(&mut self, key: &str) -> bool {
        self.lines.peek().is_some_and(|l| l.split_whitespace().next() == Some(key))
    }

    fn masses(&mut self, key: &str) -> Result<Vec<u32>, String> {
        let masses: Option<Vec<u32>> = self.with_key(key)?.iter().map(|w| w.parse().ok()).collect();
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
            let value = words.get(1).and_then(|w| w.parse::<f64>().ok()).filter(|v| v.is_finite());
            let value = value.filter(|_| words.len() == 2).ok_or("a parameter without value")?;
            name.push_str(&format!(", {} = {value}", words[0]));
            parameters.push((words[0].to_owned(), value));
        }
        self.law = Law(Some(Rc::new(Table::new(&text, &parameters)?)));
        let gaps = self.with_key("gaps")?;
        self.longest = turns(gaps.first().ok_or("gaps without a bound")?)?;
        confirm(self.longest >= self.law.longest(), "the bound of the gaps is not proved")?;
        Ok(name)
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
    fn tree(&mut self, goal: &str, circle: &Circle) -> Result<(), String> {
        let k = circle.k();
        let zeros = if goal == "zeros" { self.zeros(circle)? } else { vec![] };
        let beta = if goal == "zeros" { (self.at, self.at) } else { self.beta };
        let mut stack = vec![Cell { gaps: vec![(0, self.longest); k], beta }];
        let (mut kernel, mut kernel_beta) = (circle.law.kernel(beta), beta);
        while let Some(mut cell) = stack.pop() {
            let words = self.next()?;
            let refused = format!("line {}: {} is not confirmed", self.line, words.join(" "));
            let key = *words.first().ok_or("an empty line")?;
            let open = close(&mut cell.gaps);
            if key == "E" {
                confirm(!open, &refused)?;
                continue;
            }
            confirm(open, &refused)?;
            if kernel_beta != cell.beta && !matches!(key, "G" | "B" | "Y" | "U") {
                (kernel, kernel_beta) = (circle.law.kernel(cell.beta), cell.beta);
            }
            let number = |x: usize| words.get(x).copied().ok_or("a number is missing");
            let ok = match (key, goal) {
                ("G", _) => {
                    let (r, t) = (index(number(1)?, k)?, turns(number(2)?)?);
                    let inside = cell.gaps[r].0 <= t && t <= cell.gaps[r].1;
                    let mut above = cell.clone();
                    (cell.gaps[r].1, above.gaps[r].0) = (t, t);
                    stack.extend([above, cell]);
                    inside
                }
                ("B", _) => {
                    let b: f64 = number(1)?.parse().map_err(|_| refused.clone())?;
                    let inside = cell.beta.0 <= b && b <= cell.beta.1;
                    let mut above = cell.clone();
                    (cell.beta.1, above.beta.0) = (b, b);
                    stack.extend([above, cell]);
                    inside
                }
                ("K", "zeros" | "regular") => {
                    let found = circle.newton(&cell.gaps, &kernel, widest(&cell.gaps)).gaps;
                    let claimed = pairs_of(&words[1..])?;
                    let inside = claimed.len() == k
                        && found.is_none_or(|f| {
                            f.iter().zip(&claimed).all(|(f, c)| c.0 <= f.0 && f.1 <= c.1)
                        });
                    if inside {
                        let meet = |g: &(i64, i64), c: &(i64, i64)| (g.0.max(c.0), g.1.min(c.1));
                        let gaps = cell.gaps.iter().zip(&claimed).map(|(g, c)| meet(g, c));
                        cell.gaps = gaps.collect();
                        stack.push(cell);
                    }
                    inside
                }
                ("Y", _) => circle.is_image(&cell.gaps),
                ("F", _) | ("C", "ascent") => {
                    let (a, b) = (index(number(1)?, k)?, index(number(2)?, k)?);
                    let pairs = circle.pairs(&cell.gaps, &kernel);
                    let proper = a <= b && b - a < k - 1;
                    proper
                        && if key == "F" {
                            circle.between(&pairs.u, (a, b), -1.0).has_sign()
                        } else {
                            circle.between(&pairs.w, (a, b), 1.0).1 < 0.0
                        }
                }
                ("V", "ascent") => {
                    let v: Option<Vec<i32>> = words[1..].iter().map(|w| w.parse().ok()).collect();
                    let v = v
                        .filter(|v| v.len() == k && v.iter().all(|x| x.unsigned_abs() <= 1 << 20))
                        .ok_or_else(|| refused.clone())?;
                    let pairs = circle.pairs(&cell.gaps, &kernel);
                    let mut sum = F::int(0.0);
                    for p in 0..k {
                        for q in p + 1..k {
                            let apart = f64::from(v[p] - v[q]);
                            sum = sum + pairs.w[p][q] * F::int(apart * apart);
                        }
                    }
                    sum.1 < 0.0
                }
                ("Q", "zeros" | "regular") => {
                    let pairs = circle.pairs(&cell.gaps, &kernel);
                    circle.quotient(&cell.gaps, &pairs, &kernel, index(number(1)?, k)?)
                }
                ("A", "zeros" | "regular") => circle.balances(&cell, &kernel, &words)?,
                ("N", "zeros" | "regular") => {
                    circle.newton(&cell.gaps, &kernel, widest(&cell.gaps)).gaps.is_none()
                }
                ("R", "regular") => circle.newton(&cell.gaps, &kernel, widest(&cell.gaps)).regular,
                ("U", "zeros") => {
                    let alone = &zeros[index(number(1)?, zeros.len())?];
                    cell.gaps.iter().zip(alone).all(|(g, a)| a.0 <= g.0 && g.1 <= a.1)
                }
                _ => false,
            };
            confirm(ok, &refused)?;
        }
        Ok(())
    }
}

fn index(word: &str, below: usize) -> Result<usize, String> {
    let number = word.parse().ok().filter(|x| *x < below);
    number.ok_or_else(|| format!("{word} is not a number below {below}"))
}

/// The digits of a fraction: `4` is 1/4; `z` is 1.
fn turns(word: &str) -> Result<i64, String> {
    if word == "z" {
        return Ok(ONE);
    }
    let digits = format!("{word:0<12}");
    let number = i64::from_str_radix(&digits, 16).ok().filter(|t| (0..=ONE).contains(t));
    number.filter(|_| digits.len() == 12).ok_or_else(|| format!("{word} is not a fraction"))
}

fn pairs_of(words: &[&str]) -> Result<Gaps, String> {
    let all: Result<Vec<i64>, String> = words.iter().map(|w| turns(w)).collect();
    let pairs: Vec<(i64, i64)> = all?.chunks_exact(2).map(|p| (p[0], p[1])).collect();
    confirm(pairs.iter().all(|p| p.0 <= p.1), "bounds in the wrong order")?;
    Ok(pairs)
}

/// Checks a certificate and returns its statement.
pub(super) fn check(text: &str) -> Result<String, String> {
    crate::interval::check_rounding()?;
    let mut c = Check {
        lines: text.lines().peekable(),
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
        None => c.with_key("beta")?.iter().filter_map(|w| w.parse().ok()).collect(),
    };
    let fits = beta.len() == 2 && beta[0] <= beta[1] && beta.iter().all(|b| b.abs() <= 100.0);
    confirm(fits, "beta is out of range")?;
    c.beta = (beta[0], beta[1]);
    let point = beta[0].to_bits() == beta[1].to_bits();
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
        let members = |w: &&str| w.split(',').map(|m| m.parse().ok()).collect::<Option<Members>>();
        let clusters: Option<Vec<Members>> = words[1..].iter().map(members).collect();
        let clusters = clusters.filter(|c| c.len() >= fewest).ok_or("a tree without clusters")?;
        let circle = Circle::new(clusters, &c);
        let form = canonical(&circle.clusters);
        if kind == "maximum" {
            confirm(maximum.is_none() && all.contains(&form), "the clusters are not the tokens")?;
            let zeros = c.zeros(&circle)?;
            confirm(zeros.len() == 1 && c.labelled[0] > 0, "the point is not a local maximum")?;
            maximum = Some(circle.clusters.len());
            continue;
        }
        let wanted = goals.iter().find(|(g, s)| *g == goal && *s == form).cloned();
        goals.remove(&wanted.ok_or("a tree that is not wanted, or comes twice")?);
        c.tree(goal, &circle)?;
    }
    confirm(goals.is_empty(), "a stratum without a tree")?;
    if kind == "complete" {
        let claimed = c.with_key("counts")?.join(" ");
        let words: Vec<String> = std::iter::once(c.orbits as u64)
            .chain(c.labelled.clone())
            .map(|v| v.to_string())
            .collect();
        confirm(claimed == words.join(" "), &format!("the counts are {}", words.join(" ")))?;
    }
    c.with_key("end")?;
    confirm(c.lines.next().is_none(), "lines after the end")?;
    statement(&c, &kind, &law, maximum)
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
        let circle = Circle::new(clusters.clone(), c);
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
