//! Certificates of whole landscapes on spheres: every leaf of the tree is confirmed again, and
//! every critical point.
//!
//! Inner products are whole multiples of `2^-40`; everything else is intervals of doubles, rounded
//! outwards. Lemmas and lines of the file are those of the documentation of `proofs::spheres`.

use crate::canonical::{canonical_lines, confirm, real, whole};
use crate::circle::inverse;
use crate::interval::F;
use crate::sphere_point::{Lines, Point, minus, one, ordered, point, times};
use crate::walk::{Progress, Watch, walk};

/// The inner product 1.
const ONE: i64 = 1 << 40;

/// Bounds of inner products.
type Cell = Vec<(i64, i64)>;

/// The same with bounds of beta.
type Region = (Cell, F);

/// Tokens: masses, the inner products that are not larger than others, and the permutations.
struct Sphere {
    mass: Vec<f64>,
    order: Vec<(usize, usize)>,
    permutations: Vec<Vec<usize>>,
}

/// Groups of coinciding tokens: their first tokens, masses, inner products and kernels, and beta.
struct Groups {
    beta: F,
    first: Vec<usize>,
    mass: Vec<f64>,
    g: Vec<Vec<F>>,
    phi: Vec<Vec<F>>,
}

/// The equations on a box: Y, the derivatives, `Y J`, the forces at a point inside, and their
/// slopes by beta with its change.
struct Linear {
    y: Vec<Vec<f64>>,
    lines: Vec<Vec<F>>,
    product: Vec<Vec<F>>,
    forces: Vec<F>,
    slopes: Vec<F>,
    change: F,
    centre: Groups,
}

fn units(v: i64) -> f64 {
    v as f64 / ONE as f64
}

fn enclosures(cell: &Cell) -> Vec<F> {
    cell.iter().map(|c| F(units(c.0), units(c.1))).collect()
}

fn hull(a: &[F], b: &[F]) -> Vec<F> {
    a.iter().zip(b).map(|(a, b)| a.join(b)).collect()
}

/// The place of a pair among `01, 02, ..., 12, ...`.
fn place(n: usize, a: usize, b: usize) -> usize {
    let (a, b) = (a.min(b), a.max(b));
    a * (2 * n - a - 1) / 2 + b - a - 1
}

fn permutations(mass: &[f64]) -> Vec<Vec<usize>> {
    (0..mass.len()).fold(vec![vec![]], |all, x| {
        let longer = |p: Vec<usize>| {
            let fits = |y: &usize| !p.contains(y) && mass[*y].to_bits() == mass[x].to_bits();
            let next: Vec<usize> = (0..mass.len()).filter(fits).collect();
            next.into_iter().map(move |y| p.iter().copied().chain([y]).collect::<Vec<_>>())
        };
        all.into_iter().flat_map(longer).collect()
    })
}

/// Bounds of the third inner product: the angle lies between the difference and the sum of the
/// other two. Roundings are below `2^-49`, and the margin is `2^-44`.
fn third(p: (i64, i64), q: (i64, i64)) -> (i64, i64) {
    let (margin, one) = (1.0 / (1u64 << 44) as f64, ONE as f64);
    let root = |p: f64, q: f64| ((1.0 - p) * (1.0 + p) * ((1.0 - q) * (1.0 + q))).sqrt();
    let near = |p: i64, q: i64| {
        let (p, q) = (units(p), units(q));
        (((p * q + root(p, q) + margin) * one).ceil() as i64).min(ONE)
    };
    let far = |p: i64, q: i64| {
        let (p, q) = (units(p), units(q));
        (((p * q - root(p, q) - margin) * one).floor() as i64).max(-ONE)
    };
    let high = match () {
        () if p.1 < q.0 => near(p.1, q.0),
        () if q.1 < p.0 => near(p.0, q.1),
        () => ONE,
    };
    let low = match () {
        () if p.1 < -q.1 => far(p.1, q.1),
        () if p.0 > -q.0 => far(p.0, q.0),
        () => -ONE,
    };
    (low, high)
}

