//! Pieces on which the derivative has one sign or is monotone, and what their order says about its zeros.

use super::bounds::CELL;
use super::field::{Field, Polynomial, centre};
use crate::num::{interval::Interval, roots::bracketed_root, threads::parallel_allowed};
use rayon::prelude::*;

/// What is proved about the derivative on a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Positive,
    Negative,
    Rising,
    Falling,
    /// Nothing: value and slope stay within their error bounds.
    Unknown,
}

/// A piece `[from, to]` in units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub from: f64,
    pub to: f64,
    pub kind: Kind,
}

/// Down-crossings of the derivative.
pub(super) struct Found {
    /// Where they are, in units.
    pub roots: Vec<f64>,
    /// Stretches without a proof.
    pub undecided: Vec<(f64, f64)>,
}

/// Bisections of a cell before a piece is given up.
const DEPTH: u32 = 36;

/// Counts the down-crossings of the derivative.
pub(super) fn count(field: &Field) -> Found {
    let targets = field.targets();
    if !field.sound() {
        return Found {
            roots: Vec::new(),
            undecided: vec![(centre(targets[0]) - 0.5 * CELL, centre(targets[targets.len() - 1]) + 0.5 * CELL)],
        };
    }
    let classify = |cell: &i64| {
        let mut pieces = Vec::new();
        split(&field.polynomial(*cell), 0.0, 0.5 * CELL, 0, &mut pieces);
        pieces
    };
    let classified: Vec<Vec<Piece>> = if parallel_allowed() && targets.len() > 64 {
        targets.par_iter().map(classify).collect()
    } else {
        targets.iter().map(classify).collect()
    };
    let mut pieces: Vec<Piece> = Vec::new();
    for (k, (cell, own)) in targets.iter().zip(&classified).enumerate() {
        let left = centre(*cell) - 0.5 * CELL;
        if k > 0 && targets[k - 1] + 1 < *cell {
            // Between cells near samples the estimate is convex: its derivative rises.
            pieces.push(Piece { from: centre(targets[k - 1]) + 0.5 * CELL, to: left, kind: Kind::Rising });
        }
        pieces.extend(own);
    }
    let (first, last) = (pieces[0].from, pieces[pieces.len() - 1].to);
    match field.cells {
        // Left of all samples the estimate rises, right of them it falls.
        None => {
            pieces.insert(0, Piece { from: first - CELL, to: first, kind: Kind::Positive });
            pieces.push(Piece { from: last, to: last + CELL, kind: Kind::Negative });
        }
        Some(cells) => {
            let turn = CELL * cells as f64;
            if last < first + turn {
                pieces.push(Piece { from: last, to: first + turn, kind: Kind::Rising });
            }
            // Start the tour at a piece with a sign.
            let Some(start) = pieces.iter().position(|p| is_signed(p.kind)) else {
                return Found { roots: Vec::new(), undecided: vec![(first, first + turn)] };
            };
            let mut next = pieces.split_off(start);
            next.extend(pieces.iter().chain(&next[..1]).map(|p| Piece { from: p.from + turn, to: p.to + turn, ..*p }).collect::<Vec<_>>());
            pieces = next;
        }
    }
    tour(field, &pieces)
}

fn is_signed(kind: Kind) -> bool {
    matches!(kind, Kind::Positive | Kind::Negative)
}

