//! Weights of pairs that are any function of their inner product: polynomials and some closed forms
//! in lanes.

use crate::num::aligned::AlignedVec;
use crate::num::simd::{Isa, SimdKernel, SimdOps};

/// A function of `z = top - s`, the distance of an inner product s from its largest value (half the
/// squared chord, for tokens on the sphere): polynomials on pieces of the interval, times a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct PairSeries {
    /// From the piece of the smallest z to that of the largest.
    pub pieces: Vec<Piece>,
    /// The factor of all values.
    pub factor: f64,
}

/// A polynomial in `t = shift - slope z`, which is in [-1, 1] on the piece.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The smallest z of the piece; minus infinity for the first piece, as z may round below 0.
    pub from: f64,
    /// `t` at `z = 0`.
    pub shift: f64,
    /// `-dt/dz`.
    pub slope: f64,
    /// The values.
    pub form: PieceForm,
}

/// A polynomial p of t, or the exponential of one.
#[derive(Clone, Debug, PartialEq)]
pub enum PieceForm {
    /// p by its powers.
    Powers(Powers),
    /// p by its Chebyshev coefficients, where powers would lose digits.
    Chebyshev(Vec<f64>),
    /// p by low powers on sixteen equal cells, where p itself is long.
    Cells(Cells),
    /// `2^(exponent - z p)` with an exponent of at most 0 at every z.
    Exponential {
        /// The exponent at `z = 0`.
        exponent: f64,
        /// p.
        slope: Powers,
    },
    /// A function that keeps small values relatively accurate.
    Closed(Closed),
}

/// Functions of t that keep small values relatively accurate: to some roundings times the size of
/// the logarithm of the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Closed {
    /// `1 / (1 + e^{-k t})`
    Sigmoid {
        /// k.
        k: f64,
    },
    /// `ln(1 + e^{k t}) / k`
    Softplus {
        /// k.
        k: f64,
    },
    /// `cosh(k t)`
    Cosh {
        /// k.
        k: f64,
    },
    /// `t^p`
    Power {
        /// p.
        p: u32,
    },
    /// `1 / t`
    Inverse,
}

/// `1, 1/3, 1/5, ...` of `atanh(z) / z` in powers of `z^2`: the next term is below 1e-18 for
/// `z <= 1/3`.
const ATANH_TERMS: i32 = 18;

impl Closed {
    #[inline(always)]
    fn values<L: SimdOps<F = f64>, const U: usize>(self, l: L, t: [L::V; U]) -> [L::V; U] {
        let (one, mut out) = (l.splat(1.0), t);
        // x in units of ln 2, and e^{-|x|}.
        let decay = |k: f64| {
            let (scale, mut x, mut e) = (l.splat(k * std::f64::consts::LOG2_E), t, t);
            for u in 0..U {
                x[u] = l.mul(scale, t[u]);
                e[u] = l.min(x[u], l.sub(l.zero(), x[u]));
            }
            (x, l.exp2_array::<U, false>(e))
        };
        match self {
            Self::Sigmoid { k } => {
                let (x, e) = decay(k);
                for u in 0..U {
                    let top = l.select(l.greater(x[u], l.zero()), one, e[u]);
                    out[u] = l.div(top, l.add(one, e[u]));
                }
            }
            Self::Softplus { k } => {
                let (_, e) = decay(k);
                let (two, scale) = (l.splat(2.0), l.splat(1.0 / k));
                for u in 0..U {
                    // ln(1 + e) = 2 atanh(e / (2 + e))
                    let z = l.div(e[u], l.add(two, e[u]));
                    let square = l.mul(z, z);
                    let mut sum = l.zero();
                    for j in (0..ATANH_TERMS).rev() {
                        sum = l.fma(sum, square, l.splat(1.0 / f64::from(2 * j + 1)));
                    }
                    let log = l.mul(scale, l.mul(l.mul(two, z), sum));
                    out[u] = l.add(l.max(t[u], l.zero()), log);
                }
            }
            Self::Cosh { k } => {
                let (_, e) = decay(k);
                for u in 0..U {
                    out[u] = l.mul(l.splat(0.5), l.add(e[u], l.div(one, e[u])));
                }
            }
            Self::Power { p } => {
                let mut rest = p;
                let (mut base, mut product) = (t, [one; U]);
                while rest > 0 {
                    for u in 0..U {
                        if rest & 1 == 1 {
                            product[u] = l.mul(product[u], base[u]);
                        }
                        base[u] = l.mul(base[u], base[u]);
                    }
                    rest >>= 1;
                }
                out = product;
            }
            Self::Inverse => {
                for u in 0..U {
                    out[u] = l.div(one, t[u]);
                }
            }
        }
        out
    }
}