impl Sphere {
    fn new(mass: Vec<f64>) -> Self {
        let n = mass.len();
        let all = permutations(&mass);
        let mut sphere = Self { mass, order: vec![], permutations: all };
        let mut stable: Vec<Vec<usize>> =
            sphere.permutations.iter().map(|p| sphere.moved(p)).collect();
        for t in 0..n * (n - 1) / 2 {
            let mut images: Vec<usize> = stable.iter().map(|p| p[t]).collect();
            images.sort_unstable();
            images.dedup();
            sphere.order.extend(images.into_iter().filter(|u| *u != t).map(|u| (t, u)));
            stable.retain(|p| p[t] == t);
        }
        sphere
    }

    fn n(&self) -> usize {
        self.mass.len()
    }

    /// Where a permutation of tokens takes the pairs.
    fn moved(&self, p: &[usize]) -> Vec<usize> {
        let n = self.n();
        (0..n).flat_map(|a| (a + 1..n).map(move |b| place(n, p[a], p[b]))).collect()
    }

    /// The image of a point: token a of the image is token `p[a]`.
    fn image(&self, g: &[F], p: &[usize]) -> Vec<F> {
        self.moved(p).into_iter().map(|t| g[t]).collect()
    }

    /// Shrinks a box to ordered Gram matrices; false if there are none.
    fn close(&self, cell: &mut Cell) -> bool {
        for _ in 0..3 {
            let before = cell.clone();
            if !(self.join(cell) && self.sort(cell) && self.triangles(cell)) {
                return false;
            }
            if before == *cell {
                break;
            }
        }
        true
    }

    /// Coinciding tokens have the same inner products.
    fn join(&self, cell: &mut Cell) -> bool {
        let n = self.n();
        for (a, b) in ordered(n).filter(|(a, b)| a < b) {
            let together = cell[place(n, a, b)].0 == ONE;
            for c in (0..n).filter(|c| together && *c != a && *c != b) {
                let (t, u) = (place(n, a, c), place(n, b, c));
                let both = (cell[t].0.max(cell[u].0), cell[t].1.min(cell[u].1));
                (cell[t], cell[u]) = (both, both);
                if both.0 > both.1 {
                    return false;
                }
            }
        }
        true
    }

    fn sort(&self, cell: &mut Cell) -> bool {
        self.order.iter().all(|(t, u)| {
            let (low, high) = (cell[*u].0, cell[*t].1);
            cell[*t].0 = cell[*t].0.max(low);
            cell[*u].1 = cell[*u].1.min(high);
            low <= high
        })
    }

    fn triangles(&self, cell: &mut Cell) -> bool {
        let n = self.n();
        (0..n).all(|a| {
            ordered(n).filter(|(b, c)| b < c && *b != a && *c != a).all(|(b, c)| {
                let (low, high) = third(cell[place(n, a, b)], cell[place(n, a, c)]);
                let side = &mut cell[place(n, b, c)];
                *side = (side.0.max(low), side.1.min(high));
                side.0 <= side.1
            })
        })
    }

    fn groups(&self, g: &[F], beta: F) -> Groups {
        let n = self.n();
        let (mut first, mut mass): (Vec<usize>, Vec<f64>) = (vec![], vec![]);
        for x in 0..n {
            match first.iter().position(|y| g[place(n, *y, x)].0 >= 1.0) {
                Some(y) => mass[y] += self.mass[x],
                None => {
                    first.push(x);
                    mass.push(self.mass[x]);
                }
            }
        }
        let entry = |x: usize, y: usize| if x == y { one() } else { g[place(n, x, y)] };
        let table = |f: &dyn Fn(usize, usize) -> F| -> Vec<Vec<F>> {
            first.iter().map(|x| first.iter().map(|y| f(*x, *y)).collect()).collect()
        };
        let g = table(&entry);
        let phi = table(&|x, y| (beta * (entry(x, y) - one())).exp());
        Groups { beta, first, mass, g, phi }
    }

