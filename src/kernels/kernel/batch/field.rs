//! Velocities and layers of many systems, one system per lane.

use super::heads::HeadsField;
use super::plain::{MAX_D, PlainField};
use super::series::SeriesField;
use crate::Head;
use crate::kernel::KernelChoice;
use crate::kernel::attention::Attention;
use crate::kernel::pair_series::PairSeries;
use crate::num::simd::{Isa, SimdKernel, SimdOps};

/// The velocity field of systems with few tokens of equal masses, one system per lane.
pub struct BatchField {
    sums: FieldSums,
    isa: Isa,
}

/// The sums of a row.
enum FieldSums {
    /// One identity head.
    Plain(PlainField),
    /// One identity head with other weights.
    Series(SeriesField),
    /// General heads.
    Heads(HeadsField),
}

impl FieldSums {
    /// If drifts and masses are written: the factor of weights (`None`: divide by the mass), and
    /// the sign. General heads write outputs.
    #[inline(always)]
    fn row_factor(&self) -> Option<(Option<f64>, f64)> {
        match self {
            Self::Plain(pairs) => Some((pairs.scale, pairs.sign)),
            Self::Series(pairs) => Some((pairs.scale, pairs.sign)),
            Self::Heads(_) => None,
        }
    }
}

/// True for one identity head.
fn is_plain(attention: &Attention) -> bool {
    attention.heads.len() == 1 && attention.heads.iter().all(Head::is_identity)
}

impl BatchField {
    /// The largest dimension; in larger ones, a single system fills the lanes by itself.
    pub const MAX_D: usize = MAX_D;

    /// The field of attention, for systems with n initial tokens in d dimensions. `None` for a
    /// mask, a kernel chosen by name, and weights whose range is too large.
    pub fn new(attention: &Attention, (n, d): (usize, usize)) -> Option<Self> {
        let free =
            !attention.causal && d <= MAX_D && matches!(attention.kernel, KernelChoice::Auto);
        let sums = if is_plain(attention) {
            (free && PlainField::supports(attention))
                .then(|| FieldSums::Plain(PlainField::new(attention, n)))
        } else {
            (free && HeadsField::supports(attention, d))
                .then(|| FieldSums::Heads(HeadsField::new(attention, n, d)))
        };
        Some(Self { sums: sums?, isa: attention.isa })
    }

    /// The field of one identity head with other weights, functions of `1 - <x_i, x_j>`, divided by
    /// their row sums if they are normalised. The sign -1 reverses the flow.
    pub fn of_series(
        series: &PairSeries,
        normalised: bool,
        (sign, isa): (f64, Isa),
        (n, d): (usize, usize),
    ) -> Option<Self> {
        let field = || SeriesField::new(series, normalised, sign, n);
        (d <= MAX_D).then(|| Self { sums: FieldSums::Series(field()), isa })
    }

    /// The instruction set of the lanes.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Velocities of the tokens, one system per lane. Empty `sizes`: all tokens have size 1. `mass`
    /// is scratch space for one vector per token.
    #[inline(always)]
    pub fn velocities<L: SimdOps<F = f64>>(
        &self,
        l: L,
        d: usize,
        (x, sizes): (&[f64], &[f64]),
        (out, mass): (&mut [f64], &mut [f64]),
    ) {
        self.isa.run(BatchSums {
            field: self,
            isa: self.isa,
            d,
            x,
            sizes,
            tangent: true,
            out,
            mass,
        });
        let rows = L::view(x).chunks_exact(d).zip(L::view_mut(out).chunks_exact_mut(d));
        for ((x, s), mass) in rows.zip(L::view(mass)) {
            let factor = match self.sums.row_factor() {
                None => l.constant(1.0),
                Some((None, sign)) => l.div(l.constant(-sign), *mass),
                Some((Some(scale), sign)) => l.constant(-sign * scale),
            };
            let mut radial = l.zero();
            for (x, s) in x.iter().zip(&*s) {
                radial = l.fma(*x, *s, radial);
            }
            let back = l.sub(l.zero(), radial);
            for (x, s) in x.iter().zip(s) {
                *s = l.mul(factor, l.fma(back, *x, *s));
            }
        }
    }
}

/// The sums for all tokens of a group of systems. A function of its own, shared by layers and
/// steps.
struct BatchSums<'a> {
    field: &'a BatchField,
    isa: Isa,
    d: usize,
    x: &'a [f64],
    sizes: &'a [f64],
    /// If true, only the tangent part of the result will be used.
    tangent: bool,
    out: &'a mut [f64],
    mass: &'a mut [f64],
}

impl SimdKernel for BatchSums<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let (tokens, out) = ((L::view(self.x), L::view(self.sizes)), L::view_mut(self.out));
        match &self.field.sums {
            FieldSums::Plain(pairs) => pairs.sums(l, self.d, tokens, out, L::view_mut(self.mass)),
            FieldSums::Series(pairs) => {
                pairs.sums(l, (self.isa, self.d), tokens, out, L::view_mut(self.mass));
            }
            FieldSums::Heads(heads) => heads.sums(l, self.d, tokens, self.tangent, out),
        }
    }
}

/// One layer `x_i <- normalise(x_i + eta a_i)` of a group of systems; `eta` may be infinite.
pub(super) struct BatchLayer<'a> {
    pub field: &'a BatchField,
    pub isa: Isa,
    pub eta: f64,
    pub n: usize,
    pub d: usize,
    pub x: &'a mut [f64],
    pub sums: &'a mut [f64],
}

impl SimdKernel for BatchLayer<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let Self { field, isa, eta, n, d, x, sums } = self;
        let (sums, mass) = sums.split_at_mut(n * d * L::WIDTH);
        isa.run(BatchSums { field, isa, d, x, sizes: &[], tangent: false, out: sums, mass });
        let (x, sums, mass) = (L::view_mut(x), L::view(sums), L::view(mass));
        let (keep, eta) = if eta.is_infinite() {
            (l.zero(), l.constant(1.0))
        } else {
            (l.constant(1.0), l.constant(eta))
        };
        match field.sums.row_factor() {
            Some((scale, sign)) => {
                for ((x, drift), mass) in x.chunks_exact_mut(d).zip(sums.chunks_exact(d)).zip(mass)
                {
                    // a = x - drift / z (SA) or scale (z x - drift) (USA).
                    let (own, other) = match scale {
                        None => (l.constant(sign), l.div(l.constant(-sign), *mass)),
                        Some(scale) => {
                            (l.mul(l.constant(sign * scale), *mass), l.constant(-sign * scale))
                        }
                    };
                    advance(l, (l.fma(eta, own, keep), x), (l.mul(eta, other), drift));
                }
            }
            None => {
                for (x, a) in x.chunks_exact_mut(d).zip(sums.chunks_exact(d)) {
                    advance(l, (keep, x), (eta, a));
                }
            }
        }
    }
}

/// Replaces a token by the direction of `along x + across a`. A token for which this vanishes is
/// left unchanged.
#[inline(always)]
fn advance<L: SimdOps<F = f64>>(
    l: L,
    (along, x): (L::V, &mut [L::V]),
    (across, a): (L::V, &[L::V]),
) {
    let mut square = l.zero();
    for (x, a) in x.iter().zip(a) {
        let v = l.fma(across, *a, l.mul(along, *x));
        square = l.fma(v, v, square);
    }
    let moves = l.greater(square, l.constant(1e-300));
    let inverse = l.inverse_sqrt(square);
    for (x, a) in x.iter_mut().zip(a) {
        let v = l.fma(across, *a, l.mul(along, *x));
        *x = l.select(moves, l.mul(v, inverse), *x);
    }
}
