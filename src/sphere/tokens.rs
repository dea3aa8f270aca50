//! Tokens: positions and masses of n particles.

use super::geometry::retract;
use super::space::Space;
use crate::error::{Error, Result};
use crate::num::aligned::AlignedVec;
use crate::num::simd::{Isa, SimdKernel, SimdOps};
use crate::num::sum::{block_sum, dot, dot_inlined};
use crate::num::{
    pairs,
    vector::{axpy, norm},
};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A row whose norm deviates from 1 by at most this is normalised; a larger deviation is an error.
const UNIT_TOLERANCE: f64 = 1e-8;

/// A row whose norm deviates from 1 by at most this is a unit vector up to rounding and stays
/// unchanged, so that tokens survive writing and reading.
const UNIT_ROUNDING: f64 = 2.0 * f64::EPSILON;

/// n points with positive masses of sum 1; row i is `x_i`. Tokens represent the empirical measure
/// `mu = sum_i m_i delta_{x_i}`. They live on the unit sphere of `R^d`, unless made by
/// [`Tokens::flat`] or [`Tokens::polar`].
///
/// ```
/// use metastable::sphere::Tokens;
/// let x = Tokens::from_angles(&[0.0, std::f64::consts::FRAC_PI_2]).unwrap();
/// assert!(x.inner(0, 1).abs() < 1e-16);
/// ```
#[derive(Clone)]
pub struct Tokens {
    d: usize,
    version: u64,
    space: Space,
    /// The coordinates, then the extra numbers of the space. Aligned, so that a vector load never
    /// touches two cache lines if rows are whole vectors.
    x: AlignedVec<f64>,
    masses: Vec<f64>,
    uniform: bool,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { d, space, x, masses, .. } = self;
        f.debug_struct("Tokens")
            .field("space", &space.name())
            .field("d", d)
            .field("numbers", x)
            .field("masses", masses)
            .finish()
    }
}

impl PartialEq for Tokens {
    fn eq(&self, other: &Self) -> bool {
        self.d == other.d
            && self.space.name() == other.space.name()
            && self.x == other.x
            && self.masses == other.masses
    }
}

/// Index of the first row that is not a unit vector up to rounding; NaN counts as such.
struct FirstNonUnitRow<'a> {
    d: usize,
    rows: &'a [f64],
}

impl SimdKernel for FirstNonUnitRow<'_> {
    type F = f64;
    type Output = Option<usize>;

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, _: L) -> Option<usize> {
        // |x|^2 - 1 is about 2 (|x| - 1); NaN compares false.
        let is_unit = |row: &[f64]| (dot_inlined(row, row) - 1.0).abs() <= 2.0 * UNIT_ROUNDING;
        self.rows.chunks_exact(self.d).position(|row| !is_unit(row))
    }
}

impl Tokens {
    /// Tokens from row-major coordinates with equal masses. The norms of the rows must be 1 to
    /// 1e-8. Rows with norm 1 to 2 ulp stay unchanged, the others are normalised.
    ///
    /// **Errors** no tokens, `d < 2`, a non-finite entry, a row that is not a unit vector.
    #[inline]
    pub fn new(d: usize, x: Vec<f64>) -> Result<Self> {
        Self::from_rows(d, &x)
    }

    /// [`Tokens::new`] for a slice.
    ///
    /// **Errors** as [`Tokens::new`].
    #[inline]
    pub fn from_rows(d: usize, x: &[f64]) -> Result<Self> {
        if d < 2 || x.is_empty() || !x.len().is_multiple_of(d) {
            Self::check(d, x)?;
        }
        Self::on_sphere(d, x.len() / d, AlignedVec::default()).with_rows(x)
    }

