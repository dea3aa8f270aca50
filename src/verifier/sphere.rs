//! Certificates of whole landscapes on spheres: every leaf of the tree is confirmed again, and
//! every critical point.
//!
//! Inner products are whole multiples of `2^-40`; everything else is intervals of doubles, rounded
//! outwards. Lemmas and lines of the file are those of the documentation of `proofs::spheres`.

use crate::interval::F;
use crate::landscape::inverse;
use crate::number::confirm;

/// The inner product 1.
const ONE: i64 = 1 << 40;

/// Bounds of inner products.
type Cell = Vec<(i64, i64)>;

/// Coordinates of clusters, pulls `m_i m_j phi_ij`, and multipliers.
type State = (Vec<Vec<F>>, Vec<Vec<F>>, Vec<F>);

/// Tokens: masses, beta, the inner products that are not larger than others, and the permutations.
struct Sphere {
    mass: Vec<f64>,
    beta: f64,
    order: Vec<(usize, usize)>,
    permutations: Vec<Vec<usize>>,
}

/// A proved critical point.
struct Point {
    cluster: Vec<usize>,
    place: Vec<F>,
    rank: usize,
    signs: (usize, usize),
    copies: usize,
}

/// Groups of coinciding tokens: their first tokens, masses, inner products and kernels.
struct Groups {
    first: Vec<usize>,
    mass: Vec<f64>,
    g: Vec<Vec<F>>,
    phi: Vec<Vec<F>>,
}

/// The equations on a box: Y, the derivatives, `Y J`, and the forces at a point inside.
struct Linear {
    y: Vec<Vec<f64>>,
    lines: Vec<Vec<F>>,
    product: Vec<Vec<F>>,
    forces: Vec<F>,
    centre: Groups,
}

fn one() -> F {
    F::int(1.0)
}

fn units(v: i64) -> f64 {
    v as f64 / ONE as f64
}

fn enclosures(cell: &Cell) -> Vec<F> {
    cell.iter().map(|c| F(units(c.0), units(c.1))).collect()
}

fn minus(v: F) -> F {
    F::int(0.0) - v
}

fn dot(a: &[F], b: &[F]) -> F {
    a.iter().zip(b).fold(F::int(0.0), |s, (a, b)| s + *a * *b)
}

fn times(y: &[f64], v: impl Iterator<Item = F>) -> F {
    y.iter().zip(v).fold(F::int(0.0), |s, (y, v)| s + F::int(*y) * v)
}

fn hull(a: &[F], b: &[F]) -> Vec<F> {
    a.iter().zip(b).map(|(a, b)| a.join(b)).collect()
}

/// The place of a pair among `01, 02, ..., 12, ...`.
fn place(n: usize, a: usize, b: usize) -> usize {
    let (a, b) = (a.min(b), a.max(b));
    a * (2 * n - a - 1) / 2 + b - a - 1
}

/// Pairs of different numbers below k.
fn ordered(k: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..k).flat_map(move |a| (0..k).filter(move |b| *b != a).map(move |b| (a, b)))
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

/// Number of positive eigenvalues of a symmetric matrix, by Sylvester's law: elimination of one
/// row, or of two that have one eigenvalue of each sign.
fn positive(mut a: Vec<Vec<F>>) -> Result<usize, String> {
    let (mut left, mut count): (Vec<usize>, usize) = ((0..a.len()).collect(), 0);
    while !left.is_empty() {
        let size = |x: usize, y: usize| a[x][y].0.max(-a[x][y].1);
        let larger =
            |x: &(usize, usize), y: &(usize, usize)| size(x.0, x.1).total_cmp(&size(y.0, y.1));
        let all = left.iter().flat_map(|x| left.iter().map(move |y| (*x, *y)));
        let (d, _) = all.clone().filter(|(x, y)| x == y).max_by(larger).unwrap_or_default();
        let (p, q) = all.filter(|(x, y)| x < y).max_by(larger).unwrap_or((d, d));
        let (det, old) = (a[p][p] * a[q][q] - a[p][q].sqr(), a.clone());
        if p < q && size(d, d) < 0.1 * size(p, q) && det.1 < 0.0 {
            count += 1;
            left.retain(|x| *x != p && *x != q);
            for x in &left {
                let one = old[q][q] * old[*x][p] - old[p][q] * old[*x][q];
                let two = old[p][p] * old[*x][q] - old[p][q] * old[*x][p];
                for y in &left {
                    let change = old[*y][p] * one + old[*y][q] * two;
                    a[*y][*x] = a[*y][*x] - change / det;
                }
            }
        } else {
            confirm(old[d][d].has_sign(), "the sign of an eigenvalue is not certain")?;
            count += usize::from(old[d][d].0 > 0.0);
            left.retain(|x| *x != d);
            for x in &left {
                let factor = old[*x][d] / old[d][d];
                left.iter().for_each(|y| a[*x][*y] = a[*x][*y] - factor * old[d][*y]);
            }
        }
    }
    Ok(count)
}

