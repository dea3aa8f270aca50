//! Certificates of critical points: rest points of whole clusters, and the signs of the Hessian there.
//!
//! **Equations** `G(y)_q = F(y)_q + (1 - |y_q|^2) y_q - sum_a g_a(y) A_a y_q`, F the field of USA with the sizes as masses, `g_a = sum_q s_q <A_a p_q, y_q>` and p the
//! given points. A zero near them has `|y_q| = 1` (pair with `y_q`: F and `A_a y_q` are orthogonal to it); then `sum_q s_q <F_q, A_b y_q> = 0`, so that `sum_a g_a <A_a y, A_b y> = 0`
//! and, the displacements being independent, `g = 0`. So the zeros of the box are its critical points on the slice. Krawczyk's test finds exactly one.
//!
//! **Signs**: on tangent spaces, in the coordinates `sqrt(s_q) e_q`, the Hessian of whole clusters is the derivative S of F, with the rotations in its kernel: they alone are
//! its kernel when `S + sum_a w_a w_a^T` is regular, `w_a` their displacements, and its positive eigenvalues are one less for each. Deviations within
//! a cluster see the block of S on the diagonal less the number of tokens in it, `s_q - 1` times over.

use super::flow::{Local, System, axes, cauchy, field, less, tables};
use super::{I, Reader, dot, dyadic, int, positive, sum};

/// A statement to be confirmed.
struct Claim {
    s: System,
    sizes: Vec<usize>,
    points: Vec<I>,
    radius: I,
    planes: Vec<(usize, usize)>,
}

/// A double from its bits.
fn double(word: &str) -> Option<I> {
    let bits = u64::from_str_radix(word, 16).ok().filter(|_| word.len() == 16)?;
    let (k, m) = ((bits >> 52 & 0x7ff) as i64, (bits & ((1 << 52) - 1)) as i64);
    let m = if k == 0 { m } else { m | 1 << 52 };
    (k < 0x7ff).then(|| dyadic(if bits >> 63 == 1 { -m } else { m }, k.max(1) - 1075))
}

impl Claim {
    /// `A y` of a plane.
    fn turned(&self, (a, b): (usize, usize), y: &[I]) -> Vec<I> {
        let of = |(c, _): (usize, &I)| match c % self.s.d {
            k if k == a => int(0) - &y[c - a + b],
            k if k == b => y[c - b + a].clone(),
            _ => int(0),
        };
        y.iter().enumerate().map(of).collect()
    }

    /// The last Taylor coefficient of G along a path with these.
    fn equations(&self, y: &[Vec<I>]) -> Vec<I> {
        let (mut t, k, s) = (tables(&self.s), y.len() - 1, &self.s);
        let mut g = y.iter().map(|y| field(s, &mut t, y)).last().unwrap_or_default();
        for (c, g) in g.iter_mut().enumerate() {
            *g = &*g + &y[k][c] - cauchy(&t[3][c / s.d], &t[0][c], k);
        }
        for plane in &self.planes {
            let weighted: Vec<I> = self.turned(*plane, &self.points).iter().enumerate().map(|(c, v)| v * &s.m[c / s.d]).collect();
            for l in 0..=k {
                let (gauge, turned) = (dot(&weighted, &y[l]), self.turned(*plane, &y[k - l]));
                g.iter_mut().zip(turned).for_each(|(g, t)| *g = &*g - &gauge * t);
            }
        }
        g
    }

    /// Krawczyk: `|C G(p)|_i + r sum_j |1 - C G'|_ij < r`.
    fn has_one_zero(&self, y: &[I]) -> bool {
        let size = y.len();
        let column = |c: usize| self.equations(&[y.to_vec(), (0..size).map(|k| int((k == c).into())).collect()]);
        let columns: Vec<Vec<I>> = (0..size).map(column).collect();
        let Some(inverse) = inverse(&columns) else { return false };
        let value = self.equations(&[self.points.iter().map(I::low).collect()]);
        let off = |row: &[I], i: usize, j: usize| (dot(row, &columns[j]) - int((i == j).into())).up();
        let needs = |(i, row): (usize, &Vec<I>)| dot(row, &value).up() + sum((0..size).map(|j| off(row, i, j))) * self.radius.up();
        // The last digit: the points may lie between two of the grid.
        inverse.iter().enumerate().all(|at| needs(at).1 + 1 < self.radius.0)
    }

