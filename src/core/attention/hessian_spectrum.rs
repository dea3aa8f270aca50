//! Eigenvalues of Hessians of pair energies, relatively accurate beside clusters.
//!
//! Tokens of a cluster pull at each other with weights that may exceed all others by many powers of
//! ten, and in the entries of the Hessian the small weights are lost. In the right basis they are
//! not: the tokens form a tree, in which the nearest groups are joined first, and a mode moves the
//! two parts of a join against each other, or all tokens. A pair of tokens then acts on the modes
//! of the joins that separate them, and hardly on others:
//!
//! With the angle D of a pair, unit tangents along its great circle, velocities a along them and p
//! across, the second variation of its energy `m_i m_j W(cos D)`, `W' = phi`, is `m_i m_j` times
//!
//! ```text
//! (phi' sin^2 D - phi cos D) (a_i - a_j)^2 - phi cos D |p_i - p_j|^2 + 2 phi (1 - cos D) p_i p_j
//! ```
//!
//! in which nothing cancels if the frames of both tokens belong to each other. Jacobi's method
//! keeps the relative accuracy of the modes.

use crate::error::{Error, Result};
use crate::num::dense;
use crate::num::sum::dot;
use crate::num::vector::{max_abs, norm};
use crate::sphere::Tokens;
use crate::sphere::geometry::{antichord2, chord2, tangent_basis, transport};

/// Larger matrices are decomposed without the basis of clusters: Jacobi's method takes seconds.
const MAX_MODES: usize = 256;

/// Most sweeps of Jacobi's method; ten are usual.
const MAX_SWEEPS: usize = 60;

/// Roundings of an entry, in units of the sum of its absolute terms.
const ROUNDINGS: f64 = 64.0;

/// Roundings of an inner product, which is known to some roundings of 1.
const INNER: f64 = 4.0;

/// The eigenvalues of a Hessian, ascending, each with a bound of its rounding error.
#[derive(Clone, Debug, PartialEq)]
pub struct HessianSpectrum {
    /// The eigenvalues.
    pub values: Vec<f64>,
    /// Bounds of their errors.
    pub errors: Vec<f64>,
    /// False if small eigenvalues may be lost to the rounding of large ones: the matrix was too
    /// large for the basis of clusters.
    pub is_relative: bool,
}

impl HessianSpectrum {
    /// The number of negative eigenvalues (the Morse index), of those that are 0 to their error,
    /// and of positive ones (directions of ascent).
    pub fn inertia(&self) -> (usize, usize, usize) {
        let count = |sign: f64| {
            self.values.iter().zip(&self.errors).filter(|(v, e)| sign * **v > **e).count()
        };
        let (negative, positive) = (count(-1.0), count(1.0));
        (negative, self.values.len() - negative - positive, positive)
    }

    /// Of a dense symmetric matrix.
    ///
    /// **Accuracy** errors relative to the largest eigenvalue. **Errors** a failed iteration.
    pub fn of_matrix(h: &[f64], size: usize) -> Result<Self> {
        let mut values = dense::symmetric_eigenvalues(h, size).ok_or_else(|| failed(size))?;
        values.sort_by(f64::total_cmp);
        let error = ROUNDINGS * f64::EPSILON * size as f64 * max_abs(&values);
        Ok(Self { errors: vec![error; size], values, is_relative: false })
    }

    /// Of the energy `(1/2) sum_ij m_i m_j W(<x_i, x_j>)`, from phi, phi' and phi'' of pairs.
    ///
    /// **Accuracy** relative for every eigenvalue, as [`HessianSpectrum::errors`] says. **Cost**
    /// `n^2 k^2 d^3` for trees of depth k, and Jacobi's method. **Errors** those of `pair`; a
    /// failed iteration.
    pub fn of_pairs(
        x: &Tokens,
        pair: impl Fn(usize, usize) -> Result<[f64; 3]>,
    ) -> Result<Option<Self>> {
        let size = x.n() * (x.d() - 1);
        if size > MAX_MODES {
            return Ok(None);
        }
        let mut matrix = Modes::new(x).matrix(x, pair)?;
        if !matrix.diagonalise() {
            return Err(failed(size));
        }
        let mut all: Vec<(f64, f64)> = (0..size)
            .map(|k| {
                let rounding = ROUNDINGS * f64::EPSILON * matrix.terms[k];
                // Products below the smallest normal number lose more.
                (matrix.h[k * size + k], rounding + f64::MIN_POSITIVE)
            })
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (values, errors) = all.into_iter().unzip();
        Ok(Some(Self { values, errors, is_relative: true }))
    }

