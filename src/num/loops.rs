//! The loops that bound every kernel: fused multiply-adds from registers, exponentials from the first cache. `bench` times them.

use super::simd::{Lanes, Level, Task};

/// Runs `rounds` rounds of [`FMA_PER_ROUND`] independent vector operations and returns a number that depends on all of them, with the
/// number of floating-point operations.
pub fn multiply_add(level: Level, rounds: usize) -> (f64, f64) {
    level.run(MultiplyAdd(rounds))
}

/// Chains that hide the latency of a fused operation on two ports.
const CHAINS: usize = 12;
/// Operations of a round.
pub const FMA_PER_ROUND: usize = CHAINS * 8;

struct MultiplyAdd(usize);

impl Task for MultiplyAdd {
    type F = f64;
    type Output = (f64, f64);

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) -> (f64, f64) {
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

/// Replaces every number `t <= 0` (a multiple of 16 of them) by `2^t`.
///
/// ```
/// use metastable::num::{loops::exponentials, simd::Level};
/// let mut t = [-1.0; 16];
/// exponentials(Level::best(), &mut t);
/// assert!((t[3] - 0.5).abs() < 1e-16);
/// ```
pub fn exponentials(level: Level, t: &mut [f64]) {
    level.run(Exponentials(t));
}

struct Exponentials<'a>(&'a mut [f64]);

impl Task for Exponentials<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        for v in L::view_mut(self.0) {
            *v = l.exp2(*v);
        }
    }
}