    /// Replaces the rows (unit vectors) and keeps the masses and the memory: [`Tokens::from_rows`]
    /// for repeated use.
    ///
    /// **Errors** as [`Tokens::new`], or a wrong number of coordinates.
    ///
    /// ```
    /// use metastable::sphere::Tokens;
    /// let x = Tokens::from_rows(2, &[1.0, 0.0, 0.0, 1.0]).unwrap().with_rows(&[0.0, 1.0, 0.6, 0.8]).unwrap();
    /// assert_eq!((x.row(1), x.masses()), (&[0.6, 0.8][..], &[0.5, 0.5][..]));
    /// let almost = [1.0, 0.0, 0.0, 1.0 - f64::EPSILON];
    /// assert_eq!(x.clone().with_rows(&almost).unwrap().row(1), &almost[2..]);
    /// assert!(x.with_rows(&[0.0, 1.0]).is_err());
    /// ```
    pub fn with_rows(mut self, x: &[f64]) -> Result<Self> {
        let d = self.d;
        if d < 2 {
            Self::check(d, x)?;
        }
        if x.len() != self.n() * d {
            return Err(Error::parameter(
                "coordinates",
                x.len(),
                format!("{} for {} tokens in R^{d}", self.n() * d, self.n()),
            ));
        }
        (self.space, self.version) = (Space::Sphere, new_version());
        self.x.assign(x);
        let (isa, mut i) = (Isa::best(), 0);
        while let Some(next) = isa.run(FirstNonUnitRow { d, rows: &self.x[i * d..] }) {
            i += next + 1;
            let row = &mut self.x[(i - 1) * d..i * d];
            let length = norm(row);
            if (length - 1.0).abs() <= UNIT_TOLERANCE {
                let _ = retract(row) && retract(row);
            } else {
                // A NaN ends here too; report it before the norm.
                Self::check(d, x)?;
                let problem = format!(
                    "|x| = {length:.9}, expected a unit vector, or --normalise to divide every row by its length"
                );
                return Err(Error::Token { row: i, problem });
            }
        }
        Ok(self)
    }

    /// Tokens from rows of any positive norm, which are normalised.
    ///
    /// **Errors** as [`Tokens::new`], or a zero row.
    pub fn normalised(d: usize, x: Vec<f64>) -> Result<Self> {
        Self::check(d, &x)?;
        let mut x = AlignedVec::from(&x[..]);
        for (i, row) in x.chunks_exact_mut(d).enumerate() {
            if !retract(row) || !retract(row) {
                return Err(Error::Token {
                    row: i + 1,
                    problem: "the zero vector has no direction".into(),
                });
            }
        }
        Ok(Self::on_sphere(d, x.len() / d, x))
    }

    fn on_sphere(d: usize, n: usize, x: AlignedVec<f64>) -> Self {
        Self {
            d,
            version: new_version(),
            space: Space::Sphere,
            x,
            masses: vec![1.0 / n as f64; n],
            uniform: true,
        }
    }

    /// Tokens of `R^d` from row-major coordinates with equal masses.
    ///
    /// **Errors** no tokens, `d < 1`, a non-finite entry.
    ///
    /// ```
    /// let x = metastable::sphere::Tokens::flat(1, vec![-2.0, 3.0]).unwrap();
    /// assert_eq!((x.n(), x.mean()[0]), (2, 0.5));
    /// ```
    #[inline]
    pub fn flat(d: usize, x: Vec<f64>) -> Result<Self> {
        if d == 0 {
            return Err(Error::parameter("d", d, "a dimension of at least 1"));
        }
        Self::finite(d, &x)?;
        let n = x.len() / d;
        Ok(Self {
            d,
            version: new_version(),
            space: Space::Flat,
            x: AlignedVec::from(&x[..]),
            masses: vec![1.0 / n as f64; n],
            uniform: true,
        })
    }