    /// All eigenvalues times a positive or negative number.
    #[must_use]
    pub fn scaled(mut self, by: f64) -> Self {
        self.values.iter_mut().for_each(|v| *v *= by);
        self.errors.iter_mut().for_each(|e| *e *= by.abs());
        if by < 0.0 {
            self.values.reverse();
            self.errors.reverse();
        }
        self
    }
}

fn failed(size: usize) -> Error {
    let what = format!("the eigenvalues of a {size} x {size} Hessian did not converge");
    Error::Numerical { what }
}

/// The basis: for every token its modes with their coefficients, and its frame.
struct Modes {
    /// (mode, coefficient), in the order of modes.
    of_token: Vec<Vec<(usize, f64)>>,
    /// Orthonormal tangent vectors, `(d-1) x d`; those of neighbours are transported.
    frames: Vec<Vec<f64>>,
}

impl Modes {
    fn new(x: &Tokens) -> Self {
        let n = x.n();
        let mut edges: Vec<(f64, usize, usize)> = (0..n)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| (chord2(x.row(i), x.row(j)), j, i))
            .collect();
        edges.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut group: Vec<usize> = (0..n).collect();
        let mut members: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
        let mut frames: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
        let mut of_token = vec![Vec::new(); n];
        let mut mode = 0;
        for (_, i, j) in edges {
            let (a, b) = (group[i], group[j]);
            if a == b {
                continue;
            }
            let moved = std::mem::take(&mut members[b]);
            let (p, q) = (members[a].len() as f64, moved.len() as f64);
            let (up, down) = ((q / (p * (p + q))).sqrt(), -(p / (q * (p + q))).sqrt());
            members[a].iter().for_each(|k| of_token[*k].push((mode, up)));
            moved.iter().for_each(|k| of_token[*k].push((mode, down)));
            join_frames(x, &mut frames, (i, j), &moved);
            moved.iter().for_each(|k| group[*k] = a);
            members[a].extend(moved);
            mode += 1;
        }
        of_token.iter_mut().for_each(|modes| modes.push((n - 1, (n as f64).sqrt().recip())));
        Self { of_token, frames }
    }

    /// The Hessian on the modes.
    fn matrix(
        &self,
        x: &Tokens,
        pair: impl Fn(usize, usize) -> Result<[f64; 3]>,
    ) -> Result<Symmetric> {
        let (n, d, m) = (x.n(), x.d(), x.masses());
        let t = d - 1;
        let size = n * t;
        let mut out = Symmetric { h: vec![0.0; size * size], terms: vec![0.0; size], size };
        for i in 0..n {
            for j in 0..i {
                let [phi, slope, bend] = pair(i, j)?;
                // The inner product has some roundings of its own.
                let inner = INNER / ROUNDINGS;
                let terms = m[i] * m[j] * (phi.abs() + inner * slope.abs());
                let slope_terms = m[i] * m[j] * (slope.abs() + inner * bend.abs());
                let (xi, xj) = (x.row(i), x.row(j));
                let (chord, anti) = (chord2(xi, xj), antichord2(xi, xj));
                let (cos, sin2) = (0.5 * (0.5 * anti - 0.5 * chord), 0.25 * chord * anti);
                let (phi, slope) = (m[i] * m[j] * phi, m[i] * m[j] * slope);
                let (along, across) = self.parts(x, i, j);
                for row in along {
                    out.add_square(slope * sin2 - phi * cos, slope_terms * sin2 + terms, &row);
                }
                for (difference, first, second) in across {
                    out.add_square(-phi * cos, terms, &difference);
                    out.add_product(phi * 0.5 * chord, terms * 0.5 * chord, (&first, &second));
                }
            }
        }
        Ok(out)
    }

    /// Linear forms on the modes: `a_i - a_j`, and for every coordinate of space those of
    /// `p_i - p_j`, `p_i` and `p_j`.
    fn parts(&self, x: &Tokens, i: usize, j: usize) -> (Vec<Form>, Vec<(Form, Form, Form)>) {
        let d = x.d();
        let t = d - 1;
        let (fi, fj) = (&self.frames[i], &self.frames[j]);
        let tangents = tangents(x.row(i), x.row(j));
        let in_frame = |frame: &[f64], v: &[f64]| -> Vec<f64> {
            frame.chunks_exact(d).map(|e| dot(e, v)).collect()
        };
        // Tokens at one point have no direction: all of a velocity counts as across.
        let (alpha, beta) = match &tangents {
            Some((ti, tj)) if d > 2 => (in_frame(fi, ti), in_frame(fj, tj)),
            // On the circle all frames are turned by the same angle, or reflected.
            Some((ti, tj)) => (vec![dot(fi, ti).signum()], vec![dot(fj, tj).signum()]),
            None => (vec![0.0; t], vec![0.0; t]),
        };
        let form = |left: &dyn Fn(usize) -> f64, right: &dyn Fn(usize) -> f64| {
            self.form(i, j, t, left, right)
        };
        let along = tangents.as_ref().map(|_| form(&|k| alpha[k], &|k| beta[k]));
        let mut across = Vec::new();
        if d > 2 || tangents.is_none() {
            for c in 0..d {
                let (ti, tj) = tangents.as_ref().map_or((0.0, 0.0), |(ti, tj)| (ti[c], tj[c]));
                let left = |k: usize| fi[k * d + c] - ti * alpha[k];
                let right = |k: usize| fj[k * d + c] - tj * beta[k];
                let none = |_: usize| 0.0;
                across.push((form(&left, &right), form(&left, &none), {
                    // The part of j alone, with its sign.
                    let mut own = form(&none, &right);
                    own.iter_mut().for_each(|(_, v, _)| *v = -*v);
                    own
                }));
            }
        }
        (along.into_iter().collect(), across)
    }

    /// `left . u_i - right . u_j` as a form on the modes. Equal coefficients of both tokens meet
    /// equal entries, and nothing is left.
    fn form(
        &self,
        i: usize,
        j: usize,
        t: usize,
        left: &dyn Fn(usize) -> f64,
        right: &dyn Fn(usize) -> f64,
    ) -> Form {
        let mut out = Form::new();
        let (mut a, mut b) =
            (self.of_token[i].iter().peekable(), self.of_token[j].iter().peekable());
        loop {
            let mode = match (a.peek(), b.peek()) {
                (Some(p), Some(q)) => p.0.min(q.0),
                (Some(p), None) => p.0,
                (None, Some(q)) => q.0,
                (None, None) => return out,
            };
            let ci = a.next_if(|p| p.0 == mode).map_or(0.0, |p| p.1);
            let cj = b.next_if(|q| q.0 == mode).map_or(0.0, |q| q.1);
            for k in 0..t {
                // c_i l - c_j r, by differences.
                let (l, r) = (left(k), right(k));
                let v = (ci - cj) * l + cj * (l - r);
                // Unit vectors in more than two dimensions are rounded; on the circle they are
                // signs.
                let differ = t > 1 && (l - r) != 0.0;
                let rounding = if differ { (ci - cj).abs() + cj.abs() } else { 0.0 };
                if v != 0.0 {
                    out.push((mode * t + k, v, FRAME * f64::EPSILON * rounding));
                }
            }
        }
    }
}

