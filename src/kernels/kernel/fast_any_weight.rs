//! Sums over pairs with any weight `phi(<x_i, x_j>)` to a required accuracy, by the cheapest of
//! several algorithms.
//!
//! The algorithms are those of the exponential: chords and differences (exact), inner products in
//! registers or on tiles, Fourier series on the circle and spherical harmonics on S^2. Bounds of
//! their errors decide which of them may be used, and which rows have to be computed again.

use super::epilogue::apply_epilogue;
use super::exact::any_weight::AnyWeight;
use super::fast::arcs::{self, Arcs, MAX_N, Sorted};
use super::fast::fourier::{self, Moments};
use super::fast::harmonics::{self, HarmonicTable};
use super::fast::inner::{self, Bounds};
use super::fast::products;
use super::fast::series::Series;
use super::flagged_rows::FlaggedRows;
use super::limits::{EXACT_ACCURACY, MIN_PARALLEL_WORK};
use super::problem::{KernelProblem, OutputForm};
use super::registry::typical_length;
use super::sums::{MASS_FLOOR, Sums};
use super::tiles::panels::Panels;
use super::workspace::Workspace;
use crate::num::threads::enter_pool;
use crate::num::vector::scale;
use crate::sphere::Tokens;

/// What the fast sums need to know of a weight phi.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightProfile {
    /// The largest absolute value.
    pub size: f64,
    /// The largest slope of phi divided by its size; of `log phi` if `relative`. Infinite for a
    /// function that jumps: then only chords are used.
    pub steepness: f64,
    /// True if small weights have relative errors: phi is held by its logarithm.
    pub relative: bool,
    /// True if phi is negative somewhere.
    pub signed: bool,
    /// Error of one value, divided by the size (or by the value, if `relative`).
    pub rounding: f64,
    /// Nanoseconds of one value on one thread, for the choice only.
    pub cost: f64,
    /// The series on the circle of phi divided by its size.
    pub circle: Option<SeriesProfile>,
    /// The series on S^2 of phi divided by its size.
    pub sphere: Option<SeriesProfile>,
    /// The pieces between kinks on the circle, divided by the size of phi.
    pub arcs: Option<ArcsProfile>,
}

/// A series with its error.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesProfile {
    series: Series,
    /// Error of the sums, in units of the total mass.
    error: f64,
}

/// Pieces on the circle with their error.
#[derive(Clone, Debug, PartialEq)]
pub struct ArcsProfile {
    arcs: Arcs,
    /// Error of the sums, in units of the total mass.
    error: f64,
}

impl ArcsProfile {
    /// From the pieces and the largest distance of each. Moments of arcs are differences of sums of
    /// all tokens, so every piece has its own error.
    pub fn new(arcs: Arcs) -> Self {
        let error = |s: &Series| {
            let terms = s.kernel.iter().enumerate().map(|(k, c)| (8.0 + 10.0 * k as f64) * c.abs());
            0.5 * f64::EPSILON * (16.0 + terms.sum::<f64>()) + 2.0 * s.tail
        };
        let error = arcs.pieces.iter().map(error).sum();
        Self { arcs, error }
    }

    fn order(&self) -> f64 {
        self.arcs.pieces.iter().map(|p| p.kernel.len() as f64).sum()
    }
}

/// Largest degree of a series on S^2: the moments of all parts take about 4 kB times its square.
pub const MAX_DEGREE: usize = 190;

impl SeriesProfile {
    /// The series on the circle. Each power of `e^{i theta}` adds a rounding error u, so
    /// coefficient k adds `k |c_k|`, as for the exponential.
    pub fn circle(series: Series) -> Self {
        let spread: f64 = series.kernel.iter().enumerate().map(|(k, c)| k as f64 * c.abs()).sum();
        let error = 0.5 * f64::EPSILON * (16.0 + 10.0 * spread) + 2.0 * series.tail;
        Self { series, error }
    }

