//! Modes of `sum_i e^{beta <x, x_i>}` on S^2: a cover of the sphere by cells, each shown to hold no mode or to lie where the estimate is strictly
//! concave about a mode that was proved to exist.
//!
//! Along a unit-speed geodesic the kernel `f = e^{beta c}`, `c = <x, y>`, has second derivative `f (beta^2 p^2 - beta c)` with `p^2 <= 1 - c^2`; along another
//! one the Hessian changes at a rate of at most `f (beta^3 p^3 + 3 beta^2 p + beta p)`. With these bounds for every sample, a cell of radius rho about c holds
//! no mode when `|grad(c)| > rho (|Hess(c)| + rho M)` or when an eigenvalue of the Hessian stays positive.

use crate::error::{Error, Result};
use crate::num::{sum::dot, threads::parallel_allowed};
use crate::sphere::{
    Tokens,
    geometry::{chord2, dist, exp, retract, tangent_basis},
};
use rayon::prelude::*;

/// Modes on S^2.
#[derive(Clone, Debug, PartialEq)]
pub struct SphereModes {
    /// Number of modes; the best estimate when not certified.
    pub count: usize,
    /// Unit vectors.
    pub locations: Vec<[f64; 3]>,
    /// True if the count is proved, for exponentials right to 4 ulp.
    pub certified: bool,
    /// Centres and radii of cells that were not decided.
    pub undecided: Vec<([f64; 3], f64)>,
}

/// Terms below `e^{-45}` of their size at the sample are bounded, not summed.
const RANGE: f64 = 45.0;
/// Halvings of a cell before it is given up.
const DEPTH: u32 = 26;

/// Modes of the estimate with kernel `e^{beta <x, y>}` on S^2, beta in [0.1, 1e6].
///
/// **Cost** bounds add the samples of a cell in absolute value, so cells shrink with their number: a second for n = 1000 and beta = 300; from 10^4 samples within a
/// kernel width on it is not affordable. **Errors** d not 3, beta out of range.
///
/// ```
/// use metastable::{clusters::modes::sphere, sphere::Tokens};
/// let x = Tokens::new(3, vec![1., 0., 0., -1., 0., 0., 0., 1., 0., 0., -1., 0., 0., 0., 1., 0., 0., -1.]).unwrap();
/// let modes = sphere(&x, 20.0).unwrap();
/// assert!(modes.certified && modes.count == 6); // an octahedron
/// ```
pub fn sphere(samples: &Tokens, beta: f64) -> Result<SphereModes> {
    if samples.d() != 3 {
        return Err(Error::parameter("samples", format!("d = {}", samples.d()), "points on S^2, three coordinates a row"));
    }
    crate::error::in_range("beta", beta, 0.1, 1e6)?;
    let cover = Cover { samples, beta };
    let all: Vec<u32> = (0..samples.n() as u32).collect();
    let tops: Vec<Cell> = (0..6 * 64).map(Cell::top).collect();
    let search = |cell: &Cell| {
        let mut found = Found::default();
        cover.visit(cell, &all, 0, &mut found);
        found
    };
    let parts: Vec<Found> = if parallel_allowed() { tops.par_iter().map(search).collect() } else { tops.iter().map(search).collect() };
    let (mut modes, mut undecided): (Vec<Mode>, Vec<_>) = (Vec::new(), Vec::new());
    for part in parts {
        for mode in part.modes {
            // Two proofs about one mode: its location lies in the concave ball of the other.
            if !modes.iter().any(|m| dist(&m.at, &mode.at) < m.concave) {
                modes.push(mode);
            }
        }
        undecided.extend(part.undecided);
    }
    modes.sort_by(|a, b| a.at[2].total_cmp(&b.at[2]));
    let locations: Vec<[f64; 3]> = modes.iter().map(|m| m.at).collect();
    Ok(SphereModes { count: locations.len(), locations, certified: undecided.is_empty(), undecided })
}

/// A proved mode: it exists near `at`, and the estimate is strictly concave within `concave` of it.
struct Mode {
    at: [f64; 3],
    concave: f64,
}

#[derive(Default)]
struct Found {
    modes: Vec<Mode>,
    undecided: Vec<([f64; 3], f64)>,
}

/// A square of a face of the cube, projected to the sphere.
struct Cell {
    face: usize,
    u: (f64, f64),
    v: (f64, f64),
}