    /// The quotient of Lemma 4.
    fn quotient(&self, s: &Groups, i: usize, j: usize) -> F {
        let more = one() + s.g[i][j];
        let own = F::int(s.mass[i] + s.mass[j]) * s.phi[i][j] * more;
        (0..s.mass.len()).filter(|c| *c != i && *c != j).fold(own, |sum, c| {
            let (p, q) = (s.g[i][c], s.g[j][c]);
            let most = (F::int(2.0) - (p + q).sqr() / more).1.clamp(0.0, 2.0);
            let slope = s.beta * s.phi[i][c].join(&s.phi[j][c]);
            let part = p * s.phi[i][c] + q * s.phi[j][c] - F(0.0, most) * slope;
            sum + F::int(s.mass[c]) * part
        })
    }

    /// The forces and, if wanted, their derivatives.
    fn forces(&self, s: &Groups, derive: bool) -> (Vec<F>, Vec<Vec<F>>) {
        let (k, beta, mut forces, mut lines) = (s.mass.len(), s.beta, vec![], vec![]);
        for (i, to) in ordered(k) {
            let (g, mut force) = (s.g[i][to], F::int(0.0));
            let mut line = vec![F::int(0.0); k * (k - 1) / 2];
            let mut along = F::int(0.0);
            for x in (0..k).filter(|x| *x != i) {
                let weight = F::int(s.mass[x]) * s.phi[i][x];
                let rest = if x == to { one() - g.sqr() } else { s.g[x][to] - s.g[i][x] * g };
                force = force + weight * rest;
                if derive && x == to {
                    along = along + weight * (beta * rest - g - g);
                } else if derive {
                    line[place(k, i, x)] = weight * (beta * rest - g);
                    line[place(k, x, to)] = weight;
                    along = along - weight * s.g[i][x];
                }
            }
            line[place(k, i, to)] = along;
            forces.push(force);
            lines.push(line);
        }
        (forces, lines)
    }

    /// A matrix of least squares.
    fn preconditioner(lines: &[Vec<F>]) -> Option<Vec<Vec<f64>>> {
        let count = lines[0].len();
        let scale = |l: &Vec<F>| l.iter().fold(1e-290, |m: f64, v| m.max(v.mid().abs()));
        let scaled: Vec<Vec<f64>> =
            lines.iter().map(|l| l.iter().map(|v| v.mid() / scale(l)).collect()).collect();
        let square: Vec<Vec<f64>> = (0..count)
            .map(|x| (0..count).map(|y| scaled.iter().map(|l| l[x] * l[y]).sum()).collect())
            .collect();
        let rows = inverse(&square)?;
        let entry = |row: &Vec<f64>, r: usize| {
            row.iter().zip(&scaled[r]).map(|(a, b)| a * b).sum::<f64>() / scale(&lines[r])
        };
        Some(rows.iter().map(|row| (0..lines.len()).map(|r| entry(row, r)).collect()).collect())
    }

    /// The equations on a box, multiplied by a matrix of least squares.
    fn linear(&self, g: &[F], beta: F) -> Option<Linear> {
        let middle = |v: &F| F::int((v.mid() * ONE as f64).floor() / ONE as f64);
        let point: Vec<F> = g.iter().map(middle).collect();
        let wide = self.groups(g, beta);
        let centre = self.groups(&point, F::int(beta.mid()));
        confirm(wide.first == centre.first, "").ok()?;
        let (forces, lines) = (self.forces(&centre, false).0, self.forces(&wide, true).1);
        // The derivative by beta has the weights `phi (g - 1)`.
        let (mut slopes, change) = (vec![F::int(0.0); forces.len()], beta - F::int(beta.mid()));
        if beta.0 < beta.1 {
            let mut slope = self.groups(&point, beta);
            for (phi, g) in slope.phi.iter_mut().flatten().zip(slope.g.iter().flatten()) {
                *phi = *phi * (*g - one());
            }
            slopes = self.forces(&slope, false).0;
        }
        let y = Self::preconditioner(&lines)?;
        let row = |y: &Vec<f64>| -> Vec<F> {
            (0..lines[0].len()).map(|z| times(y, lines.iter().map(|l| l[z]))).collect()
        };
        let product = y.iter().map(row).collect();
        Some(Linear { y, lines, product, forces, slopes, change, centre })
    }

