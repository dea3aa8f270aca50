//! Peak rates of the machine, which bound every kernel: fused multiply-adds in registers, and
//! exponentials in the L1 cache. `bench` measures them.

use super::simd::{Isa, SimdKernel, SimdOps};

/// Runs `rounds` rounds of [`FMA_PER_ROUND`] independent vector operations. Returns a number that
/// depends on all of them, and the number of floating-point operations.
pub fn multiply_add(isa: Isa, rounds: usize) -> (f64, f64) {
    isa.run(MultiplyAdd(rounds))
}

/// Independent chains: they hide the latency of fused operations on two ports.
const CHAINS: usize = 12;
/// Vector operations per round.
pub const FMA_PER_ROUND: usize = CHAINS * 8;

struct MultiplyAdd(usize);

impl SimdKernel for MultiplyAdd {
    type F = f64;
    type Output = (f64, f64);

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) -> (f64, f64) {
        let (a, b) = (l.constant(1.0 - 1e-9), l.constant(1e-9));
        let mut chain = [l.zero(); CHAINS];
        for _ in 0..self.0 {
            for _ in 0..8 {
                for c in &mut chain {
                    *c = l.fma(*c, a, b);
                }
            }
        }
        let mut total = l.zero();
        for c in chain {
            total = l.add(total, c);
        }
        (l.sum(total), (2 * FMA_PER_ROUND * self.0 * L::WIDTH) as f64)
    }
}

/// Replaces every number `t <= 0` by `2^t`; the length must be a multiple of 16.
///
/// ```
/// use metastable::num::{peak::exponentials, simd::Isa};
/// let mut t = [-1.0; 16];
/// exponentials(Isa::best(), &mut t);
/// assert!((t[3] - 0.5).abs() < 1e-16);
/// ```
pub fn exponentials(isa: Isa, t: &mut [f64]) {
    isa.run(Exponentials(t));
}

struct Exponentials<'a>(&'a mut [f64]);

impl SimdKernel for Exponentials<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        for v in L::view_mut(self.0) {
            *v = l.exp2(*v);
        }
    }
}