impl Sphere {
    fn new(mass: Vec<f64>, beta: f64) -> Self {
        let n = mass.len();
        let all = permutations(&mass);
        let mut sphere = Self { mass, beta, order: vec![], permutations: all };
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

    fn groups(&self, g: &[F]) -> Groups {
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
        let phi = table(&|x, y| (F::int(self.beta) * (entry(x, y) - one())).exp());
        Groups { first, mass, g, phi }
    }

    /// The quotient of Lemma 4.
    fn quotient(&self, s: &Groups, i: usize, j: usize) -> F {
        let more = one() + s.g[i][j];
        let own = F::int(s.mass[i] + s.mass[j]) * s.phi[i][j] * more;
        (0..s.mass.len()).filter(|c| *c != i && *c != j).fold(own, |sum, c| {
            let (p, q) = (s.g[i][c], s.g[j][c]);
            let most = (F::int(2.0) - (p + q).sqr() / more).1.clamp(0.0, 2.0);
            let slope = F::int(self.beta) * s.phi[i][c].join(&s.phi[j][c]);
            let part = p * s.phi[i][c] + q * s.phi[j][c] - F(0.0, most) * slope;
            sum + F::int(s.mass[c]) * part
        })
    }

    /// The forces and, if wanted, their derivatives.
    fn forces(&self, s: &Groups, derive: bool) -> (Vec<F>, Vec<Vec<F>>) {
        let (k, beta, mut forces, mut lines) = (s.mass.len(), F::int(self.beta), vec![], vec![]);
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
    fn linear(&self, g: &[F]) -> Option<Linear> {
        let middle = |v: &F| F::int((v.mid() * ONE as f64).floor() / ONE as f64);
        let (wide, centre) =
            (self.groups(g), self.groups(&g.iter().map(middle).collect::<Vec<_>>()));
        confirm(wide.first == centre.first, "").ok()?;
        let (forces, lines) = (self.forces(&centre, false).0, self.forces(&wide, true).1);
        let y = Self::preconditioner(&lines)?;
        let row = |y: &Vec<f64>| -> Vec<F> {
            (0..lines[0].len()).map(|z| times(y, lines.iter().map(|l| l[z]))).collect()
        };
        let product = y.iter().map(row).collect();
        Some(Linear { y, lines, product, forces, centre })
    }

    /// Whether a box contains at most one zero.
    fn is_unique(&self, g: &[F]) -> bool {
        let close = |found: Linear| {
            let off = |x: usize, z: usize| {
                (found.product[x][z] - F::int(f64::from(u8::from(x == z)))).mag()
            };
            let k = found.product.len();
            let sum = |x: usize| (0..k).fold(F::int(0.0), |s, z| s + F::int(off(x, z)));
            (0..k).all(|x| sum(x).1 < 1.0)
        };
        self.groups(g).mass.len() < 2 || self.linear(g).is_some_and(close)
    }

    /// What Newton's method leaves of a box; `None` if that is nothing.
    fn newton(&self, cell: &Cell) -> Result<Option<Vec<F>>, String> {
        let mut g = enclosures(cell);
        let s = self.linear(&g).ok_or("Newton's method has no preconditioner")?;
        let pairs: Vec<(usize, usize)> =
            ordered(s.centre.mass.len()).filter(|(a, b)| a < b).collect();
        let first = &s.centre.first;
        let at: Vec<usize> =
            pairs.iter().map(|(a, b)| place(self.n(), first[*a], first[*b])).collect();
        let middle: Vec<F> = pairs.iter().map(|(a, b)| s.centre.g[*a][*b]).collect();
        for (force, line) in s.forces.iter().zip(&s.lines) {
            let mean = (0..at.len()).fold(*force, |s, x| s + line[x] * (g[at[x]] - middle[x]));
            if mean.has_sign() {
                return Ok(None);
            }
        }
        for x in (0..at.len()).filter(|x| s.product[*x][*x].has_sign()) {
            let others = (0..at.len()).filter(|z| *z != x);
            let start = minus(times(&s.y[x], s.forces.iter().copied()));
            let row = &s.product[x];
            let sum = others.fold(start, |s, z| s - row[z] * (g[at[z]] - middle[z]));
            match g[at[x]].meet(&(sum / row[x] + middle[x])) {
                Some(both) => g[at[x]] = both,
                None => return Ok(None),
            }
        }
        Ok(Some(g))
    }

    /// Confirms one node; returns the boxes of its children, the next one last.
    fn node(&self, line: &str, mut cell: Cell, points: &[Point]) -> Result<Vec<Cell>, String> {
        let (n, words): (usize, Vec<&str>) = (self.n(), line.split(' ').collect());
        let numbers: Option<Vec<i64>> = words[1..].iter().map(|w| w.parse().ok()).collect();
        let numbers = numbers.ok_or("a number is not whole")?;
        let index = |x: usize, below: usize| {
            let found = numbers.get(x).and_then(|v| usize::try_from(*v).ok());
            found.filter(|v| *v < below).ok_or("a number is missing or too large")
        };
        if !self.close(&mut cell) {
            return confirm(words[0] == "E", "an empty box has no other reason").map(|()| vec![]);
        }
        let g = enclosures(&cell);
        let group = |x: usize| {
            let s = self.groups(&g);
            let y = s.first.iter().position(|f| *f == x).ok_or("not the first of its group")?;
            Ok::<_, String>((s, y))
        };
        match words[0] {
            "S" => {
                let t = index(0, cell.len())?;
                let mut above = cell.clone();
                (cell[t].1, above[t].0) =
                    ((cell[t].0 + cell[t].1).div_euclid(2), (cell[t].0 + cell[t].1).div_euclid(2));
                return Ok(vec![above, cell]);
            }
            "J" | "Q" => {
                let (i, j) = (index(0, n)?, index(1, n)?);
                let ((s, a), (_, b)) = (group(i)?, group(j)?);
                confirm(a != b && self.quotient(&s, a, b).has_sign(), "a quotient may be 0")?;
                let t = place(n, i, j);
                if words[0] == "J" {
                    confirm(cell[t].1 == ONE, "joined tokens do not coincide")?;
                    cell[t].0 = ONE;
                    return Ok(vec![cell]);
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
                confirm(numbers.len() == n && numbers.iter().all(|v| v.abs() < 1 << 10), "P")?;
                let term = |(a, b): (usize, usize)| {
                    let (v, (low, high)) = (numbers[a] * numbers[b], cell[place(n, a, b)]);
                    i128::from(v) * i128::from(if v > 0 { high } else { low })
                };
                let own: i128 = numbers.iter().map(|v| i128::from(v * v) * i128::from(ONE)).sum();
                let total = own + ordered(n).map(term).sum::<i128>();
                confirm(total < 0, "the matrix may be positive")?;
            }
            "N" => confirm(self.newton(&cell)?.is_none(), "Newton's method leaves a box")?,
            "K" => {
                confirm(numbers.len() == 2 * cell.len(), "a box has a wrong number of bounds")?;
                let rest = self.newton(&cell)?;
                for (t, (new, own)) in numbers.chunks(2).zip(&mut cell).enumerate() {
                    *own = (own.0.max(new[0]), own.1.min(new[1]));
                    let holds = |v: &Vec<F>| units(own.0) <= v[t].0 && v[t].1 <= units(own.1);
                    confirm(rest.as_ref().is_none_or(holds), "Newton's method leaves more")?;
                }
                return Ok(vec![cell]);
            }
            "Z" => {
                let point = &points[index(0, points.len())?];
                let p = (1..=n).map(|x| index(x, n)).collect::<Result<Vec<_>, _>>()?;
                confirm(self.permutations.contains(&p), "not a permutation of equal masses")?;
                let both = hull(&g, &self.image(&point.place, &p));
                confirm(self.is_unique(&both), "there may be two zeros")?;
            }
            _ => return Err("no reason".into()),
        }
        Ok(vec![])
    }
}

/// The equations of clusters, for one of r independent clusters in order.
struct Clusters<'a> {
    mass: &'a [f64],
    beta: f64,
    base: &'a [usize],
}

impl Clusters<'_> {
    /// Unknowns, each with the equation of the same name: cluster and coordinate, or the multiplier
    /// if the coordinate is the rank.
    fn unknowns(&self) -> Vec<(usize, usize)> {
        let rank = self.base.len();
        let free = |i: usize| self.base.iter().position(|b| *b == i).map_or(rank, |p| p + 1);
        (0..self.mass.len()).flat_map(|i| (0..free(i)).chain([rank]).map(move |a| (i, a))).collect()
    }

    fn state(&self, values: &[F]) -> State {
        let (k, rank) = (self.mass.len(), self.base.len());
        let mut x = vec![vec![F::int(0.0); rank]; k];
        let mut mu = vec![F::int(0.0); k];
        for ((i, a), v) in self.unknowns().into_iter().zip(values) {
            *x[i].get_mut(a).unwrap_or(&mut mu[i]) = *v;
        }
        let kernel = |i: usize, j: usize| {
            let phi = (F::int(self.beta) * (dot(&x[i], &x[j]) - one())).exp();
            F::int(self.mass[j]) * phi
        };
        let row = |i: usize| (0..k).map(|j| kernel(i, j)).collect();
        let pull = (0..k).map(row).collect();
        (x, pull, mu)
    }

    /// Values and derivatives of the equations.
    fn equations(&self, values: &[F]) -> (Vec<F>, Vec<Vec<F>>) {
        let (x, pull, mu) = self.state(values);
        let (rank, beta, all) = (self.base.len(), F::int(self.beta), self.unknowns());
        let others = |i: usize| (0..x.len()).filter(move |j| *j != i);
        let unit = |a: usize, b: usize| F::int(f64::from(u8::from(a == b)));
        let value = |(i, a): &(usize, usize)| {
            if *a == rank {
                return (dot(&x[*i], &x[*i]) - one()) * F::int(0.5);
            }
            others(*i).fold(minus(mu[*i] * x[*i][*a]), |s, j| s + pull[*i][j] * x[j][*a])
        };
        let entry = |(i, a): &(usize, usize), (j, b): &(usize, usize)| {
            let (i, a, j, b) = (*i, *a, *j, *b);
            match (a == rank, b == rank) {
                (false, false) if i == j => others(i).fold(minus(mu[i] * unit(a, b)), |s, c| {
                    s + pull[i][c] * beta * x[c][a] * x[c][b]
                }),
                (false, false) => pull[i][j] * (unit(a, b) + beta * x[j][a] * x[i][b]),
                (false, true) if i == j => minus(x[i][a]),
                (true, false) if i == j => x[i][b],
                _ => F::int(0.0),
            }
        };
        let row = |u: &(usize, usize)| all.iter().map(|v| entry(u, v)).collect();
        (all.iter().map(value).collect(), all.iter().map(row).collect())
    }

    /// An enclosure of a zero, by Krawczyk's test with given radii.
    fn zero(&self, start: &[f64], radii: &[f64]) -> Result<Vec<F>, String> {
        let exact: Vec<F> = start.iter().map(|v| F::int(*v)).collect();
        let (f, lines) = self.equations(&exact);
        // Unknowns in units of their radii, and rows of size 1.
        let row =
            |l: &Vec<F>| -> Vec<f64> { l.iter().zip(radii).map(|(v, r)| v.mid() * r).collect() };
        let rows: Vec<Vec<f64>> = lines.iter().map(row).collect();
        let size = |l: &Vec<f64>| l.iter().fold(1e-290, |m: f64, v| m.max(v.abs()));
        let scaled: Vec<Vec<f64>> =
            rows.iter().map(|l| l.iter().map(|v| v / size(l)).collect()).collect();
        let y = inverse(&scaled).ok_or("a point has no inverse")?;
        let unscaled = |(line, radius): (&Vec<f64>, &f64)| -> Vec<f64> {
            line.iter().zip(&rows).map(|(v, l)| v * radius / size(l)).collect()
        };
        let y: Vec<Vec<f64>> = y.iter().zip(radii).map(unscaled).collect();
        let around = |(c, r): (&F, &f64)| *c + F(-*r, *r);
        let wide: Vec<F> = exact.iter().zip(radii).map(around).collect();
        let (_, lines) = self.equations(&wide);
        let image = |x: usize| {
            let start = minus(times(&y[x], f.iter().copied()));
            (0..radii.len()).fold(start, |s, z| {
                let unit = F::int(f64::from(u8::from(x == z)));
                let rest = unit - times(&y[x], lines.iter().map(|l| l[z]));
                s + rest * F(-radii[z], radii[z])
            })
        };
        let all: Vec<F> = (0..radii.len()).map(image).collect();
        confirm(all.iter().zip(radii).all(|(v, r)| v.mag() < *r), "a point is not certain")?;
        Ok(exact.iter().zip(all).map(|(c, v)| *c + v).collect())
    }
}

/// The second variation at a point with clusters of these sizes.
struct Second<'a> {
    clusters: &'a Clusters<'a>,
    sizes: Vec<usize>,
    x: Vec<Vec<F>>,
    pull: Vec<Vec<F>>,
}