    /// Whether a box contains at most one zero for every beta.
    fn is_unique(&self, g: &[F], beta: F) -> bool {
        let close = |found: Linear| {
            let off = |x: usize, z: usize| {
                (found.product[x][z] - F::int(f64::from(u8::from(x == z)))).mag()
            };
            let k = found.product.len();
            let sum = |x: usize| (0..k).fold(F::int(0.0), |s, z| s + F::int(off(x, z)));
            (0..k).all(|x| sum(x).1 < 1.0)
        };
        self.groups(g, beta).mass.len() < 2 || self.linear(g, beta).is_some_and(close)
    }

    /// What Newton's method leaves of a box; `None` if that is nothing.
    fn newton(&self, cell: &Cell, beta: F) -> Result<Option<Vec<F>>, String> {
        let mut g = enclosures(cell);
        let s = self.linear(&g, beta).ok_or("Newton's method has no preconditioner")?;
        let pairs: Vec<(usize, usize)> =
            ordered(s.centre.mass.len()).filter(|(a, b)| a < b).collect();
        let first = &s.centre.first;
        let at: Vec<usize> =
            pairs.iter().map(|(a, b)| place(self.n(), first[*a], first[*b])).collect();
        let middle: Vec<F> = pairs.iter().map(|(a, b)| s.centre.g[*a][*b]).collect();
        for ((force, slope), line) in s.forces.iter().zip(&s.slopes).zip(&s.lines) {
            let start = *force + *slope * s.change;
            let mean = (0..at.len()).fold(start, |s, x| s + line[x] * (g[at[x]] - middle[x]));
            if mean.has_sign() {
                return Ok(None);
            }
        }
        for x in (0..at.len()).filter(|x| s.product[*x][*x].has_sign()) {
            let others = (0..at.len()).filter(|z| *z != x);
            let sum = |v: &[F]| times(&s.y[x], v.iter().copied());
            let start = minus(sum(&s.forces) + sum(&s.slopes) * s.change);
            let row = &s.product[x];
            let sum = others.fold(start, |s, z| s - row[z] * (g[at[z]] - middle[z]));
            match g[at[x]].meet(&(sum / row[x] + middle[x])) {
                Some(both) => g[at[x]] = both,
                None => return Ok(None),
            }
        }
        Ok(Some(g))
    }