    /// Positive and negative eigenvalues of the Hessian on all tokens.
    fn signs(&self, y: &[I]) -> Option<(usize, usize)> {
        let (s, t) = (&self.s, self.s.d - 1);
        let axes = axes(s.d, &self.points);
        let local = Local::new(s, y, &int(1), &axes, false);
        let f = local.derivative();
        let shown = |v: Vec<I>| -> Vec<I> {
            let of = |(q, row): (usize, &[I])| local.project(q, row).iter().map(|v| v * s.m[q].sqrt()).collect::<Vec<_>>();
            v.chunks(s.d).enumerate().flat_map(of).collect()
        };
        let moves: Vec<Vec<I>> = self.planes.iter().map(|plane| shown(self.turned(*plane, y))).collect();
        let gram: Vec<Vec<I>> = moves.iter().map(|a| moves.iter().map(|b| dot(a, b)).collect()).collect();
        let borders = |p: usize, q: usize| sum(moves.iter().map(|w| &w[p] * &w[q]));
        let whole: Vec<Vec<I>> = (0..f.len()).map(|p| (0..f.len()).map(|q| &f[p][q] + borders(p, q)).collect()).collect();
        let (up, down) = both(&whole).filter(|_| positive(&gram) == Some(moves.len()))?;
        let mut all = (up.checked_sub(moves.len())?, down);
        for (q, size) in self.sizes.iter().enumerate().filter(|(_, size)| **size > 1) {
            let itself = &s.m[q] * s.shift.exp();
            let entry = |a: usize, b: usize| &f[q * t + a][q * t + b] - if a == b { itself.clone() } else { int(0) };
            let (up, down) = both(&(0..t).map(|a| (0..t).map(|b| entry(a, b)).collect()).collect::<Vec<_>>())?;
            all = (all.0 + (size - 1) * up, all.1 + (size - 1) * down);
        }
        Some(all)
    }
}

/// Positive and negative eigenvalues of a symmetric matrix that has no others.
fn both(f: &[Vec<I>]) -> Option<(usize, usize)> {
    let negated: Vec<Vec<I>> = f.iter().map(|row| row.iter().map(|v| int(0) - v).collect()).collect();
    let found = (positive(&less(&int(0), &negated))?, positive(&less(&int(0), f))?);
    (found.0 + found.1 == f.len()).then_some(found)
}

/// Nearly the inverse of a matrix of columns, by rows: elimination with pivots.
fn inverse(columns: &[Vec<I>]) -> Option<Vec<Vec<I>>> {
    let n = columns.len();
    let row = |i: usize| columns.iter().map(|c| c[i].mid()).chain((0..n).map(|j| int((i == j).into()))).collect();
    let mut a: Vec<Vec<I>> = (0..n).map(row).collect();
    for k in 0..n {
        let best = (k..n).max_by_key(|i| a[*i][k].up().1)?;
        a.swap(k, best);
        let pivot = Some(a[k][k].clone()).filter(|v| v.up().1 > 0.into())?;
        let sign = int(if pivot.0 < 0.into() { -1 } else { 1 });
        let own: Vec<I> = a[k].iter().map(|v| (&sign * v / pivot.up()).mid()).collect();
        for (i, row) in a.iter_mut().enumerate() {
            let factor = row[k].clone();
            row.iter_mut().zip(&own).for_each(|(v, o)| *v = if i == k { o.clone() } else { (&*v - &factor * o).mid() });
        }
    }
    Some(a.into_iter().map(|mut row| row.split_off(n)).collect())
}

const KEYS: [&str; 10] = ["kind", "beta", "d", "sizes", "points", "radius", "rotations", "unstable", "morse_index", "digest"];

