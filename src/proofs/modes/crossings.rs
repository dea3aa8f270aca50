//! Zeros of the derivative, from pieces on which it has one sign or is monotone.

use super::bounds::BIN_WIDTH;
use super::derivative::{Derivative, Polynomial, centre};
use crate::num::{interval::Interval, roots::bracketed_root, threads::parallel_allowed};
use rayon::prelude::*;

/// The proved behaviour of the derivative on a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    Positive,
    Negative,
    Rising,
    Falling,
    /// Nothing is proved: value and slope are within their error bounds.
    Unknown,
}

/// A piece `[from, to]` in units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub from: f64,
    pub to: f64,
    pub behaviour: Behaviour,
}

/// Down-crossings of the derivative: zeros where it changes from plus to minus.
pub(super) struct Crossings {
    /// Their positions and bounds of the errors, in units.
    pub roots: Vec<(f64, f64)>,
    /// Intervals without a proof.
    pub undecided: Vec<(f64, f64)>,
    /// True if the derivative is proved to have a sign somewhere: the estimate is not constant.
    pub has_sign: bool,
}

/// Most bisections of a bin; a piece that is still undecided remains so.
const MAX_BISECTIONS: u32 = 36;

/// Finds the down-crossings of the derivative.
pub(super) fn find(field: &impl Derivative) -> Crossings {
    let targets = field.candidate_bins();
    if !field.bounds_apply() {
        return Crossings {
            roots: Vec::new(),
            undecided: vec![(
                centre(targets[0]) - 0.5 * BIN_WIDTH,
                centre(targets[targets.len() - 1]) + 0.5 * BIN_WIDTH,
            )],
            has_sign: false,
        };
    }
    let pieces_of = |bin: &i64| {
        let mut pieces = Vec::new();
        classify(&field.polynomial(*bin), 0.0, 0.5 * BIN_WIDTH, 0, &mut pieces);
        pieces
    };
    let classified: Vec<Vec<Piece>> = if parallel_allowed() && targets.len() > 64 {
        targets.par_iter().map(pieces_of).collect()
    } else {
        targets.iter().map(pieces_of).collect()
    };
    let mut pieces: Vec<Piece> = Vec::new();
    for (k, (bin, own)) in targets.iter().zip(&classified).enumerate() {
        let left = centre(*bin) - 0.5 * BIN_WIDTH;
        if k > 0 && targets[k - 1] + 1 < *bin {
            // Between bins near samples the estimate is convex: its derivative rises.
            pieces.push(Piece {
                from: centre(targets[k - 1]) + 0.5 * BIN_WIDTH,
                to: left,
                behaviour: Behaviour::Rising,
            });
        }
        pieces.extend(own);
    }
    let (first, last) = (pieces[0].from, pieces[pieces.len() - 1].to);
    match field.bins() {
        // Left of all samples the estimate rises, right of them it falls.
        None => {
            pieces.insert(
                0,
                Piece { from: first - BIN_WIDTH, to: first, behaviour: Behaviour::Positive },
            );
            pieces.push(Piece { from: last, to: last + BIN_WIDTH, behaviour: Behaviour::Negative });
        }
        Some(bins) => {
            let turn = BIN_WIDTH * bins as f64;
            if last < first + turn {
                pieces.push(Piece { from: last, to: first + turn, behaviour: Behaviour::Rising });
            }
            // Start at a piece with a sign.
            let Some(start) = pieces.iter().position(|p| is_signed(p.behaviour)) else {
                return Crossings {
                    roots: Vec::new(),
                    undecided: vec![(first, first + turn)],
                    has_sign: false,
                };
            };
            let mut next = pieces.split_off(start);
            next.extend(
                pieces
                    .iter()
                    .chain(&next[..1])
                    .map(|p| Piece { from: p.from + turn, to: p.to + turn, ..*p })
                    .collect::<Vec<_>>(),
            );
            pieces = next;
        }
    }
    from_pieces(field, &pieces)
}

fn is_signed(behaviour: Behaviour) -> bool {
    matches!(behaviour, Behaviour::Positive | Behaviour::Negative)
}

/// Classifies `[v - rho, v + rho]` of a bin, and bisects it where nothing is proved. Both numbers
/// are exact, as multiples of a power of two.
fn classify(p: &Polynomial, v: f64, rho: f64, depth: u32, out: &mut Vec<Piece>) {
    // An evaluation in f64 about v decides which proof to try.
    let c = p.shifted_to(v);
    let (mut value, mut slope, mut power) = (p.error.0, p.error.1, 1.0);
    for (l, c) in c.iter().enumerate().skip(1) {
        if l > 1 {
            slope += l as f64 * c.abs() * power;
        }
        power *= rho;
        value += c.abs() * power;
    }
    let signed = if c[0].abs() > value { sign(p, v, rho) } else { Behaviour::Unknown };
    let behaviour = if signed == Behaviour::Unknown && c[1].abs() > slope {
        slope_sign(p, v, rho)
    } else {
        signed
    };
    if behaviour == Behaviour::Unknown
        && depth < MAX_BISECTIONS
        && (c[0].abs() + value > 4.0 * p.error.0 || c[1].abs() + slope > 4.0 * p.error.1)
    {
        classify(p, v - 0.5 * rho, 0.5 * rho, depth + 1, out);
        classify(p, v + 0.5 * rho, 0.5 * rho, depth + 1, out);
        return;
    }
    let centre = centre(p.bin);
    out.push(Piece { from: centre + v - rho, to: centre + v + rho, behaviour });
}