    /// Confirms one node, without points for intervals of beta; returns the boxes of its children,
    /// the next one last.
    fn node(
        &self,
        line: &str,
        (mut cell, beta): Region,
        points: &[Point],
    ) -> Result<Vec<Region>, String> {
        let (n, words): (usize, Vec<&str>) = (self.n(), line.split(' ').collect());
        if words[0] == "B" {
            let at = words.get(1).and_then(|w| real(w)).unwrap_or(f64::NAN);
            let inside = words.len() == 2 && beta.0 < at && at < beta.1;
            confirm(inside, "beta is not split inside")?;
            return Ok(vec![(cell.clone(), F(at, beta.1)), (cell, F(beta.0, at))]);
        }
        let numbers: Option<Vec<i64>> = words[1..].iter().map(|w| whole(w)).collect();
        let numbers = numbers.ok_or("a number is not whole")?;
        let length = match words[0] {
            "S" | "H" => 1,
            "J" | "F" | "Q" => 2,
            "P" => n,
            "K" => 2 * cell.len(),
            "Z" => 1 + n,
            _ => 0,
        };
        confirm(numbers.len() == length, "a wrong number of words")?;
        let index = |x: usize, below: usize| {
            let found = numbers.get(x).and_then(|v| usize::try_from(*v).ok());
            found.filter(|v| *v < below).ok_or("a number is missing or too large")
        };
        if !self.close(&mut cell) {
            return confirm(words[0] == "E", "an empty box has no other reason").map(|()| vec![]);
        }
        let g = enclosures(&cell);
        let group = |x: usize| {
            let s = self.groups(&g, beta);
            let y = s.first.iter().position(|f| *f == x).ok_or("not the first of its group")?;
            Ok::<_, String>((s, y))
        };
        match words[0] {
            "S" => {
                let t = index(0, cell.len())?;
                let mut above = cell.clone();
                (cell[t].1, above[t].0) =
                    ((cell[t].0 + cell[t].1).div_euclid(2), (cell[t].0 + cell[t].1).div_euclid(2));
                return Ok(vec![(above, beta), (cell, beta)]);
            }
            "J" | "Q" => {
                let (i, j) = (index(0, n)?, index(1, n)?);
                let ((s, a), (_, b)) = (group(i)?, group(j)?);
                confirm(a != b && self.quotient(&s, a, b).has_sign(), "a quotient may be 0")?;
                let t = place(n, i, j);
                if words[0] == "J" {
                    confirm(cell[t].1 == ONE, "joined tokens do not coincide")?;
                    cell[t].0 = ONE;
                    return Ok(vec![(cell, beta)]);
                }
                confirm(cell[t].1 < ONE, "the tokens may coincide")?;
            }
            "F" => {
                let ((s, a), (_, b)) = (group(index(0, n)?)?, group(index(1, n)?)?);
                let force = self.forces(&s, false).0;
                let row = ordered(s.mass.len()).position(|p| p == (a, b));
                confirm(row.is_some_and(|r| force[r].has_sign()), "a force may be 0")?;
            }
            "H" => {
                let set = index(0, 1 << n)?;
                let low = |x: usize, y: usize| if x == y { ONE } else { cell[place(n, x, y)].0 };
                let sum = |y: usize| -> i64 {
                    (0..n).filter(|x| set & (1 << x) != 0).map(|x| low(x, y)).sum()
                };
                let sums: Vec<i64> = (0..n).map(sum).collect();
                let half = sums.iter().all(|s| *s >= 0) && sums.iter().any(|s| *s > 0);
                confirm(half, "the tokens may not lie in a half space")?;
            }
            "P" => {
                confirm(numbers.iter().all(|v| v.abs() < 1 << 10), "a number is too large")?;
                let term = |(a, b): (usize, usize)| {
                    let (v, (low, high)) = (numbers[a] * numbers[b], cell[place(n, a, b)]);
                    i128::from(v) * i128::from(if v > 0 { high } else { low })
                };
                let own: i128 = numbers.iter().map(|v| i128::from(v * v) * i128::from(ONE)).sum();
                let total = own + ordered(n).map(term).sum::<i128>();
                confirm(total < 0, "the matrix may be positive")?;
            }
            "N" => confirm(self.newton(&cell, beta)?.is_none(), "Newton's method leaves a box")?,
            "K" => {
                let ordered = |b: &[i64]| -ONE <= b[0] && b[0] <= b[1] && b[1] <= ONE;
                confirm(numbers.chunks(2).all(ordered), "bounds in the wrong order")?;
                let rest = self.newton(&cell, beta)?;
                for (t, (new, own)) in numbers.chunks(2).zip(&mut cell).enumerate() {
                    *own = (own.0.max(new[0]), own.1.min(new[1]));
                    let holds = |v: &Vec<F>| units(own.0) <= v[t].0 && v[t].1 <= units(own.1);
                    confirm(rest.as_ref().is_none_or(holds), "Newton's method leaves more")?;
                }
                return Ok(vec![(cell, beta)]);
            }
            "Z" => {
                let point = &points[index(0, points.len())?];
                let p = (1..=n).map(|x| index(x, n)).collect::<Result<Vec<_>, _>>()?;
                confirm(self.permutations.contains(&p), "not a permutation of equal masses")?;
                let both = hull(&g, &self.image(&point.place, &p));
                confirm(self.is_unique(&both, beta), "there may be two zeros")?;
            }
            "R" => {
                let regular = points.is_empty() && self.is_unique(&g, beta);
                confirm(regular, "the derivative may be singular")?;
            }
            _ => return Err("no reason".into()),
        }
        Ok(vec![])
    }
}

