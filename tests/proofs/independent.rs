//! Searches in floating point that share nothing with the proofs: they decide whether the sentence
//! of an accepted certificate is true.

use metastable::num::{dense, stream::Stream, vector::max_abs};

/// Tokens on a sphere whose pull has the weight phi.
pub struct Problem<'a> {
    pub masses: Vec<f64>,
    pub phi: &'a (dyn Fn(f64) -> f64 + Sync),
    pub d: usize,
}

/// A critical point: unit vectors, directions of ascent, and clusters.
#[derive(Clone, Debug)]
pub struct Found {
    pub x: Vec<f64>,
    pub ascents: usize,
    pub clusters: usize,
    pub rank: usize,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The solution of a small linear system.
fn solved(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for c in 0..n {
        let pivot = (c..n).max_by(|x, y| a[*x][c].abs().total_cmp(&a[*y][c].abs()))?;
        a.swap(c, pivot);
        b.swap(c, pivot);
        if a[c][c] == 0.0 || !a[c][c].is_finite() {
            return None;
        }
        for x in c + 1..n {
            let factor = a[x][c] / a[c][c];
            let pivot = a[c].clone();
            a[x].iter_mut().zip(&pivot).skip(c).for_each(|(v, p)| *v -= factor * p);
            b[x] -= factor * b[c];
        }
    }
    for c in (0..n).rev() {
        let rest: f64 = (c + 1..n).map(|y| a[c][y] * b[y]).sum();
        b[c] = (b[c] - rest) / a[c][c];
    }
    Some(b)
}

/// Permutations of `0..n`.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let shorter = permutations(n - 1);
    let with = |p: &Vec<usize>, at: usize| {
        let mut p = p.clone();
        p.insert(at, n - 1);
        p
    };
    shorter.iter().flat_map(|p| (0..n).map(move |at| with(p, at))).collect()
}

impl Problem<'_> {
    fn n(&self) -> usize {
        self.masses.len()
    }

    fn row<'b>(&self, x: &'b [f64], i: usize) -> &'b [f64] {
        &x[i * self.d..(i + 1) * self.d]
    }

    fn unit(&self, x: &[f64]) -> Vec<f64> {
        x.chunks(self.d)
            .flat_map(|r| {
                let size = dot(r, r).sqrt();
                r.iter().map(move |v| v / size).collect::<Vec<_>>()
            })
            .collect()
    }

    /// The gradient of the energy on the spheres.
    fn gradient(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; x.len()];
        for i in 0..self.n() {
            for j in (0..self.n()).filter(|j| *j != i) {
                let g = dot(self.row(x, i), self.row(x, j));
                let weight = self.masses[i] * self.masses[j] * (self.phi)(g.clamp(-1.0, 1.0));
                for a in 0..self.d {
                    out[i * self.d + a] += weight * (x[j * self.d + a] - g * x[i * self.d + a]);
                }
            }
        }
        out
    }

    /// The derivative of the gradient at normalised points, by central differences.
    fn jacobian(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let step = 1e-6;
        let columns: Vec<Vec<f64>> = (0..x.len())
            .map(|c| {
                let shifted = |sign: f64| {
                    let mut y = x.to_vec();
                    y[c] += sign * step;
                    self.gradient(&self.unit(&y))
                };
                let (up, down) = (shifted(1.0), shifted(-1.0));
                up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * step)).collect()
            })
            .collect();
        (0..x.len()).map(|r| columns.iter().map(|c| c[r]).collect()).collect()
    }

    /// Levenberg and Marquardt from a start; `None` if it does not end at a critical point.
    pub fn descend(&self, start: &[f64]) -> Option<Found> {
        let (mut x, mut damping) = (self.unit(start), 1e-2);
        let size = |g: &[f64]| dot(g, g);
        let mut g = self.gradient(&x);
        for _ in 0..200 {
            let j = self.jacobian(&x);
            let n = x.len();
            let normal = |p: usize, q: usize| (0..n).map(|r| j[r][p] * j[r][q]).sum::<f64>();
            let a: Vec<Vec<f64>> = (0..n)
                .map(|p| {
                    (0..n).map(|q| normal(p, q) + if p == q { damping } else { 0.0 }).collect()
                })
                .collect();
            let b: Vec<f64> =
                (0..n).map(|p| -(0..n).map(|r| j[r][p] * g[r]).sum::<f64>()).collect();
            let step = solved(a, b)?;
            let next: Vec<f64> =
                self.unit(&x.iter().zip(&step).map(|(x, s)| x + s).collect::<Vec<_>>());
            let new = self.gradient(&next);
            if size(&new) < size(&g) {
                (x, g) = (next, new);
                damping = (damping * 0.2).max(1e-14);
            } else {
                damping *= 4.0;
            }
            if damping > 1e6 {
                break;
            }
        }
        let scale: f64 = self.masses.iter().sum::<f64>().powi(2);
        (size(&g).sqrt() < 1e-11 * scale).then(|| self.describe(x))?
    }

    /// Index, clusters and rank; `None` for a degenerate point.
    fn describe(&self, x: Vec<f64>) -> Option<Found> {
        let (n, d) = (self.n(), self.d);
        let j = self.jacobian(&x);
        // Symmetric, and 0 in the radial directions, up to rounding.
        let flat: Vec<f64> = (0..n * d)
            .flat_map(|p| (0..n * d).map(move |q| (p, q)))
            .map(|(p, q)| 0.5 * (j[p][q] + j[q][p]))
            .collect();
        let values = dense::symmetric_eigenvalues(&flat, n * d)?;
        let largest = max_abs(&values);
        let gram: Vec<f64> =
            (0..n * n).map(|e| dot(self.row(&x, e / n), self.row(&x, e % n))).collect();
        let rank = dense::symmetric_eigenvalues(&gram, n)?.iter().filter(|v| **v > 1e-9).count();
        let clusters = (0..n).filter(|i| (0..*i).all(|k| gram[i * n + k] < 1.0 - 1e-9)).count();
        let ascents = values.iter().filter(|v| **v > 1e-7 * largest).count();
        // Radial directions, and rotations: those of the span, and from it to the outside.
        let flat = n + rank * (rank - 1) / 2 + rank * (d - rank);
        let zeros = values.iter().filter(|v| v.abs() <= 1e-7 * largest).count();
        (zeros == flat).then_some(Found { x, ascents, clusters, rank })
    }

    /// All critical points that many starts reach, up to rotations, reflections and permutations of
    /// equal masses; `None` if one is degenerate.
    pub fn all(&self, starts: usize, seed: u64) -> Vec<Found> {
        let (n, d) = (self.n(), self.d);
        let mut s = Stream::new(seed, &["independent search"]);
        let same_mass = |p: &Vec<usize>| {
            (0..n).all(|i| self.masses[p[i]].to_bits() == self.masses[i].to_bits())
        };
        let permutations: Vec<Vec<usize>> = permutations(n).into_iter().filter(same_mass).collect();
        let mut found: Vec<Found> = vec![];
        for start in 0..starts {
            // Every second start has coinciding tokens, or lies in a plane.
            let mut x: Vec<f64> = (0..n * d).map(|_| s.normal()).collect();
            if start % 2 == 1 {
                let (i, j) = (s.index(n), s.index(n));
                let sign = if s.index(2) == 0 { 1.0 } else { -1.0 };
                for a in 0..d {
                    x[i * d + a] = sign * x[j * d + a];
                }
            }
            if start % 4 >= 2 && d > 2 {
                (0..n).for_each(|i| (2..d).for_each(|a| x[i * d + a] = 0.0));
            }
            if start % 8 == 4 {
                // Near a regular polygon, around which there may be other points.
                for i in 0..n {
                    let angle = std::f64::consts::TAU * i as f64 / n as f64;
                    x[i * d..(i + 1) * d].iter_mut().for_each(|v| *v *= 1e-3);
                    x[i * d] += angle.cos();
                    x[i * d + 1] += angle.sin();
                }
            }
            let Some(point) = self.descend(&x) else { continue };
            let known =
                found.iter().any(|f| permutations.iter().any(|p| self.is_image(f, &point, p)));
            if !known {
                found.push(point);
            }
        }
        found
    }

    fn is_image(&self, a: &Found, b: &Found, p: &[usize]) -> bool {
        let n = self.n();
        (0..n * n).all(|e| {
            let (i, j) = (e / n, e % n);
            let own = dot(self.row(&a.x, i), self.row(&a.x, j));
            (own - dot(self.row(&b.x, p[i]), self.row(&b.x, p[j]))).abs() < 1e-6
        })
    }
}