impl Second<'_> {
    fn mass(&self, i: usize) -> F {
        F::int(self.clusters.mass[i])
    }

    fn others(&self, i: usize) -> impl Iterator<Item = usize> {
        (0..self.sizes.len()).filter(move |j| *j != i)
    }

    fn multiplier(&self, i: usize) -> F {
        self.others(i).fold(F::int(0.0), |s, j| s + self.pull[i][j] * dot(&self.x[i], &self.x[j]))
    }

    /// Vectors orthogonal to `x_i` in the first coordinates.
    fn tangents(&self, i: usize, coordinates: usize) -> Vec<(usize, Vec<F>)> {
        let x = &self.x[i];
        let size = |a: &usize| x[*a].mid().abs();
        let pivot = (0..coordinates).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or_default();
        let vector = |a: usize| {
            let mut v = vec![F::int(0.0); x.len()];
            (v[a], v[pivot]) = (one(), minus(x[a] / x[pivot]));
            (i, v)
        };
        (0..coordinates).filter(|a| *a != pivot).map(vector).collect()
    }

    /// The form of a cluster with `-more |v|^2`.
    fn own(&self, i: usize, v: &[F], w: &[F], more: F) -> F {
        let beta = F::int(self.clusters.beta);
        self.others(i).fold(minus(more * dot(v, w)), |s, c| {
            s + self.pull[i][c] * beta * dot(v, &self.x[c]) * dot(w, &self.x[c])
        })
    }

    /// Numbers of directions of ascent in the span modulo rotations, and for every dimension
    /// outside.
    fn signs(&self) -> Result<(usize, usize), String> {
        let (base, x) = (self.clusters.base, &self.x);
        let (rank, beta) = (base.len(), F::int(self.clusters.beta));
        let (mut inside, mut outside, mut all) = (0, 0, vec![]);
        for (i, size) in self.sizes.iter().enumerate() {
            let free = base.iter().position(|b| *b == i).map_or(rank, |p| p + 1);
            all.extend(self.tangents(i, free));
            if *size > 1 {
                let (more, basis) = (self.mass(i) + self.multiplier(i), self.tangents(i, rank));
                let entry =
                    |v: &(usize, Vec<F>), w: &(usize, Vec<F>)| self.own(i, &v.1, &w.1, more);
                inside += (size - 1) * positive(table(&basis, entry))?;
                outside += (size - 1) * positive(vec![vec![minus(more)]])?;
            }
        }
        let entry = |v: &(usize, Vec<F>), w: &(usize, Vec<F>)| {
            let (i, j) = (v.0, w.0);
            if i == j {
                return self.mass(i) * self.own(i, &v.1, &w.1, self.multiplier(i));
            }
            let far = dot(&v.1, &x[j]) * dot(&w.1, &x[i]);
            self.mass(i) * self.pull[i][j] * (dot(&v.1, &w.1) + beta * far)
        };
        let rest: Vec<usize> = (0..x.len()).filter(|i| !base.contains(i)).collect();
        let normal = |i: &usize, j: &usize| {
            let value = if i == j { minus(self.multiplier(*i)) } else { self.pull[*i][*j] };
            self.mass(*i) * value
        };
        let whole = (positive(table(&all, entry))?, positive(table(&rest, normal))?);
        Ok((inside + whole.0, outside + whole.1))
    }
}