impl Cell {
    fn top(k: usize) -> Self {
        let (face, i, j) = (k / 64, (k / 8 % 8) as f64, (k % 8) as f64);
        Self { face, u: (-1.0 + 0.25 * i, -0.75 + 0.25 * i), v: (-1.0 + 0.25 * j, -0.75 + 0.25 * j) }
    }

    fn point(&self, u: f64, v: f64) -> [f64; 3] {
        let s = if self.face.is_multiple_of(2) { 1.0 } else { -1.0 };
        let mut p = match self.face / 2 {
            0 => [s, u, v],
            1 => [u, s, v],
            _ => [u, v, s],
        };
        retract(&mut p);
        p
    }

    fn centre(&self) -> [f64; 3] {
        self.point(0.5 * (self.u.0 + self.u.1), 0.5 * (self.v.0 + self.v.1))
    }

    /// Distance of the farthest corner from the centre, a little more for rounding.
    fn radius(&self) -> f64 {
        let c = self.centre();
        let corners = [(self.u.0, self.v.0), (self.u.0, self.v.1), (self.u.1, self.v.0), (self.u.1, self.v.1)];
        corners.iter().map(|(u, v)| dist(&c, &self.point(*u, *v))).fold(0.0, f64::max) * (1.0 + 1e-9) + 1e-15
    }

    fn quarters(&self) -> [Self; 4] {
        let (u, v) = (0.5 * (self.u.0 + self.u.1), 0.5 * (self.v.0 + self.v.1));
        let part = |u: (f64, f64), v: (f64, f64)| Self { face: self.face, u, v };
        [
            part((self.u.0, u), (self.v.0, v)),
            part((u, self.u.1), (self.v.0, v)),
            part((self.u.0, u), (v, self.v.1)),
            part((u, self.u.1), (v, self.v.1)),
        ]
    }
}

/// Derivatives at a point in an orthonormal tangent basis, with bounds.
struct Jet {
    gradient: [f64; 2],
    hessian: [f64; 3],
    /// Rounding and neglected samples: of a gradient entry, of a Hessian entry.
    error: (f64, f64),
    /// Bound of the rate of change of the Hessian within the radius asked for.
    rate: f64,
    basis: Vec<f64>,
}

impl Jet {
    fn slope(&self) -> f64 {
        self.gradient[0].hypot(self.gradient[1])
    }

    /// Eigenvalues of the Hessian, (lower, upper).
    fn eigenvalues(&self) -> (f64, f64) {
        let [a, b, c] = self.hessian;
        let (mean, half) = (0.5 * (a + c), (0.5 * (a - c)).hypot(b));
        (mean - half, mean + half)
    }
}

struct Cover<'a> {
    samples: &'a Tokens,
    beta: f64,
}