    /// The series on S^2. The recurrences lose about one ulp per degree.
    pub fn sphere(series: Series) -> Self {
        let spread = |(l, c): (usize, &f64)| (l * (2 * l + 1)) as f64 * c.abs();
        let spread: f64 = series.kernel.iter().enumerate().map(spread).sum();
        let error = 0.5 * f64::EPSILON * (64.0 + 26.0 * spread) + 2.0 * series.tail;
        Self { series, error }
    }

    fn order(&self) -> f64 {
        self.series.kernel.len() as f64
    }
}

/// The algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Chords,
    Inner,
    Products,
    Fourier,
    Arcs,
    Harmonics,
}

impl Algorithm {
    /// True for series of the weight divided by its size.
    fn is_by_series(self) -> bool {
        matches!(self, Self::Fourier | Self::Arcs | Self::Harmonics)
    }
}

/// The sums of [`AnyWeight`] to a required accuracy.
#[derive(Clone, Copy)]
pub struct FastAnyWeight<'a> {
    /// The exact sums.
    pub exact: AnyWeight<'a>,
    /// The weight.
    pub profile: &'a WeightProfile,
    /// Required relative error of a row. Up to [`EXACT_ACCURACY`] only chords are used.
    pub accuracy: f64,
}

#[derive(Default)]
struct Buffers {
    panels: Panels,
    moments: Moments,
    table: HarmonicTable,
    sorted: Sorted,
    sums: Sums,
    /// Drifts where only masses are wanted.
    drift: Vec<f64>,
}

