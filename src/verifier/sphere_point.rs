//! Critical points on spheres: a proof that they exist, their rank and their directions of ascent.
//! The lemma is that of `proofs::spheres`, `point.rs`.

use crate::canonical::{confirm, whole};
use crate::circle::inverse;
use crate::interval::F;

/// Coordinates of clusters, pulls `m_i m_j phi_ij`, and multipliers.
type State = (Vec<Vec<F>>, Vec<Vec<F>>, Vec<F>);

/// A proved critical point.
pub(super) struct Point {
    pub(super) cluster: Vec<usize>,
    pub(super) place: Vec<F>,
    pub(super) rank: usize,
    pub(super) signs: (usize, usize),
    pub(super) copies: usize,
}

pub(super) fn one() -> F {
    F::int(1.0)
}

pub(super) fn minus(v: F) -> F {
    F::int(0.0) - v
}

pub(super) fn dot(a: &[F], b: &[F]) -> F {
    a.iter().zip(b).fold(F::int(0.0), |s, (a, b)| s + *a * *b)
}

pub(super) fn times(y: &[f64], v: impl Iterator<Item = F>) -> F {
    y.iter().zip(v).fold(F::int(0.0), |s, (y, v)| s + F::int(*y) * v)
}

/// Pairs of different numbers below k.
pub(super) fn ordered(k: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..k).flat_map(move |a| (0..k).filter(move |b| *b != a).map(move |b| (a, b)))
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
pub(super) struct Lines<'a>(pub(super) Vec<&'a str>);

impl<'a> Lines<'a> {
    /// The values after a key.
    pub(super) fn list<T>(
        &mut self,
        key: &str,
        of: fn(&'a str) -> Option<T>,
    ) -> Result<Vec<T>, String> {
        let words: Vec<&str> = self.0.pop().unwrap_or("").split(' ').collect();
        confirm(words[0] == key, &format!("a line `{key}` is missing before `{}`", words[0]))?;
        let all: Option<Vec<T>> = words[1..].iter().map(|w| of(w)).collect();
        all.ok_or(format!("a value after `{key}` is wrong"))
    }
}

/// The bits of a double in hexadecimal digits.
fn double(word: &str) -> Option<f64> {
    let bits = u64::from_str_radix(word, 16).ok().filter(|b| format!("{b:x}") == word)?;
    Some(f64::from_bits(bits)).filter(|v| v.is_finite())
}

/// Reads a point and proves it.
pub(super) fn point(mass: &[f64], beta: f64, lines: &mut Lines) -> Result<Point, String> {
    let cluster = lines.list("point", whole::<usize>)?;
    let base = lines.list("base", whole::<usize>)?;
    let at = lines.list("at", double)?;
    let pull = lines.list("pull", double)?;
    let radii = lines.list("radii", double)?;
    let (signs_found, copies) =
        (lines.list("signs", whole)?, lines.list("copies", whole::<usize>)?);
    let (n, k, rank) = (mass.len(), pull.len(), base.len());
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
    let mut total = vec![0.0; k];
    cluster.iter().zip(mass).for_each(|(c, m)| total[*c] += m);
    let clusters = Clusters { mass: &total, beta, base: &base };
    let unknowns = clusters.unknowns();
    let start: Vec<f64> =
        unknowns.iter().map(|(i, a)| if *a < rank { at[i * rank + a] } else { pull[*i] }).collect();
    // Smaller radii than the last digits of the unknowns would depend on the arithmetic.
    let fits = |(r, v): (&f64, &f64)| *r > 0.0 && *r >= f64::EPSILON * v.abs();
    let sound = radii.len() == start.len() && radii.iter().zip(&start).all(fits);
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