/// Polynomials on sixteen equal cells of [-1, 1], in the distance from the middle of a cell, which
/// is in [-1/2, 1/2] in units of its width.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// The coefficient of every cell, the highest power first.
    rows: Vec<[f64; CELLS]>,
}

/// Number of cells: a table of as many numbers fits two registers.
pub const CELLS: usize = 16;

/// Adding and subtracting this rounds to integers.
const ROUND: f64 = 6_755_399_441_055_744.0;

impl Cells {
    /// From the coefficients of `1, t, t^2, ...` of every cell, with t in [-1, 1] on the cell.
    pub fn new(powers: &[Vec<f64>; CELLS]) -> Self {
        let count = powers.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let row = |k: usize| {
            // t is twice the distance.
            let scale = f64::powi(2.0, i32::try_from(k).unwrap_or(i32::MAX));
            std::array::from_fn(|cell| scale * powers[cell].get(k).copied().unwrap_or(0.0))
        };
        Self { rows: (0..count).rev().map(row).collect() }
    }

    /// The number of coefficients of a cell.
    pub fn terms(&self) -> usize {
        self.rows.len()
    }

    #[inline(always)]
    fn values<L: SimdOps<F = f64>, const U: usize>(&self, l: L, t: [L::V; U]) -> [L::V; U] {
        let half = 0.5 * CELLS as f64;
        let (scale, shift, last) = (l.splat(half), l.splat(half - 0.5), l.splat(2.0 * half - 1.0));
        let (mut cell, mut at, mut out) = (t, t, t);
        let Some((first, rest)) = self.rows.split_first() else { return out };
        for u in 0..U {
            at[u] = l.fma(t[u], scale, shift);
            let inside = l.min(l.max(at[u], l.zero()), last);
            cell[u] = l.sub(l.add(inside, l.splat(ROUND)), l.splat(ROUND));
            at[u] = l.sub(at[u], cell[u]);
            out[u] = l.lookup(first, cell[u]);
        }
        for row in rest {
            for u in 0..U {
                out[u] = l.fma(out[u], at[u], l.lookup(row, cell[u]));
            }
        }
        out
    }
}

/// A polynomial by its even and odd powers: two chains of operations instead of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Powers {
    /// Coefficients of `t^{2k}` and `t^{2k+1}`, the highest first.
    pairs: Vec<[f64; 2]>,
    parity: Parity,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Parity {
    Even,
    Odd,
    Mixed,
}

impl Powers {
    /// From the coefficients of `1, t, t^2, ...`.
    pub fn new(coefficients: &[f64]) -> Self {
        let is_zero = |from: usize| coefficients.iter().skip(from).step_by(2).all(|c| *c == 0.0);
        let parity = match (is_zero(1), is_zero(0)) {
            (true, _) => Parity::Even,
            (_, true) => Parity::Odd,
            _ => Parity::Mixed,
        };
        let pair = |c: &[f64]| [c[0], c.get(1).copied().unwrap_or(0.0)];
        Self { pairs: coefficients.chunks(2).map(pair).rev().collect(), parity }
    }

    /// Bound of the degree.
    pub fn degree(&self) -> usize {
        2 * self.pairs.len()
    }

