//! The nodes of the trees of landscapes on the circle.

use crate::canonical::{confirm, index, real, whole};
use crate::circle::{Cell, Circle, Gaps, close, widest};
use crate::interval::F;
use crate::kernel::{Kernel, TURN as ONE};

/// Number of children of a node.
pub(super) fn children_of(key: &str) -> usize {
    match key {
        "G" | "B" => 2,
        "K" => 1,
        _ => 0,
    }
}

/// The nodes of a tree.
pub(super) struct Nodes<'a> {
    pub(super) goal: &'a str,
    pub(super) circle: &'a Circle,
    pub(super) zeros: &'a [Gaps],
    pub(super) lines: &'a [&'a str],
}

impl Nodes<'_> {
    /// The cells of the children of a node, the first one last; `None` if its reason does not hold.
    /// The kernel of the last beta is kept.
    pub(super) fn visit(
        &self,
        x: usize,
        mut cell: Cell,
        known: &mut Option<(Kernel, (f64, f64))>,
    ) -> Result<Option<Vec<Cell>>, String> {
        let (circle, k) = (self.circle, self.circle.k());
        let words: Vec<&str> = self.lines.get(x).ok_or("a line is missing")?.split(' ').collect();
        let key = words[0];
        let open = close(&mut cell.gaps);
        if words.len() != length_of(key, k) || open == (key == "E") {
            return Ok(None);
        }
        if known.as_ref().is_none_or(|(_, beta)| *beta != cell.beta) {
            *known = Some((circle.law.kernel(cell.beta), cell.beta));
        }
        let Some((kernel, _)) = known.as_ref() else { return Ok(None) };
        let gaps = &cell.gaps;
        let holds = match (key, self.goal) {
            ("E", _) => true,
            ("G", _) => {
                let (r, t) = (index(words[1], k)?, turns(words[2])?);
                if !(gaps[r].0 <= t && t <= gaps[r].1) {
                    return Ok(None);
                }
                let mut above = cell.clone();
                (cell.gaps[r].1, above.gaps[r].0) = (t, t);
                return Ok(Some(vec![above, cell]));
            }
            ("B", _) => {
                let b = real(words[1]).filter(|b| cell.beta.0 <= *b && *b <= cell.beta.1);
                let Some(b) = b else { return Ok(None) };
                let mut above = cell.clone();
                (cell.beta.1, above.beta.0) = (b, b);
                return Ok(Some(vec![above, cell]));
            }
            ("K", "zeros" | "regular") => {
                let found = circle.newton(gaps, kernel, widest(gaps)).gaps;
                let claimed = pairs_of(&words[1..])?;
                let holds = |f: Gaps| f.iter().zip(&claimed).all(|(f, c)| c.0 <= f.0 && f.1 <= c.1);
                if !found.is_none_or(holds) {
                    return Ok(None);
                }
                let meet = |g: &(i64, i64), c: &(i64, i64)| (g.0.max(c.0), g.1.min(c.1));
                cell.gaps = gaps.iter().zip(&claimed).map(|(g, c)| meet(g, c)).collect();
                return Ok(Some(vec![cell]));
            }
            ("Y", _) => circle.is_image(gaps),
            ("F", _) | ("C", "ascent") => {
                let (a, b) = (index(words[1], k)?, index(words[2], k)?);
                let pairs = circle.pairs(gaps, kernel);
                a <= b
                    && b - a < k - 1
                    && if key == "F" {
                        circle.between(&pairs.u, (a, b), -1.0).has_sign()
                    } else {
                        circle.between(&pairs.w, (a, b), 1.0).1 < 0.0
                    }
            }
            ("V", "ascent") => {
                let v: Option<Vec<i32>> = words[1..].iter().map(|w| whole(w)).collect();
                let small = |v: &Vec<i32>| v.iter().all(|x| x.unsigned_abs() <= 1 << 20);
                let Some(v) = v.filter(small) else { return Ok(None) };
                let pairs = circle.pairs(gaps, kernel);
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
                let pairs = circle.pairs(gaps, kernel);
                circle.quotient(gaps, &pairs, kernel, index(words[1], k)?)
            }
            ("A", "zeros" | "regular") => circle.balances(&cell, kernel, &words)?,
            ("N", "zeros" | "regular") => circle.newton(gaps, kernel, widest(gaps)).gaps.is_none(),
            ("R", "regular") => circle.newton(gaps, kernel, widest(gaps)).regular,
            ("U", "zeros") => {
                let alone = &self.zeros[index(words[1], self.zeros.len())?];
                gaps.iter().zip(alone).all(|(g, a)| a.0 <= g.0 && g.1 <= a.1)
            }
            _ => false,
        };
        Ok(holds.then(Vec::new))
    }
}

/// Number of words of a node in a tree of k clusters.
fn length_of(key: &str, k: usize) -> usize {
    match key {
        "G" | "F" | "C" => 3,
        "B" | "Q" | "U" => 2,
        "K" => 1 + 2 * k,
        "A" => 3 + k,
        "V" => 1 + k,
        _ => 1,
    }
}

/// The digits of a fraction, without zeros at the end: `4` is 1/4; `z` is 1.
pub(super) fn turns(word: &str) -> Result<i64, String> {
    if word == "z" {
        return Ok(ONE);
    }
    let number = i64::from_str_radix(&format!("{word:0<12}"), 16).unwrap_or(ONE);
    let digits = format!("{number:012x}");
    let short = match digits.trim_end_matches('0') {
        "" => "0",
        short => short,
    };
    confirm(number < ONE && short == word, &format!("{word} is not a fraction")).map(|()| number)
}

pub(super) fn pairs_of(words: &[&str]) -> Result<Gaps, String> {
    let all: Result<Vec<i64>, String> = words.iter().map(|w| turns(w)).collect();
    confirm(words.len().is_multiple_of(2), "a bound is missing")?;
    let pairs: Vec<(i64, i64)> = all?.chunks_exact(2).map(|p| (p[0], p[1])).collect();
    confirm(pairs.iter().all(|p| p.0 <= p.1), "bounds in the wrong order")?;
    Ok(pairs)
}