/// Checks a certificate and returns its statement.
pub(super) fn check(text: &str) -> Result<String, String> {
    // A line a key: what is said in words is made anew.
    let said = |l: &&str| !["\"statement\"", "\"not_excluded\""].iter().any(|k| l.trim_start().starts_with(k));
    let words =
        text.lines().filter(said).flat_map(|l| l.split(|c: char| "{}[],:\"".contains(c) || c.is_whitespace())).filter(|w| !w.is_empty());
    let plain: String = words.flat_map(|w| [if KEYS.contains(&w) { "\n" } else { " " }, w]).collect();
    let mut r = Reader(plain.lines().skip(1).collect::<Vec<_>>().into_iter().rev().collect());
    if r.words("kind")?.join(" ") != "metastable critical point version 2" {
        return Err("not a critical point, version 2".into());
    }
    // The bits, and for readers the decimals, which are to say the same.
    let pair =
        |w: &[&str]| double(w[0]).filter(|_| w.get(1).and_then(|d| d.parse().ok()).map(f64::to_bits) == u64::from_str_radix(w[0], 16).ok());
    let doubles =
        |words: Vec<&str>| words.chunks(2).map(pair).collect::<Option<Vec<I>>>().ok_or("no 16 hexadecimal digits with their number");
    let wholes = |words: Vec<&str>| words.iter().map(|w| w.parse().ok()).collect::<Option<Vec<usize>>>().ok_or("no whole number");
    let (beta, d, sizes) = (doubles(r.words("beta")?)?, r.count("d", 2..=256)?, wholes(r.words("sizes")?)?);
    let (points, radius, planes) = (doubles(r.words("points")?)?, doubles(r.words("radius")?)?, wholes(r.words("rotations")?)?);
    let (unstable, morse) = (r.count("unstable", 0..=usize::MAX)?, r.count("morse_index", 0..=usize::MAX)?);
    let planes: Vec<(usize, usize)> = planes.chunks(2).map(|p| (p[0], *p.get(1).unwrap_or(&d))).collect();
    let (k, ([beta], [radius])) = (sizes.len(), (&beta[..], &radius[..])) else { return Err("one beta, one radius".into()) };
    let ranges =
        beta.up().1 <= int(1000).0 && radius.0 > 0.into() && radius.1 < int(1).over(10).0 && k > 0 && k * d <= 512 && points.len() == k * d;
    if !ranges || sizes.iter().any(|s| !(1..=1 << 20).contains(s)) || planes.len() > k * d || planes.iter().any(|(a, b)| *a >= d || b >= a)
    {
        return Err("sizes, beta, the radius or a rotation are out of range".into());
    }
    let m: Vec<I> = sizes.iter().map(|s| int(*s as i64)).collect();
    // The largest weight between clusters is about 1.
    let exponents = (0..k)
        .flat_map(|q| (0..q).map(move |p| (q, p)))
        .map(|(q, p)| beta * (dot(&points[q * d..q * d + d], &points[p * d..p * d + d]) - int(1)));
    let shift = int(0) - exponents.max_by_key(|e| e.1.clone()).unwrap_or(int(0)).low();
    let s = System { softmax: false, causal: false, d, beta: beta.clone(), shift, tokens: m.iter().map(|m| vec![m.clone()]).collect(), m };
    let claim = Claim { s, sizes, radius: radius.clone(), points, planes };
    let y: Vec<I> = claim.points.iter().map(|p| p + claim.radius.symmetric()).collect();
    if !claim.has_one_zero(&y) {
        return Err("Newton's map does not send the box into itself".into());
    }
    let found = claim.signs(&y).ok_or("the sign of an eigenvalue is not decided")?;
    if found != (unstable, morse) {
        return Err(format!("{} positive and {} negative eigenvalues, not {unstable} and {morse}", found.0, found.1));
    }
    let (beta, radius, rest) = (beta.show(), radius.show(), claim.planes.len());
    Ok(format!(
        "beta = {beta}: among the configurations of {k} whole clusters in R^{d} within {radius:e} of the points, on the slice of the {rest} rotations, exactly one is critical; {unstable} \
         positive and {morse} negative eigenvalues, and the rotations"
    ))
}