/// A linear form: places with entries and their errors.
type Form = Vec<(usize, f64, f64)>;

/// Roundings of an entry of a frame.
const FRAME: f64 = 4.0;

/// The square of an entry, with what its error adds to it in units of [`ROUNDINGS`].
fn square(entry: f64, error: f64) -> f64 {
    entry * entry + (2.0 * entry.abs() + error) * error / (ROUNDINGS * f64::EPSILON)
}

/// Turns the frames of a group such that those of tokens i and j belong to each other.
fn join_frames(x: &Tokens, frames: &mut [Vec<f64>], (i, j): (usize, usize), moved: &[usize]) {
    let d = x.d();
    let t = d - 1;
    // On the circle frames differ by signs at most.
    if d == 2 || antichord2(x.row(i), x.row(j)) < 1e-6 {
        return;
    }
    let inside = |k: usize| moved.contains(&k);
    let (fixed, other) = if inside(i) { (j, i) } else { (i, j) };
    let wanted: Vec<f64> = frames[fixed]
        .chunks_exact(d)
        .flat_map(|e| transport(x.row(fixed), x.row(other), e))
        .collect();
    // The matrix that turns the frame of the other token into the wanted one.
    let own = frames[other].clone();
    let turn: Vec<f64> =
        (0..t * t).map(|k| dot(&wanted[(k / t) * d..][..d], &own[(k % t) * d..][..d])).collect();
    for k in moved {
        let old = frames[*k].clone();
        for (a, row) in frames[*k].chunks_exact_mut(d).enumerate() {
            for (c, v) in row.iter_mut().enumerate() {
                *v = (0..t).map(|b| turn[a * t + b] * old[b * d + c]).sum();
            }
        }
    }
    // Tokens at one point have the same frame, exactly.
    if chord2(x.row(fixed), x.row(other)) == 0.0 {
        let frame = frames[fixed].clone();
        let same = moved.iter().filter(|k| chord2(x.row(**k), x.row(fixed)) == 0.0);
        same.for_each(|k| frames[*k].clone_from(&frame));
    }
}