/// Classifies `[v - rho, v + rho]` of a cell, bisecting where nothing is proved. Both are multiples of a power of two, exact.
fn split(p: &Polynomial, v: f64, rho: f64, depth: u32, out: &mut Vec<Piece>) {
    // What is worth trying, by a plain evaluation about v.
    let c = p.about(v);
    let (mut value, mut slope, mut power) = (p.error.0, p.error.1, 1.0);
    for (l, c) in c.iter().enumerate().skip(1) {
        if l > 1 {
            slope += l as f64 * c.abs() * power;
        }
        power *= rho;
        value += c.abs() * power;
    }
    let signed = if c[0].abs() > value { sign(p, v, rho) } else { Kind::Unknown };
    let kind = if signed == Kind::Unknown && c[1].abs() > slope { trend(p, v, rho) } else { signed };
    if kind == Kind::Unknown && depth < DEPTH && (c[0].abs() + value > 4.0 * p.error.0 || c[1].abs() + slope > 4.0 * p.error.1) {
        split(p, v - 0.5 * rho, 0.5 * rho, depth + 1, out);
        split(p, v + 0.5 * rho, 0.5 * rho, depth + 1, out);
        return;
    }
    let centre = centre(p.cell);
    out.push(Piece { from: centre + v - rho, to: centre + v + rho, kind });
}

/// The sign of the derivative on `[v - rho, v + rho]`, if interval arithmetic proves one: value in the middle, and slope times distance.
pub(super) fn sign(p: &Polynomial, v: f64, rho: f64) -> Kind {
    let value = p.enclosed(0, Interval::exact(v));
    let slope = p.enclosed(1, Interval::new(v - rho, v + rho));
    verdict(value + slope * Interval::symmetric(rho) + Interval::symmetric(p.error.0), Kind::Positive, Kind::Negative)
}

/// The same of the slope of the derivative.
pub(super) fn trend(p: &Polynomial, v: f64, rho: f64) -> Kind {
    let slope = p.enclosed(1, Interval::exact(v));
    let bend = p.enclosed(2, Interval::new(v - rho, v + rho));
    verdict(slope + bend * Interval::symmetric(rho) + Interval::symmetric(p.error.1), Kind::Rising, Kind::Falling)
}

fn verdict(range: Interval, above: Kind, below: Kind) -> Kind {
    if range.is_positive() {
        above
    } else if range.is_negative() {
        below
    } else {
        Kind::Unknown
    }
}

/// Walks from sign to sign: a falling stretch from plus to minus holds exactly one down-crossing, a monotone stretch between equal signs none.
pub(super) fn tour(field: &Field, pieces: &[Piece]) -> Found {
    let mut found = Found { roots: Vec::new(), undecided: Vec::new() };
    let signed: Vec<usize> = (0..pieces.len()).filter(|&k| is_signed(pieces[k].kind)).collect();
    for pair in signed.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let between = &pieces[a + 1..b];
        let only = |kind: Kind| between.iter().all(|p| p.kind == kind);
        match (pieces[a].kind, pieces[b].kind) {
            (Kind::Positive, Kind::Negative) if !between.is_empty() && only(Kind::Falling) => found.roots.push(root(field, between)),
            (Kind::Negative, Kind::Positive) if !between.is_empty() && only(Kind::Rising) => {}
            (x, y) if x == y && (only(Kind::Rising) || only(Kind::Falling)) => {}
            _ => {
                // No proof: the best guess is one crossing where the signs ask for one.
                let (from, to) = (pieces[a].to, pieces[b].from);
                found.undecided.push((from, to));
                if pieces[a].kind == Kind::Positive && pieces[b].kind == Kind::Negative {
                    found.roots.push(0.5 * (from + to));
                }
            }
        }
    }
    found
}

/// The zero on a falling stretch.
fn root(field: &Field, stretch: &[Piece]) -> f64 {
    for piece in stretch {
        let middle = 0.5 * (piece.from + piece.to);
        let cell = (middle / CELL).floor() as i64;
        let home = field.cells.map_or(cell, |c| cell.rem_euclid(c));
        let (p, centre) = (field.polynomial(home), centre(cell));
        if let Some(v) = bracketed_root(|v| p.value(v), piece.from - centre, piece.to - centre, 0.0) {
            return centre + v;
        }
    }
    // The crossing lies on a seam of two pieces, within the error of their polynomials.
    if stretch.len() > 1 { stretch[stretch.len() / 2].from } else { 0.5 * (stretch[0].from + stretch[0].to) }
}