/// Whether two enclosures contain the same zero, if that is certain.
fn same(sphere: &Sphere, beta: f64, a: &[F], b: &[F]) -> Result<bool, String> {
    if a.iter().zip(b).any(|(a, b)| a.meet(b).is_none()) {
        return Ok(false);
    }
    let unique = sphere.is_unique(&hull(a, b), F::int(beta));
    confirm(unique, "two points are too close").map(|()| true)
}

/// Confirms that points are different orbits with these multiplicities.
fn apart(sphere: &Sphere, beta: f64, points: &[Point]) -> Result<(), String> {
    for (x, p) in points.iter().enumerate() {
        for q in &points[..x] {
            for s in &sphere.permutations {
                let equal = same(sphere, beta, &sphere.image(&q.place, s), &p.place)?;
                confirm(!equal, "a point is listed twice")?;
            }
        }
        let mut stable = 0;
        for s in &sphere.permutations {
            stable += usize::from(same(sphere, beta, &sphere.image(&p.place, s), &p.place)?);
        }
        confirm(p.copies * stable == sphere.permutations.len(), "a wrong multiplicity")?;
    }
    let consensus = |p: &Point| p.cluster.iter().all(|c| *c == 0);
    confirm(points.iter().any(consensus), "consensus is not listed")
}

/// Number of children of a node.
fn children_of(line: &str) -> usize {
    match line.split(' ').next() {
        Some("S" | "B") => 2,
        Some("J" | "K") => 1,
        _ => 0,
    }
}

/// Confirms a tree.
fn tree(
    sphere: &Sphere,
    beta: F,
    points: &[Point],
    lines: &mut Lines,
    progress: &Progress,
) -> Result<(), String> {
    let n = sphere.n();
    // The lines of the tree end where no node is missing.
    let (mut own, mut children, mut missing) = (vec![], vec![], 1);
    while missing > 0 {
        let line = lines.0.pop().ok_or("the tree ends too early")?;
        missing = missing + children_of(line) - 1;
        own.push(line);
        children.push(children_of(line));
    }
    let visit = |_: &mut (), x: usize, region: Region| {
        let place = |e: String| format!("node {}, `{}`: {e}", x + 1, own[x]);
        sphere.node(own[x], region, points).map_err(place)
    };
    walk((vec![(-ONE, ONE); n * (n - 1) / 2], beta), &children, visit, progress)
}

/// Confirms Lemma 8: the bracket is positive where two tokens differ.
fn average(d: usize, beta: F) -> Result<(), String> {
    let (b, four) = (minus(F::int(beta.0)), F::int(4.0));
    let least = four * b * (F::int(d as f64 - 2.0) - b) - one();
    let holds = (3..=1000).contains(&d) && (beta.0 >= -0.5 || least.0 > 0.0);
    confirm(holds, "the average may be negative")
}

/// Whether the points obey the Morse inequalities in R^d: the sum of `t^index` times the polynomial
/// of the orbit, a Stiefel manifold, less that of the product of spheres, is `1 + t` times a
/// polynomial without negative coefficients.
fn morse(n: usize, d: usize, points: &[Point]) -> bool {
    let mut sum = vec![0i128; 2 * n * d + 1];
    let mut add = |index: usize, count: i128, spheres: &mut dyn Iterator<Item = usize>| {
        let mut term = vec![0i128; sum.len()];
        term[index] = count;
        for k in spheres {
            (k..term.len()).rev().for_each(|x| term[x] += term[x - k]);
        }
        sum.iter_mut().zip(term).for_each(|(s, t)| *s += t);
    };
    for p in points.iter().filter(|p| p.rank <= d) {
        let index = p.signs.0 + (d - p.rank) * p.signs.1;
        add(index.min(n * d), p.copies as i128, &mut (d - p.rank..d));
    }
    add(0, -1, &mut std::iter::repeat_n(d - 1, n));
    let mut rest = 0;
    let fine = sum.iter().all(|c| {
        rest = c - rest;
        rest >= 0
    });
    fine && rest == 0
}