/// Number of strict local maxima of a function of an angle, or on an interval, on a grid.
pub fn maxima(
    h: impl Fn(f64) -> f64,
    (low, high): (f64, f64),
    periodic: bool,
    points: usize,
) -> usize {
    let at = |k: usize| h(low + (high - low) * (k % points) as f64 / points as f64);
    let values: Vec<f64> = (0..points).map(at).collect();
    (0..points)
        .filter(|k| periodic || (1..points - 1).contains(k))
        .filter(|k| {
            values[*k] > values[(k + points - 1) % points] && values[*k] >= values[(k + 1) % points]
        })
        .count()
}

/// `int_a^b f` by Gauss' rule with 20 points on many pieces.
pub fn integral(f: impl Fn(f64) -> f64, a: f64, b: f64, pieces: usize) -> f64 {
    // Clenshaw and Curtis with 33 points.
    let n = 32;
    let weight = |k: usize| {
        let t = std::f64::consts::PI * k as f64 / n as f64;
        let sum: f64 = (1..=n / 2)
            .map(|j| {
                let b = if 2 * j == n { 1.0 } else { 2.0 };
                b / (4.0 * (j * j) as f64 - 1.0) * (2.0 * j as f64 * t).cos()
            })
            .sum();
        (if k == 0 || k == n { 1.0 } else { 2.0 }) / n as f64 * (1.0 - sum)
    };
    let weights: Vec<f64> = (0..=n).map(weight).collect();
    let h = (b - a) / pieces as f64;
    (0..pieces)
        .map(|p| {
            let (middle, half) = (a + (p as f64 + 0.5) * h, 0.5 * h);
            let node = |k: usize| (std::f64::consts::PI * k as f64 / n as f64).cos();
            (0..=n).map(|k| weights[k] * f(middle + half * node(k))).sum::<f64>() * half
        })
        .sum()
}