impl FastAnyWeight<'_> {
    /// Name of the algorithm for n tokens in this dimension.
    pub fn algorithm(self, n: usize, d: usize, form: OutputForm) -> &'static str {
        match self.choose(n, d, form) {
            Algorithm::Chords => "any-weight",
            Algorithm::Inner => "any-weight-inner",
            Algorithm::Products => "any-weight-products",
            Algorithm::Fourier => "any-weight-fourier",
            Algorithm::Arcs => "any-weight-arcs",
            Algorithm::Harmonics => "any-weight-harmonics",
        }
    }

    /// The cheapest algorithm that reaches the accuracy on typical rows.
    fn choose(self, n: usize, d: usize, form: OutputForm) -> Algorithm {
        let tangent = form == OutputForm::Tangent;
        // The norm of a field may be far below its mass if weights have both signs.
        if form == OutputForm::Difference || self.profile.signed && !tangent {
            return Algorithm::Chords;
        }
        self.cheapest(n, d, form, typical_length(n, tangent), Algorithm::Inner)
    }

    /// The cheapest algorithm for the masses of the rows alone.
    fn choose_for_masses(self, n: usize, d: usize) -> Algorithm {
        if self.profile.signed {
            return Algorithm::Chords;
        }
        // Inner products in registers keep no masses.
        self.cheapest(n, d, OutputForm::Tangent, typical_length(n, false), Algorithm::Products)
    }

    /// The cheapest algorithm with an error of at most the accuracy times `length`; `registers` is
    /// the one for inner products of tokens in few dimensions.
    fn cheapest(
        self,
        n: usize,
        d: usize,
        form: OutputForm,
        length: f64,
        registers: Algorithm,
    ) -> Algorithm {
        if self.accuracy <= EXACT_ACCURACY {
            return Algorithm::Chords;
        }
        let mut best = (Algorithm::Chords, f64::INFINITY);
        let all = [
            Algorithm::Chords,
            registers,
            Algorithm::Products,
            Algorithm::Fourier,
            Algorithm::Arcs,
            Algorithm::Harmonics,
        ];
        for algorithm in all {
            if let Some(cost) = self.cost(algorithm, n, d, form)
                && cost < best.1
                && self.error(algorithm, n, d) <= self.accuracy * length
            {
                best = (algorithm, cost);
            }
        }
        best.0
    }

    /// Nanoseconds on one thread; `None` if the algorithm does not apply.
    fn cost(self, algorithm: Algorithm, n: usize, d: usize, form: OutputForm) -> Option<f64> {
        let (n, d, weight) = (n as f64, d as f64, self.profile.cost);
        let all = !self.exact.causal;
        let tangent = form == OutputForm::Tangent && all;
        match algorithm {
            Algorithm::Chords if d > 4.0 => Some(0.5 * n * n * (weight + 0.9 + 0.25 * d)),
            Algorithm::Chords => Some(0.5 * n * n * (weight + 0.4 + 0.15 * d)),
            Algorithm::Inner => {
                (all && d <= inner::MAX_D as f64).then_some(n * n * (weight + 0.05 + 0.062 * d))
            }
            Algorithm::Products => Some(0.5 * n * n * (weight + 0.8 + 0.06 * d) + 1.5 * n * d),
            Algorithm::Fourier => {
                let order = self.profile.circle.as_ref().filter(|_| tangent && d < 2.5)?.order();
                Some(2000.0 + n * order * 0.5)
            }
            Algorithm::Arcs => {
                let usable = |_: &&ArcsProfile| tangent && d < 2.5 && n <= MAX_N as f64;
                let order = self.profile.arcs.as_ref().filter(usable)?.order();
                Some(4000.0 + n * (5.0 * n.log2() + 40.0 + 12.0 * order))
            }
            Algorithm::Harmonics => {
                let series = self.profile.sphere.as_ref().filter(|_| tangent)?;
                let order = series.order();
                (2.5..3.5).contains(&d).then_some(1e5 + n * order * order * 0.5)
            }
        }
    }

    /// Error bound of a drift, in units of its largest possible value.
    fn error(self, algorithm: Algorithm, n: usize, d: usize) -> f64 {
        let WeightProfile { steepness, rounding, circle, sphere, arcs, .. } = self.profile;
        let by_products = |additions: f64| products::rounding(d, *steepness, additions) + rounding;
        let series = |s: &Option<SeriesProfile>| s.as_ref().map_or(f64::INFINITY, |s| s.error);
        match algorithm {
            Algorithm::Chords => 0.0,
            Algorithm::Inner => by_products(n as f64),
            Algorithm::Products => by_products(n as f64 / 96.0 + 96.0),
            Algorithm::Fourier => series(circle),
            // The ends of arcs are rounded, too.
            Algorithm::Arcs => {
                let ends = 4.0 * f64::EPSILON * steepness;
                arcs.as_ref().map_or(f64::INFINITY, |a| a.error + ends)
            }
            Algorithm::Harmonics => series(sphere),
        }
    }

    /// Writes what [`AnyWeight::apply`] writes, to the required accuracy, except for the rows that
    /// it returns: their error bound exceeds the accuracy, and the caller computes them by exact
    /// sums. If they are many, all rows are computed exactly here. The order of every sum depends
    /// on n and d only.
    pub fn apply(
        self,
        x: &Tokens,
        form: OutputForm,
        work: &mut Workspace,
        out: &mut [f64],
    ) -> Vec<usize> {
        let (n, d) = (x.n(), x.d());
        let algorithm = self.choose(n, d, form);
        if algorithm == Algorithm::Chords {
            self.exact.apply(x, form, work, out);
            return Vec::new();
        }
        enter_pool(n * n * d >= MIN_PARALLEL_WORK, || {
            let problem = KernelProblem { accuracy: self.accuracy, ..self.exact.problem(x, form) };
            let mut flagged = std::mem::take(&mut work.flagged);
            flagged.rows.clear();
            self.sums(algorithm, &problem, work.buffers(), out, &mut flagged);
            let mut rows = std::mem::take(&mut flagged.rows);
            work.flagged = flagged;
            if 8 * rows.len() > n {
                self.exact.apply(x, form, work, out);
                rows.clear();
            }
            rows
        })
    }

    /// Writes what [`AnyWeight::row_masses`] writes, to the required relative accuracy, except for
    /// the rows that it returns, as [`FastAnyWeight::apply`].
    pub fn row_masses(self, x: &Tokens, work: &mut Workspace, masses: &mut [f64]) -> Vec<usize> {
        let (n, d) = (x.n(), x.d());
        let algorithm = self.choose_for_masses(n, d);
        if algorithm == Algorithm::Chords {
            self.exact.row_masses(x, work, masses);
            return Vec::new();
        }
        enter_pool(n * n * d >= MIN_PARALLEL_WORK, || {
            let form = OutputForm::Tangent;
            let problem = KernelProblem { accuracy: self.accuracy, ..self.exact.problem(x, form) };
            let buffers: &mut Buffers = work.buffers();
            let mut drift = std::mem::take(&mut buffers.drift);
            drift.resize(n * d, 0.0);
            let (unit, bounds) = self.bounds(algorithm, n, d);
            self.raw_sums(algorithm, &problem, buffers, &mut drift);
            buffers.drift = drift;
            masses.copy_from_slice(&buffers.sums.mass);
            let Bounds { per_mass, absolute, .. } = bounds;
            let is_exact = |mass: f64| {
                mass >= MASS_FLOOR && per_mass * mass + absolute <= self.accuracy * mass
            };
            let rows: Vec<usize> = (0..n).filter(|i| !is_exact(masses[*i])).collect();
            if 8 * rows.len() > n {
                self.exact.row_masses(x, work, masses);
                return Vec::new();
            }
            scale(unit, masses);
            rows
        })
    }

    /// The size of a weight of 1, and the bounds of the errors in units of it.
    fn bounds(self, algorithm: Algorithm, n: usize, d: usize) -> (f64, Bounds) {
        let (AnyWeight { series, normalised, .. }, profile) = (self.exact, self.profile);
        let unit = if algorithm.is_by_series() { profile.size } else { series.factor };
        let error = self.error(algorithm, n, d);
        if self.is_relative(algorithm) {
            return (unit, Bounds { per_mass: error, absolute: 0.0, floor: MASS_FLOOR });
        }
        let absolute = error * profile.size / unit;
        // Where rows are divided by their mass, its error counts too.
        let floor = if normalised { absolute / self.accuracy } else { f64::NEG_INFINITY };
        (unit, Bounds { per_mass: 0.0, absolute, floor })
    }

    /// True if errors of weights are relative.
    fn is_relative(self, algorithm: Algorithm) -> bool {
        self.profile.relative && !algorithm.is_by_series()
    }

    fn sums(
        self,
        algorithm: Algorithm,
        problem: &KernelProblem,
        buffers: &mut Buffers,
        out: &mut [f64],
        flagged: &mut FlaggedRows,
    ) {
        let AnyWeight { series, normalised, .. } = self.exact;
        let (unit, bounds) = self.bounds(algorithm, problem.tokens.n(), problem.tokens.d());
        if algorithm == Algorithm::Inner {
            inner::evaluate(problem, series, bounds, out, flagged);
        } else {
            self.raw_sums(algorithm, problem, buffers, out);
            let sums = &mut buffers.sums;
            (sums.per_mass, sums.absolute, sums.sigma) = (bounds.per_mass, bounds.absolute, 0.0);
            sums.floor = bounds.floor;
            if !normalised && problem.two_sided && !self.is_relative(algorithm) {
                // Errors are in units of the total mass; weights of both signs may have no sum.
                sums.mass.fill(1.0);
            }
            apply_epilogue(problem, sums, out, flagged);
        }
        if !normalised {
            scale(unit, out);
        }
    }

    /// Writes drifts to `out` and masses to the buffers, by an algorithm on all tokens.
    fn raw_sums(
        self,
        algorithm: Algorithm,
        problem: &KernelProblem,
        Buffers { panels, moments, table, sorted, sums, .. }: &mut Buffers,
        out: &mut [f64],
    ) {
        sums.reset(problem);
        let rows = (out, &mut sums.mass[..]);
        let WeightProfile { circle, sphere, arcs, .. } = self.profile;
        match (algorithm, circle, sphere, arcs) {
            (Algorithm::Fourier, Some(s), ..) => fourier::sums(problem, moments, &s.series, rows),
            (Algorithm::Arcs, .., Some(a)) => arcs::sums(problem, &a.arcs, sorted, rows),
            (Algorithm::Harmonics, _, Some(s), _) => {
                harmonics::sums(problem, (moments, table), &s.series, rows);
            }
            _ => products::sums(problem, self.exact.series, panels, rows),
        }
    }
}