fn table<T>(all: &[T], entry: impl Fn(&T, &T) -> F) -> Vec<Vec<F>> {
    all.iter().map(|v| all.iter().map(|w| entry(v, w)).collect()).collect()
}

/// The lines of a file, the next one last.
struct Lines<'a>(Vec<&'a str>);

impl<'a> Lines<'a> {
    /// The values after a key.
    fn list<T>(&mut self, key: &str, of: fn(&'a str) -> Option<T>) -> Result<Vec<T>, String> {
        let words: Vec<&str> = self.0.pop().unwrap_or("").split(' ').collect();
        confirm(words[0] == key, &format!("a line `{key}` is missing before `{}`", words[0]))?;
        let all: Option<Vec<T>> = words[1..].iter().map(|w| of(w)).collect();
        all.ok_or(format!("a value after `{key}` is wrong"))
    }
}

fn whole(word: &str) -> Option<usize> {
    word.parse().ok()
}

fn double(word: &str) -> Option<f64> {
    let value = f64::from_bits(u64::from_str_radix(word, 16).ok()?);
    value.is_finite().then_some(value)
}

/// Reads a point and proves it.
fn point(sphere: &Sphere, lines: &mut Lines) -> Result<Point, String> {
    let cluster = lines.list("point", whole)?;
    let base = lines.list("base", whole)?;
    let at = lines.list("at", double)?;
    let pull = lines.list("pull", double)?;
    let radii = lines.list("radii", double)?;
    let (signs_found, copies) = (lines.list("signs", whole)?, lines.list("copies", whole)?);
    let (n, k, rank) = (sphere.n(), pull.len(), base.len());
    let mut sorted = base.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let fits = cluster.len() == n
        && (1..=n).contains(&k)
        && (1..=k).contains(&rank)
        && (0..k).all(|c| cluster.contains(&c))
        && cluster.iter().chain(&base).all(|c| *c < k)
        && sorted.len() == rank
        && at.len() == k * rank
        && signs_found.len() == 2
        && copies.len() == 1;
    confirm(fits, "a point is malformed")?;
    let mut mass = vec![0.0; k];
    cluster.iter().zip(&sphere.mass).for_each(|(c, m)| mass[*c] += m);
    let clusters = Clusters { mass: &mass, beta: sphere.beta, base: &base };
    let unknowns = clusters.unknowns();
    let start: Vec<f64> =
        unknowns.iter().map(|(i, a)| if *a < rank { at[i * rank + a] } else { pull[*i] }).collect();
    let sound = radii.len() == start.len() && radii.iter().all(|r| *r > 0.0);
    confirm(sound, "the radii of a point are malformed")?;
    let state = clusters.state(&clusters.zero(&start, &radii)?);
    let diagonal = (0..rank).all(|p| state.0[base[p]][p].0 > 0.0);
    confirm(diagonal, "the base of a point may be dependent")?;
    let product = |a: usize, b: usize| match cluster[a] == cluster[b] {
        true => one(),
        false => {
            let g = dot(&state.0[cluster[a]], &state.0[cluster[b]]);
            F(g.0.max(-1.0), g.1.min(1.0))
        }
    };
    let place = ordered(n).filter(|(a, b)| a < b).map(|(a, b)| product(a, b)).collect();
    let sizes = (0..k).map(|c| cluster.iter().filter(|x| **x == c).count()).collect();
    let (x, pull, _) = state;
    let signs = Second { clusters: &clusters, sizes, x, pull }.signs()?;
    confirm(vec![signs.0, signs.1] == signs_found, "a point has other signs")?;
    Ok(Point { cluster, place, rank, signs, copies: copies[0] })
}

/// Whether two enclosures contain the same zero, if that is certain.
fn same(sphere: &Sphere, a: &[F], b: &[F]) -> Result<bool, String> {
    if a.iter().zip(b).any(|(a, b)| a.meet(b).is_none()) {
        return Ok(false);
    }
    confirm(sphere.is_unique(&hull(a, b)), "two points are too close").map(|()| true)
}

/// Confirms that points are different orbits with these multiplicities.
fn apart(sphere: &Sphere, points: &[Point]) -> Result<(), String> {
    for (x, p) in points.iter().enumerate() {
        for q in &points[..x] {
            for s in &sphere.permutations {
                let equal = same(sphere, &sphere.image(&q.place, s), &p.place)?;
                confirm(!equal, "a point is listed twice")?;
            }
        }
        let mut stable = 0;
        for s in &sphere.permutations {
            stable += usize::from(same(sphere, &sphere.image(&p.place, s), &p.place)?);
        }
        confirm(p.copies * stable == sphere.permutations.len(), "a wrong multiplicity")?;
    }
    let consensus = |p: &Point| p.cluster.iter().all(|c| *c == 0);
    confirm(points.iter().any(consensus), "consensus is not listed")
}

/// Checks a certificate and returns its statement.
pub(super) fn check(text: &str) -> Result<String, String> {
    crate::interval::check_rounding()?;
    let mut lines = Lines(text.lines().rev().collect());
    confirm(lines.0.pop() == Some("metastable-spheres 1"), "an unknown kind of certificate")?;
    let masses = lines.list("masses", |w| w.parse::<u32>().ok())?;
    let beta = lines.list("beta", |w| w.parse::<f64>().ok())?;
    let sound = (2..=5).contains(&masses.len())
        && masses.iter().all(|m| (1..=1_000_000).contains(m))
        && beta.len() == 1
        && beta[0].abs() <= 100.0
        && beta[0].abs() > 0.0;
    confirm(sound, "the masses or beta are out of range")?;
    let sphere = Sphere::new(masses.iter().copied().map(f64::from).collect(), beta[0]);
    let mut points = vec![];
    while lines.0.last().is_some_and(|l| l.starts_with("point ")) {
        points.push(point(&sphere, &mut lines)?);
    }
    apart(&sphere, &points)?;
    let n = masses.len();
    let mut boxes = vec![vec![(-ONE, ONE); n * (n - 1) / 2]];
    let mut count = 0;
    while let Some(cell) = boxes.pop() {
        count += 1;
        let line = lines.0.pop().ok_or("the tree ends too early")?;
        let place = |e: String| format!("node {count}, `{line}`: {e}");
        boxes.extend(sphere.node(line, cell, &points).map_err(place)?);
    }
    confirm(lines.0 == ["end"], "lines after the tree")?;
    let list: Vec<String> = points
        .iter()
        .map(|p| {
            format!(
                "rank {} [{} + {} (d - {}), {}x]",
                p.rank, p.signs.0, p.signs.1, p.rank, p.copies
            )
        })
        .collect();
    Ok(format!(
        "{n} tokens with masses {masses:?} on spheres, beta = {}: exactly {} critical points up to \
         rotations, reflections and permutations of equal masses; rank, directions of ascent in \
         R^d, and labelled points modulo rotations and reflections: {}",
        beta[0],
        points.len(),
        list.join(", ")
    ))
}