/// The sign of the derivative on `[v - rho, v + rho]`, if interval arithmetic proves one by the
/// mean value form.
pub(super) fn sign(p: &Polynomial, v: f64, rho: f64) -> Behaviour {
    let value = p.enclose_derivative(0, Interval::exact(v));
    let slope = p.enclose_derivative(1, Interval::new(v - rho, v + rho));
    classify_range(
        value + slope * Interval::symmetric(rho) + Interval::symmetric(p.error.0),
        Behaviour::Positive,
        Behaviour::Negative,
    )
}

/// The sign of the slope of the derivative on `[v - rho, v + rho]`, likewise.
pub(super) fn slope_sign(p: &Polynomial, v: f64, rho: f64) -> Behaviour {
    let slope = p.enclose_derivative(1, Interval::exact(v));
    let second = p.enclose_derivative(2, Interval::new(v - rho, v + rho));
    classify_range(
        slope + second * Interval::symmetric(rho) + Interval::symmetric(p.error.1),
        Behaviour::Rising,
        Behaviour::Falling,
    )
}

fn classify_range(range: Interval, above: Behaviour, below: Behaviour) -> Behaviour {
    if range.is_positive() {
        above
    } else if range.is_negative() {
        below
    } else {
        Behaviour::Unknown
    }
}

/// Examines the pieces between neighbouring pieces with a sign. Falling pieces from plus to minus
/// contain exactly one down-crossing; monotone pieces between equal signs contain none.
pub(super) fn from_pieces(field: &impl Derivative, pieces: &[Piece]) -> Crossings {
    let mut found = Crossings { roots: Vec::new(), undecided: Vec::new(), has_sign: true };
    let signed: Vec<usize> =
        (0..pieces.len()).filter(|&k| is_signed(pieces[k].behaviour)).collect();
    for pair in signed.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let between = &pieces[a + 1..b];
        let only = |behaviour: Behaviour| between.iter().all(|p| p.behaviour == behaviour);
        match (pieces[a].behaviour, pieces[b].behaviour) {
            (Behaviour::Positive, Behaviour::Negative)
                if !between.is_empty() && only(Behaviour::Falling) =>
            {
                found.roots.push(root(field, between))
            }
            (Behaviour::Negative, Behaviour::Positive)
                if !between.is_empty() && only(Behaviour::Rising) => {}
            (x, y) if x == y && (only(Behaviour::Rising) || only(Behaviour::Falling)) => {}
            _ => {
                // No proof. If the signs require a crossing, the best guess is one.
                let (from, to) = (pieces[a].to, pieces[b].from);
                found.undecided.push((from, to));
                if pieces[a].behaviour == Behaviour::Positive
                    && pieces[b].behaviour == Behaviour::Negative
                {
                    found.roots.push((0.5 * (from + to), 0.5 * (to - from)));
                }
            }
        }
    }
    found
}

/// The zero in consecutive falling pieces and a bound of its error.
fn root(field: &impl Derivative, pieces: &[Piece]) -> (f64, f64) {
    let (from, to) = (pieces[0].from, pieces[pieces.len() - 1].to);
    for piece in pieces {
        let (p, centre) = polynomial_at(field, 0.5 * (piece.from + piece.to));
        if let Some(v) = bracketed_root(|v| p.value(v), piece.from - centre, piece.to - centre, 0.0)
        {
            let s = centre + v;
            // Rounding of the position, and the error of the polynomial over its slope.
            let slope = p.shifted_to(v)[1].abs();
            let first = 2.0 * f64::EPSILON * (1.0 + s.abs()) + 2.0 * p.error.0 / slope;
            let radii = (0..12).map(|k| first * f64::from(1 << (2 * k)));
            let proved = radii
                .take_while(|r| s - r > from && s + r < to)
                .find(|r| is_between(field, s - r, s + r));
            return (s, proved.unwrap_or((s - from).max(to - s)));
        }
    }
    // The zero lies at the common end of two pieces, within the error of their polynomials.
    let s = if pieces.len() > 1 { pieces[pieces.len() / 2].from } else { 0.5 * (from + to) };
    (s, (s - from).max(to - s))
}

/// True if the derivative is proved to be positive at `a` and negative at `b`.
fn is_between(field: &impl Derivative, a: f64, b: f64) -> bool {
    let behaviour = |s: f64| {
        let (p, centre) = polynomial_at(field, s);
        // An interval inside the bin that contains the difference, which is rounded.
        let margin = f64::EPSILON;
        let most = 0.5 * BIN_WIDTH - margin;
        sign(&p, (s - centre).clamp(-most, most), margin)
    };
    behaviour(a) == Behaviour::Positive && behaviour(b) == Behaviour::Negative
}

/// The polynomial of the bin of a position, and the centre of the bin.
fn polynomial_at(field: &impl Derivative, s: f64) -> (Polynomial, f64) {
    let bin = (s / BIN_WIDTH).floor() as i64;
    (field.polynomial(field.bins().map_or(bin, |c| bin.rem_euclid(c))), centre(bin))
}