    #[inline(always)]
    fn values<L: SimdOps<F = f64>, const U: usize>(&self, l: L, t: [L::V; U]) -> [L::V; U] {
        let mut square = t;
        for u in 0..U {
            square[u] = l.mul(t[u], t[u]);
        }
        let mut even = [l.zero(); U];
        match self.parity {
            Parity::Mixed => {
                let mut odd = [l.zero(); U];
                for [a, b] in &self.pairs {
                    let (a, b) = (l.splat(*a), l.splat(*b));
                    for u in 0..U {
                        even[u] = l.fma(even[u], square[u], a);
                        odd[u] = l.fma(odd[u], square[u], b);
                    }
                }
                for u in 0..U {
                    even[u] = l.fma(odd[u], t[u], even[u]);
                }
            }
            Parity::Even => {
                for [a, _] in &self.pairs {
                    let a = l.splat(*a);
                    for u in 0..U {
                        even[u] = l.fma(even[u], square[u], a);
                    }
                }
            }
            Parity::Odd => {
                for [_, b] in &self.pairs {
                    let b = l.splat(*b);
                    for u in 0..U {
                        even[u] = l.fma(even[u], square[u], b);
                    }
                }
                for u in 0..U {
                    even[u] = l.mul(even[u], t[u]);
                }
            }
        }
        even
    }
}

/// Clenshaw's recurrence.
#[inline(always)]
fn clenshaw<L: SimdOps<F = f64>, const U: usize>(
    l: L,
    coefficients: &[f64],
    t: [L::V; U],
) -> [L::V; U] {
    let (mut a, mut b, mut twice) = ([l.zero(); U], [l.zero(); U], t);
    for u in 0..U {
        twice[u] = l.add(t[u], t[u]);
    }
    let Some((first, rest)) = coefficients.split_first() else { return a };
    for c in rest.iter().rev() {
        let c = l.splat(*c);
        for u in 0..U {
            (a[u], b[u]) = (l.fma(twice[u], a[u], l.sub(c, b[u])), a[u]);
        }
    }
    let first = l.splat(*first);
    for u in 0..U {
        a[u] = l.fma(t[u], a[u], l.sub(first, b[u]));
    }
    a
}

impl Piece {
    #[inline(always)]
    fn values<L: SimdOps<F = f64>, const U: usize>(&self, l: L, z: [L::V; U]) -> [L::V; U] {
        let (minus, shift, mut t) = (l.splat(-self.slope), l.splat(self.shift), z);
        for u in 0..U {
            t[u] = l.fma(minus, z[u], shift);
        }
        match &self.form {
            PieceForm::Powers(p) => p.values(l, t),
            PieceForm::Chebyshev(c) => clenshaw(l, c, t),
            PieceForm::Cells(cells) => cells.values(l, t),
            PieceForm::Closed(closed) => closed.values(l, t),
            PieceForm::Exponential { exponent, slope } => {
                let (mut p, top) = (slope.values(l, t), l.splat(*exponent));
                for u in 0..U {
                    p[u] = l.min(l.sub(top, l.mul(z[u], p[u])), l.zero());
                }
                l.exp2_array::<U, false>(p)
            }
        }
    }
}

impl PairSeries {
    /// The values without the factor.
    #[inline(always)]
    pub fn values<L: SimdOps<F = f64>, const U: usize>(&self, l: L, z: [L::V; U]) -> [L::V; U] {
        let mut out = [l.zero(); U];
        // One loop for all pieces: its body is long, and compiled for every caller.
        for piece in &self.pieces {
            let (from, values) = (l.splat(piece.from), piece.values(l, z));
            for u in 0..U {
                out[u] = l.select(l.greater(z[u], from), values[u], out[u]);
            }
        }
        out
    }

    /// Replaces numbers z by the values, with the factor. The numbers are aligned, and their length
    /// is a multiple of that of two vectors; 16 is one for all instruction sets.
    pub fn replace(&self, isa: Isa, numbers: &mut [f64]) {
        isa.run(Replace { series: self, numbers });
    }

    /// The value at one z, with the factor.
    pub fn value(&self, z: f64) -> f64 {
        let mut numbers = AlignedVec::default();
        numbers.reset(16);
        numbers[0] = z;
        self.replace(Isa::Portable, &mut numbers);
        numbers[0]
    }
}

struct Replace<'a> {
    series: &'a PairSeries,
    numbers: &'a mut [f64],
}

impl SimdKernel for Replace<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let factor = l.splat(self.series.factor);
        for z in L::view_mut(self.numbers).as_chunks_mut::<2>().0 {
            let values = self.series.values::<L, 2>(l, *z);
            *z = [l.mul(factor, values[0]), l.mul(factor, values[1])];
        }
    }
}