/// Unit tangents of the great circle from x to y, at x and at y; `None` at one point.
fn tangents(x: &[f64], y: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let (chord, anti) = (chord2(x, y), antichord2(x, y));
    if chord == 0.0 {
        return None;
    }
    // y - <x, y> x, by the smaller of the sum and the difference.
    let direction = |x: &[f64], y: &[f64]| -> Vec<f64> {
        let entries = x.iter().zip(y);
        let mut v: Vec<f64> = if chord < anti {
            entries.map(|(x, y)| (y - x) + 0.5 * chord * x).collect()
        } else {
            entries.map(|(x, y)| (y + x) - 0.5 * anti * x).collect()
        };
        let length = norm(&v);
        v.iter_mut().for_each(|v| *v /= length);
        v
    };
    if anti < 1e-28 {
        // Opposite points: any great circle.
        let e = tangent_basis(x)[..x.len()].to_vec();
        let back = e.iter().map(|v| -v).collect();
        return Some((e, back));
    }
    let back = direction(y, x).into_iter().map(|v| -v).collect();
    Some((direction(x, y), back))
}

/// A symmetric matrix with the sums of the absolute terms of its diagonal.
struct Symmetric {
    h: Vec<f64>,
    terms: Vec<f64>,
    size: usize,
}

impl Symmetric {
    /// Adds `w f f^T`, of which the terms of w have this absolute sum.
    fn add_square(&mut self, w: f64, terms: f64, f: &Form) {
        for (k, a, error) in f {
            self.terms[*k] += terms * square(*a, *error);
            for (l, b, _) in f {
                self.h[k * self.size + l] += w * (a * b);
            }
        }
    }

    /// Adds `w (f g^T + g f^T)`, of which the terms of w have this absolute sum.
    fn add_product(&mut self, w: f64, terms: f64, (f, g): (&Form, &Form)) {
        for (k, a, _) in f {
            for (l, b, _) in g {
                self.h[k * self.size + l] += w * (a * b);
                self.h[l * self.size + k] += w * (a * b);
            }
        }
        let both = f.iter().chain(g);
        both.for_each(|(k, a, error)| self.terms[*k] += terms * square(*a, *error));
    }

    /// Jacobi's method: turns pairs of coordinates until every entry is below the rounding of its
    /// row and column. The sums of terms turn with the squares of the coordinates. True if it ends.
    fn diagonalise(&mut self) -> bool {
        let size = self.size;
        for _ in 0..MAX_SWEEPS {
            let mut turned = false;
            for p in 0..size {
                for q in p + 1..size {
                    let off = self.h[p * size + q];
                    let noise = 0.5 * f64::EPSILON * (self.terms[p] * self.terms[q]).sqrt();
                    if off.abs() <= noise || off == 0.0 {
                        continue;
                    }
                    turned = true;
                    self.turn(p, q, off);
                }
            }
            if !turned {
                return self.h.iter().all(|v| v.is_finite());
            }
        }
        false
    }

    fn turn(&mut self, p: usize, q: usize, off: f64) {
        let size = self.size;
        let (a, b) = (self.h[p * size + p], self.h[q * size + q]);
        let ratio = (b - a) / (2.0 * off);
        let tan = if ratio.is_infinite() {
            0.0
        } else {
            ratio.signum() / (ratio.abs() + ratio.hypot(1.0))
        };
        let cos = tan.hypot(1.0).recip();
        let sin = tan * cos;
        for k in (0..size).filter(|k| *k != p && *k != q) {
            let (u, v) = (self.h[p * size + k], self.h[q * size + k]);
            let (u, v) = (cos * u - sin * v, sin * u + cos * v);
            (self.h[p * size + k], self.h[k * size + p]) = (u, u);
            (self.h[q * size + k], self.h[k * size + q]) = (v, v);
        }
        (self.h[p * size + p], self.h[q * size + q]) = (a - tan * off, b + tan * off);
        (self.h[p * size + q], self.h[q * size + p]) = (0.0, 0.0);
        let (s, t) = (self.terms[p], self.terms[q]);
        let (c2, s2) = (cos * cos, sin * sin);
        (self.terms[p], self.terms[q]) = (c2 * s + s2 * t, s2 * s + c2 * t);
    }
}
