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

/// Permutations of `0..n`.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    let longer = |p: &Vec<usize>, at: usize| [&p[..at], &[p.len()], &p[at..]].concat();
    (0..n).fold(vec![vec![]], |all, k| {
        all.iter().flat_map(|p| (0..=k).map(move |at| longer(p, at))).collect()
    })
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
    fn jacobian(&self, x: &[f64]) -> Vec<f64> {
        let step = 1e-6;
        let column = |c: usize| -> Vec<f64> {
            let [up, down] = [step, -step].map(|shift| {
                let mut y = x.to_vec();
                y[c] += shift;
                self.gradient(&self.unit(&y))
            });
            up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * step)).collect()
        };
        let columns: Vec<Vec<f64>> = (0..x.len()).map(column).collect();
        (0..x.len()).flat_map(|r| columns.iter().map(move |c| c[r])).collect()
    }

    /// Levenberg and Marquardt from a start; `None` if it does not end at a critical point.
    pub fn descend(&self, start: &[f64]) -> Option<Found> {
        let (mut x, mut damping) = (self.unit(start), 1e-2);
        let size = |g: &[f64]| dot(g, g);
        let mut g = self.gradient(&x);
        for _ in 0..200 {
            let (j, n) = (self.jacobian(&x), x.len());
            let mut a = dense::transpose_mul(&j, &j, n);
            (0..n).for_each(|p| a[p * n + p] += damping);
            let b: Vec<f64> = dense::transpose_mul(&j, &g, n).iter().map(|v| -v).collect();
            let step = dense::solve(&a, &b);
            if !step.iter().all(|s| s.is_finite()) {
                return None;
            }
            let next: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x + s).collect();
            let next = self.unit(&next);
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
        let (j, m) = (self.jacobian(&x), n * d);
        // Symmetric, and 0 in the radial directions, up to rounding.
        let flat: Vec<f64> = (0..m * m).map(|e| 0.5 * (j[e] + j[e % m * m + e / m])).collect();
        let values = dense::symmetric_eigenvalues(&flat, m)?;
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