impl Cover<'_> {
    /// Distance beyond which a sample is bounded instead of summed, for a cell of this radius.
    fn reach(&self, radius: f64) -> f64 {
        // 1 - cos r = RANGE / beta.
        let chord = (2.0 * RANGE / self.beta).min(4.0).sqrt();
        2.0 * (0.5 * chord).min(1.0).asin() + radius
    }

    /// Derivatives at `c` from the samples of `near`; `rate` is valid within `radius`.
    fn jet(&self, c: &[f64; 3], near: &[u32], radius: f64) -> Jet {
        let (beta, basis) = (self.beta, tangent_basis(c));
        let (mut g, mut h, mut rate, mut size) = ([0.0; 2], [0.0; 3], 0.0, 0.0);
        for &i in near {
            let y = self.samples.row(i as usize);
            let square = chord2(c, y);
            let f = (-0.5 * beta * square).exp();
            let cosine = 1.0 - 0.5 * square;
            let (a, b) = (dot(&basis[..3], y), dot(&basis[3..], y));
            g[0] += beta * f * a;
            g[1] += beta * f * b;
            h[0] += f * (beta * beta * a * a - beta * cosine);
            h[1] += f * beta * beta * a * b;
            h[2] += f * (beta * beta * b * b - beta * cosine);
            let distance = 2.0 * (0.5 * square.sqrt()).min(1.0).asin();
            let closest = 0.5 * (distance - radius).max(0.0);
            let p = (distance + radius).min(std::f64::consts::FRAC_PI_2).sin();
            let largest = (-2.0 * beta * closest.sin().powi(2)).exp();
            rate += largest * (beta.powi(3) * p.powi(3) + 3.0 * beta * beta * p + beta * p);
            size += f * (beta * beta * (a * a + b * b) + beta);
        }
        let far = (self.samples.n() - near.len()) as f64 * (-RANGE).exp() * (1.0 + beta) * (1.0 + beta);
        let rounding = (near.len() as f64 + 200.0) * f64::EPSILON;
        let error = (rounding * (size / beta.sqrt().min(beta) + size) + far, rounding * size + far);
        Jet { gradient: g, hessian: h, error, rate: 1.001 * rate + far * (1.0 + beta), basis }
    }

    /// Decides a cell or its quarters.
    fn visit(&self, cell: &Cell, parents: &[u32], depth: u32, found: &mut Found) {
        let (c, radius) = (cell.centre(), cell.radius());
        if found.modes.iter().any(|m| dist(&m.at, &c) + radius < m.concave) {
            return;
        }
        let reach = 2.0 * (0.5 * self.reach(radius).min(std::f64::consts::PI)).sin();
        let near: Vec<u32> = parents.iter().copied().filter(|i| chord2(&c, self.samples.row(*i as usize)) <= reach * reach).collect();
        let jet = self.jet(&c, &near, radius);
        let (low, high) = jet.eigenvalues();
        let change = radius * jet.rate + 2.0 * jet.error.1;
        let steepest = low.abs().max(high.abs()) + change;
        if jet.slope() - 2.0 * jet.error.0 > 1.001 * radius * steepest || high > 1.001 * change {
            return;
        }
        if high + change < 0.0
            && let Some(mode) = self.prove(&c)
        {
            let settled = dist(&mode.at, &c) + radius < mode.concave;
            found.modes.push(mode);
            if settled {
                return;
            }
        }
        if depth >= DEPTH {
            found.undecided.push((c, radius));
            return;
        }
        for quarter in cell.quarters() {
            self.visit(&quarter, &near, depth + 1, found);
        }
    }

    /// Newton's method from `c` to a mode, its existence (strict concavity beats the gradient on a small ball) and the ball of concavity about it.
    fn prove(&self, c: &[f64; 3]) -> Option<Mode> {
        let mut at = *c;
        let near = |at: &[f64; 3], radius: f64| -> Vec<u32> {
            let reach = 2.0 * (0.5 * self.reach(radius).min(std::f64::consts::PI)).sin();
            (0..self.samples.n() as u32).filter(|i| chord2(at, self.samples.row(*i as usize)) <= reach * reach).collect()
        };
        let width = 1.0 / self.beta.sqrt().max(1.0);
        let list = near(&at, 4.0 * width);
        for _ in 0..40 {
            let jet = self.jet(&at, &list, 0.0);
            let [a, b, d] = jet.hessian;
            let det = a * d - b * b;
            if det <= 0.0 || a >= 0.0 {
                return None;
            }
            let step = [-(d * jet.gradient[0] - b * jet.gradient[1]) / det, -(a * jet.gradient[1] - b * jet.gradient[0]) / det];
            let length = step[0].hypot(step[1]);
            let scale = (0.3 * width / length).min(1.0);
            let u: Vec<f64> = (0..3).map(|k| scale * (step[0] * jet.basis[k] + step[1] * jet.basis[3 + k])).collect();
            let next = exp(&at, &u);
            at.copy_from_slice(&next);
            if length < 1e-15 || dist(&at, c) > 2.0 * width {
                break;
            }
        }
        // Concavity mu on a ball of radius r and |grad| < mu r at its centre: the estimate falls on the rim, so a mode lies inside.
        let concavity = |radius: f64| {
            let jet = self.jet(&at, &list, radius);
            (-(jet.eigenvalues().1 + radius * jet.rate + 2.0 * jet.error.1), jet.slope() + 2.0 * jet.error.0)
        };
        let small = 1e-6 * width;
        let (mu, slope) = concavity(small);
        if mu <= 0.0 || slope >= 0.5 * mu * small {
            return None;
        }
        let mut concave = small;
        while concave < 2.0 * width && concavity(1.5 * concave).0 > 0.0 {
            concave *= 1.5;
        }
        Some(Mode { at, concave: 0.999 * concave - 1e-15 })
    }
}
