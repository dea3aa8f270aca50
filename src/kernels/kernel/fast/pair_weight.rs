//! Weights of pairs in lanes, for kernels by inner products.

use crate::kernel::pair_series::PairSeries;
use crate::num::simd::SimdOps;

/// A weight of an inner product g, as a function of `t = slope g + shift`.
pub trait PairWeight: Copy + Sync {
    /// True if many vectors should be evaluated together, because one takes long.
    const TOGETHER: bool;

    /// `slope` and `shift`.
    fn line(self) -> (f64, f64);

    /// The weights; `NORMAL` promises that none underflows.
    fn values<L: SimdOps<F = f64>, const U: usize, const NORMAL: bool>(
        self,
        l: L,
        t: [L::V; U],
    ) -> [L::V; U];
}

/// `e^{beta g - |beta|}`.
#[derive(Clone, Copy)]
pub struct Exponential {
    /// Inverse temperature.
    pub beta: f64,
}

impl PairWeight for Exponential {
    const TOGETHER: bool = false;

    #[inline(always)]
    fn line(self) -> (f64, f64) {
        let slope = self.beta * std::f64::consts::LOG2_E;
        (slope, -slope.abs())
    }

    #[inline(always)]
    fn values<L: SimdOps<F = f64>, const U: usize, const NORMAL: bool>(
        self,
        l: L,
        t: [L::V; U],
    ) -> [L::V; U] {
        l.exp2_array::<U, NORMAL>(t)
    }
}

/// A series in `z = 1 - g`, without its factor.
impl PairWeight for &PairSeries {
    const TOGETHER: bool = true;

    #[inline(always)]
    fn line(self) -> (f64, f64) {
        (-1.0, 1.0)
    }

    #[inline(always)]
    fn values<L: SimdOps<F = f64>, const U: usize, const NORMAL: bool>(
        self,
        l: L,
        t: [L::V; U],
    ) -> [L::V; U] {
        PairSeries::values::<L, U>(self, l, t)
    }
}