    /// n tokens of a space with equal masses, from all their numbers: coordinates, then extra
    /// numbers. They are retracted to the space first.
    ///
    /// **Errors** no tokens, a wrong count, a non-finite number, a token that cannot be retracted.
    pub fn in_space(space: Space, n: usize, d: usize, mut numbers: Vec<f64>) -> Result<Self> {
        let expected = n * (d + space.extra_per_token());
        if n == 0 || d == 0 || numbers.len() != expected {
            let expected =
                format!("{expected} for {n} tokens of the space `{}`, at least one", space.name());
            return Err(Error::parameter("numbers", numbers.len(), expected));
        }
        Self::finite(d, &numbers[..n * d])?;
        let problem = || format!("it is not a token of the space `{}`", space.name());
        space
            .retract_rows(d, n, &mut numbers)
            .map_err(|row| Error::Token { row: row + 1, problem: problem() })?;
        Ok(Self {
            d,
            version: new_version(),
            space,
            x: AlignedVec::from(&numbers[..]),
            masses: vec![1.0 / n as f64; n],
            uniform: true,
        })
    }

    /// Tokens of `R^d` in polar coordinates: the same directions and masses, with radii.
    ///
    /// **Errors** a wrong count, or a radius that is not positive and finite.
    pub fn polar(self, radii: &[f64]) -> Result<Self> {
        if radii.len() != self.n() {
            return Err(Error::parameter(
                "radii",
                radii.len(),
                format!("{} radii, one per token", self.n()),
            ));
        }
        if let Some(i) = radii.iter().position(|r| !(r.is_finite() && *r > 0.0)) {
            return Err(Error::parameter(
                "radii",
                radii[i],
                format!("positive radii (row {})", i + 1),
            ));
        }
        let numbers: Vec<f64> = self.coordinates().iter().chain(radii).copied().collect();
        Ok(Self {
            version: new_version(),
            space: Space::Polar,
            x: AlignedVec::from(&numbers[..]),
            ..self
        })
    }

    fn check(d: usize, x: &[f64]) -> Result<()> {
        if d < 2 {
            return Err(Error::parameter(
                "d",
                d,
                "an ambient dimension of at least 2 (tokens live on the sphere S^(d-1))",
            ));
        }
        Self::finite(d, x)
    }

    fn finite(d: usize, x: &[f64]) -> Result<()> {
        if x.is_empty() || !x.len().is_multiple_of(d) {
            return Err(Error::parameter("n", x.len() / d, "at least one token"));
        }
        match x.iter().position(|v| !v.is_finite()) {
            Some(k) => Err(Error::Token {
                row: k / d + 1,
                problem: format!("column {}: found {}, expected a finite number", k % d + 1, x[k]),
            }),
            None => Ok(()),
        }
    }

    /// Tokens on the circle from angles in radians.
    ///
    /// **Errors** no angles, or an angle that is not finite.
    #[inline]
    pub fn from_angles(angles: &[f64]) -> Result<Self> {
        if let Some(i) = angles.iter().position(|a| !a.is_finite()) {
            return Err(Error::Token {
                row: i + 1,
                problem: format!("found {}, expected a finite angle", angles[i]),
            });
        }
        Self::normalised(2, angles.iter().flat_map(|a| [a.cos(), a.sin()]).collect())
    }

    /// The same points with other masses, which are scaled to sum 1.
    ///
    /// **Errors** a wrong count, or a mass that is not positive and finite.
    pub fn with_masses(mut self, masses: &[f64]) -> Result<Self> {
        if masses.len() != self.n() {
            return Err(Error::parameter(
                "masses",
                masses.len(),
                format!("{} masses, one per token", self.n()),
            ));
        }
        if let Some(i) = masses.iter().position(|m| !(m.is_finite() && *m > 0.0)) {
            return Err(Error::parameter(
                "masses",
                masses[i],
                format!("positive masses (row {})", i + 1),
            ));
        }
        let total = block_sum(masses);
        self.masses = masses.iter().map(|m| m / total).collect();
        self.uniform = are_equal(&self.masses);
        Ok(self)
    }

    /// Tokens from parts that already satisfy the invariants (for integrators and laws).
    #[inline]
    pub fn from_parts(d: usize, x: Vec<f64>, masses: Vec<f64>) -> Self {
        debug_assert_eq!(x.len(), d * masses.len());
        let uniform = are_equal(&masses);
        Self {
            d,
            version: new_version(),
            space: Space::Sphere,
            x: AlignedVec::from(&x[..]),
            masses,
            uniform,
        }
    }