/// Checks a certificate and returns its statement.
pub(super) fn check(text: &str, watch: Watch) -> Result<String, String> {
    crate::interval::check_rounding()?;
    let mut lines = Lines(canonical_lines(text)?.into_iter().rev().collect());
    let progress = Progress::new(watch, lines.0.len());
    confirm(lines.0.pop() == Some("metastable-spheres 1"), "an unknown kind of certificate")?;
    let masses = lines.list("masses", whole::<u32>)?;
    let given = lines.list("beta", real)?;
    let end = |v: Option<&f64>| v.copied().unwrap_or(f64::NAN);
    let beta = F(end(given.first()), end(given.last()));
    let sound = (2..=5).contains(&masses.len())
        && masses.iter().all(|m| (1..=1_000_000).contains(m))
        && (1..=2).contains(&given.len())
        && given.iter().all(|b| b.abs() <= 100.0)
        && (beta.0 < beta.1 || given.len() == 1);
    confirm(sound, "the masses or beta are out of range")?;
    let n = masses.len();
    let range = match given.len() {
        1 => format!("beta = {}", beta.0),
        _ => format!("all beta in [{}, {}]", beta.0, beta.1),
    };
    let header = format!("{n} tokens with masses {masses:?} on spheres, {range}:");
    if lines.0.last().is_some_and(|l| l.starts_with("average ")) {
        let d = lines.list("average", whole::<usize>)?;
        confirm(d.len() == 1 && lines.0 == ["end"], "lines after the dimension")?;
        average(d[0], beta)?;
        return Ok(format!("{header} benign in R^{}; {BENIGN}", d[0]));
    }
    confirm(beta.has_sign(), "beta may be 0")?;
    let sphere = Sphere::new(masses.iter().copied().map(f64::from).collect());
    let (mut points, at) = (vec![], 0.5 * (beta.0 + beta.1));
    while lines.0.last().is_some_and(|l| l.starts_with("point ")) {
        points.push(point(&sphere.mass, at, &mut lines)?);
    }
    apart(&sphere, at, &points)?;
    tree(&sphere, F::int(at), &points, &mut lines, &progress)?;
    if beta.0 < beta.1 {
        tree(&sphere, beta, &[], &mut lines, &progress)?;
    }
    confirm(lines.0 == ["end"], "lines after the tree")?;
    confirm((2..=n + 1).all(|d| morse(n, d, &points)), "the Morse inequalities are violated")?;
    let list: Vec<String> = points
        .iter()
        .map(|p| {
            format!(
                "rank {} [{} + {} (d - {}), {}x]",
                p.rank, p.signs.0, p.signs.1, p.rank, p.copies
            )
        })
        .collect();
    let ascends = |p: &Point| {
        let first = p.signs.0 + (p.rank.max(2) - p.rank) * p.signs.1;
        first > 0 || p.cluster.iter().all(|c| *c == 0)
    };
    let benign = if points.iter().all(ascends) {
        format!("; benign in all: {BENIGN}")
    } else {
        String::new()
    };
    Ok(format!(
        "{header} exactly {} critical points up to rotations, reflections and permutations of \
         equal masses; rank, directions of ascent in R^d, and labelled points modulo rotations and \
         reflections: {}{benign}",
        points.len(),
        list.join(", ")
    ))
}

/// What a benign landscape is.
const BENIGN: &str = "every critical point but consensus has a direction of ascent";