    /// The space of the tokens.
    #[inline]
    pub fn space(&self) -> Space {
        self.space
    }

    /// All numbers: the coordinates, then the extra numbers of the space.
    #[inline]
    pub fn numbers(&self) -> &[f64] {
        &self.x
    }

    /// The extra numbers of the space: the radii of polar tokens, else none.
    #[inline]
    pub fn extra_numbers(&self) -> &[f64] {
        &self.x[self.n() * self.d..]
    }

    /// Mutable numbers; the caller must keep them in the space.
    #[inline]
    pub fn numbers_mut(&mut self) -> &mut [f64] {
        self.version = new_version();
        &mut self.x
    }

    /// Sets all numbers and retracts them to the space, as at the end of a step.
    ///
    /// **Errors** a token that cannot be retracted (zero or not finite); it is left as it is.
    #[inline]
    pub fn set_numbers(&mut self, numbers: impl IntoIterator<Item = f64>) -> Result<()> {
        let (space, n, d) = (self.space, self.n(), self.d);
        let own = self.numbers_mut();
        own.iter_mut().zip(numbers).for_each(|(x, v)| *x = v);
        let problem =
            |i| Error::Token { row: i + 1, problem: "found a zero or non-finite vector".into() };
        space.retract_rows(d, n, own).map_err(problem)
    }

    /// Number of tokens.
    #[inline]
    pub fn n(&self) -> usize {
        self.masses.len()
    }

    /// Ambient dimension.
    #[inline]
    pub fn d(&self) -> usize {
        self.d
    }

    /// `x_i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.x[i * self.d..(i + 1) * self.d]
    }

    /// All rows.
    #[inline]
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.coordinates().chunks_exact(self.d)
    }

    /// The row-major coordinates.
    #[inline]
    pub fn coordinates(&self) -> &[f64] {
        &self.x[..self.masses.len() * self.d]
    }

    /// Mutable coordinates; the caller must keep every row in the space.
    #[inline]
    pub fn coordinates_mut(&mut self) -> &mut [f64] {
        let size = self.masses.len() * self.d;
        &mut self.numbers_mut()[..size]
    }

    /// Tokens with equal versions have equal coordinates, so results computed from them can be
    /// reused.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The masses.
    #[inline]
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// The common mass, if all masses are equal.
    #[inline]
    pub fn uniform_mass(&self) -> Option<f64> {
        self.uniform.then(|| self.masses[0])
    }

    /// `<x_i, x_j>`.
    #[inline]
    pub fn inner(&self, i: usize, j: usize) -> f64 {
        dot(self.row(i), self.row(j))
    }

    /// The Gram matrix `G = X X^T`, n x n row-major.
    #[inline]
    pub fn gram(&self) -> Vec<f64> {
        let n = self.n();
        (0..n * n).map(|k| self.inner(k / n, k % n)).collect()
    }

    /// Mean `sum_i m_i x_i`.
    #[inline]
    pub fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.d];
        for (row, m) in self.rows().zip(&self.masses) {
            axpy(*m, row, &mut mean);
        }
        mean
    }

    /// Largest distance between two tokens.
    #[inline]
    pub fn diameter(&self) -> f64 {
        let pairs = pairs(self.n());
        pairs.map(|(i, j)| self.space.dist(self.row(i), self.row(j))).fold(0.0, f64::max)
    }

    /// Angles in `(-pi, pi]` of tokens on the circle (the first two coordinates).
    #[inline]
    pub fn angles(&self) -> Vec<f64> {
        self.rows().map(|r| r[1].atan2(r[0])).collect()
    }
}

/// A new version number, unique and positive.
fn new_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

fn are_equal(masses: &[f64]) -> bool {
    masses.iter().all(|m| m.to_bits() == masses[0].to_bits())
}
